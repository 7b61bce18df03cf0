"""The adapter for PufferLib (`learners/pufferlib.py`)."""

from mvsim_gym.learners.pufferlib import MVSimPufferEnv

__all__ = ["MVSimPufferEnv"]
