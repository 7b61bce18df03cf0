"""State from outside: what is read and set by name of running environments, and how an episode begins."""

from __future__ import annotations

import copy
import pickle
import sys
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from conftest import ROOT, actions_for, equal

import mvsim_gym

ARENA = "mvsim/NavArena-v0"
MU = "vehicle:robot/friction/mu"
POSE = "vehicle:robot/pose"


def arena(num_envs: int, **keywords: Any) -> mvsim_gym.VectorEnv:
    envs = mvsim_gym.VectorEnv(ARENA, num_envs=num_envs, **keywords)
    envs.reset(seed=3)
    return envs


# ---------------------------------------------------------------- reading


def test_reading_is_the_same_for_one_and_many() -> None:
    envs, env = arena(3), mvsim_gym.Env(ARENA)
    env.reset(seed=4)
    for action in actions_for(0, 5, 3):
        envs.step(action)
        env.step(action[1])
    for name in envs.names():
        many, one = envs.read(name), env.read(name)
        assert many.dtype == np.float64 and many.shape[0] == 3
        assert many[1].tobytes() == np.float64(one).tobytes(), name
    assert envs.read("block:obstacle*/pose").shape == (3, 8, 3)
    assert envs.read("goal", envs=[2, 0]).tolist() == envs.read("goal")[[2, 0]].tolist()
    assert envs.read("time").tolist() == pytest.approx([1.0] * 3)


def test_reading_agrees_with_the_observation() -> None:
    env = mvsim_gym.Env(ARENA)
    observation, _ = env.reset(seed=0)
    x, y, yaw = env.read(POSE)
    to_goal = env.read("goal") - (x, y)
    assert observation["goal"][0] == pytest.approx(np.hypot(*to_goal), rel=1e-5)
    assert observation["goal"][1] == pytest.approx(np.cos(np.arctan2(to_goal[1], to_goal[0]) - yaw), abs=1e-5)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("vehicle:robt/pose", "did you mean 'vehicle:robot/pose'"),
        ("gaol", "did you mean 'goal'"),
        ("vehicle:robot/friction/m", "did you mean 'vehicle:robot/friction/mu'"),
    ],
)
def test_unknown_names(name: str, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        arena(2).read(name)


# ---------------------------------------------------------------- writing


def test_writing_poses_twists_goals_and_blocks() -> None:
    envs = arena(3, autoreset_mode="Disabled")
    poses = np.array([[0, 0, 0], [1, 1, 1], [-1, 2, -1.0]])
    envs.write("block:obstacle*/pose", [2.7, 2.7, 0])
    envs.write(POSE, poses)
    assert envs.read(POSE) == pytest.approx(poses, abs=1e-6)
    envs.write("goal", [0.5, -0.5], envs=1)
    assert envs.read("goal")[1].tolist() == [0.5, -0.5]
    envs.write("vehicle:robot/twist", [0.2, 0, 0], envs=[0])
    assert envs.read("vehicle:robot/twist")[:, 0] == pytest.approx([0.2, 0, 0], abs=1e-6)
    envs.write("block:obstacle1/pose", [[2, 2, 0]], envs=np.array([False, False, True]))
    assert envs.read("block:obstacle1/pose", envs=2)[0].tolist() == pytest.approx([2, 2, 0])
    observation, rewards, *_ = envs.step(np.zeros((3, 2), np.float32))
    assert observation["goal"][1, 0] == pytest.approx(np.hypot(0.5, 1.5), abs=0.02)
    assert np.abs(rewards).max() < 0.2, "nobody is paid for a move that was made for him"


def test_a_write_is_checked_as_a_whole() -> None:
    envs = arena(3)
    before = envs.snapshot()
    bad = np.zeros((3, 3))
    bad[2, 0] = np.nan
    for name, value, text in [
        (POSE, bad, "environment 2: vehicle:robot/pose: found nan"),
        (POSE, [0, 0], "found values of shape .2,., expected .3, 3."),
        (MU, [0.5, 0.5, -1], "environment 2: parameter vehicle:robot/friction/mu: found -1"),
        ("vehicle:robot/acceleration", [0, 0], "cannot be set"),
        ("time", 3, "cannot be set"),
        ("goal", [[np.inf, 0]], "found inf"),
    ]:
        with pytest.raises(ValueError, match=text):
            envs.write(name, value)
    with pytest.raises(TypeError, match="expected numbers"):
        envs.write(POSE, "there")
    with pytest.raises(ValueError, match="envs: found 3, expected 0 to 2"):
        envs.write(POSE, [0, 0, 0], envs=3)
    assert envs.snapshot() == before
    fresh = mvsim_gym.VectorEnv(ARENA, num_envs=2)
    with pytest.raises(ValueError, match="environment 0: it was never reset"):
        fresh.write(POSE, [0, 0, 0])


def test_a_written_goal_has_a_path() -> None:
    env = mvsim_gym.Env("mvsim/NavMap-v0", observe={"waypoint": True})
    env.reset(seed=1)
    goal = env.read("goal")
    twin = copy.deepcopy(env)
    twin.write("goal", goal)
    action = np.zeros(2, np.float32)
    equal(twin.step(action), env.step(action))


# ---------------------------------------------------------------- parameters


def test_parameters_are_kept_over_resets() -> None:
    envs = arena(3, randomize={MU: "uniform(0.7, 1.2)"})
    nominal = envs.read(MU)
    assert (np.diff(nominal) != 0).all()
    envs.set_parameter(MU, [0.3, 0.4], envs=[0, 2])
    assert envs.read(MU).tolist() == [0.3, nominal[1], 0.4]
    for _ in range(3):
        envs.reset()
        assert envs.read(MU)[[0, 2]].tolist() == [0.3, 0.4]
    for twin in (copy.deepcopy(envs), pickle.loads(pickle.dumps(envs))):
        twin.reset()
        assert twin.read(MU)[[0, 2]].tolist() == [0.3, 0.4]
    other = mvsim_gym.VectorEnv(ARENA, num_envs=3, randomize={MU: "uniform(0.7, 1.2)"})
    other.restore(envs.snapshot())
    other.reset()
    assert other.read(MU)[[0, 2]].tolist() == [0.3, 0.4]
    envs.reset_parameters(envs=0)
    envs.reset()
    assert envs.read(MU)[0] != 0.3 and envs.read(MU)[2] == 0.4
    untouched = arena(3, randomize={MU: "uniform(0.7, 1.2)"})
    for _ in range(4):
        untouched.reset()
    assert envs.read(MU)[:2].tolist() == untouched.read(MU)[:2].tolist(), "the draws are those of the seed"


def test_parameters_errors() -> None:
    env = mvsim_gym.Env(ARENA)
    with pytest.raises(ValueError, match="did you mean 'vehicle:robot/friction/mu'"):
        env.set_parameter("vehicle:robot/friction/mue", 1)
    with pytest.raises(ValueError, match="found nan"):
        env.set_parameter(MU, float("nan"))
    with pytest.raises(TypeError, match="expected numbers"):
        env.set_parameter(MU, None)


# ---------------------------------------------------------------- resets


def test_an_episode_begins_where_it_is_said() -> None:
    env = mvsim_gym.Env(ARENA)
    for seed in range(5):
        options = {"pose": (0.5, -0.5, 1.0), "goal": (-2, 2)}
        observation, info = env.reset(seed=seed, options=options)
        assert env.read(POSE) == pytest.approx([0.5, -0.5, 1.0], abs=1e-6) and info == {}
        assert env.read("goal").tolist() == [-2, 2]
        assert observation["goal"][0] == pytest.approx(np.hypot(2.5, 2.5), rel=1e-5)
        distances = np.hypot(*(env.read("block:*obstacle*/pose")[:, :2] - (0.5, -0.5)).T)
        assert distances.min() > 0.2, "obstacles keep off"
    env.reset()
    assert env.read("goal").tolist() != [-2, 2]
    env.reset(seed=0, options={"goal": np.array([1, 1])})
    assert env.read("goal").tolist() == [1, 1]


def test_starts_of_many_equal_those_of_one() -> None:
    poses = np.array([[0, 0, 0], [1, 1, 0.5], [-1, 1, 2.0]])
    goals = [(2, 2), None, (0, -2)]
    envs = mvsim_gym.VectorEnv(ARENA, num_envs=3)
    observation, _ = envs.reset(seed=7, options={"pose": poses, "goal": goals})
    for i in range(3):
        env = mvsim_gym.Env(ARENA)
        options = {"pose": poses[i]} | ({"goal": goals[i]} if goals[i] else {})
        one, _ = env.reset(seed=7 + i, options=options)
        equal({key: rows[i] for key, rows in observation.items()}, one)
        equal(env.read(POSE), envs.read(POSE)[i])
    mask = np.array([False, True, False])
    before = envs.read("goal")
    envs.reset(options={"reset_mask": mask, "pose": [0.2, 0.2, 0]})
    assert envs.read(POSE)[1] == pytest.approx([0.2, 0.2, 0], abs=1e-6)
    assert envs.read("goal")[[0, 2]].tolist() == before[[0, 2]].tolist()


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"pose": (3, 0, 0)}, "the pose 3 0 that was given touches"),
        ({"pose": (0, 0, 0), "goal": (0.1, 0)}, "within the radius"),
        ({"pose": (np.nan, 0, 0)}, "environment 0: pose: found nan"),
        ({"pose": (0, 0)}, r"found shape \(2,\), expected \(3,\): x, y, yaw"),
        ({"goal": (np.inf, 0)}, "environment 0: goal: found inf"),
        ({"knobs": {"obstacels": 3}}, "did you mean 'obstacles'"),
        ({"knobs": {"vehicle:robot/friction/m": 3}}, "did you mean 'vehicle:robot/friction/mu'"),
        ({"position": (0, 0)}, "options: found 'position'"),
    ],
)
def test_starts_that_cannot_be(options: dict[str, Any], text: str) -> None:
    env = mvsim_gym.Env(ARENA)
    with pytest.raises(ValueError, match=text):
        env.reset(seed=0, options=options)
    env.reset(seed=0)
    env.step(np.zeros(2, np.float32))


# ---------------------------------------------------------------- knobs


def test_knobs_by_env_and_episode() -> None:
    """An env that plays with other knobs is the env that was made with them."""
    envs = mvsim_gym.VectorEnv(ARENA, num_envs=3)
    knobs = [{"obstacles": 2}, {"obstacles": 4, "radius": [0.1, 0.15]}, None]
    first, _ = envs.reset(seed=5, options={"knobs": knobs})
    keywords = [own or {} for own in knobs]
    singles = [mvsim_gym.Env(ARENA, **own) for own in keywords]
    for i, env in enumerate(singles):
        equal({key: rows[i] for key, rows in first.items()}, env.reset(seed=5 + i)[0])
    for action in actions_for(1, 300, 3):
        observation, rewards, terminated, truncated, _ = envs.step(action)
        for i, env in enumerate(singles):
            own = env.step(action[i]) if env._running else (env.reset()[0], 0.0, False, False, {})
            equal({key: rows[i] for key, rows in observation.items()}, own[0])
            assert (rewards[i], terminated[i], truncated[i]) == own[1:4]
    with pytest.raises(ValueError, match="matches 4 items, but 2 in environment 0"):
        envs.read("block:obstacle*/pose")
    assert envs.read("block:obstacle*/pose", envs=1).shape == (1, 4, 3)
    envs.reset(seed=5, options={"knobs": {}})
    assert envs.read("block:obstacle*/pose").shape == (3, 8, 3)


def test_knobs_live_on_in_copies_and_snapshots() -> None:
    env = mvsim_gym.Env(ARENA)
    env.reset(seed=2, options={"knobs": {"obstacles": 3, MU: 0.4}})
    action = np.array([0.5, 0.3], np.float32)
    other = mvsim_gym.Env(ARENA)
    other.restore(env.snapshot())
    for twin in (copy.deepcopy(env), pickle.loads(pickle.dumps(env)), other):
        equal(twin.step(action), copy.deepcopy(env).step(action))
        again = copy.deepcopy(env)
        equal(twin.reset()[0], again.reset()[0])
        assert twin.read("block:obstacle*/pose").shape == (3, 3) and twin.read(MU) == 0.4


def test_knobs_that_would_change_the_spaces(tmp_path: Path) -> None:
    text = (Path(mvsim_gym.registration.listing()[ARENA])).read_text()
    world = Path(mvsim_gym.registration.listing()[ARENA]).parent.parent / "worlds" / "nav_arena.world.xml"
    path = tmp_path / "my.env.xml"
    text = text.replace('<knob name="gap"', '<knob name="sectors" value="36"/><knob name="gap"')
    path.write_text(text.replace('sectors="36"', 'sectors="${sectors}"'))
    env = mvsim_gym.Env(path, world=str(world))
    with pytest.raises(ValueError, match="'sectors' changes the observations"):
        env.set_knobs({"sectors": 12})
    with pytest.raises(mvsim_gym.WorldFileError, match="count"):
        env.set_knobs({"obstacles": -3})
    env.reset(seed=0)


@pytest.mark.parametrize("threads", [1, 3])
def test_same_bytes_over_envs_and_threads(threads: int) -> None:
    def play(num_envs: int, threads: int) -> list[Any]:
        envs = mvsim_gym.VectorEnv(ARENA, num_envs=num_envs, num_threads=threads, time_limit=4)
        out: list[Any] = [envs.reset(seed=1, options={"pose": [0, 0, 0], "knobs": {"obstacles": 5}})[0]]
        for step, action in enumerate(actions_for(2, 60, num_envs)):
            result = envs.step(action)
            out.append(result[:4])
            going = ~(result[2] | result[3])
            if step == 5:
                envs.set_parameter("vehicle:robot/chassis/mass", 2.0)
            if step == 10:
                envs.write("vehicle:robot/twist", [0.1, 0, 0.2], envs=going)
                envs.set_knobs({"obstacles": 2})
        return out

    def row(results: list[Any], i: int) -> list[Any]:
        return [
            {key: rows[i].tobytes() for key, rows in r.items()}
            if isinstance(r, dict)
            else ({key: rows[i].tobytes() for key, rows in r[0].items()}, *(float(v[i]) for v in r[1:]))
            for r in results
        ]

    few, many = play(2, 1), play(6, threads)
    for i in range(2):
        assert row(few, i) == row(many, i)


def test_options_and_knobs_for_stable_baselines() -> None:
    sb3 = pytest.importorskip("mvsim_gym.sb3")
    envs = sb3.MVSimVecEnv(ARENA, 2)
    envs.seed(3)
    envs.set_options({"pose": [0, 0, 0], "knobs": {"obstacles": 2}})
    envs.reset()
    assert envs.read(POSE) == pytest.approx(np.zeros((2, 3)), abs=1e-6)
    assert envs.read("block:obstacle*/pose").shape == (2, 2, 3)
    envs.write("goal", [1, 1], envs=1)
    assert envs.read("goal")[1].tolist() == [1, 1]
    with pytest.raises(ValueError, match="options: found 'position'"):
        envs.set_options({"position": 3})
        envs.reset()


def test_gymnasium_wrappers_hand_options_on() -> None:
    env = gym.make(ARENA)
    env.reset(seed=0, options={"pose": [0, 0, 0]})
    assert env.unwrapped.read(POSE) == pytest.approx([0, 0, 0])  # type: ignore[attr-defined]


@pytest.mark.unsanitized
def test_the_curriculum_of_the_examples() -> None:
    """Every env plays at its level, and levels follow successes."""
    sys.path.append(str(ROOT / "examples"))
    from baselines import policies
    from curriculum import FRICTION, Curriculum

    envs = mvsim_gym.VectorEnv(
        ARENA, num_envs=6, autoreset_mode="SameStep", reset={"goal": {"distance": [1.5, 2]}}
    )
    curriculum = Curriculum(envs)
    policy = policies(ARENA)["gap follower"]
    observation, _ = envs.reset(seed=0)
    levels = curriculum.levels.copy()
    for _ in range(150):
        observation, _, terminated, truncated, infos = envs.step(policy(observation))
        ended = terminated | truncated
        for i in ended.nonzero()[0]:  # the episode that has begun is of the level before
            blocks = [
                name for name in envs.names(i) if name.startswith("block:obstacle") and name.endswith("/pose")
            ]
            assert len(blocks) == levels[i]
            levels[i] = np.clip(levels[i] + (1 if infos["final_info"]["success"][i] else -1), 0, 8)
        won = np.zeros(6, bool) if not ended.any() else infos["final_info"]["success"]
        curriculum.after(ended, won)
        assert (curriculum.levels == levels).all()
    assert levels.max() >= 2
    assert envs.read(FRICTION) == pytest.approx(1.0 - 0.05 * levels)
