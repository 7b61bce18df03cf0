"""Gains for the speed PID of a vehicle class, by a step of torque: `mvsim-gym tune`.

The class drives on flat ground in an otherwise empty world. A constant torque at its wheels gives a first-order model
of the speed, v(t) = K torque (1 - exp(-t / tau)); internal model control with a closed loop `aggressiveness` times as
slow gives KP = 1 / (K aggressiveness) and KI = KP / tau. A second run follows a step of the setpoint with these gains.
"""

from __future__ import annotations

import math
import os
import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mvsim_gym.parts import Vehicle
from mvsim_gym.world import World

__all__ = ["Gains", "Response", "tune"]

_CONTROLLERS = {
    "differential": "twist_pid",
    "differential_3_wheels": "twist_pid",
    "differential_4_wheels": "twist_pid",
    "ackermann": "twist_front_steer_pid",
}
"""Of each class of dynamics that can be tuned, what is tuned."""

_GRIP = 0.8  # friction coefficient that is assumed of any tire
_GRAVITY = 9.81
_SHARE_OF_GRIP = 0.8  # that max_torque may take
_STEP, _STEP_SECONDS = 1.0, 3.0  # m/s of the setpoint, up and then down
_BAND = 0.02  # m/s about the setpoint in which the speed has settled
Array = npt.NDArray[np.float64]


class Gains(NamedTuple):
    """What goes into <controller>."""

    kp: float
    ki: float
    kd: float
    max_torque: float

    def xml(self) -> str:
        """As tags."""
        return (
            f"<KP>{self.kp:.4f}</KP> <KI>{self.ki:.4f}</KI> <KD>{self.kd:.4f}</KD>"
            f" <max_torque>{self.max_torque:.4f}</max_torque>"
        )


class Model(NamedTuple):
    """v(t) = gain torque (1 - exp(-t / time_constant))"""

    gain: float
    """m/s per N m"""
    time_constant: float
    """s"""


class Response(NamedTuple):
    """How the speed follows a step of 1 m/s up, and after 3 s down again; s, m/s."""

    rise: float
    overshoot_percent: float
    steady_error: float
    settling: float
    stop_settling: float
    rebound: float

    def lines(self) -> Iterator[str]:
        """For the report."""
        yield f"response    to a step of {_STEP:g} m/s, after {_STEP_SECONDS:g} s down again:"
        yield f"  rise          {self.rise:.3f} s"
        yield f"  overshoot     {self.overshoot_percent:.1f} %"
        yield f"  steady error  {self.steady_error:.4f} m/s"
        yield f"  settling      {self.settling:.3f} s"
        yield f"  stops in      {self.stop_settling:.3f} s"
        yield f"  rebound       {self.rebound:.4f} m/s" + (" (!)" if self.rebound > 0.001 else "")

    def warnings(self) -> list[str]:
        """What is not as it should be."""
        found = (
            (self.overshoot_percent > 20, f"overshoot of {self.overshoot_percent:.1f} %: raise -a"),
            (self.steady_error > 0.05, f"error of {self.steady_error:.3f} m/s that stays"),
            (self.rebound > 0.01, f"rebound of {self.rebound:.3f} m/s when it stops: raise -a"),
            (self.rise > 2, f"rise in {self.rise:.2f} s: lower -a"),
        )
        return [text for is_so, text in found if is_so]


def tune(
    path: str,
    class_name: str,
    *,
    torque: float = 0.0,
    duration: float = 5.0,
    step: float = 0.001,
    aggressiveness: float = 0.25,
    **loading: Any,
) -> Iterator[str]:
    """Yields the lines of a report.

    Args:
        path: the file with the class.
        class_name: of <vehicle:class>.
        torque: N m of the test at each side; 0 or less: half of what the tires hold.
        duration: s of the test.
        step: s of a physics step.
        aggressiveness: time constant of the closed loop over that of the open one.
        loading: further keywords of `World`.

    Raises:
        ValueError: no such class, dynamics that cannot be tuned, a vehicle that does not move.
        OSError: the file cannot be read.
    """
    for name, value in (("-a", aggressiveness), ("-d", duration), ("-s", step)):
        if not (math.isfinite(value) and value > 0):
            raise ValueError(f"{name}: found {value:g}, expected a number above 0")
    vehicle = _Bench(path, class_name, step, loading)
    facts = vehicle.facts()
    yield from facts.lines(class_name)
    if not torque > 0:
        torque = 0.5 * facts.torque_limit
    speed = vehicle.drive("raw", "", duration, lambda _: [-torque] * 2)
    model = fit(speed, step, torque)
    yield f"model       K {model.gain:.4f} m/s per N m, tau {model.time_constant:.4f} s (by {torque:.4f} N m)"
    gains = gains_of(model, aggressiveness, facts.torque_limit)
    yield f"KP {gains.kp:.4f}"
    yield f"KI {gains.ki:.4f}"
    yield f"KD {gains.kd:.4f}"
    yield f"max_torque {gains.max_torque:.4f}"
    yield gains.xml()
    speed = vehicle.drive(
        _CONTROLLERS[facts.dynamics],
        gains.xml(),
        2 * _STEP_SECONDS,
        lambda time: [_STEP if time < _STEP_SECONDS else 0, 0],
    )
    response = response_of(speed, step)
    yield from response.lines()
    yield from [f"warning: {text}" for text in response.warnings()] or ["good: it follows without surprises"]


class _Facts(NamedTuple):
    """What the test and the gains need of a vehicle."""

    dynamics: str
    chassis_mass: float
    wheels: Sequence[Sequence[float]]  # x, y, yaw, width, radius, mass

    @property
    def torque_limit(self) -> float:
        """N m that a tire holds, by the share of each wheel of the mass and the radius of the first."""
        mass = self.chassis_mass + sum(wheel[5] for wheel in self.wheels)
        return _GRIP * mass / len(self.wheels) * _GRAVITY * self.wheels[0][4]

    def lines(self, class_name: str) -> Iterator[str]:
        """The head of the report."""
        mass = self.chassis_mass + sum(wheel[5] for wheel in self.wheels)
        yield f"vehicle     {class_name} ({self.dynamics}), {mass:g} kg, chassis {self.chassis_mass:g} kg"
        places = ", ".join(f"({x:g}, {y:g})" for x, y, *_ in self.wheels)
        yield f"wheels      {len(self.wheels)} at {places} m, radius {self.wheels[0][4]:g} m"
        yield f"limit       {self.torque_limit:.4f} N m a wheel"


class _Bench:
    """Drives instances of a class in empty worlds."""

    def __init__(self, path: str, class_name: str, step: float, loading: dict[str, Any]) -> None:
        self._path, self._class, self._step, self._loading = path, class_name, step, loading
        with open(path, encoding="utf-8") as file:
            self._text = file.read()
        with_controller(self._text, class_name, "")  # whether that will work
        self._no_sensors = 'default_sensors="false"' if "${default_sensors" in self._text else ""

    def facts(self) -> _Facts:
        """Of the class as it stands."""
        world = self._world(self._text)
        model = world._model.vehicles[0]
        if model.dynamics not in _CONTROLLERS:
            raise ValueError(
                f"class '{self._class}': the dynamics '{model.dynamics}' is unsupported, expected one of"
                f" {', '.join(_CONTROLLERS)}"
            )
        masses = [nominal for name, nominal, *_ in world._model.parameters if name.endswith("/chassis/mass")]
        return _Facts(model.dynamics, masses[0], model.wheels)

    def drive(
        self, controller: str, tags: str, duration: float, command: Callable[[float], list[float]]
    ) -> Array:
        """Speed before each step under a controller: the mean of the wheels' centres, along the vehicle, m/s."""
        text = with_controller(
            self._text, self._class, f'<controller class="{controller}">{tags}</controller>'
        )
        world = self._world(text)
        vehicle: Vehicle = world.vehicles["tuned"]
        y = np.mean([wheel[1] for wheel in world._model.vehicles[0].wheels])
        speed = np.empty(round(duration / self._step))
        for i in range(len(speed)):
            twist = vehicle.twist
            speed[i] = twist.vx - twist.omega * y
            values = command(i * self._step)
            vehicle.set_command(*values, *[0.0] * (len(vehicle.command_names) - len(values)))
            world.step()
        return speed

    def _world(self, text: str) -> World:
        """An empty world with one vehicle of the class. Files beside that of the class are found as from there."""
        near = os.path.dirname(os.path.abspath(self._path))
        with tempfile.TemporaryDirectory(prefix="mvsim_gym_tune") as folder:
            name = os.path.basename(self._path)
            for other in os.listdir(near):
                if other != name:
                    os.symlink(os.path.join(near, other), os.path.join(folder, other))
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(text)
            world = os.path.join(folder, "tune.world.xml.tmp")
            with open(world, "w", encoding="utf-8") as file:
                file.write(
                    f"<mvsim_world><simul_timestep>{self._step!r}</simul_timestep><gravity>{_GRAVITY}</gravity>"
                    f'<include file="{name}" {self._no_sensors}/>'
                    f'<vehicle name="tuned" class="{self._class}"><init_pose>0 0 0</init_pose></vehicle></mvsim_world>'
                )
            roots = [near, os.path.dirname(near), *self._loading.get("roots", ())]
            return World(world, **{**self._loading, "roots": roots})


def with_controller(text: str, class_name: str, controller: str) -> str:
    """The file with another controller in a class.

    Raises:
        ValueError: there is no such class with dynamics of its own.
    """
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    name = rf"""<vehicle:class\b[^>]*\bname\s*=\s*["']{re.escape(class_name)}["'].*?</vehicle:class>"""
    found = re.search(name, text, re.DOTALL)
    body = found and re.sub(r"<controller\b[^>]*?(/>|>.*?</controller>)", "", found[0], flags=re.DOTALL)
    if not found or not body or "</dynamics>" not in body:
        raise ValueError(f'found no <vehicle:class name="{class_name}"> with <dynamics> in the file')
    body = body.replace("</dynamics>", f"{controller}</dynamics>", 1)
    return text[: found.start()] + body + text[found.end() :]


def fit(speed: Array, step: float, torque: float) -> Model:
    """The first-order model of a response to a constant torque; ValueError where there is none."""
    if len(speed) < 10:
        raise ValueError(f"found {len(speed)} samples, expected 10 at least: raise -d or lower -s")
    steady = float(speed[-max(1, len(speed) // 5) :].mean())
    if not steady > 0:
        raise ValueError(f"the vehicle does not move forward ({steady:.4g} m/s): raise -t")
    time_constant = _first_time(speed >= 0.632 * steady, step, len(speed) * step)
    if time_constant < 2 * step:
        time_constant = -_first_time(speed >= 0.95 * steady, step, len(speed) * step) / math.log(0.05)
    if not time_constant > 0:
        raise ValueError("the vehicle has its speed at once: lower -s")
    return Model(steady / torque, time_constant)


def gains_of(model: Model, aggressiveness: float, torque_limit: float) -> Gains:
    """By internal model control."""
    kp = 1 / (model.gain * aggressiveness)
    return Gains(kp, kp / model.time_constant, 0.0, _SHARE_OF_GRIP * torque_limit)


def response_of(speed: Array, step: float) -> Response:
    """What there is to say of a response to the setpoint 1 m/s for 3 s and then 0."""
    n = round(_STEP_SECONDS / step)
    up, down = speed[:n], speed[n:]
    outside = np.flatnonzero(np.abs(up - _STEP) > _BAND)
    settled = (outside[-1] + 1) * step if len(outside) and outside[-1] + 1 < len(up) else _STEP_SECONDS
    return Response(
        rise=_first_time(up >= 0.9 * _STEP, step, _STEP_SECONDS),
        overshoot_percent=max(0.0, float(up.max() / _STEP - 1) * 100),
        steady_error=abs(_STEP - float(up[-max(1, n // 5) :].mean())),
        settling=float(settled),
        stop_settling=_first_time(np.abs(down) <= _BAND, step, _STEP_SECONDS),
        rebound=max(0.0, -float(down.min())),
    )


def _first_time(holds: npt.NDArray[np.bool_], step: float, fallback: float) -> float:
    where = np.flatnonzero(holds)
    return float(where[0]) * step if len(where) else fallback
