"""Logs made by the simulator for the tests of identification: true parameters, commands, noise of sensors, delay."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from mvsim_gym.identify import PARAMETERS, Log, Robot, Stream
from mvsim_gym.world import World

SKID = """<vehicle:class name="skid">
  <dynamics class="differential_4_wheels">
    <lr_wheel pos="-0.13  0.16" mass="1.0" width="0.03" diameter="0.20"/>
    <rr_wheel pos="-0.13 -0.16" mass="1.0" width="0.03" diameter="0.20"/>
    <lf_wheel pos=" 0.13  0.16" mass="1.0" width="0.03" diameter="0.20"/>
    <rf_wheel pos=" 0.13 -0.16" mass="1.0" width="0.03" diameter="0.20"/>
    <chassis mass="10" zmin="0.07" zmax="0.25">
      <shape><pt>-0.25 -0.2</pt> <pt>-0.25 0.2</pt> <pt>0.25 0.2</pt> <pt>0.25 -0.2</pt></shape>
    </chassis>
    <controller class="twist_pid"><KP>5</KP> <KI>10</KI> <max_torque>2.8</max_torque></controller>
  </dynamics>
  <friction class="default"><mu>0.5</mu> <C_damping>0.005</C_damping> <C_rr>0.02</C_rr></friction>
</vehicle:class>
"""

TRUE = {
    "wheel_radius": 0.104,
    "track": 0.35,
    "mass": 12.5,
    "inertia": 0.30,
    "mu": 0.40,
    "C_rr": 0.05,
    "KP": 6.0,
    "delay": 0.02,
}
"""Of the robot that makes the logs, which differs from its file in all of them."""

_STEP, _RATE = 0.005, 50  # s, Hz of commands and sensors
_DEVIATIONS = {"odometry": (0.005, 0.01), "gyro": (0.002,), "pose": (0.002, 0.002, 0.002)}
_COLUMNS = {"odometry": ("vx", "omega"), "gyro": ("omega",), "pose": ("x", "y", "yaw")}


def commands(seed: int, seconds: float, straight: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Times and (vx, omega): random steps of 0.6 to 1.6 s, from rest to rest."""
    random = np.random.default_rng(seed)
    time = np.arange(0, seconds, 1 / _RATE)
    held = np.zeros((len(time), 2))
    at = 0.5
    while at < seconds - 1:
        lasts = random.uniform(0.6, 1.6)
        held[(time >= at) & (time < at + lasts)] = (
            random.uniform(-1.0, 1.2),
            0 if straight else random.uniform(-3, 3),
        )
        at += lasts
    held[time > seconds - 0.7] = 0
    return time, held


def driven(
    robot: Robot, true: Mapping[str, float], seed: int, seconds: float = 30, straight: bool = False
) -> Log:
    """A log of a robot with other parameters than its file says."""
    time, held = commands(seed, seconds, straight)
    world = World(robot.world_path, seed=seed, roots=robot.all_roots)
    for name, value in true.items():
        if PARAMETERS[name].target == "world":
            for path, own in robot.values_at(PARAMETERS[name], np.array(value)).items():
                world.set_parameter(path, float(own))
    world.reset(seed=seed)
    vehicle = next(iter(world.vehicles.values()))
    late = round(true.get("delay", 0) / _STEP)
    every = round(1 / _RATE / _STEP)
    random = np.random.default_rng(seed + 1000)
    rows: dict[str, list[tuple[float, ...]]] = {name: [] for name in _COLUMNS}
    for i in range(round(seconds / _STEP)):
        if (i - late) % every == 0 and i >= late:
            vehicle.set_twist(*held[min((i - late) // every, len(held) - 1)])
        world.step()
        if (i + 1) % every == 0:
            odometry, pose = vehicle.odometry_twist, vehicle.pose
            values = {
                "odometry": (odometry.vx, odometry.omega),
                "gyro": (vehicle.twist.omega,),
                "pose": (pose.x, pose.y, pose.yaw),
            }
            for name, own in values.items():
                rows[name].append(((i + 1) * _STEP, *(own + random.normal(0, _DEVIATIONS[name]))))
    streams = {"command": Stream(time, held, ("vx", "omega"))}
    for name, own_rows in rows.items():
        table = np.array(own_rows)
        streams[name] = Stream(table[:, 0], table[:, 1:], _COLUMNS[name])
    return Log(f"run{seed}", streams)


def write_csv(log: Log, path: str) -> None:
    """One file with all streams of the logs above, by the names that are known without a map."""
    command, odometry = log.streams["command"], log.streams["odometry"]
    held = command.values[np.clip(np.searchsorted(command.time, odometry.time, "right") - 1, 0, None)]
    table = np.column_stack(
        [odometry.time, held, odometry.values, log.streams["gyro"].values, log.streams["pose"].values]
    )
    header = "time,cmd_vx,cmd_omega,odom_vx,odom_omega,wz,x,y,yaw"
    np.savetxt(path, table, fmt="%.9g", delimiter=",", header=header, comments="")
