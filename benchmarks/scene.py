"""The scene of task A, shared by our benchmark and by every peer: a walled field with 200 short walls in it, for one
robot or for sixteen.

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
ROBOT_RADIUS = 0.09  # of a disc in place of the robot's square of 0.137 m
AGENTS = 16  # robots of a world that see each other


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


Pose = tuple[float, float, float]


def starts() -> list[Pose]:
    """Where the sixteen robots of a world begin: x, y, yaw, anywhere with 0.3 m about the centre; the same in every
    process."""
    rng = random.Random(16)
    all_walls, half = walls() + border(), 0.5 * FIELD
    found: list[Pose] = []
    while len(found) < AGENTS:
        x, y, yaw = rng.uniform(-half, half), rng.uniform(-half, half), rng.uniform(-math.pi, math.pi)
        apart = all(math.hypot(x - other[0], y - other[1]) > 0.6 for other in found)
        if apart and not any(wall.covers(x, y, 0.3) for wall in all_walls):
            found.append((x, y, yaw))
    return found


def true_range(poses: list[Pose], robot: int, bearing: float, walls_there: list[Wall]) -> float:
    """Returns the distance from a robot to the next thing in a direction of its own frame, to 2 cm."""
    x, y, yaw = poses[robot]
    dx, dy = math.cos(yaw + bearing), math.sin(yaw + bearing)
    others = [pose for i, pose in enumerate(poses) if i != robot]
    for step in range(round(MAX_RANGE / 0.02)):
        distance = 0.02 * step
        px, py = x + distance * dx, y + distance * dy
        if any(math.hypot(px - other[0], py - other[1]) < ROBOT_RADIUS for other in others):
            return distance
        if any(wall.covers(px, py) for wall in walls_there):
            return distance
    return MAX_RANGE


def check_scans(
    poses: list[Pose], scans: list[list[float]], walls_there: list[Wall], first_bearing: float
) -> None:
    """Fails where the scans of a peer's robots do not show walls and the other robots. A scan has RAYS rays, counter-
    clockwise from `first_bearing` on."""
    rays = [(robot, ray) for robot in range(0, AGENTS, 4) for ray in range(0, RAYS, 60)]
    for i, (x, y, yaw) in enumerate(poses):  # and towards the nearest other one
        j = min((j for j in range(AGENTS) if j != i), key=lambda j: math.dist(poses[i][:2], poses[j][:2]))
        bearing = math.atan2(poses[j][1] - y, poses[j][0] - x) - yaw
        rays.append((i, round((bearing - first_bearing) / (2 * math.pi) * RAYS) % RAYS))
    good = 0
    for robot, ray in rays:
        assert len(scans[robot]) == RAYS
        expected = true_range(poses, robot, first_bearing + 2 * math.pi * ray / RAYS, walls_there)
        about = [
            scans[robot][(ray + k) % RAYS] for k in (-1, 0, 1)
        ]  # what has an edge there is seen by one of them
        good += min(about) - 0.15 < expected < max(about) + 0.15
    assert good >= 0.95 * len(rays), f"{good} of {len(rays)} rays are right"


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
