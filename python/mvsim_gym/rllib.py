"""The adapter for RLlib (`learners/rllib.py`)."""

from mvsim_gym.learners.rllib import FlatObservation, RunnerEnv, register

__all__ = ["FlatObservation", "RunnerEnv", "register"]
