#!/usr/bin/env python3
"""Draws office.pgm and office.yaml, the floor of a small office: 20 x 20 m at 5 cm, corridors, rooms, furniture.

Run it here after a change: `python3 make_office.py`. Needs nothing but Python.
"""

from pathlib import Path

RESOLUTION = 0.05  # m
SIZE = 400  # cells
FREE, WALL, UNKNOWN = 254, 0, 205
WALL_WIDTH = 0.15  # m
DOOR_WIDTH = 1.2


class Floor:
    """Cells in rows from the lowest y; all lengths in metres, origin at the lower left corner."""

    def __init__(self):
        self.cells = [[UNKNOWN] * SIZE for _ in range(SIZE)]

    def box(self, x0, y0, x1, y1, value=WALL):
        for iy in range(max(0, round(y0 / RESOLUTION)), min(SIZE, round(y1 / RESOLUTION))):
            for ix in range(max(0, round(x0 / RESOLUTION)), min(SIZE, round(x1 / RESOLUTION))):
                self.cells[iy][ix] = value

    def disc(self, x, y, radius):
        reach = round(radius / RESOLUTION) + 1
        cx, cy = round(x / RESOLUTION), round(y / RESOLUTION)
        for iy in range(cy - reach, cy + reach + 1):
            for ix in range(cx - reach, cx + reach + 1):
                dx, dy = (ix + 0.5) * RESOLUTION - x, (iy + 0.5) * RESOLUTION - y
                if dx * dx + dy * dy <= radius * radius:
                    self.cells[iy][ix] = WALL

    def wall_x(self, x0, x1, y, doors=()):
        """A wall along x with door openings centred at the given x."""
        self.box(x0, y - WALL_WIDTH / 2, x1, y + WALL_WIDTH / 2)
        for door in doors:
            self.box(
                door - DOOR_WIDTH / 2, y - WALL_WIDTH / 2, door + DOOR_WIDTH / 2, y + WALL_WIDTH / 2, FREE
            )

    def wall_y(self, y0, y1, x, doors=()):
        self.box(x - WALL_WIDTH / 2, y0, x + WALL_WIDTH / 2, y1)
        for door in doors:
            self.box(
                x - WALL_WIDTH / 2, door - DOOR_WIDTH / 2, x + WALL_WIDTH / 2, door + DOOR_WIDTH / 2, FREE
            )

    def write(self, path):
        rows = b"".join(bytes(row) for row in reversed(self.cells))
        path.write_bytes(b"P5\n%d %d\n255\n" % (SIZE, SIZE) + rows)


def office():
    floor = Floor()
    low, high = 0.3, 19.7  # inner faces of the outer walls
    floor.box(low - 0.2, low - 0.2, high + 0.2, high + 0.2)
    floor.box(low, low, high, high, FREE)

    # a corridor across the middle and one up from it
    floor.wall_x(low, high, 8.8, doors=(2.6, 6.8, 12.0, 17.4))
    floor.wall_x(low, 9.0, 11.2, doors=(2.2, 6.4))
    floor.wall_x(11.2, high, 11.2, doors=(13.2, 17.6))
    floor.wall_y(11.2, high, 9.0, doors=(13.4, 17.6))
    floor.wall_y(11.2, high, 11.2, doors=(15.6,))

    # rooms below, the second and third joined by a door of their own
    floor.wall_y(low, 8.8, 4.6)
    floor.wall_y(low, 8.8, 9.4, doors=(2.4,))
    floor.wall_y(low, 8.8, 15.0, doors=(6.6,))
    # rooms above
    floor.wall_x(low, 9.0, 15.4, doors=(2.4, 6.8))
    floor.wall_x(11.2, high, 15.0, doors=(18.4,))
    floor.wall_y(11.2, 15.4, 4.4)

    # desks
    for x, y in ((0.3, 1.2), (0.3, 4.2), (5.6, 0.3), (7.4, 5.4), (16.2, 0.3), (18.9, 3.2), (18.9, 6.0)):
        floor.box(x, y, x + (1.6 if y < 1 else 0.8), y + (0.8 if y < 1 else 1.6))
    # a meeting table with chairs, round tables, columns
    floor.box(11.4, 3.4, 13.2, 5.4)
    for x, y in ((10.9, 3.9), (10.9, 4.9), (13.7, 3.9), (13.7, 4.9)):
        floor.disc(x, y, 0.22)
    for x, y in ((2.4, 17.6), (6.2, 18.0), (15.0, 17.4), (17.6, 13.4)):
        floor.disc(x, y, 0.55)
    for x, y in ((4.5, 10.9), (13.9, 9.1), (2.4, 6.6), (6.2, 13.4), (10.1, 19.2)):
        floor.disc(x, y, 0.2)
    # shelves along walls and one in the open
    for x0, y0, x1, y1 in (
        (0.3, 13.6, 0.7, 15.2),
        (7.0, 11.3, 8.6, 11.7),
        (11.3, 12.2, 11.7, 14.6),
        (14.6, 14.5, 16.8, 14.9),
        (19.3, 15.8, 19.7, 18.8),
        (12.6, 19.3, 16.0, 19.7),
        (6.2, 2.6, 8.0, 3.0),
        (16.4, 4.2, 16.8, 6.6),
    ):
        floor.box(x0, y0, x1, y1)
    return floor


YAML = """# Made by make_office.py
image: office.pgm
resolution: 0.05
origin: [-10.0, -10.0, 0.0]
negate: 0
occupied_thresh: 0.65
free_thresh: 0.196
"""

if __name__ == "__main__":
    here = Path(__file__).parent
    office().write(here / "office.pgm")
    (here / "office.yaml").write_text(YAML)
