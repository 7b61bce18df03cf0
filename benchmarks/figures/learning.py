"""The main job, five seeds: steps and seconds of training until 95 % of evaluations succeed, success at the end.

Takes about ten minutes; only measured when asked for (--learning, or --only with a name).
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from figure import ROOT, Row, Settings, figure

SEEDS = (0, 1, 2, 3, 4)
EPISODES = 5000
NAMES = ("navarena_steps_to_95", "navarena_seconds_to_95", "navarena_success")


@cache
def _metrics(quick: bool) -> list[dict[str, Any]]:
    """metrics.json of a default run for every seed."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for seed in SEEDS:
            output = Path(folder) / str(seed)
            command = [sys.executable, "examples/train_ppo.py", "--seed", str(seed), "--out", str(output)]
            command += ["--no-baselines", "--no-video", "--episodes", "50" if quick else str(EPISODES)]
            subprocess.run(command + (["--steps", "20000"] if quick else []), cwd=ROOT, check=True)
            found.append(json.loads((output / "metrics.json").read_text()))
    return found


def _row(name: str, unit: str, key: str, settings: Settings) -> Row:
    runs = [metrics[key] for metrics in _metrics(settings.quick)]
    config = {"work": "examples/train_ppo.py on mvsim/NavArena-v0, default run", "seeds": list(SEEDS)}
    if None in runs:
        raise RuntimeError(f"{name}: not reached by every seed: {runs}")
    return Row(name, unit, config, runs)


@figure("navarena_steps_to_95")
def navarena_steps_to_95(settings: Settings) -> Row:
    return _row("navarena_steps_to_95", "steps", "steps_to_95", settings)


@figure("navarena_seconds_to_95")
def navarena_seconds_to_95(settings: Settings) -> Row:
    return _row("navarena_seconds_to_95", "s", "seconds_to_95", settings)


@figure("navarena_success")
def navarena_success(settings: Settings) -> Row:
    return _row("navarena_success", "1", "success", settings)
