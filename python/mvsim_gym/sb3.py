"""The adapter for Stable-Baselines3 (`learners/sb3.py`)."""

from mvsim_gym.learners.sb3 import (
    FlatObservation,
    MVSimVecEnv,
    NeighbourExtractor,
    PictureExtractor,
    PlaceExtractor,
    PrivilegedCriticPolicy,
    RingExtractor,
)

__all__ = [
    "FlatObservation",
    "MVSimVecEnv",
    "NeighbourExtractor",
    "PictureExtractor",
    "PlaceExtractor",
    "PrivilegedCriticPolicy",
    "RingExtractor",
]
