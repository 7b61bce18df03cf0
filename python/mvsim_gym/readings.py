"""Readings of sensors with named fields, one type for each class of sensor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mvsim_gym import _core

__all__ = ["CameraReading", "GnssReading", "ImuReading", "Lidar3dReading", "Reading"]


class Reading(NamedTuple):
    """A reading of a lidar, with one entry for each ray; all arrays are copies."""

    ranges: npt.NDArray[np.float32]
    """m; the longest range if nothing was hit"""
    valid: npt.NDArray[np.bool_]
    """False if nothing was hit"""
    angles: npt.NDArray[np.float64]
    """rad in the sensor's frame"""
    time: float
    """simulated time of the reading, s"""


class ImuReading(NamedTuple):
    """A reading of an IMU in the frame of the sensor; all arrays are copies."""

    angular_velocity: npt.NDArray[np.float64]
    """(3,) rad/s about x, y, z"""
    linear_acceleration: npt.NDArray[np.float64]
    """(3,) m/s2 along x, y, z: proper acceleration, (0, 0, 9.81) at rest on level ground"""
    orientation: npt.NDArray[np.float64] | None
    """(4,) unit quaternion w, x, y, z, w >= 0, from the sensor's frame to east, north, up (to the world's frame without
    <georeference>); None if the sensor does not measure it"""
    time: float
    """simulated time of the reading, s"""


class GnssReading(NamedTuple):
    """A reading of a GNSS receiver; all arrays are copies."""

    latitude: float
    """degrees north, WGS84"""
    longitude: float
    """degrees east"""
    altitude: float
    """m above the ellipsoid of WGS84"""
    enu: npt.NDArray[np.float64]
    """(3,) m east, north and up of the world's <georeference>"""
    covariance: npt.NDArray[np.float64]
    """(3, 3) covariance of `enu`, m2"""
    time: float
    """simulated time of the reading, s"""


class CameraReading(NamedTuple):
    """A reading of a camera; all arrays are copies. Row 0 is at the top, column 0 at the left. The ray of column c and
    row r goes through x = (c - cx) / fx, y = (r - cy) / fy, z = 1 of the camera's optical frame (x right, y down, z
    forward)."""

    image: npt.NDArray[np.uint8] | None
    """(height, width, 3) red, green, blue; None for a depth camera without colour"""
    depth: npt.NDArray[np.float32] | None
    """(height, width) m along z; 0 if nothing is between the clip planes; None for a camera without depth"""
    labels: npt.NDArray[np.uint16]
    """(height, width) index of the visible thing; `world.labels` has the names, and 0 is nothing. Pixels are those of
    `image`, or of `depth` without an image"""
    intrinsics: dict[str, npt.NDArray[np.float64]]
    """K, (3, 3) px, of "image", "depth" and "labels" """
    T_vehicle_camera: dict[str, npt.NDArray[np.float64]]
    """(4, 4) pose of the optical frame in the frame of the vehicle (or of the world, for a camera that stands there),
    by the same names"""
    time: float
    """simulated time of the reading, s"""

    @property
    def K(self) -> npt.NDArray[np.float64]:  # noqa: N802 (the usual symbol)
        """(3, 3) px, camera matrix of the image, or of the depth without an image"""
        return self.intrinsics["image" if self.image is not None else "depth"]


class Lidar3dReading(NamedTuple):
    """A turn of a 3D lidar, with all rays at one instant; all arrays are copies. Row 0 is the lowest ring. Column 0
    looks backwards, and the columns go counter-clockwise."""

    range_image: npt.NDArray[np.float32]
    """(rings, columns) m; 0 without a return"""
    intensity: npt.NDArray[np.float32] | None
    """(rings, columns) from 0 to 1; None if the sensor measures none"""
    labels: npt.NDArray[np.uint16]
    """(rings, columns) index of the thing hit; 0 is nothing"""
    elevations: npt.NDArray[np.float64]
    """(rings,) elevation, rad, positive upwards"""
    azimuths: npt.NDArray[np.float64]
    """(columns,) azimuth, rad, positive to the left"""
    time: float
    """simulated time of the reading, s"""

    def points(self) -> npt.NDArray[Any]:
        """Returns a structured array of the returns: x, y, z (m, in the sensor's frame), intensity (1 if not measured),
        ring, and t (s since the reading's time; 0, since all rays are of one instant). Points are ordered by column,
        then by ring from below. Each field is aligned to its size, and a point takes 24 bytes."""
        columns, rings = np.nonzero(self.range_image.T)
        ranges = self.range_image[rings, columns].astype(np.float64)
        level = ranges * np.cos(self.elevations)[rings]
        fields = [("x", "f4"), ("y", "f4"), ("z", "f4"), ("intensity", "f4"), ("ring", "u2"), ("t", "f4")]
        cloud = np.zeros(len(ranges), np.dtype(fields, align=True))
        cloud["x"] = level * np.cos(self.azimuths)[columns]
        cloud["y"] = level * np.sin(self.azimuths)[columns]
        cloud["z"] = ranges * np.sin(self.elevations)[rings]
        cloud["intensity"] = 1 if self.intensity is None else self.intensity[rings, columns]
        cloud["ring"] = rings
        return cloud


def has_images(form: str) -> bool:
    """Returns whether `view_reading` makes readings of this form, which are those of a camera or a 3D lidar."""
    return form in _OF_IMAGES


def has_names(form: str) -> bool:
    """Returns whether a reading of this form has named fields, so that `Sensor.read` returns it."""
    return form in _OF_IMAGES or form in _OF_VALUES


def view_reading(
    model: _core.SensorModel, images: dict[str, Any], time: float
) -> CameraReading | Lidar3dReading:
    """Returns a reading of a sensor that sees the scene, from its images by name."""
    return _OF_IMAGES[model.form](model, images, time)


def _rings(model: _core.SensorModel, images: dict[str, Any], time: float) -> Lidar3dReading:
    angles = model.views["range_image"]
    return Lidar3dReading(
        images["range_image"],
        images.get("intensity"),
        images["labels"],
        angles["elevations"],
        angles["azimuths"],
        time,
    )


def _camera(model: _core.SensorModel, images: dict[str, Any], time: float) -> CameraReading:
    views = model.views
    pinholes = {name: view["intrinsics"] for name, view in views.items()}
    return CameraReading(
        images.get("image"),
        images.get("depth"),
        images["labels"],
        {
            name: np.array([[fx, 0, cx], [0, fy, cy], [0, 0, 1]])
            for name, (fx, fy, cx, cy) in pinholes.items()
        },
        {name: view["T_vehicle_camera"] for name, view in views.items()},
        time,
    )


def _lidar(model: _core.SensorModel, values: Any, valid: Any, time: float) -> Reading:
    assert model.angles is not None  # a sensor with rays
    return Reading(values, valid, model.angles, time)


def _imu(model: _core.SensorModel, values: Any, valid: Any, time: float) -> ImuReading:
    return ImuReading(values[:3], values[3:6], values[6:] if len(values) > 6 else None, time)


def _gnss(model: _core.SensorModel, values: Any, valid: Any, time: float) -> GnssReading | None:
    if not valid[0]:
        return None
    latitude, longitude, altitude = map(float, values[:3])
    horizontal, vertical = values[6:]
    covariance = np.diag([horizontal**2, horizontal**2, vertical**2])
    return GnssReading(latitude, longitude, altitude, values[3:6], covariance, time)


# By the form of a reading, which the registration of the sensor's class names (src/sensor/sensors.cpp).
_OF_IMAGES: dict[
    str, Callable[[_core.SensorModel, dict[str, Any], float], CameraReading | Lidar3dReading]
] = {
    "camera": _camera,
    "rgbd": _camera,
    "rings": _rings,
}
_OF_VALUES: dict[str, Callable[[_core.SensorModel, Any, Any, float], Any]] = {
    "scan": _lidar,
    "imu": _imu,
    "fix": _gnss,
}


def type_of(model: _core.SensorModel) -> Callable[[Any, Any, float], Any]:
    """Returns the function that makes a reading of (values, valid, time).

    Raises:
        TypeError: the readings of this class of sensor have no named fields.
    """
    make = _OF_VALUES.get(model.form)
    if make is None:
        raise TypeError(
            f"sensor '{model.name}' is of class '{model.class_name}', whose reading has no names: use values()"
        )
    return lambda values, valid, time: make(model, values, valid, time)
