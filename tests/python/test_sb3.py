"""The adapter for Stable-Baselines3. The oracle is its own DummyVecEnv over single environments."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from conftest import actions_for, equal, short

sb3 = pytest.importorskip("stable_baselines3")
from stable_baselines3.common.env_util import make_vec_env  # noqa: E402
from stable_baselines3.common.evaluation import evaluate_policy  # noqa: E402
from stable_baselines3.common.monitor import Monitor  # noqa: E402
from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv, VecNormalize  # noqa: E402

import mvsim_gym  # noqa: E402
from mvsim_gym.registration import listing  # noqa: E402
from mvsim_gym.sb3 import FlatObservation, MVSimVecEnv  # noqa: E402

PATH = listing()["mvsim/NavArena-v0"]


def test_equals_dummy_vec_env(env_id: str) -> None:
    keywords = short(env_id, 12)
    ours = MVSimVecEnv(env_id, 3, flatten=False, **keywords)
    dummy = DummyVecEnv([lambda: Monitor(gym.make(env_id, **keywords))] * 3)
    for env in (ours, dummy):
        env.seed(4)
    first, theirs = ours.reset(), dummy.reset()
    assert ours.observation_space == dummy.observation_space and ours.action_space == dummy.action_space
    equal(first, dict(theirs))  # type: ignore[arg-type]
    ended = 0
    for action in actions_for(0, 60, 3):
        a, b = ours.step(action), dummy.step(action)
        equal(a[0], dict(b[0]))  # type: ignore[arg-type]
        equal(a[1:3], b[1:3])
        for mine, other in zip(a[3], b[3], strict=True):
            if not mine:
                assert other == {"TimeLimit.truncated": False}
                continue
            ended += 1
            equal(mine["terminal_observation"], other["terminal_observation"])
            assert mine["TimeLimit.truncated"] == other["TimeLimit.truncated"]
            assert mine["episode"]["l"] == other["episode"]["l"]
            assert mine["episode"]["r"] == pytest.approx(other["episode"]["r"], abs=1e-5)
            assert mine["is_success"] == other["success"] and mine["success"] == other["success"]
    assert ended > 5


def test_flat_observations(env_id: str) -> None:
    flat, plain = (
        MVSimVecEnv(env_id, 2, **short(env_id, 5)),
        MVSimVecEnv(env_id, 2, flatten=False, **short(env_id, 5)),
    )
    for env in (flat, plain):
        env.seed(0)
    space = plain.observation_space
    assert isinstance(space, gym.spaces.Dict)

    def same(found: Any, observation: dict[str, Any]) -> None:
        """Vectors scaled to [-1, 1]; of pictures the channels first, floats scaled to [0, 1]."""
        rest = {k: v for k, v in observation.items() if len(space[k].shape) == 1}
        parts = [2 * (v - space[k].low) / (space[k].high - space[k].low) - 1 for k, v in rest.items()]
        vector = found if len(rest) == len(observation) else found["vector"]
        np.testing.assert_allclose(vector, np.concatenate(parts, axis=-1), atol=1e-5)
        for key in observation.keys() - rest.keys():
            picture = observation[key]
            if picture.dtype == np.uint8:
                np.testing.assert_array_equal(found[key], np.moveaxis(picture, -1, -3))
            else:
                expected = np.expand_dims(picture / space[key].high, -3)
                np.testing.assert_allclose(found[key], expected, atol=1e-6)

    a, b = flat.reset(), plain.reset()
    for action in actions_for(0, 12, 2):
        assert isinstance(b, dict)
        same(a, b)
        first = {k: v[0] for k, v in a.items()} if isinstance(a, dict) else a[0]
        assert first in flat.observation_space
        (a, *_, infos), (b, *_, others) = flat.step(action), plain.step(action)
        for mine, other in zip(infos, others, strict=True):
            if mine:
                same(mine["terminal_observation"], other["terminal_observation"])


def test_contract_of_vec_env() -> None:
    env = MVSimVecEnv("mvsim/NavArena-v0", 3, render_mode="rgb_array", width=32, height=24)
    assert env.get_attr("render_mode") == ["rgb_array"] * 3
    assert env.env_is_wrapped(Monitor) == [True] * 3 and env.env_is_wrapped(gym.Wrapper, indices=0) == [False]
    env.seed(1)
    first = env.reset()
    second = env.reset()  # a seed counts once
    env.seed(1)
    assert (env.reset() == first).all() and (first != second).any()
    assert env.reset_infos == [{}, {}, {}]
    images = env.get_images()
    assert len(images) == 3 and images[0].shape == (24, 32, 3)
    assert env.env_method("render", indices=[2])[0].shape == (24, 32, 3)
    tiled = env.render()
    assert tiled is not None and tiled.dtype == np.uint8
    with pytest.raises(AttributeError, match="fly"):
        env.env_method("fly")
    env.set_options({"reset_masc": 1})
    with pytest.raises(ValueError, match="reset_masc"):
        env.reset()
    env.close()
    env.close()
    with pytest.raises(gym.error.ClosedEnvironmentError):
        env.reset()


def test_wrong_arguments() -> None:
    with pytest.raises(ValueError, match="num_envs"):
        MVSimVecEnv("mvsim/NavArena-v0", 0)
    with pytest.raises(TypeError, match="'time_limt', did you mean 'time_limit'"):
        MVSimVecEnv("mvsim/NavArena-v0", 2, time_limt=3)


def test_logs(tmp_path: Path) -> None:
    env = MVSimVecEnv("mvsim/NavArena-v0", 2, log_dir=tmp_path)
    env.reset()
    env.step(np.zeros((2, 2), np.float32))
    env.close()
    assert sorted(folder.name for folder in tmp_path.iterdir()) == ["env_0", "env_1"]
    assert all(list(folder.glob("*.csv")) for folder in tmp_path.iterdir())


def test_ids() -> None:
    mvsim_gym.register("test/Short-v0", PATH, time_limit=1)
    short = MVSimVecEnv("test/Short-v0", num_envs=1)
    short.reset()
    dones = [bool(short.step(np.zeros((1, 2), np.float32))[2][0]) for _ in range(5)]
    assert dones == [False] * 4 + [True]
    assert MVSimVecEnv("mvsim/Custom-v0", env=PATH).num_envs == 1
    with pytest.raises(TypeError, match="needs the keyword env"):
        MVSimVecEnv("mvsim/Custom-v0")
    with pytest.raises(ValueError, match="did you mean 'mvsim/NavArena-v0'"):
        MVSimVecEnv("mvsim/NavAren-v0")


def test_wrappers() -> None:
    env = VecNormalize(MVSimVecEnv("mvsim/NavArena-v0", 4, time_limit=2))
    env.reset()
    for action in actions_for(0, 30, 4):
        observation, *_ = env.step(action)
        assert np.isfinite(observation).all()


@pytest.mark.parametrize("vec_env", [DummyVecEnv, SubprocVecEnv])
def test_single_environments_work_too(vec_env: type) -> None:
    envs = make_vec_env("mvsim_gym:mvsim/NavArena-v0", n_envs=2, seed=0, vec_env_cls=vec_env)
    envs.reset()
    for action in actions_for(0, 5, 2):
        envs.step(action)
    envs.close()


def mean_return(model: Any) -> float:
    env = MVSimVecEnv("mvsim/NavArena-v0", 50)
    env.seed(10_000)
    mean, _ = evaluate_policy(model, env, n_eval_episodes=100, warn=False)
    return float(mean)


def test_ppo_learns_a_little() -> None:
    """20 k steps of PPO bring more than no training at all."""
    import torch

    torch.set_num_threads(1)
    env = MVSimVecEnv("mvsim/NavArena-v0", 32, num_threads=1)
    model = sb3.PPO(
        "MlpPolicy", env, n_steps=64, batch_size=512, n_epochs=8, learning_rate=1e-3, seed=0, device="cpu"
    )
    before = mean_return(model)
    model.learn(20_000)
    assert mean_return(model) > before + 1


def test_attributes_of_the_envs(env_id: str) -> None:
    envs = MVSimVecEnv(env_id, 2, time_limit=2.0, strict_actions=True)
    single = gym.make(envs.get_attr("spec")[1])
    assert single.spec is not None and single.spec.id == env_id
    assert single.unwrapped._recipe.options["strict_actions"]  # type: ignore[attr-defined]
    for name in ("action_low", "action_high", "action_names", "control_period"):
        equal(envs.get_attr(name), [getattr(single.unwrapped, name)] * 2)
    envs.seed(0)
    first = envs.reset()
    again = MVSimVecEnv(single.spec, 1)
    again.seed(0)
    equal(again.reset(), {k: v[:1] for k, v in first.items()} if isinstance(first, dict) else first[:1])
    custom = MVSimVecEnv(listing()[env_id], 1, max_episode_steps=3).get_attr("spec")[0]
    assert gym.make(custom).reset(seed=0)[0].keys() == single.reset(seed=0)[0].keys()
    for name, value in (("time_limit", 3), ("note", 7), ("action_low", 0)):
        with pytest.raises(AttributeError, match=f"'{name}' cannot be set.*keywords of MVSimVecEnv"):
            envs.set_attr(name, value)


def test_make_vec_env_says_how() -> None:
    with pytest.raises(TypeError, match=r"MVSimVecEnv\(id, num_envs=3\)"):
        make_vec_env("mvsim/NavArena-v0", n_envs=3, vec_env_cls=MVSimVecEnv)  # type: ignore[arg-type]


def test_flat_observations_of_single_environments(env_id: str) -> None:
    """A policy that was trained on the adapter's vectors plays on gym.make: the same bits; Gymnasium's own wrappers
    have the same order."""
    vectors = MVSimVecEnv(env_id, 1)
    plain, theirs = gym.make(env_id), gym.wrappers.FlattenObservation(gym.make(env_id))
    flat = FlatObservation(plain.observation_space)  # type: ignore[arg-type]
    single = gym.wrappers.TransformObservation(plain, flat, flat.space)
    theirs = gym.wrappers.RescaleObservation(theirs, np.float32(-1), np.float32(1))
    vectors.seed(3)
    expected, found, other = vectors.reset(), single.reset(seed=3)[0], theirs.reset(seed=3)[0]
    assert single.observation_space == vectors.observation_space
    for action in actions_for(2, 10, 1):
        if isinstance(expected, dict):
            equal(found, {key: rows[0] for key, rows in expected.items()})
        else:
            equal(found, expected[0])
            np.testing.assert_allclose(other, expected[0], atol=2e-6)
        expected, found, other = (
            vectors.step(action)[0],
            single.step(action[0])[0],
            theirs.step(action[0])[0],
        )
    again = pickle.loads(pickle.dumps(single))
    equal(again.step(action[0]), single.step(action[0]))


def test_a_limit_in_steps() -> None:
    envs = MVSimVecEnv("mvsim/NavArena-v0", 1, max_episode_steps=2)
    envs.reset()
    envs.step(np.zeros((1, 2), np.float32))
    *_, dones, infos = envs.step(np.zeros((1, 2), np.float32))
    assert dones[0] and infos[0]["TimeLimit.truncated"] and infos[0]["episode"]["l"] == 2


def test_films(tmp_path: Path) -> None:
    pytest.importorskip("moviepy")
    from stable_baselines3.common.vec_env import VecVideoRecorder

    envs = MVSimVecEnv("mvsim/NavArena-v0", 2, render_mode="rgb_array", width=64, height=64)
    recorder = VecVideoRecorder(
        envs, str(tmp_path), record_video_trigger=lambda step: step == 0, video_length=5
    )
    recorder.reset()
    for action in actions_for(0, 7, 2):
        recorder.step(action)
    recorder.close()
    assert [film.stat().st_size > 500 for film in tmp_path.glob("*.mp4")] == [True]


def test_a_snapshot_of_another_kind_changes_nothing() -> None:
    envs = MVSimVecEnv(PATH, 2)
    envs.reset()
    before = envs.snapshot()
    others = mvsim_gym.VectorEnv(PATH, num_envs=4)  # as many parts
    others.reset(seed=9)
    with pytest.raises(ValueError, match=r"snapshot: .*expected one of MVSimVecEnv"):
        envs.restore(others.snapshot())
    assert envs.snapshot() == before


@pytest.mark.parametrize("seed", ["3", 2.5, -1, True])
def test_seeds_that_are_none(seed: Any) -> None:
    with pytest.raises(ValueError, match=r"seed: found .*expected an integer of at least 0"):
        MVSimVecEnv(PATH, 2).seed(seed)


def test_actions_in_physical_units_are_told_at_the_users_line() -> None:
    envs = MVSimVecEnv(PATH, 2)
    envs.reset()
    with pytest.warns(UserWarning, match="the action vx is -30") as told:
        envs.step(np.array([[0, 0], [-30, 0]], np.float32))
    assert told[0].filename == __file__
    envs.step(np.array([[0, 0], [-30, 0]], np.float32))  # a second warning would be an error here


def test_the_spec_keeps_a_memory_limit() -> None:
    assert MVSimVecEnv(PATH, memory_limit=10**9).spec.kwargs["memory_limit"] == 10**9
    assert "memory_limit" not in MVSimVecEnv(PATH).spec.kwargs


def test_flatten_is_a_bool() -> None:
    with pytest.raises(TypeError, match="flatten: found a str, expected True or False"):
        MVSimVecEnv(PATH, flatten="no")  # type: ignore[arg-type]


@pytest.mark.parametrize("on_end", ["respawn", "end_all"])
def test_rows_are_the_agents_of_worlds(team_id: str, on_end: str) -> None:
    envs = MVSimVecEnv(team_id, 8, on_end=on_end, time_limit=8)
    envs.seed(3)
    rows = envs.reset()
    assert rows.shape == (8, envs.observation_space.shape[0])  # type: ignore[index]
    rng = np.random.default_rng(0)
    ended = 0
    for _ in range(60):
        rows, _, dones, infos = envs.step(rng.uniform(-1, 1, (8, 2)).astype(np.float32))
        ended += dones.sum()
        assert all(("terminal_observation" in info) == done for info, done in zip(infos, dones, strict=True))
        assert (np.abs(rows).sum(axis=1) > 0).all()
    assert ended >= 8
    equal(envs.restore(envs.snapshot()), rows)


def test_rows_that_wait_are_refused(team_id: str) -> None:
    with pytest.raises(ValueError, match=r"found 'wait', .*, expected 'respawn' or 'end_all'"):
        MVSimVecEnv(team_id, 8)


def test_a_goal_environment_of_several_agents_is_refused(team_id: str) -> None:
    with pytest.raises(ValueError, match="goal_radius: found several agents in a world"):
        MVSimVecEnv(team_id, 8, on_end="end_all", goal_radius=0.3)


def goal_envs(n: int = 2, **keywords: Any) -> MVSimVecEnv:
    envs = MVSimVecEnv(PATH, n, goal_radius=0.4, **keywords)
    envs.seed(3)
    return envs


def test_a_goal_environment_sees_places() -> None:
    envs, plain = goal_envs(time_limit=2), MVSimVecEnv(PATH, 2, flatten=False, time_limit=2)
    plain.seed(3)
    seen, rest = envs.reset(), plain.reset()
    assert envs.observation_space.contains({key: rows[0] for key, rows in seen.items()})
    ended = 0
    for action in actions_for(0, 25, 2):
        pose, goal = envs.read("vehicle:robot/pose"), envs.read("goal")
        np.testing.assert_allclose(seen["achieved_goal"], pose[:, :2], rtol=1e-6)
        np.testing.assert_allclose(seen["desired_goal"], goal, rtol=1e-6)
        np.testing.assert_allclose(seen["observation"][:, -1], np.sin(pose[:, 2]), atol=1e-6)
        scaled = FlatObservation(
            gym.spaces.Dict({k: plain.observation_space[k] for k in ("scan", "velocity")})
        )
        np.testing.assert_array_equal(seen["observation"][:, :-2], scaled(rest))
        (seen, rewards, dones, infos), (rest, _, same, _) = envs.step(action), plain.step(action)
        assert (dones == same).all() and not rewards.any()
        for i in dones.nonzero()[0]:
            ended += 1
            last = infos[i]["terminal_observation"]
            assert (
                np.abs(last["achieved_goal"] - pose[i, :2]).max() < 0.1
            )  # where it was, not where it begins anew
            np.testing.assert_allclose(last["desired_goal"], goal[i], rtol=1e-6)
    assert ended >= 4


def test_the_reward_of_a_goal_environment_follows_from_the_places() -> None:
    envs = goal_envs(reset={"goal": {"position": "1 0", "distance": None}}, obstacles=1)
    places = np.array([[0, 0], [0.7, 0], [1, 0.39]]), np.array([[1, 0]] * 3)
    (rewards,) = envs.env_method("compute_reward", *places, [{}] * 3, indices=[0])
    assert rewards.dtype == np.float32 and rewards.tolist() == [0, 1, 1]
    envs.reset()
    envs.write("vehicle:robot/pose", [0.65, 0, 0], envs=[0])
    seen, rewards, dones, infos = envs.step(np.ones((2, 2), np.float32) * [1, 0])
    assert rewards.tolist() == [1, 0] and not dones.any()
    np.testing.assert_array_equal(
        envs.env_method("compute_reward", seen["achieved_goal"], seen["desired_goal"], infos, indices=0)[0],
        rewards,
    )
    twin = pickle.loads(pickle.dumps(envs))
    a, b = envs.step(np.zeros((2, 2), np.float32)), twin.step(np.zeros((2, 2), np.float32))
    equal(a[0], b[0])


def test_mistakes_with_a_goal_environment() -> None:
    with pytest.raises(ValueError, match="goal_radius: found -1, expected more than 0 metres"):
        MVSimVecEnv(PATH, goal_radius=-1)
    with pytest.raises(TypeError, match="goal_radius: found a bool"):
        MVSimVecEnv(PATH, goal_radius=True)
    with pytest.raises(ValueError, match="goal_radius: found it with flatten=False"):
        MVSimVecEnv(PATH, goal_radius=0.25, flatten=False)
    with pytest.raises(AttributeError, match="give the keyword goal_radius"):
        MVSimVecEnv(PATH).env_method("compute_reward", None, None, None)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["PPO", "SAC", "HER"])
def test_algorithms_learn(name: str) -> None:
    quick: dict[str, Any] = {"policy_kwargs": {"net_arch": [16]}, "device": "cpu", "seed": 0}
    envs = goal_envs(4) if name == "HER" else MVSimVecEnv(PATH, 4)
    if name == "PPO":
        model: Any = sb3.PPO("MlpPolicy", envs, n_steps=128, batch_size=512, n_epochs=1, **quick)
    elif name == "SAC":
        model = sb3.SAC("MlpPolicy", envs, learning_starts=1000, train_freq=16, **quick)
    else:
        replay = {"replay_buffer_class": sb3.HerReplayBuffer, "replay_buffer_kwargs": {"n_sampled_goal": 4}}
        model = sb3.SAC("MultiInputPolicy", envs, learning_starts=1200, train_freq=16, **replay, **quick)
    before = [p.detach().clone() for p in model.policy.parameters()]
    model.learn(1600)
    assert any((a != b).any() for a, b in zip(before, model.policy.parameters(), strict=True))
    if name == "HER":  # places that were reached by chance count as goals
        assert 0.05 < model.replay_buffer.sample(500).rewards.mean() < 0.95
