"""Common parts of all figures: a row of the results file, the settings of a run, and the registry."""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
WORLDS = HERE / "worlds"


@dataclass
class Row:
    """One figure: the median of its runs, and what exactly was measured."""

    name: str
    unit: str
    config: dict[str, Any]
    runs: list[float]
    value: float = field(init=False)

    def __post_init__(self) -> None:
        self.value = statistics.median(self.runs)


@dataclass(frozen=True)
class Settings:
    """How long to measure. `quick` only shows that every figure still runs."""

    quick: bool = False
    threads: int = 2

    @property
    def runs(self) -> int:
        return 2 if self.quick else 5

    @property
    def seconds(self) -> float:
        return 0.2 if self.quick else 2.0


Measure = Callable[[Settings], "Row | list[Row]"]
FIGURES: dict[str, Measure] = {}


def figure(name: str) -> Callable[[Measure], Measure]:
    """Registers a function that measures the row `name`, or a family of rows."""

    def register(measure: Measure) -> Measure:
        FIGURES[name] = measure
        return measure

    return register


def rate(advance: Callable[[], int], seconds: float) -> float:
    """Steps per second: calls `advance`, which returns how many it made, until the time is up."""
    steps, began = 0, time.perf_counter()
    while (elapsed := time.perf_counter() - began) < seconds:
        steps += advance()
    return steps / elapsed


def rates(advance: Callable[[], int], settings: Settings) -> list[float]:
    """One rate a run, after a warm-up."""
    rate(advance, min(0.5, settings.seconds))
    return [rate(advance, settings.seconds) for _ in range(settings.runs)]


def in_fresh_process(code: str) -> Any:
    """Runs Python code that prints JSON in a new process."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=ROOT)
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


# -- the results file


def machine() -> str:
    """The processor's name, as Linux tells it."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def commit() -> str:
    def git(*words: str) -> str:
        return subprocess.run(
            ["git", *words], capture_output=True, text=True, cwd=ROOT, check=True
        ).stdout.strip()

    try:
        changed = git("status", "--porcelain", "--untracked-files=no", "--", ".", ":!benchmarks/results")
        return git("rev-parse", "--short=12", "HEAD") + ("+changes" if changed else "")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def write(path: Path, rows: list[Row]) -> None:
    """Writes the rows into the file. Rows of this machine that were not measured again stay, with their commit."""
    stamp = {"date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "commit": commit()}
    head = {"machine": machine(), "cores": len(os.sched_getaffinity(0)), **stamp}
    kept: dict[str, Any] = {}
    if path.exists():
        old = json.loads(path.read_text())
        if all(old.get(key) == head[key] for key in ("machine", "cores")):
            kept = {row["name"]: row for row in old["rows"]}
    kept.update({row.name: {**asdict(row), **stamp} for row in rows})
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({**head, "rows": list(kept.values())}, indent=1) + "\n")
