"""Writes a mobile base as a vehicle file."""

from __future__ import annotations

import math
from dataclasses import dataclass
from xml.sax.saxutils import quoteattr

from mvsim_gym.robots.base import Base, Wheel
from mvsim_gym.robots.drive import DriveFacts, drive_lines, icr_expansion
from mvsim_gym.robots.sensor_files import number, sensor_xml
from mvsim_gym.robots.visuals import Visuals


@dataclass(frozen=True)
class Gains:
    kp: float
    ki: float
    max_torque: float


_FRICTION = 0.8  # used if the description states none that is plausible for a tire


def vehicle_xml(
    base: Base, name: str, facts: DriveFacts, gains: Gains | None, comment: list[str], visuals: Visuals
) -> str:
    """Returns the text of a vehicle file with one class; `comment` stands at its top."""
    lines = [
        "<!--",
        *(f"  {line.replace('--', '- -')}" for line in comment),
        "-->",
        f"<vehicle:class name={quoteattr(name)}>",
    ]
    lines += [
        f'  <dynamics class="{base.dynamics}">',
        *(f"    {line}" for line in _wheel_lines(base, facts, visuals)),
    ]
    lines += [f"    {line}" for line in _chassis_lines(base)]
    lines += [f"    {line}" for line in _controller_lines(base, gains)]
    lines += ["  </dynamics>", *(f"  {line}" for line in _friction_lines(base, facts))]
    lines += [f"  {line}" for line in drive_lines(base, facts)]
    height = facts.first("cg_height")
    if height is not None:
        lines += [f"  <load_transfer><cg_height>{number(height)}</cg_height></load_transfer>"]
    elif carries_moments(base):
        lines += ["  <load_transfer/>"]
    lines += [
        '  <odometry x_multiplier="1" y_multiplier="1" yaw_multiplier="1"/>',
        *([f"  {_visual(visuals.chassis)}"] if visuals.chassis else []),
        *_sensor_lines(base),
        "</vehicle:class>",
        "",
    ]
    return "\n".join(lines)


def _wheel_lines(base: Base, facts: DriveFacts, visuals: Visuals) -> list[str]:
    car = base.dynamics.startswith("ackermann")
    front = sorted(base.wheels, key=lambda wheel: -wheel.centre[0])[: len(base.wheels) // 2]
    lines = []
    for wheel, tag in base.tagged_wheels():
        place = f' pos="{number(wheel.centre[0])} {number(wheel.centre[1])}"'
        if car and tag.startswith("f"):
            place = ""
        color = visuals.colors.get(wheel.joint.name, "")
        head = f"{tag}{place}{_wheel_attributes(wheel)}" + (f' color="{color}"' if color else "")
        drawn = visuals.wheels.get(wheel.joint.name)
        lines += [f"<{head}/>"] if drawn is None else [f"<{head}>", f"  {_visual(drawn)}", f"</{tag}>"]
    if car:
        lines += [
            f"<f_wheels_x>{number(sum(wheel.centre[0] for wheel in front) / 2)}</f_wheels_x>",
            f"<f_wheels_d>{number(abs(front[0].centre[1] - front[1].centre[1]))}</f_wheels_d>",
            f"<max_steer_ang_deg>{number(math.degrees(max_steer(base, facts)))}</max_steer_ang_deg>",
        ]
    if base.dynamics == "ackermann_drivetrain":
        pulls = any(wheel.driven for wheel in front)
        lines.append(f'<drivetrain type="{"open_4wd" if pulls else "open_rear"}"/>')
    return lines


def _visual(file: str) -> str:
    """Returns the tag of a mesh with y up. Its inner sides are not drawn, so a camera sees out of its housing."""
    return (
        "<visual><enabled>${visuals|true}</enabled>"
        f" <model_uri>${{MVSIM_CURRENT_FILE_DIRECTORY}}/{file}</model_uri>"
        " <model_roll>90</model_roll> <model_cull_faces>BACK</model_cull_faces></visual>"
    )


def max_steer(base: Base, facts: DriveFacts) -> float:
    """Returns the largest steering angle of a wheel in the middle of the front axle, rad."""
    stated = facts.first("max_steer")
    stops = [min(abs(w.steered.lower), abs(w.steered.upper)) for w in base.wheels if w.steered is not None]
    stops = [stop for stop in stops if math.isfinite(stop) and stop > 0]
    if stated is not None:
        return min(stated, math.radians(89))
    return min([*stops, math.radians(89)]) if stops else math.radians(30)


def _wheel_attributes(wheel: Wheel) -> str:
    inertia = f' inertia="{number(wheel.inertia)}"' if wheel.inertia > 0 else ""
    return (
        f' mass="{number(max(wheel.mass, 1e-6))}"{inertia} width="{number(max(wheel.width, 1e-3))}"'
        f' diameter="{number(2 * wheel.radius)}"'
    )


def _chassis_lines(base: Base) -> list[str]:
    color = f' color="{base.color}"' if base.color else ""
    inertial = ""
    if base.inertia_z > 0:
        x, y, z = (number(float(value)) for value in base.centre)
        inertial = f' inertia="{number(base.inertia_z)}" com_x="{x}" com_y="{y}"'
        if carries_moments(base):
            inertial += f' com_z="{z}"'
    corners = " ".join(f"<pt>{number(float(x))} {number(float(y))}</pt>" for x, y in base.outline[::-1])
    return [
        f'<chassis mass="{number(base.mass)}" zmin="{number(base.zmin)}" zmax="{number(base.zmax)}"{inertial}{color}>',
        f"  <shape>{corners}</shape>",
        "</chassis>",
    ]


def carries_moments(base: Base) -> bool:
    """Returns whether the wheels stand around the centre of mass, so that load transfer can be computed from its
    height."""
    return len(base.wheels) == 4 and base.inertia_z > 0 and 0 <= float(base.centre[2]) <= 100


def controller_of(base: Base) -> str:
    """Returns the default controller of a class of dynamics."""
    if base.dynamics.startswith("ackermann"):
        return "twist_front_steer_pid"
    return "twist_ideal"


def _controller_lines(base: Base, gains: Gains | None) -> list[str]:
    if gains is None:
        return []
    return [
        f'<controller class="${{controller|{controller_of(base)}}}">',
        f"  <KP>${{KP|{number(gains.kp)}}}</KP> <KI>${{KI|{number(gains.ki)}}}</KI> <KD>0</KD>",
        f"  <max_torque>${{max_torque|{number(gains.max_torque)}}}</max_torque>",
        "</controller>",
    ]


def friction_of(base: Base, facts: DriveFacts) -> float:
    """Returns the friction coefficient of the tires: that of a parameter file, else that of Gazebo from 0.05 to 2, else
    0.8."""
    stated = facts.first("mu")
    if stated is not None:
        return stated
    found = [base.robot.links[wheel.joint.child].mu for wheel in base.wheels]
    values = [mu for mu in found if mu is not None and 0.05 <= mu <= 2]
    return min(values) if values else _FRICTION


def _friction_lines(base: Base, facts: DriveFacts) -> list[str]:
    damping = max([wheel.joint.damping for wheel in base.wheels])
    if not damping > 0:  # none stated: the robot coasts with a time constant of 10 s
        share = base.total_mass / len(base.wheels)
        damping = 0.1 * share * min(wheel.radius for wheel in base.wheels) ** 2
    skids = base.dynamics == "differential_4_wheels"
    expansion = icr_expansion(base, facts)
    return [
        f'<friction class="{"skid" if skids else "default"}">',
        f"  <mu>{number(friction_of(base, facts))}</mu> <C_damping>{number(damping)}</C_damping> <C_rr>0.01</C_rr>",
        *([] if expansion is None else [f"  <icr_expansion>{number(expansion)}</icr_expansion>"]),
        "</friction>",
    ]


def _sensor_lines(base: Base) -> list[str]:
    lines: list[str] = []
    names: set[str] = set()
    for sensor in base.robot.sensors:
        name = sensor.name
        while name in names:
            name += "_2"
        pose = base.T_vehicle_link[sensor.link] @ sensor.T_link_sensor
        found = sensor_xml(sensor, pose, "".join(c if c.isalnum() or c in "_-" else "_" for c in name))
        if found:
            names.add(name)
            lines += [f"    {line}" for line in found]
    if lines:
        lines = ['  <if condition="${default_sensors|true}">', *lines, "  </if>"]
    return lines
