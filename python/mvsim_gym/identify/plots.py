"""Plots of each stream: measured and simulated values, before and after the fit."""

from __future__ import annotations

import os
from collections.abc import Mapping

import numpy as np

from mvsim_gym._notices import extra
from mvsim_gym.identify.log import Array
from mvsim_gym.identify.measure import predicted
from mvsim_gym.identify.problem import Problem

_UNITS = {
    "wheel_speed": "m/s",
    "odometry": "m/s, rad/s",
    "gyro": "rad/s",
    "acceleration": "m/s2",
    "velocity": "m/s",
    "effort": "",
}
_MOST_SEGMENTS = 6


def draw(problem: Problem, before: Mapping[str, float], after: Mapping[str, float], folder: str) -> list[str]:
    """Draws a PNG file for each segment, at most six, with a row for each quantity, and returns the paths. Held-out
    windows are shaded.

    Raises:
        ImportError: the extra `plot` is missing.
        OSError: the folder cannot be written.
    """
    with extra("plots", "plot"):
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot
    os.makedirs(folder, exist_ok=True)
    runs = problem.driver.run([before, after] if dict(before) != dict(after) else [before])
    paths = []
    for i, segment in enumerate(problem.segments[:_MOST_SEGMENTS]):
        rows = [
            (name, column)
            for name, stream in segment.log.streams.items()
            if name in _UNITS and not (problem.robot.wheel_driven and name in ("wheel_speed", "odometry"))
            for column in stream.columns
        ]
        has_pose = "pose" in segment.log.streams
        count = len(rows) + has_pose
        figure, axes = pyplot.subplots(count, 1, figsize=(10, 2.2 * count + 1), squeeze=False)
        for axis, (name, column) in zip(axes[:, 0], rows, strict=False):
            own = segment.log.streams[name].between(segment.start, segment.end)
            k = own.columns.index(column)
            axis.plot(own.time, own.values[:, k], color="0.6", linewidth=0.8, label="measured")
            for run, values, label in zip(runs, (before, after), ("before", "after"), strict=False):
                guess = predicted(problem.robot, run[i], values, name, own.time)
                axis.plot(own.time, guess[:, k], linewidth=1, label=label if len(runs) > 1 else "simulated")
            for window in problem.windows:
                if window.segment == i and window.held_out:
                    axis.axvspan(window.start, window.end, color="gold", alpha=0.2)
            axis.set_ylabel(f"{name} {column}\n{_UNITS[name]}", fontsize=8)
            axis.legend(fontsize=7, loc="upper right")
        if has_pose:
            _paths(axes[-1, 0], problem, i, runs, (before, after))
        else:
            axes[-1, 0].set_xlabel("s")
        figure.suptitle(segment.name, fontsize=10)
        figure.tight_layout()
        path = os.path.join(folder, f"segment{i + 1}.png")
        figure.savefig(path, dpi=80)
        pyplot.close(figure)
        paths.append(path)
    return paths


def _paths(axis: object, problem: Problem, index: int, runs: object, values: object) -> None:
    """Draws the path of each window, aligned with the measured one at its start."""
    segment = problem.segments[index]
    pose = segment.log.streams["pose"]
    for window in problem.windows:
        if window.segment != index:
            continue
        own = pose.between(window.start, window.end)
        if not len(own.time):
            continue
        axis.plot(own.values[:, 0], own.values[:, 1], color="0.6")  # type: ignore[attr-defined]
        for run, held, color in zip(runs, values, ("C0", "C1"), strict=False):  # type: ignore[call-overload]
            guess = predicted(problem.robot, run[index], held, "pose", own.time)
            x, y = _at_start(own.values, guess)
            axis.plot(x, y, color=color, linewidth=1)  # type: ignore[attr-defined]
    axis.set_aspect("equal")  # type: ignore[attr-defined]
    axis.set_xlabel("x, m")  # type: ignore[attr-defined]
    axis.set_ylabel("y, m")  # type: ignore[attr-defined]


def _at_start(measured: Array, guess: Array) -> tuple[Array, Array]:
    turn = measured[0, 2] - guess[0, 2]
    c, s = np.cos(turn), np.sin(turn)
    way = guess[:, :2] - guess[0, :2]
    return measured[0, 0] + c * way[:, 0] - s * way[:, 1], measured[0, 1] + s * way[:, 0] + c * way[:, 1]
