"""The boxes that cameras and 3D lidars look at, shared by our benchmark and by every peer that draws pictures.

NumPy alone, one fixed seed: the peers import it in their own environment.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

BOXES = 100
HALF_FIELD = 12.0  # of the floor, m; boxes stand within 10 m of its middle
EYE_X, EYE_Z = 0.1, 0.4  # of the camera in its robot, m; it looks ahead, 90 degrees wide and high
NEAR, FAR = 0.1, 15.0  # of depth, m
CONTROL_PERIOD = 0.1  # s, a frame each
MAX_SPEED, MAX_TURN = 0.5, 2.0  # m/s, rad/s
ROBOT_RADIUS = 0.3  # about, m


@dataclass(frozen=True)
class Box:
    """Stands on the floor: its rear right corner (as MVSim's boxes), yaw in degrees, size, colour 0xrrggbb."""

    x: float
    y: float
    yaw: float
    height: float
    length: float
    width: float
    color: int

    def centre(self) -> tuple[float, float]:
        c, s = math.cos(math.radians(self.yaw)), math.sin(math.radians(self.yaw))
        ahead, aside = self.length / 2, self.width / 2
        return self.x + c * ahead - s * aside, self.y + s * ahead + c * aside

    def rgb(self) -> tuple[float, float, float]:
        red, green, blue = self.color.to_bytes(3, "big")
        return red / 255, green / 255, blue / 255


def boxes() -> list[Box]:
    random = np.random.default_rng(0)
    columns = (
        *random.uniform(-10, 10, (2, BOXES)),
        random.uniform(-180, 180, BOXES),
        random.uniform(0.3, 1.5, BOXES),
        *random.uniform(0.2, 1, (2, BOXES)),
        random.integers(0x202020, 0xE0E0E0, BOXES),
    )
    return [
        Box(
            round(float(x), 3),
            round(float(y), 3),
            round(float(yaw), 1),
            *(round(float(size), 2) for size in (height, length, width)),
            int(color),
        )
        for x, y, yaw, height, length, width, color in zip(*columns, strict=True)
    ]


class Wanderer:
    """Random twists for a robot that drives about and turns round before boxes and the end of the floor: the pose of
    its camera at each frame. For peers, whose rows leave out its physics."""

    def __init__(self, seed: int) -> None:
        self._random = np.random.default_rng(seed)
        self._centres = np.array([box.centre() for box in boxes()])
        self._rooms = np.array([np.hypot(box.length, box.width) / 2 for box in boxes()]) + ROBOT_RADIUS
        self.yaw = float(self._random.uniform(-np.pi, np.pi))
        self.position = np.zeros(2)
        while not self._is_free(self.position):
            self.position = self._random.uniform(-10, 10, 2)

    def _is_free(self, position: np.ndarray) -> bool:
        inside = np.abs(position).max() < HALF_FIELD - ROBOT_RADIUS
        return bool(inside and (np.hypot(*(self._centres - position).T) > self._rooms).all())

    def advance(self) -> tuple[float, float, float]:
        """Position and yaw of the camera."""
        speed = self._random.uniform(-MAX_SPEED, MAX_SPEED)
        self.yaw += CONTROL_PERIOD * float(self._random.uniform(-MAX_TURN, MAX_TURN))
        ahead = np.array([np.cos(self.yaw), np.sin(self.yaw)])
        moved = self.position + CONTROL_PERIOD * speed * ahead
        if self._is_free(moved):
            self.position = moved
        x, y = self.position + EYE_X * ahead
        return float(x), float(y), self.yaw
