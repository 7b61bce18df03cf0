"""What training loses while somebody looks."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np

import mvsim_gym
from figure import HERE, Row, Settings, figure, rate

_ENVS = 64


def _stepper(envs: mvsim_gym.VectorEnv) -> Callable[[], int]:
    actions = np.random.default_rng(0).uniform(-1, 1, (64, *envs.action_space.shape)).astype(np.float32)
    envs.reset(seed=0)
    count = 0

    def advance() -> int:
        nonlocal count
        envs.step(actions[count % len(actions)])
        count += 1
        return _ENVS

    return advance


@figure("view_cost")
def view_cost(settings: Settings) -> Row:
    """Alone and watched take turns, so that both meet the same machine; the watched one's turns are short, and there
    are many."""
    turns, seconds = (2, settings.seconds) if settings.quick else (20, 0.5)
    alone, watched = (
        mvsim_gym.VectorEnv("mvsim/NavArena-v0", num_envs=_ENVS, num_threads=settings.threads)
        for _ in range(2)
    )
    steppers = [_stepper(alone), _stepper(watched)]
    with watched.view(port=0) as view:
        command = [sys.executable, str(HERE / "view_client.py"), view.url]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as client:
            while not view.is_watched:
                time.sleep(0.05)
            found = []
            for advance in steppers:
                rate(advance, min(0.5, settings.seconds))
            for _ in range(settings.runs):
                sums = np.zeros(2)
                for _ in range(turns):
                    sums += [rate(advance, seconds) for advance in steppers]
                found.append(100 * (1 - sums[1] / sums[0]))
            client.communicate(b"")
    for envs in (alone, watched):
        envs.close()
    config = {
        "work": "steps of NavArena that 30 moments a second, handed to one page, cost",
        "page": "takes all that is sent and draws nothing, in a process on the same machine",
        "shown": "all envs side by side, goals, lidar, trail and rewards of one",
        "num_envs": _ENVS,
        "num_threads": settings.threads,
    }
    return Row("view_cost", "%", config, found)
