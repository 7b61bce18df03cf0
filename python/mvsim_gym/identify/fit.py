"""The fit: a global stage, then least squares from its best points. All rollouts of a round run in one batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

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
    """The end point of least squares."""

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
