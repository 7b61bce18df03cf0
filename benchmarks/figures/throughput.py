"""Env steps per second of task A through the Python vector env, and how they grow with the number of envs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np

import mvsim_gym  # noqa: F401 (registers the environments)
import scene
from figure import WORLDS, Row, Settings, figure, rate, rates

ENV = str(WORLDS / "task_a.env.xml")
SIZES = (1, 2, 8, 16, 64, 256, 1024, 4096)
CONFIG = {
    "work": "1 robot with wheel friction, exact scan of 360 rays in a 400x400 grid at 5 cm, random twists",
    "through": "gymnasium.make_vec",
}


def stepper(num_envs: int, num_threads: int, file: str = ENV, **overrides: Any) -> Callable[[], int]:
    """A function that makes one vector step of task A and returns how many env steps that is."""
    env = gymnasium.make_vec(
        "mvsim/Custom-v0", env=file, num_envs=num_envs, num_threads=num_threads, **overrides
    )
    env.reset(seed=0)
    shape = (64, *env.action_space.shape)
    actions = np.random.default_rng(0).uniform(-1, 1, shape).astype(np.float32)
    count = 0

    def advance() -> int:
        nonlocal count
        env.step(actions[count % 64])
        count += 1
        return num_envs

    return advance


def _throughput(name: str, settings: Settings, num_envs: int, substeps: int) -> Row:
    period = scene.CONTROL_PERIOD * substeps / scene.SUBSTEPS
    config = {
        **CONFIG,
        "num_envs": num_envs,
        "num_threads": settings.threads,
        "substeps": f"{substeps} of 10 ms",
    }
    advance = stepper(num_envs, settings.threads, control_period=period)
    return Row(name, "env steps/s", config, rates(advance, settings))


@figure("task_a")
def task_a(settings: Settings) -> Row:
    return _throughput("task_a", settings, 64, 10)


@figure("task_a1")
def task_a1(settings: Settings) -> Row:
    return _throughput("task_a1", settings, 64, 1)


@figure("task_a_threads_2_over_1")
def task_a_threads_2_over_1(settings: Settings) -> Row:
    """How much a second thread brings; one and two threads take turns, so that both meet the same machine."""
    one, two = (stepper(64, threads) for threads in (1, 2))
    for advance in (one, two):
        rate(advance, min(0.5, settings.seconds))
    runs = []
    for _ in range(settings.runs):
        single = rate(one, settings.seconds)
        runs.append(rate(two, settings.seconds) / single)
    return Row("task_a_threads_2_over_1", "1", {**CONFIG, "num_envs": 64, "substeps": "10 of 10 ms"}, runs)


@figure("task_a_contact")
def task_a_contact(settings: Settings) -> Row:
    """The other end of the scale: robots that start anywhere, drive forward, and lean on walls most of the time."""
    overrides = {"action": {"vx": [0.0, 0.22], "omega": [-0.5, 0.5]}, "reset": {"spawn": {"clearance": 0.2}}}
    advance = stepper(64, settings.threads, **overrides)
    for _ in range(5 if settings.quick else 250):
        advance()  # half an episode: most have found a wall
    config = {
        **CONFIG,
        "work": "task A, but driving forward from a random place: most robots push against a wall",
        "num_envs": 64,
        "num_threads": settings.threads,
        "substeps": "10 of 10 ms",
    }
    return Row("task_a_contact", "env steps/s", config, rates(advance, settings))


@figure("task_a_subproc")
def task_a_subproc(settings: Settings) -> Row:
    """The same env, one in each of two worker processes of Stable-Baselines3."""
    from stable_baselines3.common.vec_env import SubprocVecEnv

    def make() -> gymnasium.Env:
        return gymnasium.make("mvsim_gym:mvsim/Custom-v0", env=ENV, num_threads=1)

    env = SubprocVecEnv([make] * settings.threads)
    env.reset()
    actions = np.random.default_rng(0).uniform(-1, 1, (64, settings.threads, 2)).astype(np.float32)
    count = 0

    def advance() -> int:
        nonlocal count
        env.step(actions[count % 64])
        count += 1
        return settings.threads

    runs = rates(advance, settings)
    env.close()
    config = {**CONFIG, "through": "SubprocVecEnv", "workers": settings.threads, "substeps": "10 of 10 ms"}
    return Row("task_a_subproc", "env steps/s", config, runs)


@figure("agents_16")
def agents_16(settings: Settings) -> Row:
    """Task A with 16 robots in each of 8 worlds."""
    env = str(WORLDS / "agents_16.env.xml")
    config = {
        **CONFIG,
        "work": "task A with 16 robots a world that see each other, exact scans of 360 rays, random twists",
        "worlds": 8,
        "agents": 16,
        "num_threads": settings.threads,
        "substeps": "10 of 10 ms",
    }
    return Row("agents_16", "agent steps/s", config, rates(stepper(128, settings.threads, env), settings))


@figure("scale")
def scale(settings: Settings) -> list[Row]:
    """Throughput by the number of envs, and the slowest over the fastest from 8 envs on. The sizes take short turns,
    so that all meet the same machine."""
    steppers = {n: stepper(n, settings.threads) for n in SIZES}
    turn = settings.seconds / 5
    for advance in steppers.values():
        rate(advance, turn)
    runs: dict[int, list[float]] = {n: [] for n in SIZES}
    for _ in range(5 * settings.runs):
        for n, advance in steppers.items():
            runs[n].append(rate(advance, turn))
    config = {**CONFIG, "num_threads": settings.threads, "substeps": "10 of 10 ms"}
    rows = [Row(f"scale_n_{n}", "env steps/s", {**config, "num_envs": n}, runs[n]) for n in SIZES]
    many = [row.value for row in rows if row.config["num_envs"] >= 8]
    return [*rows, Row("scale_flatness", "1", config, [min(many) / max(many)])]
