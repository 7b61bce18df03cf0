"""Evaluation of races of two: one race a seed, each car driven by a policy of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

import mvsim_gym

AT_ONCE = 50  # races
LAPS = 2  # of a race

Policy = Callable[[dict[str, NDArray[Any]]], NDArray[Any]]
Result = dict[str, Any]


def evaluate_duel(
    env: str | PathLike[str], first: Policy, second: Policy, seeds: Sequence[int], **overrides: Any
) -> Result:
    """Runs one race a seed. Which car starts ahead is drawn.

    A policy maps observations (dict of arrays [n, ...]) to actions [n, m] in [-1, 1].
    Returns rates of races: `wins` of `first` and of `second`, each [0, 1] (races finished before the other, or alone),
    `crashes` of both (into walls), `contacts` of a race (between the cars, each as the one behind), and `races`.
    """
    ends: dict[str, list[NDArray[Any]]] = {
        key: [] for key in ("success", "time", "reward/rear_contact", "terminated/collision")
    }
    for start in range(0, len(seeds), AT_ONCE):
        own = list(seeds[start : start + AT_ONCE])
        reward = {**overrides.get("reward", {}), "rear_contact": -1}  # so that their sum counts them
        envs = mvsim_gym.VectorEnv(
            env, num_envs=2 * len(own), on_end="wait", **{**overrides, "reward": reward}
        )
        observation, _ = envs.reset(seed=own)
        found = {key: np.zeros(envs.num_envs) for key in ends}
        running = np.ones(envs.num_envs, bool)  # in its first episode
        actions = np.zeros((envs.num_envs, 2), np.float32)
        while running.any():
            for car, policy in enumerate((first, second)):
                actions[car::2] = policy({key: rows[car::2] for key, rows in observation.items()})
            observation, _, terminated, truncated, info = envs.step(actions)
            ended = running & (terminated | truncated)
            if ended.any():
                for key, values in found.items():
                    values[ended] = info[key][ended]
            running &= ~ended
        envs.close()
        for key, values in found.items():
            ends[key].append(values.reshape(-1, 2))
    at_end = {key: np.concatenate(values) for key, values in ends.items()}
    time = np.where(at_end["success"] > 0, at_end["time"], np.inf)
    return {
        "wins": [float((time[:, car] < time[:, 1 - car]).mean()) for car in range(2)],
        "crashes": (at_end["terminated/collision"] > 0).mean(axis=0).tolist(),
        "contacts": (-at_end["reward/rear_contact"]).mean(axis=0).tolist(),
        "races": len(seeds),
    }


def duel_table(rows: dict[str, Result]) -> str:
    """A Markdown table of races, one row a pairing."""
    heads = ["first against second", "wins", "crashes", "contacts a lap"]
    lines = ["| " + " | ".join(heads) + " |", "|---" + "|---:" * (len(heads) - 1) + "|"]
    for name, row in rows.items():
        rates = [" : ".join(f"{100 * rate:.1f} %" for rate in row[key]) for key in ("wins", "crashes")]
        contacts = " : ".join(f"{count / LAPS:.3f}" for count in row["contacts"])
        lines.append("| " + " | ".join([name, *rates, contacts]) + " |")
    return "\n".join(lines)
