"""Reads a `<model>` of SDF into a `Robot`."""

from __future__ import annotations

import math

import numpy as np

from mvsim_gym.robots.description import (
    Array,
    Geometry,
    Inertial,
    Joint,
    Link,
    Robot,
    color_of,
    transform,
    unit,
)
from mvsim_gym.robots.elements import Element, near
from mvsim_gym.robots.urdf import read_sensor


def pose_of(element: Element) -> tuple[Array, str]:
    """Returns the `<pose>` of an element and the frame that it names; without a pose the identity."""
    pose = element.first("pose")
    if pose is None:
        return np.eye(4), ""
    frame = pose.used().attributes.get("relative_to", pose.attributes.get("frame", ""))
    values = pose.numbers(pose.text or "0 0 0 0 0 0")
    degrees = pose.attributes.get("degrees", "false") == "true"
    if pose.attributes.get("rotation_format") == "quat_xyzw":
        if len(values) != 7:
            raise pose.fault(f"found {len(values)} numbers, expected 7 (x y z, quaternion)")
        return _of_quaternion(values, pose), frame
    if not values:
        return np.eye(4), frame
    if len(values) != 6:
        raise pose.fault(f"found {len(values)} numbers, expected 6 (x y z roll pitch yaw)")
    angles = [math.radians(value) for value in values[3:]] if degrees else values[3:]
    return transform(values[:3], angles), frame


def _of_quaternion(values: list[float], element: Element) -> Array:
    x, y, z, w = unit(values[3:], element)
    matrix = np.eye(4)
    matrix[:3, :3] = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    matrix[:3, 3] = values[:3]
    return matrix


def read_sdf_model(model: Element) -> Robot:
    """Returns the robot of a `<model>`. Poses of links are in the model's frame.

    Raises:
        ImportRobotError: an element is missing, twice, or has values that make no sense.
    """
    robot = Robot(model.used().attributes.get("name", "robot"), model)
    poses: dict[str, Array] = {}
    for nested in model.each("model"):
        raise nested.fault("found a nested <model>, expected only links")
    for element in model.each("link"):
        link = _link(element, robot)
        if link.name in robot.links:
            raise element.fault(f"a second link '{link.name}', expected one of each name")
        robot.links[link.name] = link
        pose, frame = pose_of(element)
        if frame and frame not in ("__model__", *poses):
            raise element.fault(
                f"the pose is relative to '{frame}', expected the model or a link before this one"
            )
        poses[link.name] = poses[frame] @ pose if frame in poses else pose
    if not robot.links:
        raise model.fault("found no <link>, expected a robot")
    for element in model.each("joint"):
        robot.joints.append(_joint(element, robot, poses))
    robot.check_tree()
    robot.plugins.extend(model.each("plugin"))
    _join_loose_links(robot, poses)
    return robot


def _join_loose_links(robot: Robot, poses: dict[str, Array]) -> None:
    """Fixes links without a joint, which SDF allows, to the root."""
    children = {joint.child for joint in robot.joints}
    parents = {joint.parent for joint in robot.joints}
    roots = [name for name in robot.links if name not in children]
    anchor = next((name for name in roots if name in parents), roots[0] if roots else "")
    for name in roots:
        if name == anchor:
            continue
        link = robot.links[name]
        link.element.approximated(f"it has no joint: taken as fixed to '{anchor}'")
        pose = np.linalg.inv(poses[anchor]) @ poses[name]
        robot.joints.append(
            Joint(f"{name}_fixed", "fixed", anchor, name, pose, np.array([1.0, 0, 0]), link.element)
        )


def _link(element: Element, robot: Robot) -> Link:
    link = Link(element.used().attribute("name"), element)
    inertial = element.first("inertial")
    if inertial is not None:
        link.inertial = _inertial(inertial)
    for tag, shapes in (("collision", link.collisions), ("visual", link.visuals)):
        for shape in element.each(tag):
            made = sdf_shape(shape)
            if made is not None:
                shapes.append(made)
            _friction(shape, link)
    for sensor in element.each("sensor"):
        robot.sensors.append(read_sensor(sensor, link.name))
    return link


def _friction(element: Element, link: Link) -> None:
    for name in ("mu", "mu2"):
        value = element.child_number(f"surface/friction/ode/{name}")
        if value is not None:
            link.mu = value if link.mu is None else max(link.mu, value)
    direction = element.child("surface/friction/ode/fdir1")
    if direction is not None and direction.text.strip():
        x, y, _ = direction.used().numbers(direction.text, 3)
        link.rollers = abs(x) > 0.1 and abs(y) > 0.1


def _inertial(element: Element) -> Inertial | None:
    mass = element.used().child_number("mass")
    if mass is None:
        element.approximated("it has no <mass>: 1 kg, as SDF has it")
        mass = 1.0
    if mass < 0:
        raise element.fault(f"found a mass of {mass:g} kg, expected 0 or more")
    pose, _ = pose_of(element)
    tensor = np.zeros((3, 3))
    if element.first("inertia") is not None:
        names = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
        xx, xy, xz, yy, yz, zz = (element.child_number(f"inertia/{name}", 0.0) or 0.0 for name in names)
        tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    rotation = pose[:3, :3]
    return Inertial(mass, pose[:3, 3].copy(), rotation @ tensor @ rotation.T, element)


def sdf_shape(element: Element) -> Geometry | None:
    geometry = element.used().first("geometry")
    if geometry is None:
        element.ignored("it has no <geometry>")
        return None
    pose, _ = pose_of(element)
    color = element.child("material/diffuse") or element.child("material/ambient")
    shown, opacity = "", 1.0
    if color is not None and color.text.strip():
        shares = color.used().numbers(color.text)
        shown = color_of(shares)
        opacity = shares[3] if len(shares) == 4 else 1.0
    opacity *= 1 - (element.child_number("transparency", 0.0) or 0.0)
    for shape in geometry.used().children:
        size: tuple[float, ...]
        uri = ""
        if shape.tag == "box":
            size = tuple(shape.used().numbers(shape.child_text("size"), 3))
        elif shape.tag == "cylinder":
            size = (shape.used().child_number("radius") or 0.0, shape.child_number("length") or 0.0)
        elif shape.tag == "sphere":
            size = (shape.used().child_number("radius") or 0.0,)
        elif shape.tag == "mesh":
            uri = shape.used().child_text("uri")
            size = tuple(shape.numbers(shape.child_text("scale", "1 1 1"), 3))
        elif shape.tag == "plane":
            size = tuple(shape.used().numbers(shape.child_text("size", "1 1")))
        else:
            shape.ignored(f"'{shape.tag}' is no shape that is read (box, cylinder, sphere, mesh, plane)")
            continue
        return Geometry(shape.tag, size, pose, shape, uri, shown, min(1.0, max(0.0, opacity)))
    return None


def _joint(element: Element, robot: Robot, poses: dict[str, Array]) -> Joint:
    name = element.used().attribute("name")
    ends = []
    for tag in ("parent", "child"):
        text = element.child_text(tag)
        link = text.split("::")[-1]
        if link not in robot.links:
            raise element.fault(
                f"the joint '{name}': there is no link '{text}'" + near(list(robot.links), link)
            )
        ends.append(link)
    kind = element.attribute("type")
    direction = [0.0, 0.0, 1.0]
    axis = element.first("axis")
    if axis is not None:
        axis.used()
        direction = axis.numbers(axis.child_text("xyz", "0 0 1"), 3)
    pose, frame = pose_of(element)
    relative = np.eye(4) if frame else pose
    vector = relative[:3, :3] @ unit(direction, axis or element)
    expressed = axis.first("xyz") if axis is not None else None
    if expressed is not None and expressed.attributes.get("expressed_in", "") == "__model__":
        vector = poses[ends[1]][:3, :3].T @ unit(direction, expressed)
    joint = Joint(
        name, kind, ends[0], ends[1], np.linalg.inv(poses[ends[0]]) @ poses[ends[1]], vector, element
    )
    if axis is not None and kind in ("revolute", "continuous"):
        joint.lower = (
            axis.child_number("limit/lower", -1e16) or 0.0 if axis.child("limit/lower") else -math.inf
        )
        joint.upper = axis.child_number("limit/upper", 1e16) or 0.0 if axis.child("limit/upper") else math.inf
        joint.effort, joint.velocity = axis.child_number("limit/effort"), axis.child_number("limit/velocity")
        joint.damping = axis.child_number("dynamics/damping", 0.0) or 0.0
        joint.friction = axis.child_number("dynamics/friction", 0.0) or 0.0
    if kind == "universal" or kind == "screw":
        element.approximated(f"a joint of the type '{kind}' is held fixed")
    return joint
