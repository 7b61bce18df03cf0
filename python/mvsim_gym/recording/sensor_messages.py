"""Readings of sensors as ROS 2 messages: of each class of sensors the topics, frames and messages of a reading."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from mvsim_gym._rotation import angles_of
from mvsim_gym.parts import Pose, Sensor
from mvsim_gym.readings import CameraReading
from mvsim_gym.recording.messages import Message, Messages

__all__ = ["MESSAGES", "Sent"]

_DEPTH_UNIT = 1e-3  # m of a pixel of a depth image
_DEPTH_MAX = 2**16 - 1


class Sent(NamedTuple):
    """A message of a reading."""

    topic: str
    message: Message
    frame: str
    pose: Pose
    """of the frame on the vehicle"""


def _laser(messages: Messages, sensor: Sensor, name: str) -> Iterator[Sent]:
    yield Sent(name, messages.scan(sensor.read(), sensor._model.high, name), name, Pose(*sensor._model.mount))


def _imu(messages: Messages, sensor: Sensor, name: str) -> Iterator[Sent]:
    yield Sent(name, messages.imu(sensor.read(), name), name, Pose(*sensor._model.mount))


def _gnss(messages: Messages, sensor: Sensor, name: str) -> Iterator[Sent]:
    yield Sent(name, messages.fix(sensor.read(), name), name, Pose(*sensor._model.mount))


def _lidar3d(messages: Messages, sensor: Sensor, name: str) -> Iterator[Sent]:
    frame = f"{name}_points"
    yield Sent(frame, messages.cloud(sensor.read().points(), frame), frame, Pose(*sensor._model.mount))


def _camera(messages: Messages, sensor: Sensor, name: str) -> Iterator[Sent]:
    yield from _picture(messages, sensor.read(), "image", name)


def _rgbd_camera(messages: Messages, sensor: Sensor, name: str) -> Iterator[Sent]:
    reading = sensor.read()
    if reading.image is not None:
        yield from _picture(messages, reading, "image", f"{name}_rgb")
    if reading.depth is not None:
        yield from _picture(messages, reading, "depth", f"{name}_depth")


def _picture(messages: Messages, reading: CameraReading, what: str, name: str) -> Iterator[Sent]:
    """A picture and what to know of its camera, both in the optical frame: x right, y down, z forward."""
    matrix = reading.T_vehicle_camera[what]
    x, y, z = map(float, matrix[:3, 3])
    pose = Pose(x, y, z, *angles_of(matrix[:3, :3]))
    if what == "image":
        assert reading.image is not None
        pixels: npt.NDArray[np.generic] = reading.image[..., ::-1]  # blue, green, red
    else:
        assert reading.depth is not None
        pixels = np.minimum(np.rint(reading.depth / _DEPTH_UNIT), _DEPTH_MAX).astype("<u2")
    height, width = pixels.shape[:2]
    info = messages.camera_info(reading.intrinsics[what], width, height, name)
    encoding = "bgr8" if what == "image" else "16UC1"
    yield Sent(f"{name}/image_raw", messages.image(pixels, encoding, name), name, pose)
    yield Sent(f"{name}/camera_info", info, name, pose)


MESSAGES: dict[str, Callable[[Messages, Sensor, str], Iterator[Sent]]] = {
    "laser": _laser,
    "imu": _imu,
    "gnss": _gnss,
    "lidar3d": _lidar3d,
    "camera": _camera,
    "rgbd_camera": _rgbd_camera,
}
"""By the sensor's class: makes of its latest reading what is sent, under the sensor's name."""
