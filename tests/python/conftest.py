"""Common parts of the Python tests: the registered environments, shortened so that episodes end often, and rollouts."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

import mvsim_gym  # noqa: F401 (registers the environments)
from mvsim_gym._build import one_world
from mvsim_gym.registration import listing, load_env

# of PyTorch, and in children: its threads spin while they wait for each other, for seconds beside busy processes
os.environ.setdefault("OMP_NUM_THREADS", "1")
ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "tests" / "data"
# a test for each environment from the moment it is registered; those of several agents have their own
ALL_IDS = sorted(id for id in gym.registry if id.startswith("mvsim/") and id != "mvsim/Custom-v0")
TEAM_IDS = [id for id in ALL_IDS if load_env(listing()[id], ()).several_agents]
IDS = [id for id in ALL_IDS if id not in TEAM_IDS]


@pytest.fixture(params=IDS)
def env_id(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=TEAM_IDS)
def team_id(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Starts worlds as nodes of ROS 2: `ros_running.starting`."""
    from ros_running import starting

    with starting(tmp_path) as start:
        yield start


@pytest.fixture(scope="session")
def doubles(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the libraries of tests/doubles."""
    from doubles import build

    return build(tmp_path_factory.mktemp("doubles"))


def lasting(full: int, small: int) -> int:
    """How long a slow test goes on: `full` by hand, `small` in CI (the variable CI is set)."""
    return small if os.environ.get("CI") else full


def short(env_id: str, steps: int = 20) -> dict[str, Any]:
    """Keywords that end an episode after so many steps at the latest."""
    return {"time_limit": steps * one_world(env_id).control_period}


@cache
def pictures_of(env_id: str) -> list[str]:
    """Keys of the observations that are pictures: they are what takes the time."""
    env = gym.make(env_id)
    space = env.observation_space
    env.close()
    assert isinstance(space, gym.spaces.Dict)
    return [key for key, box in space.spaces.items() if len(box.shape or ()) > 1]


def blind(env_id: str) -> dict[str, Any]:
    """Returns keywords that leave images out, for tests that need none."""
    pictures = pictures_of(env_id)
    return {"observe": dict.fromkeys(pictures, False)} if pictures else {}


def actions_for(seed: int, steps: int, num_envs: int, size: int = 2) -> np.ndarray:
    """The same random actions for env k whatever num_envs: (steps, num_envs, size)."""
    columns = [np.random.default_rng([seed, k]).uniform(-1, 1, (steps, size)) for k in range(num_envs)]
    return np.stack(columns, axis=1).astype(np.float32)


def trajectory(envs: gym.vector.VectorEnv[Any, Any, Any], steps: int, mode: AutoresetMode) -> list[Any]:
    """All that an environment returns; in DISABLED its ended envs are reset by mask."""
    out = [envs.reset(seed=3)]
    for action in actions_for(0, steps, envs.num_envs):
        result = envs.step(action)
        out.append(result)
        done = result[2] | result[3]
        if mode is AutoresetMode.DISABLED and done.any():
            out.append(envs.reset(options={"reset_mask": done}))
    envs.close()
    return out


def rollout_hash(env_id: str, steps: int = 300, rows: int = 2, **keywords: Any) -> str:
    """Everything that a seeded rollout of two envs, or of some rows of a team's, returns, as one hash."""
    envs = gym.make_vec(env_id, num_envs=rows, **{**short(env_id), **keywords})
    digest = hashlib.sha256()
    observation, _ = envs.reset(seed=11)
    for action in actions_for(5, steps, rows, envs.action_space.shape[-1]):
        for key in sorted(observation):
            digest.update(observation[key].tobytes())
        observation, reward, terminated, truncated, info = envs.step(action)
        for array in (reward, terminated, truncated, *(info[key] for key in sorted(info))):
            digest.update(array.tobytes())
    envs.close()
    return digest.hexdigest()


def run_python(code: str, timeout: float = 180, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs code in a fresh interpreter that finds the same package."""
    paths = [str(ROOT / "tests" / "python"), *(p for p in sys.path if p)]
    variables = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), **environment}
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=timeout,
        env=variables,
        check=False,
    )


def equal(a: Any, b: Any, where: str = "") -> None:
    """Asserts that two nested results are the same: types, dtypes, shapes, every bit."""
    assert type(a) is type(b), f"{where}: {type(a)} and {type(b)}"
    if isinstance(a, dict):
        assert a.keys() == b.keys(), f"{where}: {sorted(a)} and {sorted(b)}"
        for key in a:
            equal(a[key], b[key], f"{where}[{key!r}]")
    elif isinstance(a, np.ndarray):
        assert a.dtype == b.dtype and a.shape == b.shape, (
            f"{where}: {a.dtype}{a.shape} and {b.dtype}{b.shape}"
        )
        if a.dtype == object:
            for i in range(len(a)):
                equal(a[i], b[i], f"{where}[{i}]")
        else:
            assert a.tobytes() == b.tobytes(), f"{where}: {a} and {b}"
    elif isinstance(a, tuple | list):
        assert len(a) == len(b), where
        for i, (x, y) in enumerate(zip(a, b, strict=True)):
            equal(x, y, f"{where}[{i}]")
    else:
        assert a == b, f"{where}: {a} and {b}"
