"""The C++ programs of benchmarks/: runs them and collects the rows that they print. ./dev bench builds them."""

from __future__ import annotations

import json
import subprocess
from functools import cache

from figure import ROOT

FOLDER = ROOT / "build" / "dev"


@cache
def printed(program: str, option: str, runs: int) -> dict[str, tuple[str, list[float]]]:
    """All rows of a program, called with the words of `option`: name -> unit and a value a run."""
    rows: dict[str, tuple[str, list[float]]] = {}
    for _ in range(runs):
        command = [str(FOLDER / program), *option.split()]
        text = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout
        for row in map(json.loads, text.splitlines()):
            rows.setdefault(row["name"], (row["unit"], []))[1].append(row["value"])
    return rows
