"""The adapter for RLlib (`learners/rllib.py`)."""

from mvsim_gym.learners.rllib import RunnerEnv, register

__all__ = ["RunnerEnv", "register"]
