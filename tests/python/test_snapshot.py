"""Snapshots, copies and pickles go on bit for bit, nothing else is taken for one, and many of them cost little
memory."""

from __future__ import annotations

import copy
import hashlib
import pickle
import sys
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from conftest import IDS, ROOT, actions_for, equal, lasting, pictures_of, run_python, short

import mvsim_gym
from mvsim_gym.registration import listing

ARENA = "mvsim/NavArena-v0"
WORLDS = ROOT / "worlds"
CRATES = """<mvsim_world>
  <block name="wall"><static>true</static><init_pose>2 0 10</init_pose>
    <shape><pt>0 -4</pt><pt>0 4</pt><pt>.2 4</pt><pt>.2 -4</pt></shape></block>
  <block name="crate"><mass>5</mass><init_pose>1.2 0.2 30</init_pose>
    <geometry type="cylinder" radius="0.3" length="1"/></block>
  <vehicle name="r"><init_pose>0 0 0</init_pose>
    <dynamics class="differential"><controller class="twist_ideal"/></dynamics>
    <sensor class="laser" name="l"><nrays>45</nrays><range_std_noise>0.02</range_std_noise></sensor></vehicle>
  </mvsim_world>"""


def pushing_actions(seed: int, steps: int, num_envs: int, size: int) -> np.ndarray:
    """Random actions, forward more often than not, so that things are touched."""
    actions = actions_for(seed, steps, num_envs, size)
    actions[..., 0] = np.abs(actions[..., 0])
    return actions


def play(env: Any, actions: np.ndarray) -> list[Any]:
    """Returns the results of the steps; an episode that ends is followed by the next."""
    results = []
    for action in actions:
        result = env.step(action)
        results.append(result)
        if result[2] or result[3]:
            results.append(env.reset())
    return results


# ---------------------------------------------------------------- going on


def test_random_moments(env_id: str) -> None:
    """A second life from a random step equals the first, in the same and in another environment."""
    env, other = (mvsim_gym.Env(env_id, **short(env_id, 60)) for _ in range(2))
    env.reset(seed=3)
    other.reset(seed=77)
    size = env.action_space.shape[0]
    for moment, steps in enumerate(np.random.default_rng(1).integers(0, 12, 100).tolist()):
        play(env, pushing_actions(moment, steps, 1, size)[:, 0])
        state, actions = env.snapshot(), pushing_actions(1000 + moment, 25, 1, size)[:, 0]
        first = play(env, actions)
        env.restore(state)
        equal(play(env, actions), first)
        other.restore(state)
        equal(play(other, actions), first)
        assert other.snapshot() == env.snapshot()


@pytest.mark.slow
def test_random_moments_for_long(env_id: str) -> None:
    env = mvsim_gym.Env(env_id)
    env.reset(seed=3)
    size = env.action_space.shape[0]
    for moment, steps in enumerate(np.random.default_rng(2).integers(0, 400, lasting(100, 5)).tolist()):
        play(env, pushing_actions(moment, steps, 1, size)[:, 0])
        state, actions = env.snapshot(), pushing_actions(5000 + moment, 1000, 1, size)[:, 0]
        first = play(env, actions)
        env.restore(state)
        equal(play(env, actions), first)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda e: pickle.loads(pickle.dumps(e))])
def test_copies_of_an_env(env_id: str, copied: Any) -> None:
    """500 steps (with pictures 100), the generators of the spaces and a reset by seed included."""
    env = gym.make(env_id, **short(env_id, 45))
    env.reset(seed=5)
    env.action_space.seed(8)
    play(env, pushing_actions(0, 17, 1, env.action_space.shape[0])[:, 0])  # type: ignore[index]
    twin = copied(env)
    assert twin.spec == env.spec
    for _ in range(100 if pictures_of(env_id) else 500):
        action = env.action_space.sample()
        assert twin.action_space.sample().tobytes() == action.tobytes()
        a, b = env.step(action), twin.step(action)
        equal(a, b)
        if a[2] or a[3]:
            equal(env.reset(), twin.reset())
    equal(env.reset(seed=9), twin.reset(seed=9))
    assert env.unwrapped.np_random.integers(1 << 30) == twin.unwrapped.np_random.integers(1 << 30)


def test_copies_of_an_env_before_its_first_reset() -> None:
    env = mvsim_gym.Env(ARENA)
    for twin in (copy.copy(env), copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        with pytest.raises(gym.error.ResetNeeded):
            twin.step(np.zeros(2, np.float32))
        equal(twin.reset(seed=1), env.reset(seed=1))


def test_the_time_limit_goes_on() -> None:
    env = mvsim_gym.Env(ARENA, time_limit=2)
    env.reset(seed=0)
    for _ in range(7):
        env.step(np.zeros(2, np.float32))
    for twin in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        ends = [twin.step(np.zeros(2, np.float32))[3] for _ in range(3)]
        assert ends == [False, False, True]
        with pytest.raises(gym.error.ResetNeeded):
            pickle.loads(pickle.dumps(twin)).step(np.zeros(2, np.float32))


@pytest.mark.parametrize("mode", ["NextStep", "SameStep", "Disabled"])
def test_copies_of_many(env_id: str, mode: str) -> None:
    envs = gym.make_vec(env_id, num_envs=3, autoreset_mode=mode, **short(env_id, 9))
    assert isinstance(envs, mvsim_gym.VectorEnv)
    envs.reset(seed=[1, None, 3])
    size = envs.single_action_space.shape[0]

    def going(some: Any, seed: int) -> list[Any]:
        results = []
        for action in pushing_actions(seed, 30, 3, size):
            result = some.step(action)
            results.append(result)
            ended = result[2] | result[3]
            if mode == "Disabled" and ended.any():
                results.append(some.reset(options={"reset_mask": ended}))
        return results

    going(envs, 0)
    twins = [copy.deepcopy(envs), pickle.loads(pickle.dumps(envs))]
    whole = gym.make_vec(env_id, num_envs=3, num_threads=1, autoreset_mode=mode, **short(env_id, 9))
    equal(whole.restore(envs.snapshot()), twins[0].restore(envs.snapshot()))  # type: ignore[attr-defined]
    expected = going(envs, 1)
    for twin in (*twins, whole):
        equal(going(twin, 1), expected)
    equal([t.reset(seed=4) for t in twins], [envs.reset(seed=4)] * 2)


def test_states_of_single_envs() -> None:
    """An Env's snapshot in one slot of a batch, and back; the other slots do not notice."""
    env = mvsim_gym.Env(ARENA)
    envs, alike = (mvsim_gym.VectorEnv(ARENA, num_envs=4) for _ in range(2))
    env.reset(seed=20)
    for v in (envs, alike):
        v.reset(seed=0)
    actions = pushing_actions(0, 20, 4, 2)
    play(env, actions[:5, 2])
    observation = envs.set_state([2], env.snapshot())
    equal({key: rows[2] for key, rows in observation.items()}, {k: v.copy() for k, v in env._rows})
    for action in actions[5:]:
        mine, all_of_them, others = env.step(action[2]), envs.step(action), alike.step(action)
        for key, value in mine[0].items():
            assert all_of_them[0][key][2].tobytes() == value.tobytes()
            assert all_of_them[0][key][[0, 1, 3]].tobytes() == others[0][key][[0, 1, 3]].tobytes()
        assert all_of_them[1][2] == mine[1]
    env.reset(seed=1)
    env.restore(envs.get_state(np.array([2]))[0])
    assert env.snapshot() == envs.get_state()[2]
    envs.set_state(None, env.snapshot())
    assert envs.get_state() == [env.snapshot()] * 4


def test_states_move_between_envs_of_other_maps(tmp_path: Path) -> None:
    """Values that an env caches of its world belong to the map of the restored state."""
    for name, wall in (("open", False), ("walled", True)):
        pixels = np.full((120, 120), 254, np.uint8)
        pixels[[0, -1], :] = pixels[:, [0, -1]] = 0
        if wall:
            pixels[20:, 60] = 0
        (tmp_path / f"{name}.pgm").write_bytes(b"P5\n120 120\n255\n" + pixels.tobytes())
        (tmp_path / f"{name}.yaml").write_text(
            f"image: {name}.pgm\nresolution: 0.1\norigin: [0, 0, 0]\nnegate: 0\n"
            "occupied_thresh: 0.65\nfree_thresh: 0.196\n"
        )
    maps = [str(tmp_path / "open.yaml"), str(tmp_path / "walled.yaml")]
    envs = mvsim_gym.VectorEnv("mvsim/NavMap-v0", num_envs=8, num_threads=1, map=maps)
    rest = np.zeros(envs.action_space.shape, np.float32)
    envs.reset(seed=0)
    envs.step(rest)
    states = envs.get_state(range(8))
    before = {key: value.copy() for key, value in envs.step(rest)[0].items()}
    envs.set_state(range(8), states[::-1])
    after = envs.step(rest)[0]
    for key, value in before.items():
        np.testing.assert_array_equal(after[key], value[::-1], err_msg=key)


def test_a_state_knows_which_sensors_keep_their_period() -> None:
    scheduled = {"scan": {"timing": "sensor"}}
    each_period, own = (
        mvsim_gym.VectorEnv(ARENA, num_envs=1),
        mvsim_gym.VectorEnv(ARENA, num_envs=1, observe=scheduled),
    )
    each_period.reset(seed=0)
    own.reset(seed=0)
    with pytest.raises(ValueError, match="another environment"):
        own.set_state([0], each_period.get_state([0]))


def test_an_ended_env_needs_a_reset() -> None:
    ended = mvsim_gym.VectorEnv(ARENA, num_envs=1, time_limit=0.2)
    ended.reset(seed=0)
    assert ended.step(np.zeros((1, 2), np.float32))[3][0]
    (state,) = ended.get_state()
    for mode in ("SameStep", "Disabled"):
        envs = mvsim_gym.VectorEnv(ARENA, num_envs=2, autoreset_mode=mode)
        envs.reset(seed=0)
        envs.set_state([1], [state])
        with pytest.raises(gym.error.ResetNeeded, match="env 1"):
            envs.step(np.zeros((2, 2), np.float32))


@pytest.mark.unsanitized  # imports PyTorch
def test_copies_for_stable_baselines() -> None:
    pytest.importorskip("stable_baselines3")
    from mvsim_gym.sb3 import MVSimVecEnv

    env = MVSimVecEnv(ARENA, 3, time_limit=3)
    env.seed(4)
    env.reset()
    actions = pushing_actions(0, 60, 3, 2)
    for action in actions[:20]:
        env.step(action)
    state = env.snapshot()
    twins = [copy.deepcopy(env), pickle.loads(pickle.dumps(env)), MVSimVecEnv(ARENA, 3, time_limit=3)]
    twins[2].restore(state)

    def going(some: MVSimVecEnv) -> list[Any]:
        return [copy.deepcopy(some.step(action)) for action in actions[20:]]

    expected = going(env)
    assert any("episode" in info for result in expected for info in result[3])
    for twin in twins:
        equal(going(twin), expected)
    env.restore(state)
    equal(going(env), expected)
    with pytest.raises(ValueError, match="another number"):
        MVSimVecEnv(ARENA, 2).restore(state)


def test_worlds(tmp_path: Path) -> None:
    """In contact too: what is restored, copied and unpickled goes on alike."""
    (tmp_path / "crates.world.xml").write_text(CRATES)
    world = mvsim_gym.World(tmp_path / "crates.world.xml", seed=4)
    world.note = ["my own"]  # type: ignore[attr-defined]

    def drive(some: mvsim_gym.World, steps: int) -> list[Any]:
        seen = []
        for i in range(steps):
            some.vehicles["r"].set_twist(1.0, 0.4 * (i % 9 - 4))
            some.step(0.02)
            reading = some.vehicles["r"].sensors["l"].read()
            ranges = None if reading is None else reading.ranges
            seen.append((some.time, some.vehicles["r"].pose, some.blocks["crate"].pose, ranges))
        return seen

    touched = 0
    for steps in (3, 40, 12, 30, 25):
        drive(world, steps)
        touched += world.vehicles["r"].in_collision
        state = world.snapshot()
        twins = [copy.deepcopy(world), pickle.loads(pickle.dumps(world))]
        twins.append(mvsim_gym.World(tmp_path / "crates.world.xml"))
        twins[2].restore(state)
        first = drive(world, 50)
        for twin in twins:
            equal(drive(twin, 50), first)
            twin.reset()
        world.restore(state)
        world.reset()
        assert {t.snapshot() for t in twins} == {world.snapshot()}  # the next episode's noise, too
        world.restore(state)
        assert twins[0].note == twins[1].note == ["my own"]  # type: ignore[attr-defined]
        assert twins[0].note is not world.note  # type: ignore[attr-defined]
    assert touched > 0


def test_a_pickle_in_another_process(env_id: str, tmp_path: Path) -> None:
    env = mvsim_gym.Env(env_id, time_limit=4)
    envs = gym.make_vec(env_id, num_envs=2, time_limit=4)
    world = mvsim_gym.World(WORLDS / "nav_arena.world.xml")
    env.reset(seed=1)
    envs.reset(seed=1)
    world.step(0.3)
    (tmp_path / "things").write_bytes(pickle.dumps((env, envs, world)))
    code = f"""
import hashlib, pickle
import numpy as np
env, envs, world = pickle.load(open({str(tmp_path / "things")!r}, "rb"))
one, many = np.ones(env.action_space.shape, np.float32), np.ones(envs.action_space.shape, np.float32)
world.step(0.5)
results = [*(env.step(one)[:2] for _ in range(9)), *(envs.step(many)[:2] for _ in range(9)), world.snapshot()]
print(hashlib.sha256(repr(results).encode()).hexdigest())
"""
    done = run_python(code)
    assert done.returncode == 0, done.stderr
    one, many = np.ones(env.action_space.shape, np.float32), np.ones(envs.action_space.shape, np.float32)  # type: ignore[arg-type]
    world.step(0.5)
    results = [*(env.step(one)[:2] for _ in range(9)), *(envs.step(many)[:2] for _ in range(9))]
    expected = hashlib.sha256(repr([*results, world.snapshot()]).encode()).hexdigest()
    assert done.stdout.strip() == expected


def test_a_pickle_of_ones_own_registration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It carries the file and the keywords, not an id that only this process knows; the folder may change."""
    for name in ("envs", "worlds"):
        (tmp_path / name).mkdir()
    text = Path(listing()[ARENA]).read_text().replace("../worlds/", str(WORLDS) + "/")
    (tmp_path / "envs" / "own.env.xml").write_text(text)
    monkeypatch.chdir(tmp_path / "envs")
    mvsim_gym.register("own/Task-v0", "own.env.xml", time_limit=1)
    env = mvsim_gym.Env("own/Task-v0", obstacles=3, roots=[WORLDS])
    env.reset(seed=0)
    data = pickle.dumps(env)
    monkeypatch.chdir(tmp_path)
    del gym.registry["own/Task-v0"]
    twin = pickle.loads(data)
    equal(twin.step(np.ones(2, np.float32)), env.step(np.ones(2, np.float32)))
    (tmp_path / "envs" / "own.env.xml").write_text(text.replace("0.12 0.30", "0.12 0.20"))
    pickle.loads(data)  # sizes of an episode are drawn at its reset: still the same world
    (tmp_path / "envs" / "own.env.xml").write_text(text.replace('<observe class="velocity"/>', ""))
    with pytest.raises(ValueError, match="another environment"):
        pickle.loads(data)


def test_closed_ones_have_no_state() -> None:
    env, envs = mvsim_gym.Env(ARENA), mvsim_gym.VectorEnv(ARENA)
    for some in (env, envs):
        some.close()
        for use in (copy.deepcopy, pickle.dumps, lambda e: e.snapshot()):
            with pytest.raises(gym.error.ClosedEnvironmentError):
                use(some)


# ---------------------------------------------------------------- refused


@pytest.mark.parametrize("cases", [400, pytest.param(100_000, marks=pytest.mark.slow)])
def test_damaged_states(cases: int) -> None:
    env = mvsim_gym.Env(ARENA)
    env.reset(seed=0)
    good = env.snapshot()
    env.step(np.ones(2, np.float32))
    before = env.snapshot()
    rng = np.random.default_rng(0)
    for i in range(cases):
        bad = bytearray(good)
        if i % 3 == 0:
            del bad[rng.integers(len(bad)) :]
        elif i % 3 == 1:
            bad[rng.integers(len(bad))] ^= 1 << int(rng.integers(8))
        else:
            bad = bytearray(rng.bytes(int(rng.integers(3000))))
        with pytest.raises(ValueError, match="snapshot: "):
            env.restore(bytes(bad))
    assert env.snapshot() == before
    env.restore(good)


def test_foreign_states() -> None:
    env, envs = mvsim_gym.Env(ARENA), mvsim_gym.VectorEnv(ARENA, num_envs=2)
    others: dict[str, bytes] = {}
    for id in IDS:
        other = mvsim_gym.Env(id)
        other.reset(seed=0)
        others[id] = other.snapshot()
    env.reset(seed=0)
    envs.reset(seed=0)
    before, all_before = env.snapshot(), envs.snapshot()
    for id, state in others.items():
        if id != ARENA:
            with pytest.raises(ValueError, match="another environment"):
                env.restore(state)
    with pytest.raises(ValueError, match="of a world, expected one of an environment"):
        env.restore(mvsim_gym.World(WORLDS / "nav_arena.world.xml").snapshot())
    with pytest.raises(ValueError, match="another number"):
        envs.restore(mvsim_gym.VectorEnv(ARENA, num_envs=3).snapshot())
    with pytest.raises(ValueError, match="no snapshot"):
        envs.restore(before)
    for one in (env, envs, mvsim_gym.World(WORLDS / "nav_arena.world.xml")):
        with pytest.raises(TypeError, match="found a str, expected bytes"):
            one.restore("before")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="damaged"):
        envs.restore(all_before[:-1])
    with pytest.raises(ValueError, match="found 2, expected 0 to 1"):
        envs.set_state([0, 2], before)
    with pytest.raises(ValueError, match="found 2, expected 1"):
        envs.set_state([0], [before, before])
    with pytest.raises(TypeError):
        env.restore("text")  # type: ignore[arg-type]
    assert env.snapshot() == before and envs.snapshot() == all_before


# ---------------------------------------------------------------- memory


@pytest.mark.unsanitized  # the sanitizer maps terabytes of addresses
def test_many_copies_fit_into_memory() -> None:
    code = f"""
import copy, resource
resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
import mvsim_gym
for id in {IDS!r}:
    env = mvsim_gym.Env(id)
    env.reset(seed=0)
    copies = [copy.deepcopy(env) for _ in range(500)]
    states = [env.snapshot() for _ in range(1000)]
    copies[-1].restore(states[0])
"""
    done = run_python(code, timeout=120)
    assert done.returncode == 0, done.stderr


# ---------------------------------------------------------------- the example


@pytest.mark.slow
def test_planning_by_snapshots() -> None:
    """The planner of examples/plan_by_snapshot.py wins without learning."""
    sys.path.append(str(ROOT / "examples"))
    from plan_by_snapshot import Planner, drive

    env, planner = mvsim_gym.Env(ARENA), Planner(ARENA, rollouts=64)
    episodes = lasting(20, 2)
    assert sum(drive(env, planner, seed) for seed in range(episodes)) >= 0.9 * episodes
