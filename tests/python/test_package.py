"""Time and names of an import."""

from __future__ import annotations

import importlib

import pytest
from conftest import run_python
from gymnasium.vector import AutoresetMode

import mvsim_gym
from mvsim_gym import _core
from mvsim_gym._build import Recipe


def test_import_is_lazy() -> None:
    """No learner, no OpenGL, no thread at import; nor with an environment that draws nothing."""
    code = """
import sys, os, mvsim_gym, gymnasium
print(len(os.listdir("/proc/self/task")))
heavy = [m for m in ("torch", "stable_baselines3", "matplotlib", "cv2", "pygame", "mvsim_gym.env", "mvsim_gym.world")
         if m in sys.modules]
gymnasium.make("mvsim/NavArena-v0").reset(seed=0)
with open("/proc/self/maps") as maps:
    gl = [line for line in maps if "libEGL" in line or "libGL." in line]
print(heavy, gl)
"""
    done = run_python(code, OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")
    assert done.stdout == "1\n[] []\n", done.stdout + done.stderr


@pytest.mark.unsanitized  # imports PyTorch
def test_everything_in_all_is_there() -> None:
    pytest.importorskip("stable_baselines3")
    for name in mvsim_gym.__all__:
        assert getattr(mvsim_gym, name) is not None and name in dir(mvsim_gym)
    with pytest.raises(AttributeError, match="Wrold"):
        _ = mvsim_gym.Wrold


@pytest.mark.parametrize("name", ["replay", "parameters", pytest.param("sb3", marks=pytest.mark.unsanitized)])
def test_public_modules_keep_their_names(name: str) -> None:
    """A public module exports the objects of the module in its folder."""
    if name == "sb3":
        pytest.importorskip("stable_baselines3")
    public = importlib.import_module(f"mvsim_gym.{name}")
    home = importlib.import_module(f"mvsim_gym.{'learners' if name == 'sb3' else 'tools'}.{name}")
    for listed in public.__all__:
        assert getattr(public, listed) is getattr(home, listed)


def test_recipes_of_former_pickles() -> None:
    """Each option was an attribute of its own, and some were not there yet."""
    recipe = Recipe.__new__(Recipe)
    recipe.__setstate__(
        {
            "kind": "VectorEnv",
            "env": "mvsim/NavArena-v0",
            "overrides": {"obstacles": 3.0},
            "num_envs": 4,
            "num_threads": 2,
            "autoreset": _core.AutoresetMode.SAME_STEP,
            "strict_actions": True,
            "roots": [],
        }
    )
    assert recipe.options["num_envs"] == 4 and recipe.options["strict_actions"] is True
    assert recipe.options["autoreset_mode"] is AutoresetMode.SAME_STEP and recipe.options["spl"] is False
