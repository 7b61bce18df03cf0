"""Converts a robot description to a vehicle file and a table of how each element was used. Finds the wheels of a
description without wheel joints: four equal cylinders that stand on the ground."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from mvsim_gym.robots.base import Base, find_base
from mvsim_gym.robots.description import Array, Joint, Robot
from mvsim_gym.robots.drive import (
    DriveFacts,
    compared_drive,
    drive_of_parameters,
    drive_of_plugins,
    icr_expansion,
)
from mvsim_gym.robots.elements import Element, Fate, ImportRobotError
from mvsim_gym.robots.sdf import read_sdf_model
from mvsim_gym.robots.sources import Sources, parse_yaml
from mvsim_gym.robots.urdf import read_urdf
from mvsim_gym.robots.vehicle_file import Gains, friction_of, max_steer, vehicle_xml
from mvsim_gym.robots.visuals import MeshStore, Visuals, take_visuals
from mvsim_gym.robots.xacro import expand

Row = tuple[Fate, str, str, str]


class Report:
    """The report of an import."""

    rows: list[Row]

    def table(self, every: bool = False) -> Iterator[str]:
        """Yields the lines of the report. Rows of used elements are included only with `every`. Equal rows of one kind
        are counted."""
        return _table_of(self.rows, every)


@dataclass
class ImportedRobot(Report):
    name: str
    """name of the vehicle class"""
    base: Base
    facts: DriveFacts
    xml: str
    """the text of the vehicle file"""
    files: dict[str, bytes] = field(default_factory=dict)
    """meshes that the vehicle file names, which belong beside it, by name"""
    rows: list[Row] = field(default_factory=list)
    """use, place, element and reason: a row for each element, in the order of the files"""

    def summary(self) -> Iterator[str]:
        base = self.base
        yield f"{self.name}: {base.dynamics}, frame {base.frame}"
        yield f"mass {base.total_mass:.4g} kg (chassis {base.mass:.4g} kg, {len(base.wheels)} wheels)"
        wheel = base.wheels[0]
        text = f"wheels: radius {wheel.radius:.4g} m, width {wheel.width:.4g} m, track {base.track:.4g} m"
        yield text + (f", wheelbase {base.wheelbase:.4g} m" if base.wheelbase > 1e-3 else "")
        if base.dynamics.startswith("ackermann"):
            yield f"steering angle up to {math.degrees(max_steer(base, self.facts)):.4g} degrees"


def _table_of(rows: list[Row], every: bool) -> Iterator[str]:
    """Yields the lines of a table in which equal rows of a file are one line. Used elements are included with
    `every`."""
    counts: dict[Fate, int] = dict.fromkeys(Fate, 0)
    for fate, *_ in rows:
        counts[fate] += 1
    groups: dict[tuple[Fate, str, str], dict[str, list[str]]] = {}
    for fate, place, tag, reason in rows:
        if every or fate is not Fate.USED:
            groups.setdefault((fate, place.split(":")[0], reason), {}).setdefault(f"<{tag}>", []).append(
                place
            )
    for (fate, _, reason), tags in groups.items():
        places = [place for found in tags.values() for place in found]
        shown = ", ".join(list(tags)[:4]) + (f" and {len(tags) - 4} other names" if len(tags) > 4 else "")
        more = f" and {len(places) - 1} more" if len(places) > 1 else ""
        yield f"{fate.value:12}  {places[0]}{more}  {shown}" + (f": {reason}" if reason else "")
    yield ", ".join(f"{count} {fate.value}" for fate, count in counts.items())


def refuse_ignored(rows: list[Row]) -> None:
    """Raises ImportRobotError for an element without effect."""
    for fate, place, tag, reason in rows:
        if fate is Fate.IGNORED:
            raise ImportRobotError(f"{place}: <{tag}> has no effect: {reason} (--strict)")


def import_robot(
    path: str | Path,
    *,
    packages: Mapping[str, str | Path] | None = None,
    arguments: Mapping[str, str] | None = None,
    controllers: str | Path | None = None,
    name: str = "",
    frame: str = "",
    model: str = "",
    mass: float | None = None,
    strict: bool = False,
    tune: bool = True,
    visuals: bool = True,
) -> ImportedRobot:
    """Reads a URDF, xacro or SDF file and makes a vehicle class of it. Code in the file is not run.

    Args:
        path: `*.urdf`, `*.xacro` or `*.sdf`.
        packages: folders of ROS packages and Gazebo models by name, in addition to those around the file.
        arguments: values of xacro's `$(arg)`, and of `$(optenv)` and `$(env)`; the process's environment is not read.
        controllers: a YAML file of ros2_control, or of plain parameters (`wheelbase`, `mass`, `max_steering_angle`...).
        name: name of the vehicle class; empty: that of the robot.
        frame: the link that is the vehicle's reference; empty: base_link, base_footprint or the root.
        model: name of the `<model>` in an SDF file; empty: its only one.
        mass: mass of the whole robot, kg, if the description has none.
        strict: whether an element without effect is an error.
        tune: whether to find the gains of the speed controller by a short simulation.
        visuals: whether to make meshes of what the description draws; else the outline is drawn.

    Raises:
        ImportRobotError: the file is damaged, exceeds a limit, or describes a robot that is not simulated.
        OSError: a file cannot be read.
    """
    file = Path(path)
    folders = {key: Path(folder) for key, folder in (packages or {}).items()}
    sources = Sources(file, folders)
    robot, loose = _read(file, sources, dict(arguments or {}), model)
    facts = DriveFacts()
    drive_of_plugins(robot, facts)
    rows: list[Row] = [*loose]
    if controllers is not None:
        own = Path(controllers)
        shown = own.name
        document = parse_yaml(Sources(own, {}).read(own, None), shown)
        rows += [
            (Fate.IGNORED, place, key, why) for place, key, why in drive_of_parameters(document, shown, facts)
        ]
    driven = {**robot.driven, **facts.driven}
    known = {joint.name for joint in robot.joints}
    motors = {name: item or robot.element for name, item in driven.items() if name in known}
    for missing in [joint for joint, item in facts.driven.items() if joint not in known and item is not None]:
        raise (facts.driven[missing] or robot.element).fault(f"there is no joint '{missing}'")
    take_wheels_by_shape(robot, facts)
    meshes = MeshStore(sources)
    base = find_base(robot, motors, meshes.corners, frame)
    _settle_mass(base, facts, mass)
    rows += _settle_inertia(base, facts)
    rows += _compared(base, facts)
    made = ImportedRobot(_class_name(name or robot.name), base, facts, "")
    comment = [*made.summary(), f"Made by 'mvsim-gym import' from {file.name}."]
    gains = _gains(base, facts, made.name, comment) if tune else None
    drawn = take_visuals(base, made.name, meshes) if visuals else Visuals()
    made.files = drawn.files
    made.xml = vehicle_xml(base, made.name, facts, gains, comment, drawn)
    rows += _approximations(base, facts)
    rows += [(Fate.APPROXIMATED, place, "robot", text) for place, text in robot.notes]
    if not visuals:
        for shape in (shape for link in robot.links.values() for shape in link.visuals):
            if shape.element.fate is Fate.USED:
                shape.element.approximated("it is drawn as the outline, with a cylinder for each wheel")
    made.rows = [*rows, *fates_of(robot.element)]
    if strict:
        refuse_ignored(made.rows)
    return made


def _read(file: Path, sources: Sources, arguments: dict[str, str], model: str) -> tuple[Robot, list[Row]]:
    expansion = expand(file, sources, arguments, arguments)
    root = expansion.root
    if root.tag == "sdf":
        models = [
            item
            for item in root.used().walk()
            if item.tag == "model" and (not model or item.attributes.get("name") == model)
        ]
        models = [item for item in models if not any(item in other.children for other in models)]
        if len(models) != 1:
            found = ", ".join(item.attributes.get("name", "?") for item in models[:8]) or "none"
            raise root.fault(f"found {len(models)} models ({found}), expected one (--model NAME)")
        robot = read_sdf_model(models[0])
    else:
        robot = read_urdf(root)
    return robot, [(Fate.IGNORED, place, "xacro:include", reason) for place, reason in expansion.missing]


def _settle_mass(base: Base, facts: DriveFacts, mass: float | None) -> None:
    """Sets the mass of a description without masses to that of the caller or of a parameter file."""
    stated = mass if mass is not None else facts.first("mass")
    if stated is not None and not (math.isfinite(stated) and stated > 0):
        raise base.robot.element.fault(f"found a mass of {stated:g} kg, expected one above 0")
    if base.mass <= 0:
        if stated is None:
            raise base.robot.element.fault("the chassis has no mass, expected <inertial> tags or --mass KG")
        base.mass = stated - sum(wheel.mass for wheel in base.wheels)
    most = base.total_mass / 20
    for wheel in base.wheels:
        # a solid disc of rubber and plastic of its size, at most a twentieth of the robot
        if wheel.mass <= 0:
            wheel.mass = min(600 * math.pi * wheel.radius**2 * wheel.width, most)
            wheel.inertia = 0.0
            base.mass -= wheel.mass
            wheel.joint.element.approximated(
                f"its wheel has no mass: {wheel.mass:.3g} kg are taken from the chassis"
            )
    if base.mass <= 0:
        raise base.robot.element.fault("the wheels weigh more than the robot")


def _settle_inertia(base: Base, facts: DriveFacts) -> Iterator[Row]:
    """Takes inertia and centre of mass of the whole robot from a parameter file, and subtracts those of the wheels."""
    whole, to_rear = facts.first("inertia_z"), facts.first("cg_to_rear")
    for name in ("inertia_z", "cg_to_rear"):
        for stated, place in facts.numbers.get(name, []):
            if base.inertia_z > 0:
                yield Fate.IGNORED, place, name, f"{stated:g}: the description has inertias of its own"
            else:
                yield Fate.USED, place, name, ""
    if base.inertia_z > 0 or whole is None:
        return
    total = base.total_mass
    rear = min(float(wheel.centre[0]) for wheel in base.wheels)
    middle = np.array([rear + to_rear if to_rear is not None else float(base.outline[:, 0].mean()), 0.0])
    weighed = sum((wheel.mass * wheel.centre[:2] for wheel in base.wheels), np.zeros(2))
    base.centre = np.array([*((total * middle - weighed) / base.mass), facts.first("cg_height") or 0.0])
    inertia = whole - base.mass * float(((base.centre[:2] - middle) ** 2).sum())
    for wheel in base.wheels:
        own = ((2 * wheel.radius) ** 2 + wheel.width**2) / 12
        inertia -= wheel.mass * (own + float(((wheel.centre[:2] - middle) ** 2).sum()))
    if inertia > 0:
        base.inertia_z = inertia
    else:
        place = facts.numbers["inertia_z"][0][1]
        reason = f"{whole:g} kg m2: the wheels alone have more; the inertia of the outline is used"
        yield Fate.IGNORED, place, "inertia_z", reason


def _compared(base: Base, facts: DriveFacts) -> Iterator[Row]:
    """Yields differences between the description and its controllers: both numbers, and the choice."""
    own = {"separation": base.track, "radius": base.wheels[0].radius, "wheelbase": base.wheelbase}
    for name, value in own.items():
        for stated, place in facts.numbers.get(name, []):
            if abs(stated - value) > 1e-3 * value:
                reason = f"{name} {stated:g} m there, {value:.6g} m by the joints: the joints are used"
                yield Fate.APPROXIMATED, place, name, reason
            else:
                yield Fate.USED, place, name, ""
    yield from compared_drive(base, facts)
    for stated, place in facts.numbers.get("kingpin_width", []):
        yield Fate.IGNORED, place, "kingpin_width", f"{stated:g}: vehicle files have no such value"
    for name in ("max_steer", "mass", "mu", "cg_height", "max_torque"):
        for _, place in facts.numbers.get(name, []):
            yield Fate.USED, place, name, ""


def _approximations(base: Base, facts: DriveFacts) -> Iterator[Row]:
    place = base.robot.element.place
    if not base.inertia_z > 0:
        reason = "none is stated: centre of mass and inertia are those of the outline"
        yield Fate.APPROXIMATED, place, "inertial", reason
    if base.dynamics == "differential_4_wheels":
        expansion = icr_expansion(base, facts)
        if expansion is None:
            expansion = 1 + (base.wheelbase / base.track) ** 2
            reason = (
                f"skid steering: no apparent track is stated; isotropic friction gives {expansion:.3g} times the track."
                " twist_ideal turns as commanded, twist_pid slower by that factor"
            )
        else:
            reason = f"skid steering: the apparent track is {expansion:g} times the track, as its controller has it"
        yield Fate.APPROXIMATED, place, "robot", reason
    values = {base.robot.links[wheel.joint.child].mu for wheel in base.wheels} - {None}
    mu = friction_of(base, facts)
    if any(value != mu for value in values):
        found = ", ".join(f"{value:g}" for value in sorted(value for value in values if value is not None))
        yield Fate.APPROXIMATED, place, "mu", f"found {found}, {mu:g} is used"
    elif not values and facts.first("mu") is None:
        yield Fate.APPROXIMATED, place, "mu", f"none is stated: {mu:g} is used"
    if not any(wheel.joint.damping > 0 for wheel in base.wheels):
        reason = "no damping is stated: the robot coasts with a time constant of 10 s"
        yield Fate.APPROXIMATED, place, "dynamics", reason
    for wheel in base.wheels:
        if wheel.joint.friction > 0:
            reason = f"Coulomb friction of {wheel.joint.friction:g} N m: wheels have only viscous damping"
            yield Fate.IGNORED, wheel.joint.element.place, "dynamics", reason


def _gains(base: Base, facts: DriveFacts, name: str, comment: list[str]) -> Gains:
    """Returns the gains of `mvsim-gym tune` for a draft of the file, within the torque limits of the description."""
    from mvsim_gym.tools.tune import tune as find

    limit = facts.first("max_torque") or min((w.joint.effort or math.inf) for w in base.wheels)
    draft = vehicle_xml(base, name, facts, None, comment, Visuals())
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "draft.vehicle.xml"
        path.write_text(draft, encoding="utf-8")
        found: dict[str, float] = {}
        for line in find(str(path), name):
            words = line.split()
            if len(words) == 2 and words[0] in ("KP", "KI", "max_torque"):
                found[words[0]] = float(words[1])
    torque = min(limit, found["max_torque"])
    integral = found["KI"]
    if base.dynamics == "differential_4_wheels":
        # A turn uses most of the grip, so the integral gain is the largest that settles at steps up to 20 ms
        # (vehicle/speed_pid.cpp).
        integral = max(integral, min(14 * torque, 20 * found["KP"]))
    return Gains(found["KP"], integral, torque)


def fates_of(root: Element) -> Iterator[Row]:
    for element in root.walk():
        fate = element.fate or Fate.IGNORED
        reason = element.reason or ("" if fate is Fate.USED else "it is not known to this import")
        yield fate, element.place, element.tag, reason


def _class_name(name: str) -> str:
    plain = "".join(letter if letter.isalnum() or letter in "_-" else "_" for letter in name).strip("_")
    return plain or "robot"


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
