"""The adapter for RLlib (`learners/rllib.py`)."""

from mvsim_gym.learners.rllib import RunnerEnv, TeamEnv, register, register_team

__all__ = ["RunnerEnv", "TeamEnv", "register", "register_team"]
