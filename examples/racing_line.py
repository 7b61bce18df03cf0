"""The line of least curvature within a race track, for `mvsim-gym import --centreline`.

    python examples/racing_line.py aut_centerline.csv -o aut_raceline.csv

The file has a point of the middle line in each row: x, y, and the widths to the right and to the left (m). The line
keeps `--margin` from both sides, which is half of the car's width and some room.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import lsq_linear
from scipy.sparse import diags, vstack

Points = NDArray[np.float64]
TURNS, STEP = 12, 0.15  # of the search; m to the side in each


def resampled(points: Points, columns: Points, spacing: float) -> tuple[Points, Points]:
    """Points of a closed line at equal distances, and the rows of `columns` there."""
    closed, rows = np.vstack([points, points[:1]]), np.vstack([columns, columns[:1]])
    along = np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(closed, axis=0), axis=1))])
    at = np.linspace(0, along[-1], round(along[-1] / spacing), endpoint=False)
    pick = lambda values: np.stack([np.interp(at, along, column) for column in values.T], axis=1)  # noqa: E731
    return pick(closed), pick(rows)


def normals(points: Points) -> Points:
    """Unit vectors to the left of a closed line."""
    ahead = np.roll(points, -1, axis=0) - np.roll(points, 1, axis=0)
    left = np.stack([-ahead[:, 1], ahead[:, 0]], axis=1)
    return left / np.linalg.norm(left, axis=1, keepdims=True)


def room(points: Points, middle: Points, widths: Points) -> Points:
    """How far the sides of a track are to the right and to the left of points near its middle line, (n, 2)."""
    nearest = np.linalg.norm(points[:, None] - middle, axis=2).argmin(axis=1)
    offset = ((points - middle[nearest]) * normals(middle)[nearest]).sum(axis=1)
    return np.stack([widths[nearest, 0] + offset, widths[nearest, 1] - offset], axis=1)


def racing_line(middle: Points, widths: Points, margin: float, spacing: float) -> Points:
    """The line of least curvature within a track. Each turn moves points at equal distances a little to the side."""
    line = middle
    for _ in range(TURNS):
        count, aside = len(line), normals(line)
        second = diags([1.0, 1.0, -2.0, 1.0, 1.0], [1 - count, -1, 0, 1, count - 1], shape=(count, count))
        matrix = vstack([second @ diags([aside[:, axis]], [0]) for axis in range(2)]).tocsr()
        bend = np.concatenate([second @ line[:, axis] for axis in range(2)])
        right, left = room(line, middle, widths).T - margin
        low, high = np.clip(-right, -STEP, -1e-3), np.clip(left, 1e-3, STEP)
        found = lsq_linear(matrix, -bend, (low, high), tol=1e-7, max_iter=100)
        line, _ = resampled(line + found.x[:, None] * aside, aside, spacing)
    return line


def curvature(points: Points) -> Points:
    """The curvature of a closed line at its points, 1/m, positive to the left."""
    first = (np.roll(points, -1, axis=0) - np.roll(points, 1, axis=0)) / 2
    second = np.roll(points, -1, axis=0) - 2 * points + np.roll(points, 1, axis=0)
    return np.asarray(
        (first[:, 0] * second[:, 1] - first[:, 1] * second[:, 0]) / np.linalg.norm(first, axis=1) ** 3
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("centreline", type=Path, help="x, y, width to the right and to the left in each row")
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--margin", type=float, default=0.35, help="m from both sides (default 0.35)")
    parser.add_argument("--spacing", type=float, default=0.2, help="m between two points (default 0.2)")
    args = parser.parse_args()
    rows = np.loadtxt(args.centreline, delimiter=",", comments="#")
    if rows.ndim != 2 or rows.shape[1] < 4:
        parser.error(f"{args.centreline}: expected x, y and two widths in each row, separated by commas")
    points, widths = resampled(rows[:, :2], rows[:, 2:4], args.spacing)
    line = racing_line(points, widths, args.margin, args.spacing)
    np.savetxt(args.output, line, fmt="%.4f", delimiter=",", header="x, y")
    of_middle, of_line = (float(np.sqrt(np.mean(curvature(each) ** 2))) for each in (points, line))
    print(
        f"{args.output}: {len(line)} points, root mean square of the curvature {of_middle:.3f} -> {of_line:.3f} 1/m"
    )


if __name__ == "__main__":
    main()
