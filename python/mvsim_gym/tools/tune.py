"""Gains for the speed PID of a vehicle class, by a step of torque: `mvsim-gym tune`.

The class drives on flat ground in an otherwise empty world. A constant torque at its wheels gives a first-order model
of the speed, v(t) = K torque (1 - exp(-t / tau)). Internal model control makes the closed loop `aggressiveness` times
as slow as the open one: KP = 1 / (K aggressiveness) and KI = KP / tau. A second run follows a step of the setpoint.
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

_STEP_SECONDS = 3.0  # s that a setpoint up to 1 m/s holds
_BAND = 0.02  # share of the setpoint within which the speed has settled
_SLOW_RISE, _SLOW_SETTLING = 4.0, 8.0  # times the time that the full torque would take


class Response(NamedTuple):
    """The response of the speed to a step up and down again; s, m/s."""

    rise: float
    overshoot_percent: float
    steady_error: float
    settling: float
    """Settling time; the duration of the step if the speed does not settle."""
    stop_settling: float
    rebound: float
    speed: float = 1.0
    """Setpoint of the step."""
    least: float = 0.0
    """Time to that speed with full torque; 0: not known."""

    def lines(self) -> Iterator[str]:
        seconds = step_seconds(self.speed)
        yield f"response    to a step of {self.speed:g} m/s, after {seconds:g} s down again:"
        yield f"  rise          {self.rise:.3f} s"
        yield f"  overshoot     {self.overshoot_percent:.1f} %"
        yield f"  steady error  {self.steady_error:.4f} m/s"
        yield f"  settling      {self.settling:.3f} s"
        yield f"  stops in      {self.stop_settling:.3f} s"
        yield f"  rebound       {self.rebound:.4f} m/s" + (
            " (!)" if self.rebound > 0.001 * self.speed else ""
        )

    def warnings(self) -> list[str]:
        """Returns a warning for each property that is out of its range."""
        never = self.settling >= step_seconds(self.speed)
        slow = self.rise > 2 or 0 < _SLOW_RISE * self.least < self.rise
        late = not never and 0 < _SLOW_SETTLING * self.least < self.settling
        could = f" (all torque would take {self.least:.2f} s)" if self.least > 0 else ""
        found = (
            (self.overshoot_percent > 20, f"overshoot of {self.overshoot_percent:.1f} %: raise -a"),
            (self.steady_error > 0.05 * self.speed, f"error of {self.steady_error:.3f} m/s that stays"),
            (self.rebound > 0.01 * self.speed, f"rebound of {self.rebound:.3f} m/s when it stops: raise -a"),
            (slow, f"slow: rise in {self.rise:.2f} s{could}: lower -a"),
            (never, f"slow: does not settle within {step_seconds(self.speed):g} s{could}: lower -a"),
            (late, f"slow: settles in {self.settling:.2f} s{could}: lower -a"),
        )
        return [text for is_so, text in found if is_so]


def step_seconds(speed: float) -> float:
    """Returns how long a setpoint holds, s."""
    return _STEP_SECONDS * max(1.0, speed)


def response_of(response: Array, step: float, speed: float = 1.0, least: float = 0.0) -> Response:
    """Returns the properties of a response to the setpoint `speed` for `step_seconds` and then 0.

    Args:
        response: speed, m/s, every `step` seconds.
        least: time to that speed with full torque, s.
    """
    seconds = step_seconds(speed)
    n = round(seconds / step)
    up, down = response[:n], response[n:]
    outside = np.flatnonzero(np.abs(up - speed) > _BAND * speed)
    settled = (outside[-1] + 1) * step if len(outside) and outside[-1] + 1 < len(up) else seconds
    return Response(
        rise=first_time(up >= 0.9 * speed, step, seconds),
        overshoot_percent=max(0.0, float(up.max() / speed - 1) * 100),
        steady_error=abs(speed - float(up[-max(1, n // 5) :].mean())),
        settling=float(settled),
        stop_settling=first_time(np.abs(down) <= _BAND * speed, step, seconds),
        rebound=max(0.0, -float(down.min())),
        speed=speed,
        least=least,
    )


def first_time(holds: npt.NDArray[np.bool_], step: float, fallback: float) -> float:
    """Returns the first time at which `holds` is true, s; `fallback` if it never is."""
    where = np.flatnonzero(holds)
    return float(where[0]) * step if len(where) else fallback


_CONTROLLERS = {
    "differential": "twist_pid",
    "differential_3_wheels": "twist_pid",
    "differential_4_wheels": "twist_pid",
    "ackermann": "twist_front_steer_pid",
    "ackermann_drivetrain": "twist_front_steer_pid",
}
"""The controller whose gains are tuned, by class of dynamics."""

_GRIP = 0.8  # friction coefficient that is assumed for every tire
_GRAVITY = 9.81
_SHARE_OF_GRIP = 0.8  # share of the grip that max_torque may use
_SPEED = 1.0  # m/s, default setpoint of the step up and down
_SHARE_OF_TOP = 0.8  # share of the top speed that replaces the default setpoint if it is too high
Array = npt.NDArray[np.float64]


class Gains(NamedTuple):
    kp: float
    ki: float
    kd: float
    max_torque: float

    def xml(self) -> str:
        return (
            f"<KP>{self.kp:.4f}</KP> <KI>{self.ki:.4f}</KI> <KD>{self.kd:.4f}</KD>"
            f" <max_torque>{self.max_torque:.4f}</max_torque>"
        )


class Model(NamedTuple):
    """The step response v(t) = gain torque (1 - exp(-t / time_constant))."""

    gain: float
    """m/s per N m"""
    time_constant: float
    """s"""


def tune(
    path: str,
    class_name: str,
    *,
    torque: float = 0.0,
    duration: float = 5.0,
    step: float = 0.001,
    aggressiveness: float = 0.25,
    speeds: Sequence[float] = (),
    **loading: Any,
) -> Iterator[str]:
    """Yields the lines of a report.

    Args:
        path: the file with the class.
        class_name: name of the <vehicle:class>.
        torque: torque of the test at each side, N m; 0 or less: half of what the tires hold.
        duration: duration of the test, s.
        step: physics step, s.
        aggressiveness: time constant of the closed loop over that of the open one.
        speeds: setpoints of the steps, m/s; by default 1, or 80 % of the top speed if that is less.
        loading: further keywords of `World`.

    Raises:
        ValueError: no such class, dynamics that cannot be tuned, or a vehicle that does not move.
        OSError: the file cannot be read.
    """
    for name, value in (
        ("-a", aggressiveness),
        ("-d", duration),
        ("-s", step),
        *(("--speed", v) for v in speeds),
    ):
        if not (math.isfinite(value) and value > 0):
            raise ValueError(f"{name}: found {value:g}, expected a number above 0")
    vehicle = _Bench(path, class_name, step, loading)
    facts = vehicle.facts()
    yield from facts.lines(class_name)
    if not torque > 0:
        torque = 0.5 * facts.torque_limit
    sides = 1 if facts.has_engine else 2
    model = fit(vehicle.drive("raw", "", duration, lambda _: [-torque] * sides), step, torque)
    yield f"model       K {model.gain:.4f} m/s per N m, tau {model.time_constant:.4f} s (by {torque:.4f} N m)"
    gains = gains_of(model, aggressiveness, facts.torque_limit)
    yield f"KP {gains.kp:.4f}"
    yield f"KI {gains.ki:.4f}"
    yield f"KD {gains.kd:.4f}"
    yield f"max_torque {gains.max_torque:.4f}"
    yield gains.xml()
    top = model.gain * gains.max_torque
    yield f"top speed   {top:.3g} m/s, with all of max_torque"
    warnings = [
        f"{speed:g} m/s is beyond its top speed of {top:.3g} m/s: expected less, or tires with less C_damping and C_rr"
        for speed in speeds
        if speed > top
    ]
    for speed in speeds or [_SPEED if top >= _SPEED else float(f"{_SHARE_OF_TOP * top:.2g}")]:
        seconds = step_seconds(speed)
        found = vehicle.drive(
            _CONTROLLERS[facts.dynamics],
            gains.xml(),
            2 * seconds,
            _step_of(speed, seconds),
        )
        response = response_of(found, step, speed, least=speed / (gains.max_torque * facts.acceleration))
        yield from response.lines()
        at = f"at {speed:g} m/s: " if len(speeds) > 1 else ""
        warnings += [at + text for text in response.warnings() if speed <= top]
    yield from [f"warning: {text}" for text in warnings] or ["good: it follows without surprises"]


def _step_of(speed: float, seconds: float) -> Callable[[float], list[float]]:
    return lambda time: [speed if time < seconds else 0, 0]


class _Facts(NamedTuple):
    """Properties of a vehicle that the test and the gains need."""

    dynamics: str
    chassis_mass: float
    wheels: Sequence[Sequence[float]]  # x, y, yaw, width, radius, mass
    shares: Sequence[float]  # torque of each wheel for 1 N m of the controller's output

    @property
    def has_engine(self) -> bool:
        """Whether one torque drives all wheels; otherwise each side has its own."""
        return self.dynamics == "ackermann_drivetrain"

    @property
    def mass(self) -> float:
        return self.chassis_mass + sum(wheel[5] for wheel in self.wheels)

    @property
    def torque_limit(self) -> float:
        """The torque that a tire holds, N m, from the wheel's share of the mass and the radius of the first wheel. With
        an engine, the torque of the engine at which the first tire slips."""
        of_tire = _GRIP * self.mass / len(self.wheels) * _GRAVITY * self.wheels[0][4]
        return of_tire / max(self.shares) if self.has_engine else of_tire

    @property
    def acceleration(self) -> float:
        """Acceleration for 1 N m of the controller's output, m/s2."""
        forces = (share / wheel[4] for share, wheel in zip(self.shares, self.wheels, strict=True))
        return sum(forces) / self.mass

    def lines(self, class_name: str) -> Iterator[str]:
        yield f"vehicle     {class_name} ({self.dynamics}), {self.mass:g} kg, chassis {self.chassis_mass:g} kg"
        places = ", ".join(f"({x:g}, {y:g})" for x, y, *_ in self.wheels)
        yield f"wheels      {len(self.wheels)} at {places} m, radius {self.wheels[0][4]:g} m"
        yield f"limit       {self.torque_limit:.4f} N m {'of the engine' if self.has_engine else 'a wheel'}"


class _Bench:
    """Drives instances of a class in empty worlds."""

    def __init__(self, path: str, class_name: str, step: float, loading: dict[str, Any]) -> None:
        self._path, self._class, self._step, self._loading = path, class_name, step, loading
        with open(path, encoding="utf-8") as file:
            self._text = file.read()
        with_controller(self._text, class_name, "")  # raises if the class cannot get another controller
        self._no_sensors = 'default_sensors="false"' if "${default_sensors" in self._text else ""

    def facts(self) -> _Facts:
        world = self._world(self._text)
        model = world.model.vehicles[0]
        if model.dynamics not in _CONTROLLERS:
            raise ValueError(
                f"class '{self._class}': the dynamics '{model.dynamics}' is unsupported, expected one of"
                f" {', '.join(_CONTROLLERS)}"
            )
        masses = [nominal for name, nominal, *_ in world.model.parameters if name.endswith("/chassis/mass")]
        return _Facts(model.dynamics, masses[0], model.wheels, self._shares())

    def _shares(self) -> list[float]:
        """Returns the torque of each wheel for 1 N m of the controller's output, at standstill."""
        tags = '<controller class="raw"></controller>'
        vehicle: Vehicle = (world := self._world(with_controller(self._text, self._class, tags))).vehicles[
            "tuned"
        ]
        little = 1e-9  # N m, too little to move the vehicle
        outputs = vehicle.command_names
        vehicle.set_command(*[-little if name.endswith("torque") else 0.0 for name in outputs])
        world.step()
        return [wheel.torque / little for wheel in vehicle.wheels]

    def drive(
        self, controller: str, tags: str, duration: float, command: Callable[[float], list[float]]
    ) -> Array:
        """Returns the speed before each step, m/s: the mean of the wheels' centres, along the vehicle."""
        text = with_controller(
            self._text, self._class, f'<controller class="{controller}">{tags}</controller>'
        )
        world = self._world(text)
        vehicle: Vehicle = world.vehicles["tuned"]
        y = np.mean([wheel[1] for wheel in world.model.vehicles[0].wheels])
        speed = np.empty(round(duration / self._step))
        for i in range(len(speed)):
            twist = vehicle.twist
            speed[i] = twist.vx - twist.omega * y
            values = command(i * self._step)
            vehicle.set_command(*values, *[0.0] * (len(vehicle.command_names) - len(values)))
            world.step()
        return speed

    def _world(self, text: str) -> World:
        """Returns an empty world with one vehicle of the class. Relative paths are those of the file of the class."""
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
    """Returns the text of the file with another controller in a class.

    Raises:
        ValueError: there is no such class with its own dynamics.
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
    """Returns the first-order model of a response to a constant torque; raises ValueError if none fits."""
    if len(speed) < 10:
        raise ValueError(f"found {len(speed)} samples, expected 10 at least: raise -d or lower -s")
    steady = float(speed[-max(1, len(speed) // 5) :].mean())
    if not steady > 0:
        raise ValueError(f"the vehicle does not move forward ({steady:.4g} m/s): raise -t")
    time_constant = first_time(speed >= 0.632 * steady, step, len(speed) * step)
    if time_constant < 2 * step:
        time_constant = -first_time(speed >= 0.95 * steady, step, len(speed) * step) / math.log(0.05)
    if not time_constant > 0:
        raise ValueError("the vehicle reaches its speed within a step: lower -s")
    return Model(steady / torque, time_constant)


def gains_of(model: Model, aggressiveness: float, torque_limit: float) -> Gains:
    """Returns gains by internal model control."""
    kp = 1 / (model.gain * aggressiveness)
    return Gains(kp, kp / model.time_constant, 0.0, _SHARE_OF_GRIP * torque_limit)
