"""Reinforcement learning for ground robots: real tire physics and exact lidar from MVSim-style XML worlds."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mvsim_gym._core import ForkedProcessError, WorldFileError
    from mvsim_gym.world import World

__version__ = "0.1.0"

__all__ = ["ForkedProcessError", "World", "WorldFileError"]

# Loaded when first asked for: `import mvsim_gym` itself costs next to nothing.
_HOMES = {
    "ForkedProcessError": "_core",
    "World": "world",
    "WorldFileError": "_core",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'mvsim_gym' has no attribute '{name}'")
    value = getattr(importlib.import_module(f"mvsim_gym.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
