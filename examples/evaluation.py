"""Evaluation on a fixed list of held-out seeds: one episode a seed, all at once in one vector environment."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

import mvsim_gym  # noqa: F401  (registers the environments)

# Seeds that no training run uses: training draws its own from small integers.
HELD_OUT_SEEDS = list(range(1_000_000, 1_000_500))

Policy = Callable[[dict[str, NDArray[Any]]], NDArray[Any]]


def evaluate(env_id: str, policy: Policy, seeds: Sequence[int], **overrides: Any) -> dict[str, float]:
    """Run one episode a seed and average what `info` says at their ends.

    `policy` maps observations (dict of arrays [n, ...]) to actions [n, m] in [-1, 1].
    Returns rates (success, collision, timeout; they sum to 1), mean time of successes [s], SPL, return.
    """
    n = len(seeds)
    envs = gym.make_vec(env_id, num_envs=n, spl=True, **overrides)
    observation, _ = envs.reset(seed=list(seeds))
    keys = ("success", "collision", "timeout", "time", "spl")
    ends = {key: np.zeros(n) for key in keys}
    returns, running = np.zeros(n), np.ones(n, dtype=bool)
    while running.any():
        observation, reward, terminated, truncated, info = envs.step(policy(observation))
        returns += np.where(running, reward, 0)
        ended = running & (terminated | truncated)
        for key in keys:
            if ended.any():
                ends[key][ended] = info[key][ended]
        running &= ~ended
    envs.close()
    won = ends["success"] > 0
    return {
        "success": float(ends["success"].mean()),
        "collision": float(ends["collision"].mean()),
        "timeout": float(ends["timeout"].mean()),
        "time": float(ends["time"][won].mean()) if won.any() else float("nan"),
        "spl": float(ends["spl"].mean()),
        "return": float(returns.mean()),
        "episodes": n,
    }


def table(rows: dict[str, dict[str, float]]) -> str:
    """A Markdown table of evaluations, one row a policy."""
    lines = [
        "| policy | success | collision | timeout | time (s) | SPL | return |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, r in rows.items():
        rates = " | ".join(f"{100 * r[k]:.1f} %" for k in ("success", "collision", "timeout"))
        lines.append(f"| {name} | {rates} | {r['time']:.1f} | {r['spl']:.3f} | {r['return']:.2f} |")
    return "\n".join(lines)
