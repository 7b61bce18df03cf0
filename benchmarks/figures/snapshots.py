"""Time to take and to restore a snapshot, through Python."""

from __future__ import annotations

import copy
from collections.abc import Callable

import mvsim_gym
from figure import Row, Settings, figure, rates

ID = "mvsim/NavArena-v0"


def _running() -> mvsim_gym.Env:
    """An environment some steps into an episode, in free motion."""
    env = mvsim_gym.Env(ID)
    env.reset(seed=0)
    env.step(env.action_space.sample() * 0)
    return env


def _row(name: str, what: str, call: Callable[[], object], many: int, settings: Settings) -> Row:
    def advance() -> int:
        for _ in range(many):
            call()
        return many

    return Row(name, "us", {"work": f"{what} of {ID}"}, [1e6 / r for r in rates(advance, settings)])


@figure("snapshot_us")
def snapshot_us(settings: Settings) -> Row:
    return _row("snapshot_us", "Env.snapshot", _running().snapshot, 100, settings)


@figure("restore_us")
def restore_us(settings: Settings) -> Row:
    env = _running()
    state = env.snapshot()
    return _row("restore_us", "Env.restore", lambda: env.restore(state), 100, settings)


@figure("deepcopy_env_us")
def deepcopy_env_us(settings: Settings) -> Row:
    env = _running()
    return _row("deepcopy_env_us", "copy.deepcopy", lambda: copy.deepcopy(env), 1, settings)
