"""Manoeuvres of a car with tires of class `vti`, for `mvsim-gym tire-plots`: skid-pad and step steer."""

from __future__ import annotations

import math
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np

from mvsim_gym.tire import FloatArray
from mvsim_gym.world import World

WHEELBASE = 2.72  # m
MASS = 1140.6 + 4 * 34.8  # kg
_PERIOD = 0.02  # s between two samples

# A light off-road vehicle with the parameters that MAVS ships for one.
_WORLD = """<mvsim_world><simul_timestep>0.005</simul_timestep><vehicle name="car"><init_pose>0 0 0</init_pose>
<dynamics class="ackermann_drivetrain"><f_wheels_x>2.72</f_wheels_x><f_wheels_d>1.32</f_wheels_d>
  <drivetrain type="open_4wd"/>
  <rl_wheel pos="0 .66" mass="34.8" width=".2286" diameter=".6604"/>
  <rr_wheel pos="0 -.66" mass="34.8" width=".2286" diameter=".6604"/>
  <fl_wheel mass="34.8" width=".2286" diameter=".6604"/><fr_wheel mass="34.8" width=".2286" diameter=".6604"/>
  <chassis mass="1140.6" zmin=".3" zmax="1.6" linear_damping="0" angular_damping="0">
    <shape><pt>-.5 -.7</pt><pt>-.5 .7</pt><pt>3.22 .7</pt><pt>3.22 -.7</pt></shape></chassis>
  <controller class="front_steer_pid"><KP>1500</KP><KI>200</KI><max_torque>2000</max_torque></controller>
</dynamics>{friction}{load_transfer}</vehicle></mvsim_world>"""


class Run(NamedTuple):
    """Samples every 20 ms."""

    time: FloatArray
    """s since the manoeuvre began."""
    speed: FloatArray
    """m/s."""
    yaw_rate: FloatArray
    """rad/s."""
    sideslip: FloatArray
    """rad, direction of travel of the rear axle's centre, positive to the left of the car's axis."""
    lateral: FloatArray
    """m/s2, acceleration to the left by the tires."""
    x: FloatArray
    y: FloatArray


def friction(model: str, surface: str = "dry") -> str:
    if model != "vti":
        return f'<friction class="{model}"/>'
    return f'<friction class="vti" surface="{surface}"/>'


def step_steer(
    tires: str, *, speed: float = 10.0, steer: float = math.radians(4), seconds: float = 2.5
) -> Run:
    """Drives straight at `speed` (m/s), then turns the wheels to `steer` (rad) at once."""
    world = _car(tires)
    world.vehicles["car"].set_command(speed, 0.0)
    world.step(30.0)
    return _record(world, [(speed, steer)] * round(seconds / _PERIOD))


def skid_pad(
    tires: str, *, steer: float = math.radians(12), max_speed: float = 14.0, seconds: float = 60.0
) -> Run:
    """Accelerates slowly to `max_speed` (m/s) with the wheels at `steer` (rad)."""
    speeds = np.linspace(0.5, max_speed, round(seconds / _PERIOD))
    return _record(_car(tires, '<load_transfer cg_height=".6"/>'), [(speed, steer) for speed in speeds])


def _car(tires: str, load_transfer: str = "") -> World:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "car.world.xml"
        path.write_text(_WORLD.format(friction=tires, load_transfer=load_transfer))
        return World(path)


def _record(world: World, commands: list[tuple[float, float]]) -> Run:
    car = world.vehicles["car"]
    rows = []
    for i, command in enumerate(commands):
        car.set_command(*command)
        world.step(_PERIOD)
        pose, twist = car.pose, car.twist
        lateral = float(np.sum(world.wheels("car").force_y)) / MASS
        speed, sideslip = math.hypot(twist.vx, twist.vy), math.atan2(twist.vy, twist.vx)
        rows.append((i * _PERIOD, speed, twist.omega, sideslip, lateral, pose.x, pose.y))
    return Run(*np.array(rows).T)
