"""Fits a vehicle file to logs of the real robot, and reports the uncertainty and the remaining errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from mvsim_gym.identify.figures import Figures, figures_of, kinematic_figures
from mvsim_gym.identify.fit import (
    Optimum,
    covariance,
    inflation,
    loss,
    minimise,
    profile,
    spread_starts,
    untold,
    weights_of,
)
from mvsim_gym.identify.log import Array, Log, LogError, Offset, align
from mvsim_gym.identify.measure import SensorNoise, noise_of
from mvsim_gym.identify.parameters import DEFAULTS, parameter
from mvsim_gym.identify.problem import Problem, build
from mvsim_gym.identify.robot import Robot

_STARTS = 64  # points of the global stage
_DESCENTS = 2  # best points from which least squares starts, in addition to the nominal one
# shares of the range between the bounds: margin of a start, radius of points near the nominal one
_INSIDE, _NEAR = 0.1, 0.3
_FEW_ROUNDS = 4  # rounds of least squares from each start
# Resolution of ratios: rollouts differ by this much with the alignment of commands and time steps.
_RESOLUTION = 0.003
_ROUGH = 1e-2  # relative change of the cost at which the rough descents end


@dataclass(frozen=True)
class Fitted:
    name: str
    unit: str
    nominal: float
    value: float
    low: float
    high: float

    def line(self, width: int) -> str:
        unit = f" {self.unit}" if self.unit else ""
        return f"{self.name:{width}}  {self.value:.5g}{unit}  [{self.low:.5g}, {self.high:.5g}]  was {self.nominal:.5g}"


@dataclass(frozen=True)
class Comparison:
    """Errors of a robot against logs, without a fit."""

    problem: Problem
    figures: Figures
    kinematic: Figures
    offsets: Sequence[Offset]
    notes: Sequence[str]
    noise: Sequence[SensorNoise]

    def report(self) -> list[str]:
        lines = [offset.line() for offset in self.offsets] + list(self.notes)
        lines += self.figures.lines()
        if self.kinematic.errors:
            lines.append("ideal kinematic model, nominal track and radius:")
            lines += self.kinematic.lines()
        return lines + [item.line() for item in self.noise]


@dataclass(frozen=True)
class Identified:
    robot: Robot
    problem: Problem
    fitted: Mapping[str, Fitted]
    untold: Mapping[str, str]
    """Parameters that the log does not determine, with the reason; they keep their nominal values"""
    correlation: Array
    """(p, p) correlations of the fitted parameters, in their order"""
    before: Figures
    after: Figures
    """Errors on the held-out windows, for the nominal and the fitted robot"""
    kinematic: Figures
    fit_before: Figures
    fit_after: Figures
    """Errors on the fitted windows"""
    offsets: Sequence[Offset]
    notes: Sequence[str]
    noise: Sequence[SensorNoise]
    ends: Sequence[float] = field(default_factory=list)
    """Costs at the end of least squares from each start"""

    @property
    def values(self) -> dict[str, float]:
        return {**self.problem.fixed, **{name: item.value for name, item in self.fitted.items()}}

    @property
    def is_better(self) -> bool:
        """Whether its errors on the held-out windows are smaller than those of the nominal robot."""
        return self.after.mean_ratio(self.before) < 1.0

    def report(self) -> list[str]:
        lines = [offset.line() for offset in self.offsets] + list(self.notes)
        width = max((len(name) for name in [*self.fitted, *self.untold]), default=0)
        lines.append("fitted, with intervals that hold together at 95 %:")
        lines += [item.line(width) for item in self.fitted.values()]
        for name, item in self.fitted.items():
            low, high = parameter(name).bounds(item.nominal)
            if min(abs(item.value - low), abs(item.value - high)) < 1e-3 * (high - low):
                lines.append(f"{name} ends at a bound of the search, {low:g} to {high:g}")
        for name, reason in self.untold.items():
            lines.append(f"{name:{width}}  not identifiable from this log: {reason}")
        names = list(self.fitted)
        for i, a in enumerate(names):
            for k, b in enumerate(names[:i]):
                if abs(self.correlation[i, k]) > 0.8:
                    lines.append(f"correlated: {b} and {a}, {self.correlation[i, k]:+.2f}")
        lines.append("errors on held-out windows:")
        lines += self.after_lines()
        if self.kinematic.errors:
            lines.append("ideal kinematic model, nominal track and radius:")
            lines += self.kinematic.lines()
        lines.append("errors on fitted windows:")
        lines += self.fit_before.lines(self.fit_after)
        return lines + [item.line() for item in self.noise]

    def after_lines(self) -> list[str]:
        return self.before.lines(self.after)


def _aligned(logs: Sequence[Log], robot: Robot) -> tuple[list[Log], list[Offset], list[SensorNoise]]:
    out, offsets, noise = [], [], []
    for log in logs:
        shifted, found = align(log, robot.track)
        out.append(shifted)
        offsets += [replace(o, stream=f"{log.name}: {o.stream}") for o in found]
        noise += [
            replace(item, name=f"{log.name}: {item.name}")
            for stream in ("gyro", "acceleration")
            for item in noise_of(shifted, stream)
        ]
    return out, offsets, noise


def compare(
    robot: Robot,
    logs: Sequence[Log],
    *,
    values: Mapping[str, float] | None = None,
    window: float = 10.0,
    threads: int | None = None,
) -> Comparison:
    """Returns the errors of an unchanged robot against logs.

    Args:
        values: of parameters, instead of those of the file.
        window: s over which a rollout is compared as one piece.

    Raises:
        LogError: the logs cannot be simulated or compared.
    """
    aligned, offsets, noise = _aligned(logs, robot)
    problem, lines = build(robot, aligned, [], held_out=0, window=window, threads=threads)
    figures = figures_of(problem, values or {}, held_out=False)
    notes = [note for log in aligned for note in log.notes] + lines
    return Comparison(problem, figures, kinematic_figures(problem, held_out=False), offsets, notes, noise)


def identify(
    robot: Robot,
    logs: Sequence[Log],
    parameters: Sequence[str] | None = None,
    *,
    held_out_logs: Sequence[Log] = (),
    held_out: float = 1 / 3,
    fixed: Mapping[str, float] | None = None,
    streams: Sequence[str] | None = None,
    window: float = 10.0,
    starts: int = _STARTS,
    threads: int | None = None,
    seed: int = 0,
) -> Identified:
    """Fits the parameters of a robot to logs.

    Args:
        parameters: names of the parameters to fit (`PARAMETERS` has all); None: those of `DEFAULTS` that the robot has.
        held_out_logs: logs that are only compared. Without them a share `held_out` of the windows is held out.
        fixed: values of parameters that are known otherwise.
        streams: the streams to fit; None: all but accelerations.
        window: s over which poses are compared as one piece.
        starts: number of points of the global stage.
        seed: seed of these points.

    Raises:
        ValueError: a parameter is unknown, or the robot lacks it.
        LogError: the logs cannot be simulated or compared.
    """
    asked = list(parameters) if parameters is not None else _defaults(robot)
    for name in [*asked, *(fixed or {})]:
        if robot.nominal(parameter(name)) is None:
            raise ValueError(
                f"parameter '{name}': this robot has none, expected one of {', '.join(robot.known())}"
            )
    every, offsets, noise = _aligned([*logs, *held_out_logs], robot)
    problem, lines = build(
        robot,
        every[: len(logs)],
        asked,
        held_out_logs=every[len(logs) :],
        held_out=held_out,
        streams=streams,
        window=window,
        threads=threads,
    )
    problem = problem.only(asked, fixed or {})
    notes = [note for log in every for note in log.notes] + lines
    best, unknown, problem, ends = _search(problem, starts, seed)
    known, correlation = _intervals_and_correlations(problem, best)
    values = problem.values(best.scaled)
    fitted = {
        name: Fitted(
            name,
            parameter(name).unit,
            float(nominal),
            values[name],
            *known[name],
        )
        for name, nominal in zip(problem.names, problem.nominal, strict=True)
    }
    start = {**(fixed or {})}
    rollouts = problem.driver.run([start, values])
    return Identified(
        robot,
        problem,
        fitted,
        unknown,
        correlation,
        figures_of(problem, start, True, rollouts[0]),
        figures_of(problem, values, True, rollouts[1]),
        kinematic_figures(problem),
        figures_of(problem, start, False, rollouts[0]),
        figures_of(problem, values, False, rollouts[1]),
        offsets,
        notes,
        noise,
        ends,
    )


def _defaults(robot: Robot) -> list[str]:
    own = [name for name in DEFAULTS if robot.nominal(parameter(name)) is not None]
    if robot.wheel_driven:
        own = [name for name in own if name in ("track", "mu", "C_rr")]
    return own


def _search(problem: Problem, starts: int, seed: int) -> tuple[Optimum, dict[str, str], Problem, list[float]]:
    """Returns the optimum over the parameters that the log determines, the others with reasons, and the problem of the
    former with adjusted weights of streams."""
    low, high = problem.bounds()
    # Starts lie inside of the bounds, because least squares may get stuck at them.
    nominal = np.clip(np.zeros(len(low)), low + _INSIDE * (high - low), high - _INSIDE * (high - low))
    rough = problem.rough()
    points = [nominal]
    if starts > 1 and len(low):
        spread = spread_starts(low, high, starts, seed)
        spread[::2] = nominal + _NEAR * (spread[::2] - nominal)  # Most robots differ little from their file.
        points += list(spread)
    costs = loss(rough.residuals(np.array(points)))
    order = [0, *(int(i) for i in np.argsort(costs) if i != 0)][: 1 + (_DESCENTS if starts > 1 else 0)]

    def descend(from_: Problem, start: Array, rounds: int, settled: float) -> Optimum:
        return minimise(from_.residuals, [start], low, high, from_.steps(), rounds, settled)

    optima = [descend(rough, points[i], _FEW_ROUNDS, _ROUGH) for i in order]
    best = min(optima, key=lambda o: o.cost)
    best = descend(rough, best.scaled, 3 * _FEW_ROUNDS, _ROUGH)
    rough = _reweighted(rough, best)
    problem = replace(problem, sigmas=rough.sigmas, _windows_of=[])
    best = descend(problem, best.scaled, 3 * _FEW_ROUNDS, _ROUGH / 10)
    unknown = dict(untold(best, low, high, problem.names))
    if unknown:
        left = [name for name in problem.names if name not in unknown]
        if not left:
            raise LogError(
                "this log determines none of the parameters: "
                + "; ".join(f"{name}: {reason}" for name, reason in unknown.items())
            )
        kept = [problem.names.index(name) for name in left]
        problem = problem.only(left, {})
        low, high = low[kept], high[kept]
        best = minimise(problem.residuals, [best.scaled[kept]], low, high, problem.steps())
    problem = _reweighted(problem, best)
    best = minimise(problem.residuals, [best.scaled], low, high, problem.steps())
    return best, unknown, problem, [o.cost for o in optima]


def _reweighted(problem: Problem, best: Optimum) -> Problem:
    """Returns the problem with streams weighted by their actual residuals and by the autocorrelation of their
    samples."""
    values = problem.values(best.scaled)
    plain = replace(problem, sigmas=problem.noise, _windows_of=[])
    factors = inflation(plain.by_stream(values, problem.driver.run([values])[0]))
    sigmas = {name: sigma * np.sqrt(factors[name]) for name, sigma in problem.noise.items()}
    return replace(problem, sigmas=sigmas, _windows_of=[])


def _intervals_and_correlations(
    problem: Problem, best: Optimum
) -> tuple[dict[str, tuple[float, float]], Array]:
    """Returns intervals by name, and correlations. Intervals are widened by the change that a control period of twice
    the length would cause."""
    low, high = problem.bounds()
    knowledge = profile(problem.residuals, best, low, high)
    coarse = problem.rough().residuals(best.scaled[None])[0] - best.residuals
    weights = weights_of(best.residuals)
    gradient = (best.jacobian * weights[:, None]).T @ (coarse * weights)
    more = np.abs(covariance(best, low, high) @ gradient)
    ends = {}
    for i, name in enumerate(problem.names):
        row, nominal = parameter(name), float(problem.nominal[i])
        more[i] += _RESOLUTION if row.logarithmic else 0.0
        ends[name] = (
            row.from_scaled(float(max(knowledge.low[i] - more[i], low[i])), nominal) - row.resolution,
            row.from_scaled(float(min(knowledge.high[i] + more[i], high[i])), nominal) + row.resolution,
        )
    return ends, knowledge.correlation
