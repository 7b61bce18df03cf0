#!/usr/bin/env python3
"""Draws closed paths without walls: centrelines NAME.csv, x y in metres a row.

Run it here after a change: `python3 make_paths.py`. Needs nothing but Python.

- campus: streets around an L of 90 x 40 m and 50 x 30 m, with corners of 8 m radius, driven counter-clockwise.
- oval: two half circles of radius 0.8 m joined by straights of 2 m, driven counter-clockwise.
"""

import math
from pathlib import Path

CAMPUS = (0, 0), (90, 0), (90, 40), (50, 40), (50, 70), (0, 70)  # m, its corners
CAMPUS_RADIUS = 8.0  # m
CAMPUS_SPACING = 2.0  # m, at least, between two points of a street
OVAL_RADIUS, OVAL_STRAIGHT = 0.8, 2.0  # m
OVAL_STEP = math.radians(7.5)  # between two points of a half circle


def campus():
    """A rounded polygon, from the first corner on."""
    corners = []
    for i, corner in enumerate(CAMPUS):
        before, after = CAMPUS[i - 1], CAMPUS[(i + 1) % len(CAMPUS)]
        u = [(c - b) / math.dist(before, corner) for b, c in zip(before, corner, strict=True)]
        v = [(a - c) / math.dist(corner, after) for c, a in zip(corner, after, strict=True)]
        left = u[0] * v[1] - u[1] * v[0]  # 1: the corner is to the left, -1: to the right
        begin = [c - CAMPUS_RADIUS * d for c, d in zip(corner, u, strict=True)]
        arc = []
        for k in range(9):
            angle = k * math.pi / 16
            along, aside = CAMPUS_RADIUS * math.sin(angle), CAMPUS_RADIUS * (1 - math.cos(angle)) * left
            arc.append((begin[0] + along * u[0] - aside * u[1], begin[1] + along * u[1] + aside * u[0]))
        corners.append(arc)
    out = []
    for arc, following in zip(corners, corners[1:] + corners[:1], strict=True):
        (x0, y0), (x1, y1) = arc[-1], following[0]
        pieces = int(math.dist(arc[-1], following[0]) // CAMPUS_SPACING)
        out += arc
        out += [(x0 + (x1 - x0) * k / pieces, y0 + (y1 - y0) * k / pieces) for k in range(1, pieces)]
    return out


def oval():
    """Half circles with their centres on the x axis, from the lower end of the right one on."""
    out = []
    for centre, first in ((OVAL_STRAIGHT / 2, -math.pi / 2), (-OVAL_STRAIGHT / 2, math.pi / 2)):
        for i in range(round(math.pi / OVAL_STEP) + 1):
            angle = first + i * OVAL_STEP
            out.append((centre + OVAL_RADIUS * math.cos(angle), OVAL_RADIUS * math.sin(angle)))
    return out


if __name__ == "__main__":
    for name, points in (("campus", campus()), ("oval", oval())):
        rows = "\n".join(f"{x + 0.0:.3f} {y + 0.0:.3f}" for x, y in points).replace("-0.000", "0.000")
        Path(f"{name}.csv").write_text(f"# path {name}, made by make_paths.py: x y in m\n{rows}\n")
        length = sum(math.dist(p, q) for p, q in zip(points, points[1:] + points[:1], strict=True))
        print(f"{name}: {length:.2f} m, {len(points)} points")
