"""Fixed lists of held-out episodes, the results of a policy in them, and the comparison of two results:
`mvsim-gym evaluate ID --suite`, `mvsim-gym evaluate --compare`."""

from __future__ import annotations

import csv
import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

from mvsim_gym import __version__
from mvsim_gym._files import assets, file_digest
from mvsim_gym.registration import source_of
from mvsim_gym.tools.evaluate import episodes_of
from mvsim_gym.tools.options import combined
from mvsim_gym.tools.policy import RandomPolicy, agents_of, envs_for, keywords_of, outcome, policy_of

FIRST_SEED = 1_000_000
"""Seed of the first held-out episode. Training draws its seeds from small integers."""
EPISODES = 500
_BARN, _RACE = "mvsim/Barn-v0", "mvsim/Race-v0"
# A lap by the rules of f1tenth_benchmarks: its car, from a standstill at the first point of the line.
_LAP: dict[str, Any] = {
    "benchmark_car": 1,
    "time_limit": 250,
    "reset": {"line_up": {"along": "0 0.001", "lateral": 0, "yaw": 0, "speed": "0 0", "clearance": 0.05}},
    "randomize": {"vehicle:car1/action/delay": {"value": 0.02}},
}
# The cases of CrowdNav: one start and one goal, and people that stay at their goals.
_FIXED = {
    "mvsim/CrowdNav-v0": (
        {"people": {"people": {"at_goal": "stay"}}},
        {"pose": [0, -4, math.pi / 2], "goal": [0, 4]},
    )
}
_RUNS = 10  # runs in each world of Barn, as in the BARN challenge
_AT_ONCE = 100  # worlds that run at the same time
_LISTED = 10  # parts, at most, whose results are given one by one


@dataclass(frozen=True)
class Part:
    """Episodes with the seeds `seed` to `seed` + `episodes` - 1."""

    name: str
    seed: int
    episodes: int
    keywords: dict[str, Any] = field(default_factory=dict)
    """Keywords of the environment."""
    optimal_time: float | None = None
    """Time of the shortest path at full speed, if the benchmark gives one; s."""
    options: dict[str, Any] = field(default_factory=dict)
    """Options of the reset."""


def suite_of(env_id: str, worlds: str | None = None) -> list[Part]:
    """Returns the held-out episodes of an environment: 500 seeds; for Barn 10 runs in each of its 50 test worlds.

    Args:
        worlds: a folder of other worlds for Barn: index.csv with the columns `world` and `optimal_time_s`, and a
            world_N.yaml or world_N.png for each row. For Race a folder of tracks, of which each is driven 10 times.

    Raises:
        ValueError: `worlds` for another environment, or an invalid index.
        OSError: the folder has no index.csv.
    """
    if env_id == _RACE and worlds is not None:
        return _laps(os.path.abspath(worlds))
    if env_id != _BARN:
        if worlds is not None:
            raise ValueError(f"--worlds: found '{worlds}' for {env_id}, expected {_BARN} or {_RACE}")
        fixed, options = _FIXED.get(env_id, ({}, {}))
        return [Part("held out", FIRST_SEED, EPISODES, fixed, options=options)]
    rows = _index(os.path.join(worlds or os.path.join(assets(), "worlds", "barn"), "index.csv"))
    if worlds is None:
        rows = [row for row in rows if row["part"] == "test"]
    parts: list[Part] = []
    for row in rows:
        number, seed = row["world"], FIRST_SEED + _RUNS * len(parts)
        keywords: dict[str, Any] = {"variants": 1}
        if worlds is None:
            keywords["world_seed"] = int(number)
        else:
            stem = os.path.join(os.path.abspath(worlds), f"world_{number}")
            keywords["map"] = f"{stem}.yaml" if os.path.exists(f"{stem}.yaml") else f"{stem}.png"
            keywords["roots"] = [os.path.abspath(worlds)]
        parts.append(Part(f"world {number}", seed, _RUNS, keywords, float(row["optimal_time_s"])))
    return parts


def _laps(folder: str) -> list[Part]:
    ending = ".track.xml"
    names = sorted(name.removesuffix(ending) for name in os.listdir(folder) if name.endswith(ending))
    if not names:
        raise ValueError(f"--worlds: found no *{ending} in '{folder}', expected tracks of mvsim-gym import")
    return [
        Part(
            name,
            FIRST_SEED + _RUNS * i,
            _RUNS,
            {**_LAP, "track": name, "tracks": folder, "roots": [folder]},
        )
        for i, name in enumerate(names)
    ]


def _index(path: str) -> list[dict[str, str]]:
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for line, row in enumerate(rows, 2):
        try:
            good = int(row["world"]) >= 0 and float(row["optimal_time_s"]) > 0
        except (KeyError, TypeError, ValueError):
            good = False
        if not good:
            raise ValueError(f"{path}:{line}: found {row}, expected the columns world and optimal_time_s")
    if not rows:
        raise ValueError(f"{path}: found no row, expected one for each world")
    return rows


def barn_scores(success: bool, time: float, optimal: float) -> tuple[float, float]:
    """Returns the scores of the BARN challenge for one run: on the scale to 0.5, and on the scale to 0.25 (until 2023).

    The first is success * optimal / clip(time, 2 optimal, 8 optimal). The second has 4 optimal as the lower limit.

    Args:
        time: time of the robot, s.
        optimal: time of the shortest path at full speed, s.
    """
    if not success:
        return 0.0, 0.0
    return optimal / min(max(time, 2 * optimal), 8 * optimal), optimal / min(
        max(time, 4 * optimal), 8 * optimal
    )


def wilson(successes: int, count: int, z: float = 1.959964) -> tuple[float, float]:
    """Returns the 95 % interval of a rate (Wilson 1927)."""
    rate = successes / count
    middle = (rate + z * z / (2 * count)) / (1 + z * z / count)
    half = z / (1 + z * z / count) * np.sqrt(rate * (1 - rate) / count + z * z / (4 * count * count))
    return float(max(middle - half, 0)), float(min(middle + half, 1))


def evaluate_suite(
    env_id: str,
    policy: str,
    *,
    worlds: str | None = None,
    output: str | None = None,
    settings: Mapping[str, Any] = MappingProxyType({}),
) -> list[str]:
    """Runs the held-out episodes of an environment, and returns lines that say how they ended.

    Args:
        env_id: an id of this package, or an environment file.
        policy: as for `policy_of`.
        worlds: as for `suite_of`.
        output: a JSON file for all episodes, from which `compare` compares policies.
        settings: keywords of the environment. They override those of a model; those of the suite override both.

    Raises:
        ValueError, OSError: as for `suite_of` and `policy_of`.
    """
    keywords = keywords_of(policy, settings)
    episodes: list[dict[str, Any]] = []
    for part in suite_of(env_id, worlds):
        episodes += _run_part(env_id, policy, part, combined(keywords, part.keywords))
    summary = _summary(episodes)
    report = {
        "env": env_id,
        "env_sha256": file_digest(source_of(env_id, {})[0]),
        "version": __version__,
        "policy": os.path.basename(policy),
        "settings": {name: value for name, value in keywords.items() if name != "roots"},
        "summary": summary,
        "episodes": episodes,
    }
    if output is not None:
        with open(output, "w", encoding="utf-8") as file:
            json.dump(report, file, indent=1, sort_keys=True, default=str)
            file.write("\n")
    return [f"{env_id}, {policy}: {len(episodes)} held-out episodes", *_lines(summary)]


def _run_part(env_id: str, policy: str, part: Part, keywords: dict[str, Any]) -> list[dict[str, Any]]:
    at_once = min(_AT_ONCE, part.episodes)
    rows = at_once * agents_of(env_id, keywords)
    envs = envs_for(env_id, keywords, num_envs=rows, autoreset_mode="Disabled", copy=True)
    drive = RandomPolicy(envs) if policy == "random" else policy_of(policy, env_id, envs)
    found = []
    for first in range(0, part.episodes, at_once):
        count = min(at_once, part.episodes - first)
        ends = list(episodes_of(envs, drive, part.seed + first, count, part.options))
        for row, (info, total) in enumerate(ends):
            seed, agent = part.seed + first + row // envs.num_agents, row % envs.num_agents
            found.append(_episode(part, seed, agent, info, total))
    envs.close()
    return found


def _episode(part: Part, seed: int, agent: int, info: dict[str, Any], total: float) -> dict[str, Any]:
    success, time = bool(info["success"]), float(info["time"])
    row = {
        "part": part.name,
        "seed": seed,
        "agent": agent,
        "success": success,
        "end": outcome(info),
        "time": time,
        "return": total,
        "path_length": float(info["path_length"]),
        "min_clearance": float(info["min_clearance"]),
    }
    if part.optimal_time is not None:
        row["score_050"], row["score_025"] = barn_scores(success, time, part.optimal_time)
    return row


def _summary(episodes: list[dict[str, Any]]) -> dict[str, Any]:
    won = [row for row in episodes if row["success"]]
    ends = [row["end"] for row in episodes]
    found = {
        "episodes": len(episodes),
        "success": len(won) / len(episodes),
        "success_interval": wilson(len(won), len(episodes)),
        "ends": {end: ends.count(end) / len(ends) for end in sorted(set(ends))},
        "time": float(np.mean([row["time"] for row in won])) if won else None,
        "return": float(np.mean([row["return"] for row in episodes])),
    }
    for key in ("score_050", "score_025"):
        if key in episodes[0]:
            found[key] = float(np.mean([row[key] for row in episodes]))
    parts = {part: [row for row in episodes if row["part"] == part] for part in _names(episodes)}
    if 1 < len(parts) <= _LISTED:
        found["parts"] = {part: _of_part(rows) for part, rows in parts.items()}
    return found


def _names(episodes: list[dict[str, Any]]) -> list[str]:
    return list(dict.fromkeys(row["part"] for row in episodes))


def _of_part(rows: list[dict[str, Any]]) -> dict[str, Any]:
    times = [row["time"] for row in rows if row["success"]]
    return {
        "success": len(times) / len(rows),
        "time": float(np.mean(times)) if times else None,
        "least_time": min(times, default=None),
    }


def _lines(summary: dict[str, Any]) -> list[str]:
    low, high = summary["success_interval"]
    lines = [f"{'success':<12}{100 * summary['success']:6.1f} %  ({100 * low:.1f} to {100 * high:.1f} %)"]
    lines += [f"{end:<12}{100 * rate:6.1f} %" for end, rate in summary["ends"].items() if end != "success"]
    time = "     -" if summary["time"] is None else f"{summary['time']:6.1f} s, mean of successes"
    lines += [f"{'time':<12}{time}", f"{'return':<12}{summary['return']:8.2f}"]
    for key, scale in (("score_050", "0.5"), ("score_025", "0.25")):
        if key in summary:
            lines.append(f"{'score':<12}{summary[key]:8.3f}  BARN, scale to {scale}")
    for name, part in summary.get("parts", {}).items():
        times = "-" if part["time"] is None else f"{part['time']:.2f} s, least {part['least_time']:.2f} s"
        lines.append(f"{name:<12}{100 * part['success']:6.1f} %  {times}")
    return lines


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
