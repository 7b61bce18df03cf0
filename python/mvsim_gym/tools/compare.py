"""The difference between two policies in the same held-out episodes: `mvsim-gym evaluate --compare`."""

from __future__ import annotations

import json
import math
from typing import Any

_Z = 1.959964  # quantile of the normal distribution for a 95 % interval
_KEYS = ("part", "seed", "agent")


def paired_rates(first: list[bool], second: list[bool]) -> tuple[float, float, float]:
    """Returns the second of two rates minus the first, and the limits of its 95 % interval.

    The interval for matched pairs of Agresti and Min (2005) is a Wald interval with half a pair more in each cell. So
    its width is above 0 even if all pairs agree.
    """
    n = len(first)
    gained = sum(b and not a for a, b in zip(first, second, strict=True))
    lost = sum(a and not b for a, b in zip(first, second, strict=True))
    middle = (gained - lost) / (n + 2)
    both = (gained + lost + 1) / (n + 2)
    half = _Z * math.sqrt(max(both - middle**2, 0) / (n + 2))
    return (gained - lost) / n, max(middle - half, -1), min(middle + half, 1)


def paired_mean(differences: list[float]) -> tuple[float, float, float]:
    """Returns the mean of differences and the limits of its 95 % interval, by the normal distribution."""
    n = len(differences)
    mean = math.fsum(differences) / n
    if n < 2:
        return mean, -math.inf, math.inf
    half = _Z * math.sqrt(math.fsum((d - mean) ** 2 for d in differences) / (n - 1) / n)
    return mean, mean - half, mean + half


def compare(first: str, second: str) -> list[str]:
    """Returns lines that say how much the second of two files of `evaluate --suite` differs from the first.

    Raises:
        OSError: a file cannot be read.
        ValueError: a file is not of this kind, or the two have other episodes or another environment.
    """
    a, b = _read(first), _read(second)
    for key, what in (("env", "environment"), ("env_sha256", "environment file")):
        if a[key] != b[key]:
            raise ValueError(
                f"--compare: found another {what} in '{second}' than in '{first}', expected the same"
            )
    rows, others = (
        {tuple(row[key] for key in _KEYS): row for row in result["episodes"]} for result in (a, b)
    )
    if rows.keys() != others.keys():
        raise ValueError(
            f"--compare: found other episodes in '{second}' than in '{first}', expected the same"
        )
    pairs = [(rows[key], others[key]) for key in rows]
    won = [(x, y) for x, y in pairs if x["success"] and y["success"]]
    lines = [f"{a['env']}: {b['policy']} less {a['policy']}, {len(pairs)} episodes, 95 % intervals"]
    rates = paired_rates([x["success"] for x, _ in pairs], [y["success"] for _, y in pairs])
    lines.append(_line("success", [100 * value for value in rates], 1, "percentage points"))
    if won:
        times = paired_mean([y["time"] - x["time"] for x, y in won])
        lines.append(_line("time", times, 2, f"s, of {len(won)} that both won"))
    lines.append(_line("return", paired_mean([y["return"] - x["return"] for x, y in pairs]), 2, ""))
    for key, scale in (("score_050", "0.5"), ("score_025", "0.25")):
        if key in pairs[0][0]:
            score = paired_mean([y[key] - x[key] for x, y in pairs])
            lines.append(_line("score", score, 3, f"BARN, scale to {scale}"))
    return lines


def _line(name: str, values: Any, digits: int, unit: str) -> str:
    mean, low, high = (f"{value:+.{digits}f}" for value in values)
    return f"{name:<12}{mean:>8}  ({low} to {high}) {unit}".rstrip()


def _read(path: str) -> dict[str, Any]:
    with open(path, encoding="utf-8") as file:
        try:
            result = json.load(file)
        except ValueError as error:
            raise ValueError(f"--compare: '{path}' is no JSON: {error}") from None
    rows = result.get("episodes") if isinstance(result, dict) else None
    needed = {*_KEYS, "success", "time", "return"}
    if (
        not isinstance(rows, list)
        or not rows
        or not all(isinstance(row, dict) and needed <= row.keys() for row in rows)
        or not {"env", "env_sha256", "policy"} <= result.keys()
    ):
        raise ValueError(f"--compare: '{path}' is no file of mvsim-gym evaluate --suite -o FILE")
    return dict(result)
