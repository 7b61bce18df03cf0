"""Observations and commands of an environment from readings of a robot."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from mvsim_gym import _core
from mvsim_gym._checks import number, path_text, plain_values
from mvsim_gym._files import all_resources, assets, folders_of
from mvsim_gym._notices import notice
from mvsim_gym._overrides import flatten as flatten_overrides
from mvsim_gym.deploy.freshness import Freshness, ReadingState
from mvsim_gym.deploy.pictures import color_image, depth_image, range_image
from mvsim_gym.deploy.source_options import checked_sources
from mvsim_gym.deploy.wgs84 import enu_of

__all__ = ["Pipeline"]

Array = npt.NDArray[Any]
_PATIENCE = 2.0  # periods that a reading may be old, unless the caller says otherwise
_EVENTS = frozenset({"goal"})  # sources of which one reading is enough


class Pipeline:
    """The observation and action code of an environment, without a world: it takes readings of a robot and makes of
    them, by the same C++ code, the observations on which a policy was trained, and commands of its actions. SI units
    and radians; stamps are seconds of one clock of the caller's.

    What an environment randomises of a robot (noise, delays, readings that drop out) is left out: a real robot has its
    own.

    Args:
        env: the id of an environment of this package, or the path of an environment file.
        sensors: options by source (`sources` has their names): `mount` (x, y, yaw of a real lidar on the vehicle),
            `frames` (the same by the frame that a reading names), `max_age` (s), `max_uncovered` (share of a scan).
        agent: which of several agents the robot is.
        given: keys of observations whose values the caller gives with `value`: of those that no robot has.
        flatten: observations are one float32 vector, as with `flatten=True` of environments.
        hold: sources whose last reading is used when it is too old; None: those whose readings the environment delays
            or drops at random, as a policy has learnt it.
        roots, resources: as of `gymnasium.make`.
        keywords: of the environment, as in `gymnasium.make`, e.g. `map="my_map.yaml"` for paths on another map.

    Raises:
        WorldFileError: a mistake in the environment or its world.
        ValueError: an observation that no robot has, with what would replace it; an option that cannot be.
    """

    def __init__(
        self,
        env: str | bytes | os.PathLike[str],
        *,
        sensors: Mapping[str, Any] | None = None,
        agent: int = 0,
        given: Sequence[str] = (),
        flatten: bool = False,
        hold: Iterable[str] | None = None,
        roots: Any = (),
        resources: Mapping[str, str] | None = None,
        **keywords: Any,
    ) -> None:
        folders = folders_of(roots)
        path = path_text("env", env)
        listed = dict(_core.list_envs(os.path.join(assets(), "envs")))
        spec = _core.load_env(listed.get(path, path), assets(), folders)
        _core.apply_overrides(spec, flatten_overrides(plain_values(keywords), spec.files))
        self._core = core = _core.Pipeline(
            spec, assets(), folders, all_resources(resources or {}), agent, list(given)
        )
        notice(core.warnings)
        self.env = os.fspath(path)
        self.control_period: float = core.control_period
        """s between two observations"""
        self.observation_keys: list[str] = [o.key for o in core.observations]
        self.action_names: list[str] = core.action_names
        self.action_low, self.action_high = np.array(core.action_low), np.array(core.action_high)
        self.command_names: list[str] = core.command_names
        self.command_units: list[str] = core.command_units
        self.has_goal: bool = core.has_goal
        self.goal_radius: float = core.goal_radius
        """m, of the termination `goal`"""
        self._flatten = flatten
        self._order = sorted(range(len(core.observations)), key=lambda k: core.observations[k].key)
        self._model = core.model()
        # of several robots each has its own of a name
        self._sensors = {
            sensor.name: k
            for k, sensor in enumerate(self._model.sensors)
            if sensor.is_standalone or sensor.vehicle == core.vehicle
        }
        self._keys = {o.key: k for k, o in enumerate(core.observations)}
        self._sources = self._needed()
        self._options = checked_sources(sensors, self._sources)
        held = self._late() if hold is None else list(hold)
        for name in held:
            if name not in self._sources:
                raise ValueError(f"hold: found '{name}', expected some of {', '.join(self._sources)}")
        limits = {name: self._limit(name) for name in self._sources}
        self._freshness = Freshness(limits, held)

    def _needed(self) -> list[str]:
        """Names of sources, each once."""
        names: dict[str, None] = {}
        for source in self._core.sources:
            for need in source.needs:
                name = {"sensor": source.sensor, "given": source.key}.get(need, need)
                names[name] = None
        return list(names)

    def _limit(self, name: str) -> float:
        given = self._options[name].max_age
        if given is not None:
            return given
        if name in _EVENTS:
            return math.inf
        period = self._model.sensors[self._sensors[name]].period if name in self._sensors else 0
        return _PATIENCE * max(self.control_period, period)

    def _late(self) -> list[str]:
        return [s.sensor for s in self._core.sources if s.sensor and self._core.may_be_late(s.sensor_index)]

    @property
    def sources(self) -> list[str]:
        """The readings that observations need: names of sensors, `pose`, `velocity`, `odometry`, `attitude`, `steer`,
        `goal`, and keys of `given`."""
        return list(self._sources)

    @property
    def observation_specs(self) -> list[_core.ObservationSpec]:
        """Key, type, shape and bounds of each observation."""
        return list(self._core.observations)

    @property
    def described(self) -> list[tuple[_core.ObservationSpec, _core.ObservationSource]]:
        """Each observation with what it needs."""
        return list(zip(self._core.observations, self._core.sources, strict=True))

    @property
    def vehicle(self) -> _core.VehicleModel:
        """The robot as the environment's world has it."""
        return self._model.vehicles[self._core.vehicle]

    @property
    def sensors(self) -> dict[str, _core.SensorModel]:
        """Those sensors of the world that observations show, by name."""
        return {name: self._model.sensors[k] for name, k in self._sensors.items() if name in self._sources}

    def mount_of(self, sensor: str, frame: str = "") -> tuple[float, float, float]:
        """x, y (m) and yaw (rad) of a real lidar on the robot: as the source's options say, or the environment.

        Raises:
            ValueError: another frame than those of the options.
        """
        options = self._options[sensor]
        mount = options.frames.get(frame, options.mount)
        if mount is not None:
            return mount
        if options.frames:
            raise ValueError(
                f"{sensor}: found a scan in the frame '{frame}', expected one of {list(options.frames)}"
            )
        own = self._model.sensors[self._sensors[sensor]].mount
        return own[0], own[1], own[3]

    def begin(self) -> None:
        """Forgets readings, history and the last action, as a reset of the environment does. The goal stays."""
        self._core.begin()
        self._freshness.forget()

    # -- readings

    def scan(
        self,
        sensor: str,
        ranges: npt.ArrayLike,
        angle_min: float,
        angle_increment: float,
        stamp: float,
        frame: str = "",
        *,
        range_min: float = 0.0,
        range_max: float = math.inf,
    ) -> None:
        """A scan of a 2D lidar: any order, field of view and number of beams. Beam i points to angle_min +
        i * angle_increment (rad). Each beam of the environment's lidar takes the minimum of what falls into its cell;
        one that nothing covers reads the largest range, and `state` tells how many these are.

        Args:
            ranges: m; inf is no return, NaN, 0 and what lies below `range_min` is no reading.
            frame: of the scan, where the source has `frames`.

        Raises:
            ValueError: another sensor, another frame, or angles that cannot be.
        """
        index, options = self._sensor(sensor, "ray"), self._options[sensor]
        mount = self.mount_of(sensor, frame)
        values = np.ascontiguousarray(ranges, np.float32)
        uncovered, invalid = self._core.scan(
            index,
            values,
            angle_min,
            angle_increment,
            range_min,
            range_max,
            mount,
        )
        beams = len(self._model.sensors[index].angles)
        note = (
            f"{uncovered} of {beams} beams uncovered, {invalid} of {values.size} given ones without a reading"
        )
        if uncovered > options.max_uncovered * beams:
            self._freshness.refused(sensor, note)
        else:
            self._freshness.came(sensor, stamp, note)

    def pose(self, x: float, y: float, yaw: float, stamp: float) -> None:
        """Where the robot is in the frame of goals, maps and tracks: m, rad."""
        if self._is_sound("pose", (x, y, yaw)):
            self._core.pose(x, y, yaw)
            self._came("pose", stamp)

    def velocity(self, vx: float, omega: float, stamp: float, *, vy: float = 0.0) -> None:
        """Speed forward (m/s), turn rate (rad/s) and speed to the left of the robot's own frame."""
        if self._is_sound("velocity", (vx, vy, omega)):
            self._core.velocity(vx, vy, omega)
            self._came("velocity", stamp)

    def odometry(
        self,
        x: float,
        y: float,
        yaw: float,
        vx: float,
        omega: float,
        stamp: float,
        *,
        vy: float = 0.0,
    ) -> None:
        """Pose in the frame of the odometry, and the twist in that of the robot, which counts as `velocity` too."""
        self.velocity(vx, omega, stamp, vy=vy)
        if self._is_sound("odometry", (x, y, yaw)):
            self._core.odometry(x, y, yaw)
            self._came("odometry", stamp)

    def attitude(self, pitch: float, roll: float, stamp: float, *, z: float = 0.0) -> None:
        """Pitch (nose down is positive) and roll, rad, and the height of the robot, m."""
        if self._is_sound("attitude", (pitch, roll, z)):
            self._core.attitude(z, pitch, roll)
            self._came("attitude", stamp)

    def steer(self, left: float, right: float, stamp: float) -> None:
        """The angles of the front wheels, rad."""
        if self._is_sound("steer", (left, right)):
            self._core.steer(left, right)
            self._came("steer", stamp)

    def imu(
        self,
        sensor: str,
        angular_velocity: npt.ArrayLike,
        linear_acceleration: npt.ArrayLike,
        stamp: float,
        *,
        orientation: npt.ArrayLike | None = None,
    ) -> None:
        """A reading of an IMU in the sensor's frame: (3,) rad/s, (3,) m/s2 of proper acceleration, (4,) w, x, y, z."""
        index = self._sensor(sensor, "state")
        parts = [np.asarray(angular_velocity, np.float64), np.asarray(linear_acceleration, np.float64)]
        if orientation is not None:
            q = np.asarray(orientation, np.float64)
            parts.append(q if q[0] >= 0 else -q)
        values = np.concatenate(parts)
        if self._is_sound(sensor, values):
            self._core.reading(index, values, np.ones(values.size, np.uint8))
            self._came(sensor, stamp)

    def gnss(
        self,
        sensor: str,
        latitude: float,
        longitude: float,
        altitude: float,
        stamp: float,
        *,
        enu: tuple[float, float, float] | None = None,
    ) -> None:
        """A fix: degrees north and east, m above the ellipsoid of WGS84. NaN: there is none.

        Args:
            enu: m east, north and up of the world's reference, where the caller has computed them already.
        """
        index = self._sensor(sensor, "state")
        values = np.zeros(8)
        has_fix = all(map(math.isfinite, (latitude, longitude, altitude)))
        if has_fix:
            reference = self._core.reference
            if reference is None:
                raise ValueError(f"{sensor}: the world has no <georeference>")
            place = (latitude, longitude, altitude)
            values[:6] = *place, *(enu or enu_of(place, reference))
        self._core.reading(index, values, np.full(8, has_fix, np.uint8))
        self._came(sensor, stamp, "" if has_fix else "no fix")

    def image(
        self,
        sensor: str,
        pixels: Array,
        stamp: float,
        *,
        encoding: str = "rgb8",
        intrinsics: tuple[float, float, float, float] | None = None,
    ) -> None:
        """An image of a camera, (height, width, channels) uint8, with one of ROS's encodings; of another size it is
        rectified by `intrinsics` (fx, fy, cx, cy), or refused."""
        index, image, view = self._view(sensor, "image")
        shape = self._shape_of(sensor, "image")
        made = color_image(pixels, encoding, shape, view["intrinsics"], intrinsics)
        self._core.image(index, image, made)
        self._came(sensor, stamp)

    def depth(
        self,
        sensor: str,
        pixels: Array,
        stamp: float,
        *,
        encoding: str = "32FC1",
        intrinsics: tuple[float, float, float, float] | None = None,
    ) -> None:
        """Depths along the optical axis, (height, width): 32FC1 in m or 16UC1 in mm; of another size as of `image`."""
        index, image, view = self._view(sensor, "depth")
        shape = self._shape_of(sensor, "depth")
        far = self._model.sensors[index].high
        made = depth_image(pixels, encoding, shape, view["intrinsics"], intrinsics, far)
        self._core.image(index, image, made)
        self._came(sensor, stamp)

    def points(self, sensor: str, points: npt.ArrayLike, stamp: float) -> None:
        """The returns of a 3D lidar, (n, 3) m in the sensor's frame: a cell of its range image takes the nearest."""
        index, image, view = self._view(sensor, "range_image")
        far = self._model.sensors[index].high
        made = range_image(np.asarray(points), view["elevations"], view["azimuths"], 0.0, far)
        self._core.image(index, image, made)
        self._came(sensor, stamp)

    def ranges(self, sensor: str, ranges: npt.ArrayLike, stamp: float) -> None:
        """The range image of a 3D lidar that has the environment's rings and columns: (rings, columns) m, 0 is no
        return."""
        index, image, _ = self._view(sensor, "range_image")
        made = np.ascontiguousarray(ranges, np.float32)
        if made.shape != self._shape_of(sensor, "range_image"):
            raise ValueError(
                f"{sensor}: found the shape {made.shape}, expected {self._shape_of(sensor, 'range_image')}"
            )
        self._core.image(index, image, np.where(np.isfinite(made), made, np.float32(0)))
        self._came(sensor, stamp)

    def goal(self, x: float, y: float) -> None:
        """Where to go, in the frame of `pose`, m. Plans the way where an observation needs it."""
        self._core.goal(number("x", x), number("y", y))
        self._came("goal", 0.0)

    def value(self, key: str, values: npt.ArrayLike, stamp: float) -> None:
        """The values of one frame of an observation of `given`, before clipping, normalisation and history."""
        if key not in self._keys:
            raise ValueError(f"value: found '{key}', expected some of {', '.join(self._keys)}")
        spec = self._core.observations[self._keys[key]]
        self._core.value(self._keys[key], np.ascontiguousarray(values, spec.dtype))
        self._came(key, stamp)

    # -- observations and commands

    def state(self, now: float) -> dict[str, ReadingState]:
        """What is known of each source at a moment of the caller's clock."""
        return self._freshness.state(now)

    def observe(self, now: float) -> Any:
        """The observation of the control period that ends now: a dict of arrays, or one vector. Call it once every
        control period: it counts for histories.

        Raises:
            StaleReadingError: a reading is missing, too old or impossible; nothing has been counted.
        """
        self._freshness.check(now)
        self._core.observe()
        arrays = {self._core.observations[k].key: self._core.observation(k) for k in self._order}
        if self._flatten:
            return np.concatenate(list(arrays.values()), axis=-1, dtype=np.float32, casting="same_kind")
        return arrays

    def command(self, action: npt.ArrayLike) -> dict[str, float]:
        """The command of the robot's controller for an action in [-1, 1], by name (`command_names`), in the units of
        `command_units`.

        Raises:
            ValueError: another size, or a value that is not finite.
        """
        values = np.ascontiguousarray(action, np.float32)
        return dict(zip(self.command_names, self._core.command(values), strict=True))

    def _came(self, source: str, stamp: float, note: str = "") -> None:
        if source in self._options:
            self._freshness.came(source, stamp, note)

    def _is_sound(self, source: str, values: Iterable[float]) -> bool:
        """Whether all values are finite; else the source is impossible from now on."""
        if all(math.isfinite(value) for value in values):
            return True
        if source in self._options:
            self._freshness.refused(source, "a value is not finite")
        return False

    def _sensor(self, name: str, kind: str) -> int:
        index = self._sensors.get(name)
        known = [
            s for s, k in self._sensors.items() if self._model.sensors[k].kind == kind and s in self._sources
        ]
        if index is None or name not in known:
            raise ValueError(f"sensor: found '{name}', expected one of {known}")
        return index

    def _view(self, name: str, image: str) -> tuple[int, int, dict[str, Any]]:
        index = self._sensor(name, "view")
        views = self._model.sensors[index].views
        if image not in views:
            raise ValueError(f"{name}: it has no image '{image}', only {', '.join(views)}")
        return index, list(views).index(image), views[image]

    def _shape_of(self, sensor: str, image: str) -> tuple[int, int]:
        height, width = self._core.image_size(self._sensors[sensor], image)
        return height, width
