"""ROS 2 messages of sensors: the topics, frames and messages of each form of reading."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mvsim_gym._rotation import angles_of
from mvsim_gym.parts import Pose, Sensor
from mvsim_gym.readings import CameraReading, ImuReading, Reading
from mvsim_gym.ros.messages import ImuNoise, Message, Messages, word

_IMU_NOISE = (
    "angular_velocity_white_noise_std_noise",
    "linear_acceleration_white_noise_std_noise",
    "orientation_std_noise",
)
_DEPTH_UNIT = 1e-3  # m of a unit of a depth image
_DEPTH_MAX = 2**16 - 1  # the largest depth that a pixel holds; 0 (no measurement) beyond it (REP 118)


class Stream(NamedTuple):
    topic: str
    kind: str
    frame: str
    pose: Pose
    """pose of the frame on the vehicle"""
    make: Callable[[Messages, Any], Message]
    """makes the message of a reading"""
    is_derived: bool = False
    """True: the topic follows from other topics of the sensor, and recordings leave it out"""


def streams_of(sensor: Sensor, *, finite: bool = False) -> list[Stream]:
    """The topics of a sensor; none if no message is known for its form of reading.

    Args:
        finite: a ray of a scan without a return is the longest range instead of infinity.
    """
    streams = STREAMS.get(sensor.form)
    return [] if streams is None else list(streams(sensor, word(sensor.name), finite))


def _scan(sensor: Sensor, name: str, finite: bool) -> Iterator[Stream]:
    def make(made: Messages, reading: Reading) -> Message:
        return made.scan(reading, sensor.max_range, sensor.period, name, finite=finite)

    yield _mounted(sensor, name, "sensor_msgs/msg/LaserScan", make)


def _imu(sensor: Sensor, name: str, _: bool) -> Iterator[Stream]:
    def make(made: Messages, reading: ImuReading) -> Message:
        deviations = sensor.parameters  # they change with episodes if they are randomised
        return made.imu(reading, ImuNoise(*(deviations[key] for key in _IMU_NOISE)), name)

    yield _mounted(sensor, name, "sensor_msgs/msg/Imu", make)


def _fix(sensor: Sensor, name: str, _: bool) -> Iterator[Stream]:
    yield _mounted(sensor, name, "sensor_msgs/msg/NavSatFix", lambda made, reading: made.fix(reading, name))


def _rings(sensor: Sensor, name: str, _: bool) -> Iterator[Stream]:
    frame = f"{name}_points"
    yield _mounted(
        sensor,
        frame,
        "sensor_msgs/msg/PointCloud2",
        lambda made, reading: made.cloud(reading.points(), frame),
    )


def _mounted(sensor: Sensor, name: str, kind: str, make: Callable[[Messages, Any], Message]) -> Stream:
    """A topic with the sensor's pose, in a frame of the same name."""
    return Stream(name, kind, name, sensor.mount, make)


def _camera(sensor: Sensor, name: str, _: bool) -> Iterator[Stream]:
    yield from _picture(sensor, "image", name)


def _rgbd(sensor: Sensor, name: str, _: bool) -> Iterator[Stream]:
    if "image" in sensor.views:
        yield from _picture(sensor, "image", f"{name}_rgb")
    if "depth" in sensor.views:
        yield from _picture(sensor, "depth", f"{name}_depth")
        yield _depth_cloud(sensor, f"{name}_points")


def _picture(sensor: Sensor, what: str, name: str) -> Iterator[Stream]:
    """An image and its camera info, both in the optical frame: x right, y down, z forward."""
    matrix = sensor.views[what]["T_vehicle_camera"]
    x, y, z = map(float, matrix[:3, 3])
    pose = Pose(x, y, z, *angles_of(matrix[:3, :3]))

    def image(made: Messages, reading: CameraReading) -> Message:
        return made.image(_pixels(reading, what), "bgr8" if what == "image" else "16UC1", name)

    def info(made: Messages, reading: CameraReading) -> Message:
        height, width = getattr(reading, what).shape[:2]
        return made.camera_info(reading.intrinsics[what], width, height, name)

    yield Stream(f"{name}/image_raw", "sensor_msgs/msg/Image", name, pose, image)
    yield Stream(f"{name}/camera_info", "sensor_msgs/msg/CameraInfo", name, pose, info)


def _depth_cloud(sensor: Sensor, name: str) -> Stream:
    """The points of a depth image, in a frame at the camera with x forward, y to the left, z up."""
    matrix = sensor.views["depth"]["T_vehicle_camera"]
    right, down, forward = matrix[:3, :3].T
    x, y, z = map(float, matrix[:3, 3])
    pose = Pose(x, y, z, *angles_of(np.column_stack([forward, -right, -down])))

    def cloud(made: Messages, reading: CameraReading) -> Message:
        return made.cloud(_points(reading), name)

    return Stream(name, "sensor_msgs/msg/PointCloud2", name, pose, cloud, is_derived=True)


def _points(reading: CameraReading) -> npt.NDArray[Any]:
    """x, y, z (m, x forward) of the pixels that have a depth, pixel row by pixel row."""
    assert reading.depth is not None
    k = reading.intrinsics["depth"]
    rows, columns = np.nonzero(reading.depth)
    depths = reading.depth[rows, columns].astype(np.float64)
    points = np.empty(len(depths), [("x", "<f4"), ("y", "<f4"), ("z", "<f4")])
    points["x"] = depths
    points["y"] = -(columns - k[0, 2]) / k[0, 0] * depths
    points["z"] = -(rows - k[1, 2]) / k[1, 1] * depths
    return points


def _pixels(reading: CameraReading, what: str) -> npt.NDArray[np.generic]:
    """The image, (height, width, 3) blue, green, red; or the depth, (height, width)."""
    if what == "image":
        assert reading.image is not None
        return reading.image[..., ::-1]
    assert reading.depth is not None
    depths = np.rint(reading.depth / _DEPTH_UNIT)
    return np.where(depths <= _DEPTH_MAX, depths, 0).astype("<u2")


STREAMS: dict[str, Callable[[Sensor, str, bool], Iterator[Stream]]] = {
    "scan": _scan,
    "imu": _imu,
    "fix": _fix,
    "rings": _rings,
    "camera": _camera,
    "rgbd": _rgbd,
}
"""Topics of a sensor, under the sensor's name, by the form of its readings."""
