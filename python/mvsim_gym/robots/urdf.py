"""Reads an expanded URDF into a `Robot`."""

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
    Sensor,
    color_of,
    transform,
    unit,
)
from mvsim_gym.robots.elements import Element, near


def read_urdf(root: Element) -> Robot:
    """Returns the robot of a `<robot>` element.

    Raises:
        ImportRobotError: an element is missing, twice, or has values that make no sense.
    """
    if root.tag != "robot":
        raise root.fault(f"found <{root.tag}>, expected <robot>")
    robot = Robot(root.used().attributes.get("name", "robot"), root)
    colors = _colors(root)
    for element in root.each("link"):
        link = _link(element, colors)
        if link.name in robot.links:
            raise element.fault(f"a second link '{link.name}', expected one of each name")
        robot.links[link.name] = link
    if not robot.links:
        raise root.fault(
            "found no <link>, expected a robot; macros have to be instantiated by a file that calls them"
        )
    names: set[str] = set()
    for element in root.each("joint"):
        joint = _joint(element, robot)
        if joint.name in names:
            raise element.fault(f"a second joint '{joint.name}', expected one of each name")
        names.add(joint.name)
        robot.joints.append(joint)
    robot.check_tree()
    for element in root.each("gazebo"):
        _gazebo(element, robot)
    for tag in ("transmission", "ros2_control"):
        for element in root.each(tag):
            _drives(element, robot)
    for element in root.each("xacro:property"):
        element.ignored("a xacro element that was not expanded")
    return robot


def _colors(root: Element) -> dict[str, tuple[str, float]]:
    found = {}
    for material in [item for item in root.walk() if item.tag == "material"]:
        color = material.first("color")
        if color is not None and "rgba" in color.attributes:
            material.used()
            shares = color.used().numbers(color.attribute("rgba"), 4)
            found[material.attributes.get("name", "")] = color_of(shares), min(1.0, max(0.0, shares[3]))
    return found


def _origin(element: Element) -> Array:
    origin = element.first("origin")
    if origin is None:
        return np.eye(4)
    origin.used()
    xyz = origin.numbers(origin.attributes.get("xyz", "0 0 0"), 3)
    return transform(xyz, origin.numbers(origin.attributes.get("rpy", "0 0 0"), 3))


def _link(element: Element, colors: dict[str, tuple[str, float]]) -> Link:
    link = Link(element.used().attribute("name"), element)
    inertial = element.first("inertial")
    if inertial is not None:
        link.inertial = _inertial(inertial)
    for tag, shapes in (("collision", link.collisions), ("visual", link.visuals)):
        for shape in element.each(tag):
            made = _shape(shape, colors)
            if made is not None:
                shapes.append(made)
    return link


def _inertial(element: Element) -> Inertial | None:
    element.used()
    mass = element.first("mass")
    if mass is None:
        element.ignored("it has no <mass>")
        return None
    value = mass.used().number("value")
    if value < 0:
        raise mass.fault(f"found a mass of {value:g} kg, expected 0 or more")
    pose = _origin(element)
    tensor = np.zeros((3, 3))
    inertia = element.first("inertia")
    if inertia is not None:
        inertia.used()
        xx, xy, xz, yy, yz, zz = (
            inertia.number(name, 0.0) for name in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
        )
        tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        if min(xx, yy, zz) < 0:
            raise inertia.fault("found a negative moment of inertia, expected 0 or more")
    rotation = pose[:3, :3]
    return Inertial(value, pose[:3, 3].copy(), rotation @ tensor @ rotation.T, element)


def _shape(element: Element, colors: dict[str, tuple[str, float]]) -> Geometry | None:
    geometry = element.used().first("geometry")
    if geometry is None:
        element.ignored("it has no <geometry>")
        return None
    pose = _origin(element)
    material = element.first("material")
    color, opacity = "", 1.0
    if material is not None:
        color, opacity = colors.get(material.used().attributes.get("name", ""), ("", 1.0))
    for shape in geometry.used().children:
        kind = shape.tag
        if kind == "box":
            size = tuple(shape.used().numbers(shape.attribute("size"), 3))
        elif kind == "cylinder":
            size = (shape.used().number("radius"), shape.number("length"))
        elif kind == "sphere":
            size = (shape.used().number("radius"),)
        elif kind == "mesh":
            size = tuple(shape.used().numbers(shape.attributes.get("scale", "1 1 1"), 3))
        else:
            shape.ignored(f"'{kind}' is no shape that is read (box, cylinder, sphere, mesh)")
            continue
        if kind != "mesh" and min(size) < 0:
            raise shape.fault("found a negative size, expected 0 or more")
        return Geometry(kind, size, pose, shape, shape.attributes.get("filename", ""), color, opacity)
    return None


def _joint(element: Element, robot: Robot) -> Joint:
    name = element.used().attribute("name")
    ends = []
    for tag in ("parent", "child"):
        end = element.first(tag)
        if end is None:
            raise element.fault(f"the joint '{name}' has no <{tag}>")
        link = end.used().attribute("link")
        if link not in robot.links:
            raise end.fault(f"there is no link '{link}'" + near(list(robot.links), link))
        ends.append(link)
    if ends[0] == ends[1]:
        raise element.fault(f"the joint '{name}' joins '{ends[0]}' to itself")
    axis = element.first("axis")
    direction = [1.0, 0.0, 0.0]
    if axis is not None:
        direction = axis.used().numbers(axis.attributes.get("xyz", "1 0 0"), 3)
    kind = element.attribute("type")
    if kind not in ("fixed", "continuous", "revolute", "prismatic", "floating", "planar"):
        raise element.fault(
            f"found the type '{kind}', expected fixed, continuous, revolute, prismatic, floating or planar"
        )
    moves = kind in ("continuous", "revolute", "prismatic")
    vector = unit(direction, axis or element) if moves else np.array([1.0, 0.0, 0.0])
    joint = Joint(name, kind, ends[0], ends[1], _origin(element), vector, element)
    limit = element.first("limit")
    if limit is not None:
        limit.used()
        if kind == "revolute":
            joint.lower, joint.upper = limit.number("lower", 0.0), limit.number("upper", 0.0)
        joint.effort = limit.number("effort", 0.0) or None
        joint.velocity = limit.number("velocity", 0.0) or None
    elif kind == "revolute":
        raise element.fault(f"the revolute joint '{name}' has no <limit>")
    dynamics = element.first("dynamics")
    if dynamics is not None and moves:
        joint.damping, joint.friction = (
            dynamics.used().number("damping", 0.0),
            dynamics.number("friction", 0.0),
        )
    mimic = element.first("mimic")
    if mimic is not None:
        mimic.ignored("each joint is imported independently")
    return joint


def _gazebo(element: Element, robot: Robot) -> None:
    name = element.used().attributes.get("reference")
    for plugin in element.each("plugin"):
        robot.plugins.append(plugin)
    if name is None:
        return
    link = robot.links.get(name)
    if link is None:
        if all(joint.name != name for joint in robot.joints):
            element.ignored(f"there is no link or joint '{name}'")
        return
    for sensor in element.each("sensor"):
        robot.sensors.append(read_sensor(sensor, name))
    for item in element.walk():
        if item.tag in ("mu1", "mu", "mu2"):
            text = item.attributes.get("value", item.text)
            value = item.used().numbers(text, 1)[0]
            link.mu = value if link.mu is None else max(link.mu, value)
        if item.tag == "fdir1":
            words = item.attributes.get("value", item.text)
            x, y, _ = item.used().numbers(words, 3)
            link.rollers = abs(x) > 0.1 and abs(y) > 0.1


def read_sensor(element: Element, link: str) -> Sensor:
    """Reads a `<sensor>` of SDF, which URDF has below `<gazebo>`."""
    pose = element.used().first("pose")
    place = np.eye(4)
    if pose is not None and pose.text.strip():
        values = pose.used().numbers(pose.text, 6)
        place = transform(values[:3], values[3:])
    name = element.attributes.get("name", element.attributes.get("type", "sensor"))
    for plugin in element.each("plugin"):
        plugin.ignored("topics and frames of a sensor's plugin have no counterpart in a vehicle file")
    return Sensor(name, element.attributes.get("type", ""), link, place, element)


def _drives(element: Element, robot: Robot) -> None:
    """Reads the joints that a transmission or a ros2_control block commands."""
    known = {joint.name: joint for joint in robot.joints}
    element.used()
    for joint in element.each("joint"):
        name = joint.used().attribute("name")
        interfaces = [item.attributes.get("name", "") for item in joint.each("command_interface")]
        interfaces += [item.text.strip() for item in joint.each("hardwareInterface")]
        if name not in known:
            joint.ignored(f"there is no joint '{name}'")
        elif element.tag == "transmission" or interfaces:
            robot.driven[name] = joint
        for item in joint.each("command_interface"):
            item.used()
        for item in joint.each("hardwareInterface"):
            item.used()
    reduction = element.first("actuator")
    if reduction is not None:
        ratio = reduction.used().child_number("mechanicalReduction", 1.0)
        if ratio is not None and not math.isclose(ratio, 1.0):
            reduction.ignored("torques are stated at the wheel")
