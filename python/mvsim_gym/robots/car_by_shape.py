"""Finds the wheels of a description without wheel joints: four equal cylinders that stand on the ground."""

from __future__ import annotations

import math

import numpy as np

from mvsim_gym.robots.description import Array, Joint, Robot
from mvsim_gym.robots.drive import DriveFacts


def take_wheels_by_shape(robot: Robot, facts: DriveFacts) -> None:
    """If no joint turns a round shape, takes four equal cylinders on the ground as the wheels of a car.

    Their joints become joints that spin about the cylinder's axis. The front pair steers if a parameter file states a
    steering angle. Both are recorded as approximations.
    """
    frames = robot.frames()
    above = robot.parent_joint()
    if any(
        joint.spins and abs((frames[joint.child][:3, :3] @ joint.axis)[1]) > 0.9 for joint in robot.joints
    ):
        return
    found: list[tuple[Joint, Array, float]] = []
    for name, link in robot.links.items():
        shapes = [shape for shape in (*link.collisions, *link.visuals) if shape.kind == "cylinder"]
        if len(shapes) == 0 or name not in above:
            continue
        placed = frames[name] @ shapes[0].T_link_shape
        if abs(placed[1, 2]) > 0.98:
            found.append((above[name], placed, shapes[0].size[0]))
    if len(found) != 4:
        return
    bottoms = [placed[2, 3] - radius for _, placed, radius in found]
    if (
        max(bottoms) - min(bottoms) > 0.05 * found[0][2]
        or len({round(radius, 6) for *_, radius in found}) != 1
    ):
        return
    middle = float(np.mean([placed[0, 3] for _, placed, _ in found]))
    limit = facts.first("max_steer")
    for joint, placed, _ in found:
        joint.kind = "continuous"
        joint.axis = frames[joint.child][:3, :3].T @ np.array([0.0, 1.0, 0.0])
        reason = "its cylinder stands on the ground: taken as a wheel that turns about the cylinder's axis"
        if limit is not None and placed[0, 3] > middle:
            _steer(robot, joint, min(limit, math.radians(89)))
            reason += ", and steers up to the stated angle"
        joint.element.approximated(reason)


def _steer(robot: Robot, joint: Joint, limit: float) -> None:
    pivot = f"{joint.name}_steering"
    robot.links[pivot] = type(robot.links[joint.parent])(pivot, joint.element)
    up = np.array([0.0, 0.0, 1.0])
    place = np.eye(4)
    place[:3, 3] = joint.T_parent_child[:3, 3]
    robot.joints.append(
        Joint(pivot, "revolute", joint.parent, pivot, place, up, joint.element, -limit, limit)
    )
    joint.parent = pivot
    joint.T_parent_child = np.linalg.inv(place) @ joint.T_parent_child
