"""The parameters that can be fitted: a row each, with its target, its bounds and its place in a vehicle file."""

from __future__ import annotations

import fnmatch
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Target = Literal["world", "command", "measure"]


@dataclass(frozen=True)
class Parameter:
    name: str
    unit: str
    meaning: str
    pattern: str = ""
    """Pattern of the vehicle's parameters that it sets, below `vehicle:NAME/`"""
    low: float = 0.25
    high: float = 4.0
    """Bounds: factors of the nominal value (`logarithmic`), else values"""
    logarithmic: bool = True
    target: Target = "world"
    step: float = 0.005
    """Step of finite differences: a share (`logarithmic`), else a value"""
    fallback: float = 0.0
    """Nominal value if no vehicle file states it, or if the file states 0 and the row is logarithmic"""
    tag: str = ""
    """Place in the vehicle file: `element@attribute`, `element/child`, `wheels@attribute`"""
    factor: float = 1.0
    """Function from the value to that of `pattern` and `tag`"""
    resolution: float = 0.0
    """Error of its rollouts; both ends of an interval are wider by it"""
    streams: tuple[str, ...] = ()
    """The only streams that depend on it; empty: all"""

    def bounds(self, nominal: float) -> tuple[float, float]:
        return (self.low * nominal, self.high * nominal) if self.logarithmic else (self.low, self.high)

    def to_scaled(self, value: float, nominal: float) -> float:
        """Returns the scaled value, which is of the order of 1; the fit works on it."""
        if self.logarithmic:
            return math.log(value / nominal)
        return (value - nominal) / (self.high - self.low)

    def from_scaled(self, scaled: float, nominal: float) -> float:
        if self.logarithmic:
            return nominal * math.exp(scaled)
        return nominal + scaled * (self.high - self.low)

    @property
    def scaled_step(self) -> float:
        return self.step if self.logarithmic else self.step / (self.high - self.low)

    def matches(self, path: str, vehicle: str) -> bool:
        return bool(self.pattern) and fnmatch.fnmatchcase(path, f"vehicle:{vehicle}/{self.pattern}")


_ROWS = (
    Parameter("wheel_radius", "m", "on which the tires roll", "wheels/*/radius", 0.8, 1.25, step=0.002),
    Parameter("track", "m", "between the wheels of both sides, as the tires feel it", "wheels/track", 0.5, 2.0),
    Parameter("mass", "kg", "of the chassis", "chassis/mass", 0.3, 3.0, tag="chassis@mass"),
    Parameter("inertia", "kg m2", "of the chassis about z", "chassis/inertia", 0.2, 5.0, step=0.02,
              tag="chassis@inertia"),
    Parameter("com_x", "m", "centre of mass of the chassis", "chassis/com_x", -0.5, 0.5, logarithmic=False,
              step=0.002, tag="chassis@com_x"),
    Parameter("mu", "", "friction coefficient", "friction/mu", 0.05, 4.0, fallback=0.8, tag="friction/mu"),
    Parameter("C_rr", "", "rolling resistance", "friction/C_rr", 0.02, 20.0, step=0.01, fallback=0.02,
              tag="friction/C_rr"),
    Parameter("C_damping", "N m s/rad", "of bearings and motors", "friction/C_damping", 0.02, 20.0, step=0.01,
              fallback=0.01, tag="friction/C_damping"),
    Parameter("C_alpha", "", "cornering stiffness of `ellipse`", "friction/C_alpha", 0.1, 5.0, tag="friction/C_alpha"),
    Parameter("C_s", "", "slip stiffness of `ellipse`", "friction/C_s", 0.1, 5.0, tag="friction/C_s"),
    Parameter("KP", "", "gain of the speed controller", "controller/KP", 0.1, 10.0, tag="controller/KP"),
    Parameter("KI", "", "integral gain", "controller/KI", 0.1, 10.0, step=0.01, fallback=0.1, tag="controller/KI"),
    Parameter("KD", "", "derivative gain", "controller/KD", 0.05, 20.0, step=0.01, fallback=0.01, tag="controller/KD"),
    Parameter("max_torque", "N m", "limit of the speed controller", "controller/max_torque", 0.2, 5.0,
              tag="controller/max_torque"),
    Parameter("linear_damping", "1/s", "drag of the chassis", "chassis/linear_damping", 0.02, 50.0, step=0.02,
              fallback=0.1, tag="chassis@linear_damping"),
    Parameter("angular_damping", "1/s", "drag of turning", "chassis/angular_damping", 0.02, 50.0, step=0.02,
              fallback=0.1, tag="chassis@angular_damping"),
    Parameter("steer_offset", "rad", "added to the steering angle", low=-0.3, high=0.3,
              logarithmic=False, target="command", step=0.001),
    Parameter("steer_gain", "", "true over commanded steering angle", low=0.5, high=2.0, target="command",
              fallback=1.0),
    Parameter("servo_lag", "s", "time constant of the steering", "servo/time_constant", 0.0, 0.5, logarithmic=False,
              step=0.002, tag="servo@time_constant"),
    Parameter("servo_rate", "deg/s", "limit of the steering", "servo/rate", 0.1, 10.0, tag="servo@rate"),
    Parameter("delay", "s", "from a command to its effect", low=0.0, high=0.4, logarithmic=False, target="command",
              step=0.002, resolution=5e-4),
    Parameter("gyro_bias", "rad/s", "added to the measured yaw rate", low=-0.2, high=0.2, logarithmic=False,
              target="measure", step=0.001, streams=("gyro",)),
    Parameter("gyro_scale", "", "measured over true yaw rate", low=0.8, high=1.25, target="measure", fallback=1.0,
              streams=("gyro",)),
    Parameter("effort_constant", "1/(N m)", "measured effort or current over torque of a side", low=0.01, high=100.0,
              target="measure", fallback=1.0, streams=("effort",)),
    Parameter("effort_idle", "", "effort or current beside that of the torque, with the sign of the speed",
              low=-10.0, high=10.0, logarithmic=False, target="measure", step=0.05, streams=("effort",)),
)  # fmt: skip

PARAMETERS: Mapping[str, Parameter] = {row.name: row for row in _ROWS}
"""Parameters by name, in the order of reports."""

DEFAULTS = ("wheel_radius", "track", "mass", "inertia", "mu", "C_rr", "KP", "delay")
"""Parameters that are fitted by default, if the robot has them and the log determines them."""


def parameter(name: str) -> Parameter:
    """Returns the row of that name.

    Raises:
        ValueError: there is none; the message lists all.
    """
    if name not in PARAMETERS:
        raise ValueError(f"found the parameter '{name}', expected one of {', '.join(PARAMETERS)}")
    return PARAMETERS[name]
