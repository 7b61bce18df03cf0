"""Scripted drivers along a path for robots that take a twist (vx [m/s], omega [rad/s])."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from race_policies import arc_to, point_ahead
from robot import Array, Observation, Robot

Policy = Callable[[Observation], Array]

LOOKAHEAD = 0.6, 0.3  # m, and m for each m/s


def path_follower(grip: float) -> Callable[[Robot], Policy]:
    """Pure pursuit (vx [m/s], omega [rad/s]), as fast as the friction coefficient `grip` allows in the bends ahead."""

    def make(robot: Robot) -> Policy:
        fastest, most_turn = robot.high

        def policy(observation: Observation) -> Array:
            points = observation["centreline"].reshape(len(observation["centreline"]), -1, 2)
            speed = np.maximum(observation["velocity"][:, 0], 0)
            curvature = arc_to(point_ahead(points, LOOKAHEAD[0] + LOOKAHEAD[1] * speed))
            bend = np.maximum(bends(points), np.abs(curvature))
            vx = np.minimum(np.sqrt(grip * 9.81 / np.maximum(bend, 1e-3)), fastest)
            vx = np.minimum(vx, most_turn / np.maximum(np.abs(curvature), 1e-3))
            return np.stack([vx, np.clip(vx * curvature, -most_turn, most_turn)], axis=1)

        return policy

    return make


def bends(points: Array) -> Array:
    """The largest curvature [n] (1/m) between neighbouring pieces of the line through points [n, k, 2]."""
    steps = np.diff(points, axis=1)
    headings = np.arctan2(steps[..., 1], steps[..., 0])
    turns = np.abs((np.diff(headings, axis=1) + np.pi) % (2 * np.pi) - np.pi)
    return (turns / np.maximum(np.hypot(steps[..., 0], steps[..., 1])[:, 1:], 1e-6)).max(axis=1)
