"""The fit: a global stage, then least squares from its best points. All rollouts of a round run in one batch. Then the
information of a log about the parameters: intervals (profile likelihood), correlations, and parameters that it does not
determine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mvsim_gym._notices import extra
from mvsim_gym.identify.log import Array

with extra("identify", "identify"):
    from scipy.stats import qmc

Residuals = Callable[[Array], Array]
"""Function from k vectors of p scaled parameters, (k, p), to their m residuals, (k, m), in units of the noise."""

_DAMPINGS = np.array([1e-3, 1e-1, 1.0, 10.0, 100.0])
_ROUNDS = 25
_SETTLED = 1e-5  # relative change of the cost at which a descent ends
# change of the sum of squares of unit variance: no parameter moves by a quarter of its deviation
_SETTLED_COST = 0.05
_SMALL_STEP = 1e-5  # in scaled parameters
_ROBUST = 9.0  # residual, in units of noise times the median residual, beyond which Huber's loss is linear


@dataclass(frozen=True)
class Optimum:
    scaled: Array
    cost: float
    """Sum of squares"""
    residuals: Array
    jacobian: Array
    rounds: int


def spread_starts(low: Array, high: Array, count: int, seed: int) -> Array:
    """Returns (count, p) points of a Sobol sequence within bounds."""
    points = qmc.Sobol(len(low), seed=seed).random(count)
    return low + points * (high - low)


def jacobian(residuals: Residuals, at: Array, steps: Array, low: Array, high: Array) -> tuple[Array, Array]:
    """Returns residuals at a point and their (m, p) derivatives, by central differences, which are one-sided at
    bounds."""
    up, down = np.minimum(at + steps, high), np.maximum(at - steps, low)
    points = [at]
    for i in range(len(at)):
        points += [_with_value_at(at, i, up[i]), _with_value_at(at, i, down[i])]
    found = residuals(np.array(points))
    columns = [(found[1 + 2 * i] - found[2 + 2 * i]) / max(up[i] - down[i], 1e-12) for i in range(len(at))]
    return found[0], np.column_stack(columns)


def _with_value_at(point: Array, index: int, value: float) -> Array:
    out = point.copy()
    out[index] = value
    return out


def weights_of(residuals: Array) -> Array:
    """Returns the square roots of the weights of Huber's loss: large residuals count linearly."""
    size = np.abs(residuals)
    limit = _ROBUST * max(1.0, float(np.median(size)))
    return np.where(size <= limit, 1.0, np.sqrt(limit / np.maximum(size, limit)))


def loss(residuals: Array) -> Array:
    """Returns the sum of squares over the last axis, with Huber's loss for large residuals."""
    found = [float((weights_of(r) * r) @ (weights_of(r) * r)) for r in np.atleast_2d(residuals)]
    return np.array(found)


def minimise(
    residuals: Residuals,
    starts: Sequence[Array],
    low: Array,
    high: Array,
    steps: Array,
    rounds: int = _ROUNDS,
    settled: float = _SETTLED,
) -> Optimum:
    """Returns the best end point of Levenberg-Marquardt descents from several starts. Each round tries several dampings
    in one batch.

    Args:
        steps: (p,) steps of finite differences.
        settled: relative change of the cost at which a descent ends.
    """
    best: Optimum | None = None
    for start in starts:
        found = _descend(residuals, np.clip(start, low, high), low, high, steps, rounds, settled)
        if best is None or found.cost < best.cost:
            best = found
    assert best is not None
    return best


def _descend(
    residuals: Residuals,
    at: Array,
    low: Array,
    high: Array,
    steps: Array,
    rounds: int,
    settled: float,
) -> Optimum:
    scale = 1.0
    r, j = jacobian(residuals, at, steps, low, high)
    cost = float(loss(r)[0])
    done = 0
    while done < rounds:
        done += 1
        w = weights_of(r)[:, None]
        jw, rw = j * w, r * w[:, 0]
        gradient, hessian = jw.T @ rw, jw.T @ jw
        free = ~(((at <= low + 1e-12) & (gradient > 0)) | ((at >= high - 1e-12) & (gradient < 0)))
        if not free.any():
            break
        h = hessian[np.ix_(free, free)]
        size = np.diag(np.maximum(np.diag(h), 1e-9 * max(float(np.trace(h)), 1e-12)))
        tries = np.tile(at, (len(_DAMPINGS), 1))
        for k, damping in enumerate(_DAMPINGS):
            move = np.linalg.solve(h + scale * damping * size, -gradient[free])
            # limits one move to a factor of two
            tries[k, free] += move * min(1.0, 0.7 / max(float(np.abs(move).max()), 1e-12))
        tries = np.clip(tries, low, high)
        costs = loss(residuals(tries))
        k = int(np.argmin(costs))
        if not costs[k] < cost:
            if scale > 1e4:
                break
            scale *= 1e3
            continue
        scale = max(1e-3, scale * (0.1 if k == 0 else 10.0 if k == len(_DAMPINGS) - 1 else 1.0))
        moved, gain = float(np.abs(tries[k] - at).max()), (cost - costs[k]) / max(cost, 1e-12)
        at, cost = tries[k], float(costs[k])
        r, j = jacobian(residuals, at, steps, low, high)
        if gain * cost < _SETTLED_COST or gain < settled or moved < _SMALL_STEP:
            break
    return Optimum(at, cost, r, j, done)


with extra("identify", "identify"):
    from scipy.stats import norm

_CONFIDENCE = 0.95
_UNTOLD = 0.25  # largest deviation of a determined parameter, as a share of the range between its bounds
_CORRELATED = 0.98  # correlation beyond which only one of two parameters is fitted
_MOST_LAGS = 200


@dataclass(frozen=True)
class Knowledge:
    """Scaled parameters: intervals and correlations."""

    low: Array
    high: Array
    correlation: Array


def inflation(streams: Mapping[str, Array]) -> dict[str, Array]:
    """Returns the factor on the variance of the residuals by stream, (columns,). It corrects for correlated samples
    (integrated autocorrelation time) and for noise that is larger than assumed. White noise of the assumed size has
    1."""
    out = {}
    for name, residuals in streams.items():
        factors = []
        for column in residuals.T:
            n = len(column)
            variance = float(np.mean(column**2))
            if n < 8 or variance <= 0:
                factors.append(max(1.0, variance))
                continue
            size = 1 << int(np.ceil(np.log2(2 * n)))
            spectrum = np.fft.rfft(column, size)
            lags = np.fft.irfft(np.abs(spectrum) ** 2, size)[: min(_MOST_LAGS, n // 4)] / (n * variance)
            # sum up to the first pair of lags that is negative (Geyer 1992, initial positive sequence)
            total = 1.0
            for k in range(1, len(lags) - 1, 2):
                pair = float(lags[k] + lags[k + 1])
                if pair <= 0:
                    break
                total += 2 * pair
            factors.append(max(1.0, variance) * total)
        out[name] = np.array(factors)
    return out


def covariance(optimum: Optimum, low: Array, high: Array) -> Array:
    """Returns the (p, p) covariance of the scaled parameters. A weak prior as wide as the bounds keeps it finite where
    the log has no information."""
    w = weights_of(optimum.residuals)[:, None]
    jw = optimum.jacobian * w
    prior = np.diag(1 / (high - low) ** 2)
    found: Any = np.linalg.inv(jw.T @ jw + prior)
    return np.asarray(found, float)


def untold(optimum: Optimum, low: Array, high: Array, names: Sequence[str]) -> list[tuple[str, str]]:
    """Returns the parameters that the log does not determine, worst first, each with a reason. They are removed one by
    one until the others are determined."""
    left = list(range(len(names)))
    out: list[tuple[str, str]] = []
    w = weights_of(optimum.residuals)[:, None]
    jw = optimum.jacobian * w
    while left:
        j = jw[:, left]
        width = (high - low)[left]
        prior = np.diag(1 / width**2)
        cov = np.linalg.inv(j.T @ j + prior)
        deviation = np.sqrt(np.diag(cov))
        alone = 1 / np.sqrt(np.einsum("ij,ij->j", j, j) + 1 / width**2)
        share = deviation / width
        worst = int(np.argmax(share))
        if share[worst] < _UNTOLD:
            break
        name = names[left[worst]]
        if alone[worst] / width[worst] >= _UNTOLD:
            reason = "nothing in this log depends on it"
        else:
            correlation = np.abs(cov[worst] / (deviation * deviation[worst]))
            correlation[worst] = 0
            partner = names[left[int(np.argmax(correlation))]]
            reason = f"its effect is that of {partner} (correlation {correlation.max():.3f})"
        out.append((name, reason))
        del left[worst]
    return out


def profile(
    residuals: Residuals,
    optimum: Optimum,
    low: Array,
    high: Array,
    confidence: float = _CONFIDENCE,
    rounds: int = 3,
) -> Knowledge:
    """Returns intervals that hold jointly with the confidence (Bonferroni). At their ends the cost, minimised over all
    other parameters, exceeds the optimum's by the quantile of chi squared.

    Args:
        residuals: scaled so that they have variance 1 and are uncorrelated.
    """
    p = len(low)
    cov = covariance(optimum, low, high)
    deviation = np.sqrt(np.diag(cov))
    z = float(norm.ppf(1 - (1 - confidence) / (2 * p)))
    w = weights_of(optimum.residuals)[:, None]
    hessian = (optimum.jacobian * w).T @ (optimum.jacobian * w)
    reach = np.full((2, p), z) * deviation
    for _ in range(rounds):
        points = []
        for side in range(2):
            for i in range(p):
                move = cov[:, i] / cov[i, i] * reach[side, i] * (1 if side else -1)
                points.append(np.clip(optimum.scaled + move, low, high))
        found = residuals(np.array(points))
        costs = loss(found)
        for n, cost in enumerate(costs):
            side, i = divmod(n, p)
            others = [k for k in range(p) if k != i]
            drop = 0.0
            if others:  # further gain from the other parameters, by the quadratic model
                gradient = (optimum.jacobian * w).T @ (found[n] * w[:, 0])
                h = hessian[np.ix_(others, others)] + 1e-9 * np.eye(p - 1)
                drop = float(gradient[others] @ np.linalg.solve(h, gradient[others]))
            rise = max(float(cost) - optimum.cost - drop, 1e-3)
            reach[side, i] *= float(np.clip(np.sqrt(z * z / rise), 0.4, 2.5))
            reach[side, i] = max(reach[side, i], 0.3 * z * deviation[i])
    ends = np.clip(optimum.scaled - reach[0], low, high), np.clip(optimum.scaled + reach[1], low, high)
    return Knowledge(*ends, cov / np.outer(deviation, deviation))
