"""Results of PPO in every environment, over several seeds, for the tables of docs/baselines.md.

    python examples/learned.py --env mvsim/IceDrive-v0 --seeds 0 1 2
    python examples/learned.py --env all --seeds 0 1 2 3 4 --json benchmarks/results/baselines.json

Each run is one of train_ppo.py with the recipe of its environment, into runs/<env>-seed<seed>. Runs whose metrics.json
lies there are taken as they are, so what was interrupted goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
from baselines import BASELINES, DUELS, policies
from duel_evaluation import evaluate_duel
from evaluation import HELD_OUT_SEEDS, Result
from recipes import recipe_of
from report import file_name
from run_folder import CHECKPOINT
from stable_baselines3 import PPO
from task import Task

HERE = Path(__file__).resolve().parent
KEPT = ("success", "failures", "time", "spl", "return", "length", "episodes", "all", "makespan")


def run(env: str, seed: int, folder: Path, options: list[str]) -> Result:
    """The metrics of a run, made where they are not there yet."""
    path = folder / "metrics.json"
    if not path.exists() or json.loads(path.read_text()).get("interrupted"):
        command = [sys.executable, str(HERE / "train_ppo.py")]
        if (folder / CHECKPOINT).exists():
            command += ["--resume", str(folder)]
        elif path.exists():
            sys.exit(f"{folder}: an interrupted run without a checkpoint, which cannot go on: remove it")
        else:
            command += ["--env", env, "--seed", str(seed), "--out", str(folder), *options]
        subprocess.run([*command, "--no-baselines", "--no-video"], check=True)
    return dict(json.loads(path.read_text()))


def median_run(runs: list[Result]) -> int:
    """Which run has the median success; of an even number the lower one of the two in the middle."""
    return int(np.argsort([row["success"] for row in runs], kind="stable")[(len(runs) - 1) // 2])


def summary(runs: list[Result]) -> dict[str, Any]:
    """The run with the median success, and what the others add: the spread of successes, medians of costs."""
    row = runs[median_run(runs)]
    to_95 = [run["steps_to_95"] for run in runs]
    return {
        **{key: row[key] for key in KEPT if key in row},
        "successes": [run["success"] for run in runs],
        "seeds": [run["seed"] for run in runs],
        "steps": row["steps"],
        "steps_to_95": None if None in to_95 else float(np.median(to_95)),
        "processor_seconds": float(np.median([run["processor_seconds"] for run in runs])),
    }


def duels(env: str, model: Path, seeds: list[int]) -> dict[str, Result]:
    """Races of a learned driver against each scripted one."""
    recipe = recipe_of(env)
    driver = Task(env, recipe.keywords).greedy_policy(PPO.load(model, device="cpu"))
    return {
        f"PPO against {name}": evaluate_duel(env, driver, drive, seeds, **recipe.keywords)
        for name, drive in policies(env).items()
    }


def save(path: Path, env: str, learned: dict[str, Any]) -> None:
    """Puts what was learned into a file of results, beside what the scripts reach."""
    results = json.loads(path.read_text()) if path.exists() else {}
    results.setdefault(env, {"policies": {}})["learned"] = learned
    path.write_text(json.dumps(dict(sorted(results.items())), indent=1) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--env", default="all", choices=[*BASELINES, "all"])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0], metavar="SEED")
    parser.add_argument("--runs", type=Path, default=Path("runs"), metavar="FOLDER")
    parser.add_argument("--json", type=Path, metavar="FILE", help="put the results into this file, too")
    args, options = parser.parse_known_args()  # others go on to train_ppo.py
    for env in BASELINES if args.env == "all" else [args.env]:
        folders = [args.runs / f"{file_name(env)}-seed{seed}" for seed in args.seeds]
        runs = [run(env, seed, out, options) for seed, out in zip(args.seeds, folders, strict=True)]
        learned = summary(runs)
        if env in DUELS:
            model = folders[median_run(runs)] / "model.zip"
            learned["duels"] = duels(env, model, HELD_OUT_SEEDS[: learned["episodes"]])
        rates = ", ".join(f"{100 * rate:.1f}" for rate in sorted(learned["successes"]))
        print(f"{env}: success {100 * learned['success']:.1f} % (of seeds: {rates})", flush=True)
        if args.json:
            save(args.json, env, learned)


if __name__ == "__main__":
    main()
