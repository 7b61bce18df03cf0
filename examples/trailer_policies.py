"""Scripted driver that backs a trailer up to a dock: (speed [m/s], steering angle [rad]) for a batch of observations.

Backwards a linear quadratic regulator of the trailer's offset, its heading and the angle of the hitch steers the truck.
Where the trailer would miss the dock, the truck pulls forward along the middle of the yard, and tries again.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from robot import Array, Observation, Robot

Policy = Callable[[Observation], Array]

WHEELBASE = 3.0  # m, of the truck
DRAWBAR = 4.75  # m from the hitch, at the truck's rear axle, to the middle of the trailer's axles
# Costs of offset (1/m2), heading and hitch (1/rad2), and of the truck's curvature (m2), for each metre.
COSTS, EFFORT = (0.3, 0.6, 0.05), 4.0
MOST_HEADING, MOST_HITCH = 0.5, 0.5  # rad that the regulator asks for at most, whatever the offset
FARTHEST = 4.0  # m: a larger offset of the truck is steered as this one
BACK, SLOW, FORWARD = 2.0, 1.0, 1.0  # m/s: backwards, the same near the dock, and in a pull-up
NEAR = 2.5  # m from the dock, where it is slow
MISSES, ROOM = (0.16, 0.1), (0.06, 0.06)  # m and m a metre of way left, rad and rad a metre: more is a miss
DECIDES = 3.0  # m from the dock, within which a miss is judged
FOLDS = np.deg2rad(48)  # hitch that is straightened by a pull-up
FAR, FARTHEST_OUT, STRAIGHT = 12.0, 22.0, 0.12  # m, m, rad: a pull-up ends so far out with a straight hitch
MOVING = 0.05  # m/s
LINE_GAINS = 1 / 16, 1 / 2  # 1/m2, 1/m: forwards to the middle line, with a length of 4 m, without overshoot


def regulator(
    a: NDArray[np.floating], b: NDArray[np.floating], costs: tuple[float, ...], effort: float
) -> NDArray[np.floating]:
    """The gain k of u = -k x that minimises the integral of x' diag(costs) x + effort u^2 along x' = a x + b u."""
    n = len(a)
    hamiltonian = np.block([[a, -np.outer(b, b) / effort], [-np.diag(costs), -a.T]])
    values, vectors = np.linalg.eig(hamiltonian)
    stable = vectors[:, values.real < 0]
    riccati = np.real(stable[n:] @ np.linalg.inv(stable[:n]))
    return np.asarray(b @ riccati / effort)


# Offset, heading and hitch of the trailer, for each metre backwards, and how the truck's curvature changes them.
BACKWARDS = np.array([[0, -1, 0], [0, 0, 1 / DRAWBAR], [0, 0, 1 / DRAWBAR]])
BY_CURVATURE = np.array([0.0, 0.0, 1.0])
GAIN = regulator(BACKWARDS, BY_CURVATURE, COSTS, EFFORT)


def docker(pull_ups: bool = True) -> Callable[[Robot], Policy]:
    """Backs up by the regulator, and with `pull_ups` drives forward where that would miss."""

    def make(robot: Robot) -> Policy:
        return lambda observation: commands(observation, robot.high[1], pull_ups)

    return make


def commands(observation: Observation, most_steer: float, pull_ups: bool) -> Array:
    """Speed and steering angle [n, 2] of the driver."""
    x, y, c, s = observation["dock"].T.astype(float)
    yaw = np.arctan2(s, c)
    hitch = np.arctan2(observation["hitch"][:, 1], observation["hitch"][:, 0]).astype(float)
    speed = observation["velocity"][:, 0]
    # the regulator, within limits of the heading and of the hitch that it asks for
    heading = np.clip(-GAIN[0] / GAIN[1] * y, -MOST_HEADING, MOST_HEADING)
    bend = np.clip(GAIN[1] / GAIN[2] * (heading - yaw), -MOST_HITCH, MOST_HITCH)
    back = GAIN[2] * (bend - hitch)
    # forwards the truck itself keeps to the line, and the trailer follows
    truck_y, truck_yaw = y + DRAWBAR * np.sin(yaw), yaw - hitch
    ahead = -LINE_GAINS[0] * np.clip(truck_y, -FARTHEST, FARTHEST) - LINE_GAINS[1] * np.sin(truck_yaw)
    left = np.maximum(x, 0)
    misses = (np.abs(y) > MISSES[0] + MISSES[1] * left) | (np.abs(yaw) > ROOM[0] + ROOM[1] * left)
    begins = ((x < DECIDES) & misses) | (np.abs(hitch) > FOLDS)
    ends = (x > FARTHEST_OUT) | ((x > FAR) & (np.abs(hitch) < STRAIGHT))
    pulls = pull_ups & np.where(speed > MOVING, ~ends, begins)
    curvature = np.where(pulls, ahead, back)
    backwards = np.where(x < NEAR, SLOW, BACK)
    vx = np.where(pulls, FORWARD, -backwards)
    steer = np.clip(np.arctan(WHEELBASE * curvature), -most_steer, most_steer)
    return np.stack([vx, steer], axis=1)
