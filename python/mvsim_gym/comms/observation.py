"""Readings of any sensor as bytes, for the field `mrptSerializedObservation` of a GenericObservation.

MVSim writes an object of its library there. For 2D lidars this module does so too (`mrpt_scan.py`). For other sensors
it writes: the text `MVG1`; the length of the header (uint32, little-endian); the header, JSON in UTF-8; the arrays that
the header lists, one behind the other, row by row, little-endian. The header has `class` (of the sensor), `sensor` (its
name), `time` (s), `pose` (of the sensor on its vehicle: x, y, z, yaw, pitch, roll), and `arrays`. Each array has a
`name`, a `dtype` as NumPy writes it, and a `shape`.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mvsim_gym.comms.errors import FrameError
from mvsim_gym.comms.mrpt_scan import Scan, decode_scan, encode_scan, is_mrpt
from mvsim_gym.parts import Pose, Sensor
from mvsim_gym.readings import CameraReading, GnssReading, Lidar3dReading, Reading, has_names

_MAGIC = b"MVG1"
_LENGTH = struct.Struct("<I")


class Observation(NamedTuple):
    """A reading as it is sent."""

    class_name: str
    """class of the sensor, e.g. `camera`"""
    sensor: str
    """its name"""
    time: float
    """simulated time of the reading, s"""
    pose: Pose
    """pose of the sensor on its vehicle; in the world, if it stands there"""
    arrays: dict[str, npt.NDArray[Any]]
    """fields of the reading, such as `ranges`, `valid` and `angles` of a `Reading`; `values` if it has no names"""


def observation_of(sensor: Sensor) -> Observation:
    """Returns the latest reading of a sensor as it is sent. A GNSS receiver without a fix has no arrays."""
    arrays = _arrays_of(sensor.read()) if has_names(sensor.form) else _values_of(sensor)
    return Observation(sensor.class_name, sensor.name, sensor.time, sensor.mount, arrays)


def _values_of(sensor: Sensor) -> dict[str, npt.NDArray[Any]]:
    values = sensor.values()
    return {} if values is None else {"values": values}


def _arrays_of(reading: Any) -> dict[str, npt.NDArray[Any]]:
    if reading is None:
        return {}
    if isinstance(reading, Lidar3dReading):
        fields: Mapping[str, Any] = {**reading._asdict(), "labels": None}
    elif isinstance(reading, CameraReading):
        matrices = {f"K_{name}": matrix for name, matrix in reading.intrinsics.items()}
        places = {f"T_vehicle_{name}": matrix for name, matrix in reading.T_vehicle_camera.items()}
        fields = {"image": reading.image, "depth": reading.depth, **matrices, **places}
    elif isinstance(reading, GnssReading):
        place = [reading.latitude, reading.longitude, reading.altitude]
        fields = {"place": np.array(place), "enu": reading.enu, "covariance": reading.covariance}
    elif isinstance(reading, Reading):
        fields = {"ranges": reading.ranges, "valid": reading.valid, "angles": reading.angles}
    else:
        fields = reading._asdict()
    return {name: value for name, value in fields.items() if isinstance(value, np.ndarray)}


def scan_of(sensor: Sensor, reading: Reading) -> bytes:
    """Returns the bytes of a reading of a 2D lidar, whose rays are centred about the axis of the sensor."""
    angles = reading.angles
    return encode_scan(
        Scan(
            sensor.name,
            reading.time,
            sensor.mount,
            float(angles[-1] - angles[0]),
            sensor.max_range,
            reading.ranges,
            reading.valid,
            sensor.parameters["range_std_noise"],
        )
    )


def encode_observation(observation: Observation) -> bytes:
    arrays = {
        name: np.asarray(array, array.dtype.newbyteorder("<")) for name, array in observation.arrays.items()
    }
    header = json.dumps(
        {
            "class": observation.class_name,
            "sensor": observation.sensor,
            "time": observation.time,
            "pose": list(observation.pose),
            "arrays": [
                {"name": name, "dtype": array.dtype.str, "shape": array.shape}
                for name, array in arrays.items()
            ],
        }
    ).encode()
    return b"".join(
        (_MAGIC, _LENGTH.pack(len(header)), header, *(array.tobytes() for array in arrays.values()))
    )


def decode_observation(data: bytes) -> Observation:
    """Returns the reading of its bytes. The bytes of a 2D lidar have no class: the class is then `laser`.

    Raises:
        FrameError: the bytes are no reading, or damaged.
    """
    if is_mrpt(data):
        scan = decode_scan(data)
        half = scan.aperture / 2
        arrays = {
            "ranges": scan.ranges,
            "valid": scan.valid,
            "angles": np.linspace(-half, half, len(scan.ranges)),
        }
        return Observation("laser", scan.sensor, scan.time, scan.pose, arrays)
    try:
        return _decoded(data)
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError, struct.error) as error:
        raise FrameError(f"found a damaged reading: {error}") from None


def _decoded(data: bytes) -> Observation:
    if not data.startswith(_MAGIC):
        raise FrameError(f"found {data[:4]!r}, expected {_MAGIC!r}: a reading of another program")
    begin = len(_MAGIC) + _LENGTH.size
    end = begin + _LENGTH.unpack_from(data, len(_MAGIC))[0]
    header = json.loads(data[begin:end])
    arrays = {}
    for each in header["arrays"]:
        dtype, shape = np.dtype(each["dtype"]), [int(n) for n in each["shape"]]
        if dtype.kind not in "biuf" or min(shape, default=0) < 0:
            raise FrameError(f"found an array of {dtype} {shape}, expected one of numbers")
        count = int(np.prod(shape, dtype=object)) if shape else 1
        array = np.frombuffer(data, dtype, count, end) if count else np.zeros(0, dtype)
        arrays[str(each["name"])] = array.reshape(shape)
        end += array.nbytes
    pose = Pose(*(float(value) for value in header["pose"]))
    return Observation(str(header["class"]), str(header["sensor"]), float(header["time"]), pose, arrays)
