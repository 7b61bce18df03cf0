"""A log of a real robot: streams of commands and measurements over time, in SI units."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

COLUMNS: dict[str, tuple[str, ...]] = {
    "command": (),
    "wheel_speed": ("left", "right"),
    "odometry": ("vx", "omega"),
    "gyro": ("omega",),
    "acceleration": ("ax", "ay"),
    "pose": ("x", "y", "yaw"),
    "velocity": ("vx", "vy"),
    "effort": ("left", "right"),
}
"""Streams of a log and their columns: rim speeds of the wheels of each side (m/s), twist from the wheels (m/s, rad/s),
yaw rate (rad/s), acceleration (m/s2), true pose (m, m, rad), true velocity in the body frame (m/s), torque or current
of the motors of each side (N m or A). The columns of `command` are those of the robot's controller, e.g. vx, omega."""

_GAP = 10.0  # periods without a sample that make a gap in a stream
_LEAST_GAP = 0.5  # s; shorter gaps are bridged
_JUMP_SPEED = 20.0  # m/s between two poses, faster than any wheeled robot


class LogError(ValueError):
    """A log that cannot be used. The message names the file and what was expected."""


@dataclass(frozen=True)
class Stream:
    time: Array
    """(n,) s, ascending"""
    values: Array
    """(n, columns)"""
    columns: tuple[str, ...]

    @property
    def period(self) -> float:
        """Returns the median time between samples, s."""
        return float(np.median(np.diff(self.time))) if len(self.time) > 1 else float("inf")

    def between(self, start: float, end: float) -> Stream:
        """Returns the samples of a span of time, both ends included."""
        a, b = np.searchsorted(self.time, [start - 1e-9, end + 1e-9])
        return Stream(self.time[a:b], self.values[a:b], self.columns)

    def column(self, name: str) -> Array:
        """Returns the (n,) values of one column."""
        return np.ascontiguousarray(self.values[:, self.columns.index(name)])

    def shifted(self, seconds: float) -> Stream:
        return replace(self, time=self.time + seconds)


@dataclass(frozen=True)
class Log:
    name: str
    streams: Mapping[str, Stream]
    notes: list[str] = field(default_factory=list)
    """Notes on data that was left out, shifted or assumed"""

    def __post_init__(self) -> None:
        for name, stream in self.streams.items():
            if name not in COLUMNS:
                raise LogError(f"{self.name}: found a stream '{name}', expected one of {', '.join(COLUMNS)}")
            shape = (len(stream.time), len(stream.columns))
            if stream.values.shape != shape:
                raise LogError(f"{self.name}: {name} has values of {stream.values.shape}, expected {shape}")
            if not (np.isfinite(stream.time).all() and np.isfinite(stream.values).all()):
                raise LogError(f"{self.name}: {name} holds values that are not finite")
            if (np.diff(stream.time) < 0).any():
                raise LogError(f"{self.name}: times of {name} go back, expected ascending ones")

    def stream(self, name: str) -> Stream | None:
        """Returns one stream; None if the log lacks it."""
        return self.streams.get(name)

    @property
    def span(self) -> tuple[float, float]:
        """The first and the last time at which all streams have samples, s."""
        filled = [s for s in self.streams.values() if len(s.time)]
        if not filled:
            raise LogError(f"{self.name}: found no samples")
        return max(float(s.time[0]) for s in filled), min(float(s.time[-1]) for s in filled)


@dataclass(frozen=True)
class Segment:
    """A stretch of a log without gaps and jumps."""

    log: Log
    start: float
    end: float

    @property
    def name(self) -> str:
        return f"{self.log.name} {self.start:.2f}-{self.end:.2f} s"


def cut(log: Log, shortest: float = 2.0) -> tuple[list[Segment], list[str]]:
    """Returns the stretches of a log without gaps of a stream and without jumps of the pose, and a line for each cut.

    Args:
        shortest: s; shorter stretches are left out and reported.
    """
    first, last = log.span
    cuts: list[tuple[float, float]] = []
    lines: list[str] = []
    for name, stream in log.streams.items():
        for begin, end, text in (*_gaps(name, stream), *(_jumps(stream) if name == "pose" else ())):
            if end > first and begin < last:
                cuts.append((begin, end))
                lines.append(f"{log.name}: cut at {begin:.2f} s, {text}")
    segments, at = [], first
    for begin, end in [*sorted(cuts), (last, last)]:
        if begin - at >= shortest:
            segments.append(Segment(log, at, begin))
        elif begin > at and cuts:
            lines.append(f"{log.name}: left out {at:.2f} to {begin:.2f} s, shorter than {shortest:g} s")
        at = max(at, end)
    if not segments:
        raise LogError(
            f"{log.name}: found no stretch of {shortest:g} s without gaps in which all streams have samples"
        )
    return segments, lines


def _gaps(name: str, stream: Stream) -> Iterable[tuple[float, float, str]]:
    """Yields the gaps of a stream. Commands hold until the next one, so they have no gaps."""
    if name == "command" or len(stream.time) < 3:
        return
    steps = np.diff(stream.time)
    for i in np.flatnonzero(steps > max(_LEAST_GAP, _GAP * stream.period)):
        yield (
            float(stream.time[i]),
            float(stream.time[i + 1]),
            f"{name} has no sample for {steps[i]:.2f} s",
        )


def _jumps(stream: Stream) -> Iterable[tuple[float, float, str]]:
    steps = np.maximum(np.diff(stream.time), 1e-9)
    ways = np.hypot(*np.diff(stream.values[:, :2], axis=0).T)
    noise = 6 * 1.4826 * float(np.median(ways)) if len(ways) else 0.0
    for i in np.flatnonzero((ways / steps > _JUMP_SPEED) & (ways > max(0.2, noise))):
        yield float(stream.time[i]), float(stream.time[i + 1]), f"the pose jumps by {ways[i]:.2f} m"
