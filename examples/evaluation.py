"""Evaluation on a fixed list of held-out seeds: one episode a seed, a hundred of them at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

import mvsim_gym

# Seeds that no training run uses: training draws its own from small integers.
FINAL_SEEDS = list(range(1_000_000, 1_005_000))
HELD_OUT_SEEDS = FINAL_SEEDS[:500]
AT_ONCE = 100  # episodes

Policy = Callable[[dict[str, NDArray[Any]]], NDArray[Any]]
Result = dict[str, Any]


def evaluate(
    env: str | PathLike[str],
    policy: Policy,
    seeds: Sequence[int],
    *,
    spl: bool = False,
    title: str = "evaluation",
    record: str | PathLike[str] | None = None,
    **overrides: Any,
) -> Result:
    """Run one episode a seed and average what `info` says at their ends; a bar shows how many have ended.

    `policy` maps observations (dict of arrays [n, ...]) to actions [n, m] in [-1, 1].
    Returns `success` and `failures` {reason: rate}, whose rates sum to 1; mean `time` of successes [s] (None if there
    is none), `return`, `length` of episodes [s], how many `episodes`, and with `spl` SPL. With `record`, an MCAP file,
    all episodes go into it, one after another, with the same results.
    """
    n = 1 if record is not None else min(AT_ONCE, len(seeds))
    envs = mvsim_gym.VectorEnv(env, num_envs=n, spl=spl, autoreset_mode="Disabled", **overrides)
    waiting = list(range(n, len(seeds)))[::-1]
    episode = np.arange(n)  # which one an env plays; -1: none that counts
    recording = None if record is None else envs.record(record)
    observation, _ = envs.reset(seed=list(seeds[:n]))
    ends: dict[str, NDArray[Any]] = {}
    returns = np.zeros(len(seeds))
    with tqdm(total=len(seeds), desc=title, unit="episode", leave=False, mininterval=0.5) as bar:
        while (episode >= 0).any():
            counts = episode >= 0
            if counts.all():
                actions = np.array(policy(observation), np.float32)
            else:  # the others are not worth the policy's time
                actions[counts] = policy({key: rows[counts] for key, rows in observation.items()})
            observation, reward, terminated, truncated, info = envs.step(actions)
            returns[episode[counts]] += reward[counts]
            ended = terminated | truncated
            if not ended.any():
                continue
            done = ended & counts
            for key, values in info.items():
                if not key.startswith("_"):
                    ends.setdefault(key, np.zeros(len(seeds)))[episode[done]] = values[done]
            bar.update(int(done.sum()))
            next_seeds: list[int | None] = [None] * n
            for i in ended.nonzero()[0]:
                episode[i] = waiting.pop() if waiting else -1
                next_seeds[i] = seeds[episode[i]] if episode[i] >= 0 else None
            if (episode >= 0).any():
                observation, _ = envs.reset(seed=next_seeds, options={"reset_mask": ended})
    if recording is not None:
        recording.close()
    envs.close()
    won = ends["success"] > 0
    return {
        "success": float(won.mean()),
        "failures": failures(ends),
        "time": float(ends["time"][won].mean()) if won.any() else None,
        **({"spl": float(ends["spl"].mean())} if spl else {}),
        "return": float(returns.mean()),
        "length": float(ends["time"].mean()),
        "episodes": len(seeds),
    }


def failures(ends: dict[str, NDArray[Any]]) -> dict[str, float]:
    """The rate of each way to fail: every episode that was not won counts for exactly one.

    It counts for the first of the environment's terminations that held at its end (`terminated/<name>`), else as
    `timeout` or `diverged`. Terminations that hold when an episode is won are no failures.
    """
    won = ends["success"] > 0
    held = {key.removeprefix("terminated/"): ends[key] > 0 for key in ends if key.startswith("terminated/")}
    ways = {name: holds for name, holds in held.items() if not (holds & won).any() and name != "goal"}
    left, rates = ~won, {}
    for name, holds in {**ways, "timeout": ends["timeout"] > 0, "diverged": ends["diverged"] > 0}.items():
        rates[name] = float((left & holds).mean())
        left = left & ~holds
    if not rates["diverged"]:
        del rates["diverged"]
    return rates


def table(rows: dict[str, Result]) -> str:
    """A Markdown table of evaluations, one row a policy; success and the ways to fail add up to 100 %."""
    ways = list(dict.fromkeys(way for row in rows.values() for way in row["failures"]))
    spl = ["SPL"] if any("spl" in row for row in rows.values()) else []
    heads = ["policy", "success", *ways, "time (s)", *spl, "return"]
    lines = ["| " + " | ".join(heads) + " |", "|---" + "|---:" * (len(heads) - 1) + "|"]
    for name, row in rows.items():
        rates = [row["success"], *(row["failures"].get(way, 0.0) for way in ways)]
        cells = [name, *(f"{100 * rate:.1f} %" for rate in rates)]
        cells.append("-" if row["time"] is None else f"{row['time']:.1f}")
        cells += [f"{row['spl']:.3f}" if "spl" in row else "-"] if spl else []
        lines.append("| " + " | ".join([*cells, f"{row['return']:.2f}"]) + " |")
    return "\n".join(lines)
