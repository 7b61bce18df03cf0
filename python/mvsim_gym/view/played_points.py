"""Points of a recording in the world frame: points of lidars, ropes and hitches, arrows of forces."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from mvsim_gym import _core
from mvsim_gym._drawing import arrows_of

Poses = npt.NDArray[np.float32]
_ABOVE = 0.01  # m, height of ropes above the bodies that they hold
_LIFT = 0.02  # m, height of arrows above their chassis


def placed(points: npt.NDArray[np.float64], pose: Poses) -> npt.NDArray[np.float32]:
    """Transforms points (n, 3) from a frame to the world; its pose is x, y, z and the quaternion w, x, y, z."""
    w, axis = float(pose[3]), pose[4:7].astype(np.float64)
    twice = 2 * np.cross(axis, points)
    return (points + w * twice + np.cross(axis, twice) + pose[:3]).astype(np.float32)


def _scanned(scan: Any) -> npt.NDArray[np.float64]:
    ranges = np.asarray(scan.ranges, np.float64)
    angles = scan.angle_min + scan.angle_increment * np.arange(len(ranges))
    hit = np.isfinite(ranges) & (ranges < scan.range_max)
    ranges, angles = ranges[hit], angles[hit]
    return np.stack([ranges * np.cos(angles), ranges * np.sin(angles), 0 * ranges], axis=1)


def _cloud(message: Any) -> npt.NDArray[np.float64]:
    kinds = {4: "<u2", 7: "<f4"}  # by type number of sensor_msgs/PointField
    dtype = np.dtype(
        {
            "names": [field.name for field in message.fields],
            "formats": [kinds[field.datatype] for field in message.fields],
            "offsets": [field.offset for field in message.fields],
            "itemsize": message.point_step,
        }
    )
    cloud = np.frombuffer(np.asarray(message.data).tobytes(), dtype)
    return np.stack([cloud[axis].astype(np.float64) for axis in "xyz"], axis=1)


READERS: dict[str, Callable[[Any], npt.NDArray[np.float64]]] = {"scan": _scanned, "rings": _cloud}
"""Functions that return the points (n, 3) of a message in the sensor's frame, by the form of the sensor's readings."""
SUFFIXES = {"rings": "_points"}
"""Suffixes that topics add to the sensor's name, by the form of the sensor's readings."""


def joints_of(model: _core.Model, poses: Poses) -> npt.NDArray[np.float32]:
    """Returns both ends of ropes and hitches, (2 n, 3) m, above the bodies that they hold, as in a running world.

    Args:
        poses: (frames, 8).
    """
    ends = []
    for tie in _core.scene_ties(model):
        pair = []
        for frame, x, y, _ in tie:
            _, _, _, w, i, j, k, _ = poses[frame].astype(np.float64)
            yaw = np.arctan2(2 * (w * k + i * j), 1 - 2 * (j * j + k * k))  # joints are planar
            c, s = np.cos(yaw), np.sin(yaw)
            pair.append([poses[frame, 0] + c * x - s * y, poses[frame, 1] + s * x + c * y])
        z = _ABOVE + max(poses[frame, 2] + top for frame, _, _, top in tie)
        ends += [[*place, z] for place in pair]
    return np.array(ends, np.float32).reshape(-1, 3)


def forces_of(model: _core.Model, poses: Poses, wheels: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Returns arrows (n, 2, 3) of the friction of wheels, above their vehicles.

    Args:
        poses: (frames, 8).
        wheels: (wheels of all vehicles, 3), friction along x and y of the vehicle and load, N.
    """
    frames = [frame for kind, _, frame in _core.scene_movers(model) if kind == "vehicle"]
    found, first = [], 0
    for vehicle, frame in zip(model.vehicles, frames, strict=True):
        own = wheels[first : first + len(vehicle.wheels)]
        first += len(vehicle.wheels)
        lift = np.array([0, 0, vehicle.z_max + _LIFT])
        found += [
            placed(ends, poses[frame]) + lift for ends in arrows_of(vehicle.outline, vehicle.wheels, own)
        ]
    return np.array(found, np.float64).reshape(-1, 2, 3)
