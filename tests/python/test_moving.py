"""mvsim/DynaBarn-v0 and mvsim/SocialNav-v0: what moves in them, and that it can be passed."""

from __future__ import annotations

import sys
from itertools import pairwise

import numpy as np
import pytest
from conftest import ROOT

import mvsim_gym

sys.path.append(str(ROOT / "examples"))
from baselines import policies

DYNA, SOCIAL = "mvsim/DynaBarn-v0", "mvsim/SocialNav-v0"
SCENARIOS = "corridor", "doorway", "crossing", "frontal"


def rates(env_id: str, policy: str, count: int, **keywords: object) -> dict[str, float]:
    """Means of what `info` says at the ends of the first episodes of `count` envs."""
    envs = mvsim_gym.VectorEnv(env_id, num_envs=count, autoreset_mode="SameStep", **keywords)
    observation, _ = envs.reset(seed=50)
    drive, running = policies(env_id)[policy], np.ones(count, bool)
    ends: dict[str, np.ndarray] = {}
    while running.any():
        observation, _, _, _, info = envs.step(drive(observation))
        if "final_info" not in info:
            continue
        now = running & info["_final_info"]
        for key, values in info["final_info"].items():
            ends.setdefault(key, np.zeros(count))[now] = values[now]
        running &= ~now
    envs.close()
    return {key: float(values.mean()) for key, values in ends.items()}


@pytest.mark.parametrize(("level", "count"), [("easy", 10), ("medium", 17), ("hard", 24)])
def test_cylinders_are_as_many_and_as_fast_as_published(level: str, count: int) -> None:
    """Over 40 s; they begin at rest, keep 1 m from start and goal, and are elsewhere in each episode."""
    envs = mvsim_gym.VectorEnv(DYNA, num_envs=6, level=level, time_limit=None, terminate={"collision": False})
    envs.reset(seed=1)
    places = [envs.read("body:*/pose")[..., :2].copy()]
    assert places[0].shape == (6, count, 2)
    assert np.abs(places[0][0] - places[0][1]).max() > 2
    for _ in range(200):
        envs.step(np.full((6, 2), [-0.5, 0], np.float32))
        places.append(envs.read("body:*/pose")[..., :2].copy())
    envs.close()
    way = np.array(places)
    assert np.abs(way[..., 0]).max() < 8.51 and np.abs(way[..., 1]).max() < 9.51
    speeds = np.linalg.norm(np.diff(way, axis=0), axis=-1)[25:] / 0.2
    assert speeds.mean() == pytest.approx(0.75, abs=0.1)
    jumps = np.linalg.norm(np.diff(way, 2, axis=0), axis=-1) / 0.2
    assert np.quantile(jumps, 0.999) < 0.6  # m/s from period to period


def test_more_cylinders_are_harder() -> None:
    found = [rates(DYNA, "wait and go", 100, level=level)["success"] for level in ("easy", "medium", "hard")]
    assert all(easier > harder for easier, harder in pairwise(found)), found


def test_a_level_that_is_not_there_is_named() -> None:
    with pytest.raises(mvsim_gym.WorldFileError, match="harder"):
        mvsim_gym.VectorEnv(DYNA, num_envs=1, level="harder")
    with pytest.raises(mvsim_gym.WorldFileError, match="cellar"):
        mvsim_gym.VectorEnv(SOCIAL, num_envs=1, scenario="cellar")


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_people_of_each_scenario_can_be_passed(scenario: str) -> None:
    ends = rates(SOCIAL, "social window", 48, scenario=scenario)
    assert ends["success"] > 0.7
    assert ends["personal_space"] > 0.6 and ends["person_distance"] > 0.1 and ends["jerk"] > 0
    blind = rates(SOCIAL, "go to goal", 48, scenario=scenario)
    assert blind["personal_space"] < ends["personal_space"]


def test_all_are_the_four_scenarios() -> None:
    """Worlds in turn: the room to the left of the robot's start, and the people, differ."""
    scans = []
    for seed, scenario in enumerate(SCENARIOS):
        same = []
        for keywords in ({"scenario": "all"}, {"scenario": scenario}):
            envs = mvsim_gym.VectorEnv(SOCIAL, num_envs=1, variants=1, world_seed=seed, **keywords)
            same.append(envs.reset(seed=0, options={"pose": [-4, 0, 0]})[0]["scan"][0])
            envs.close()
        np.testing.assert_array_equal(*same)
        scans.append(same[0])
    assert all(np.abs(a - b).max() > 0.3 for i, a in enumerate(scans) for b in scans[:i])


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_people_come_across_the_way_and_make_way(scenario: str) -> None:
    """Where a robot stands on its way for 15 s, people come near; those that are aware of it touch it seldom."""
    nearest = {}
    for aware in (True, False):
        envs = mvsim_gym.VectorEnv(
            SOCIAL, num_envs=40, scenario=scenario, aware=aware, time_limit=15, terminate={"collision": False}
        )
        envs.reset(seed=4, options={"pose": [0 if scenario == "crossing" else -1.5, 0.1, 0]})
        for _ in range(75):
            _, _, _, truncated, infos = envs.step(np.tile(np.array([-1, 0], np.float32), (40, 1)))
        assert truncated.all()
        nearest[aware] = infos["person_distance"]
        envs.close()
    touched = {aware: (distances < 0.01).mean() for aware, distances in nearest.items()}
    assert np.median(nearest[False]) < 0.6
    assert touched[True] < 0.1 and touched[True] <= touched[False], touched
