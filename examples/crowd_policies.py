"""Scripted policies that see people as discs: the observation `neighbours`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from robot import Array, Observation, Robot

Policy = Callable[[Observation], Array]

RADIUS = 0.33
"""m, of a circle about the Jackal's chassis."""


def velocity_obstacles(
    robot: Robot, headings: int = 25, speeds: int = 5, horizon: float = 3.0, safety: float = 0.15
) -> Policy:
    """Returns a policy that picks a velocity towards the goal without a collision within `horizon` seconds, if people
    keep their velocities. If all velocities collide, it picks the one that collides last."""
    turns = np.linspace(-np.pi * 0.6, np.pi * 0.6, headings)
    grid = np.array([(v, a) for v in np.linspace(0, robot.high[0], speeds) for a in turns])
    velocities = grid[:, :1] * np.stack([np.cos(grid[:, 1]), np.sin(grid[:, 1])], axis=1)

    def policy(observation: Observation) -> Array:
        people = observation["neighbours"].reshape(len(observation["goal"]), -1, 6)
        to = people[:, None, :, :2]
        relative = velocities[None, :, None, :] - people[:, None, :, 2:4]
        radius = people[:, None, :, 4] + RADIUS + safety
        # |to - relative t| = radius
        a = np.maximum((relative**2).sum(-1), 1e-9)
        b = (to * relative).sum(-1)
        c = (to**2).sum(-1) - radius**2
        root = np.sqrt(np.maximum(b * b - a * c, 0))
        hit = np.where((b > 0) & (b * b > a * c), (b - root) / a, np.inf)
        hit = np.where(
            c < 0, np.where(b > 0, 0.0, np.inf), hit
        )  # too near already: away is as good as it gets
        hit = np.where(people[:, None, :, 5] > 0, hit, np.inf).min(-1)
        goal = np.arctan2(observation["goal"][:, 2], observation["goal"][:, 1])
        wanted = robot.high[0] * np.stack([np.cos(goal), np.sin(goal)], axis=1)
        off = np.linalg.norm(velocities[None] - wanted[:, None], axis=-1)
        cost = off + 3 * np.clip(1 - hit / horizon, 0, 1)
        best = grid[cost.argmin(axis=1)]
        return np.stack([best[:, 0] * np.maximum(0, np.cos(best[:, 1])), 2 * best[:, 1]], axis=1)

    return policy
