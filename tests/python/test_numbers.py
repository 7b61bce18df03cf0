"""Numbers that no float64 holds are a ValueError wherever a caller may give them."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from conftest import DATA

import mvsim_gym
from mvsim_gym import tire
from mvsim_gym.ros.topics import Schedule

HUGE = 10**400
YARD = DATA / "yard.world.xml"
ARENA = "mvsim/NavArena-v0"

Call = Callable[[], Any]


def calls_of_a_world() -> dict[str, Call]:
    world = mvsim_gym.World(YARD)
    robot = next(iter(world.vehicles.values()))
    block = next(b for b in world.blocks.values() if not b.is_static)
    path = f"vehicle:{robot.name}/chassis/mass"
    return {
        "set_pose": lambda: robot.set_pose(HUGE, 0, 0),
        "yaw": lambda: robot.set_pose(0, 0, -HUGE),
        "fraction": lambda: robot.set_pose(Fraction(HUGE), 0),
        "set_twist": lambda: robot.set_twist(HUGE, 0),
        "set_twist_state": lambda: robot.set_twist_state(0, HUGE, 0),
        "set_command": lambda: robot.set_command(0, HUGE),
        "block pose": lambda: block.set_pose(HUGE, 0),
        "block twist": lambda: block.set_twist_state(HUGE),
        "scale": lambda: block.set_scale(HUGE),
        "parameter": lambda: world.set_parameter(path, HUGE),
        "step": lambda: world.step(HUGE),
        "seed": lambda: world.reset(HUGE),
        "world seed": lambda: mvsim_gym.World(YARD, seed=HUGE),
        "memory": lambda: mvsim_gym.World(YARD, memory_limit=HUGE),
        "variables": lambda: mvsim_gym.World(YARD, variables={"none": HUGE}),
        "slip": lambda: tire.slip_of(rolling_speed=HUGE, speed=1),
        "slips": lambda: tire.slip_of(rolling_speed=[1, HUGE], speed=1),
    }


def calls_of_envs() -> dict[str, Call]:
    envs = mvsim_gym.VectorEnv(ARENA, num_envs=2)
    envs.reset(seed=0)
    return {
        "time_limit": lambda: mvsim_gym.Env(ARENA, time_limit=HUGE),
        "num_envs": lambda: mvsim_gym.VectorEnv(ARENA, num_envs=HUGE),
        "num_threads": lambda: mvsim_gym.VectorEnv(ARENA, num_envs=1, num_threads=HUGE),
        "pose": lambda: envs.reset(options={"pose": [HUGE, 0, 0]}),
        "goal": lambda: envs.reset(options={"goal": (0, HUGE)}),
        "set": lambda: envs.write("vehicle:robot/pose", [HUGE, 0, 0]),
        "hold": lambda: envs.set_parameter("vehicle:robot/chassis/mass", HUGE),
        "index": lambda: envs.read("vehicle:robot/pose", envs=HUGE),
        "state": lambda: envs.get_state([HUGE]),
        "action": lambda: envs.step([[HUGE, 0], [0, 0]]),  # type: ignore[arg-type]
    }


@pytest.mark.parametrize("calls", [calls_of_a_world, calls_of_envs])
def test_an_integer_beyond_float64_is_a_value_error(calls: Callable[[], dict[str, Call]]) -> None:
    wrong = {}
    for name, call in calls().items():
        try:
            call()
            wrong[name] = "accepted"
        except (ValueError, TypeError):
            pass
        except Exception as error:
            wrong[name] = repr(error)
    assert wrong == {}


def test_a_sum_of_rewards_that_overflows_is_a_value_error() -> None:
    huge = mvsim_gym.VectorEnv(
        ARENA,
        num_envs=2,
        reward_terms={"a": lambda _: np.full(2, 1.5e308), "b": lambda _: np.full(2, 1.5e308)},
    )
    huge.reset(seed=0)
    with pytest.raises(ValueError, match="environment 0: the sum of its rewards overflows"):
        huge.step(np.zeros((2, 2), np.float32))
    over_time = mvsim_gym.VectorEnv(ARENA, num_envs=1, reward_terms={"a": lambda _: np.full(1, 1.5e308)})
    over_time.reset(seed=0)
    over_time.step(np.zeros((1, 2), np.float32))
    with pytest.raises(ValueError, match="environment 0: the sum of its rewards overflows"):
        over_time.step(np.zeros((1, 2), np.float32))


@pytest.mark.parametrize(
    ("step", "period"), [(0.02, 0.05), (0.01, 0.025), (0.1, 1 / 3), (1 / 30, 0.05), (0.5, 0.1)]
)
def test_what_is_due_once_a_period_keeps_its_mean_rate(step: float, period: float) -> None:
    schedule = Schedule(period)
    due = [k * step for k in range(round(600 / step) + 1) if schedule.is_due(k * step)]
    assert len(due) == pytest.approx(600 / max(step, period), abs=1.01)
    for k, time in enumerate(due):
        if period > step:
            assert -1e-6 < time - k * period < step + 1e-6
    schedule.restart()
    assert schedule.is_due(0) and not schedule.is_due(1e-7)
