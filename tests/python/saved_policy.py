"""A policy of Stable-Baselines3 is saved and loaded again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from stable_baselines3 import PPO

    from mvsim_gym.sb3 import MVSimVecEnv

SMALL: dict[str, Any] = {"n_steps": 8, "batch_size": 16, "n_epochs": 1, "device": "cpu", "seed": 0}
"""Keywords of a PPO that learns in a moment."""


def learns_and_is_loaded(model: PPO, envs: MVSimVecEnv, folder: Path) -> None:
    """Once it is loaded it says the same."""
    model.learn(32)
    model.save(folder / "model.zip")
    again = type(model).load(folder / "model.zip", device="cpu")
    observation = envs.reset()
    np.testing.assert_array_equal(
        model.predict(observation, deterministic=True)[0], again.predict(observation, deterministic=True)[0]
    )
