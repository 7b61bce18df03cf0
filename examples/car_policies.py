"""Scripted drivers of cars that are steered: (drive torque [N m], steering angle [rad]) for a batch of observations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from robot import Array, Observation, Robot


@dataclass(frozen=True)
class Car:
    """Constants of the car: wheelbase (m), speeds (m/s), braking (m/s2), torque per speed error (N m s/m)."""

    wheelbase: float
    top_speed: float
    braking: float
    torque_gain: float
    parking_distance: float  # m from the goal at which the car should stand
    slip: float = 0.15  # the slip ratio beyond which the torque is taken back


def drive_to_goal(car: Car) -> Callable[[Robot], Callable[[Observation], Array]]:
    """Steers along the arc through the goal (pure pursuit), and drives no faster than the car can brake.

    A goal inside of the turning circle is approached backwards. Wheels that slip get less torque.
    """

    def make(robot: Robot) -> Callable[[Observation], Array]:
        most_torque, most_steer = robot.high
        turning_radius = car.wheelbase / np.tan(most_steer)

        def policy(observation: Observation) -> Array:
            distance, c, s = observation["goal"].T
            x, y = distance * c, distance * s
            inside = np.hypot(x, np.abs(y) - turning_radius) < 0.98 * turning_radius
            # a far goal is looked for first and driven to then: a wide arc would lead through the fence
            curvature = 2 * s / np.clip(distance, 0.1, 4 * car.wheelbase)
            steer = np.arctan(car.wheelbase * curvature)
            steer = np.where(c < 0, most_steer * np.sign(y), steer)
            way = np.where(inside, -1, 1)
            room = np.maximum(distance - car.parking_distance, 0)
            turn = np.where(np.abs(steer) > 0.6 * most_steer, 0.35, 1)
            speed = np.minimum(np.sqrt(2 * car.braking * room), car.top_speed * turn)
            speed = way * np.where(inside, np.minimum(speed, 0.2 * car.top_speed), speed)
            torque = car.torque_gain * (speed - observation["velocity"][:, 0])
            slip = np.abs(observation["wheels"]).max(axis=1)
            torque = np.clip(torque, -most_torque, most_torque) * np.minimum(
                1, car.slip / np.maximum(slip, 1e-6)
            )
            return np.stack([torque, np.clip(way * steer, -most_steer, most_steer)], axis=1)

        return policy

    return make
