"""Time offsets between the streams of a log, by cross-correlation of their turning and speed."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from mvsim_gym.identify.log import Array, Log, Stream

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
