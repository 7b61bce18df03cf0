"""The chassis of a robot seen from above: a convex outline of at most 14 corners around all shapes."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from mvsim_gym.robots.description import Array, Geometry

MeshReader = Callable[[Geometry], Array | None]
_ROUND = 24  # corners of the polygon around a circle


def corners_of(shape: Geometry, read_mesh: MeshReader) -> Array | None:
    """Returns points whose convex hull is a shape, (n, 3) in the frame of its link; None for a plane or a missing
    mesh."""
    if shape.kind == "box":
        half = np.asarray(shape.size) / 2
        points = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * half
    elif shape.kind == "cylinder":
        radius, length = shape.size
        points = np.concatenate([_circle(radius, z) for z in (-length / 2, length / 2)])
    elif shape.kind == "sphere":
        radius = shape.size[0]
        rings = np.linspace(-math.pi / 2, math.pi / 2, 9)
        points = np.concatenate([_circle(radius * math.cos(a), radius * math.sin(a)) for a in rings])
    elif shape.kind == "mesh":
        found = read_mesh(shape)
        if found is None:
            return None
        points = found * shape.size
    else:
        return None
    return np.asarray(points @ shape.T_link_shape[:3, :3].T + shape.T_link_shape[:3, 3])


def _circle(radius: float, z: float) -> Array:
    """Returns a regular polygon around a circle, with sides on the axes."""
    angles = 2 * math.pi * (np.arange(_ROUND) + 0.5) / _ROUND
    outer = radius / math.cos(math.pi / _ROUND)
    return np.stack([outer * np.cos(angles), outer * np.sin(angles), np.full(_ROUND, z)], axis=1)


def convex_hull(points: Array) -> Array:
    """Returns the corners of the convex hull of points in the plane, counter-clockwise (Andrew's monotone chain)."""
    ordered = np.unique(np.round(points, 9), axis=0)
    if len(ordered) < 3:
        return ordered

    def chain(rows: Array) -> list[Array]:
        found: list[Array] = []
        for row in rows:
            while len(found) > 1 and _cross(found[-2], found[-1], row) <= 1e-15:
                found.pop()
            found.append(row)
        return found[:-1]

    return np.array(chain(ordered) + chain(ordered[::-1]))


def _cross(a: Array, b: Array, c: Array) -> float:
    return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))


def with_few_corners(hull: Array, count: int) -> Array:
    """Returns a convex polygon of at most `count` corners around another. Sides are removed while their neighbours
    grow.

    Each round removes the side that adds the least area.
    """
    corners = [np.asarray(corner) for corner in hull]
    while len(corners) > count:
        best: tuple[float, int, Array] | None = None
        n = len(corners)
        for i in range(n):
            a, b, c, d = (corners[(i + k) % n] for k in range(4))
            tip = _crossing(a, b, c, d)
            if tip is None:
                continue
            area = abs(_cross(b, tip, c)) / 2
            if best is None or area < best[0]:
                best = (area, i, tip)
        if best is None:
            break
        _, i, tip = best
        corners[(i + 1) % n] = tip
        del corners[(i + 2) % n]
    return np.array(corners)


def _crossing(a: Array, b: Array, c: Array, d: Array) -> Array | None:
    """Returns the intersection of the line through a and b with that through d and c, beyond b and c; None without
    one."""
    u, v = b - a, c - d
    det = u[0] * v[1] - u[1] * v[0]
    if -det < 1e-9 * float(np.linalg.norm(u) * np.linalg.norm(v)):  # the sides turn by 180 degrees or more
        return None
    w = d - a
    t = (w[0] * v[1] - w[1] * v[0]) / det
    return np.asarray(a + t * u) if t >= 1 else None
