"""Scripted policies that look at a depth image."""

from __future__ import annotations

import numpy as np
from lidar_policies import TwistPolicy, gap_follower
from robot import Array, Observation, Robot

# Above and below the horizon, as far as a level camera at 0.2 m does not see the floor within 5 m.
_ROWS = 2


def scan_of(robot: Robot, depth: Array) -> Array:
    """Depth images [n, h, w] (m along the axis) -> distances in the plane [n, w], the nearest of the middle rows."""
    middle = depth.shape[1] // 2
    nearest = depth[:, middle - _ROWS : middle + _ROWS].min(axis=1)
    return np.where(nearest < robot.max_range, nearest / np.cos(robot.angles), robot.max_range)


def depth_gap_follower(robot: Robot) -> TwistPolicy:
    """The gap follower of lidars on the middle rows; what the camera does not see counts as free, so it keeps room for
    what it has just passed."""
    follow = gap_follower(robot, margin=0.15)

    def policy(observation: Observation) -> Array:
        return follow({**observation, "scan": scan_of(robot, observation["depth"])})

    return policy
