"""Scripted drivers along a path without walls: of robots that take a twist, and of a car that drifts."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from race_policies import arc_to, point_ahead
from robot import Array, Observation, Robot

Policy = Callable[[Observation], Array]

LOOKAHEAD = 0.6, 0.3  # m, and m for each m/s
WHEELBASE = 0.33  # m, of the car


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


def line_keeper(speed: float) -> Callable[[Robot], Policy]:
    """Keeps a car on the line by its offset and heading, at one speed (vx [m/s], steering angle [rad])."""

    def make(_: Robot) -> Policy:
        def policy(observation: Observation) -> Array:
            offset, heading, curvature = observation["track_error"][:, :3].T
            steer = np.arctan(WHEELBASE * curvature) - 1.5 * heading - offset
            return np.stack([np.full(len(steer), speed), steer], axis=1)

        return policy

    return make


def drifter(_: Robot) -> Policy:
    """Drifts a car to the left by linear feedback of offset, heading, slip angle and curvature.

    The speed command is what sustains the slip: less of it where the slip angle is large, more where a bend begins. The
    gains were found by the cross-entropy method (28 rounds of 60 candidates, 8 episodes each).
    """

    def policy(observation: Observation) -> Array:
        vx, vy = observation["velocity"][:, :2].T
        offset, heading, here, ahead = observation["track_error"][:, :4].T
        slip = np.where(np.hypot(vx, vy) > 0.3, np.arctan2(vy, np.maximum(vx, 0.05)), 0)
        speed = 2.23 + 0.73 * offset - 0.23 * heading + 1.34 * slip + 0.56 * here - 0.46 * ahead
        steer = -0.26 - 1.67 * offset - 2.54 * heading + 1.03 * here + 0.08 * ahead
        return np.stack([speed, steer], axis=1)

    return policy
