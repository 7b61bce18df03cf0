"""Laps of public race tracks from a standstill, by the rules of f1tenth_benchmarks, beside its published times.

    mvsim-gym import aut.yaml --centreline aut_centerline.csv -o tracks/aut.track.xml
    python examples/racing_line.py aut_centerline.csv -o aut_raceline.csv
    mvsim-gym import aut.yaml --centreline aut_raceline.csv -o racing/aut.track.xml
    python examples/track_laps.py --tracks tracks --racing racing --model PPO runs/aut/model.zip --json laps.json

Every driver drives ten laps of each track of the folder; those that follow a racing line drive the tracks of the folder
`racing`.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import numpy as np
from evaluation import Policy, Result, evaluate
from robot import Array, Observation, Robot
from stable_baselines3 import PPO
from task import Task
from track_policies import disparity_gap, racing_pursuit

from mvsim_gym.tools.options import combined
from mvsim_gym.tools.suite import suite_of

RACE = "mvsim/Race-v0"
# Lap times of the paper (arXiv 2402.18558) in s: a racing line with pure pursuit, and TD3.
PUBLISHED = {
    "racing line and pure pursuit": {"aut": 16.79, "esp": 35.92, "gbr": 31.24, "mco": 28.08},
    "TD3": {"aut": 19.94, "esp": 46.37, "gbr": 40.22, "mco": 34.93},
}
AHEAD = {"observe": {"centreline": {"points": 30, "spacing": 0.35}}}
BEAMS = {"rays": 540, "observe": {"scan": {"sectors": 270, "history": 1, "changes": False}}}
SLOW = racing_pursuit(0.2, 1.5, (0.45, 0.1))


def scripted(make: Callable[[Robot], Callable[[Observation], Array]]) -> Policy:
    robot = Robot(RACE)
    drive = make(robot)
    return lambda observation: robot.as_actions(drive(observation))


def laps(folder: Path, drive: Policy, keywords: dict[str, Any]) -> dict[str, Result]:
    """Ten laps of each track of a folder: success, mean time and the least time, s."""
    rows = {}
    for part in suite_of(RACE, str(folder)):
        seeds = range(part.seed, part.seed + part.episodes)
        found = [
            evaluate(RACE, drive, [seed], title=part.name, **combined(keywords, part.keywords))
            for seed in seeds
        ]
        times = [row["time"] for row in found if row["time"] is not None]
        rows[part.name] = {
            "success": len(times) / len(found),
            "time": float(np.mean(times)) if times else None,
            "least_time": min(times, default=None),
        }
    return rows


def learned(model: Path) -> tuple[Policy, dict[str, Any]]:
    """The driver of a model, and the keywords that it learned with but for its track."""
    network = PPO.load(model, device="cpu")
    keywords = {
        key: value for key, value in network.env_keywords.items() if key not in ("track", "tracks", "roots")
    }
    return Task(RACE, keywords).greedy_policy(network), keywords


def published(names: Collection[str]) -> dict[str, dict[str, Result]]:
    """The rows of the paper, of these tracks; it gives no rate."""
    return {
        f"published: {driver}": {
            name: {"success": None, "time": times[name]} for name in names if name in times
        }
        for driver, times in PUBLISHED.items()
    }


def table(rows: dict[str, dict[str, Result]]) -> str:
    """A Markdown table of mean times, with the rate of laps that end where it is below 100 %."""
    names = sorted({name for row in rows.values() for name in row})
    lines = [f"| driver | {' | '.join(names)} |", "|---" + "|---:" * len(names) + "|"]
    for driver, row in rows.items():
        lines.append(f"| {driver} | {' | '.join(_cell(row.get(name)) for name in names)} |")
    return "\n".join(lines)


def _cell(lap: Result | None) -> str:
    if lap is None or lap["time"] is None:
        return "-"
    rate = "" if lap["success"] in (1, None) else f" ({100 * lap['success']:.0f} %)"
    return f"{lap['time']:.2f}{rate}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--tracks", type=Path, required=True, metavar="FOLDER", help="tracks with their middle lines"
    )
    parser.add_argument("--racing", type=Path, metavar="FOLDER", help="the same with racing lines")
    parser.add_argument(
        "--model",
        nargs=2,
        action="append",
        default=[],
        metavar=("NAME", "FILE.zip"),
        help="a model to drive, too",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="put the results into this file, too")
    args = parser.parse_args()
    rows = {
        "follow the gap": laps(args.tracks, scripted(disparity_gap), BEAMS),
        "pure pursuit, middle line": laps(args.tracks, scripted(SLOW), AHEAD),
    }
    if args.racing:
        rows["pure pursuit, racing line"] = laps(args.racing, scripted(racing_pursuit()), AHEAD)
    for name, model in args.model:
        rows[name] = laps(args.tracks, *learned(Path(model)))
    rows |= published(rows["follow the gap"])
    print(table(rows))
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
