"""The scene of task A, shared by our benchmark and by every peer: a walled field with 200 short walls in it.

Plain Python, one fixed seed, no dependency: the peers import it in their own environment.
Run as a program it draws worlds/task_a.png, the grid of task A.
"""

from __future__ import annotations

import math
import random
import struct
import zlib
from dataclasses import dataclass
from pathlib import Path

FIELD = 20.0  # side of the square field, m; its centre is the origin
CELL = 0.05  # grid cell, m
CELLS = 400  # cells a side
WALLS = 200
THICKNESS = 0.1  # of a wall, m
CLEARING = 1.5  # no wall nearer than this to the origin, where the robot starts, m
RAYS = 360
MAX_RANGE = 10.0  # of the lidar, m
CONTROL_PERIOD = 0.1  # s, ten substeps of 10 ms
SUBSTEPS = 10
EPISODE = 500  # steps until a robot starts again at the origin
MAX_SPEED = 0.22  # m/s
MAX_TURN = 2.0  # rad/s
TRACK = 0.16  # between the wheels, m
WHEEL_RADIUS = 0.033  # m


@dataclass(frozen=True)
class Wall:
    """A thin box: centre, yaw, length (its thickness is THICKNESS)."""

    x: float
    y: float
    yaw: float
    length: float

    def ends(self) -> tuple[tuple[float, float], tuple[float, float]]:
        dx, dy = 0.5 * self.length * math.cos(self.yaw), 0.5 * self.length * math.sin(self.yaw)
        return (self.x - dx, self.y - dy), (self.x + dx, self.y + dy)

    def covers(self, x: float, y: float, margin: float = 0.0) -> bool:
        dx, dy = x - self.x, y - self.y
        along = dx * math.cos(self.yaw) + dy * math.sin(self.yaw)
        across = dy * math.cos(self.yaw) - dx * math.sin(self.yaw)
        return abs(along) <= 0.5 * self.length + margin and abs(across) <= 0.5 * THICKNESS + margin


def walls(count: int = WALLS) -> list[Wall]:
    """The first `count` inner walls, the same in every process."""
    rng = random.Random(7)
    half = 0.5 * FIELD - 0.5
    found: list[Wall] = []
    while len(found) < count:
        wall = Wall(
            rng.uniform(-half, half), rng.uniform(-half, half), rng.uniform(0, math.pi), rng.uniform(0.4, 1.6)
        )
        if not wall.covers(0.0, 0.0, CLEARING):
            found.append(wall)
    return found


def border() -> list[Wall]:
    """The four walls around the field."""
    half = 0.5 * (FIELD - THICKNESS)
    return [
        Wall(0.0, -half, 0.0, FIELD),
        Wall(0.0, half, 0.0, FIELD),
        Wall(-half, 0.0, 0.5 * math.pi, FIELD),
        Wall(half, 0.0, 0.5 * math.pi, FIELD),
    ]


def grid() -> list[bytearray]:
    """The scene as rows of cells from the top (largest y) down, 1 where a wall covers the cell's centre."""
    rows = [bytearray(CELLS) for _ in range(CELLS)]
    for wall in walls() + border():
        (x0, y0), (x1, y1) = wall.ends()
        for row in range(_index(-max(y0, y1)) - 2, _index(-min(y0, y1)) + 3):
            for column in range(_index(min(x0, x1)) - 2, _index(max(x0, x1)) + 3):
                x, y = (column + 0.5) * CELL - 0.5 * FIELD, 0.5 * FIELD - (row + 0.5) * CELL
                if 0 <= row < CELLS and 0 <= column < CELLS and wall.covers(x, y):
                    rows[row][column] = 1
    return rows


def write_png(path: str) -> None:
    """Writes the grid as an 8-bit grey PNG: black occupied, white free."""
    pixels = b"".join(b"\0" + bytes(0 if cell else 255 for cell in row) for row in grid())

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n")
        file.write(chunk(b"IHDR", struct.pack(">IIBBBBB", CELLS, CELLS, 8, 0, 0, 0, 0)))
        file.write(chunk(b"IDAT", zlib.compress(pixels, 9)))
        file.write(chunk(b"IEND", b""))


def _index(coordinate: float) -> int:
    return int((coordinate + 0.5 * FIELD) / CELL)


if __name__ == "__main__":
    write_png(str(Path(__file__).resolve().parent / "worlds" / "task_a.png"))
