"""Information of a log about the parameters: intervals (profile likelihood), correlations, and parameters that it does
not determine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mvsim_gym._notices import extra
from mvsim_gym.identify.fit import Optimum, Residuals, loss, weights_of
from mvsim_gym.identify.log import Array

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
