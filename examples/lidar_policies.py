"""Scripted policies that look at a scan: twists (vx [m/s], omega [rad/s]) for a batch of observations."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from robot import Array, Observation, Robot

TwistPolicy = Callable[[Observation], Array]


def target_of(observation: Observation) -> tuple[Array, Array]:
    """Distance and heading of what to drive at: the waypoint of a planned path where there is one, else the goal."""
    distance, heading = (
        observation["goal"][:, 0],
        np.arctan2(observation["goal"][:, 2], observation["goal"][:, 1]),
    )
    if "waypoint" not in observation:
        return distance, heading
    x, y = observation["waypoint"].T
    return np.hypot(x, y), np.arctan2(y, x)


def steer(robot: Robot, heading: Array, speed: Array) -> Array:
    """Turn towards a heading, slower the more there is to turn."""
    omega = np.clip(3.0 * heading, robot.low[1], robot.high[1])
    vx = speed * np.clip(np.cos(heading), 0, 1) ** 2
    return np.stack([vx, omega], axis=1)


def go_to_goal(robot: Robot) -> TwistPolicy:
    """Straight at the goal, blind to obstacles."""

    def policy(observation: Observation) -> Array:
        _, heading = target_of(observation)
        return steer(robot, heading, np.full(len(heading), robot.high[0]))

    return policy


def free_distance(robot: Robot, scan: Array, headings: Array, margin: float) -> Array:
    """How far the body can go along each heading: scan [n, s], headings [n, h] -> [n, h] in metres."""
    x, y = robot.points(scan)
    c, s = np.cos(headings)[:, :, None], np.sin(headings)[:, :, None]
    along = c * x[:, None, :] + s * y[:, None, :]
    across = np.abs(c * y[:, None, :] - s * x[:, None, :])
    hit = (scan < 0.99 * robot.max_range)[:, None, :]
    blocked = hit & (along > 0) & (across < robot.radius + margin)
    reach = np.where(blocked, along - robot.radius, robot.max_range)
    return reach.min(axis=2)


def keep_right(robot: Robot) -> TwistPolicy:
    """A gap follower among others of its kind: it passes on the right, and leaves more room."""
    return gap_follower(robot, margin=0.15, leftwards=0.5, slow_within=0.9)


def wide_gap_follower(robot: Robot) -> TwistPolicy:
    """A gap follower among things that move: it leaves more room, and slows down earlier."""
    return gap_follower(robot, margin=0.15, slow_within=0.9)


def gap_follower(
    robot: Robot, margin: float = 0.05, leftwards: float = 0.0, slow_within: float = 0.4
) -> TwistPolicy:
    """Towards the gap nearest to the goal's direction that the body fits through.

    `margin`: room beside the body (m); `leftwards`: what each radian to the left of the goal costs on top;
    `slow_within`: free metres ahead below which it slows down.
    """
    fan = np.linspace(-np.pi, np.pi, 72, endpoint=False)

    def policy(observation: Observation) -> Array:
        scan = observation["scan"]
        distance, target = target_of(observation)
        headings = np.concatenate([target[:, None], np.tile(fan, (len(scan), 1))], axis=1)
        free = free_distance(robot, scan, headings, margin)
        wanted = np.minimum(distance[:, None], 1.0)
        aside = (headings - target[:, None] + np.pi) % (2 * np.pi) - np.pi
        detour = np.abs(aside) + leftwards * np.clip(aside, 0, None)
        turn = np.abs((headings + np.pi) % (2 * np.pi) - np.pi)
        cost = detour + 0.3 * turn + 4 * np.clip(wanted - free, 0, None)
        best = cost.argmin(axis=1)
        rows = np.arange(len(scan))
        heading = (headings[rows, best] + np.pi) % (2 * np.pi) - np.pi
        speed = robot.high[0] * np.clip(free[rows, best] / slow_within, 0.15, 1)
        return steer(robot, heading, speed)

    return policy


def dynamic_window(robot: Robot) -> TwistPolicy:
    """DWA: the best of a window of arcs by clearance, goal distance and heading at its end (Fox et al. 1997)."""
    speeds = np.linspace(0, robot.high[0], 4)
    turns = np.linspace(robot.low[1], robot.high[1], 15)
    v, w = (a.ravel() for a in np.meshgrid(speeds, turns))
    horizon, steps = 1.5, 6
    t = np.arange(1, steps + 1) / steps * horizon
    safe_w = np.where(np.abs(w) < 1e-6, 1e-6, w)[:, None]
    arc_x = v[:, None] / safe_w * np.sin(safe_w * t)
    arc_y = v[:, None] / safe_w * (1 - np.cos(safe_w * t))
    end_yaw = w * horizon

    def policy(observation: Observation) -> Array:
        scan = observation["scan"]
        x, y = robot.points(scan)
        hit = scan < 0.99 * robot.max_range
        distance, heading_to = target_of(observation)
        gx, gy = distance * np.cos(heading_to), distance * np.sin(heading_to)
        gap = np.full((len(scan), len(v)), robot.max_range)
        for k in range(steps):
            d2 = (x[:, None, :] - arc_x[None, :, k, None]) ** 2 + (
                y[:, None, :] - arc_y[None, :, k, None]
            ) ** 2
            gap = np.minimum(gap, np.sqrt(np.where(hit[:, None, :], d2, 1e6)).min(axis=2) - robot.radius)
        dx, dy = gx[:, None] - arc_x[:, -1], gy[:, None] - arc_y[:, -1]
        heading = np.abs((np.arctan2(dy, dx) - end_yaw + np.pi) % (2 * np.pi) - np.pi)
        cost = np.hypot(dx, dy) + 0.08 * heading + 0.05 / np.clip(gap, 0.02, None) + 1e3 * (gap < 0.03)
        best = cost.argmin(axis=1)
        return np.stack([v[best], w[best]], axis=1)

    return policy
