"""Scripted drivers of a known route by satellite fixes, odometry and an orientation (vx [m/s], omega [rad/s])."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from race_policies import arc_to
from robot import Array, Observation, Robot

Policy = Callable[[Observation], Array]

ROUTE = Path(__file__).resolve().parent.parent / "worlds" / "paths" / "campus.csv"
PARTS = 4  # of each piece of the route, among whose ends the nearest place is sought
AHEAD = 6.0  # m
TIGHTEST = 0.2  # 1/m
SIDEWAYS = 2.0  # m/s2
FADING = 0.97  # weight of a fix over that of the next one, a second later


def waypoint_follower(speed: float, *, window: bool = True) -> Callable[[Robot], Policy]:
    """Pure pursuit of the route from an estimated place, at no more than `speed` m/s.

    The estimate is the mean of the fixes of the last 20 s, each carried to the present by the odometry. Without
    `window` it is the last fix alone, which is up to a second old, and older in a gap.
    """
    corners = np.loadtxt(ROUTE)
    steps = np.roll(corners, -1, axis=0) - corners
    route = np.concatenate(
        [corners[:, None] + steps[:, None] * k / PARTS for k in range(PARTS)], axis=1
    ).reshape(-1, 2)
    ahead = round(AHEAD / float(np.linalg.norm(steps, axis=1).mean()) * PARTS)

    def make(robot: Robot) -> Policy:
        most_turn = robot.high[1]

        def policy(observation: Observation) -> Array:
            yaw = yaw_of(observation["imu"][:, 6:10])
            place, known = (place_of if window else last_fix)(observation, yaw)
            nearest = ((route - place[:, None]) ** 2).sum(axis=2).argmin(axis=1)
            to_point = route[(nearest + ahead) % len(route)] - place
            curvature = np.clip(arc_to(rotated(to_point, -yaw)), -TIGHTEST, TIGHTEST)
            vx = np.minimum(speed, np.sqrt(SIDEWAYS / np.maximum(np.abs(curvature), 1e-3)))
            vx, curvature = np.where(known, vx, 1), np.where(known, curvature, 0)
            return np.stack([vx, np.clip(vx * curvature, -most_turn, most_turn)], axis=1)

        return policy

    return make


def yaw_of(quaternion: Array) -> Array:
    """Yaw [n] (rad) of unit quaternions w, x, y, z [n, 4]."""
    w, x, y, z = quaternion.T
    return np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))


def rotated(points: Array, angle: Array) -> Array:
    """Points [n, ..., 2], each row turned by its angle [n] (rad)."""
    angle = angle.reshape(-1, *[1] * (points.ndim - 2))
    c, s = np.cos(angle), np.sin(angle)
    return np.stack(
        [c * points[..., 0] - s * points[..., 1], s * points[..., 0] + c * points[..., 1]], axis=-1
    )


def place_of(observation: Observation, yaw: Array) -> tuple[Array, Array]:
    """Estimated place [n, 2] (m), and whether there was any fix."""
    fixes = observation["gnss"].reshape(len(yaw), -1, 4)
    odometry = observation["odometry"].reshape(len(yaw), -1, 4)
    now = odometry[:, -1]
    since = rotated(now[:, None, :2] - odometry[..., :2], yaw - np.arctan2(now[:, 3], now[:, 2]))
    weights = fixes[..., 3] * FADING ** np.arange(fixes.shape[1])[::-1]
    total = weights.sum(axis=1)
    mean = ((fixes[..., :2] + since) * weights[..., None]).sum(axis=1) / np.maximum(total, 1e-6)[:, None]
    return mean, total > 0


def last_fix(observation: Observation, yaw: Array) -> tuple[Array, Array]:
    """The place of the last fix as it was [n, 2] (m), and whether there is one now."""
    fixes = observation["gnss"].reshape(len(yaw), -1, 4)
    return fixes[:, -1, :2], fixes[:, -1, 3] > 0
