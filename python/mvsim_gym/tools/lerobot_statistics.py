"""Statistics of the columns of a LeRobot data set, by episode and of all episodes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Found = Mapping[str, Mapping[str, Any]]
"""By column and by name of the statistic: nested lists of numbers."""

_QUANTILES = {"q01": 0.01, "q10": 0.1, "q50": 0.5, "q90": 0.9, "q99": 0.99}
_MOST_PICTURES = 100  # of an episode, evenly spaced, whose values are counted


def statistics_of(values: Array, is_picture: bool = False) -> dict[str, Any]:
    """Returns min, max, mean, std, count and quantiles of a column, in the shapes that LeRobot expects.

    Vectors have statistics of each component, pictures (n, height, width, 3) of each channel, scaled to [0, 1] and of
    the shape (3, 1, 1). Other arrays have those of all their values, of the shape (1,), which LeRobot broadcasts.
    """
    if values.ndim > 2:
        values = values[np.unique(np.linspace(0, len(values) - 1, _MOST_PICTURES).astype(int))]
    count = len(values)
    rows = values.reshape(-1, 3) / 255.0 if is_picture else values.reshape(count, -1).astype(np.float64)
    if values.ndim > 2 and not is_picture:
        rows = rows.reshape(-1, 1)
    quantiles = np.quantile(rows, list(_QUANTILES.values()), axis=0)
    found = {
        "min": rows.min(axis=0),
        "max": rows.max(axis=0),
        "mean": rows.mean(axis=0),
        "std": rows.std(axis=0),
        **dict(zip(_QUANTILES, quantiles, strict=True)),
    }
    shaped = {k: v.reshape(3, 1, 1) if is_picture else v for k, v in found.items()}
    return {**{k: v.tolist() for k, v in shaped.items()}, "count": [count]}


class Statistics:
    """The statistics of all episodes, from those of each. The mean and the deviation are exact, the quantiles are the
    weighted means of those of the episodes, as LeRobot combines them."""

    def __init__(self) -> None:
        self._of: dict[str, dict[str, Array]] = {}

    def add(self, found: Found) -> None:
        for key, each in found.items():
            new = {name: np.array(value, np.float64) for name, value in each.items()}
            self._of[key] = _both(self._of[key], new) if key in self._of else new

    def result(self) -> dict[str, dict[str, Any]]:
        return {
            key: {name: [int(v[0])] if name == "count" else v.tolist() for name, v in each.items()}
            for key, each in self._of.items()
        }


def _both(a: Mapping[str, Array], b: Mapping[str, Array]) -> dict[str, Array]:
    """Returns the statistics of two sets of rows together (Chan, Golub, LeVeque 1979 for the deviation)."""
    count = a["count"] + b["count"]
    share = b["count"][0] / count[0]
    apart = b["mean"] - a["mean"]
    variance = (1 - share) * a["std"] ** 2 + share * b["std"] ** 2 + share * (1 - share) * apart**2
    return {
        "min": np.minimum(a["min"], b["min"]),
        "max": np.maximum(a["max"], b["max"]),
        "mean": a["mean"] + share * apart,
        "std": np.sqrt(variance),
        **{name: (1 - share) * a[name] + share * b[name] for name in _QUANTILES},
        "count": count,
    }
