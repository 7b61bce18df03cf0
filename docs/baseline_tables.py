"""The tables of docs/baselines*.md and docs/learned.md, from the env files and benchmarks/results/baselines.json."""

from __future__ import annotations

import json
import re
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import numpy as np

import leaderboard
import mvsim_gym
from mvsim_gym.registration import listing

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "examples"))
from duel_evaluation import LAPS  # noqa: E402
from robot import TEAMS  # noqa: E402
from track_laps import table as lap_table  # noqa: E402

RESULTS = ROOT / "benchmarks" / "results" / "baselines.json"
FLOORS = ("random", "stands still")
TEXTS = ("environment", "driver", "task", "observations", "actions", "policy", "other ends")

Row = dict[str, Any]


def results() -> dict[str, Row]:
    """Returns the figures of every registered environment, by its id."""
    found = json.loads(RESULTS.read_text())
    if missing := sorted(set(listing()) - set(found)):
        raise SystemExit(
            f"{RESULTS.name} has no figures of {', '.join(missing)}: give each a scripted policy in"
            f" examples/baselines.py, then run it with --env ID --json {RESULTS.relative_to(ROOT)}"
        )
    return {id: found[id] for id in sorted(listing())}


def percent(rate: float) -> str:
    return f"{100 * rate:.1f} %"


def number(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def task_of(env: Path) -> str:
    """Returns the first sentence of the file's comment."""
    sentence = re.search(r"<!--\s*(.*?\.)\s", env.read_text(), re.DOTALL)
    if not sentence:
        raise SystemExit(f"{env}: begin with a comment whose first sentence says what the task is")
    return " ".join(sentence[1].split())


def action_of(env: Path) -> str:
    """Returns the class and the ranges of the action."""
    action = next(ET.parse(env).getroot().iter("action"))
    ranges = (
        f"{key} {value.replace(' ', ' to ') if ' ' in value else f'-{value} to {value}'}"
        for key, value in action.attrib.items()
        if key not in ("class", "steer_rate")
    )
    return f"`{action.attrib['class']}`: {', '.join(ranges)}"


def observations_of(id: str) -> str:
    envs = mvsim_gym.VectorEnv(id, num_envs=TEAMS.get(id, 1))
    spaces = envs.single_observation_space.spaces
    envs.close()
    return ", ".join(f"`{key}` {'x'.join(map(str, space.shape))}" for key, space in spaces.items())


def table(heads: list[str], rows: list[list[str]]) -> str:
    """Returns a Markdown table, with numbers aligned to the right."""
    rule = "|".join("---" if head in TEXTS else "---:" for head in heads)
    lines = [f"| {' | '.join(cells)} |" for cells in (heads, *rows)]
    return "\n".join([lines[0], f"|{rule}|", *lines[1:]])


def environments() -> str:
    heads = ["environment", "task", "observations", "actions", "script", "PPO", *FLOORS]
    rows = []
    for id, found in results().items():
        env, rows_of = Path(listing()[id]), found["policies"]
        script = next(iter(rows_of))
        what = [f"`{id}`", task_of(env), observations_of(id), action_of(env)]
        scripted, *floors = (percent(rows_of[name]["success"]) for name in (script, *FLOORS))
        rows.append([*what, scripted, learned_success(found), *floors])
    return table(heads, rows)


def learned_success(found: Row) -> str:
    return percent(found["learned"]["success"]) if found["learned"] else "not measured"


def ends_of(row: Row) -> str:
    """Returns the ways to fail, each with its rate."""
    ways = row["failures"] if "failures" in row else {way: row[way] for way in ("collision", "timeout")}
    if ways is None:
        return "-"
    return ", ".join(f"{way} {percent(rate)}" for way, rate in ways.items() if rate)


def policies() -> str:
    heads = ["environment", "policy", "success", "other ends", "time (s)", "SPL", "return", "length (s)"]
    digits = {"time": 1, "spl": 3, "return": 2, "length": 1}
    rows = []
    for id, found in results().items():
        scripted = {name: row for name, row in found["policies"].items() if name not in FLOORS}
        floors = {name: found["policies"][name] for name in FLOORS}
        first = f"`{id}`"
        for name, row in {**scripted, "PPO": found["learned"], **floors}.items():
            if row:
                figures = [number(row.get(key), n) for key, n in digits.items()]
                rows.append([first, name, percent(row["success"]), ends_of(row), *figures])
            else:
                rows.append([first, name, "not measured", "", *["-"] * len(digits)])
            first = ""
    return table(heads, rows)


def teams() -> str:
    rows = [
        [f"`{id}`", name, percent(row["all"]), number(row["makespan"], 1)]
        for id, found in results().items()
        for name, row in {"PPO": found["learned"] or {}, **found["policies"]}.items()
        if "all" in row
    ]
    return table(["environment", "policy", "all arrive", "time until all have (s)"], rows)


def duels() -> str:
    rows = [
        [f"`{id}`", name, *(" : ".join(map(percent, row[key])) for key in ("wins", "crashes")), contacts(row)]
        for id, found in results().items()
        for name, row in {**(found["learned"] or {}).get("duels", {}), **found.get("duels", {})}.items()
    ]
    return table(["environment", "policy", "wins", "crashes", "contacts a lap"], rows)


def contacts(row: Row) -> str:
    return " : ".join(number(count / LAPS, 3) for count in row["contacts"])


def spread(rates: list[float]) -> list[str]:
    """Returns the interquartile mean of the seeds and its 95 % interval, by a bootstrap over the seeds."""
    if len(rates) < 3:
        return ["-", "-"]
    draws = np.random.default_rng(0).choice(rates, (2000, len(rates)))
    low, high = np.percentile([leaderboard.interquartile_mean(draw.tolist()) for draw in draws], [2.5, 97.5])
    return [percent(leaderboard.interquartile_mean(rates)), f"{percent(low)} to {percent(high)}"]


def training() -> str:
    """Compares the cost and the result of PPO with the first script."""
    heads = [
        "environment",
        "steps",
        "minutes",
        "seeds",
        "success",
        "lowest to highest",
        "IQM",
        "95 % interval",
        "script",
    ]
    heads += ["time (s) : script's", "SPL : script's"]
    rows = []
    for id, found in results().items():
        learned, script = found["learned"], next(iter(found["policies"].values()))
        if not learned:
            rows.append([f"`{id}`", *["-"] * (len(heads) - 1)])
            continue
        rates = learned["successes"]
        rows.append(
            [
                f"`{id}`",
                f"{learned['steps']:,}",
                number(learned["processor_seconds"] / 60, 1),
                str(len(rates)),
                percent(learned["success"]),
                f"{percent(min(rates))} to {percent(max(rates))}",
                *spread(rates),
                percent(script["success"]),
                f"{number(learned['time'], 1)} : {number(script['time'], 1)}",
                f"{number(learned['spl'], 3)} : {number(script['spl'], 3)}",
            ]
        )
    return table(heads, rows)


def laps() -> str:
    """Mean times on the public tracks, by examples/track_laps.py; a held-out track is one that a policy never drove."""
    return lap_table(json.loads((RESULTS.parent / "tracks.json").read_text()))


TABLES = {
    "environments": environments,
    "policies": policies,
    "teams": teams,
    "duels": duels,
    "training": training,
    "leaderboard": leaderboard.table,
    "laps": laps,
}
