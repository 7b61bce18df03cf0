"""The adapter for RLlib (`learners/rllib.py`)."""

from mvsim_gym.learners.rllib import FlatObservation, RunnerEnv, TeamEnv, register, register_team

__all__ = ["FlatObservation", "RunnerEnv", "TeamEnv", "register", "register_team"]
