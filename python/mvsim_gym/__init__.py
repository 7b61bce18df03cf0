"""Reinforcement learning for ground robots: real tire physics and exact lidar from MVSim-style XML worlds."""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mvsim_gym import deploy, parameters, pettingzoo, sb3, tire
    from mvsim_gym import pufferlib as pufferlib
    from mvsim_gym import rl_games as rl_games
    from mvsim_gym import rllib as rllib
    from mvsim_gym.env import Env
    from mvsim_gym.errors import (
        ForkedProcessError,
        MissingFileError,
        RendererLost,
        RenderMemoryError,
        TermError,
        WorldFileError,
    )
    from mvsim_gym.registration import register, spec
    from mvsim_gym.registration import register_all as register_all
    from mvsim_gym.vector_env import VectorEnv
    from mvsim_gym.world import World

__version__ = "0.1.0"

__all__ = [
    "Env",
    "ForkedProcessError",
    "MissingFileError",
    "RenderMemoryError",
    "RendererLost",
    "TermError",
    "VectorEnv",
    "World",
    "WorldFileError",
    "deploy",
    "parameters",
    "pettingzoo",
    "register",
    "sb3",
    "spec",
    "tire",
]

_MODULES = ("deploy", "parameters", "pettingzoo", "pufferlib", "rl_games", "rllib", "sb3", "tire")
# Imported at first use, so that `import mvsim_gym` itself is fast.
_HOMES = {
    "Env": "env",
    "ForkedProcessError": "errors",
    "MissingFileError": "errors",
    "RenderMemoryError": "errors",
    "RendererLost": "errors",
    "TermError": "errors",
    "VectorEnv": "vector_env",
    "World": "world",
    "WorldFileError": "errors",
    "register": "registration",
    "register_all": "registration",
    "spec": "registration",
}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"mvsim_gym.{name}")
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'mvsim_gym' has no attribute '{name}'")
    value = getattr(importlib.import_module(f"mvsim_gym.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES, *_MODULES})


# A robot that runs `mvsim_gym.deploy` never imports Gymnasium.
if "gymnasium" in sys.modules:
    importlib.import_module("mvsim_gym.registration")  # registers as it is imported
else:
    importlib.import_module("mvsim_gym._gymnasium_hook").register_later()
