"""Walls of a floor plan: polylines in metres, and curves flattened to a tolerance."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from mvsim_gym.robots.description import Array
from mvsim_gym.robots.elements import Fate, ImportRobotError
from mvsim_gym.robots.sensor_files import number

UNITS = {"mm": 0.001, "cm": 0.01, "dm": 0.1, "m": 1.0, "km": 1000.0, "in": 0.0254, "ft": 0.3048, "yd": 0.9144}
"""lengths of the units of drawings, m"""

MAX_WALLS = 50_000  # in a world file
MAX_REACH = 10_000.0  # from the origin of the world, m
_SHORTEST = 1e-4  # of a wall, m


@dataclass
class Placement:
    """Where a drawing lies in the world, and how large it is."""

    unit: str = ""
    """a key of UNITS: the length of one unit of the drawing; empty: as the file says"""
    scale: float = 1.0
    """factor of all lengths; 50 for a drawing of 1:50"""
    origin: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """x and y (m) and yaw (rad) of the drawing's origin in the world"""

    def check(self) -> None:
        """Raises ValueError if a value cannot be used."""
        if self.unit and self.unit not in UNITS:
            raise ValueError(f"--unit: found '{self.unit}', expected one of {', '.join(UNITS)}")
        if not (math.isfinite(self.scale) and 1e-6 <= self.scale <= 1e6):
            raise ValueError(f"--scale: found {self.scale:g}, expected a number from 1e-6 to 1e6")
        if not all(math.isfinite(value) and abs(value) <= 1e9 for value in self.origin):
            raise ValueError(f"--origin: found {self.origin}, expected x, y and yaw below 1e9")
        if abs(self.origin[2]) > 2 * math.pi:
            raise ValueError(f"--origin: found a yaw of {self.origin[2]:g} rad, expected -2 pi to 2 pi")

    def placed(self, points: Array) -> Array:
        """Returns points (n, 2), in metres in the drawing, in the world."""
        x, y, yaw = self.origin
        cosine, sine = math.cos(yaw), math.sin(yaw)
        return points @ np.array([[cosine, sine], [-sine, cosine]]) + (x, y)


def flattened(control: Array, tolerance: float) -> Array:
    """Returns points on a Bezier curve, whose chords are at most `tolerance` from it.

    The curve has steps of equal parameter. Their count is from the bound on the second derivative (Filip, Magedson and
    Markot 1986, "Surface algorithms using bounds on derivatives").

    Args:
        control: (n, 2) control points of a line, a quadratic or a cubic curve, m.
        tolerance: m.
    """
    degree = len(control) - 1
    if degree == 1:
        return control
    second = np.abs(np.diff(control, 2, axis=0))
    bound = degree * (degree - 1) * float(np.hypot(second[:, 0], second[:, 1]).max())
    steps = min(max(1, math.ceil(math.sqrt(bound / (8 * tolerance)))), MAX_WALLS + 1)
    t = np.linspace(0.0, 1.0, steps + 1)[:, None]
    weights = [math.comb(degree, i) * t**i * (1 - t) ** (degree - i) for i in range(degree + 1)]
    points = np.asarray(sum(weight * corner for weight, corner in zip(weights, control, strict=True)))
    points[0], points[-1] = control[0], control[-1]
    return points


@dataclass
class Walls:
    """Collects the walls of a drawing and what became of its elements."""

    placement: Placement
    tolerance: float
    rows: list[tuple[Fate, str, str, str]] = field(default_factory=list)
    """use, place, element and reason"""
    unchosen: list[tuple[Fate, str, str, str]] = field(default_factory=list)
    """the same for elements of layers that the caller did not choose"""
    pieces: list[Array] = field(default_factory=list)
    """(2, 2) arrays: the ends of the middle line of a wall in the world, m"""

    def add(self, place: str, lines: list[Array]) -> int:
        """Adds polylines of an element, (n, 2) in metres in the drawing, and returns the count of their walls."""
        count = 0
        for line in lines:
            if not np.isfinite(line).all():
                raise ImportRobotError(f"{place}: found a point that is not finite, expected numbers")
            points = self.placement.placed(line)
            reach = float(np.abs(points).max(initial=0.0))
            if reach > MAX_REACH:
                raise ImportRobotError(
                    f"{place}: found a point {reach:.6g} m from the world's origin, expected at most"
                    f" {MAX_REACH:g} m (--origin, --unit, --scale)"
                )
            start = None
            for point in points:
                if start is None:
                    start = point
                elif math.dist(start, point) >= _SHORTEST:
                    self.pieces.append(np.array([start, point]))
                    start = point
                    count += 1
                    if len(self.pieces) > MAX_WALLS:
                        raise ImportRobotError(
                            f"{place}: more than {MAX_WALLS} walls, expected fewer (--layer, --tolerance)"
                        )
        return count

    def settle(self, place: str, tag: str, count: int, reason: str = "") -> None:
        """Adds the row of an element that was read: used, approximated if there is a reason, or too short."""
        if count == 0:
            self.rows.append((Fate.IGNORED, place, tag, "it has no length"))
        else:
            self.rows.append((Fate.APPROXIMATED if reason else Fate.USED, place, tag, reason))

    def ignore(self, place: str, tag: str, reason: str) -> None:
        self.rows.append((Fate.IGNORED, place, tag, reason))

    def xml(self, thickness: float, height: float) -> list[str]:
        size = f"<wallThickness>{number(thickness)}</wallThickness> <wallHeight>{number(height)}</wallHeight>"
        ends = [[f"<pt>{number(x)} {number(y)}</pt>" for x, y in piece.tolist()] for piece in self.pieces]
        return [
            f"  <walls>{size}",
            "    <shape>",
            *[f"      {first} {second}" for first, second in ends],
            "    </shape>",
            "  </walls>",
        ]
