"""Scripted drivers of race cars: (speed [m/s], steering angle [rad]) for a batch of observations."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from robot import Array, Observation, Robot

WHEELBASE = 0.33  # m
LOOKAHEAD = 1.0, 0.25  # m, and m for each m/s
GRIP = 0.5 * 9.81  # m/s2 to the side that a driver counts on; the tires have more
BRAKING = 3.0  # m/s2
FIELD_OF_VIEW = np.deg2rad(270)


def pure_pursuit(share: float = 1.0) -> Callable[[Robot], Callable[[Observation], Array]]:
    """Steers along the arc through a point of the centreline ahead, as fast as the bends up to there and beyond allow.

    `share`: of the speed that it could drive.
    """

    def make(robot: Robot) -> Callable[[Observation], Array]:
        def policy(observation: Observation) -> Array:
            points = observation["centreline"].reshape(len(observation["centreline"]), -1, 2)
            speed = observation["velocity"][:, 0]
            steer = np.arctan(WHEELBASE * arc_to(point_ahead(points, LOOKAHEAD[0] + LOOKAHEAD[1] * speed)))
            return np.stack([share * fastest(points, robot.high[0]), steer], axis=1)

        return policy

    return make


def point_ahead(points: Array, distance: Array) -> Array:
    """Returns the place [n, 2] at `distance` [n] on the line through points [n, k, 2] at growing distances."""
    away = np.hypot(points[..., 0], points[..., 1])
    after = np.clip((away < distance[:, None]).sum(axis=1), 1, points.shape[1] - 1)
    rows = np.arange(len(points))
    near, far = away[rows, after - 1], away[rows, after]
    part = np.clip((distance - near) / np.maximum(far - near, 1e-6), 0, 1)[:, None]
    return (1 - part) * points[rows, after - 1] + part * points[rows, after]


def arc_to(point: Array) -> Array:
    """Curvature [n] (1/m) of the arc from the robot through a point [n, 2] of its frame."""
    return 2 * point[:, 1] / np.maximum((point**2).sum(axis=1), 1e-6)


def fastest(points: Array, limit: float) -> Array:
    """Speed [n] from which the car can brake for every bend of the points [n, k, 2] ahead."""
    steps = np.diff(points, axis=1)
    lengths = np.hypot(steps[..., 0], steps[..., 1])
    headings = np.arctan2(steps[..., 1], steps[..., 0])
    turns = np.abs((np.diff(headings, axis=1) + np.pi) % (2 * np.pi) - np.pi)
    curvature = turns / np.maximum(lengths[:, 1:], 1e-6)
    distance = np.cumsum(lengths, axis=1)[:, :-1]
    there = GRIP / np.maximum(curvature, 1e-6)  # speeds squared
    return np.minimum(np.sqrt(there + 2 * BRAKING * distance).min(axis=1), limit)


def follow_the_gap(robot: Robot) -> Callable[[Observation], Array]:
    """Steers to where the scan sees farthest, away from near walls; the slower, the more it steers."""

    def policy(observation: Observation) -> Array:
        sectors = observation["scan"].shape[1] // 2
        scan = observation["scan"][:, :sectors]  # without its changes
        angles = (np.arange(sectors) + 0.5) / sectors * FIELD_OF_VIEW - FIELD_OF_VIEW / 2
        ahead = np.abs(angles) < np.deg2rad(80)
        weight = np.where(ahead, scan, 0) ** 3
        aim = (weight * angles).sum(axis=1) / np.maximum(weight.sum(axis=1), 1e-6)
        steer = np.clip(aim, -robot.high[1], robot.high[1])
        front = scan[:, np.abs(angles) < np.deg2rad(20)].min(axis=1)
        speed = np.minimum(np.sqrt(2 * BRAKING * np.maximum(front - 0.6, 0)), 1.2 * np.sqrt(front + 1))
        return np.stack([speed, steer], axis=1)

    return policy
