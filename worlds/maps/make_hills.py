#!/usr/bin/env python3
"""Draws hills.pgm, heights of rolling ground: 161 x 161 nodes, 16 bits; at 0.25 m a node 40 x 40 m.

Black stands for LOWEST and white for HIGHEST; the border is level at 0. Run it here after a change:
`python3 make_hills.py`. Needs nothing but Python.
"""

import math
import random
import struct
from pathlib import Path

NODES = 161
RESOLUTION = 0.25  # m
LOWEST, HIGHEST = -1.2, 1.8  # m, as in terrain_goal.world.xml
HALF = (NODES - 1) * RESOLUTION / 2
BORDER = 3.0  # m over which the hills fade out


def bumps(seed):
    """Hills and hollows (x, y, width, height), steep ones apart from each other."""
    rng = random.Random(seed)
    out = [
        (rng.uniform(-HALF, HALF), rng.uniform(-HALF, HALF), rng.uniform(3.0, 4.5), rng.uniform(-0.5, 0.5))
        for _ in range(40)
    ]
    steep = []
    while len(steep) < 14:
        x, y = rng.uniform(-15, 15), rng.uniform(-15, 15)
        if all(math.hypot(x - a, y - b) > 6.0 for a, b, _, _ in steep):
            steep.append((x, y, rng.uniform(0.9, 1.3), rng.choice((-0.8, 1.1, 1.1))))
    return out + steep


def height(x, y, hills):
    z = sum(h * math.exp(-((x - a) ** 2 + (y - b) ** 2) / (2 * w * w)) for a, b, w, h in hills)
    inside = min(HALF - abs(x), HALF - abs(y)) / BORDER
    fade = min(1.0, max(0.0, inside))
    return z * fade * fade * (3 - 2 * fade)


def main():
    hills = bumps(7)
    at = [i * RESOLUTION - HALF for i in range(NODES)]
    z = [[height(x, y, hills) for y in at] for x in at]
    low, high = min(map(min, z)), max(map(max, z))
    z = [[v * (HIGHEST / high if v > 0 else LOWEST / low) for v in row] for row in z]
    levels = [round(65535 * (v - LOWEST) / (HIGHEST - LOWEST)) for row in z for v in row]
    header = b"P5\n%d %d\n65535\n" % (NODES, NODES)
    Path(__file__).with_name("hills.pgm").write_bytes(header + struct.pack(f">{len(levels)}H", *levels))


if __name__ == "__main__":
    main()
