"""Loss of training speed while a browser shows the view."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import mvsim_gym
from figure import HERE, Row, Settings, figure, rate

_ENVS = 64
_TURN = 0.25  # s


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


def _processor_time(threads: list[threading.Thread], process: int) -> np.ndarray:
    """s that threads of this process, and another process, have taken so far."""
    ours = sum(time.clock_gettime(time.pthread_getcpuclockid(thread.ident)) for thread in threads)
    ticks = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11:13]
    return np.array([ours, sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")])


@figure("view_cost")
def view_cost(settings: Settings) -> list[Row]:
    """Alone and watched take turns, so that both meet the same machine: short ones, many, and each pair the other way
    round than the one before. A run is the median over its pairs: what else the machine does shows in few of them. The
    processor time of the view's threads stands beside it, which other work on the machine changes less."""
    pairs = 4 if settings.quick else 40
    alone, watched = (
        mvsim_gym.VectorEnv("mvsim/NavArena-v0", num_envs=_ENVS, num_threads=settings.threads)
        for _ in range(2)
    )
    steppers = [_stepper(alone), _stepper(watched)]
    before = set(threading.enumerate())
    lost, of_view, of_page = [], [], []
    with watched.view(port=0) as view:
        threads = [thread for thread in threading.enumerate() if thread not in before]
        command = [sys.executable, str(HERE / "view_client.py"), view.url]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as client:
            while not view.is_watched:
                time.sleep(0.05)
            for advance in steppers:
                rate(advance, min(0.5, settings.seconds))
            for _ in range(settings.runs):
                losses, used, seconds = [], np.zeros(2), 0.0
                for k in range(pairs):
                    rates = np.zeros(2)
                    for which in (0, 1) if k % 2 else (1, 0):
                        began, so_far = time.perf_counter(), _processor_time(threads, client.pid)
                        rates[which] = rate(steppers[which], _TURN)
                        if which:
                            used += _processor_time(threads, client.pid) - so_far
                            seconds += time.perf_counter() - began
                    losses.append(100 * (1 - rates[1] / rates[0]))
                lost.append(statistics.median(losses))
                of_view.append(1000 * float(used[0]) / seconds)
                of_page.append(1000 * float(used[1]) / seconds)
            client.communicate(b"")
    for envs in (alone, watched):
        envs.close()
    config = {
        "work": "steps of NavArena that 30 moments a second, handed to one page, cost",
        "page": "takes all that is sent and draws nothing, in a process on the same machine",
        "shown": "all envs side by side, goals, lidar, trail and rewards of one",
        "num_envs": _ENVS,
        "num_threads": settings.threads,
        "pairs_a_run": pairs,
    }
    return [
        Row("view_cost", "%", config, lost),
        Row(
            "view_processor",
            "ms/s",
            {**config, "work": "processor time of the view's threads in a second"},
            of_view,
        ),
        Row("view_page", "ms/s", {**config, "work": "processor time of that page in a second"}, of_page),
    ]
