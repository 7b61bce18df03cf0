"""What a running world consists of: vehicles, their sensors, blocks, and what they tell of themselves.

Units are SI and radians. Poses are in the world frame, twists in the body frame unless named `world_twist`.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterator, Mapping
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from mvsim_gym import _core
from mvsim_gym._checks import number
from mvsim_gym._notices import notice
from mvsim_gym.part_states import Pose, Publication, Twist, Wheel, Wheels
from mvsim_gym.readings import (
    CameraReading,
    GnssReading,
    ImuReading,
    Lidar3dReading,
    Reading,
    has_images,
    type_of,
    view_reading,
)

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

T = TypeVar("T")
_FASTEST = 1e4  # m/s and rad/s that may be commanded: far beyond it a world diverges, and ends
_LONGEST_WAY, _LARGEST_TURN = 2.0, math.pi / 2  # m and rad that Box2D moves a body by in one step


class Named(Mapping[str, T], Generic[T]):
    """Things by name, in file order; a wrong name is answered with the right ones."""

    def __init__(self, kind: str, items: Mapping[str, T]) -> None:
        self._kind = kind
        self._items = dict(items)

    def __getitem__(self, name: str) -> T:
        try:
            return self._items[name]
        except KeyError:
            near = difflib.get_close_matches(str(name), self._items, n=1)
            hint = (
                f", did you mean '{near[0]}'?" if near else f"; there are: {', '.join(self._items) or 'none'}"
            )
            raise KeyError(f"no {self._kind} '{name}'{hint}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __repr__(self) -> str:
        return f"<{self._kind}s: {', '.join(self._items)}>"


class Sensor:
    """A sensor of a vehicle."""

    def __init__(self, simulation: _core.Simulation, model: _core.SensorModel, index: int) -> None:
        self._simulation = simulation
        self._model = model
        self._index = index

    @property
    def name(self) -> str:
        """Its name in the world file."""
        return self._model.name

    @property
    def period(self) -> float:
        """Simulated seconds between readings."""
        return self._model.period

    @property
    def publish_topic(self) -> str:
        """The topic that a `<publish>` of the world file, if it is switched on, names for its readings; else empty."""
        return self._model.publish_topic

    @property
    def angles(self) -> npt.NDArray[np.float64] | None:
        """rad of each ray in the sensor's frame; None of a sensor without rays."""
        return self._model.angles

    @property
    def class_name(self) -> str:
        """Its class in the world file, e.g. `laser`."""
        return self._model.class_name

    @property
    def form(self) -> str:
        """What its readings are: `scan`, `imu`, `fix`, `camera`, `rgbd`, `rings`, or another word of its class."""
        return self._model.form

    @property
    def mount(self) -> Pose:
        """Its pose on the vehicle, or in the world if it stands there: m and rad."""
        return Pose(*self._model.mount)

    @property
    def max_range(self) -> float:
        """The largest value of a reading; of a lidar the longest range, m."""
        return self._model.high

    @property
    def views(self) -> dict[str, dict[str, Any]]:
        """The images of a sensor that sees the scene, by name. Of a camera `intrinsics` (fx, fy, cx, cy, px) and
        `T_vehicle_camera`, (4, 4) float64; of a 3D lidar `elevations` and `azimuths`, float64, rad."""
        return self._model.views

    @property
    def parameters(self) -> dict[str, float]:
        """The parameters of its noise and the like by name, as they are in this episode."""
        return self._simulation.sensor_params(self._index)

    @property
    def count(self) -> int:
        """Readings that were due since the last reset."""
        return self._simulation.sensor_count(self._index)

    @property
    def time(self) -> float:
        """Simulated seconds that the latest reading that was due describes."""
        return self._simulation.sensor_time(self._index)

    @property
    def world_time(self) -> float:
        """Simulated seconds of its world now."""
        return self._simulation.time

    def read(self, *, fresh: bool = False) -> Any:
        """The latest reading that was due, or None before the first: a `Reading` of a lidar, an `ImuReading`
        of an IMU, a `GnssReading` of a receiver (None where it had no fix), a `CameraReading` of a camera, a
        `Lidar3dReading` of a 3D lidar.

        A reading is due in the first physics step that begins at or after each multiple of `period`, and describes that
        step's end: with steps of 5 ms and a period of 0.1 s those at 0.105, 0.205, 0.305 s... So after
        `world.step(0.1)` there is none yet, and later the latest is 95 ms old.

        Args:
            fresh: read the sensor now, of the world as it stands, whatever its period; never None. It draws noise of
                its own and leaves the schedule as it is: a later `read()` gives the due reading again, whose noise
                is not what it would have been.
        """
        simulation, index = self._simulation, self._index
        if has_images(self.form):
            if not fresh and self.count == 0:
                return None
            time = self.world_time if fresh else self.time
            return view_reading(self._model, simulation.images(index, fresh), time)
        make = type_of(self._model)
        if fresh:
            values, valid = simulation.read_now(index)
            return make(values, valid, self.world_time)
        if self.count == 0:
            return None
        return make(simulation.reading(index), simulation.reading_valid(index), self.time)

    def values(self, *, fresh: bool = False) -> npt.NDArray[Any] | None:
        """What `read` gives of a sensor of any class: a copy of its values, of their own type and shape."""
        if fresh:
            return self._simulation.read_now(self._index)[0]
        return self._simulation.reading(self._index) if self.count else None


class Vehicle:
    """A vehicle of a world: commands in, state out."""

    def __init__(
        self,
        simulation: _core.Simulation,
        model: _core.VehicleModel,
        sensors: Mapping[int, _core.SensorModel],
        index: int,
        log: _core.VehicleLog | None,
    ) -> None:
        self._simulation = simulation
        self._model = model
        self._index = index
        self._log = log
        self._sensors = Named("sensor", {s.name: Sensor(simulation, s, i) for i, s in sensors.items()})

    @property
    def name(self) -> str:
        """Its name in the world file."""
        return self._model.name

    @property
    def index(self) -> int:
        """Its place among the vehicles of the world, from 0."""
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
        """Of each wheel x, y (m), yaw (rad), width, radius (m) and mass (kg), in the vehicle's frame."""
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
        """What its `<publish>` says, if it has one that is switched on."""
        return _publication(self._model)

    @property
    def command_names(self) -> tuple[str, ...]:
        """What `set_command` takes, in its order."""
        return tuple(self._model.command_names)

    @property
    def command(self) -> tuple[float, ...]:
        """What the controller was last commanded, by `command_names`: m/s, rad/s, rad, N m or shares. A reset restores
        the command of the world file; actions of an environment are here as they reached the controller."""
        return tuple(self._simulation.command(self._index))

    @property
    def max_steer(self) -> float | None:
        """The largest steering angle of a car, rad; None: it does not steer."""
        return self._simulation.max_steer(self._index)

    @property
    def wheelbase(self) -> float | None:
        """Between the axles of a car, m; None: it does not steer."""
        if self.max_steer is None:
            return None
        rear, front = self.wheel_mounts[0], self.wheel_mounts[2]  # the rear and then the front wheels
        return front[0] - rear[0]

    @property
    def fastest(self) -> tuple[float, float]:
        """The largest speed (m/s) and turn rate (rad/s) that a command can ask for. A vehicle of `twist_ideal`, which
        moves as commanded, moves at most 2 m and a quarter turn in a step."""
        if self.controller != "twist_ideal":
            return _FASTEST, _FASTEST
        step = self._simulation.timestep
        return min(_FASTEST, _LONGEST_WAY / step), min(_FASTEST, _LARGEST_TURN / step)

    def set_twist(self, vx: float, omega: float) -> None:
        """Commands a forward speed (m/s) and a turn rate (rad/s) until the next command. Values beyond 1e4 count as
        1e4, with a notice: far beyond it a world diverges.

        Raises:
            ValueError: the controller takes no twist (it is `raw`), or a value is not finite.
        """
        vx, omega = self._clipped("vx", number("vx", vx)), self._clipped("omega", number("omega", omega))
        self._simulation.set_twist(self._index, vx, omega)

    def set_command(self, *values: float) -> None:
        """Commands what the controller takes (see `command_names`) until the next command. Torques of `raw` are N m
        with the sign of the world language: negative drives forward. Speeds beyond 1e4 count as 1e4, as of `set_twist`.

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
        """Pose since the start as the wheels' odometry has it; z, pitch and roll are 0."""
        x, y, yaw = self._simulation.vehicle_odometry(self._index)
        return Pose(x, y, 0.0, yaw, 0.0, 0.0)

    @property
    def odometry_twist(self) -> Twist:
        """Velocity in the body frame as estimated from the wheels' spins."""
        return Twist(*self._simulation.vehicle_odometry_twist(self._index))

    @property
    def odometry_multipliers(self) -> tuple[float, float, float]:
        """Factors of what `odometry` has of the way along x, along y, and of the turning, in this episode."""
        along_x, along_y, turning = self._simulation.odometry_multipliers(self._index)
        return along_x, along_y, turning

    @property
    def in_collision(self) -> bool:
        """It touched something in the last step."""
        return self._simulation.in_collision(self._index)

    @property
    def had_collision(self) -> bool:
        """It has touched something since the last reset."""
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
        """Whether its steps are written to CSV files; can be set in a world that was given a `log_dir`.

        Raises:
            ValueError: set to True in a world without one.
        """
        return self._log is not None and self._log.recording(self._index)

    @recording.setter
    def recording(self, on: bool) -> None:
        if self._log is not None:
            self._log.set_recording(self._index, on)
        elif on:
            raise ValueError("recording: this world has no folder for logs, expected World(..., log_dir=...)")

    def log_to(self, log: _core.VehicleLog) -> None:
        """Writes to other CSV files from now on, as `World.begin_log` asks."""
        on, self._log = self.recording, log
        self.recording = on

    def wheel_states(self) -> Wheels:
        """All wheels after the last step as NumPy arrays, as `World.wheels` has them."""
        return Wheels(tuple(self._model.wheel_names), *self._simulation.wheels(self._index))

    def set_pose(self, x: float, y: float, yaw: float = 0.0) -> None:
        """Puts the vehicle there at rest, standing on the ground; what is joined to it comes along as it stood at the
        start. Wheels that turn stop; its odometry does not notice.

        Raises:
            ValueError: a value is not finite or farther than 1000 km from the world; it is joined to a static block, or
                follows keyframes.
        """
        self._simulation.place_vehicle(self._index, number("x", x), number("y", y), number("yaw", yaw))

    def set_twist_state(self, vx: float, vy: float = 0.0, omega: float = 0.0) -> None:
        """Gives the vehicle a velocity (m/s and rad/s, body frame), as if it had moved so before: its wheels roll
        along, and what is joined to it moves as one body with it. (`set_twist` commands a controller.)

        Raises:
            ValueError: a value is not finite or beyond 10000; it is joined to a static block, or follows keyframes.
        """
        self._simulation.set_vehicle_twist(
            self._index, number("vx", vx), number("vy", vy), number("omega", omega)
        )

    def reset_collision(self) -> None:
        """Forgets what it has touched: `in_collision` and `had_collision` are False until it touches something."""
        self._simulation.clear_collision_flags(self._index)

    @property
    def acceleration(self) -> tuple[float, float]:
        """m/s2 of the reference point in the last step, along x and y of the body frame."""
        return self._simulation.vehicle_acceleration(self._index)


def vehicles_of(
    model: _core.Model, simulation: _core.Simulation, log: _core.VehicleLog | None = None
) -> Named[Vehicle]:
    """The vehicles of a running world by name, each with its sensors."""
    sensors: dict[int, dict[int, _core.SensorModel]] = {}
    for i, sensor in enumerate(model.sensors):
        sensors.setdefault(sensor.vehicle, {})[i] = sensor
    made = {v.name: Vehicle(simulation, v, sensors.get(i, {}), i, log) for i, v in enumerate(model.vehicles)}
    return Named("vehicle", made)


def standing_sensors(model: _core.Model, simulation: _core.Simulation) -> Named[Sensor]:
    """The sensors of a running world that stand in it, outside of any vehicle, by name."""
    standing = ((i, s) for i, s in enumerate(model.sensors) if s.is_standalone)
    return Named("sensor", {s.name: Sensor(simulation, s, i) for i, s in standing})


class Block:
    """A block or a wall of a world."""

    def __init__(self, simulation: _core.Simulation, model: _core.BlockModel, index: int) -> None:
        self._simulation = simulation
        self._model = model
        self._index = index

    @property
    def name(self) -> str:
        """Its name in the world file."""
        return self._model.name

    @property
    def is_static(self) -> bool:
        """It never moves."""
        return self._model.is_static

    @property
    def is_wall(self) -> bool:
        """It is a piece of a wall."""
        return self._model.is_wall

    @property
    def publication(self) -> Publication | None:
        """What its `<publish>` says, if it has one that is switched on."""
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
        """The factor on its outline; 1 as the world file has it."""
        return self._simulation.parameter(f"block:{self._model.name}/scale")[0]

    def set_scale(self, scale: float) -> None:
        """Resizes its outline, not its height.

        Raises:
            ValueError: beyond 0.01 to 100; the block is part of the world's static geometry.
        """
        self._simulation.set_parameter(f"block:{self._model.name}/scale", number("scale", scale))


def _publication(model: _core.VehicleModel | _core.BlockModel) -> Publication | None:
    said = model.publication
    if said is None:
        return None
    topic, period, relative_topic, relative_objects = said
    return Publication(topic, period, relative_topic, tuple(relative_objects))
