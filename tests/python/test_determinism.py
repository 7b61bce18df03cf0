"""The same seed and actions give the same bytes: any number of envs, any threads, any process, any history."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import cache

import gymnasium as gym
import numpy as np
import pytest
from conftest import DATA, IDS, actions_for, lasting, pictures_of, rollout_hash, run_python, short

import mvsim_gym


def env_trajectories(env_id: str, num_envs: int, num_threads: int, steps: int) -> dict[str, np.ndarray]:
    """All observations and rewards, (steps, num_envs, ...)."""
    envs = gym.make_vec(env_id, num_envs=num_envs, num_threads=num_threads, **short(env_id, steps // 2))
    envs.reset(seed=9)
    results = [envs.step(action) for action in actions_for(2, steps, num_envs)]
    out = {key: np.stack([r[0][key] for r in results]) for key in results[0][0]}
    return out | {"reward": np.stack([r[1] for r in results])}


@cache
def reference(env_id: str) -> dict[str, np.ndarray]:
    """Those of 64 envs on one thread; of pictures fewer steps."""
    return env_trajectories(env_id, 64, 1, 14 if pictures_of(env_id) else 60)


@pytest.mark.parametrize("num_envs", [1, 2, 7, 64])
@pytest.mark.parametrize("num_threads", [1, 2, 5, 16])
def test_threads_and_num_envs(env_id: str, num_envs: int, num_threads: int) -> None:
    expected = reference(env_id)
    found = env_trajectories(env_id, num_envs, num_threads, len(expected["reward"]))
    for key, array in found.items():
        assert array.tobytes() == expected[key][:, :num_envs].tobytes(), key


@pytest.mark.slow
@pytest.mark.parametrize("num_envs", [1, 2, 7, 64])
@pytest.mark.parametrize("num_threads", [1, 2, 5, 16])
def test_threads_and_num_envs_for_long(env_id: str, num_envs: int, num_threads: int) -> None:
    """10,000 steps (with pictures 500) side by side with the first envs of 64 on one thread, every array of every
    step."""
    reference, envs = (
        gym.make_vec(env_id, num_envs=n, num_threads=threads, copy=False, **short(env_id, 30))
        for n, threads in ((64, 1), (num_envs, num_threads))
    )
    size = envs.action_space.shape[-1]
    reference.reset(seed=9)
    envs.reset(seed=9)
    rng = np.random.default_rng(2)
    for step in range(lasting(500, 10) if pictures_of(env_id) else lasting(10_000, 80)):
        actions = rng.uniform(-1, 1, (64, size)).astype(np.float32)
        expected, found = reference.step(actions), envs.step(actions[:num_envs].copy())
        for key, array in found[0].items():
            assert (array == expected[0][key][:num_envs]).all(), (step, key)
        for one, other in zip(found[1:4], expected[1:4], strict=True):
            assert (one == other[:num_envs]).all(), step


def test_history(env_id: str) -> None:
    """Earlier work of the process leaves no trace."""
    expected = rollout_hash(env_id)
    rng = np.random.default_rng(0)
    for _ in range(15):
        other = gym.make(IDS[rng.integers(len(IDS))], strict_actions=bool(rng.integers(2)))
        other.reset(seed=int(rng.integers(1000)))
        other.step(other.action_space.sample())
        if rng.integers(2):
            other.close()
    assert rollout_hash(env_id) == expected


def test_autoreset_modes_play_the_same_episodes() -> None:
    """A mode says when an env is reset, not what happens in it: first observations of episodes are the same."""
    starts = {}
    for mode in ("NextStep", "SameStep"):
        envs = gym.make_vec("mvsim/NavArena-v0", num_envs=1, autoreset_mode=mode, time_limit=2)
        observation, _ = envs.reset(seed=0)
        seen, ended = [observation["scan"].tobytes()], False
        for _ in range(60):
            observation, _, terminated, truncated, _ = envs.step(np.zeros((1, 2), np.float32))
            if ended or (mode == "SameStep" and (terminated | truncated)[0]):
                seen.append(observation["scan"].tobytes())
            ended = bool((terminated | truncated)[0]) and mode == "NextStep"
        starts[mode] = seen[:4]
    assert starts["NextStep"] == starts["SameStep"]


@pytest.mark.parametrize("hash_seed", ["0", "random"])
def test_fresh_processes(env_id: str, hash_seed: str) -> None:
    code = f"from conftest import rollout_hash; print(rollout_hash({env_id!r}))"
    done = run_python(code, PYTHONHASHSEED=hash_seed)
    assert done.stdout.strip() == rollout_hash(env_id), done.stderr


@pytest.mark.parametrize("on_end", ["wait", "respawn"])
def test_teams_in_fresh_processes(team_id: str, on_end: str) -> None:
    code = f"from conftest import rollout_hash; print(rollout_hash({team_id!r}, 120, 8, on_end={on_end!r}))"
    expected = rollout_hash(team_id, 120, 8, on_end=on_end, num_threads=2)
    assert run_python(code, PYTHONHASHSEED="random").stdout.strip() == expected


@pytest.mark.parametrize("method", ["spawn", "forkserver", "fork"])
def test_start_methods(method: str) -> None:
    """Workers that never imported anything of ours but by the id's module; fork before any env was made."""
    code = f"""
if __name__ == "__main__":
    import multiprocessing
    from conftest import rollout_hash
    with multiprocessing.get_context({method!r}).Pool(2) as pool:
        print(*pool.map(rollout_hash, {IDS!r}))
"""
    done = run_python(code)
    assert done.stdout.split() == [rollout_hash(id) for id in IDS], done.stderr


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_async_workers_find_the_module(method: str) -> None:
    code = f"""
if __name__ == "__main__":
    import gymnasium as gym
    envs = gym.make_vec("mvsim_gym:mvsim/NavArena-v0", num_envs=2, vectorization_mode="async",
                        vector_kwargs={{"context": {method!r}}})
    print(envs.reset(seed=0)[0]["scan"].sum())
    envs.close()
"""
    done = run_python(code)
    expected, _ = gym.make_vec("mvsim/NavArena-v0", num_envs=2).reset(seed=0)
    assert done.stdout.strip() == str(expected["scan"].sum()), done.stderr


def test_worlds_in_many_threads() -> None:
    """256 worlds made, stepped and dropped from 16 threads do as one alone."""

    def drive(seed: int) -> tuple[float, ...]:
        world = mvsim_gym.World(DATA / "yard.world.xml", seed=seed)
        robot = world.vehicles["r1"]
        robot.set_twist(1.0, 0.3)
        world.step(1.5)
        reading = robot.sensors["laser1"].read()
        assert reading is not None
        return (*robot.pose, *world.blocks["box"].pose, float(reading.ranges.sum()))

    serial = [drive(seed) for seed in range(16)]
    with ThreadPoolExecutor(16) as pool:
        found = list(pool.map(drive, [k % 16 for k in range(256)]))
    assert found == serial * 16


def test_float_modes_of_other_libraries() -> None:
    """PyTorch's flush-to-zero belongs to the calling thread, and must not show in a trajectory."""
    torch = pytest.importorskip("torch")
    expected = rollout_hash("mvsim/NavArena-v0")
    torch.set_flush_denormal(True)
    try:
        assert rollout_hash("mvsim/NavArena-v0") == expected
    finally:
        torch.set_flush_denormal(False)
