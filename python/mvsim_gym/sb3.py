"""The adapter for Stable-Baselines3 (`learners/sb3.py`)."""

from mvsim_gym.learners._flat import FlatObservation
from mvsim_gym.learners._pictures import PictureExtractor
from mvsim_gym.learners.sb3 import MVSimVecEnv

__all__ = ["FlatObservation", "MVSimVecEnv", "PictureExtractor"]
