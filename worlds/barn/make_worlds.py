#!/usr/bin/env python3
"""Makes the worlds of `mvsim/Barn-v0`: obstacle fields of a cellular automaton, each with a way through.

Run it here after a change: `python3 make_worlds.py`. Needs nothing but Python. It writes world_0.png and world_0.yaml
to world_299.png and world_299.yaml, and index.csv. Worlds 0 to 249 are there to learn from, 250 to 299 to test with.

The statistics are those published for the BARN data set (Perille, Truong, Xiao and Stone, "Benchmarking Metric Ground
Navigation", SSRR 2020): 30 x 30 cells of 0.15 m, 12 pairs of a share of filled cells and a number of smoothing steps,
and a path for a robot of 0.3 m through each world. The worlds themselves are new.
"""

from __future__ import annotations

import csv
import heapq
import math
import random
import struct
import zlib
from pathlib import Path

CELL = 0.15  # m
SIDE = 30  # cells of the field, across and along
FIELD_ROW = 33  # the first row of the field: it begins near y = 5 m
ROWS = 90  # of the whole map, from the wall behind the robot (y = 0) to beyond the goal
FILLS = (0.15, 0.20, 0.25, 0.30)
SMOOTHINGS = (2, 3, 4)
TRAIN, TEST = 250, 50  # worlds
CLEARANCE = 2.0  # cells from the path to the middle of a filled cell: 0.3 m
START, GOAL = (2.25, 3.0), (2.25, 13.0)  # m, x from the left wall
FULL_SPEED = 2.0  # m/s of the robot, to which the optimal time belongs

YAML = """\
image: world_{}.png
resolution: {}
origin: [{}, 0.0, 0.0]
negate: 0
occupied_thresh: 0.65
free_thresh: 0.196
"""

Field = list[list[bool]]  # [row][column], row 0 nearest to the start


def neighbours(field: Field, row: int, column: int) -> int:
    """Filled cells among the eight around one; cells beyond the field are empty."""
    return sum(
        field[r][c]
        for r in range(max(row - 1, 0), min(row + 2, SIDE))
        for c in range(max(column - 1, 0), min(column + 2, SIDE))
        if (r, c) != (row, column)
    )


def automaton(rng: random.Random, fill: float, smoothing: int) -> Field:
    """A field between two walls: cells are filled by chance, then crowded ones fill and lonely ones empty."""
    field = [[c in (0, SIDE - 1) or rng.random() < fill for c in range(SIDE)] for _ in range(SIDE)]
    for _ in range(smoothing):
        counts = [[neighbours(field, r, c) for c in range(SIDE)] for r in range(SIDE)]
        field = [
            [counts[r][c] > 4 or (field[r][c] and counts[r][c] >= 2) for c in range(SIDE)]
            for r in range(SIDE)
        ]
    return [[c in (0, SIDE - 1) or row[c] for c in range(SIDE)] for row in field]


def middle(row: int, column: int) -> tuple[float, float]:
    """m, of a cell of the field."""
    return (column + 0.5) * CELL, (FIELD_ROW + row + 0.5) * CELL


def path_length(field: Field) -> float | None:
    """m of the shortest way from start to goal over cells and their diagonals; None where there is none."""
    filled = [(r, c) for r in range(SIDE) for c in range(SIDE) if field[r][c]]
    free = {
        (r, c)
        for r in range(SIDE)
        for c in range(SIDE)
        if all(math.hypot(r - a, c - b) >= CLEARANCE for a, b in filled)
    }
    best = {cell: math.dist(START, middle(*cell)) for cell in free if cell[0] == 0}
    queue = [(cost, cell) for cell, cost in best.items()]
    heapq.heapify(queue)
    while queue:
        cost, (r, c) = heapq.heappop(queue)
        if cost > best[r, c]:
            continue
        for dr in (-1, 0, 1):
            for dc in (-1, 0, 1):
                cell, farther = (r + dr, c + dc), cost + CELL * math.hypot(dr, dc)
                if cell in free and farther < best.get(cell, math.inf):
                    best[cell] = farther
                    heapq.heappush(queue, (farther, cell))
    ways = [cost + math.dist(middle(*cell), GOAL) for cell, cost in best.items() if cell[0] == SIDE - 1]
    return min(ways, default=None)


def picture(field: Field) -> bytes:
    """A PNG of one bit a cell, dark where it is filled: the field with the walls beside and behind the robot."""
    rows = []
    for y in reversed(range(ROWS)):  # a picture begins at its top
        walls = [c in (0, SIDE - 1) or y == 0 for c in range(SIDE)]
        inside = 0 <= y - FIELD_ROW < SIDE
        cells = field[y - FIELD_ROW] if inside else walls if y < FIELD_ROW else [False] * SIDE
        bits = sum((not cell) << (31 - c) for c, cell in enumerate(cells))
        rows.append(b"\0" + struct.pack(">I", bits))

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", SIDE, ROWS, 1, 0, 0, 0, 0)
    data = zlib.compress(b"".join(rows), 9)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def world(index: int) -> tuple[Field, list[float | int | str]]:
    """A field that has a way through, and its row of index.csv. Fields without one are drawn anew."""
    pair = (index if index < TRAIN else index - TRAIN) % (len(FILLS) * len(SMOOTHINGS))
    fill, smoothing = FILLS[pair // len(SMOOTHINGS)], SMOOTHINGS[pair % len(SMOOTHINGS)]
    rng = random.Random(index)
    while True:
        field = automaton(rng, fill, smoothing)
        length = path_length(field)
        if length is not None:
            break
    share = sum(map(sum, field)) / SIDE**2
    part = "train" if index < TRAIN else "test"
    row = [index, part, fill, smoothing, round(share, 3), round(length, 3), round(length / FULL_SPEED, 3)]
    return field, row


def main() -> None:
    here = Path(__file__).resolve().parent
    rows = []
    for index in range(TRAIN + TEST):
        field, row = world(index)
        (here / f"world_{index}.png").write_bytes(picture(field))
        (here / f"world_{index}.yaml").write_text(YAML.format(index, CELL, -SIDE * CELL))
        rows.append(row)
    with open(here / "index.csv", "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(
            ["world", "part", "fill", "smoothing", "filled_share", "path_length_m", "optimal_time_s"]
        )
        writer.writerows(rows)


if __name__ == "__main__":
    main()
