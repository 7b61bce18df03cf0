"""Overhead of a call of the simulation: Python, the binding, the hand-over to the threads.

Python is timed with the batch in place but without its work: each step asks for a reset of no env, which crosses
the binding, gives back the GIL, goes through the worker pool, and finds nothing to do."""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np

import mvsim_gym
from figure import WORLDS, Row, Settings, figure
from figures.programs import printed

ENV = str(WORLDS / "task_a.env.xml")


class Idle:
    """A batch whose steps are resets of no env."""

    def __init__(self, batch: Any, num_envs: int) -> None:
        self._reset = batch.reset
        self._nobody = np.zeros(num_envs, np.uint8)

    def step(self, actions: Any, between: Callable[[], object] | None = None) -> bool:
        """Nothing happens, and no env has an info."""
        self._reset(self._nobody)
        return False


def _microseconds(call: Callable[[], object], settings: Settings) -> list[float]:
    """Returns the time of a call for each run: the least of several, because other load only adds time."""
    calls = 200
    found = []
    for _ in range(settings.runs):
        best = float("inf")
        for _ in range(3 if settings.quick else 50):
            began = time.perf_counter()
            for _ in range(calls):
                call()
            best = min(best, (time.perf_counter() - began) / calls)
        found.append(1e6 * best)
    return found


def _idle_step(env: Any, num_envs: int) -> Callable[[], object]:
    env.reset(seed=0)
    env._batch = Idle(env._batch, num_envs)
    actions = np.zeros(env.action_space.shape, np.float32)
    return lambda: env.step(actions)


@figure("py_step_us")
def py_step_us(settings: Settings) -> Row:
    config = {
        "work": "VectorEnv.step of task A without the work of the envs, copies of 360 rays included",
        "num_envs": 64,
    }
    env = mvsim_gym.VectorEnv(ENV, num_envs=64, num_threads=1)
    return Row("py_step_us", "us", config, _microseconds(_idle_step(env, 64), settings))


@figure("env_step_us")
def env_step_us(settings: Settings) -> Row:
    config = {"work": "Env.step of task A without the work of the env"}
    return Row("env_step_us", "us", config, _microseconds(_idle_step(mvsim_gym.Env(ENV), 1), settings))


def _nothing(view: object) -> None:
    """A reward term that adds nothing."""


@figure("py_term_us")
def py_term_us(settings: Settings) -> Row:
    """The difference of two steps, taken in turns, of robots that stand."""
    config = {
        "work": "what a reward term in Python that does nothing adds to VectorEnv.step of NavArena without its scan",
        "num_envs": 64,
    }
    keywords = {"observe": {"scan": False}, "reward": {"clearance": False}, "time_limit": None}
    plain, with_term = (
        mvsim_gym.VectorEnv("mvsim/NavArena-v0", num_envs=64, num_threads=1, copy=False, **keywords, **terms)
        for terms in ({}, {"reward_terms": {"nothing": _nothing}})
    )
    standing = np.tile(np.array([-1, 0], np.float32), (64, 1))
    for env in (plain, with_term):
        env.reset(seed=0)
    found = []
    for _ in range(settings.runs):
        best = [float("inf"), float("inf")]
        for _ in range(3 if settings.quick else 100):
            for k, env in enumerate((plain, with_term)):
                began = time.perf_counter()
                for _ in range(20):
                    env.step(standing)
                best[k] = min(best[k], (time.perf_counter() - began) / 20)
        found.append(1e6 * (best[1] - best[0]))
    return Row("py_term_us", "us", config, found)


@figure("handover_us")
def handover_us(settings: Settings) -> Row:
    """Beside a thread that never rests; `also`: without it, asleep before the call, one in a hundred."""
    rows = printed("profile", "--hand-over", settings.runs)
    also = {name: f"{median(runs):g} {unit}" for name, (unit, runs) in rows.items() if name != "handover_us"}
    work = "a call of the worker pool for 64 envs with nothing to do, 2 threads, beside a busy thread"
    return Row("handover_us", "us", {"work": work, "also": also}, rows["handover_us"][1])
