"""Scripted policies that look at a colour image."""

from __future__ import annotations

import numpy as np
from lidar_policies import TwistPolicy, gap_follower
from numpy.typing import NDArray
from robot import Array, Observation, Robot

# The camera of VisualNavigation: its height over the floor (m) and its focal length (pixels).
_HEIGHT, _FOCAL = 0.2, 32.0
# Floors are greyish: the spread of a pixel's channels as a share of the largest one.
_GREY = 0.2


def scan_of(robot: Robot, image: NDArray[np.uint8]) -> Array:
    """Images [n, h, w, 3] -> distances in the plane [n, w]: where the floor ends, going up each column."""
    pixels = image.astype(np.float32)
    largest, smallest = pixels.max(axis=-1), pixels.min(axis=-1)
    colored = (largest - smallest) > _GREY * largest
    below = np.arange(image.shape[1]) - (image.shape[1] - 1) / 2  # pixels below the horizon
    ground = colored[:, below > 0][:, ::-1]  # from the lowest row up
    steps = np.where(ground.any(axis=1), ground.argmax(axis=1), ground.shape[1])
    row = below.max() - steps + 0.5  # the edge between the last pixel of floor and what stands on it
    depth = np.where(row > 0.5, _HEIGHT * _FOCAL / np.maximum(row, 0.5), np.inf)
    return np.minimum(depth / np.cos(robot.angles), robot.max_range)


def visual_gap_follower(robot: Robot) -> TwistPolicy:
    """The gap follower of lidars on where the floor ends; it keeps room for what it has just passed."""
    follow = gap_follower(robot, margin=0.15)

    def policy(observation: Observation) -> Array:
        return follow({**observation, "scan": scan_of(robot, observation["image"])})  # type: ignore[arg-type]

    return policy
