"""The parts of a running world: vehicles, their sensors, and blocks.

Units are SI and radians. Poses are in the world frame, twists in the body frame unless named `world_twist`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from mvsim_gym import _core
from mvsim_gym._checks import number
from mvsim_gym._notices import notice
from mvsim_gym.part_states import Pose, Publication, Twist, Wheel, Wheels
from mvsim_gym.readings import CameraReading, GnssReading, ImuReading, Lidar3dReading, Reading
from mvsim_gym.sensors import Named, Part, Sensor, standing_sensors

__all__ = [
    "Block",
    "CameraReading",
    "GnssReading",
    "ImuReading",
    "Lidar3dReading",
    "Pose",
    "Publication",
    "Reading",
    "Sensor",
    "Twist",
    "Vehicle",
    "Wheel",
    "Wheels",
    "standing_sensors",
    "vehicles_of",
]

_FASTEST = 1e4  # largest command, m/s and rad/s: far beyond it a world diverges
_LONGEST_WAY, _LARGEST_TURN = 2.0, math.pi / 2  # m and rad, the largest move of a body by Box2D in one step


class Vehicle(Part[_core.VehicleModel]):
    """A vehicle of a world: takes commands and tells its state."""

    def __init__(
        self,
        simulation: _core.Simulation,
        model: _core.VehicleModel,
        sensors: Mapping[int, _core.SensorModel],
        index: int,
        log: _core.VehicleLog | None,
    ) -> None:
        super().__init__(simulation, model, index)
        self._log = log
        self._sensors = Named("sensor", {s.name: Sensor(simulation, s, i) for i, s in sensors.items()})

    @property
    def index(self) -> int:
        """Index among the vehicles of the world, from 0."""
        return self._index

    @property
    def dynamics(self) -> str:
        """Class of its dynamics, e.g. `differential`."""
        return self._model.dynamics

    @property
    def outline(self) -> npt.NDArray[np.float64]:
        """(n, 2): corners of the chassis seen from above, m in the vehicle's frame."""
        return self._model.outline

    @property
    def heights(self) -> tuple[float, float]:
        """Lower and upper end of the chassis, m in the vehicle's frame."""
        return self._model.z_min, self._model.z_max

    @property
    def wheel_mounts(self) -> list[list[float]]:
        """x, y (m), yaw (rad), width, radius (m) and mass (kg) of each wheel, in the vehicle's frame."""
        return self._model.wheels

    @property
    def controller(self) -> str:
        """Name of its controller, e.g. `twist_pid`."""
        return self._model.controller

    @property
    def takes_twist(self) -> bool:
        """Whether the controller is commanded by a twist."""
        return self._model.takes_twist

    @property
    def publication(self) -> Publication | None:
        """Its active `<publish>`; None without one."""
        return _publication(self._model)

    @property
    def command_names(self) -> tuple[str, ...]:
        """Names of the values that `set_command` takes, in order."""
        return tuple(self._model.command_names)

    @property
    def command(self) -> tuple[float, ...]:
        """The last command of the controller, in the order of `command_names`: m/s, rad/s, rad, N m or shares. A reset
        restores the command of the world file. Actions of an environment appear here as they reached the controller."""
        return tuple(self._simulation.command(self._index))

    @property
    def max_steer(self) -> float | None:
        """Largest steering angle of a car, rad; None for other vehicles."""
        return self._simulation.max_steer(self._index)

    @property
    def wheelbase(self) -> float | None:
        """Distance between the axles of a car, m; None for other vehicles."""
        if self.max_steer is None:
            return None
        rear, front = self.wheel_mounts[0], self.wheel_mounts[2]  # rear wheels come first
        return front[0] - rear[0]

    @property
    def fastest(self) -> tuple[float, float]:
        """Largest speed (m/s) and turn rate (rad/s) that a command can ask for. A vehicle of `twist_ideal` moves
        exactly as commanded, so it moves at most 2 m and a quarter turn in a step."""
        if self.controller != "twist_ideal":
            return _FASTEST, _FASTEST
        step = self._simulation.timestep
        return min(_FASTEST, _LONGEST_WAY / step), min(_FASTEST, _LARGEST_TURN / step)

    def command_limits(self, name: str) -> tuple[float, float]:
        """Returns the least and the largest value to which `<limits>` of the vehicle file cut a command, also when an
        environment draws them.

        Args:
            name: `vx` (m/s) or `omega` (rad/s).

        Returns:
            The range; infinite for a vehicle without `<limits>`, and for another value of a command.
        """
        kind = {"vx": "linear", "omega": "angular"}.get(name)
        prefix = f"vehicle:{self.name}/limits/{kind}/"
        try:
            low, high = (
                self._simulation.parameter(prefix + of)[0] for of in ("min_velocity", "max_velocity")
            )
        except ValueError:  # there are no such parameters
            return -math.inf, math.inf
        return low, high

    def set_twist(self, vx: float, omega: float) -> None:
        """Commands a forward speed (m/s) and a turn rate (rad/s) until the next command. Values beyond 1e4 count as
        1e4, with a notice, because far beyond it a world diverges.

        Raises:
            ValueError: the controller takes no twist (it is `raw`), or a value is not finite.
        """
        vx, omega = self._clipped("vx", number("vx", vx)), self._clipped("omega", number("omega", omega))
        self._simulation.set_twist(self._index, vx, omega)

    def set_command(self, *values: float) -> None:
        """Commands the values named in `command_names` until the next command. Torques of `raw` are N m with the sign
        of the world language: negative drives forward. Speeds beyond 1e4 count as 1e4, as in `set_twist`.

        Raises:
            ValueError: a wrong number of values, or one that is not finite.
        """
        given = [number("command", value) for value in values]
        if len(given) == len(self.command_names):
            given = [
                self._clipped(name, value) if name in ("vx", "omega") else value
                for name, value in zip(self.command_names, given, strict=True)
            ]
        self._simulation.set_command(self._index, given)

    def _clipped(self, name: str, value: float) -> float:
        if not math.isfinite(value) or abs(value) <= _FASTEST:
            return value
        notice([f"a command of vehicle '{self.name}' beyond {_FASTEST:g} ({name}) is clipped to that"])
        return math.copysign(_FASTEST, value)

    @property
    def pose(self) -> Pose:
        """True pose of the reference point."""
        return Pose(*self._simulation.vehicle_pose(self._index))

    @property
    def twist(self) -> Twist:
        """True velocity in the body frame."""
        return Twist(*self._simulation.vehicle_twist(self._index))

    @property
    def world_twist(self) -> Twist:
        """True velocity along the axes of the world."""
        return Twist(*self._simulation.vehicle_world_twist(self._index))

    @property
    def odometry(self) -> Pose:
        """Pose since the start by the odometry of the wheels; z, pitch and roll are 0."""
        x, y, yaw = self._simulation.vehicle_odometry(self._index)
        return Pose(x, y, 0.0, yaw, 0.0, 0.0)

    @property
    def odometry_twist(self) -> Twist:
        """Velocity in the body frame, estimated from the wheels' spins."""
        return Twist(*self._simulation.vehicle_odometry_twist(self._index))

    @property
    def odometry_multipliers(self) -> tuple[float, float, float]:
        """Factors of `odometry` on the distance along x, along y, and on the rotation, in this episode."""
        along_x, along_y, turning = self._simulation.odometry_multipliers(self._index)
        return along_x, along_y, turning

    @property
    def in_collision(self) -> bool:
        """Whether it touched something in the last step."""
        return self._simulation.in_collision(self._index)

    @property
    def had_collision(self) -> bool:
        """Whether it has touched something since the last reset."""
        return self._simulation.had_collision(self._index)

    @property
    def wheels(self) -> tuple[Wheel, ...]:
        """The wheels, in the order of the world language (left before right, rear before front)."""
        w = self.wheel_states()
        force = zip(w.force_x.tolist(), w.force_y.tolist(), strict=True)
        columns = (w.spin, w.angle, w.steer, w.torque, w.load, w.slip_ratio, w.slip_angle)
        return tuple(
            Wheel(spin, angle, steer, torque, f, load, ratio, slip_angle)
            for f, (spin, angle, steer, torque, load, ratio, slip_angle) in zip(
                force, np.stack(columns, axis=1).tolist(), strict=True
            )
        )

    @property
    def sensors(self) -> Mapping[str, Sensor]:
        """The sensors by name."""
        return self._sensors

    @property
    def recording(self) -> bool:
        """Whether its steps are written to CSV files. It can be set in a world with a `log_dir`.

        Raises:
            ValueError: set to True in a world without a `log_dir`.
        """
        return self._log is not None and self._log.recording(self._index)

    @recording.setter
    def recording(self, on: bool) -> None:
        if self._log is not None:
            self._log.set_recording(self._index, on)
        elif on:
            raise ValueError("recording: this world has no folder for logs, expected World(..., log_dir=...)")

    def log_to(self, log: _core.VehicleLog) -> None:
        """Writes to other CSV files from now on; `World.begin_log` calls it."""
        on, self._log = self.recording, log
        self.recording = on

    def wheel_states(self) -> Wheels:
        """Returns all wheels after the last step as NumPy arrays, as `World.wheels` does."""
        return Wheels(tuple(self._model.wheel_names), *self._simulation.wheels(self._index))

    def set_pose(self, x: float, y: float, yaw: float = 0.0) -> None:
        """Puts the vehicle there at rest, standing on the ground. Bodies joined to it move along, in their initial
        relative poses. Wheels stop turning, and the odometry does not change.

        Raises:
            ValueError: a value is not finite or farther than 1000 km from the world; the vehicle is joined to a static
                block, or follows keyframes.
        """
        self._simulation.place_vehicle(self._index, number("x", x), number("y", y), number("yaw", yaw))

    def set_twist_state(self, vx: float, vy: float = 0.0, omega: float = 0.0) -> None:
        """Gives the vehicle a velocity (m/s and rad/s, body frame). Its wheels roll accordingly, and bodies joined to
        it move with it as one body. To command the controller use `set_twist`.

        Raises:
            ValueError: a value is not finite or beyond 10000; the vehicle is joined to a static block, or follows
                keyframes.
        """
        self._simulation.set_vehicle_twist(
            self._index, number("vx", vx), number("vy", vy), number("omega", omega)
        )

    def reset_collision(self) -> None:
        """Forgets past contacts: `in_collision` and `had_collision` are False until the next one."""
        self._simulation.clear_collision_flags(self._index)

    @property
    def acceleration(self) -> tuple[float, float]:
        """Acceleration of the reference point in the last step, m/s2, along x and y of the body frame."""
        return self._simulation.vehicle_acceleration(self._index)


def vehicles_of(
    model: _core.Model, simulation: _core.Simulation, log: _core.VehicleLog | None = None
) -> Named[Vehicle]:
    """Returns the vehicles of a running world by name, each with its sensors."""
    sensors: dict[int, dict[int, _core.SensorModel]] = {}
    for i, sensor in enumerate(model.sensors):
        sensors.setdefault(sensor.vehicle, {})[i] = sensor
    made = {v.name: Vehicle(simulation, v, sensors.get(i, {}), i, log) for i, v in enumerate(model.vehicles)}
    return Named("vehicle", made)


class Block(Part[_core.BlockModel]):
    """A block or a wall of a world."""

    @property
    def is_static(self) -> bool:
        """Whether it never moves."""
        return self._model.is_static

    @property
    def is_wall(self) -> bool:
        """Whether it is a piece of a wall."""
        return self._model.is_wall

    @property
    def publication(self) -> Publication | None:
        """Its active `<publish>`; None without one."""
        return _publication(self._model)

    @property
    def pose(self) -> Pose:
        """Pose of its reference point."""
        return Pose(*self._simulation.block_pose(self._index))

    @property
    def twist(self) -> Twist:
        """Velocity in the body frame."""
        vx, vy, omega = self.world_twist
        yaw = self.pose.yaw
        c, s = math.cos(yaw), math.sin(yaw)
        return Twist(c * vx + s * vy, c * vy - s * vx, omega)

    @property
    def world_twist(self) -> Twist:
        """Velocity along the axes of the world."""
        return Twist(*self._simulation.block_world_twist(self._index))

    def set_pose(self, x: float, y: float, yaw: float = 0.0) -> None:
        """Puts the block there at rest.

        Raises:
            ValueError: a value is not finite or farther than 1000 km from the world; the block is static and tangible
                (part of the world's static geometry), or follows keyframes.
        """
        self._simulation.place_block(self._index, number("x", x), number("y", y), number("yaw", yaw))

    def set_twist_state(self, vx: float, vy: float = 0.0, omega: float = 0.0) -> None:
        """Gives a block that can move a velocity (m/s and rad/s, body frame).

        Raises:
            ValueError: a value is not finite or beyond 10000; the block is static or intangible.
        """
        self._simulation.set_block_twist(
            self._index, number("vx", vx), number("vy", vy), number("omega", omega)
        )

    @property
    def scale(self) -> float:
        """Factor on the size of its outline; initially 1."""
        return self._simulation.parameter(f"block:{self._model.name}/scale")[0]

    def set_scale(self, scale: float) -> None:
        """Resizes its outline, not its height.

        Raises:
            ValueError: a scale outside of 0.01 to 100; the block is part of the world's static geometry.
        """
        self._simulation.set_parameter(f"block:{self._model.name}/scale", number("scale", scale))


def _publication(model: _core.VehicleModel | _core.BlockModel) -> Publication | None:
    said = model.publication
    if said is None:
        return None
    topic, period, relative_topic, relative_objects = said
    return Publication(topic, period, relative_topic, tuple(relative_objects))
