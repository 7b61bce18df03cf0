"""Drivers of one lap of a public race track: (speed [m/s], steering angle [rad]) for a batch of observations.

`racing_pursuit` needs 30 points of the centreline 0.35 m apart, `disparity_gap` the scan in 270 sectors without
its changes.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from race_policies import WHEELBASE, arc_to, point_ahead
from robot import Array, Observation, Robot

GRAVITY = 9.81
# Constants of `disparity_gap`: m that a scan changes by at an edge, of the car's half width with some room, of a wall
# beside it, and of the farthest return; m/s2 of braking; sideways grip in units of gravity; the share of the angle that
# it steers.
JUMP, HALF_WIDTH, NEAR, FARTHEST = 0.3, 0.35, 0.32, 10.0
BRAKING, GRIP, GAIN = 3.0, 0.55, 0.6
# Sectors of a degree of a scan of 270 degrees, from the right to the left.
AHEAD, FRONT, RIGHT, LEFT = slice(45, 225), slice(125, 145), slice(30, 65), slice(205, 240)


def racing_pursuit(
    grip: float = 0.55, braking: float = 2.5, lookahead: tuple[float, float] = (0.7, 0.1)
) -> Callable[[Robot], Callable[[Observation], Array]]:
    """Steers along the arc through a point of the line ahead, as fast as the bends up to there and beyond allow.

    `grip`: sideways, in units of gravity; `braking` in m/s2; `lookahead` in m, and in m for each m/s.
    """

    def make(robot: Robot) -> Callable[[Observation], Array]:
        def policy(observation: Observation) -> Array:
            points = observation["centreline"].reshape(len(observation["centreline"]), -1, 2)
            ahead = lookahead[0] + lookahead[1] * observation["velocity"][:, 0]
            steer = np.arctan(WHEELBASE * arc_to(point_ahead(points, ahead)))
            return np.stack([fastest(points, grip, braking, robot.high[0]), steer], axis=1)

        return policy

    return make


def fastest(points: Array, grip: float, braking: float, limit: float) -> Array:
    """Speed [n] from which the car can brake for every bend of the points [n, k, 2], each the mean of two corners."""
    steps = np.diff(points, axis=1)
    lengths = np.hypot(steps[..., 0], steps[..., 1])
    headings = np.arctan2(steps[..., 1], steps[..., 0])
    turns = np.abs((np.diff(headings, axis=1) + np.pi) % (2 * np.pi) - np.pi)
    corners = turns / np.maximum(lengths[:, 1:], 1e-6)
    bends = (corners[:, :-1] + corners[:, 1:]) / 2
    there = grip * GRAVITY / np.maximum(bends, 1e-6)  # speeds squared
    away = np.cumsum(lengths, axis=1)[:, :-2]
    return np.minimum(np.sqrt(there + 2 * braking * away).min(axis=1), limit)


def disparity_gap(robot: Robot) -> Callable[[Observation], Array]:
    """Follows the gap: steers to the middle of the farthest returns ahead, after near returns are widened by half of
    the car's width and some room. It turns little where a wall is beside it, and is as fast as it can brake and turn.
    """

    def policy(observation: Observation) -> Array:
        scans = observation["scan"]
        steer = np.array([GAIN * _aim(scan) for scan in scans])
        steer = np.clip(steer, -robot.high[1], robot.high[1])
        front = scans[:, FRONT].min(axis=1)
        stops = np.sqrt(2 * BRAKING * np.maximum(front - 0.5, 0.05))
        turns = np.sqrt(GRIP * GRAVITY * WHEELBASE / np.maximum(np.abs(np.tan(steer)), 1e-3))
        return np.stack([np.minimum(np.minimum(stops, turns), robot.high[0]), steer], axis=1)

    return policy


def _aim(scan: Array) -> float:
    """The angle to aim at by one scan, rad."""
    free = np.minimum(scan, FARTHEST)
    steps = np.diff(free)
    for i in np.nonzero(np.abs(steps) > JUMP)[0]:
        near = free[i] if steps[i] > 0 else free[i + 1]
        count = int(np.ceil(np.rad2deg(np.arctan2(HALF_WIDTH, scan[i] if steps[i] > 0 else scan[i + 1]))))
        hidden = slice(i + 1, i + 1 + count) if steps[i] > 0 else slice(max(i + 1 - count, 0), i + 1)
        free[hidden] = np.minimum(free[hidden], near)
    ahead = free[AHEAD]
    first = last = int(ahead.argmax())
    far = ahead > ahead.max() - JUMP
    while first > 0 and far[first - 1]:
        first -= 1
    while last < len(far) - 1 and far[last + 1]:
        last += 1
    aim = float(np.deg2rad(AHEAD.start + (first + last) // 2 + 0.5 - 135))
    beside = scan[LEFT] if aim > 0 else scan[RIGHT]
    return aim / 5 if beside.min() < NEAR else aim
