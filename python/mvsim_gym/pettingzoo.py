"""The adapter for PettingZoo (`learners/pettingzoo.py`)."""

from mvsim_gym.learners.pettingzoo import MVSimParallelEnv, parallel_env

__all__ = ["MVSimParallelEnv", "parallel_env"]
