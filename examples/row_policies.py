"""A scripted driver between rows of plants: (speed [m/s], steering angle [rad]) for a batch of observations.

It knows the layout of the greenhouse (the first alley lies on y = 0, the next ones to the left). It measures the
distance between the rows with the lidar at every step.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from robot import Array, Observation, Robot

ROW_LENGTH, ROWS = 20.0, 6
SPACINGS = np.linspace(1.4, 1.8, 21)  # m between rows
CANOPY = 0.13  # m from where a ray meets a plant to its stem, on average
WHEELBASE, LOOKAHEAD = 0.62, 1.0  # m
# The lidar: where it sits, and its rings.
FORWARD, HEIGHT = 0.3, 0.85  # m
ELEVATIONS = np.deg2rad(np.linspace(-14, 14, 8))
LOOKED_AT = slice(1, 5)  # rings, from -10 to 2 degrees: the others see much of floor and roof


def plants_of(observation: Observation) -> tuple[Array, Array, Array]:
    """x and y of what the lidar sees of plants in the frame of the field [n, points], and which of them count."""
    image, elevation = observation["range_image"][:, LOOKED_AT], ELEVATIONS[LOOKED_AT]
    azimuth = np.linspace(-np.pi, np.pi, image.shape[2], endpoint=False)
    yaw = heading_of(observation)
    level = image * np.cos(elevation)[:, None]
    up = HEIGHT + image * np.sin(elevation)[:, None]
    seen = (image < 7.9) & (up > 0.1)
    bearing = yaw[:, None, None] + azimuth
    x0, y0 = observation["gnss"][:, 0], observation["gnss"][:, 1]
    far = level + CANOPY
    x = (x0 + FORWARD * np.cos(yaw))[:, None, None] + far * np.cos(bearing)
    y = (y0 + FORWARD * np.sin(yaw))[:, None, None] + far * np.sin(bearing)
    inside = (x > -0.3) & (x < ROW_LENGTH + 0.3) & (y > -1.3) & (y < (ROWS - 1) * 1.8)
    n = len(image)
    return x.reshape(n, -1), y.reshape(n, -1), (seen & inside & (level < 5)).reshape(n, -1)


def heading_of(observation: Observation) -> Array:
    w, _, _, z = observation["imu"][:, 6:].T
    return 2 * np.arctan2(z, w)


def off_rows(y: Array, spacing: Array) -> Array:
    """m from each point to the nearest row, to the left of it above 0."""
    row = np.clip(np.round(y / spacing + 0.5), 0, ROWS - 1)
    return y - (row - 0.5) * spacing


def row_follower(robot: Robot) -> Callable[[Observation], Array]:
    """Down the middle of each alley; beyond its end straight on, then at full lock into the next one."""
    fastest, most_steer = robot.high

    def policy(observation: Observation) -> Array:
        x0, y0, yaw = observation["gnss"][:, 0], observation["gnss"][:, 1], heading_of(observation)
        x, y, counts = plants_of(observation)
        weight = np.where(counts, 1.0, 0.0)
        total = np.maximum(weight.sum(axis=1), 1)
        # the spacing whose rows the plants stand on
        off = np.minimum(np.abs(off_rows(y[:, None], SPACINGS[:, None])), 0.4)
        cost = (off * weight[:, None]).sum(axis=2) / total[:, None]
        spacing = SPACINGS[cost.argmin(axis=1)]

        odd = observation["row_parity"][:, 0] > 0.5
        way = np.where(odd, -1.0, 1.0)
        beyond = np.maximum(x0 - ROW_LENGTH, -x0)  # m from the ends of the rows, in the field below 0
        place = y0 / spacing
        at_far_end = x0 > ROW_LENGTH / 2
        # robots turn from alley 0 to 1 and from 2 to 3 at the far end, from 1 to 2 and from 3 to 4 at the near one
        pair = np.where(at_far_end, 2 * np.floor((place + 0.5) / 2) + 1, 2 * np.floor((place - 0.5) / 2) + 2)
        alley = np.clip(np.where(beyond > 0, pair, np.round(place)), 0, ROWS - 2)

        # where its middle lies, by the plants to both sides
        middle = alley * spacing
        aside = y - middle[:, None]
        near = counts & (np.abs(aside) < 1.25 * spacing[:, None] / 2) & (np.abs(x - x0[:, None]) < 3)
        left, right = near & (aside > 0), near & (aside < 0)
        both = (left.sum(axis=1) > 5) & (right.sum(axis=1) > 5)
        mean = [
            np.where(side, aside, 0).sum(axis=1) / np.maximum(side.sum(axis=1), 1) for side in (left, right)
        ]
        middle = middle + np.where(both, np.clip((mean[0] + mean[1]) / 2, -0.2, 0.2), 0)

        # outwards until there is room to come round and straighten; then the middle of the alley is the aim
        outwards = (beyond > 0) & (np.cos(yaw) * np.where(at_far_end, 1, -1) > 0.7) & (at_far_end == odd)
        room = 1.3 + 2.2 * (1.8 - spacing)
        straight = outwards & (beyond < room)
        before = (alley - 1) * spacing
        aim, direction = np.where(straight, before, middle), np.where(straight, -way, way)
        dx, dy = LOOKAHEAD * direction, aim - y0
        bearing = np.arctan2(dy, dx) - yaw
        bearing = (bearing + np.pi) % (2 * np.pi) - np.pi
        steer = np.arctan(2 * WHEELBASE * np.sin(bearing) / np.hypot(dx, dy))
        steer = np.where(np.abs(bearing) > np.pi / 2, np.copysign(most_steer, bearing), steer)
        return np.stack([np.full(len(steer), fastest), np.clip(steer, -most_steer, most_steer)], axis=1)

    return policy
