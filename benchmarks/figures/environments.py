"""Every registered environment: env steps per second under random actions, what a substep and what a reset cost."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import mvsim_gym
from figure import ROOT, Row, Settings, figure, in_fresh_process, rate, rates
from figures.programs import printed
from figures.throughput import CONFIG, stepper
from mvsim_gym import registration
from mvsim_gym.registration import load_env

NUM_ENVS, WARM_UP, RESETS = 64, 1000, 1000
RESET = """
import json, time
import mvsim_gym
env = mvsim_gym.Env({id!r})
env.reset(seed=0)
times = []
for _ in range({resets}):
    began = time.perf_counter()
    env.reset()
    times.append(1e6 * (time.perf_counter() - began))
# the same episodes again: whatever they planned is there
env.reset(seed=0)
again = []
for _ in range({resets}):
    began = time.perf_counter()
    env.reset()
    again.append(1e6 * (time.perf_counter() - began))
print(json.dumps([times, again]))
"""


def environments(several_agents: bool = False) -> dict[str, str]:
    """Short name -> id of the environments of one agent, or of several, that come with the package."""
    listing = registration.listing().items()
    wanted = [id for id, path in listing if load_env(path, ()).several_agents == several_agents]
    return {id.split("/")[1].rsplit("-", 1)[0]: id for id in wanted}


def file_of(id: str) -> Path:
    """The environment's file in this folder."""
    return ROOT / "envs" / Path(registration.listing()[id]).name


def _env(name: str, id: str, unit: str, settings: Settings) -> Row:
    env = mvsim_gym.VectorEnv(id, num_envs=NUM_ENVS, num_threads=settings.threads)
    env.reset(seed=0)
    actions = np.random.default_rng(0).uniform(-1, 1, (64, *env.action_space.shape)).astype(np.float32)
    count = 0

    def advance() -> int:
        nonlocal count
        env.step(actions[count % 64])
        count += 1
        return NUM_ENVS

    for _ in range(10 if settings.quick else WARM_UP):
        advance()
    runs = rates(advance, settings)
    env.close()
    config = {
        "work": f"random actions in {id}",
        "num_envs": NUM_ENVS,
        "num_threads": settings.threads,
        "warm_up": WARM_UP,
    }
    return Row(f"env_{name}", unit, config, runs)


@figure("env")
def env(settings: Settings) -> list[Row]:
    """`env_<Name>`; of several agents `num_envs` counts these. `beside_envs`: task A before each of them."""
    task_a = stepper(NUM_ENVS, settings.threads)
    rate(task_a, settings.seconds)
    rows, beside = [], []
    for several_agents, unit in ((False, "env steps/s"), (True, "agent steps/s")):
        for name, id in environments(several_agents).items():
            beside.append(rate(task_a, settings.seconds))
            rows.append(_env(name, id, unit, settings))
    return [*rows, Row("beside_envs", "env steps/s", {**CONFIG, "num_envs": NUM_ENVS}, beside)]


@figure("substep")
def substep(settings: Settings) -> list[Row]:
    """`substep_<Name>`: beyond controllers and tires, of robots that touch nothing."""
    rows = []
    for name, id in environments().items():
        unit, runs = printed("profile", f"--substep {file_of(id).relative_to(ROOT)}", settings.runs)[
            "substep"
        ]
        work = f"a substep of {id} that touches nothing, less its controllers and tires; one thread"
        rows.append(Row(f"substep_{name}", unit, {"work": work}, runs))
    return rows


def _reset(name: str, id: str, settings: Settings) -> list[Row]:
    cold, p99, warm = [], [], []
    for _ in range(settings.runs):
        first, again = in_fresh_process(RESET.format(id=id, resets=20 if settings.quick else RESETS))
        cold.append(float(np.mean(first)))
        p99.append(float(np.quantile(first, 0.99)))
        warm.append(float(np.median(again)))
    first = f"the first {RESETS} resets of a fresh process, {id}"
    return [
        Row(f"reset_{name}", "us", {"work": f"mean of {first}"}, cold),
        Row(f"reset_{name}_p99", "us", {"work": f"99 of 100 of {first}"}, p99),
        Row(f"reset_{name}_warm", "us", {"work": f"median of the same resets once more, {id}"}, warm),
    ]


@figure("reset")
def reset(settings: Settings) -> list[Row]:
    """`reset_<Name>`, `reset_<Name>_p99`, `reset_<Name>_warm`"""
    return [row for name, id in environments().items() for row in _reset(name, id, settings)]
