"""Scripted drivers among cylinders and people that move: twists (vx [m/s], omega [rad/s]) for a batch of observations.

Among cylinders they know the radius, and take velocities from the last three scans.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from barn_policies import LAGS, LIDAR_X, STEP, goal_of, hits, rollouts
from robot import Array, Observation, Robot

TwistPolicy = Callable[[Observation], Array]

CYLINDER, PERSON, BODY = (
    0.5,
    0.3,
    0.33,
)  # m, radius of a cylinder, of a person, and of a circle about the robot
PERIOD, FRAMES = 0.2, 3  # s between two scans, and scans of an observation
APERTURE, REACH = np.deg2rad(270), 5.0  # of the lidar: rad, m
MOST = 16  # cylinders that are told apart
FAR = 50.0  # m, where no cylinder is


def segments(scan: Array) -> tuple[Array, Array]:
    """Places of cylinders that a scan [n, s] shows, [n, MOST, 2] (far away: none), and x and y of hits of walls.

    A run of hits without a jump is a cylinder if it is no wider than one; its middle lies behind its nearest hit.
    """
    n, s = scan.shape
    angles = (np.arange(s) + 0.5) / s * APERTURE - APERTURE / 2
    hit = scan < 0.99 * REACH
    jump = np.abs(np.diff(scan, axis=1, prepend=FAR)) > 0.35
    run = np.minimum(np.cumsum(jump, axis=1), 2 * MOST - 1) + 2 * MOST * np.arange(n)[:, None]
    where = run[hit]
    size = n * 2 * MOST
    count = np.maximum(np.bincount(where, minlength=size), 1)
    bearing = np.bincount(where, np.broadcast_to(angles, scan.shape)[hit], minlength=size) / count
    near = np.full(size, FAR)
    np.minimum.at(near, where, scan[hit])
    width = count * APERTURE / s
    wide = width > 2 * np.arcsin(CYLINDER / (near + CYLINDER)) + 2.5 * APERTURE / s
    reach = np.where(wide | (near >= FAR), FAR, near + CYLINDER)
    places = np.stack([LIDAR_X + reach * np.cos(bearing), reach * np.sin(bearing)], axis=-1)
    order = np.argsort(reach.reshape(n, -1), axis=1)[:, :MOST]
    places = np.take_along_axis(places.reshape(n, -1, 2), order[..., None], axis=1)
    wall = np.where(hit & wide[run], scan, FAR)
    return places, np.stack([LIDAR_X + wall * np.cos(angles), wall * np.sin(angles)], axis=-1)


def mean_speeds(observation: Observation, robot: Robot) -> Array:
    """The mean speeds [n, 2] of the last control period, by the lags of the speeds behind the last action."""
    command = robot.low + (observation["last_action"] + 1) / 2 * (robot.high - robot.low)
    lags = np.array(LAGS)
    rest = np.exp(-PERIOD / lags)
    before = np.clip((observation["velocity"] - (1 - rest) * command) / rest, robot.low, robot.high)
    return command + (before - command) * lags / PERIOD * (1 - rest)


def velocities(now: Array, before: Array, speeds: Array, time: float) -> Array:
    """Velocities [n, MOST, 2] of cylinders over ground, in the robot's frame, by their places `time` seconds ago."""
    turn = speeds[:, 1] * time
    moved = np.stack(
        [speeds[:, 0] * time * np.cos(turn / 2), -speeds[:, 0] * time * np.sin(turn / 2)], axis=-1
    )
    c, s = np.cos(turn)[:, None], np.sin(turn)[:, None]
    x = c * before[..., 0] + s * before[..., 1] - moved[:, None, 0]
    y = c * before[..., 1] - s * before[..., 0] - moved[:, None, 1]
    away = now[:, :, None] - np.stack([x, y], axis=-1)[:, None]
    distance = np.linalg.norm(away, axis=-1)
    nearest = distance.argmin(axis=2)[..., None]
    known = np.take_along_axis(distance, nearest, axis=2) < 1.5 * time + 0.2
    return np.where(known, np.take_along_axis(away, nearest[..., None], axis=2)[:, :, 0], 0) / time


def window(robot: Robot, top_speed: float, seconds: float) -> Array:
    """Commands [k, steps, 2] of arcs that are driven for `seconds`, backwards too where the robot can."""
    speeds = np.linspace(robot.low[0], top_speed, 6)
    speed, turn = (a.ravel() for a in np.meshgrid(speeds, np.linspace(-1.5, 1.5, 13)))
    steps = round(seconds / STEP)
    return np.repeat(np.stack([speed, turn], axis=-1)[:, None], steps, axis=1).astype(np.float32)


def best_command(
    observation: Observation,
    commands: Array,
    discs: tuple[Array, Array, float],
    points: Array,
    margin: float,
) -> Array:
    """The arc that gets nearest to the goal, where each metre is worth a quarter of the cost of coming too near.

    `discs`: places [n, m, 2], velocities [n, m, 2] and the radius of things that keep their velocity; `points`
    [n, s, 2]: things that stand still; `margin`: room beside them (m) below which it costs.
    """
    places, drift, radius = discs
    times = STEP * np.arange(1, commands.shape[1] + 1)
    poses = rollouts(observation, commands)[..., :2]
    room = np.full(poses.shape[:3], FAR)
    for k in range(places.shape[1]):
        if (np.abs(places[:, k]).max(axis=1) < FAR / 2).any():
            way = places[:, k, None] + drift[:, k, None] * times[:, None]  # [n, steps, 2]
            room = np.minimum(room, np.linalg.norm(poses - way[:, None], axis=-1) - radius)
    every = np.s_[:, :, 4::5]
    away = np.linalg.norm(poses[every][:, :, :, None] - points[:, None, None], axis=-1).min(axis=-1)
    room[every] = np.minimum(room[every], away)
    room -= BODY
    soon = 1 - times / (times[-1] + STEP)
    risk = (np.clip(margin - room, 0, margin) / margin * soon).max(axis=2)
    crash = ((room < 0.03) * soon).max(axis=2)
    left = np.linalg.norm(goal_of(observation)[:, None] - poses[:, :, -1], axis=-1)
    return commands[(left + 4 * risk + 30 * crash).argmin(axis=1), 0]


def velocity_window(robot: Robot, moving: bool = True) -> TwistPolicy:
    """DWA among cylinders that keep their velocities, or stand still if it does not know that they are `moving`."""
    commands = window(robot, 1.5, 2.0)

    def policy(observation: Observation) -> Array:
        scans = observation["scan"].reshape(len(observation["goal"]), FRAMES, -1)
        places, walls = segments(scans[:, -1])
        before, _ = segments(scans[:, -2])
        drift = velocities(places, before, mean_speeds(observation, robot), PERIOD)
        return best_command(observation, commands, (places, moving * drift, CYLINDER), walls, 0.5)

    return policy


def static_window(robot: Robot) -> TwistPolicy:
    """The same, for cylinders that stand still."""
    return velocity_window(robot, moving=False)


def wait_and_go(robot: Robot) -> TwistPolicy:
    """Straight at the goal; it stops while something is in the way within 2 m."""

    def policy(observation: Observation) -> Array:
        scan = observation["scan"].reshape(len(observation["goal"]), FRAMES, -1)[:, -1]
        angles = (np.arange(scan.shape[1]) + 0.5) / scan.shape[1] * APERTURE - APERTURE / 2
        goal = goal_of(observation)
        heading = np.arctan2(goal[:, 1], goal[:, 0])
        ahead = scan * np.cos(angles), np.abs(scan * np.sin(angles))
        blocked = ((ahead[1] < BODY + 0.5) & (ahead[0] > 0) & (ahead[0] < 2)).any(axis=1)
        speed = np.where(blocked, 0, robot.high[0] * np.clip(np.cos(heading), 0, 1) ** 2)
        return np.stack([speed, np.clip(2 * heading, -2, 2)], axis=1)

    return policy


def social_window(robot: Robot, seconds: float = 3.0, margin: float = 0.6) -> TwistPolicy:
    """DWA among people that keep their velocities, and walls."""
    commands = window(robot, robot.high[0], seconds)

    def policy(observation: Observation) -> Array:
        n = len(observation["goal"])
        people = observation["neighbours"].reshape(n, -1, 6)
        there = people[..., 5:] > 0
        places = np.where(there, people[..., :2], FAR)
        points = hits(robot, observation["scan"])
        to_people = np.linalg.norm(points[:, :, None] - places[:, None], axis=-1).min(axis=2)
        walls = np.where(to_people[..., None] < PERSON + 0.2, FAR, points)
        return best_command(observation, commands, (places, people[..., 2:4], PERSON), walls, margin)

    return policy
