"""What an environment can randomise: the parameters of its simulation."""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mvsim_gym._build import one_world
from mvsim_gym.registration import Named

__all__ = ["Parameter", "parameters_of", "table_of"]


@dataclass(frozen=True)
class Parameter:
    """One number of the simulation that `<randomize of=path>` draws."""

    path: str
    nominal: float
    """Its value in the world file; what `scale` multiplies. Of a choice, the index of its name."""
    low: float
    high: float
    unit: str
    """"deg" for angles, else SI; "" for a share, a factor or a count."""
    choices: tuple[str, ...] = ()
    """The names that `value` may have instead of a number."""


def parameters_of(env: Named, **overrides: Any) -> list[Parameter]:
    """All parameters of an environment, of one agent or several, in the order of its world.

    Args:
        env: path of an environment file, or what `gymnasium.make` takes.
        overrides: as for `mvsim_gym.VectorEnv`, `roots` and `memory_limit` among them.

    Raises:
        TypeError, WorldFileError: as for `mvsim_gym.VectorEnv`.
    """
    found = one_world(env, **overrides).model(0).parameters
    return [
        Parameter(path, nominal, low, high, unit, tuple(choices))
        for path, nominal, low, high, unit, choices in found
    ]


def table_of(parameters: Sequence[Parameter], pattern: str = "*") -> list[str]:
    """Lines of a table of those whose path matches.

    Raises:
        ValueError: none does.
    """
    rows = [("parameter", "nominal", "range", "unit")]
    for p in parameters:
        if not fnmatch.fnmatchcase(p.path, pattern):
            continue
        if p.choices:
            rows.append((p.path, p.choices[int(p.nominal)], " | ".join(p.choices), ""))
        else:
            rows.append((p.path, f"{p.nominal:.6g}", f"{p.low:g} to {p.high:g}", p.unit))
    if len(rows) == 1:
        raise ValueError(f"no parameter matches '{pattern}'")
    widths = [max(len(row[i]) for row in rows) for i in range(4)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]
