"""Readings of 2D lidars as the bytes of MRPT's class CObservation2DRangeScan, which MVSim's clients read.

An object of MRPT is the length of its class's name (a byte, its highest bit set), the name, the version of the layout
(a byte), the fields, little-endian, and the byte 0x88. The scan has version 7, which all of MRPT 2 reads. Its fields
are: aperture (float32, rad), whether rays go to the left (byte), largest range (float32, m), pose of the sensor (an
object CPose3D of version 2: x, y, z and a quaternion w, x, y, z, float64), count of rays (uint32), ranges (float32),
whether each is valid (bytes), standard deviation of ranges (float32, m), time (uint64, units of 100 ns since the year
1601), aperture of a ray (float32, rad), name of the sensor (uint32 length, bytes), change of pitch (float64, rad),
whether there are intensities (byte).
"""

from __future__ import annotations

import struct
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from mvsim_gym._rotation import quaternion_of
from mvsim_gym.comms.errors import FrameError
from mvsim_gym.parts import Pose

_SCAN, _SCAN_VERSION = b"mrpt::obs::CObservation2DRangeScan", 7
_POSE, _POSE_VERSION = b"mrpt::poses::CPose3D", 2
_END = b"\x88"
_BEGIN = struct.Struct("<f?f")  # aperture, to the left, largest range
_PLACE = struct.Struct("<7d")
_MIDDLE = struct.Struct("<fQf")  # deviation, time, aperture of a ray
_REST = struct.Struct("<d?")  # change of pitch, intensities
_COUNT = struct.Struct("<I")
_EPOCH = 116_444_736_000_000_000  # the Unix epoch in units of 100 ns since 1601
_RAY = np.deg2rad(0.25)  # rad, MRPT's default aperture of a ray


class Scan(NamedTuple):
    """A scan from right to left."""

    sensor: str
    """its name"""
    time: float
    """s"""
    pose: Pose
    """pose of the sensor on its vehicle"""
    aperture: float
    """angle from the first ray to the last, rad"""
    max_range: float
    """m"""
    ranges: npt.NDArray[np.float32]
    """m"""
    valid: npt.NDArray[np.bool_]
    deviation: float
    """standard deviation of the noise of ranges, m"""


def encode_scan(scan: Scan) -> bytes:
    p = scan.pose
    x, y, z, w = quaternion_of(p.yaw, p.pitch, p.roll)
    label = scan.sensor.encode()
    return b"".join(
        (
            _head(_SCAN, _SCAN_VERSION),
            _BEGIN.pack(scan.aperture, True, scan.max_range),
            _head(_POSE, _POSE_VERSION),
            _PLACE.pack(p.x, p.y, p.z, w, x, y, z),
            _END,
            _COUNT.pack(len(scan.ranges)),
            np.asarray(scan.ranges, "<f4").tobytes(),
            np.asarray(scan.valid, np.uint8).tobytes(),
            _MIDDLE.pack(scan.deviation, round(scan.time * 1e7) + _EPOCH, _RAY),
            _COUNT.pack(len(label)),
            label,
            _REST.pack(0.0, False),
            _END,
        )
    )


def is_mrpt(data: bytes) -> bool:
    """Whether the bytes begin as a scan of any version."""
    return data.startswith(_head(_SCAN, 0)[:-1])


def decode_scan(data: bytes) -> Scan:
    """Returns the scan of its bytes, which have the version that `encode_scan` writes and no intensities.

    Raises:
        FrameError: the bytes are no such scan, or damaged.
    """
    try:
        return _decoded(data)
    except (struct.error, ValueError) as error:
        raise FrameError(f"found a damaged scan: {error}") from None


def _decoded(data: bytes) -> Scan:
    at = _end_after(data, 0, _head(_SCAN, _SCAN_VERSION))
    aperture, is_to_left, max_range = _BEGIN.unpack_from(data, at)
    at = _end_after(data, at + _BEGIN.size, _head(_POSE, _POSE_VERSION))
    x, y, z, *turn = _PLACE.unpack_from(data, at)
    at = _end_after(data, at + _PLACE.size, _END)
    (count,) = _COUNT.unpack_from(data, at)
    at += _COUNT.size
    ranges = np.frombuffer(data, "<f4", count, at) if count else np.zeros(0, "<f4")
    valid = np.frombuffer(data, np.uint8, count, at + 4 * count) if count else np.zeros(0, np.uint8)
    at += 5 * count
    deviation, time, _ = _MIDDLE.unpack_from(data, at)
    (length,) = _COUNT.unpack_from(data, at + _MIDDLE.size)
    at += _MIDDLE.size + _COUNT.size
    label, at = data[at : at + length].decode(), at + length
    _, has_intensities = _REST.unpack_from(data, at)
    if not is_to_left or has_intensities:
        raise FrameError("found a scan to the right or with intensities, expected one to the left without")
    if _end_after(data, at + _REST.size, _END) != len(data):
        raise FrameError("found bytes behind a scan, expected none")
    pose = Pose(x, y, z, *_angles(*turn))
    return Scan(label, (time - _EPOCH) / 1e7, pose, aperture, max_range, ranges, valid != 0, deviation)


def _head(name: bytes, version: int) -> bytes:
    return bytes([0x80 | len(name)]) + name + bytes([version])


def _end_after(data: bytes, at: int, expected: bytes) -> int:
    if data[at : at + len(expected)] != expected:
        raise FrameError(f"found {data[at : at + len(expected)]!r} in a scan, expected {expected!r}")
    return at + len(expected)


def _angles(w: float, x: float, y: float, z: float) -> tuple[float, float, float]:
    sine = np.clip(2 * (w * y - x * z), -1, 1)
    yaw = np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))
    roll = np.arctan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y))
    return float(yaw), float(np.arcsin(sine)), float(roll)
