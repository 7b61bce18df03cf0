"""The parameters of a simulation that an environment can randomise."""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mvsim_gym._build import one_world
from mvsim_gym.registration import Named


@dataclass(frozen=True)
class Parameter:
    """A number of the simulation that `<randomize of=path>` draws."""

    path: str
    nominal: float
    """Value in the world file, which `scale` multiplies. For a choice, the index of its name."""
    low: float
    high: float
    unit: str
    """"deg" for angles, else the SI unit; "" for a share, a factor or a count."""
    choices: tuple[str, ...] = ()
    """Names that the parameter may have instead of a number."""


def parameters_of(env: Named, **overrides: Any) -> list[Parameter]:
    """Returns all parameters of an environment with one agent or several, in the order of its world.

    Args:
        env: path of an environment file, or an id as for `gymnasium.make`.
        overrides: keywords as for `mvsim_gym.VectorEnv`, also `roots` and `memory_limit`.

    Raises:
        TypeError, WorldFileError: as for `mvsim_gym.VectorEnv`.
    """
    found = one_world(env, **overrides).model(0).parameters
    return [
        Parameter(path, nominal, low, high, unit, tuple(choices))
        for path, nominal, low, high, unit, choices in found
    ]


def table_of(parameters: Sequence[Parameter], pattern: str = "*") -> list[str]:
    """Returns the lines of a table of the parameters whose path matches.

    Raises:
        ValueError: no path matches.
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
