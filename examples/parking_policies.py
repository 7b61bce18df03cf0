"""Scripted driver that parks a pickup in a bay: (speed [m/s], steering angle [rad]) for a batch of observations.

Each step plans anew from the pose relative to the bay: curves after Reeds and Shepp (Pacific Journal of Mathematics
145, 1990), and the start of the best one is driven.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from robot import Array, Observation, Robot

Policy = Callable[[Observation], Array]

WHEELBASE, REAR_AXLE = 3.5, -1.8  # m, and the x of the rear axle
BODY = np.array(
    [[x, y] for x in (-1.4, 1.7, 4.8) for y in (-1.5, 1.5)]
)  # m from the rear axle, with a margin
RADIUS = 4.8  # m, of the planned curves; the tightest is 4.2
RUN_IN = 6.5  # m that a curve may end before the bay, with a straight line behind it
# The lot in the frame of the bay (x into the bay, m): the aisle between the rows, and the bay's own corridor.
AISLE, CORRIDOR, DEEPEST = (-25.0, -3.0), 2.7, 6.6
CHECKED, SAMPLES = 8, 30  # the cheapest curves, and the places of each at which it is checked
BLOCKED = 400.0  # m that a curve which is blocked all along seems longer
CUSP, BACKWARDS, TURN_ROUND = 1.5, 1.1, 2.0  # m for each cusp, factor, m for starting against the motion
BRAKING, LOOKAHEAD, NOTHING, MOVING = 0.5, 0.8, 0.04, 0.1  # m/s2, m, m, m/s


class Curves(NamedTuple):
    """Curves [n, w] of four pieces: signed lengths (m, below 0 backwards), curvatures (1/m, left), and costs (m)."""

    lengths: Array
    bends: Array
    cost: Array


def reeds_shepp(x: Array, y: Array, turn: Array) -> tuple[NDArray[np.floating], Array]:
    """Curves of unit radius from (0, 0, 0) to poses [n]: signed lengths [n, 12, 3], NaN without one, and bends [12, 3].

    The words L S L, L S R and L R L, each also mirrored, driven backwards, and both. A piece may have any sign.
    """
    lengths, bends = [], []
    with np.errstate(invalid="ignore"):
        for way in (1, -1):
            for side in (1, -1):
                for word, middle, last in ((_lsl, 0, 1), (_lsr, 0, -1), (_lrl, -1, 1)):
                    t, u, v = word(way * x, side * y, way * side * turn)
                    lengths.append(way * np.stack([t, u, v], axis=-1))
                    bends.append([side, side * middle, side * last])
    return np.stack(lengths, axis=1), np.array(bends, float)


def _wrapped(angle: Array) -> Array:
    return np.asarray((angle + np.pi) % (2 * np.pi) - np.pi)


def _lsl(x: Array, y: Array, turn: Array) -> tuple[Array, Array, Array]:
    a, b = x - np.sin(turn), y - 1 + np.cos(turn)
    t = np.arctan2(b, a)
    return t, np.hypot(a, b), _wrapped(turn - t)


def _lsr(x: Array, y: Array, turn: Array) -> tuple[Array, Array, Array]:
    a, b = x + np.sin(turn), y - 1 - np.cos(turn)
    u = np.sqrt(a**2 + b**2 - 4)
    t = _wrapped(np.arctan2(b, a) + np.arctan2(2, u))
    return t, u, _wrapped(t - turn)


def _lrl(x: Array, y: Array, turn: Array) -> tuple[Array, Array, Array]:
    a, b = x - np.sin(turn), y - 1 + np.cos(turn)
    u = -2 * np.arcsin(np.hypot(a, b) / 4)
    t = _wrapped(np.arctan2(b, a) + u / 2 + np.pi)
    return t, u, _wrapped(turn - t + u)


def advanced(pose: Array, length: Array, bend: Array) -> Array:
    """Poses [..., 3] after an arc or a straight line of signed length."""
    x, y, yaw = np.moveaxis(pose, -1, 0)
    half = bend * length / 2
    chord = length * np.sinc(half / np.pi)
    return np.stack([x + chord * np.cos(yaw + half), y + chord * np.sin(yaw + half), yaw + 2 * half], axis=-1)


def places(start: Array, curves: Curves) -> Array:
    """Poses [n, w, SAMPLES, 3] along curves from `start` [n, 3]."""
    size = np.abs(curves.lengths)
    ends = np.cumsum(size, axis=-1)
    along = ends[..., -1:] * np.linspace(1 / SAMPLES, 1, SAMPLES)
    pose = np.broadcast_to(start[:, None, None], (*along.shape, 3))
    for piece in range(curves.lengths.shape[-1]):
        done = np.clip(along - (ends - size)[..., piece, None], 0, size[..., piece, None])
        pose = advanced(
            pose, done * np.sign(curves.lengths[..., piece, None]), curves.bends[..., piece, None]
        )
    return pose


def candidates(pose: Array, motion: Array) -> Curves:
    """Curves from the rear axle's pose [n, 3] in the frame of the bay into the bay, at once or by a straight run-in.

    `motion` [n] is above 0 forwards. The cost is in metres, without obstacles.
    """
    x, y, yaw = pose.T
    lengths, bends = [], []
    for run_in in (0.0, RUN_IN):
        dx, dy = REAR_AXLE - run_in - x, -y
        c, s = np.cos(yaw), np.sin(yaw)
        found, bend = reeds_shepp((c * dx + s * dy) / RADIUS, (c * dy - s * dx) / RADIUS, _wrapped(-yaw))
        straight = np.full((*found.shape[:2], 1), run_in)
        lengths.append(np.concatenate([RADIUS * found, straight], axis=-1))
        bends.append(np.concatenate([bend / RADIUS, np.zeros((len(bend), 1))], axis=-1))
    size = np.concatenate(lengths, axis=1)
    size = np.where(np.abs(size) < NOTHING, 0, size)
    ways = np.sign(size)
    first = first_way(size)
    cost = np.where(size < 0, -BACKWARDS * size, size).sum(axis=-1)
    before = first
    for piece in range(ways.shape[-1]):
        turns = (ways[..., piece] != before) & (ways[..., piece] != 0)
        cost = cost + CUSP * turns
        before = np.where(ways[..., piece] != 0, ways[..., piece], before)
    cost = cost + TURN_ROUND * (first * motion[:, None] < 0)
    all_bends = np.broadcast_to(np.concatenate(bends), size.shape)
    return Curves(np.nan_to_num(size), all_bends, np.where(np.isnan(cost), np.inf, cost))


def cheapest(curves: Curves, count: int) -> Curves:
    """The `count` curves of least cost of each row."""
    best = np.argpartition(curves.cost, count - 1, axis=1)[:, :count]
    return Curves(
        np.take_along_axis(curves.lengths, best[..., None], axis=1),
        np.take_along_axis(curves.bends, best[..., None], axis=1),
        np.take_along_axis(curves.cost, best, axis=1),
    )


def first_way(lengths: Array) -> Array:
    """The sign of the first piece that has a length."""
    ways = np.sign(np.nan_to_num(lengths))
    first = (ways != 0).argmax(axis=-1)
    return np.take_along_axis(ways, first[..., None], axis=-1)[..., 0]


def blocked(poses: Array, limits: Array) -> Array:
    """The share of poses [n, w, k, 3] of the rear axle at which the body leaves aisle and bay; `limits` [n, 2] of y."""
    c, s = np.cos(poses[..., 2:]), np.sin(poses[..., 2:])
    x = poses[..., :1] + c * BODY[:, 0] - s * BODY[:, 1]
    y = poses[..., 1:2] + s * BODY[:, 0] + c * BODY[:, 1]
    low, high = limits[:, 0, None, None, None], limits[:, 1, None, None, None]
    aisle = (x > AISLE[0]) & (x < AISLE[1]) & (y > low) & (y < high)
    bay = (np.abs(y) < CORRIDOR) & (x >= AISLE[1] - 1) & (x < DEEPEST)
    return np.asarray((~(aisle | bay)).any(axis=-1).mean(axis=-1))


def parker(robot: Robot) -> Policy:
    """Drives the cheapest of the curves that keep to the aisle and the bay."""
    fastest, most_steer = robot.high
    angles = (np.arange(24) + 0.5) * 2 * np.pi / 24 - np.pi  # of the sectors of the scan

    def policy(observation: Observation) -> Array:
        distance, c, s = observation["goal"].T.astype(float)
        yaw = -np.arctan2(observation["goal_heading"][:, 1], observation["goal_heading"][:, 0])
        to_bay = np.cos(yaw), np.sin(yaw)  # from the frame of the robot to that of the bay
        x = -distance * (to_bay[0] * c - to_bay[1] * s)
        y = -distance * (to_bay[1] * c + to_bay[0] * s)
        speed = observation["velocity"][:, 0]
        motion = np.where(np.abs(speed) > MOVING, speed, observation["last_action"][:, 0])
        pose = np.stack([x + REAR_AXLE * to_bay[0], y + REAR_AXLE * to_bay[1], yaw], axis=1)
        limits = fences(observation["scan"], angles + yaw[:, None], x, y)
        curves = cheapest(candidates(pose, motion), CHECKED)
        cost = curves.cost + BLOCKED * blocked(places(pose, curves), limits)
        best = cheapest(curves._replace(cost=cost), 1)
        way, room, bend = start_of(best.lengths[:, 0], best.bends[:, 0])
        vx = way * np.minimum(np.sqrt(2 * BRAKING * np.maximum(room - 0.05, 0.01)), fastest)
        steer = np.clip(np.arctan(WHEELBASE * bend), -most_steer, most_steer)
        return np.stack([vx, steer], axis=1)

    return policy


def fences(scan: Array, directions: Array, x: Array, y: Array) -> Array:
    """The y [n, 2] between which the aisle is free, by returns from beyond the ends of the rows."""
    hit_x, hit_y = x[:, None] + scan * np.cos(directions), y[:, None] + scan * np.sin(directions)
    fence = (scan < 9.9) & (hit_x > AISLE[0] + 3) & (hit_x < AISLE[1] - 3)
    high = np.where(fence & (hit_y > y[:, None]), hit_y, np.inf).min(axis=1)
    low = np.where(fence & (hit_y < y[:, None]), hit_y, -np.inf).max(axis=1)
    return np.stack([low, high], axis=1)


def start_of(lengths: Array, bends: Array) -> tuple[Array, Array, Array]:
    """The direction of travel [n], the way (m) until it changes, and the mean curvature of the next bit of it."""
    way = first_way(lengths)
    goes_on = np.cumprod((np.sign(lengths) == way[:, None]) | (lengths == 0), axis=1)
    size = np.abs(lengths) * goes_on
    room = size.sum(axis=1)
    ahead = np.minimum(LOOKAHEAD, np.maximum(room, NOTHING))
    before = np.cumsum(size, axis=1) - size
    part = np.clip(ahead[:, None] - before, 0, size)
    return way, room, (part * bends).sum(axis=1) / ahead
