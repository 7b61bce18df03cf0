"""Scripted drivers through fields of cylinders: twists (vx [m/s], omega [rad/s]) for a batch of observations.

Each looks at the scan, the goal and the speeds of the present alone, so its rows may be of any episodes.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from lidar_policies import free_distance, steer
from robot import Array, Observation, Robot

TwistPolicy = Callable[[Observation], Array]

LIDAR_X = 0.12  # m from the middle of the robot to its lidar
# Two discs cover the chassis, 0.503 x 0.43 m.
DISC_X, DISC_RADIUS = 0.126, 0.25  # m
LAGS = 0.12, 0.35  # s of the two speeds behind the commands
STEP = 0.1  # s of a rollout
FAR = 50.0  # m, where no hit is
# The grid about the robot on which ways to the goal are sought, in its frame.
CELL, BEHIND, AHEAD, BESIDE = 0.15, 1.5, 5.1, 3.0  # m


def hits(robot: Robot, scan: Array) -> Array:
    """x and y in the robot's frame of what the lidar sees [n, sectors, 2]; sectors without a return are far away."""
    reach = np.where(scan < 0.99 * robot.max_range, scan, FAR).astype(np.float32)
    x = LIDAR_X + reach * np.cos(robot.angles, dtype=np.float32)
    return np.stack([x, reach * np.sin(robot.angles, dtype=np.float32)], axis=-1)


def goal_of(observation: Observation) -> Array:
    """x and y of the goal in the robot's frame [n, 2]."""
    distance, cosine, sine = observation["goal"].T
    return np.stack([distance * cosine, distance * sine], axis=-1)


def rollouts(observation: Observation, commands: Array) -> Array:
    """x, y and yaw on the way of each sequence of commands [k, steps, 2], from the present speeds on [n, k, steps, 3].

    Speeds follow the commands with a lag of the first order.
    """
    n, (k, steps, _) = len(observation["goal"]), commands.shape
    speeds = np.repeat(observation["velocity"][:, None, :], k, axis=1).astype(np.float32)
    pose, poses = np.zeros((n, k, 3), np.float32), np.empty((n, k, steps, 3), np.float32)
    share = 1 - np.exp(-STEP / np.array(LAGS, np.float32))
    for t in range(steps):
        speeds += share * (commands[None, :, t] - speeds)
        middle = pose[..., 2] + 0.5 * STEP * speeds[..., 1]
        pose[..., 0] += STEP * speeds[..., 0] * np.cos(middle)
        pose[..., 1] += STEP * speeds[..., 0] * np.sin(middle)
        pose[..., 2] += STEP * speeds[..., 1]
        poses[:, :, t] = pose
    return poses


def room(poses: Array, points: Array) -> Array:
    """m between the chassis and the nearest hit at each pose: [n, k, steps, 3] and [n, s, 2] -> [n, k, steps]."""
    n, k, steps, _ = poses.shape
    ahead = DISC_X * np.stack([np.cos(poses[..., 2]), np.sin(poses[..., 2])], axis=-1)
    least = np.full((n, k * steps), np.inf, np.float32)
    squares = (points**2).sum(axis=-1)[:, None, :]
    for side in (1, -1):
        centre = (poses[..., :2] + side * ahead).reshape(n, k * steps, 2).astype(np.float32)
        away = (centre**2).sum(axis=-1)[..., None] + squares - 2 * centre @ points.transpose(0, 2, 1)
        least = np.minimum(least, away.min(axis=2))
    return np.sqrt(np.maximum(least, 0)).reshape(n, k, steps) - DISC_RADIUS


def ways_to_goal(points: Array, goal: Array, margin: float = 0.08) -> Array:
    """m of the shortest way to the goal from each cell of the grid about the robot [n, rows, columns].

    Places that the lidar does not see count as free. Cells nearer to a hit than `margin` cost twenty times more.
    """
    x = np.arange(-BEHIND, AHEAD + CELL / 2, CELL, dtype=np.float32)
    y = np.arange(-BESIDE, BESIDE + CELL / 2, CELL, dtype=np.float32)
    cells = np.stack(np.meshgrid(x, y, indexing="ij"), axis=-1)
    flat = cells.reshape(-1, 2)
    away = (flat**2).sum(axis=1)[None, :, None] + (points**2).sum(axis=2)[:, None, :]
    away = (away - 2 * flat[None] @ points.transpose(0, 2, 1)).min(axis=2)
    gap = np.sqrt(np.maximum(away, 0)).reshape(len(points), *cells.shape[:2]) - DISC_RADIUS
    cost = np.where(gap < margin, 20, 1 + 2 * np.clip(0.3 - gap, 0, None) / 0.3).astype(np.float32)
    to_goal = np.linalg.norm(cells[None] - goal[:, None, None, :], axis=-1).astype(np.float32)
    way = np.where(to_goal < CELL, to_goal, np.float32(1e3))
    for edge in (np.s_[:, 0], np.s_[:, -1], np.s_[:, :, 0], np.s_[:, :, -1]):
        way[edge] = to_goal[edge] + 20 * (gap[edge] < margin)
    diagonal = np.float32(np.sqrt(2))
    padded = np.full((len(points), len(x) + 2, len(y) + 2), 1e3, np.float32)
    for _ in range(100):
        padded[:, 1:-1, 1:-1] = way
        straight = np.minimum(padded[:, :-2, 1:-1], padded[:, 2:, 1:-1])
        straight = np.minimum(straight, np.minimum(padded[:, 1:-1, :-2], padded[:, 1:-1, 2:]))
        aslant = np.minimum(padded[:, :-2, :-2], padded[:, 2:, 2:])
        aslant = np.minimum(aslant, np.minimum(padded[:, :-2, 2:], padded[:, 2:, :-2]))
        nearer = np.minimum(straight + CELL * cost, aslant + CELL * diagonal * cost)
        if not (nearer < way).any():
            break
        np.minimum(way, nearer, out=way)
    return way


def at(way: Array, place: Array) -> Array:
    """Values of a grid at places in the robot's frame [n, k, 2], between the four cells about each."""
    rows, columns = way.shape[1:]
    r = np.clip((place[..., 0] + BEHIND) / CELL, 0, rows - 1.001)
    c = np.clip((place[..., 1] + BESIDE) / CELL, 0, columns - 1.001)
    r0, c0 = r.astype(int), c.astype(int)
    u, v = r - r0, c - c0
    n = np.arange(len(way))[:, None]
    low = way[n, r0, c0] * (1 - v) + way[n, r0, c0 + 1] * v
    high = way[n, r0 + 1, c0] * (1 - v) + way[n, r0 + 1, c0 + 1] * v
    return low * (1 - u) + high * u


def sequences(speeds: list[float], turns: Array, steps: int) -> Array:
    """Commands [k, steps, 2]: one turning speed for the first third of the way and one for the rest, at each speed."""
    first, second, speed = (a.ravel() for a in np.meshgrid(turns, turns, speeds, indexing="ij"))
    out = np.empty((len(speed), steps, 2), np.float32)
    out[..., 0] = speed[:, None]
    out[..., 1] = np.where(np.arange(steps) < steps // 3, first[:, None], second[:, None])
    return out


def mppi(
    robot: Robot,
    top_speed: float = 0.7,
    most_turn: float = 1.3,
    temperature: float = 0.03,
    calm: float = 0.05,
) -> TwistPolicy:
    """Model predictive path integral control (Williams et al. 2017) over a fixed set of sequences, without a memory.

    A sequence costs the shortest way to the goal that is left at its end, through what the lidar sees. The command is
    half way between the first one of the best and the mean of all first ones, weighted by exp(-cost / temperature).
    """
    turns = most_turn * np.array([-1, -0.5, -0.2, 0, 0.2, 0.5, 1])
    commands = sequences([0.0, 0.3 * top_speed, 0.6 * top_speed, top_speed], turns, 12)
    commands = np.concatenate([commands, sequences([-0.4], turns[::3], 12)])

    def policy(observation: Observation) -> Array:
        points, goal = hits(robot, observation["scan"]), goal_of(observation)
        way = ways_to_goal(points, goal)
        poses = rollouts(observation, commands)
        gaps = room(poses, points).min(axis=2)
        heading = np.stack([np.cos(poses[:, :, -1, 2]), np.sin(poses[:, :, -1, 2])], axis=-1)
        left = at(way, poses[:, :, -1, :2] + 0.3 * heading)
        cost = left + 0.5 * np.clip(0.2 - gaps, 0, None) / 0.2 + 50 * (gaps < 0.04) * (1 - gaps)
        cost += 2.0 * (commands[:, 0, 0] < 0)  # the lidar does not see what is behind
        cost += calm * np.abs(commands[None, :, 0, 1] - observation["velocity"][:, None, 1])
        best = cost.argmin(axis=1)
        weight = np.exp(-(cost - cost.min(axis=1, keepdims=True)) / temperature)
        return (weight @ commands[:, 0] / weight.sum(axis=1, keepdims=True)) * 0.5 + 0.5 * commands[best, 0]

    return policy


def dynamic_window(top_speed: float) -> Callable[[Robot], TwistPolicy]:
    """DWA (Fox et al. 1997): the arc whose end is nearest to the goal, with room beside it; blind to dead ends."""

    def make(robot: Robot) -> TwistPolicy:
        speeds = np.linspace(0, top_speed, 5)
        turns = np.linspace(-1.57, 1.57, 15)
        v, w = (a.ravel() for a in np.meshgrid(speeds, turns))
        commands = np.repeat(np.stack([v, w], axis=-1)[:, None], 15, axis=1).astype(np.float32)

        def policy(observation: Observation) -> Array:
            points, goal = hits(robot, observation["scan"]), goal_of(observation)
            poses = rollouts(observation, commands)
            gaps = room(poses, points).min(axis=2)
            to = goal[:, None] - poses[:, :, -1, :2]
            aside = np.arctan2(to[..., 1], to[..., 0]) - poses[:, :, -1, 2]
            aside = np.abs((aside + np.pi) % (2 * np.pi) - np.pi)
            cost = np.linalg.norm(to, axis=-1) + 0.2 * aside
            cost += 0.05 / np.clip(gaps, 0.02, None) + 1e3 * (gaps < 0.03)
            return commands[cost.argmin(axis=1), 0]

        return policy

    return make


def follow_the_gap(robot: Robot, top_speed: float = 1.0) -> TwistPolicy:
    """Towards the gap nearest to the goal's direction that the robot fits through, slower the nearer its end."""
    fan = np.linspace(-np.pi * 0.75, np.pi * 0.75, 61)

    def policy(observation: Observation) -> Array:
        scan, goal = observation["scan"], goal_of(observation)
        target = np.arctan2(goal[:, 1], goal[:, 0])
        headings = np.concatenate([target[:, None], np.tile(fan, (len(scan), 1))], axis=1)
        free = free_distance(robot, scan, headings, 0.0)
        aside = np.abs((headings - target[:, None] + np.pi) % (2 * np.pi) - np.pi)
        wanted = np.minimum(observation["goal"][:, :1], 1.5)
        cost = aside + 0.3 * np.abs(headings) + 3 * np.clip(wanted - free, 0, None)
        best = cost.argmin(axis=1)
        rows = np.arange(len(scan))
        return steer(robot, headings[rows, best], top_speed * np.clip(free[rows, best] / 1.5, 0.15, 1))

    return policy
