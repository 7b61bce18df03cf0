"""Facts about a drive from plugins of Gazebo and controllers of ros2_control: joints, separation, radius, limits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from mvsim_gym.robots.description import Robot
from mvsim_gym.robots.elements import Element, ImportRobotError

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
    """Facts by name, each with the place that states it."""

    driven: dict[str, Element | None] = field(default_factory=dict)
    numbers: dict[str, list[tuple[float, str]]] = field(default_factory=dict)

    def say(self, name: str, value: float, place: str) -> None:
        """Adds a fact."""
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
