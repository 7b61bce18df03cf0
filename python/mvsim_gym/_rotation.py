"""Attitudes as quaternions and as angles."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

__all__ = ["angles_of", "quaternion_of"]


def quaternion_of(yaw: float, pitch: float, roll: float) -> tuple[float, float, float, float]:
    """x, y, z, w of R = Rz(yaw) Ry(pitch) Rx(roll), rad."""
    cy, cp, cr = (math.cos(angle / 2) for angle in (yaw, pitch, roll))
    sy, sp, sr = (math.sin(angle / 2) for angle in (yaw, pitch, roll))
    return (
        cy * cp * sr - sy * sp * cr,
        cy * sp * cr + sy * cp * sr,
        sy * cp * cr - cy * sp * sr,
        cy * cp * cr + sy * sp * sr,
    )


def angles_of(rotation: npt.NDArray[np.float64]) -> tuple[float, float, float]:
    """yaw, pitch, roll of R = Rz(yaw) Ry(pitch) Rx(roll), (3, 3); looking straight up or down, the yaw is 0."""
    r = rotation
    pitch = math.atan2(-r[2, 0], math.hypot(r[0, 0], r[1, 0]))
    if math.hypot(r[0, 0], r[1, 0]) < 1e-9:
        return 0.0, pitch, math.atan2(-r[1, 2], r[1, 1])
    return math.atan2(r[1, 0], r[0, 0]), pitch, math.atan2(r[2, 1], r[2, 2])
