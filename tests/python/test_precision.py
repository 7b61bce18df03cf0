"""Motion is exact however long and far: what moves is what was commanded, to 1e-6.

A robot that has turned for a day is one that was put there: its yaw is that of the day's turns.
"""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from conftest import lasting

from mvsim_gym import World

IDEAL = '<controller class="twist_ideal"/>'
PID = '<controller class="twist_pid"><KP>5</KP><KI>20</KI><KD>0</KD><max_torque>50</max_torque></controller>'
FRONT_PID = (
    '<controller class="twist_front_steer_pid"><KP>5</KP><KI>20</KI><KD>0</KD><max_torque>50</max_torque>'
    "</controller>"
)
DRIVES = {
    "differential-ideal": ("differential", IDEAL),
    "differential-pid": ("differential", PID),
    "ackermann-ideal": ("ackermann", IDEAL),
    "ackermann-pid": ("ackermann", FRONT_PID),
}
DAY = 24 * 3600.0


def world(path: Path, drive: str, step: float, at: tuple[float, float], wall: bool) -> World:
    dynamics, controller = DRIVES[drive]
    beside = (
        f'<block name="wall"><static>true</static><init_pose>{at[0]} {at[1] + 1.5} 0</init_pose>'
        "<shape><pt>-50 0</pt><pt>-50 .2</pt><pt>50 .2</pt><pt>50 0</pt></shape></block>"
        if wall
        else ""
    )
    path.write_text(
        f'<mvsim_world version="1.0"><simul_timestep>{step}</simul_timestep>{beside}'
        f'<vehicle name="r"><init_pose>{at[0]} {at[1]} 0</init_pose><dynamics class="{dynamics}">'
        f'<chassis linear_damping="0" angular_damping="0"/>{controller}</dynamics></vehicle></mvsim_world>'
    )
    return World(path)


@pytest.mark.parametrize("wall", [False, True], ids=["free", "beside-a-wall"])
@pytest.mark.parametrize("step", [0.001, 0.005, 0.02])
@pytest.mark.parametrize("x", [0.0, 1e3, 1e4, 1e5])
@pytest.mark.parametrize("drive", DRIVES)
def test_speed_is_the_twist_however_far(
    tmp_path: Path, drive: str, x: float, step: float, wall: bool
) -> None:
    w = world(tmp_path / "w.xml", drive, step, (x, -x / 3), wall)
    robot = w.vehicles["r"]
    robot.set_twist(0.02, 0)
    w.step(2)
    speeds, start, steps = [], robot.pose, round(1 / step)
    for _ in range(steps):
        w.step(step)
        speeds.append(robot.twist.vx)
    # the twist of the end of a step is what the step has moved by
    assert (robot.pose.x - start.x) / (steps * step) == pytest.approx(sum(speeds) / steps, rel=1e-6, abs=2e-9)
    if drive.endswith("ideal"):
        assert sum(speeds) / steps == pytest.approx(0.02, rel=1e-6)


@pytest.mark.parametrize("wall", [False, True], ids=["free", "beside-a-wall"])
@pytest.mark.parametrize("step", [0.001, 0.005, 0.02])
@pytest.mark.parametrize("drive", ["differential-ideal", "differential-pid", "ackermann-ideal"])
def test_rate_is_the_twist_after_a_day_of_turning(
    tmp_path: Path, drive: str, step: float, wall: bool
) -> None:
    w = world(tmp_path / "w.xml", drive, step, (0, 0), wall)
    robot = w.vehicles["r"]
    turns = math.floor(10 * DAY / (2 * math.pi))
    robot.set_pose(0, 0, 2 * math.pi * turns)
    robot.set_twist(0, 0.05)
    w.step(2)
    rates, start, steps = [], robot.pose, round(1 / step)
    for _ in range(steps):
        w.step(step)
        rates.append(robot.twist.omega)
    assert start.yaw > 8e5
    assert (robot.pose.yaw - start.yaw) / (steps * step) == pytest.approx(
        sum(rates) / steps, rel=1e-6, abs=2e-9
    )
    if drive.endswith("ideal"):
        assert sum(rates) / steps == pytest.approx(0.05, rel=1e-6)


def test_a_snapshot_far_out_goes_on_with_the_same_bytes(tmp_path: Path) -> None:
    w = world(tmp_path / "w.xml", "differential-pid", 0.005, (1e5, 2e4), True)
    robot = w.vehicles["r"]
    robot.set_pose(1e5, 2e4, 2 * math.pi * 130000)
    robot.set_twist(0.5, 0.3)  # into the wall
    w.step(1.5)
    taken = w.snapshot()
    w.step(3)
    then = w.snapshot()
    w.restore(taken)
    w.step(3)
    assert w.snapshot() == then
    assert robot.had_collision


@pytest.mark.slow
@pytest.mark.parametrize(("step", "wall"), [(0.001, False), (0.005, True), (0.02, False), (0.02, True)])
@pytest.mark.parametrize("drive", ["differential-ideal", "differential-pid"])
def test_a_real_day_of_turning(tmp_path: Path, drive: str, step: float, wall: bool) -> None:
    w = world(tmp_path / "w.xml", drive, step, (0, 0), wall)
    robot = w.vehicles["r"]
    robot.set_twist(0, 0.05)
    w.step(60)
    start, began = robot.pose.yaw, w.time
    w.step(DAY if step == 0.02 else lasting(24, 2) * 3600.0)
    assert (robot.pose.yaw - start) / (w.time - began) == pytest.approx(0.05, rel=1e-6)
