"""A log of a real robot: streams of commands and measurements over time, in SI units. Their time offsets are found by
cross-correlation of their turning and speed."""

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


_STEP = 0.01  # s of the common grid
_LEAST_CORRELATION = 0.5
_LEAST_OFFSET = 0.1  # s; a smaller offset may be dynamics, as wheels turn before a skidding body does
_PERIODS = 0.25  # smallest offset in periods of the slower stream


@dataclass(frozen=True)
class Offset:
    """The time by which one stream is later than another."""

    stream: str
    against: str
    seconds: float
    correlation: float
    applied: bool

    def line(self) -> str:
        done = "shifted back" if self.applied else "left as it is"
        return (
            f"{self.stream} is {1000 * self.seconds:+.0f} ms late against {self.against}"
            f" (correlation {self.correlation:.2f}): {done}"
        )


def align(log: Log, track: float | None = None, most: float = 30.0) -> tuple[Log, list[Offset]]:
    """Shifts streams to the clock of the gyro, or of the wheels without a gyro. Commands are not shifted, because the
    delay of a robot is one of its parameters.

    Args:
        track: distance of the left and right wheels, m; None: only the sign of turning is used.
        most: largest offset of clocks, s.
    """
    signals = {
        name: found for name, stream in log.streams.items() if (found := _turning(name, stream)) is not None
    }
    order = [n for n in ("gyro", "odometry", "wheel_speed", "pose") if n in signals]
    offsets: list[Offset] = []
    if len(order) < 2:
        return log, offsets
    reference = order[0]
    streams = dict(log.streams)
    for name in order[1:]:
        seconds, correlation = offset_between(signals[name], signals[reference], most)
        slower = max(log.streams[name].period, log.streams[reference].period)
        apply = correlation >= _LEAST_CORRELATION and abs(seconds) >= max(_LEAST_OFFSET, _PERIODS * slower)
        offsets.append(Offset(name, reference, seconds, correlation, apply))
        if not apply:
            continue
        # Streams of one source share a clock.
        for other, stream in log.streams.items():
            same = stream.time.shape == log.streams[name].time.shape and np.array_equal(
                stream.time, log.streams[name].time
            )
            if same and other != reference:
                streams[other] = stream.shifted(-seconds)
    return replace(log, streams=streams), offsets


def _turning(name: str, stream: Stream) -> tuple[Array, Array] | None:
    """Returns times and values that increase with the yaw rate."""
    if len(stream.time) < 10:
        return None
    if name in ("gyro", "odometry"):
        return stream.time, stream.column("omega")
    if name == "wheel_speed":
        return stream.time, stream.column("right") - stream.column("left")
    if name == "pose":
        yaw = np.unwrap(stream.column("yaw"))
        steps = np.maximum(np.diff(stream.time), 1e-6)
        return (stream.time[1:] + stream.time[:-1]) / 2, np.diff(yaw) / steps
    return None


def offset_between(
    late: tuple[Array, Array], reference: tuple[Array, Array], most: float = 30.0
) -> tuple[float, float]:
    """Returns the seconds by which the first signal is later than the second, and their correlation there. A parabola
    refines the peak below the spacing of the grid."""
    start = min(late[0][0], reference[0][0])
    end = max(late[0][-1], reference[0][-1])
    grid = np.arange(start, end, _STEP)
    a, b = (np.interp(grid, *signal, left=np.nan, right=np.nan) for signal in (late, reference))
    inside_a, inside_b = np.isfinite(a), np.isfinite(b)
    a = np.where(inside_a, a - a[inside_a].mean(), 0.0)
    b = np.where(inside_b, b - b[inside_b].mean(), 0.0)
    size = 1 << int(np.ceil(np.log2(2 * len(grid))))

    def correlated(x: Array, y: Array) -> Array:
        found: Array = np.fft.irfft(np.fft.rfft(x, size) * np.conj(np.fft.rfft(y, size)), size)
        return found

    # Each shift is normalised by the energy of the overlap.
    energy_a = correlated(a * a, inside_b.astype(float))
    energy_b = correlated(inside_a.astype(float), b * b)
    overlap = correlated(inside_a.astype(float), inside_b.astype(float))
    strength = correlated(a, b) / np.sqrt(np.maximum(energy_a * energy_b, 1e-12))
    lags = np.fft.fftfreq(size, 1 / size).astype(int)
    shorter = min(inside_a.sum(), inside_b.sum())
    strength[(np.abs(lags) * _STEP > most) | (overlap < 0.5 * shorter)] = -1
    best = int(np.argmax(strength))
    before, here, after = strength[best - 1], strength[best], strength[(best + 1) % size]
    curve = before - 2 * here + after
    part = 0.5 * (before - after) / curve if curve < 0 else 0.0
    return float((lags[best] + np.clip(part, -1, 1)) * _STEP), float(here)
