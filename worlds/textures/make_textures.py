#!/usr/bin/env python3
"""Draws the textures of VisualNavigation: floor1.png ... floor6.png, greyish, and wall1.png ... wall6.png, coloured.
And bay.png of Parking: asphalt of the width of a bay with half a white line at either side; dock.png of TrailerDock:
asphalt with a yellow line along both sides of a lane.

64 x 64 pixels each, which repeat without a seam. Run it here after a change: `python3 make_textures.py`. Needs nothing
but Python.
"""

import math
import random
import struct
import zlib
from pathlib import Path

SIDE = 64  # pixels
FLOORS = [(150, 148, 144), (120, 122, 126), (178, 174, 168), (96, 98, 100), (138, 132, 126), (160, 164, 168)]
WALLS = [(176, 72, 52), (60, 120, 172), (84, 148, 76), (196, 152, 56), (140, 72, 148), (52, 150, 146)]


def noise(rng, cells):
    """Smooth noise in [-1, 1] as a function of pixels, which repeats after SIDE: values at cells x cells nodes."""
    nodes = [[rng.uniform(-1, 1) for _ in range(cells)] for _ in range(cells)]

    def at(x, y):
        u, v = x * cells / SIDE, y * cells / SIDE
        i, j = int(u), int(v)
        a, b = u - i, v - j
        a, b = a * a * (3 - 2 * a), b * b * (3 - 2 * b)
        corner = lambda di, dj: nodes[(j + dj) % cells][(i + di) % cells]  # noqa: E731
        top = corner(0, 0) * (1 - a) + corner(1, 0) * a
        low = corner(0, 1) * (1 - a) + corner(1, 1) * a
        return top * (1 - b) + low * b

    return at


def joint(x, y, width, height, shifted):
    """1 on the joints between tiles or bricks of width x height pixels, whose odd rows may be shifted."""
    row = y // height
    along = x + (width // 2 if shifted and row % 2 else 0)
    return along % width == 0 or y % height == 0


def brightness(kind, rng):
    """Pixel -> factor about 1: 0 speckled, 1 tiles, 2 boards, 3 bricks, 4 clouds, 5 stripes."""
    coarse, fine = noise(rng, 4), noise(rng, 32)
    patterns = [
        lambda x, y: 1 + 0.14 * fine(x, y),
        lambda x, y: 0.72 if joint(x, y, 32, 32, False) else 1 + 0.06 * fine(x, y),
        lambda x, y: (
            0.8 if joint(x, y, 64, 8, True) else 1 + 0.05 * fine(x, y // 8 * 8) + 0.06 * coarse(x, y)
        ),
        lambda x, y: 1.3 if joint(x, y, 16, 8, True) else 1 + 0.12 * fine(x // 4 * 4, y // 8 * 8),
        lambda x, y: 1 + 0.16 * coarse(x, y) + 0.05 * fine(x, y),
        lambda x, y: 1 + 0.15 * math.copysign(1, math.sin(2 * math.pi * x / 16)) + 0.04 * fine(x, y),
    ]
    return patterns[kind]


def pixels(color, kind, rng):
    factor = brightness(kind, rng)
    return [
        bytes(max(0, min(255, round(channel * factor(x, y)))) for x in range(SIDE) for channel in color)
        for y in range(SIDE)
    ]


def write_png(path, rows):
    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    header = struct.pack(">IIBBBBB", SIDE, SIDE, 8, 2, 0, 0, 0)
    data = zlib.compress(b"".join(b"\0" + row for row in rows), 9)
    path.write_bytes(
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", data) + chunk(b"IEND", b"")
    )


def bay():
    """Rows of a bay in the colour of the lot; a line is one pixel here and one of the next bay."""
    line, ground = bytes((236, 236, 232)), bytes((0x8C, 0x8F, 0x94))
    return [line + ground * (SIDE - 2) + line] * SIDE


def dock():
    """Rows of a lane in the colour of the yard, across which they follow each other."""
    line, ground = bytes((232, 184, 40)), bytes((0x8C, 0x8F, 0x94))
    return [line * SIDE] * 3 + [ground * SIDE] * (SIDE - 6) + [line * SIDE] * 3


def main():
    folder = Path(__file__).resolve().parent
    for name, colors, kinds in (("floor", FLOORS, [0, 1, 2, 4, 2, 1]), ("wall", WALLS, [3, 4, 5, 0, 3, 2])):
        for i, (color, kind) in enumerate(zip(colors, kinds, strict=True)):
            rng = random.Random(f"{name}{i}")
            write_png(folder / f"{name}{i + 1}.png", pixels(color, kind, rng))
    write_png(folder / "bay.png", bay())
    write_png(folder / "dock.png", dock())


if __name__ == "__main__":
    main()
