"""Predicts the streams of a log from a rollout and compares them window by window. Estimates noise and bias of a sensor
by the Allan deviation (IEEE Std 952-1997, annex C)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from mvsim_gym.identify.log import Array, Log, Segment
from mvsim_gym.identify.robot import Robot
from mvsim_gym.identify.rollout import Simulated

FITTED = ("wheel_speed", "odometry", "gyro", "pose", "velocity", "effort")
"""Streams that are fitted. Accelerations of real robots also hold vibration and tilt, so they are only compared."""
_QUANTISED = 12**-0.5


@dataclass(frozen=True)
class Window:
    """A stretch of a segment over which the pose is compared as one piece."""

    segment: int
    start: float
    end: float
    held_out: bool


def windows_of(segments: Sequence[Segment], length: float, held_out: float, warm_up: float) -> list[Window]:
    """Cuts segments into windows of about this length, and holds out a share of them, evenly.

    Args:
        held_out: share from 0 to 1. With two or more windows, at least one is held out and at least one remains.
        warm_up: s at the start of each segment that are in no window.
    """
    found = []
    for i, segment in enumerate(segments):
        begin = segment.start + min(warm_up, 0.3 * (segment.end - segment.start))
        count = max(1, round((segment.end - begin) / length))
        edges = np.linspace(begin, segment.end, count + 1)
        found += [(i, float(a), float(b)) for a, b in pairwise(edges)]
    n = len(found)
    aside = 0 if held_out <= 0 or n < 2 else min(n - 1, max(1, round(held_out * n)))
    # the middles of equal shares, so that the beginning and the end of a log are included
    chosen = {int((k + 0.5) * n / aside) for k in range(aside)}
    return [Window(i, a, b, k in chosen) for k, (i, a, b) in enumerate(found)]


def predicted(
    robot: Robot, rollout: Simulated, values: Mapping[str, float], stream: str, time: Array
) -> Array:
    """Returns a predicted stream, (n, columns), at times of the log. Wheel speeds are those that the robot would
    report, with its nominal radius and track."""

    def at(values_: Array) -> Array:
        return np.column_stack([np.interp(time, rollout.time, column) for column in values_.T])

    left, right = _sides(robot)
    radius = np.array([wheel[4] for wheel in robot.wheels])
    if stream in ("wheel_speed", "odometry"):
        rim = rollout.spin * radius
        if stream == "wheel_speed":
            return at(np.column_stack([rim[:, left].mean(axis=1), rim[:, right].mean(axis=1)]))
        vl, vr = rim[:, 0], rim[:, 1]
        # The odometry's reference point lies between the first two wheels.
        yl, yr = robot.wheels[0][1], robot.wheels[1][1]
        omega = (vr - vl) / (yl - yr)
        return at(np.column_stack([vl + omega * yl, omega]))
    if stream == "gyro":
        omega = rollout.twist[:, 2:] * values.get("gyro_scale", 1.0)
        return at(omega) + values.get("gyro_bias", 0.0)
    if stream == "acceleration":
        return at(rollout.acceleration)
    if stream == "pose":
        return at(rollout.pose)
    if stream == "velocity":
        return at(rollout.twist[:, :2])
    torque = np.column_stack([rollout.torque[:, left].sum(axis=1), rollout.torque[:, right].sum(axis=1)])
    speed = rollout.spin * radius
    rim = np.column_stack([speed[:, left].mean(axis=1), speed[:, right].mean(axis=1)])
    idle = values.get("effort_idle", 0.0) * np.tanh(rim / 0.02)
    return at(torque * values.get("effort_constant", 1.0) + idle)


def _sides(robot: Robot) -> tuple[Array, Array]:
    """Returns masks of the wheels on the left and on the right side."""
    y = np.array([wheel[1] for wheel in robot.wheels])
    if len(y) == 3:
        return np.array([True, False, False]), np.array([False, True, False])
    middle = (y[0] + y[1]) / 2
    return y > middle, y < middle


def differences(
    robot: Robot,
    rollout: Simulated,
    values: Mapping[str, float],
    segment: Segment,
    windows: Sequence[Window],
    sigmas: Mapping[str, Array],
) -> dict[str, list[Array]]:
    """Returns for each stream and window (n, columns) measured minus predicted, divided by the sigma of the column.
    Poses are first aligned by the best rigid motion, so that errors of earlier windows do not count."""
    out: dict[str, list[Array]] = {}
    for name, sigma in sigmas.items():
        stream = segment.log.stream(name)
        if stream is None:
            continue
        parts = []
        for window in windows:
            own = stream.between(window.start, window.end)
            guess = predicted(robot, rollout, values, name, own.time)
            if name == "pose":
                parts.append(_residuals_after_fit(own.values, guess, sigma) / sigma)
            else:
                parts.append((own.values - guess) / sigma)
        out[name] = parts
    return out


def _residuals_after_fit(measured: Array, guess: Array, sigma: Array) -> Array:
    """Returns measured minus predicted poses after the best rigid motion of the latter."""
    if not len(measured):
        return measured
    yaw = np.unwrap(measured[:, 2])
    turn = float((yaw - guess[:, 2]).mean())
    p = measured[:, :2] - measured[:, :2].mean(axis=0)
    q = guess[:, :2] - guess[:, :2].mean(axis=0)
    weight_xy, weight_yaw = 1 / sigma[0] ** 2, 1 / sigma[2] ** 2
    for _ in range(3):
        c, s = np.cos(turn), np.sin(turn)
        turned = q @ np.array([[c, s], [-s, c]])
        cross = (turned[:, 0] * p[:, 1] - turned[:, 1] * p[:, 0]).sum()
        off = (yaw - guess[:, 2] - turn).sum()
        size = (turned * p).sum()
        turn += (weight_xy * cross + weight_yaw * off) / (weight_xy * max(size, 0.0) + weight_yaw * len(yaw))
    c, s = np.cos(turn), np.sin(turn)
    turned = q @ np.array([[c, s], [-s, c]])
    return np.column_stack([p - turned, yaw - guess[:, 2] - turn])


def spread(log_values: Array) -> Array:
    """Returns the (columns,) standard deviation of the noise from second differences, which are small for smooth
    motion. It is at least that of the quantisation of the values."""
    if len(log_values) < 4:
        return np.ones(log_values.shape[1])
    second = np.diff(log_values, n=2, axis=0) / np.sqrt(6)
    noise = 1.4826 * np.median(np.abs(second - np.median(second, axis=0)), axis=0)
    floor = []
    for column in log_values.T:
        steps = np.diff(np.unique(column))
        # Few distinct values are quantised; many are the digits of a float.
        coarse = len(steps) > 0 and len(steps) < 0.2 * len(column)
        floor.append(float(np.median(steps)) * _QUANTISED if coarse else 0.0)
    found: Array = np.maximum(np.maximum(noise, floor), 1e-6 + 1e-4 * np.abs(log_values).max(axis=0))
    return found


_STILL_SPEED = 0.01  # m/s, largest speed of wheels or commands at rest
_LEAST_STILL = 2.0  # s, shortest time at rest


@dataclass(frozen=True)
class SensorNoise:
    name: str
    white: float
    """Standard deviation of a reading"""
    density: float
    """Noise density, unit / sqrt(Hz): the standard deviation of a mean over one second"""
    random_walk: float
    """Random walk, unit/s / sqrt(Hz); 0 if the record is too short"""
    bias: float
    seconds: float

    def line(self) -> str:
        walk = f"{self.random_walk:.3g}" if self.random_walk > 0 else "not told"
        return (
            f"{self.name}: noise {self.white:.3g} a reading ({self.density:.3g} / sqrt(Hz)), random walk {walk}, bias"
            f" {self.bias:.3g}, from {self.seconds:.0f} s at rest"
        )


def allan_deviation(values: Array, period: float) -> tuple[Array, Array]:
    """Returns averaging times (s) and the overlapping Allan deviation of readings at them."""
    n = len(values)
    sums = np.concatenate([[0.0], np.cumsum(values)])
    sizes = np.unique(np.round(np.geomspace(1, max(n // 3, 1), 60)).astype(int))
    out = []
    for m in sizes:
        means = (sums[m:] - sums[:-m]) / m
        steps = means[m:] - means[:-m]
        out.append(np.sqrt(0.5 * np.mean(steps**2)) if len(steps) else np.nan)
    found = np.array(out)
    good = np.isfinite(found)
    return sizes[good] * period, found[good]


def still_stretches(log: Log) -> list[tuple[float, float]]:
    """Returns the spans of time in which the robot stands, by its wheels, odometry or commands."""
    for name in ("wheel_speed", "odometry", "velocity", "command"):
        stream = log.stream(name)
        if stream is not None and len(stream.time) > 2:
            break
    else:
        return []
    moves = np.abs(stream.values).max(axis=1) > _STILL_SPEED
    edges = np.flatnonzero(np.diff(np.concatenate([[True], moves, [True]]).astype(int)))
    spans = []
    for a, b in zip(edges[::2], edges[1::2], strict=True):
        begin, end = float(stream.time[a]), float(stream.time[min(b, len(stream.time) - 1)])
        if end - begin >= _LEAST_STILL:
            spans.append((begin + 0.5, end - 0.2))  # a robot coasts after a stop
    return spans


def noise_of(segment: Segment | Log, stream: str = "gyro") -> list[SensorNoise]:
    """Returns the noise of each column of a sensor while the robot stands; empty if it never stands."""
    log = segment.log if isinstance(segment, Segment) else segment
    readings = log.stream(stream)
    if readings is None:
        return []
    parts = [readings.between(a, b) for a, b in still_stretches(log)]
    parts = [p for p in parts if len(p.time) >= 20]
    if not parts:
        return []
    longest = max(parts, key=lambda p: len(p.time))
    out = []
    for column in longest.columns:
        values = longest.column(column)
        times, deviations = allan_deviation(values, longest.period)
        white = float(deviations[0])
        density = white * np.sqrt(longest.period)
        # Beyond its minimum the deviation of a random walk grows as sqrt(tau / 3).
        at = int(np.argmin(deviations))
        walk = 0.0
        if at + 3 < len(times) and deviations[-1] > 1.5 * deviations[at]:
            walk = float(deviations[-1] / np.sqrt(times[-1] / 3))
        bias = float(np.mean(np.concatenate([p.column(column) for p in parts])))
        seconds = sum(float(p.time[-1] - p.time[0]) for p in parts)
        out.append(SensorNoise(f"{stream} {column}", white, float(density), walk, bias, seconds))
    return out
