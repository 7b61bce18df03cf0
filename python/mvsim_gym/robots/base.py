"""Finds the mobile base of a description: wheels, casters, masses, outline and the class of dynamics.

Wheels are found by their joints and shapes, never by name.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from mvsim_gym.robots.description import Array, Geometry, Joint, Link, Robot
from mvsim_gym.robots.elements import Element
from mvsim_gym.robots.outline import MeshReader, convex_hull, corners_of, with_few_corners

_LEVEL = 0.2  # largest sine of the angle between a wheel's axle and the ground
_ALONG = 0.98  # smallest cosine of the angle between a wheel's axle and the axis of its shape
_MAX_CORNERS = 14
_BASE_FRAMES = ("base_link", "base_footprint")


@dataclass
class Wheel:
    """A wheel that touches the ground; poses in the frame of the vehicle, z above the ground."""

    joint: Joint
    centre: Array
    radius: float
    width: float
    mass: float
    inertia: float
    """moment of inertia about the axle, kg m2; 0 if the description has none"""
    steered: Joint | None = None
    driven: bool = False
    axle: float = 0.0
    """angle between the axle and the vehicle's y axis, rad"""


@dataclass
class Base:
    """The mobile base of a robot, as written to a vehicle file. Coordinates: x and y of the link `frame`, z above the
    ground."""

    robot: Robot
    frame: str
    T_vehicle_link: dict[str, Array]
    wheels: list[Wheel] = field(default_factory=list)
    casters: list[str] = field(default_factory=list)
    dynamics: str = ""
    mass: float = 0.0
    """mass of the chassis, which is all but the wheels, kg"""
    centre: Array = field(default_factory=lambda: np.zeros(3))
    inertia_z: float = 0.0
    """moment of inertia of the chassis about its centre of mass, kg m2"""
    outline: Array = field(default_factory=lambda: np.zeros((0, 2)))
    zmin: float = 0.0
    zmax: float = 0.0
    color: str = ""

    @property
    def track(self) -> float:
        """Distance between the left and the right wheels, m."""
        ys = [wheel.centre[1] for wheel in self.wheels]
        return float(max(ys) - min(ys))

    @property
    def wheelbase(self) -> float:
        """Distance between the front and the rear wheels, m."""
        xs = [wheel.centre[0] for wheel in self.wheels]
        return float(max(xs) - min(xs))

    def tagged_wheels(self) -> list[tuple[Wheel, str]]:
        """Returns the wheels with their tags in a vehicle file, from front to rear, left before right."""
        front = sorted(self.wheels, key=lambda wheel: -wheel.centre[0])[: len(self.wheels) // 2]
        found = []
        for wheel in sorted(self.wheels, key=lambda wheel: (-wheel.centre[0], -wheel.centre[1])):
            side = "l" if wheel.centre[1] > 0 else "r"
            end = "f" if any(wheel is other for other in front) else "r"
            if self.dynamics == "differential":
                tag = f"{side}_wheel"
            else:
                tag = f"{end}{side}_wheel" if self.dynamics.startswith("ackermann") else f"{side}{end}_wheel"
            found.append((wheel, tag))
        return found

    @property
    def total_mass(self) -> float:
        """Mass of chassis and wheels, kg."""
        return self.mass + sum(wheel.mass for wheel in self.wheels)


def find_base(robot: Robot, driven: Mapping[str, Element], read_mesh: MeshReader, frame: str = "") -> Base:
    """Returns the mobile base of a robot.

    Args:
        robot: the description.
        driven: joints that a motor turns, by name; empty if unknown.
        read_mesh: function that returns the corners of a mesh.
        frame: the link that is the vehicle's reference; empty: base_link, base_footprint or the root.

    Raises:
        ImportRobotError: the robot has no wheeled base that can be simulated; the message has the reason.
    """
    frames = robot.frames()
    name = frame or next((link for link in _BASE_FRAMES if link in robot.links), robot.root())
    if name not in frames:
        raise robot.element.fault(f"there is no link '{name}'")
    to_frame = np.linalg.inv(frames[name])
    poses = {link: to_frame @ pose for link, pose in frames.items()}
    wheels = _wheels(robot, poses, driven, read_mesh)
    if not wheels:
        raise robot.element.fault(
            "found no wheels (joints that turn without a stop about a level axle, with a round shape), expected some"
        )
    ground = min(wheel.centre[2] - wheel.radius for wheel in wheels)
    lift = np.eye(4)
    lift[2, 3] = -ground
    poses = {link: lift @ pose for link, pose in poses.items()}
    for wheel in wheels:
        wheel.centre = wheel.centre - np.array([0.0, 0.0, ground])
    base = Base(robot, name, poses)
    base.wheels = [wheel for wheel in wheels if wheel.centre[2] - wheel.radius < 0.1 * wheel.radius]
    for wheel in wheels:
        if not any(wheel is other for other in base.wheels):
            wheel.joint.element.ignored("its round shape does not touch the ground")
    _take_casters(base, driven)
    _refuse_rollers(base)
    base.dynamics = _dynamics_of(base)
    _take_masses(base)
    _take_outline(base, read_mesh)
    return base


def links_below(robot: Robot, link: str) -> list[str]:
    found = [link]
    for name in found:
        found.extend(joint.child for joint in robot.joints if joint.parent == name and joint.kind == "fixed")
    return found


def _wheels(
    robot: Robot, poses: dict[str, Array], driven: Mapping[str, Element], read_mesh: MeshReader
) -> list[Wheel]:
    above = robot.parent_joint()
    found = []
    for joint in robot.joints:
        if not joint.spins:
            continue
        axle = poses[joint.child][:3, :3] @ joint.axis
        if abs(axle[2]) > _LEVEL:
            continue
        shape = _round_shape(robot, joint, poses, axle, read_mesh)
        if shape is None:
            continue
        centre, radius, width = shape
        inside = [robot.links[name] for name in links_below(robot, joint.child)]
        mass = sum(link.inertial.mass for link in inside if link.inertial)
        wheel = Wheel(joint, centre, radius, width, mass, _axle_inertia(inside, poses, axle))
        wheel.driven = joint.name in driven
        wheel.axle = math.atan2(-axle[0], axle[1]) if axle[1] >= 0 else math.atan2(axle[0], -axle[1])
        wheel.steered = _pivot_above(joint, above, poses)
        found.append(wheel)
    return found


def _pivot_above(joint: Joint, above: dict[str, Joint], poses: dict[str, Array]) -> Joint | None:
    """Returns the joint with a vertical axis above a wheel: a steering joint, or the swivel of a caster."""
    link = joint.parent
    while link in above:
        pivot = above[link]
        if pivot.kind != "fixed" and abs((poses[pivot.child][:3, :3] @ pivot.axis)[2]) > _ALONG:
            return pivot
        link = pivot.parent
    return None


def _round_shape(
    robot: Robot, joint: Joint, poses: dict[str, Array], axle: Array, read_mesh: MeshReader
) -> tuple[Array, float, float] | None:
    """Returns centre, radius and width of the largest round shape about an axle. Collisions take precedence over
    visuals."""
    origin = poses[joint.child][:3, 3]
    for kind in ("collisions", "visuals"):
        best: tuple[Array, float, float] | None = None
        for name in links_below(robot, joint.child):
            for shape in getattr(robot.links[name], kind):
                found = _round(shape, poses[name], origin, axle, read_mesh)
                if found is not None and (best is None or found[1] > best[1]):
                    best = found
        if best is not None:
            return best
    return None


def _round(
    shape: Geometry, pose: Array, origin: Array, axle: Array, read_mesh: MeshReader
) -> tuple[Array, float, float] | None:
    placed = pose @ shape.T_link_shape
    centre = placed[:3, 3]
    if shape.kind == "cylinder":
        if abs(float(placed[:3, 2] @ axle)) < _ALONG:
            return None
        return centre, shape.size[0], shape.size[1]
    if shape.kind == "sphere":
        shape.element.approximated("a spherical wheel is a cylinder half as wide as its radius")
        return centre, shape.size[0], shape.size[0] / 2
    if shape.kind != "mesh":
        return None
    corners = corners_of(shape, read_mesh)
    if corners is None:
        return None
    points = corners @ pose[:3, :3].T + pose[:3, 3] - origin
    along = points @ axle
    radii = np.linalg.norm(points - np.outer(along, axle), axis=1)
    radius, width = float(radii.max()), float(along.max() - along.min())
    low = float(points[:, 2].min())
    if not radius > 0 or abs(-low - radius) > 0.1 * radius:
        return None
    shape.element.approximated("a mesh of a wheel is a cylinder of its radius and width about the axle")
    return origin + axle * float(along.max() + along.min()) / 2, radius, max(width, 1e-3)


def _axle_inertia(links: list[Link], poses: dict[str, Array], axle: Array) -> float:
    total = 0.0
    for link in links:
        if link.inertial is not None:
            rotation = poses[link.name][:3, :3]
            total += float(axle @ rotation @ link.inertial.tensor @ rotation.T @ axle)
    return total


def _take_casters(base: Base, driven: Mapping[str, Element]) -> None:
    """Removes casters: wheels that swivel freely, and passive wheels if two others are driven. They have neither load
    nor friction."""
    kept = []
    for wheel in base.wheels:
        swivels = wheel.steered is not None and wheel.steered.spins and wheel.steered.name not in driven
        passive = bool(driven) and not wheel.driven and wheel.steered is None
        if swivels or passive:
            reason = "a caster that swivels freely" if swivels else "a wheel that no motor turns"
            wheel.joint.element.approximated(
                f"{reason}: it adds its mass to the chassis, and carries no load"
            )
            base.casters.append(wheel.joint.child)
        else:
            kept.append(wheel)
    if not kept:
        raise base.robot.element.fault("found only casters, expected driven wheels")
    base.wheels = kept
    for wheel in kept:
        wheel.joint.element.used()


def _refuse_rollers(base: Base) -> None:
    for wheel in base.wheels:
        link = base.robot.links[wheel.joint.child]
        names = [shape.uri for shape in (*link.visuals, *link.collisions)]
        rollers = [joint for joint in base.robot.joints if joint.parent == link.name and joint.spins]
        if (
            link.rollers
            or rollers
            or any("mecanum" in name.lower() or "omni" in name.lower() for name in names)
        ):
            raise link.element.fault(
                f"the wheel '{link.name}' has rollers (mecanum or omnidirectional), expected plain wheels:"
                " rollers are not simulated"
            )


def _dynamics_of(base: Base) -> str:
    """Returns the class of dynamics that matches the places of the wheels."""
    wheels, fault = base.wheels, base.robot.element.fault
    for wheel in wheels:
        if wheel.steered is None and abs(wheel.axle) > 0.02:
            raise wheel.joint.element.fault(
                f"the axle of '{wheel.joint.name}' stands {math.degrees(wheel.axle):.1f} degrees from the side,"
                " expected 0: omnidirectional bases are not simulated"
            )
    steered = [wheel for wheel in wheels if wheel.steered is not None]
    left = [wheel for wheel in wheels if wheel.centre[1] > 1e-3]
    right = [wheel for wheel in wheels if wheel.centre[1] < -1e-3]
    if steered:
        if len(wheels) != 4 or len(steered) != 2 or len(left) != 2 or len(right) != 2:
            raise fault(f"found {len(steered)} steered of {len(wheels)} wheels, expected two of four")
        rear = [wheel for wheel in wheels if wheel.steered is None]
        if min(wheel.centre[0] for wheel in steered) <= max(wheel.centre[0] for wheel in rear):
            raise fault("the steered wheels stand behind the others, expected them in front")
        if any(wheel.driven for wheel in rear):
            return "ackermann_drivetrain"
        return "ackermann"
    if len(left) != len(right) or len(left) + len(right) != len(wheels):
        raise fault(f"found {len(left)} wheels on the left and {len(right)} on the right, expected as many")
    if len(wheels) == 2:
        return "differential"
    if len(wheels) == 4:
        return "differential_4_wheels"
    raise fault(f"found {len(wheels)} wheels, expected two or four that push")


def _take_masses(base: Base) -> None:
    """Computes mass, centre and inertia of all that is no wheel (parallel axis theorem)."""
    in_wheels = {name for wheel in base.wheels for name in links_below(base.robot, wheel.joint.child)}
    parts = []
    for name, link in base.robot.links.items():
        if name in in_wheels or link.inertial is None:
            continue
        pose = base.T_vehicle_link[name]
        rotation = pose[:3, :3]
        centre = rotation @ link.inertial.centre + pose[:3, 3]
        parts.append(
            (link.inertial.mass, centre, float((rotation @ link.inertial.tensor @ rotation.T)[2, 2]))
        )
    base.mass = sum(mass for mass, _, _ in parts)
    if base.mass <= 0:
        return
    base.centre = np.asarray(sum(mass * centre for mass, centre, _ in parts) / base.mass)
    base.inertia_z = sum(
        moment + mass * float(((centre - base.centre)[:2] ** 2).sum()) for mass, centre, moment in parts
    )


def _take_outline(base: Base, read_mesh: MeshReader) -> None:
    in_wheels = {name for wheel in base.wheels for name in links_below(base.robot, wheel.joint.child)}
    points: list[Array] = []
    volumes: list[tuple[float, str]] = []
    for kind in ("collisions", "visuals"):
        for name, link in base.robot.links.items():
            if name in in_wheels:
                continue
            for shape in getattr(link, kind):
                corners = corners_of(shape, read_mesh)
                if corners is None or len(corners) == 0:
                    continue
                pose = base.T_vehicle_link[name]
                placed = corners @ pose[:3, :3].T + pose[:3, 3]
                volumes.append((float(np.prod(np.ptp(placed, axis=0) + 1e-6)), shape.color))
                points.append(placed)
        if points:
            break
    if not points:
        reach = base.wheels
        half_x = max(abs(wheel.centre[0]) + wheel.radius for wheel in reach)
        half_y = max(abs(wheel.centre[1]) + wheel.width / 2 for wheel in reach)
        top = max(2 * wheel.radius for wheel in reach)
        points.append(
            np.array([[x * half_x, y * half_y, z] for x in (-1, 1) for y in (-1, 1) for z in (top / 4, top)])
        )
        base.robot.notes.append(
            (
                base.robot.element.place,
                "no shape of the chassis can be read: its outline is that of the wheels",
            )
        )
    everything = np.concatenate(points)
    base.outline = with_few_corners(convex_hull(everything[:, :2]), _MAX_CORNERS)
    if len(base.outline) < 3:
        raise base.robot.element.fault("the shapes of the chassis have no area, expected an outline")
    base.zmin = max(0.0, float(everything[:, 2].min()))
    base.zmax = max(base.zmin + 0.01, float(everything[:, 2].max()))
    links = [link for name, link in base.robot.links.items() if name not in in_wheels]
    visuals = [shape.color for link in links for shape in link.visuals if shape.color]
    base.color = (max(volumes)[1] if volumes else "") or (visuals[0] if visuals else "")
