"""Evaluation of worlds with several agents: one episode a seed, all agents driven by one policy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

import mvsim_gym

AT_ONCE = 25  # worlds

Policy = Callable[[dict[str, NDArray[Any]]], NDArray[Any]]
Result = dict[str, Any]


def evaluate_team(
    env: str | PathLike[str], policy: Policy, seeds: Sequence[int], agents: int, **overrides: Any
) -> Result:
    """Runs one episode a seed; each ends when the last of its agents does.

    `policy` maps observations (dict of arrays [rows, ...]) to actions [rows, m] in [-1, 1].
    Returns rates of worlds and of agents: `all` (worlds whose agents all arrive), `success`, `collision`, `timeout`
    (of agents, which sum to 1), and the mean `makespan` [s] of the worlds in which all arrive (None without one).
    """
    ends: dict[str, list[NDArray[Any]]] = {
        key: [] for key in ("success", "collision", "time", "spl", "return")
    }
    for first in range(0, len(seeds), AT_ONCE):
        own = list(seeds[first : first + AT_ONCE])
        envs = mvsim_gym.VectorEnv(
            env, num_envs=agents * len(own), on_end="wait", spl=True, autoreset_mode="NextStep", **overrides
        )
        observation, _ = envs.reset(seed=own)
        found = {key: np.zeros(envs.num_envs) for key in ends}
        running = np.ones(envs.num_envs, bool)  # in its first episode
        while running.any():
            observation, reward, terminated, truncated, info = envs.step(policy(observation))
            found["return"][running] += reward[running]
            ended = running & (terminated | truncated)
            if ended.any():
                for key in found.keys() - {"return"}:
                    found[key][ended] = info[key][ended]
            running &= ~ended
        envs.close()
        for key, values in found.items():
            ends[key].append(values.reshape(-1, agents))
    at_end = {key: np.concatenate(values) for key, values in ends.items()}
    arrived, time = at_end["success"] > 0, at_end["time"]
    collided = (at_end["collision"] > 0) & ~arrived
    every = arrived.all(axis=1)
    return {
        "all": float(every.mean()),
        "success": float(arrived.mean()),
        "collision": float(collided.mean()),
        "timeout": float((~arrived & ~collided).mean()),
        "makespan": float(time[every].max(axis=1).mean()) if every.any() else None,
        "time": float(time[arrived].mean()) if arrived.any() else None,
        "spl": float(at_end["spl"].mean()),
        "return": float(at_end["return"].mean()),
        "length": float(time.mean()),
        "episodes": len(seeds),
    }


def team_table(rows: dict[str, Result]) -> str:
    """A Markdown table of evaluations, one row a policy."""
    heads = ["policy", "all arrive", "arrive", "collide", "timeout", "makespan (s)"]
    lines = ["| " + " | ".join(heads) + " |", "|---" + "|---:" * (len(heads) - 1) + "|"]
    for name, row in rows.items():
        rates = [f"{100 * row[key]:.1f} %" for key in ("all", "success", "collision", "timeout")]
        makespan = "-" if row["makespan"] is None else f"{row['makespan']:.1f}"
        lines.append("| " + " | ".join([name, *rates, makespan]) + " |")
    return "\n".join(lines)
