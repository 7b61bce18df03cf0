"""Attitudes as quaternions."""

from __future__ import annotations

import math

__all__ = ["quaternion_of"]


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
