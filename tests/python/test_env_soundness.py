"""Every registered environment pays for its task and for nothing else, starts fairly, and gets harder by its knobs.

Yardstick is the first policy of examples/baselines.py; an environment without one fails here and should get one.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from conftest import ROOT, blind, equal, lasting

sys.path.append(str(ROOT / "examples"))
from baselines import policies
from robot import Robot, rows_of

EPISODES = 32
FEW = 16  # where each of many policies drives to the time limit
SLOW_SCRIPTS = ("mvsim/DynaBarn-v0", "mvsim/SocialNav-v0")  # which look ahead at moving obstacles
LONG = {
    "mvsim/Greenhouse-v0": 4,
    "mvsim/RowFollow-v0": 4,
}  # whose episodes are so many times as long: fewer of them
# Success that the yardstick reaches at least, where 0.8 is beyond what scripts do.
YARDSTICK = {"mvsim/Barn-v0": 0.6, "mvsim/CrowdNav-v0": 0.5, "mvsim/DynaBarn-v0": 0.25}
Policy = Callable[[dict[str, np.ndarray], int], np.ndarray]


def play(env_id: str, policy: Policy, count: int = EPISODES, **keywords: Any) -> dict[str, np.ndarray]:
    """One episode in each of `count` envs, or fewer long ones: what `info` says at their ends, and `return`.

    With a goal also how far away it was at the start and at the end, as far as that is observed.
    """
    episodes = count // LONG.get(env_id, 1)
    envs = gym.make_vec(env_id, num_envs=episodes, autoreset_mode="SameStep", **keywords)
    observation, _ = envs.reset(seed=100)
    goal = observation.keys() & {"goal"}
    ends: dict[str, np.ndarray] = {f"first_{key}": observation[key][:, 0].copy() for key in goal}
    running, step = np.ones(episodes, bool), 0
    while running.any():
        observation, _, _, _, info = envs.step(policy(observation, step))
        step += 1
        if "final_info" not in info:
            continue
        now = running & info["_final_info"]
        last = {
            f"last_{key}": np.array([final[key][0] if final else 0 for final in info["final_obs"]])
            for key in goal
        }
        for key, values in {**info["final_info"], **last}.items():
            if not key.startswith("_"):
                ends.setdefault(key, np.zeros(episodes))[now] = values[now]
        running &= ~now
    envs.close()
    ends["return"] = sum(values for key, values in ends.items() if key.startswith("reward/"))
    return ends


def constant(robot: Robot, drive: float, turn: float) -> Policy:
    """A command that never changes: speed (m/s) or torque (N m), and turning speed (rad/s) or steering angle (rad)."""
    return lambda observation, _: robot.as_actions(np.tile([drive, turn], (rows_of(observation), 1)))


def baseline(env_id: str, name: str | None = None) -> Policy:
    """The scripted policy of that name, or the yardstick."""
    choices = policies(env_id)
    policy = choices[name or next(iter(choices))]
    return lambda observation, _: policy(observation)


def test_no_free_reward(env_id: str) -> None:
    """Standing, spinning, circling, driving to and fro: each earns less than nothing."""
    robot = Robot(env_id)
    fast, turn = robot.high
    swing = constant(robot, fast, 0), constant(robot, robot.low[0], 0)
    idle: dict[str, Policy] = {
        "standing": constant(robot, 0, 0),
        "spinning": constant(robot, 0, turn),
        "spinning back": constant(robot, 0, robot.low[1]),
        "circling": constant(robot, fast / 2, turn / 2),
        "wide circling": constant(robot, fast, turn / 4),
        "to and fro": lambda observation, step: swing[step // 5 % 2](observation, step),
    }
    yardstick = play(env_id, baseline(env_id), FEW)["return"].mean()
    for name, policy in idle.items():
        mean = play(env_id, policy, FEW, **blind(env_id))["return"].mean()
        assert mean < 0 and mean < yardstick, name


def test_full_speed_does_not_win(env_id: str) -> None:
    """Full speed ahead, backwards and in a circle: few goals are reached, and little is earned."""
    robot = Robot(env_id)
    fast, turn = robot.high
    yardstick = play(env_id, baseline(env_id), FEW)["return"].mean()
    for drive, steer in ((fast, 0), (robot.low[0], 0), (fast, turn)):
        ends = play(env_id, constant(robot, drive, steer), 64, **blind(env_id))
        assert ends["success"].mean() < 0.1
        assert ends["return"].mean() < 0.1 * yardstick


def test_chance_does_not_win(env_id: str) -> None:
    rng = np.random.default_rng(0)
    random = play(
        env_id, lambda o, _: rng.uniform(-1, 1, (rows_of(o), 2)).astype(np.float32), **blind(env_id)
    )
    assert random["success"].mean() < 0.05
    count = EPISODES if env_id in SLOW_SCRIPTS else 100
    assert play(env_id, baseline(env_id), count)["success"].mean() > YARDSTICK.get(env_id, 0.8)


def test_progress_telescopes(env_id: str) -> None:
    """On every way, progress adds up to what the goal came nearer (as the crow flies, which can be observed).

    That along a centreline: test_race.py.
    """
    if "goal" not in gym.make(env_id).observation_space.spaces:  # type: ignore[attr-defined]
        return
    rng = np.random.default_rng(1)
    keywords = {
        "observe": {"goal": {"max_distance": 100}},
        "reward": {"progress": {"geodesic": False, "weight": 1}},
    }
    for policy in (
        baseline(env_id),
        lambda o, _: rng.uniform(-1, 1, (rows_of(o), 2)).astype(np.float32),
    ):
        ends = play(env_id, policy, **keywords)
        nearer = ends["first_goal"].astype(np.float64) - ends["last_goal"]
        np.testing.assert_allclose(ends["reward/progress"], nearer, atol=1e-4)


def test_geodesic_progress_does_not_depend_on_the_way() -> None:
    """Driving out and back to the same place brings nothing."""
    env = gym.make("mvsim/NavMap-v0", action={"class": "twist", "vx": "-0.5 0.5", "omega": "-1 1"})
    env.reset(seed=3)
    total = 0.0
    for forward in [0.4] * 15 + [-0.4] * 15 + [0.0] * 10:
        _, reward, terminated, _, _ = env.step(np.array([forward, 0], np.float32))
        total += reward
        assert not terminated
    assert abs(total) < 0.25  # a few centimetres of the way, and the small costs of time


def test_a_seed_is_a_fixed_set_of_episodes(env_id: str) -> None:
    equal(*(play(env_id, baseline(env_id), 16) for _ in range(2)))


@pytest.mark.parametrize(
    ("name", "script", "knob", "values"),
    [
        ("Crowd", "go to goal", "people_count", [1, 3, 5, 10]),
        ("CrowdNav", "go to goal", "people_count", [1, 3, 5]),
        ("DepthNavigation", "go to goal", "obstacles", [0, 4, 8]),
        ("Drift", "keeps the line", "grip", ["3, 5", "2, 3", "1.5, 2"]),
        ("DynaBarn", "wait and go", "level", ["easy", "medium", "hard"]),
        ("IceDrive", "knows no ice", "ice", [0.8, 0.3, 0.12]),
        ("IceDrive", "knows no ice", "patches", [0, 3, 8]),
        ("MultiNav", "go to goal", "obstacles", [0, 4, 8]),
        ("NavArena", "go to goal", "obstacles", [0, 4, 8, 16]),
        ("NavArena", "go to goal", "radius", ["0.1 0.1", "0.2 0.2", "0.35 0.35"]),
        ("NavArena", "go to goal", "clearance", [0.6, 0.3, 0.15]),
        ("OffRoad", "slow and steady", "sand_patches", [0, 4, 8]),
        ("Race", "pure pursuit", "grip", [1.05, 0.9, 0.8, 0.7]),
        ("Slick", "as on dry ground", "slip", ["0.7, 0.8", "0.1, 0.4", "0.05, 0.08"]),
        ("SocialNav", "go to goal", "sight", [3, 1.5, 0.7]),
        ("TrailerDock", "LQR alone", "area", ["12 25 -1 1", "12 25 -5 5", "12 16 -7 7"]),
        ("TrailerDock", "LQR alone", "yaw", ["-5 5", "-28.65 28.65", "-50 50"]),
        ("TurtleBot3Nav", "go to goal", "stage", [1, 2, 4]),
        ("VisualNavigation", "go to goal", "obstacles", [0, 3, 6]),
    ],
)
def test_knobs_are_monotone(name: str, script: str, knob: str, values: list[Any]) -> None:
    """More people and obstacles, slippery ground and starts farther off lower the success of a simple script."""
    env_id = f"mvsim/{name}-v0"
    count = {"NavArena": 400, "DynaBarn": 100}.get(name, 200)
    policy = baseline(env_id, script)
    rates = [play(env_id, policy, count, **{knob: value})["success"].mean() for value in values]
    assert all(easier > harder for easier, harder in pairwise(rates)), rates
    assert rates[0] > rates[-1] + 0.1, rates


RESETS = pytest.mark.parametrize(
    "first",
    [
        pytest.param(range(10), id="1e4"),
        pytest.param(range(10, lasting(100, 25)), id="1e5", marks=pytest.mark.slow),
    ],
)


@RESETS
def test_starts_are_fair(env_id: str, first: range) -> None:
    """In 1e5 resets no episode begins in a collision or at its goal: none is over after a step of standing."""
    begins_fairly(env_id, first, **blind(env_id))


@RESETS
def test_starts_of_teams_are_fair(team_id: str, first: range) -> None:
    begins_fairly(team_id, first)


def begins_fairly(env_id: str, first: range, **keywords: Any) -> None:
    num_envs = 1000
    envs = gym.make_vec(env_id, num_envs=num_envs, time_limit=None, **keywords)
    still = np.tile(Robot(env_id).as_actions(np.zeros((1, 2))), (num_envs, 1))
    for seed in first:
        envs.reset(seed=seed * num_envs)
        _, _, terminated, _, _ = envs.step(still)
        assert not terminated.any(), f"seed {seed * num_envs + int(terminated.argmax())}"
