"""The adapter for rl_games (`learners/rl_games.py`)."""

from mvsim_gym.learners.rl_games import GamesVecEnv, register

__all__ = ["GamesVecEnv", "register"]
