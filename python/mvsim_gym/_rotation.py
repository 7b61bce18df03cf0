"""Conversions between quaternions, Euler angles and rotation matrices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt


def quaternion_of(yaw: float, pitch: float, roll: float) -> tuple[float, float, float, float]:
    """Returns the quaternion x, y, z, w of R = Rz(yaw) Ry(pitch) Rx(roll); angles in rad."""
    cy, cp, cr = (math.cos(angle / 2) for angle in (yaw, pitch, roll))
    sy, sp, sr = (math.sin(angle / 2) for angle in (yaw, pitch, roll))
    return (
        cy * cp * sr - sy * sp * cr,
        cy * sp * cr + sy * cp * sr,
        sy * cp * cr - cy * sp * sr,
        cy * cp * cr + sy * sp * sr,
    )


def yaw_of(q: Any) -> float:
    """Returns the yaw, rad, of a quaternion with the attributes x, y, z and w, as of ROS 2."""
    return math.atan2(2 * (q.w * q.z + q.x * q.y), 1 - 2 * (q.y * q.y + q.z * q.z))


def rotation_of(yaw: float, pitch: float, roll: float) -> npt.NDArray[np.float64]:
    """Returns R = Rz(yaw) Ry(pitch) Rx(roll), (3, 3); angles in rad."""
    (cy, cp, cr), (sy, sp, sr) = np.cos([yaw, pitch, roll]), np.sin([yaw, pitch, roll])
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


def moved(points: npt.NDArray[np.float64], pose: Sequence[float]) -> npt.NDArray[np.float64]:
    """Transforms points (n, 3) from a frame to its parent frame. `pose` is the frame's pose in the parent (x, y, z,
    yaw, pitch, roll)."""
    yaw, pitch, roll = pose[3:]
    return points @ rotation_of(yaw, pitch, roll).T + np.array(pose[:3])


def angles_of(rotation: npt.NDArray[np.float64]) -> tuple[float, float, float]:
    """Returns yaw, pitch and roll, rad, of R = Rz(yaw) Ry(pitch) Rx(roll), (3, 3). The yaw is 0 if the x axis points
    straight up or down."""
    r = rotation
    pitch = math.atan2(-r[2, 0], math.hypot(r[0, 0], r[1, 0]))
    if math.hypot(r[0, 0], r[1, 0]) < 1e-9:
        return 0.0, pitch, math.atan2(-r[1, 2], r[1, 1])
    return math.atan2(r[1, 0], r[0, 0]), pitch, math.atan2(r[2, 1], r[2, 2])
