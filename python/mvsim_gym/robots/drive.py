"""Facts about a drive from plugins of Gazebo and controllers of ros2_control: joints, separation, radius, limits. The
limits and the assumed kinematics of a controller become tags of a vehicle file."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from mvsim_gym.robots.base import Base
from mvsim_gym.robots.description import Robot
from mvsim_gym.robots.elements import Element, Fate, ImportRobotError
from mvsim_gym.robots.sensor_files import number

_REFUSED = {
    "mecanum": "a mecanum drive",
    "omni": "an omnidirectional drive",
    "planar": "a drive that moves sideways",
    "holonomic": "a drive that moves sideways",
    "tracked": "a tracked drive",
    "trackcontroller": "a tracked drive",
    "tricycle": "a tricycle drive",
    "bicycle": "a bicycle drive",
    "swerve": "a swerve drive",
}
_DRIVES = ("diffdrive", "differentialdrive", "skidsteer", "ackermann", "carlike")
_LEFT = ("left_joint", "leftjoint", "leftfrontjoint", "leftrearjoint", "left_wheel", "left_wheel_names")
_RIGHT = (
    "right_joint",
    "rightjoint",
    "rightfrontjoint",
    "rightrearjoint",
    "right_wheel",
    "right_wheel_names",
)
_CAR = (
    "front_left_joint",
    "front_right_joint",
    "rear_left_joint",
    "rear_right_joint",
    "rear_wheels_names",
    "traction_joints_names",
    "front_wheels_names",
)
_NUMBERS = {
    "wheelseparation": "separation",
    "wheel_separation": "separation",
    "wheel_radius": "radius",
    "wheelradius": "radius",
    "wheels_radius": "radius",
    "rear_wheels_radius": "radius",
    "wheel_base": "wheelbase",
    "wheelbase": "wheelbase",
    "kingpin_width": "kingpin_width",
    "wheel_separation_multiplier": "separation_multiplier",
    "left_wheel_radius_multiplier": "left_radius_multiplier",
    "right_wheel_radius_multiplier": "right_radius_multiplier",
    "wheel_radius_multiplier": "radius_multiplier",
    "max_wheel_torque": "max_torque",
    "wheeltorque": "max_torque",
    "torque": "max_torque",
    "max_steer": "max_steer",
    "steering_limit": "max_steer",
    "max_steering_angle": "max_steer",
    "max_speed": "linear.x.max_velocity",
    "max_linear_velocity": "linear.x.max_velocity",
    "max_angular_velocity": "angular.z.max_velocity",
    "max_linear_acceleration": "linear.x.max_acceleration",
    "max_angular_acceleration": "angular.z.max_acceleration",
    "max_accel": "linear.x.max_acceleration",
    "max_decel": "linear.x.max_deceleration",
    "max_steering_vel": "max_steer_rate",
    "mass": "mass",
    "friction_coeff": "mu",
    "height_cg": "cg_height",
    "moment_inertia": "inertia_z",
    "l_cg2rear": "cg_to_rear",
}
_LIMITS = {
    f"{axis}.{name}"
    for axis in ("linear.x", "angular.z")
    for name in (
        "has_velocity_limits",
        "has_acceleration_limits",
        "has_jerk_limits",
        "max_velocity",
        "min_velocity",
        "max_acceleration",
        "min_acceleration",
        "max_deceleration",
        "max_acceleration_reverse",
        "max_deceleration_reverse",
        "max_jerk",
        "min_jerk",
    )
}
_DIAMETERS = ("wheeldiameter", "wheel_diameter")


@dataclass
class DriveFacts:
    driven: dict[str, Element | None] = field(default_factory=dict)
    numbers: dict[str, list[tuple[float, str]]] = field(default_factory=dict)

    def say(self, name: str, value: float, place: str) -> None:
        self.numbers.setdefault(name, []).append((value, place))

    def first(self, name: str) -> float | None:
        """Returns the first value of a fact. Plugins come before parameter files."""
        found = self.numbers.get(name)
        return found[0][0] if found else None


def drive_of_plugins(robot: Robot, facts: DriveFacts) -> None:
    """Adds the facts of the drive plugins. Other plugins are ignored with a reason.

    Raises:
        ImportRobotError: the drive of the plugin is not simulated.
    """
    for plugin in robot.plugins:
        label = plugin.attributes.get("filename", "") + " " + plugin.attributes.get("name", "")
        plain = "".join(letter for letter in label.lower() if letter.isalpha())
        for word, what in _REFUSED.items():
            if word in plain:
                raise plugin.fault(
                    f"found {what} ('{label.strip()}'), expected a differential, skid-steered or Ackermann drive"
                )
        if any(word in plain for word in _DRIVES):
            _take_plugin(plugin.used(), facts)
        else:
            plugin.ignored("this plugin of Gazebo has no counterpart here")


def _take_plugin(plugin: Element, facts: DriveFacts) -> None:
    for item in plugin.walk():
        if item is plugin or item.children:
            item.used()
            continue
        name, text = item.tag.lower(), item.text.strip()
        if name in (*_LEFT, *_RIGHT, *_CAR):
            for joint in text.split():
                facts.driven.setdefault(joint, item.used())
        elif name in _DIAMETERS:
            facts.say("radius", item.used().numbers(text, 1)[0] / 2, item.place)
        elif name in _NUMBERS:
            facts.say(_NUMBERS[name], item.used().numbers(text, 1)[0], item.place)
        else:
            item.ignored("topics, frames and rates of a drive plugin have no counterpart in a vehicle file")


def drive_of_parameters(document: Any, shown: str, facts: DriveFacts) -> Iterator[tuple[str, str, str]]:
    """Adds the facts of a parameter file. Yields place, key and reason of ignored entries.

    Raises:
        ImportRobotError: the file holds no mapping, or its drive is not simulated.
    """
    if not isinstance(document, Mapping):
        raise ImportRobotError(f"{shown}: found no mapping, expected parameters")
    for key, value in _flat(document):
        name = key.rsplit(".ros__parameters.", 1)[-1]
        short = name.split(".")[-1].lower()
        dotted = ".".join(name.split(".")[-3:]).lower()
        if short == "type" and isinstance(value, str):
            plain = "".join(letter for letter in value.lower() if letter.isalpha())
            for word, what in _REFUSED.items():
                if word in plain:
                    raise ImportRobotError(
                        f"{shown}: found {what} ('{value}'), expected a differential or Ackermann drive"
                    )
            continue
        if short in (*_LEFT, *_RIGHT, *_CAR):
            for joint in value if isinstance(value, list) else str(value).split():
                facts.driven.setdefault(str(joint), None)
            continue
        fact = dotted if dotted in _LIMITS else _NUMBERS.get(short)
        switch = dotted in _LIMITS and ".has_" in dotted
        number = isinstance(value, int | float) and isinstance(value, bool) == switch
        if short in _DIAMETERS and number:
            facts.say("radius", float(value) / 2, f"{shown} ({key})")
        elif fact is not None and number:
            facts.say(fact, float(value), f"{shown} ({key})")
        else:
            yield shown, key, "has no counterpart in a vehicle file"


def _flat(document: Mapping[Any, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in document.items():
        path = f"{prefix}{key}"
        if isinstance(value, Mapping):
            yield from _flat(value, path + ".")
        else:
            yield path, value


_MULTIPLIERS = {
    "separation_multiplier": ("wheel_separation_multiplier",),
    "radius_multiplier": ("left_wheel_radius_multiplier", "right_wheel_radius_multiplier"),
    "left_radius_multiplier": ("left_wheel_radius_multiplier",),
    "right_radius_multiplier": ("right_wheel_radius_multiplier",),
}
# Name of a parameter -> tags of a limit, their sign, the switch of old controllers.
_TAGS_OF_LIMITS = {
    "max_velocity": (("max_velocity",), 1, "has_velocity_limits"),
    "min_velocity": (("min_velocity",), -1, "has_velocity_limits"),
    "max_acceleration": (("max_acceleration",), 1, "has_acceleration_limits"),
    "min_acceleration": (("max_deceleration", "max_acceleration_reverse"), -1, "has_acceleration_limits"),
    "max_deceleration": (("max_deceleration",), -1, "has_acceleration_limits"),
    "max_acceleration_reverse": (("max_acceleration_reverse",), -1, "has_acceleration_limits"),
    "max_deceleration_reverse": (("max_deceleration_reverse",), 1, "has_acceleration_limits"),
    "max_jerk": (("max_jerk",), 1, "has_jerk_limits"),
    "min_jerk": (("min_jerk",), -1, "has_jerk_limits"),
}
_AXES = {"linear": "linear.x", "angular": "angular.z"}


def _limits(facts: DriveFacts) -> Iterator[tuple[str, str, float, str, str]]:
    """Yields axis, name, value and place of every limit, and the reason if it has no effect (else "")."""
    for axis, prefix in _AXES.items():
        for name, (_, sign, switch) in _TAGS_OF_LIMITS.items():
            for value, place in facts.numbers.get(f"{prefix}.{name}", []):
                reason = ""
                if facts.first(f"{prefix}.{switch}") == 0:
                    reason = f"{value:g}: {switch} is false"
                elif not math.isfinite(value):
                    reason = "it is no number"
                elif "jerk" in name and value == 0:
                    reason = "0: no limit"
                elif value * sign < 0 and name != "max_deceleration":
                    reason = f"{value:g}: found a limit of the wrong sign"
                yield axis, name, value, place, reason


def drive_lines(base: Base, facts: DriveFacts) -> list[str]:
    """Returns <limits>, <kinematics> and <servo> of a vehicle file, for the facts that are stated."""
    tags: dict[str, dict[str, float]] = {axis: {} for axis in _AXES}
    for axis, name, value, _, reason in _limits(facts):
        names, sign, _ = _TAGS_OF_LIMITS[name]
        if not reason:
            for tag in names:
                tags[axis].setdefault(tag, sign * abs(value) if value else 0.0)
    lines = []
    if any(tags.values()):
        lines.append("<limits>")
        for axis, found in tags.items():
            if found:
                texts = " ".join(f"<{tag}>{number(value)}</{tag}>" for tag, value in found.items())
                lines.append(f"  <{axis}>{texts}</{axis}>")
        lines.append("</limits>")
    if not base.dynamics.startswith("ackermann"):
        beliefs: dict[str, float] = {}
        for name, wanted in _MULTIPLIERS.items():
            stated = facts.first(name)
            if stated is not None and not math.isclose(stated, 1.0):
                for tag in wanted:
                    beliefs[tag] = beliefs.get(tag, 1.0) * stated
        if beliefs:
            texts = " ".join(f'{tag}="{number(value)}"' for tag, value in beliefs.items())
            lines.append(f"<kinematics {texts}/>")
        if base.dynamics == "differential_4_wheels":  # its driver gives each wheel the speed of its side
            lines.append("<coupled_sides>true</coupled_sides>")
    else:
        rate = facts.first("max_steer_rate")
        if rate is not None:
            lines.append(f'<servo rate="{number(math.degrees(rate))}"/>')
    return lines


def icr_expansion(base: Base, facts: DriveFacts) -> float | None:
    """Returns the ratio of apparent to true track of a skid-steered robot, which is the multiplier of its
    controller."""
    stated = facts.first("separation_multiplier")
    if base.dynamics == "differential_4_wheels" and stated is not None and stated > 1:
        return stated
    return None


def compared_drive(base: Base, facts: DriveFacts) -> Iterator[tuple[Fate, str, str, str]]:
    for _, name, _, place, reason in _limits(facts):
        yield (Fate.IGNORED if reason else Fate.USED), place, name, reason
    car = base.dynamics.startswith("ackermann")
    for name in _MULTIPLIERS:
        for stated, place in facts.numbers.get(name, []):
            if car and not math.isclose(stated, 1.0):
                yield Fate.IGNORED, place, name, f"{stated:g}: a car turns by its steering angle"
            else:
                yield Fate.USED, place, name, ""
    for stated, place in facts.numbers.get("max_steer_rate", []):
        if car:
            yield Fate.USED, place, "max_steer_rate", ""
        else:
            yield Fate.IGNORED, place, "max_steer_rate", f"{stated:g}: this robot has no steering"
