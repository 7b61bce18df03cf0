"""Limits and assumed kinematics of a robot's controller, as tags of a vehicle file."""

from __future__ import annotations

import math
from collections.abc import Iterator

from mvsim_gym.robots.base import Base
from mvsim_gym.robots.drive import DriveFacts
from mvsim_gym.robots.elements import Fate
from mvsim_gym.robots.sensor_files import number

_MULTIPLIERS = {
    "separation_multiplier": ("wheel_separation_multiplier",),
    "radius_multiplier": ("left_wheel_radius_multiplier", "right_wheel_radius_multiplier"),
    "left_radius_multiplier": ("left_wheel_radius_multiplier",),
    "right_radius_multiplier": ("right_wheel_radius_multiplier",),
}
# Name of a parameter -> tags of a limit, their sign, the switch of old controllers.
_LIMITS = {
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
        for name, (_, sign, switch) in _LIMITS.items():
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
        names, sign, _ = _LIMITS[name]
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
    """Yields how every limit and multiplier was used."""
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
