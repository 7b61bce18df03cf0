"""mvsim/Greenhouse-v0: its rows, what it pays for, and its keywords."""

from __future__ import annotations

import re
import sys
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from conftest import ROOT

import mvsim_gym

sys.path.append(str(ROOT / "examples"))
from baselines import policies

GREENHOUSE, ROW_FOLLOW = "mvsim/Greenhouse-v0", "mvsim/RowFollow-v0"


def env_of(**keywords: Any) -> mvsim_gym.Env:
    return mvsim_gym.Env(GREENHOUSE, **keywords)


def rows_of(seed: int) -> list[np.ndarray]:
    """Places of the plants of each row, (n, 2), in the greenhouse of a seed of the world."""
    world = mvsim_gym.World(ROOT / "worlds" / "greenhouse.world.xml", world_seed=seed)
    blocks = world.blocks
    return [
        np.array([blocks[n].pose[:2] for n in blocks if re.fullmatch(rf"row{row}_plant\d+", n)])
        for row in range(1, 7)
    ]


def test_greenhouses_are_planted_as_they_should_be() -> None:
    spacings = []
    for seed in range(32):
        rows = rows_of(seed)
        which = np.repeat(np.arange(6) - 0.5, 36)  # the first alley, between the first two, is on y = 0
        aside = np.concatenate(rows)[:, 1] * np.sign(which)
        low, high = ((aside - 0.1) / np.abs(which)).max(), ((aside + 0.1) / np.abs(which)).min()
        assert low < high + 1e-4  # a spacing beside whose rows all plants stand up to 0.1 m
        spacings.append((low + high) / 2)
        for row in rows:
            assert len(row) == 36  # of 40 places
            places = np.round((row[:, 0] - 0.25) / 0.5)
            assert len(set(places)) == 36 and places.min() >= 0 and places.max() <= 39
            assert np.abs(row[:, 0] - 0.25 - 0.5 * places).max() <= 0.1 + 1e-5
    assert 1.39 < min(spacings) < 1.5 and 1.7 < max(spacings) < 1.81


def test_the_flat_lidar_is_in_the_same_greenhouse() -> None:
    """In the same places, with the sensors of its row alone."""
    path = ROOT / "worlds" / "greenhouse.world.xml"
    tall, flat = (
        mvsim_gym.World(path, world_seed=5, variables=variables) for variables in ({}, {"rays": 120})
    )
    assert [block.pose for block in tall.blocks.values()] == [block.pose for block in flat.blocks.values()]
    assert list(tall.vehicles["robot"].sensors) == ["lidar", "imu", "gnss"]
    assert list(flat.vehicles["robot"].sensors) == ["lidar", "imu"]


def test_a_robot_between_two_rows_is_paid_for_the_way() -> None:
    env = env_of(reward={"time": False})
    observation, _ = env.reset(seed=3, options={"pose": [6, 0, 0]})
    assert observation["row_parity"] == 0
    total = 0.0
    for _ in range(40):
        observation, reward, *_ = env.step(np.array([1, 0], np.float32))
        total += reward
    assert total == pytest.approx(observation["gnss"][0] - 6, abs=0.2)
    # a robot in the second alley has driven none, and goes back
    observation, _ = env.reset(seed=3, options={"pose": [10, 1.6, np.pi]})
    assert observation["row_parity"] == 1
    _, reward, *_ = env.step(np.array([1, 0], np.float32))
    for _ in range(10):
        _, reward, *_ = env.step(np.array([1, 0], np.float32))
    assert reward > 0.05


def test_plants_that_are_touched_cost_and_end_it_at_the_fifth() -> None:
    """Into the row at full lock, again and again: a contact that lasts is one."""
    env = env_of()
    env.reset(seed=1, options={"pose": [5, 0, 0]})
    for contact in range(1, 6):
        for _ in range(40):
            _, _, terminated, _, info = env.step(np.array([1, 1], np.float32))
            if terminated:
                break
        assert terminated == (contact == 5)
        if not terminated:
            env.write("vehicle:robot/pose", [5, 0, 0])
            env.step(np.array([-1, 0], np.float32))
    assert info["terminated/contacts"] and not info["success"]
    assert info["reward/collision"] == -10


def test_the_field_ends_at_the_glass() -> None:
    env = env_of()
    env.reset(seed=0, options={"pose": [23, 0, 0]})
    for _ in range(40):
        _, _, terminated, _, info = env.step(np.array([1, 0], np.float32))
        if terminated:
            break
    assert info["terminated/left_field"] and not info["success"]


@pytest.mark.parametrize("env_id", [GREENHOUSE, ROW_FOLLOW])
def test_two_alleys_are_half_of_the_task(env_id: str) -> None:
    policy = next(iter(policies(env_id).values()))
    envs = gym.make_vec(env_id, num_envs=4, alleys=2, autoreset_mode="SameStep")
    observation, _ = envs.reset(seed=5)
    ended = np.zeros(4, bool)
    for _ in range(700):
        observation, _, _, _, info = envs.step(policy(observation))
        if "final_info" not in info:
            continue
        now = info["_final_info"] & ~ended
        assert info["final_info"]["success"][now].all()
        assert (info["final_info"]["reward/row_end"][now] == 10).all()
        assert (info["final_info"]["time"][now] < 60).all()
        ended |= now
        if ended.all():
            break
    assert ended.all()


def test_keywords() -> None:
    env_of(crop_rows={"headland": 3, "blocks": "row1_* row2_* row3_*"}, alleys=2).reset(seed=0)
    for keywords, expected in (
        ({"alleys": 6}, "count"),
        ({"crop_rows": {"headland": -1}}, "headland"),
        ({"crop_rows": {"heads": 1}}, "heads"),
        ({"crop_rows": {"blocks": "row1_*"}}, "found 1 patterns"),
        ({"crop_rows": 3.0}, "crop_rows"),
        ({"crop_rows": False}, "expected a <crop_rows>"),
    ):
        with pytest.raises(mvsim_gym.WorldFileError, match=expected):
            env_of(**keywords)


def test_a_snapshot_is_small_and_goes_on_alike() -> None:
    env = env_of()
    env.reset(seed=2)
    for _ in range(30):
        env.step(np.array([1, 0.1], np.float32))
    state = env.snapshot()
    assert len(state) < 64_000
    first = [env.step(np.array([1, 0], np.float32)) for _ in range(20)]
    env.restore(state)
    for observation, reward, *_ in first:
        again, reward_again, *_ = env.step(np.array([1, 0], np.float32))
        assert reward == reward_again
        for key, value in observation.items():
            np.testing.assert_array_equal(value, again[key])
