"""Environments in a browser, driven by a policy: `mvsim-gym view`."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextlib import nullcontext
from functools import partial
from types import MappingProxyType
from typing import Any, TextIO

from mvsim_gym._build import one_world
from mvsim_gym._checks import checked_count
from mvsim_gym.tools.policy import begin_episodes, envs_for, keywords_of, policy_of
from mvsim_gym.tools.terminal import ended_by_signals, hear_ctrl_c


def is_world(target: str) -> bool:
    """Whether the target is a world file, rather than an environment's file or id."""
    if not os.path.isfile(target):
        return target.endswith(".world.xml")
    with open(target, "rb") as file:
        return b"<mvsim_env" not in file.read()


def view_envs(
    env_id: str,
    policy: str,
    *,
    num_envs: int | None = None,
    seed: int = 0,
    record: str | None = None,
    host: str,
    port: int,
    doors: Mapping[str, Any] | None = None,
    steps: int | None = None,
    say: TextIO = sys.stderr,
    settings: Mapping[str, Any] = MappingProxyType({}),
) -> None:
    """Steps environments in real time until SIGINT (Ctrl-C), SIGTERM, or "End" in the browser.

    Args:
        env_id: as for `mvsim_gym.VectorEnv`.
        policy: as for `policy_of`.
        num_envs: number of rows; None: those of one world.
        seed: env i has the seed `seed` + i.
        record: an MCAP file for the first world.
        doors: further keywords of `VectorEnv.view`, which control the access.
        steps: number of steps; None: no limit.
        settings: keywords of the environment, which override those of a model.

    Raises:
        ImportError: the extra `view` or `record` is missing.
        ValueError: there is no such policy, or the port is in use.
    """
    hear_ctrl_c()
    keywords = keywords_of(policy, settings)
    if num_envs is None:
        num_envs = one_world(env_id, **keywords).num_agents
    envs = envs_for(env_id, keywords, num_envs=checked_count("--num-envs", num_envs))
    drive = policy_of(policy, env_id, envs)
    envs.action_space.seed(seed)
    observations, _ = envs.reset(seed=seed)
    done = 0
    with (
        envs.view(host, port, commanded=True, **(doors or {})) as view,
        nullcontext() if record is None else envs.record(record),
        ended_by_signals(partial(print, file=say), lambda: view.wishes.append("end")),
    ):
        print(f"view: {view.url}", file=say, flush=True)
        while (steps is None or done < steps) and "end" not in view.wishes:
            if "reset" in view.wishes:
                while "reset" in view.wishes:
                    view.wishes.remove("reset")
                observations, _ = envs.reset(seed=seed)
                begin_episodes(drive)
            before = envs.alive.copy()
            observations, _, terminated, truncated, _ = envs.step(drive(observations))
            # those that were reset in place of a step, and those that ended and began in one
            begin_episodes(drive, envs.alive & (~before | terminated | truncated))
            done += 1
    envs.close()
