"""How many threads a training run wants, alone and where another process keeps a processor busy."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product

from figure import Row, Settings, figure
from figures.learner import NUM_ENVS, STEPS, learner

COUNTS = (1, 2)


@contextmanager
def _busy_process() -> Iterator[None]:
    process = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        yield
    finally:
        process.kill()
        process.wait()


@figure("sb3_threads")
def sb3_threads(settings: Settings) -> list[Row]:
    """A row for each number of PyTorch's threads and of ours, alone and beside a busy process; all take turns."""
    import torch

    from mvsim_gym.sb3 import MVSimVecEnv

    iterations = 1 if settings.quick else 5
    learners = {n: learner(MVSimVecEnv("mvsim/NavArena-v0", NUM_ENVS, n), iterations) for n in COUNTS}
    before = torch.get_num_threads()
    runs: dict[tuple[int, int, bool], list[float]] = {}

    def take_turns(busy: bool) -> None:
        for of_torch, ours in product(COUNTS, COUNTS):
            torch.set_num_threads(of_torch)
            rate = iterations * NUM_ENVS * STEPS / learners[ours]()
            runs.setdefault((of_torch, ours, busy), []).append(rate)

    for _ in range(1 if settings.quick else settings.runs):
        take_turns(busy=False)
        with _busy_process():
            take_turns(busy=True)
    torch.set_num_threads(before)
    work = "PPO of Stable-Baselines3 on mvsim/NavArena-v0"
    return [
        Row(
            f"sb3_torch_{of_torch}_envs_{ours}" + ("_busy" if busy else ""),
            "env steps/s",
            {
                "work": work + (", beside a process that never rests" if busy else ""),
                "num_envs": NUM_ENVS,
                "torch_threads": of_torch,
                "num_threads": ours,
            },
            rates,
        )
        for (of_torch, ours, busy), rates in runs.items()
    ]
