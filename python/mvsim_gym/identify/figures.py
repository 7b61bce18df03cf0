"""Errors of a simulated robot against a log: position after 1, 5 and 10 s, yaw rate and speed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mvsim_gym.identify.log import Array, Segment
from mvsim_gym.identify.measure import predicted
from mvsim_gym.identify.problem import Problem
from mvsim_gym.identify.rollout import Simulated

HORIZONS = (1.0, 5.0, 10.0)
"""s"""
_EVERY = 0.5  # s between start times of compared positions
_UNITS = {
    "yaw rate": "rad/s",
    "speed": "m/s",
    "wheel speed": "m/s",
    "effort": "",
    "acceleration": "m/s2",
}


@dataclass(frozen=True)
class Figures:
    """Root mean square errors by name. Errors without data in the log are missing."""

    errors: Mapping[str, float]

    def lines(
        self, other: Figures | None = None, heads: Sequence[str] = ("error", "before", "after")
    ) -> list[str]:
        """Returns a table, with a second column for another robot."""
        rows = [tuple(heads)[: 2 if other is None else 3]]
        for name, value in self.errors.items():
            unit = "m" if name.startswith("position") else _UNITS[name]
            cells = [f"{name} [{unit}]" if unit else name, f"{value:.4g}"]
            if other is not None:
                cells.append(f"{other.errors[name]:.4g}" if name in other.errors else "")
            rows.append(tuple(cells))
        widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
        return ["  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in rows]

    def mean_ratio(self, before: Figures) -> float:
        """Returns the geometric mean of the ratios of these errors to those of another robot; below 1 is better."""
        ratios = [
            max(value, 1e-9) / max(before.errors[name], 1e-9)
            for name, value in self.errors.items()
            if name in before.errors and name != "acceleration"
        ]
        return float(np.exp(np.mean(np.log(ratios)))) if ratios else 1.0


def figures_of(
    problem: Problem,
    values: Mapping[str, float],
    held_out: bool = True,
    rollouts: Sequence[Simulated] | None = None,
) -> Figures:
    """Returns the errors over the held-out windows, or over the fitted ones.

    Args:
        rollouts: rollouts with these values, if they exist already.
    """
    rollouts = rollouts or problem.driver.run([values])[0]
    sums: dict[str, list[Array]] = {}
    for window in problem.windows:
        if window.held_out != held_out:
            continue
        segment, rollout = problem.segments[window.segment], rollouts[window.segment]
        for name, found in _differences(problem, segment, rollout, values, window.start, window.end).items():
            sums.setdefault(name, []).append(found)
    return _root_mean_squares(sums)


def kinematic_figures(problem: Problem, held_out: bool = True) -> Figures:
    """Returns the errors of the ideal kinematic model, without simulation. Its yaw rate comes from the measured wheel
    speeds or odometry with the nominal track and no slip."""
    sums: dict[str, list[Array]] = {}
    for window in problem.windows:
        if window.held_out != held_out:
            continue
        log = problem.segments[window.segment].log
        wheels, odometry, gyro = log.stream("wheel_speed"), log.stream("odometry"), log.stream("gyro")
        if gyro is None or (wheels is None and odometry is None):
            continue
        own = gyro.between(window.start, window.end)
        if wheels is not None:
            turning = (wheels.column("right") - wheels.column("left")) / problem.robot.track
            guess = np.interp(own.time, wheels.time, turning)
        else:
            assert odometry is not None
            guess = np.interp(own.time, odometry.time, odometry.column("omega"))
        sums.setdefault("yaw rate", []).append(own.column("omega") - guess)
    return _root_mean_squares(sums)


def _root_mean_squares(sums: Mapping[str, Sequence[Array]]) -> Figures:
    order = [*(f"position after {h:g} s" for h in HORIZONS), *_UNITS]
    together = {name: np.concatenate(sums[name]) for name in order if name in sums}
    return Figures({name: float(np.sqrt(np.mean(v**2))) for name, v in together.items() if len(v)})


def _differences(
    problem: Problem,
    segment: Segment,
    rollout: Simulated,
    values: Mapping[str, float],
    start: float,
    end: float,
) -> dict[str, Array]:
    out: dict[str, Array] = {}

    def difference(stream: str) -> Array | None:
        own = segment.log.stream(stream)
        if own is None or not len((part := own.between(start, end)).time):
            return None
        return part.values - predicted(problem.robot, rollout, values, stream, part.time)

    gyro, odometry = difference("gyro"), difference("odometry")
    if gyro is not None:
        out["yaw rate"] = gyro[:, 0]
    elif odometry is not None and not problem.robot.wheel_driven:
        out["yaw rate"] = odometry[:, 1]
    velocity = difference("velocity")
    if velocity is not None:
        out["speed"] = velocity[:, 0]
    elif odometry is not None and not problem.robot.wheel_driven:
        out["speed"] = odometry[:, 0]
    if not problem.robot.wheel_driven and (wheels := difference("wheel_speed")) is not None:
        out["wheel speed"] = wheels.ravel()
    if (effort := difference("effort")) is not None:
        out["effort"] = effort.ravel()
    if (acceleration := difference("acceleration")) is not None:
        out["acceleration"] = acceleration.ravel()
    pose = segment.log.stream("pose")
    if pose is not None:
        own = pose.between(start, end)
        guess = predicted(problem.robot, rollout, values, "pose", own.time)
        for horizon in HORIZONS:
            found = _positions(own.time, own.values, guess, horizon)
            if len(found):
                out[f"position after {horizon:g} s"] = found
    return out


def _positions(time: Array, measured: Array, guess: Array, horizon: float) -> Array:
    """Returns the distance of the ends of each stretch after the starts have been aligned."""
    if not len(time) or time[-1] - time[0] < horizon - 0.05:
        return np.empty(0)
    starts = np.arange(time[0], max(time[-1] - horizon, time[0]) + 1e-6, _EVERY)
    a = np.clip(np.searchsorted(time, starts - 1e-9), 0, len(time) - 1)
    b = np.clip(np.searchsorted(time, starts + horizon - 1e-9), 0, len(time) - 1)

    def moved(pose: Array) -> Array:
        way, yaw = pose[b, :2] - pose[a, :2], pose[a, 2]
        c, s = np.cos(yaw), np.sin(yaw)
        return np.column_stack([c * way[:, 0] + s * way[:, 1], c * way[:, 1] - s * way[:, 0]])

    found: Array = np.hypot(*(moved(measured) - moved(guess)).T)
    return found
