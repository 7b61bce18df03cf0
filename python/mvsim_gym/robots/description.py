"""A robot as stated by its description, independent of the format: links, joints, sensors, plugins. SI units, radians.

A transform `T_a_b` is a 4x4 matrix that takes coordinates in frame b to coordinates in frame a.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from mvsim_gym.robots.elements import Element

Array = npt.NDArray[np.float64]


def transform(xyz: Sequence[float], rpy: Sequence[float]) -> Array:
    """Returns the matrix of a translation and of rotations about the x, y and z axes of the parent frame, in this
    order."""
    (sr, sp, sy), (cr, cp, cy) = np.sin(rpy), np.cos(rpy)
    matrix = np.eye(4)
    matrix[:3, :3] = [
        [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
        [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
        [-sp, cp * sr, cp * cr],
    ]
    matrix[:3, 3] = xyz
    return matrix


def roll_pitch_yaw(matrix: Array) -> tuple[float, float, float]:
    """Returns the angles of a transform's rotation. At a pitch of 90 degrees the roll is 0."""
    r = matrix[:3, :3]
    pitch = math.asin(min(1.0, max(-1.0, -float(r[2, 0]))))
    if abs(r[2, 0]) > 1 - 1e-12:
        return 0.0, pitch, math.atan2(-float(r[0, 1]), float(r[1, 1]))
    return math.atan2(float(r[2, 1]), float(r[2, 2])), pitch, math.atan2(float(r[1, 0]), float(r[0, 0]))


@dataclass
class Geometry:
    kind: str
    """box, cylinder, sphere, mesh or plane"""
    size: tuple[float, ...]
    """box: x y z; cylinder: radius, length; sphere: radius; mesh: scales"""
    T_link_shape: Array
    element: Element
    uri: str = ""
    color: str = ""
    """#rrggbb, or empty"""
    opacity: float = 1.0
    """1 for a visible shape, 0 for an invisible one"""


@dataclass
class Inertial:
    """Mass (kg), centre of mass (m) and inertia about it (kg m2), in axes of the link."""

    mass: float
    centre: Array
    tensor: Array
    element: Element


@dataclass
class Link:
    name: str
    element: Element
    inertial: Inertial | None = None
    collisions: list[Geometry] = field(default_factory=list)
    visuals: list[Geometry] = field(default_factory=list)
    mu: float | None = None
    """friction coefficient of Gazebo"""
    rollers: bool = False
    """true if its friction acts along a diagonal only, as that of a mecanum wheel does"""


@dataclass
class Joint:
    name: str
    kind: str
    """fixed, continuous, revolute, prismatic, ball or another type of the format"""
    parent: str
    child: str
    T_parent_child: Array
    axis: Array
    """unit vector in the frame of the child"""
    element: Element
    lower: float = -math.inf
    upper: float = math.inf
    effort: float | None = None
    velocity: float | None = None
    damping: float = 0.0
    friction: float = 0.0

    @property
    def spins(self) -> bool:
        """Whether it turns without a stop."""
        if self.kind == "continuous":
            return True
        return self.kind == "revolute" and self.upper - self.lower > 4 * math.pi


@dataclass
class Sensor:
    """A sensor of Gazebo. Its element holds the parameters."""

    name: str
    kind: str
    link: str
    T_link_sensor: Array
    element: Element


@dataclass
class Robot:
    name: str
    element: Element
    links: dict[str, Link] = field(default_factory=dict)
    joints: list[Joint] = field(default_factory=list)
    sensors: list[Sensor] = field(default_factory=list)
    plugins: list[Element] = field(default_factory=list)
    driven: dict[str, Element] = field(default_factory=dict)
    """names of joints that a transmission or ros2_control drives"""
    notes: list[tuple[str, str]] = field(default_factory=list)
    """place and text of parts that belong to no element of the description"""

    def check_tree(self) -> None:
        """Checks that no link has two parents, so that walks along the joints end.

        Raises:
            ImportRobotError: a link has two parents.
        """
        seen: set[str] = set()
        for joint in self.joints:
            if joint.child in seen:
                raise joint.element.fault(f"the link '{joint.child}' has two parents, expected one")
            seen.add(joint.child)

    def root(self) -> str:
        """The link that is no child.

        Raises:
            ImportRobotError: there are several such links, or none.
        """
        children = {joint.child for joint in self.joints}
        roots = [name for name in self.links if name not in children]
        if len(roots) != 1:
            shown = ", ".join(roots[:5]) or "none"
            raise self.element.fault(f"found {len(roots)} links without a parent ({shown}), expected one")
        return roots[0]

    def frames(self) -> dict[str, Array]:
        """Returns T_root_link of each link, with all joints at zero."""
        below: dict[str, list[Joint]] = {}
        for joint in self.joints:
            below.setdefault(joint.parent, []).append(joint)
        found: dict[str, Array] = {}
        stack = [(self.root(), np.eye(4))]
        while stack:
            name, pose = stack.pop()
            found[name] = pose
            stack.extend((joint.child, pose @ joint.T_parent_child) for joint in below.get(name, []))
        missing = [name for name in self.links if name not in found]
        if missing:
            raise self.links[missing[0]].element.fault(f"the link '{missing[0]}' hangs in a loop of joints")
        return found

    def parent_joint(self) -> dict[str, Joint]:
        """Returns the joint above each link except the root."""
        return {joint.child: joint for joint in self.joints}


def color_of(values: Sequence[float]) -> str:
    """Returns #rrggbb for shares from 0 to 1."""
    return "#" + "".join(f"{round(255 * min(1.0, max(0.0, value))):02x}" for value in values[:3])


def unit(vector: Sequence[float], element: Element) -> Array:
    found: Any = np.asarray(vector, dtype=np.float64)
    length = float(np.linalg.norm(found))
    if not length > 1e-9:
        raise element.fault("found an axis of length 0, expected a direction")
    return np.asarray(found / length)
