"""A scripted driver between rows of plants by a 2D lidar: (speed [m/s], steering angle [rad]) for batches.

It knows how long the robot is and how much room is beyond the rows. It keeps no memory: the heading and the parity of
the alley say where in a turn it is.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from robot import Array, Observation, Robot

LIDAR_X, WHEELBASE, LOOKAHEAD = 0.8, 0.62, 1.0  # m
SPACINGS = np.linspace(1.4, 1.8, 5, dtype=np.float32)  # m between rows
SHIFTS = np.linspace(
    -0.5, 0.5, 17, dtype=np.float32
)  # of an alley from where it is expected, shares of a spacing
TURN_RADIUS = 0.9  # m, of the rear axle at full lock
GLASS = 4.45  # m from the end of the rows to the wall behind the headland
ROOM = 2.1  # m beyond the rows where it turns round: enough for the narrowest alleys


def plants_of(observation: Observation, yaw: Array) -> tuple[Array, Array, Array]:
    """Field axes, from the rear axle: x and y of hits [n, sectors], and which are hits."""
    scan = observation["scan"]
    sectors = scan.shape[1]
    angles = ((np.arange(sectors) + 0.5) / sectors - 0.5) * np.pi
    x, y = LIDAR_X + scan * np.cos(angles), scan * np.sin(angles)
    c, s = np.cos(yaw)[:, None], np.sin(yaw)[:, None]
    return c * x - s * y, s * x + c * y, scan < 7.9


def middle_of_alley(y: Array, counts: Array, expected: Array) -> Array:
    """y of the middle of an alley [n]: that beside whose equally spaced rows the plants stand, near `expected`."""
    spacing, shift = (a.ravel() for a in np.meshgrid(SPACINGS, SHIFTS))
    middle = expected[:, None] + spacing * shift  # [n, candidates]
    place = (y[:, None, :] - middle[:, :, None]) / spacing[:, None]
    off = np.minimum(np.abs(place - np.floor(place) - 0.5) * spacing[:, None], np.float32(0.4))
    cost = np.einsum("nkp,np->nk", off, counts) / np.maximum(counts.sum(axis=1), 1)[:, None]
    best = (cost + 0.05 * np.abs(spacing * shift)).argmin(axis=1)
    found = middle[np.arange(len(y)), best]
    return np.where(counts.sum(axis=1) >= 5, found, expected)


def flat_row_follower(robot: Robot) -> Callable[[Observation], Array]:
    """Down the middle of each alley; beyond its end straight on, then at full lock into the next one."""
    fastest, most_steer = robot.high

    def policy(observation: Observation) -> Array:
        w, _, _, z = observation["imu"][:, 6:].T
        yaw = 2 * np.arctan2(z, w)
        odd = observation["row_parity"][:, 0] > 0.5
        way = np.where(odd, -1.0, 1.0)
        # rad left to turn: to the left into the second alley, to the right into the third, and so on
        left = np.where(odd, np.pi - yaw, yaw)
        left = (left + np.pi / 2) % (2 * np.pi) - np.pi / 2
        turning = left > np.pi / 2

        x, y, seen = plants_of(observation, yaw)
        # outwards the wall ahead says how far beyond the rows it is
        ahead = -way[:, None] * x
        facing = seen & (np.abs(y) < 0.35 * ahead)
        wall = np.where(facing, ahead, 0).sum(axis=1) / np.maximum(facing.sum(axis=1), 1)
        straight = turning & (left > np.pi - 0.6) & (GLASS - wall < ROOM)

        # the next alley lies at y above 0, as far as the turn has not come round yet
        come = np.clip(np.pi - left, 0, np.pi)
        expected = np.where(np.abs(left) < 0.35, 0, 1.6 - TURN_RADIUS * (1 - np.cos(come)))
        along = way[:, None] * x
        near = seen & (along > 0.3) & (along < 4.5) & (np.abs(y) < 2.4)
        middle = middle_of_alley(y.astype(np.float32), near.astype(np.float32), expected.astype(np.float32))

        aim = np.where(straight, 0, middle)
        dx, dy = LOOKAHEAD * np.where(straight, -way, way), aim
        bearing = (np.arctan2(dy, dx) - yaw + np.pi) % (2 * np.pi) - np.pi
        steer = np.arctan(2 * WHEELBASE * np.sin(bearing) / np.hypot(dx, dy))
        steer = np.where(turning & ~straight, way * -most_steer, steer)
        return np.stack([np.full(len(steer), fastest), np.clip(steer, -most_steer, most_steer)], axis=1)

    return policy
