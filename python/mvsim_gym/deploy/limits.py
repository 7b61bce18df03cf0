"""Limits of commands, and a box ahead that can only brake."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["LimitedCommands", "Limits"]


class Limits(NamedTuple):
    """What a robot is never commanded beyond. SI units."""

    speed: float = math.inf
    """m/s forward"""
    reverse: float = math.inf
    """m/s backward"""
    turn: float = math.inf
    """rad/s"""
    acceleration: float = math.inf
    """m/s2; braking is never limited"""
    turn_acceleration: float = math.inf
    """rad/s2; a turn may always become slower"""
    brake: float = 0.5
    """m/s2 by which the robot stops for certain: what the box ahead reckons with"""
    reaction: float = 0.2
    """s until it begins to brake"""
    margin: float = 0.05
    """m around the footprint"""
    box: bool = True
    """brake for what stands in the way"""

    def checked(self) -> Limits:
        """Itself; ValueError for a value that cannot be."""
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
    """Commands of one robot within its limits.

    Args:
        limits: of the robot.
        footprint: (n, 2) m, its outline in its own frame.
    """

    def __init__(self, limits: Limits, footprint: npt.ArrayLike) -> None:
        self._limits = limits.checked()
        outline = np.asarray(footprint, np.float64)
        self._front, self._rear = float(outline[:, 0].max()), float(outline[:, 0].min())
        self._half = float(np.abs(outline[:, 1]).max())
        self._speed = self._turn = 0.0
        self.interventions: Counter[str] = Counter()
        """by limit, how often a command was changed"""

    def stopped(self) -> None:
        """The robot was told to stop."""
        self._speed = self._turn = 0.0

    def limited(
        self, speed: float, turn: float, period: float, points: npt.NDArray[Any] | None = None
    ) -> tuple[float, float, tuple[str, ...]]:
        """The command that may be sent, and which limits changed it.

        Args:
            speed: m/s, forward.
            turn: rad/s, or of a car the angle of steering: the box follows a straight way then.
            period: s since the last command.
            points: (n, 2) m, what a scan hit, in the robot's frame.

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
        """The speed from which the robot stops before what stands in its way: v t + v^2 / (2 a) = d."""
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
    """At most `most` farther from zero than before; towards zero as it likes, and through zero from there."""
    if value * before >= 0:
        return (
            math.copysign(min(abs(value), abs(before) + most), value) if abs(value) > abs(before) else value
        )
    return math.copysign(min(abs(value), most), value)
