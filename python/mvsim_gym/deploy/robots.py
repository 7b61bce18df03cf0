"""Topic names and limits of commercial robots: `mvsim-gym drive --robot NAME`."""

from __future__ import annotations

import difflib
from typing import NamedTuple

from mvsim_gym.deploy.limits import Limits


class RobotNames(NamedTuple):
    """Topics and limits of a robot model, from the documentation of its drivers."""

    scan: str = "/scan"
    odom: str = "/odom"
    imu: str = "/imu"
    cmd: str = "/cmd_vel"
    kind: str = "twist"
    """twist, stamped (TwistStamped) or ackermann (AckermannDriveStamped)"""
    limits: Limits = Limits()


ROBOTS = {
    "none": RobotNames(),
    "turtlebot3_burger": RobotNames(limits=Limits(speed=0.22, reverse=0.22, turn=2.84, brake=0.5)),
    "turtlebot3_waffle": RobotNames(limits=Limits(speed=0.26, reverse=0.26, turn=1.82, brake=0.5)),
    "turtlebot4": RobotNames(kind="stamped", limits=Limits(speed=0.46, reverse=0.15, turn=1.9, brake=0.9)),
    "jackal": RobotNames(
        scan="/front/scan",
        odom="/odometry/filtered",
        imu="/imu/data",
        limits=Limits(speed=2.0, reverse=2.0, turn=4.0, brake=1.0),
    ),
    "f1tenth": RobotNames(cmd="/drive", kind="ackermann", limits=Limits(speed=7.0, reverse=1.0, brake=3.0)),
}
"""Robots by name. The odometry of F1TENTH is that of its VESC (`/odom`)."""


def robot_names(name: str) -> RobotNames:
    """Returns the row of a robot. ValueError if there is none."""
    if name not in ROBOTS:
        near = difflib.get_close_matches(name, ROBOTS, 1)
        raise ValueError(
            f"--robot: found '{name}', expected one of {', '.join(ROBOTS)}"
            + (f": '{near[0]}'?" if near else "")
        )
    return ROBOTS[name]
