"""Rates of success of a policy on a list of seeds: `mvsim-gym evaluate`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from types import MappingProxyType
from typing import Any

import numpy as np

from mvsim_gym._checks import checked_count
from mvsim_gym.tools.policy import (
    Policy,
    RandomPolicy,
    agents_of,
    begin_episodes,
    ends_of,
    envs_for,
    keywords_of,
    outcome,
    policy_of,
)
from mvsim_gym.vector_env import VectorEnv

_AT_ONCE = 100  # worlds that run at the same time


def evaluate(
    env_id: str,
    policy: str,
    *,
    episodes: int = 100,
    seed: int = 1_000_000,
    record: str | None = None,
    settings: Mapping[str, Any] = MappingProxyType({}),
) -> list[str]:
    """Runs whole episodes, episode k with the seed `seed` + k. Returns lines with the rates of success and of each way
    to fail, the mean time of successes, and the mean return. Several agents of a world count separately.

    Args:
        env_id: as for `mvsim_gym.VectorEnv`.
        policy: as for `policy_of`.
        record: an MCAP file for all episodes, which then run one after another.
        settings: keywords of the environment, which override those of a model.

    Raises:
        ImportError: the extra `record` is missing.
        ValueError: there is no such policy, or agents have no common end.
    """
    checked_count("--episodes", episodes)
    at_once = 1 if record is not None else min(_AT_ONCE, episodes)
    keywords = keywords_of(policy, settings)
    rows = at_once * agents_of(env_id, keywords)
    envs = envs_for(env_id, keywords, num_envs=rows, autoreset_mode="Disabled", copy=True)
    drive = RandomPolicy(envs) if policy == "random" else policy_of(policy, env_id, envs)
    words: Counter[str] = Counter()
    times, returns = [], []
    with nullcontext() if record is None else envs.record(record):
        for first in range(0, episodes, at_once):
            for info, total in episodes_of(envs, drive, seed + first, min(at_once, episodes - first)):
                words[outcome(info)] += 1
                returns.append(total)
                if info["success"]:
                    times.append(info["time"])
    envs.close()
    ways = ["success", *sorted(words.keys() - {"success"})]
    lines = [f"{way:<12}{100 * words[way] / len(returns):6.1f} %" for way in ways]
    time = f"{np.mean(times):6.1f} s, mean of successes" if times else "     -"
    seeds = f"seeds {seed} to {seed + episodes - 1}"
    each = "" if envs.num_agents == 1 else f" of {envs.num_agents} agents"
    return [
        f"{env_id}, {policy}: {episodes} episodes{each}, {seeds}",
        *lines,
        f"{'time':<12}{time}",
        f"{'return':<12}{np.mean(returns):8.2f}",
    ]


def episodes_of(
    envs: VectorEnv, drive: Policy, seed: int, count: int, options: Mapping[str, Any] | None = None
) -> Iterator[tuple[dict[str, Any], float]]:
    """Returns the last info and the return of each agent's episode, in the first `count` worlds.

    Args:
        options: options of the reset before the episodes.
    """
    counted = count * envs.num_agents  # number of rows
    observations, _ = envs.reset(seed=seed, options=dict(options) if options else None)
    if isinstance(drive, RandomPolicy):
        drive.begin(seed)
    begin_episodes(drive)
    totals = np.zeros(envs.num_envs)
    ends: dict[int, dict[str, Any]] = {}
    while not all(row in ends for row in range(counted)):
        over = ~envs.alive.reshape(-1, envs.num_agents).any(axis=1)
        if over.any():  # these continue, and do not count, until all others have ended
            rows = np.repeat(over, envs.num_agents)
            observations, _ = envs.reset(options={"reset_mask": rows})
            begin_episodes(drive, rows)
        observations, rewards, terminated, truncated, infos = envs.step(drive(observations))
        counts = np.array([row not in ends for row in range(envs.num_envs)])
        totals[counts] += rewards[counts]
        ends = ends_of(terminated | truncated, infos) | ends
    for row in range(counted):
        yield ends[row], float(totals[row])
