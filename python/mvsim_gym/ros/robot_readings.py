"""Readings of a `mvsim_gym.deploy.Pipeline` from messages of a robot."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from mvsim_gym._notices import notice
from mvsim_gym._rotation import yaw_of
from mvsim_gym.deploy.driver import Driver
from mvsim_gym.deploy.pipeline import Pipeline
from mvsim_gym.ros.messages import STORE
from mvsim_gym.ros.topics import Qos, Topic
from mvsim_gym.ros.transforms import TransformBuffer, TransformError, composed

_SENSOR = Qos(5, reliable=False)
_LATEST = Qos(10)
_TRANSFORMS = "tf2_msgs/msg/TFMessage"
_ENCODINGS = {"32FC1": np.float32, "16UC1": np.uint16, "mono8": np.uint8}
_TOLD = {"pose", "goal", "velocity", "odometry", "steer"}
"""Sources of a pipeline, beside sensors, that messages or commands tell."""
_UNTOLD = {
    "attitude": "pitch, roll and height come in no message that is subscribed to",
    "goal_heading": "the heading of a goal in a message is ignored, and arrival counts by distance alone",
}
_FIELDS: dict[int, Any] = {7: np.dtype("<f4"), 8: np.dtype("<f8")}  # by type number of sensor_msgs/PointField


class RobotReadings:
    """Decodes messages and passes the readings to a driver, with the time of arrival. A message is ignored if its stamp
    is not newer than the one before, so a dead source whose last message is repeated counts as silent.

    Args:
        driver: receives the readings.
        names: names of topics by `scan`, `odom`, `imu`, `image`, `depth`, `points`, `fix`, `pose`, `tf`, `tf_static`,
            `goal`.
        clock: a monotonic clock, s.
        localization: "tf" (transforms from `frame` to the frame of the odometry, at the stamp of the odometry, and the
            odometry), "pose" (`/amcl_pose`), or "odom" (goals are in the frame of the odometry).
        on_goal: called with each goal that comes, in the frame of the poses.
        frame: the frame of poses and goals, unless `localization` is "odom".
        tf_limit: largest age of a transform, s; see `TransformBuffer`.
    """

    def __init__(
        self,
        driver: Driver,
        names: dict[str, str],
        clock: Callable[[], float],
        localization: str,
        on_goal: Callable[[float, float], None],
        *,
        frame: str = "map",
        tf_limit: float = 1.0,
    ) -> None:
        self._driver, self._names, self._clock = driver, dict(names), clock
        self._localization, self._on_goal = localization, on_goal
        self._pipeline = driver.pipeline
        self._last: dict[str, int] = {}  # stamp of the latest message by topic, ns
        # "": that of the odometry, once it is known
        self._frame = "" if localization == "odom" else frame.strip("/")
        self._buffer = TransformBuffer(tf_limit)
        self._intrinsics: dict[str, tuple[float, float, float, float]] = {}
        self._forms = {sensor.form: name for name, sensor in self._pipeline.sensors.items()}
        self._kinds = {sensor.kind: name for name, sensor in self._pipeline.sensors.items()}
        self.refused = 0
        """Number of messages that could not be read."""

    @property
    def tf_limit(self) -> float:
        """Largest age of a transform, s."""
        return self._buffer.limit

    def set_tf_limit(self, seconds: float) -> None:
        """Sets the largest age of a transform, s. ValueError for an invalid one."""
        self._buffer.set_limit(seconds)

    def topics(self) -> Iterator[tuple[Topic, Callable[[bytes], None]]]:
        """Yields the topics to subscribe to, and the function that takes the encoded messages of each."""
        needs = set(self._pipeline.sources)
        if self._localization == "tf":  # before the odometry, which looks transforms of its time up
            yield self._taking("tf", _TRANSFORMS, self._transforms, Qos(100))
            yield self._taking(
                "tf_static", _TRANSFORMS, partial(self._transforms, static=True), Qos(10, latched=True)
            )
        yield self._taking("scan", "sensor_msgs/msg/LaserScan", self._scan, _SENSOR)
        yield self._taking("odom", "nav_msgs/msg/Odometry", self._odometry, _SENSOR)
        if self._localization == "pose":
            yield self._taking(
                "pose", "geometry_msgs/msg/PoseWithCovarianceStamped", self._pose, Qos(1, latched=True)
            )
        if "goal" in needs or self._pipeline.has_goal:
            yield self._taking("goal", "geometry_msgs/msg/PoseStamped", self._goal, _LATEST)
        if "imu" in self._forms:
            yield self._taking("imu", "sensor_msgs/msg/Imu", self._imu, _SENSOR)
        if "fix" in self._forms:
            yield self._taking("fix", "sensor_msgs/msg/NavSatFix", self._fix, _SENSOR)
        infos: dict[str, list[str]] = {}  # images by the topic of their CameraInfo
        for name, sensor in self._pipeline.sensors.items():
            for image in sensor.views:
                if image in ("image", "depth"):
                    take_image = partial(self._image, name, image)
                    yield self._taking(image, "sensor_msgs/msg/Image", take_image, _SENSOR)
                    about = f"{self._names[image].rpartition('/')[0]}/camera_info"
                    infos.setdefault(about, []).append(image)
                if image == "range_image":
                    yield self._taking(
                        "points", "sensor_msgs/msg/PointCloud2", partial(self._points, name), _SENSOR
                    )
        for about, images in infos.items():
            self._names[about] = about
            yield self._taking(
                about, "sensor_msgs/msg/CameraInfo", partial(self._camera_info, images), _SENSOR
            )

    def _taking(
        self, name: str, kind: str, take: Callable[[Any], None], qos: Qos
    ) -> tuple[Topic, Callable[[bytes], None]]:
        topic = Topic(self._names[name], kind, qos)

        def receive(data: bytes) -> None:
            try:
                message = STORE.deserialize_cdr(data, kind)
                if self._is_new(topic.name, message):
                    take(message)
            except Exception as error:  # the network may deliver any bytes
                self.refused += 1
                notice([f"drive: a message of '{topic.name}' has no effect: {error}"])

        return topic, receive

    def _is_new(self, topic: str, message: Any) -> bool:
        header = getattr(message, "header", None)
        if header is None or topic == self._names["goal"]:
            return True
        stamp = _nanoseconds(header.stamp)
        before = self._last.get(topic)
        # a clock that went back by more than a second was reset
        if stamp and before is not None and before - 10**9 < stamp <= before:
            return False
        self._last[topic] = stamp
        return True

    def _scan(self, message: Any) -> None:
        now = self._clock()
        name = self._kinds.get("ray")
        ranges = np.asarray(message.ranges, np.float32)
        if name is not None:
            self._pipeline.scan(
                name,
                ranges,
                message.angle_min,
                message.angle_increment,
                now,
                message.header.frame_id,
                range_min=message.range_min,
                range_max=message.range_max,
            )
        self._driver.see(self._hits(message, ranges, name))

    def _hits(self, message: Any, ranges: npt.NDArray[Any], name: str | None) -> npt.NDArray[np.float64]:
        """The points that the scan hit, (n, 2) m in the robot's frame."""
        mount = (0.0, 0.0, 0.0) if name is None else self._pipeline.mount_of(name, message.header.frame_id)
        angles = message.angle_min + mount[2] + np.arange(len(ranges)) * message.angle_increment
        seen = np.isfinite(ranges) & (ranges > max(message.range_min, 0.0)) & (ranges < message.range_max)
        ahead = ranges[seen].astype(float)
        return np.column_stack(
            [mount[0] + ahead * np.cos(angles[seen]), mount[1] + ahead * np.sin(angles[seen])]
        )

    def _odometry(self, message: Any) -> None:
        now = self._clock()
        place, twist = message.pose.pose, message.twist.twist
        x, y, yaw = place.position.x, place.position.y, yaw_of(place.orientation)
        self._pipeline.odometry(x, y, yaw, twist.linear.x, twist.angular.z, now, vy=twist.linear.y)
        frame = message.header.frame_id.strip("/")
        if self._localization == "odom":
            self._frame = frame
            self._driver.set_pose(x, y, yaw, now)
        elif self._localization == "tf":
            stamp = _nanoseconds(message.header.stamp)
            try:
                above = self._buffer.pose(self._frame, frame, stamp or None, now)
            except TransformError as error:
                self._pipeline.reject("pose", str(error))
                return
            self._driver.set_pose(*composed(above, (x, y, yaw)), now)

    def _pose(self, message: Any) -> None:
        place = message.pose.pose
        self._driver.set_pose(place.position.x, place.position.y, yaw_of(place.orientation), self._clock())

    def _transforms(self, message: Any, static: bool = False) -> None:
        now = self._clock()
        for each in message.transforms:
            t = each.transform
            pose = t.translation.x, t.translation.y, yaw_of(t.rotation)
            stamp = _nanoseconds(each.header.stamp)
            try:
                self._buffer.add(each.header.frame_id, each.child_frame_id, pose, stamp, now, static=static)
            except ValueError as error:
                self.refused += 1
                notice([f"drive: a transform has no effect: {error}"])

    def _goal(self, message: Any) -> None:
        place, frame = message.pose.position, message.header.frame_id.strip("/")
        if not (math.isfinite(place.x) and math.isfinite(place.y)):
            raise ValueError("a value is not finite")
        x, y = place.x, place.y
        if frame and self._frame and frame != self._frame:
            if self._localization != "tf":
                raise ValueError(f"found a goal in the frame '{frame}', expected '{self._frame}'")
            x, y, _ = composed(self._buffer.pose(self._frame, frame, None, self._clock()), (x, y, 0.0))
        self._on_goal(x, y)

    def _imu(self, message: Any) -> None:
        name = self._forms["imu"]
        rate, force, q = message.angular_velocity, message.linear_acceleration, message.orientation
        measured = message.orientation_covariance[0] >= 0
        self._pipeline.imu(
            name,
            (rate.x, rate.y, rate.z),
            (force.x, force.y, force.z),
            self._clock(),
            orientation=(q.w, q.x, q.y, q.z) if measured else None,
        )

    def _fix(self, message: Any) -> None:
        name = self._forms["fix"]
        found = message.status.status >= 0
        latitude, longitude, altitude = (
            (message.latitude, message.longitude, message.altitude)
            if found
            else (math.nan, math.nan, math.nan)
        )
        self._pipeline.gnss(name, latitude, longitude, altitude, self._clock())

    def _camera_info(self, images: list[str], message: Any) -> None:
        """Takes fx, fy, cx and cy of a camera: of P if its images are rectified by image_proc, else of K."""
        for image in images:
            is_rectified = "rect" in self._names[image].rpartition("/")[2]
            if not is_rectified and np.any(message.d):
                raise ValueError(
                    f"found the lens distortion {np.round(message.d, 4).tolist()} of '{self._names[image]}', expected a"
                    " topic of rectified images, such as image_rect of image_proc"
                )
            k = np.asarray(message.p).reshape(3, 4) if is_rectified else np.asarray(message.k).reshape(3, 3)
            if not (np.isfinite(k).all() and k[0, 0] > 0 and k[1, 1] > 0):
                raise ValueError("found no calibration, expected focal lengths above 0")
            own = (float(k[0, 0]), float(k[1, 1]), float(k[0, 2]), float(k[1, 2]))
            self._intrinsics[image] = own

    def _image(self, sensor: str, image: str, message: Any) -> None:
        kind = np.dtype(_ENCODINGS.get(message.encoding, np.uint8)).newbyteorder(
            ">" if message.is_bigendian else "<"
        )
        rows = np.frombuffer(message.data, np.uint8).reshape(message.height, message.step)
        values = rows.view(kind)
        channels = {"rgb8": 3, "bgr8": 3, "rgba8": 4, "bgra8": 4}.get(message.encoding, 1)
        pixels = values[:, : message.width * channels].astype(kind.newbyteorder("="))
        if channels > 1:
            pixels = pixels.reshape(message.height, message.width, channels)
        give = self._pipeline.image if image == "image" else self._pipeline.depth
        give(sensor, pixels, self._clock(), encoding=message.encoding, intrinsics=self._intrinsics.get(image))

    def _points(self, sensor: str, message: Any) -> None:
        fields = {field.name: field for field in message.fields}
        data: npt.NDArray[Any] = np.frombuffer(message.data, np.uint8).reshape(-1, message.point_step)
        columns = []
        for axis in ("x", "y", "z"):
            kind: np.dtype[Any] = _FIELDS[fields[axis].datatype]
            start = fields[axis].offset
            columns.append(np.ascontiguousarray(data[:, start : start + kind.itemsize]).view(kind)[:, 0])
        self._pipeline.points(sensor, np.column_stack(columns), self._clock())


def check_told(pipeline: Pipeline) -> None:
    """Checks that messages tell what the observations need.

    Raises:
        ValueError: something is not told; all of it is named.
    """
    asked = {*pipeline.sources, *pipeline.observation_classes.values()}
    lacking = {name for name in pipeline.sources if name not in _TOLD and name not in pipeline.sensors}
    lacking |= _UNTOLD.keys() & asked
    if lacking:
        reasons = [f"'{name}' ({_UNTOLD.get(name, 'no message tells it')})" for name in sorted(lacking)]
        raise ValueError(
            f"drive: found a policy of {pipeline.env} that observes {', '.join(reasons)}, expected one of scans,"
            " images, points, IMU, GNSS, poses, goals and velocities: give the readings from Python, by"
            " mvsim_gym.deploy.loop"
        )


def _nanoseconds(stamp: Any) -> int:
    """A builtin_interfaces/Time in ns."""
    return int(stamp.sec * 10**9 + stamp.nanosec)
