"""The fit as a function: from scaled parameters of many candidates to the residuals of all windows of all logs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np

from mvsim_gym.identify.log import Array, Log, LogError, Segment, Stream, cut
from mvsim_gym.identify.measure import FITTED, Window, differences, spread, windows_of
from mvsim_gym.identify.parameters import parameter
from mvsim_gym.identify.robot import Robot
from mvsim_gym.identify.rollout import SUBSTEPS, Driver, Simulated, Track

_FAILED = 1e3  # residual of a rollout that diverged, in units of noise
_WARM_UP = 2.0  # s before a window that does not begin a log
_WINDOW = 10.0  # s over which poses are compared
_LONGEST = 60.0  # longest rollout, s
_SCATTER = 0.1  # share of the spread of a signal that may lie beside a line through it


@dataclass
class Problem:
    robot: Robot
    driver: Driver
    segments: list[Segment]
    windows: list[Window]
    names: list[str]
    sigmas: dict[str, Array]
    """Noise of the columns of each fitted stream"""
    fixed: dict[str, float] = field(default_factory=dict)
    """Values of parameters that are not fitted"""
    rough_driver: Driver | None = None
    noise: dict[str, Array] = field(default_factory=dict)
    """As `sigmas`, for the noise of the sensors alone"""
    _windows_of: list[tuple[list[Window], list[Window]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._windows_of = [
            (
                [w for w in self.windows if w.segment == i and not w.held_out],
                [w for w in self.windows if w.segment == i and w.held_out],
            )
            for i in range(len(self.segments))
        ]

    @property
    def nominal(self) -> Array:
        """Returns the values before the fit, in the order of `names`."""
        return np.array([self._nominal(name) for name in self.names])

    def _nominal(self, name: str) -> float:
        value = self.robot.nominal(parameter(name))
        if value is None:
            raise LogError(
                f"{self.robot.path}: this robot has no parameter '{name}', expected one of"
                f" {', '.join(self.robot.known())}"
            )
        return value

    def bounds(self) -> tuple[Array, Array]:
        """Returns the lowest and the highest scaled parameters."""
        low, high = [], []
        for name, nominal in zip(self.names, self.nominal, strict=True):
            row = parameter(name)
            ends = row.bounds(nominal)
            low.append(row.to_scaled(ends[0], nominal))
            high.append(row.to_scaled(ends[1], nominal))
        return np.array(low), np.array(high)

    def steps(self) -> Array:
        return np.array([parameter(name).scaled_step for name in self.names])

    def values(self, scaled: Array) -> dict[str, float]:
        own = {
            name: parameter(name).from_scaled(float(s), float(n))
            for name, s, n in zip(self.names, scaled, self.nominal, strict=True)
        }
        return {**self.fixed, **own}

    def scaled(self, values: Mapping[str, float]) -> Array:
        return np.array(
            [
                parameter(name).to_scaled(values[name], float(nominal))
                for name, nominal in zip(self.names, self.nominal, strict=True)
            ]
        )

    def residuals(self, points: Array) -> Array:
        """Returns (k, m) residuals of the fitted windows for (k, p) scaled parameters."""
        values = [self.values(point) for point in points]
        found = [
            np.concatenate([r.ravel() for r in self.by_stream(v, rollouts).values()])
            for v, rollouts in zip(values, self.driver.run(values), strict=True)
        ]
        return np.array(found)

    def by_stream(
        self, values: Mapping[str, float], rollouts: Sequence[Simulated], held_out: bool = False
    ) -> dict[str, Array]:
        """Returns the residuals of each stream, (n, columns), over all fitted or all held-out windows."""
        parts: dict[str, list[Array]] = {name: [] for name in self.sigmas}
        for i, (segment, rollout) in enumerate(zip(self.segments, rollouts, strict=True)):
            windows = self._windows_of[i][held_out]
            if not windows:
                continue
            for name, found in differences(
                self.robot, rollout, values, segment, windows, self.sigmas
            ).items():
                if not rollout.finite:
                    found = [np.full_like(r, _FAILED) for r in found]
                parts[name] += found
        return {name: np.concatenate(found) for name, found in parts.items() if found}

    def rough(self) -> Problem:
        """Returns the problem with a longer control period, which halves the work of the search."""
        return replace(self, driver=self.rough_driver or self.driver, _windows_of=[])

    def only(self, names: Sequence[str], fixed: Mapping[str, float]) -> Problem:
        return replace(self, names=list(names), fixed={**self.fixed, **fixed}, _windows_of=[])


def build(
    robot: Robot,
    logs: Sequence[Log],
    names: Sequence[str],
    *,
    held_out_logs: Sequence[Log] = (),
    held_out: float = 1 / 3,
    streams: Sequence[str] | None = None,
    window: float = _WINDOW,
    threads: int | None = None,
) -> tuple[Problem, list[str]]:
    """Returns the problem of some logs, and a line for each cut.

    Args:
        held_out_logs: logs that are not fitted; then no window of the other logs is held out.
        held_out: share of the windows that is held out.
        streams: the streams to fit; None: all of `FITTED` that the logs have.

    Raises:
        LogError: the logs have neither commands nor wheel speeds, or nothing to compare.
    """
    segments, lines = [], []
    whole: list[bool] = []
    for log, aside in [*((log, False) for log in logs), *((log, True) for log in held_out_logs)]:
        found, cuts = cut(log)
        lines += cuts
        for segment in found:
            pieces = _pieces(segment)
            segments += pieces
            whole += [aside] * len(pieces)
    inputs = {"wheel_speed"} if robot.wheel_driven else {"command"}
    for segment in segments:
        if not inputs & set(segment.log.streams):
            raise LogError(
                f"{segment.log.name}: found {', '.join(segment.log.streams)}, expected {' or '.join(inputs)}"
                + ("" if robot.wheel_driven else "; logs without commands need the mode of driven wheels")
            )
    windows: list[Window] = []
    for i, segment in enumerate(segments):
        own = windows_of([segment], window, 0, 0.0 if _starts_log(segment) else _WARM_UP)
        windows += [Window(i, w.start, w.end, whole[i]) for w in own]
    if not held_out_logs and held_out > 0 and len(windows) > 1:
        aside_count = min(len(windows) - 1, max(1, round(held_out * len(windows))))
        chosen = {int((k + 0.5) * len(windows) / aside_count) for k in range(aside_count)}
        windows = [Window(w.segment, w.start, w.end, k in chosen) for k, w in enumerate(windows)]
    wanted = [s for s in (streams or FITTED) if not (robot.wheel_driven and s in ("wheel_speed", "odometry"))]
    sigmas = {}
    for name in wanted:
        own_noise = [
            spread(s.values) for g in segments if (s := g.log.stream(name)) is not None and len(s.time) > 3
        ]
        if own_noise:
            sigmas[name] = np.median(own_noise, axis=0)
    if not sigmas:
        raise LogError(f"found none of {', '.join(wanted)} in the logs, expected one to compare with")
    needed = {"effort": "wheel_torque", "acceleration": "acceleration"}
    held = {stream for segment in segments for stream in segment.log.streams}
    quantities = [quantity for stream, quantity in needed.items() if stream in held]
    tracks = [track for segment in segments for track in tracks_of(robot, [segment])]
    driver = Driver(robot, tracks, threads=threads, quantities=quantities)
    rough = Driver(robot, tracks, 2 * SUBSTEPS, threads, quantities)
    return Problem(
        robot, driver, segments, windows, list(names), sigmas, rough_driver=rough, noise=dict(sigmas)
    ), lines


def _pieces(segment: Segment) -> list[Segment]:
    """Returns equal pieces of a segment that is too long for one rollout. All but the first begin earlier by the
    warm-up."""
    length = segment.end - segment.start
    count = int(np.ceil(length / _LONGEST))
    edges = np.linspace(segment.start, segment.end, count + 1)
    return [
        Segment(segment.log, float(max(segment.start, a - (_WARM_UP if k else 0))), float(b))
        for k, (a, b) in enumerate(pairwise(edges))
    ]


def _starts_log(segment: Segment) -> bool:
    """Returns whether the segment begins its log, where the robot is assumed to stand."""
    return segment.start <= segment.log.span[0] + 0.1


def tracks_of(robot: Robot, segments: Sequence[Segment]) -> list[Track]:
    tracks = []
    for segment in segments:
        source = segment.log.streams["wheel_speed" if robot.wheel_driven else "command"]
        values = source.values
        if robot.wheel_driven:
            values = np.column_stack([values.mean(axis=1), (values[:, 1] - values[:, 0]) / robot.track])
            # Wheels keep turning between samples.
            time = np.arange(source.time[0], source.time[-1], 0.02)
            values = np.column_stack([np.interp(time, source.time, column) for column in values.T])
        else:
            time = source.time
        tracks.append(Track(segment, segment.start, segment.end, time, values, _motion(segment, robot)))
    return tracks


def at_start(time: Array, values: Array) -> float:
    """Returns a signal at time 0 from samples after it: their mean, or, where they rise or fall by far more than they
    scatter, the line through those of the first 0.1 s."""
    early = time <= 0.1 + 1e-9
    if early.sum() < 4:
        return float(values.mean())
    slope, begin = np.polyfit(time[early], values[early], 1)
    scatter = values[early] - begin - slope * time[early]
    spread = values[early] - values[early].mean()
    return float(begin if scatter @ scatter < _SCATTER * (spread @ spread) else values.mean())


def _motion(segment: Segment, robot: Robot) -> tuple[float, float]:
    """Returns vx and omega at the start of a segment; 0 if the log lacks them."""
    vx = omega = 0.0

    def first(name: str, column: str) -> float | None:
        stream: Stream | None = segment.log.stream(name)
        if stream is None or column not in stream.columns:
            return None
        own = stream.between(segment.start, segment.start + 0.2)
        return at_start(own.time - segment.start, own.column(column)) if len(own.time) else None

    left, right = first("wheel_speed", "left"), first("wheel_speed", "right")
    if left is not None and right is not None:
        vx, omega = (left + right) / 2, (right - left) / robot.track
    for name, column in (("odometry", "vx"), ("velocity", "vx")):
        vx = found if (found := first(name, column)) is not None else vx
    for name in ("odometry", "gyro"):
        omega = found if (found := first(name, "omega")) is not None else omega
    still = 0.02  # m/s and rad/s
    return (0.0 if abs(vx) < still else vx), (0.0 if abs(omega) < still else omega)
