#!/usr/bin/env python3
"""Draws closed race tracks: centrelines (NAME.csv, x y in metres a row) and walls to both sides (NAME.track.xml).

Run it here after a change: `python3 make_tracks.py`. Needs nothing but Python. A centreline is a circle whose radius
waves with the angle; it runs counter-clockwise and begins on the x axis.
"""

import math
from pathlib import Path

HALF_WIDTH = 1.1  # m from the centreline to the face of either wall
THICKNESS = 0.1  # of the walls
SPACING = 0.5  # m between two points of a centreline
SAG = 0.03  # m that a straight piece of wall may be off its curve
LONGEST = 3.0  # m of such a piece
TIGHTEST = 1.5  # m, the least radius of a centreline: beyond it the inner wall keeps a radius of its own
FINE = 4000  # points of a curve while it is measured

# Mean radius (m), then waves: how many to a turn, how high (a share of the radius), where they begin (rad).
TRACKS = {
    "loop": (8.0, [(2, 0.22, 0.3), (3, 0.20, 1.1), (5, 0.05, 0.0)]),
    "bean": (8.5, [(1, 0.10, 0.0), (2, 0.38, 0.0)]),
    "bends": (9.5, [(2, 0.15, 0.5), (4, 0.16, 2.0), (7, 0.035, 1.0)]),
}


def curve(radius, waves):
    points = []
    for i in range(FINE):
        angle = 2 * math.pi * i / FINE
        r = radius * (1 + sum(height * math.cos(n * angle + phase) for n, height, phase in waves))
        points.append((r * math.cos(angle), r * math.sin(angle)))
    return points


def lengths(points):
    """How far along the closed curve each point lies, and the length of the whole."""
    total, out = 0.0, []
    for i, point in enumerate(points):
        out.append(total)
        total += math.dist(point, points[(i + 1) % len(points)])
    return out, total


def resampled(points, count):
    """So many points at equal distances along the curve."""
    along, total = lengths(points)
    out, i = [], 0
    for k in range(count):
        wanted = total * k / count
        while i + 1 < len(points) and along[i + 1] <= wanted:
            i += 1
        (x0, y0), (x1, y1) = points[i], points[(i + 1) % len(points)]
        t = (wanted - along[i]) / math.dist((x0, y0), (x1, y1))
        out.append((x0 + t * (x1 - x0), y0 + t * (y1 - y0)))
    return out


def offset(points, distance):
    """The curve `distance` to the left."""
    out = []
    for i, (x, y) in enumerate(points):
        (x0, y0), (x1, y1) = points[i - 1], points[(i + 1) % len(points)]
        step = math.dist((x0, y0), (x1, y1))
        out.append((x - distance * (y1 - y0) / step, y + distance * (x1 - x0) / step))
    return out


def distance_to_piece(point, a, b):
    (x, y), (ax, ay), (bx, by) = point, a, b
    return abs((bx - ax) * (y - ay) - (by - ay) * (x - ax)) / math.dist(a, b)


def pieces(points):
    """As few corners as keep every piece within SAG of the curve."""
    corners, i = [0], 0
    while i < len(points) - 1:
        j = i + 1
        while j + 1 < len(points):
            a, b = points[i], points[j + 1]
            off = max(distance_to_piece(p, a, b) for p in points[i + 1 : j + 1])
            if off > SAG or math.dist(a, b) > LONGEST:
                break
            j += 1
        corners.append(j)
        i = j
    return [points[i] for i in corners]


def check(name, points):
    """A track whose walls cross, or bend too tightly, is none."""
    for i, b in enumerate(points):
        a, c = points[i - 1], points[(i + 1) % len(points)]
        cross = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
        radius = math.dist(a, b) * math.dist(b, c) * math.dist(a, c) / max(2 * abs(cross), 1e-9)
        assert radius > TIGHTEST, f"{name}: a radius of {radius:.2f} m at {b}"
        for k, other in enumerate(points):
            apart = SPACING * min(abs(i - k), len(points) - abs(i - k))
            near = math.dist(b, other) < 2 * HALF_WIDTH + 4 * THICKNESS
            assert not near or apart < 2 * math.pi * HALF_WIDTH, f"{name}: touches itself at {b}"


def wall(points):
    corners = pieces(points)
    lines = []
    for i, (x, y) in enumerate(corners):
        x1, y1 = corners[(i + 1) % len(corners)]
        lines.append(f"    <pt>{x:.3f} {y:.3f}</pt> <pt>{x1:.3f} {y1:.3f}</pt>")
    return "\n".join(lines), len(corners)


def draw(name, radius, waves):
    fine = curve(radius, waves)
    total = lengths(fine)[1]
    centre = resampled(fine, round(total / SPACING))
    check(name, centre)
    rows = "\n".join(f"{x:.3f} {y:.3f}" for x, y in centre)
    Path(f"{name}.csv").write_text(
        f"# centreline of {name}.track.xml, made by make_tracks.py: x y in m\n{rows}\n"
    )
    dense = resampled(fine, round(total / 0.1))
    face = HALF_WIDTH + THICKNESS / 2
    left, of_left = wall(offset(dense, face))
    right, of_right = wall(offset(dense, -face))
    x, y = zip(*offset(dense, -face - 1), strict=True)
    Path(f"{name}.track.xml").write_text(
        f"""<!-- {total:.1f} m long, {2 * HALF_WIDTH:g} m wide; made by make_tracks.py -->
<walls>
  <wallThickness>{THICKNESS:g}</wallThickness>
  <wallHeight>0.3</wallHeight>
  <color>#b0543c</color>
  <shape>
{left}
{right}
  </shape>
</walls>
<element class="horizontal_plane">
  <x_min>{min(x):.1f}</x_min> <x_max>{max(x):.1f}</x_max> <y_min>{min(y):.1f}</y_min> <y_max>{max(y):.1f}</y_max>
  <color>#8c8f94</color>
</element>
"""
    )
    print(f"{name}: {total:.1f} m, {of_left} + {of_right} pieces of wall")


if __name__ == "__main__":
    for name, (radius, waves) in TRACKS.items():
        draw(name, radius, waves)
