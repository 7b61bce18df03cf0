"""Estimates noise and bias of a sensor from a log, by the Allan deviation (IEEE Std 952-1997, annex C)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mvsim_gym.identify.log import Array, Log, Segment

_STILL_SPEED = 0.01  # m/s, largest speed of wheels or commands at rest
_LEAST_STILL = 2.0  # s, shortest time at rest


@dataclass(frozen=True)
class SensorNoise:
    """Noise of one column of a sensor."""

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
