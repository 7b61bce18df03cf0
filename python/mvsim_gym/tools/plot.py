"""Pictures of logs: `mvsim-gym plot`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from mvsim_gym._notices import extra
from mvsim_gym.tools.read_log import Array, Scans, Track, Wheels, read_log

_MOST_POINTS = 60_000  # most points of scans in a picture
# panels of a wheel: title, columns
_WHEEL_PANELS = (
    ("speed of its centre (m/s)", ("velocity_x", "velocity_y")),
    ("friction on the chassis (N)", ("friction_x", "friction_y")),
    ("load (N)", ("force_z",)),
    ("torque (N m)", ("torque",)),
    ("slip", ("slip_ratio", "slip_angle")),
)


def plot(path: str, folder: str | None = None) -> str:
    """Draws a log into a PNG file of the same name, beside it or in a folder that is made if it is missing.

    Returns:
        The picture's path.

    Raises:
        ImportError: an extra is missing.
        ValueError: the file is no log.
    """
    with extra("plot", "plot"):
        from matplotlib import rc_context
        from matplotlib.figure import Figure
    found = read_log(path)
    if folder is not None:
        os.makedirs(folder, exist_ok=True)
    name = os.path.splitext(os.path.basename(path))[0] + ".png"
    picture = os.path.join(os.path.dirname(path) if folder is None else folder, name)
    with rc_context({"text.parse_math": False}):  # names may contain $
        figure = Figure(layout="constrained", dpi=110)
        if isinstance(found[0], Wheels):
            _draw_wheel(figure, found[0])
        else:
            _draw_tracks(figure, [track for track in found if isinstance(track, Track)])
        figure.suptitle(os.path.basename(path), fontsize=10)
        figure.savefig(picture)
    return picture


def _draw_wheel(figure: Any, wheel: Wheels) -> None:
    panels = [
        (title, [name for name in names if name in wheel.columns])
        for title, names in _WHEEL_PANELS
        if names[0] in wheel.columns
    ]
    figure.set_size_inches(9, 2 * len(panels))
    for axes, (title, names) in zip(figure.subplots(len(panels), 1, sharex=True), panels, strict=True):
        for name in names:
            axes.plot(wheel.columns["Timestamp"], wheel.columns[name], lw=1, label=name)
        axes.set_ylabel(title, fontsize=8)
        axes.legend(fontsize=8, loc="upper right")
        axes.grid(alpha=0.25)
    axes.set_xlabel("time (s)")


def _draw_tracks(figure: Any, tracks: Sequence[Track]) -> None:
    """Draws trajectories over the points of lidars, then speeds and scans of each vehicle."""
    with_scans = [(track, name, scans) for track in tracks for name, scans in track.scans.items()]
    rows = 2 * len(tracks) + len(with_scans)
    figure.set_size_inches(15, max(6.0, 1.8 * rows))
    grid = figure.add_gridspec(rows, 2, width_ratios=(1.1, 1))
    _draw_map(figure.add_subplot(grid[:, 0]), tracks)
    row = 0
    for track in tracks:
        axes = figure.add_subplot(grid[row : row + 2, 1])
        row += 2
        if track.twist is not None:
            for k, name in enumerate(("vx (m/s)", "vy (m/s)", "omega (rad/s)")):
                axes.plot(track.time, track.twist[:, k], lw=1, label=name)
        axes.set_title(f"{track.name}: true speeds in the body frame", fontsize=9)
        axes.legend(fontsize=8, loc="upper right")
        axes.grid(alpha=0.25)
        axes.set_xlabel("time (s)", fontsize=8)
    for track, name, scans in with_scans:
        axes = figure.add_subplot(grid[row, 1])
        row += 1
        span = (scans.time[0], scans.time[-1], *np.degrees(scans.angles[[0, -1]]))
        image = axes.imshow(
            scans.ranges.T, aspect="auto", origin="lower", extent=span, interpolation="nearest"
        )
        figure.colorbar(image, ax=axes, label="m")
        axes.set_title(f"{track.name}/{name}: ranges", fontsize=9)
        axes.set_ylabel("degrees", fontsize=8)


def _draw_map(axes: Any, tracks: Sequence[Track]) -> None:
    for track in tracks:
        for scans in track.scans.values():
            points = points_of(track, scans)
            points = points[:: max(1, len(points) // _MOST_POINTS)]
            axes.plot(points[:, 0], points[:, 1], ".", ms=1, color="#999999", zorder=1)
    for k, track in enumerate(tracks):
        color = f"C{k % 10}"
        x, y = track.pose[:, 0], track.pose[:, 1]
        axes.plot(x, y, color=color, lw=1.6, label=track.name, zorder=3)
        axes.plot(x[0], y[0], "o", color=color, zorder=3)
        axes.annotate("", (x[-1], y[-1]), _before_end(x, y), arrowprops={"arrowstyle": "->", "color": color})
        if track.odometry is not None:
            placed = _odometry_in_world(track)
            axes.plot(*placed.T, ":", color=color, lw=1.2, label=f"{track.name} by its odometry", zorder=2)
    axes.set_aspect("equal", adjustable="datalim")
    axes.set(xlabel="x (m)", ylabel="y (m)")
    axes.grid(alpha=0.25)
    axes.legend(fontsize=8, loc="upper right")


def _before_end(x: Array, y: Array) -> tuple[float, float]:
    """Returns the last point that differs from the end, which gives the direction of an arrow at the end."""
    apart = np.flatnonzero(np.hypot(x - x[-1], y - y[-1]) > 1e-3)
    k = int(apart[-1]) if len(apart) else 0
    return float(x[k]), float(y[k])


def _odometry_in_world(track: Track) -> Array:
    """Returns the odometry in the world frame: it begins at the origin, and the robot at its first pose."""
    assert track.odometry is not None
    return _turned(track.odometry - track.odometry[0], track.pose[0, 2]) + track.pose[0, :2]


def points_of(track: Track, scans: Scans) -> Array:
    """Returns the points that a lidar has hit, (n, 2) m in the world; each scan is placed by the pose at its time."""
    x, y, yaw = track.pose.T
    at = np.stack([np.interp(scans.time, track.time, values) for values in (x, y, np.unwrap(yaw))], axis=1)
    origins = _turned(np.tile(scans.mount[:2], (len(at), 1)), at[:, 2]) + at[:, :2]
    directions = at[:, 2, None] + scans.mount[2] + scans.angles
    hits = origins[:, None] + scans.ranges[..., None] * np.stack([np.cos(directions), np.sin(directions)], -1)
    points = hits.reshape(-1, 2)
    return np.asarray(points[np.isfinite(points).all(axis=1)])


def _turned(points: Array, yaw: Array | float) -> Array:
    c, s = np.cos(yaw), np.sin(yaw)
    return np.stack([c * points[:, 0] - s * points[:, 1], s * points[:, 0] + c * points[:, 1]], axis=1)
