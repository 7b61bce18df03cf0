"""The readings that a `mvsim_gym.deploy.Pipeline` takes, and the options of their sources."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mvsim_gym._checks import kind_of, number
from mvsim_gym._core import Model
from mvsim_gym._core import Pipeline as CorePipeline
from mvsim_gym.deploy.freshness import Freshness
from mvsim_gym.deploy.pictures import color_image, depth_image, range_image
from mvsim_gym.deploy.wgs84 import enu_of


class SourceOptions(NamedTuple):
    mount: tuple[float, float, float] | None = None
    """x, y (m) and yaw (rad) of a real lidar on its vehicle; None: as in the environment"""
    frames: Mapping[str, tuple[float, float, float]] = {}
    """mount by the frame of a reading, for robots with several lidars"""
    max_age: float | None = None
    """largest age, s; None: twice the longer of the control period and the sensor's period"""
    max_uncovered: float = 0.5
    """largest share of beams without readings; more makes the state of the scan "impossible", see `Pipeline.state`"""


def checked_sources(given: Mapping[str, Any] | None, known: Iterable[str]) -> dict[str, SourceOptions]:
    """Returns the options of each source. ValueError or TypeError for an unknown name or an invalid value."""
    known = list(known)
    out = {name: SourceOptions() for name in known}
    for name, options in (given or {}).items():
        if name not in out:
            raise ValueError(f"sensors: found '{name}', expected some of {', '.join(known)}")
        if not isinstance(options, Mapping):
            raise TypeError(f"sensors['{name}']: found {kind_of(options)}, expected a dict")
        unknown = set(options) - set(SourceOptions._fields)
        if unknown:
            raise ValueError(
                f"sensors['{name}']: found '{min(unknown)}', expected some of {', '.join(SourceOptions._fields)}"
            )
        out[name] = _checked(name, SourceOptions(**options))
    return out


def _checked(name: str, options: SourceOptions) -> SourceOptions:
    mount = None if options.mount is None else _mount(f"sensors['{name}']: mount", options.mount)
    frames = {
        frame: _mount(f"sensors['{name}']: frames['{frame}']", pose) for frame, pose in options.frames.items()
    }
    if options.max_age is not None and not options.max_age > 0:
        raise ValueError(f"sensors['{name}']: max_age: found {options.max_age}, expected seconds above 0")
    if not 0 <= options.max_uncovered <= 1:
        raise ValueError(f"sensors['{name}']: max_uncovered: found {options.max_uncovered}, expected 0 to 1")
    return options._replace(mount=mount, frames=frames)


def _mount(what: str, pose: Any) -> tuple[float, float, float]:
    values = tuple(float(value) for value in pose)
    if len(values) != 3 or not all(map(math.isfinite, values)):
        raise ValueError(f"{what}: found {pose!r}, expected x and y (m) and yaw (rad)")
    return values[0], values[1], values[2]


Array = npt.NDArray[Any]
_TRACK = 6  # values of a neighbour: x, y, vx, vy, radius, 1


class PipelineReadings:
    """Methods that take readings; each reading is valid until the next of its kind. An invalid value that a sensor may
    send (NaN) sets the state of the source to "impossible" (`Pipeline.state`). A mistake of the caller raises
    ValueError."""

    _core: CorePipeline
    _model: Model
    _sensors: Mapping[str, int]
    _keys: Mapping[str, int]
    _sources: list[str]
    _options: Mapping[str, SourceOptions]
    _freshness: Freshness
    _latest: dict[str, tuple[float, ...]]
    """the last readings of pose, velocity, odometry, attitude (z, pitch, roll), steer and goal"""

    def mount_of(self, sensor: str, frame: str = "") -> tuple[float, float, float]:
        """Returns x, y (m) and yaw (rad) of a real lidar on the robot, from the source's options or else from the
        environment.

        Raises:
            ValueError: the frame is not one of the options' frames.
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
        """Takes a scan of a 2D lidar in any order, with any field of view and number of beams. Beam i points to
        angle_min + i * angle_increment (rad). Each beam of the environment's lidar takes the minimum of the readings in
        its cell. A beam without readings has the largest range, and `state` tells the number of such beams.

        Args:
            ranges: m; inf is no return. NaN, 0 and values below `range_min` are no reading.
            frame: frame of the scan, if the source has `frames`.

        Raises:
            ValueError: an unknown sensor, an unknown frame, or invalid angles.
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
        angles = self._model.sensors[index].angles
        beams = 0 if angles is None else len(angles)
        note = (
            f"{uncovered} of {beams} beams uncovered, {invalid} of {values.size} given ones without a reading"
        )
        if uncovered > options.max_uncovered * beams:
            self._freshness.reject(sensor, note)
        else:
            self._freshness.accept(sensor, stamp, note)

    def pose(self, x: float, y: float, yaw: float, stamp: float) -> None:
        """Takes the robot's pose in the frame of goals, maps and tracks: m, rad."""
        self._take("pose", (x, y, yaw), stamp)

    def velocity(self, vx: float, omega: float, stamp: float, *, vy: float = 0.0) -> None:
        """Takes forward speed (m/s), turn rate (rad/s) and speed to the left (m/s) in the robot's frame."""
        self._take("velocity", (vx, vy, omega), stamp)

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
        """Takes the pose in the odometry frame and the twist in the robot's frame. The twist counts as `velocity`
        too."""
        self.velocity(vx, omega, stamp, vy=vy)
        self._take("odometry", (x, y, yaw), stamp)

    def attitude(self, pitch: float, roll: float, stamp: float, *, z: float = 0.0) -> None:
        """Takes pitch (nose down is positive) and roll, rad, and the height of the robot, m."""
        self._take("attitude", (z, pitch, roll), stamp)

    def steer(self, left: float, right: float, stamp: float) -> None:
        """Takes the steering angles of the front wheels, rad."""
        self._take("steer", (left, right), stamp)

    def imu(
        self,
        sensor: str,
        angular_velocity: npt.ArrayLike,
        linear_acceleration: npt.ArrayLike,
        stamp: float,
        *,
        orientation: npt.ArrayLike | None = None,
    ) -> None:
        """Takes a reading of an IMU in the sensor's frame: (3,) rad/s, (3,) m/s2 of proper acceleration, (4,) w, x, y,
        z."""
        index = self._sensor(sensor, "state")
        parts = [np.asarray(angular_velocity, np.float64), np.asarray(linear_acceleration, np.float64)]
        if orientation is not None:
            q = np.asarray(orientation, np.float64)
            parts.append(q if q[0] >= 0 else -q)
        values = np.concatenate(parts)
        if self._is_sound(sensor, values):
            self._core.reading(index, values, np.ones(values.size, np.uint8))
            self._accept(sensor, stamp)

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
        """Takes a fix: degrees north and east, m above the ellipsoid of WGS84. NaN: there is no fix.

        Args:
            enu: m east, north and up of the world's reference, if the caller has computed them already.
        """
        index = self._sensor(sensor, "state")
        values = np.zeros(8)
        has_fix = all(map(math.isfinite, (latitude, longitude, altitude)))
        if has_fix:
            reference = self._core.reference
            if reference is None:
                raise ValueError(f"{sensor}: the world has no <georeference>")
            place = (latitude, longitude, altitude)
            values[:6] = *place, *(enu or enu_of(place, (reference[0], reference[1], reference[2])))
        self._core.reading(index, values, np.full(8, has_fix, np.uint8))
        self._accept(sensor, stamp, "" if has_fix else "no fix")

    def image(
        self,
        sensor: str,
        pixels: Array,
        stamp: float,
        *,
        encoding: str = "rgb8",
        intrinsics: tuple[float, float, float, float] | None = None,
    ) -> None:
        """Takes a camera image, (height, width, channels) uint8, in one of ROS's encodings. An image of another size is
        rectified by `intrinsics` (fx, fy, cx, cy), and refused without them."""
        index, image, view = self._view(sensor, "image")
        shape = self._shape_of(sensor, "image")
        made = color_image(pixels, encoding, shape, view["intrinsics"], intrinsics)
        self._core.image(index, image, made)
        self._accept(sensor, stamp)

    def depth(
        self,
        sensor: str,
        pixels: Array,
        stamp: float,
        *,
        encoding: str = "32FC1",
        intrinsics: tuple[float, float, float, float] | None = None,
    ) -> None:
        """Takes depths along the optical axis, (height, width): 32FC1 in m or 16UC1 in mm. Other sizes are treated as
        by `image`."""
        index, image, view = self._view(sensor, "depth")
        shape = self._shape_of(sensor, "depth")
        far = self._model.sensors[index].high
        made = depth_image(pixels, encoding, shape, view["intrinsics"], intrinsics, far)
        self._core.image(index, image, made)
        self._accept(sensor, stamp)

    def points(self, sensor: str, points: npt.ArrayLike, stamp: float) -> None:
        """Takes the returns of a 3D lidar, (n, 3) m in the sensor's frame. A cell of its range image takes the nearest
        return."""
        index, image, view = self._view(sensor, "range_image")
        far = self._model.sensors[index].high
        made = range_image(np.asarray(points), view["elevations"], view["azimuths"], 0.0, far)
        self._core.image(index, image, made)
        self._accept(sensor, stamp)

    def ranges(self, sensor: str, ranges: npt.ArrayLike, stamp: float) -> None:
        """Takes the range image, m, of a 3D lidar with the environment's (rings, columns); 0 is no return."""
        index, image, _ = self._view(sensor, "range_image")
        made = np.ascontiguousarray(ranges, np.float32)
        if made.shape != self._shape_of(sensor, "range_image"):
            raise ValueError(
                f"{sensor}: found the shape {made.shape}, expected {self._shape_of(sensor, 'range_image')}"
            )
        self._core.image(index, image, np.where(np.isfinite(made), made, np.float32(0)))
        self._accept(sensor, stamp)

    def goal(self, x: float, y: float) -> None:
        """Sets the goal in the frame of `pose`, m. Plans a path if an observation needs it."""
        self._core.goal(number("x", x), number("y", y))
        self._latest["goal"] = (float(x), float(y))
        self._accept("goal", 0.0)

    def value(self, key: str, values: npt.ArrayLike, stamp: float) -> None:
        """Takes the values of one frame of an observation of `given`, before clipping, normalisation and history."""
        if key not in self._keys:
            raise ValueError(f"value: found '{key}', expected some of {', '.join(self._keys)}")
        spec = self._core.observations[self._keys[key]]
        self._core.value(self._keys[key], np.ascontiguousarray(values, spec.dtype))
        self._accept(key, stamp)

    def tracks(self, key: str, tracks: npt.ArrayLike, stamp: float) -> None:
        """Takes tracks of people and other robots, from which the observation `key` of the class `neighbours` follows.
        It must be one of `given`, without `normalize` and `history`. The pose must have been given before.

        Args:
            tracks: (n, 5): x, y (m), vx, vy (m/s, over ground) in the frame of the pose, and the radius (m).

        Raises:
            ValueError: another observation, or another shape.
        """
        if key not in self._keys or self._core.sources[self._keys[key]].class_name != "neighbours":
            raise ValueError(f"tracks: found '{key}', expected an observation of the class neighbours")
        spec = self._core.observations[self._keys[key]]
        rows = np.asarray(tracks, np.float64)
        if rows.size and (rows.ndim != 2 or rows.shape[1] != 5):
            raise ValueError(f"tracks: found the shape {rows.shape}, expected (n, 5)")
        rows = rows.reshape(-1, 5)
        if "pose" not in self._latest or not np.isfinite(rows).all():
            self.reject(key, "there is no pose" if "pose" not in self._latest else "a track is not finite")
            return
        x, y, yaw = self._latest["pose"]
        turn = np.array([[math.cos(yaw), -math.sin(yaw)], [math.sin(yaw), math.cos(yaw)]])  # robot to world
        to = rows[:, :2] - (x, y)
        away = np.hypot(*to.T)
        near = np.argsort(away, kind="stable")[: np.count_nonzero(away <= spec.high.flat[0])]
        values = np.zeros((spec.shape[-1] // _TRACK, _TRACK))
        seen = near[: len(values)]
        found = [to[seen] @ turn, rows[seen, 2:4] @ turn, rows[seen, 4:], np.ones((len(seen), 1))]
        values[: len(seen)] = np.column_stack(found)
        self.value(key, values.ravel().astype(spec.dtype), stamp)

    def reject(self, source: str, why: str) -> None:
        """Takes it that a source has no valid reading at present, e.g. because a transform is missing. Its state is
        "impossible" until a valid reading comes."""
        if source in self._options:
            self._freshness.reject(source, why)

    def _accept(self, source: str, stamp: float, note: str = "") -> None:
        if source in self._options:
            self._freshness.accept(source, stamp, note)

    def _take(self, quantity: str, values: tuple[float, ...], stamp: float) -> None:
        if self._is_sound(quantity, values):
            getattr(self._core, quantity)(*values)
            self._latest[quantity] = values
            self._accept(quantity, stamp)

    def _is_sound(self, source: str, values: Iterable[float]) -> bool:
        """Returns whether all values are finite. If not, the source becomes "impossible"."""
        if all(math.isfinite(value) for value in values):
            return True
        self.reject(source, "a value is not finite")
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
