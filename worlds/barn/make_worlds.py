#!/usr/bin/env python3
"""Makes the worlds of `mvsim/Barn-v0`: obstacle fields of a cellular automaton, each with a way through.

Run it here after a change: `python3 make_worlds.py`. Needs nothing but Python. It writes world_0.png and world_0.yaml
to world_299.png and world_299.yaml, and index.csv. Worlds 0 to 249 are there to learn from, 250 to 299 to test with.

The rules are those published for the BARN data set (Perille, Truong, Xiao and Stone, "Benchmarking Metric Ground
Navigation", SSRR 2020): 30 x 30 cells of 0.15 m that hold a cylinder each or nothing, 12 pairs of a share of filled
cells and a number of smoothing steps, and a path through each world between two cells drawn at random. The worlds
themselves are new. FILLS and CLEARANCE are fitted to 30 worlds of the data set; compare_worlds.py has the measures.
"""

from __future__ import annotations

import csv
import heapq
import math
import random
import struct
import zlib
from itertools import pairwise
from pathlib import Path

CELL = 0.15  # m
SIDE = 30  # cells of the field, across and along
FIELD_ROW = 34  # the first row of the field: it begins at y = 5.1 m
ROWS = 90  # of the whole map, from the wall behind the robot (y = 0) to beyond the goal
FILLS = (0.15, 0.20, 0.23, 0.26)  # before smoothing
SMOOTHINGS = (2, 3, 4)
TRAIN, TEST = 250, 50  # worlds
CLEARANCE = 3  # cells from the path to the middle of a filled cell, at least: 0.375 m to the cylinder in it
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

COLUMNS = ["world", "part", "fill", "smoothing", "path_length_m", "optimal_time_s"]
COLUMNS += ["field_fill", "path_mean_clearance_m", "passage_width_m"]

Field = list[list[bool]]  # [row][column], row 0 nearest to the start
Cell = tuple[int, int]  # row and column


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


def free_cells(field: Field) -> set[Cell]:
    """The cells from which every filled one is at least CLEARANCE away."""
    reach = range(-CLEARANCE, CLEARANCE + 1)
    near = [(dr, dc) for dr in reach for dc in reach if math.hypot(dr, dc) < CLEARANCE]
    filled = [(r, c) for r in range(SIDE) for c in range(SIDE) if field[r][c]]
    taken = {(r + dr, c + dc) for r, c in filled for dr, dc in near}
    return {(r, c) for r in range(SIDE) for c in range(SIDE)} - taken


def around(cell: Cell) -> list[Cell]:
    """The eight neighbours, of which some may lie beyond the field."""
    steps = (-1, 0, 1)
    return [(cell[0] + dr, cell[1] + dc) for dr in steps for dc in steps if (dr, dc) != (0, 0)]


def reached(free: set[Cell], row: int, cells: set[Cell]) -> list[Cell]:
    """The cells of a row to which ways lead from some cells, in order."""
    found, todo = set(cells), list(cells)
    while todo:
        new = [cell for cell in around(todo.pop()) if cell in free and cell not in found]
        found.update(new)
        todo += new
    return sorted(cell for cell in found if cell[0] == row)


def shortest_path(free: set[Cell], first: Cell, last: Cell) -> list[Cell]:
    """The shortest way between two cells over cells and their diagonals (Dijkstra 1959); it has to exist."""
    best, before = {first: 0.0}, {first: first}
    queue = [(0.0, first)]
    while queue:
        cost, cell = heapq.heappop(queue)
        if cell == last:
            break
        for other in around(cell):
            farther = cost + math.dist(cell, other)
            if other in free and farther < best.get(other, math.inf):
                best[other], before[other] = farther, cell
                heapq.heappush(queue, (farther, other))
    path = [last]
    while path[-1] != first:
        path.append(before[path[-1]])
    return path[::-1]


def reference_path(field: Field, rng: random.Random) -> list[Cell] | None:
    """A path from the first row to the last; None where there is none.

    Its first cell is drawn from those that have a way to the last row, its last cell from those that it reaches.
    """
    free = free_cells(field)
    entries = reached(free, 0, {cell for cell in free if cell[0] == SIDE - 1})
    if not entries:
        return None
    first = rng.choice(entries)
    return shortest_path(free, first, rng.choice(reached(free, SIDE - 1, {first})))


def path_length(path: list[Cell]) -> float:
    """m from START over a path to GOAL."""
    points = [START, *(middle(*cell) for cell in path), GOAL]
    return sum(math.dist(a, b) for a, b in pairwise(points))


def clearances(field: Field, path: list[Cell]) -> list[float]:
    """m from each cell of a path to the side of the nearest cylinder."""
    filled = [(r, c) for r in range(SIDE) for c in range(SIDE) if field[r][c]]
    return [CELL * min(math.dist(cell, other) for other in filled) - CELL / 2 for cell in path]


def passage_width(field: Field) -> float:
    """m between cylinders at the narrowest place of the widest way through, sought at steps of half a cell."""
    filled = [(2 * r, 2 * c) for r in range(SIDE) for c in range(SIDE) if field[r][c]]
    steps = range(2 * SIDE - 1)
    room = {(r, c): min(math.dist((r, c), other) for other in filled) for r in steps for c in steps}
    widest = {(0, c): room[0, c] for c in steps}
    queue = [(-width, cell) for cell, width in widest.items()]
    heapq.heapify(queue)
    while True:
        width, cell = heapq.heappop(queue)
        if cell[0] == steps[-1]:
            return -width * CELL - CELL
        for other in around(cell):
            narrower = min(-width, room.get(other, -1.0))
            if narrower > widest.get(other, -1.0):
                widest[other] = narrower
                heapq.heappush(queue, (-narrower, other))


def fill_of(field: Field) -> float:
    """Share of the cells that are filled, walls apart."""
    return sum(sum(row[1:-1]) for row in field) / SIDE**2


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
    path = None
    while path is None:
        field = automaton(rng, fill, smoothing)
        path = reference_path(field, rng)
    length, room = path_length(path), clearances(field, path)
    measures = (length, length / FULL_SPEED, fill_of(field), sum(room) / len(room), passage_width(field))
    part = "train" if index < TRAIN else "test"
    return field, [index, part, fill, smoothing, *(round(measure, 3) for measure in measures)]


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
        writer.writerow(COLUMNS)
        writer.writerows(rows)


if __name__ == "__main__":
    main()
