"""Limits of commands, and a box ahead of the robot in which obstacles make it brake. Limits and topic names of
commercial robots: `mvsim-gym drive --robot NAME`."""

from __future__ import annotations

import difflib
import math
from collections import Counter
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt


class Limits(NamedTuple):
    """Limits of the commands to a robot. SI units."""

    speed: float = math.inf
    """largest speed forward, m/s"""
    reverse: float = math.inf
    """largest speed backward, m/s"""
    turn: float = math.inf
    """largest turn rate, rad/s"""
    acceleration: float = math.inf
    """largest acceleration, m/s2; braking is never limited"""
    turn_acceleration: float = math.inf
    """largest turn acceleration, rad/s2; slowing a turn is never limited"""
    brake: float = 0.5
    """braking deceleration that the robot surely reaches, m/s2; the box ahead computes with it"""
    reaction: float = 0.2
    """time until the robot begins to brake, s"""
    margin: float = 0.05
    """margin around the footprint, m"""
    box: bool = True
    """whether to brake for obstacles ahead"""

    def checked(self) -> Limits:
        """Returns the limits themselves. ValueError for an invalid value."""
        for name, value in self._asdict().items():
            if name == "box":
                continue
            low = name in ("reaction", "margin")
            if math.isnan(value) or value < 0 or (value == 0 and not low):
                raise ValueError(
                    f"limits: {name}: found {value}, expected a number {'of at least' if low else 'above'} 0"
                )
        return self


class LimitedCommands:
    """Commands of one robot, limited.

    Args:
        limits: limits of the robot.
        footprint: (n, 2) m, outline in the robot's frame.
    """

    def __init__(self, limits: Limits, footprint: npt.ArrayLike) -> None:
        self._limits = limits.checked()
        outline = np.asarray(footprint, np.float64)
        self._front, self._rear = float(outline[:, 0].max()), float(outline[:, 0].min())
        self._half = float(np.abs(outline[:, 1]).max())
        self._speed = self._turn = 0.0
        self.interventions: Counter[str] = Counter()
        """number of changed commands by limit"""

    @property
    def limits(self) -> Limits:
        """The limits; setting them checks them. ValueError for an invalid value."""
        return self._limits

    @limits.setter
    def limits(self, limits: Limits) -> None:
        self._limits = limits.checked()

    def stopped(self) -> None:
        self._speed = self._turn = 0.0

    def limited(
        self, speed: float, turn: float, period: float, points: npt.NDArray[Any] | None = None
    ) -> tuple[float, float, tuple[str, ...]]:
        """Returns the limited command, and the names of the limits that changed it.

        Args:
            speed: m/s, forward.
            turn: rad/s; for a car the steering angle, and the box then follows a straight line.
            period: time since the last command, s.
            points: (n, 2) m, hits of a scan in the robot's frame.

        Raises:
            ValueError: a value is not finite.
        """
        if not (math.isfinite(speed) and math.isfinite(turn)):
            raise ValueError(f"command: found {speed} and {turn}, expected finite numbers")
        limits, by = self._limits, []
        wanted = speed
        speed = min(max(speed, -limits.reverse), limits.speed)
        speed = _eased(speed, self._speed, limits.acceleration * period)
        if speed != wanted:
            by.append("speed")
        if limits.box and points is not None and len(points):
            allowed = self._allowed(points, 1 if speed >= 0 else -1)
            if abs(speed) > allowed:
                speed = math.copysign(allowed, speed)
                by.append("box")
        wanted = turn
        turn = min(max(turn, -limits.turn), limits.turn)
        turn = _eased(turn, self._turn, limits.turn_acceleration * period)
        if turn != wanted:
            by.append("turn")
        self._speed, self._turn = speed, turn
        self.interventions.update(by)
        return speed, turn, tuple(by)

    def _allowed(self, points: npt.NDArray[Any], way: int) -> float:
        """Returns the largest speed v from which the robot stops at the distance d of the nearest obstacle: v t + v^2 /
        (2 a) = d."""
        x, y = points[:, 0], points[:, 1]
        ahead = x - self._front if way > 0 else self._rear - x
        in_way = (np.abs(y) <= self._half + self._limits.margin) & (ahead > -(self._front - self._rear))
        if not in_way.any():
            return math.inf
        room = float(ahead[in_way].min()) - self._limits.margin
        if room <= 0:
            return 0.0
        a, t = self._limits.brake, self._limits.reaction
        return math.sqrt((a * t) ** 2 + 2 * a * room) - a * t


def _eased(value: float, before: float, most: float) -> float:
    """Limits the growth of the magnitude to `most`. Decreases are not limited, and a change of sign starts from
    zero."""
    if value * before >= 0:
        return (
            math.copysign(min(abs(value), abs(before) + most), value) if abs(value) > abs(before) else value
        )
    return math.copysign(min(abs(value), most), value)


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
