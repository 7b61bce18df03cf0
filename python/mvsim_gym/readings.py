"""Readings of sensors by the names of what they measure, a type for each class of sensor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mvsim_gym import _core

__all__ = ["GnssReading", "ImuReading", "Reading"]


class Reading(NamedTuple):
    """A reading of a lidar: one entry a ray, all arrays are copies."""

    ranges: npt.NDArray[np.float32]
    """m; the longest range where nothing was hit"""
    valid: npt.NDArray[np.bool_]
    """False where nothing was hit"""
    angles: npt.NDArray[np.float64]
    """rad in the sensor's frame"""
    time: float
    """s of simulated time that the reading describes"""


class ImuReading(NamedTuple):
    """A reading of an IMU, in the frame of the sensor; all arrays are copies."""

    angular_velocity: npt.NDArray[np.float64]
    """(3,) rad/s about x, y, z"""
    linear_acceleration: npt.NDArray[np.float64]
    """(3,) m/s2 along x, y, z: proper acceleration, (0, 0, 9.81) at rest on level ground"""
    orientation: npt.NDArray[np.float64] | None
    """(4,) unit quaternion w, x, y, z, w >= 0, from the sensor's frame to east, north, up (to the world's frame without
    <georeference>); None where the sensor does not measure it"""
    time: float
    """s of simulated time that the reading describes"""


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
    """(3, 3) m2 of `enu`"""
    time: float
    """s of simulated time that the reading describes"""


def _lidar(model: _core.SensorModel, values: Any, valid: Any, time: float) -> Reading:
    assert model.angles is not None  # of a sensor with rays
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


_TYPES: dict[str, Callable[[_core.SensorModel, Any, Any, float], Any]] = {
    "laser": _lidar,
    "imu": _imu,
    "gnss": _gnss,
}


def type_of(model: _core.SensorModel) -> Callable[[Any, Any, float], Any]:
    """Makes a reading of (values, valid, time).

    Raises:
        TypeError: sensors of this class have no reading with names.
    """
    make = _TYPES.get(model.class_name)
    if make is None:
        raise TypeError(
            f"sensor '{model.name}' is of class '{model.class_name}', whose reading has no names: use values()"
        )
    return lambda values, valid, time: make(model, values, valid, time)
