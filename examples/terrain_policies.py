"""A scripted policy that looks at the heights of the ground around: twists for a batch of observations."""

from __future__ import annotations

import numpy as np
from lidar_policies import TwistPolicy, steer, target_of
from robot import Array, Observation, Robot

# The patch that mvsim/TerrainGoal-v0 observes, and what a Jackal climbs at any heading.
ROWS, COLUMNS, SPACING, AHEAD = 13, 13, 0.3, 0.6
GENTLE = 0.2  # rise per metre


def steepness(heights: Array) -> Array:
    """Heights [n, ROWS * COLUMNS] -> slope [n, ROWS, COLUMNS], at each point the worst within a robot's width."""
    patch = heights.reshape(-1, ROWS, COLUMNS)
    along, across = (np.asarray(np.gradient(patch, SPACING, axis=axis)) for axis in (1, 2))
    slope = np.pad(np.hypot(along, across), ((0, 0), (1, 1), (1, 1)), mode="edge")
    shifts = [slope[:, i : i + ROWS, j : j + COLUMNS] for i in range(3) for j in range(3)]
    return np.max(shifts, axis=0)


def slope_avoider(robot: Robot) -> TwistPolicy:
    """Towards the goal, turned away from steep ground as far as the patch shows it."""
    fan = np.linspace(-np.pi, np.pi, 48, endpoint=False)
    reach = SPACING * np.arange(1, 8)
    weight = np.linspace(1.0, 0.3, len(reach))

    def policy(observation: Observation) -> Array:
        steep = steepness(observation["height_scan"])
        _, target = target_of(observation)
        headings = np.concatenate([target[:, None], np.tile(fan, (len(steep), 1))], axis=1)
        x = np.cos(headings)[:, :, None] * reach
        y = np.sin(headings)[:, :, None] * reach
        row = np.clip(np.rint((x - AHEAD) / SPACING + (ROWS - 1) / 2), 0, ROWS - 1).astype(int)
        column = np.clip(np.rint(y / SPACING + (COLUMNS - 1) / 2), 0, COLUMNS - 1).astype(int)
        each = np.arange(len(steep))
        met = np.clip(steep[each[:, None, None], row, column] - GENTLE, 0, None)
        detour = np.abs((headings - target[:, None] + np.pi) % (2 * np.pi) - np.pi)
        turn = np.abs((headings + np.pi) % (2 * np.pi) - np.pi)
        best = (detour + 0.3 * turn + 12 * (weight * met).sum(axis=2)).argmin(axis=1)
        heading = (headings[each, best] + np.pi) % (2 * np.pi) - np.pi
        speed = robot.high[0] * np.clip(1 - 3 * met[each, best].max(axis=1), 0.3, 1)
        return steer(robot, heading, speed)

    return policy
