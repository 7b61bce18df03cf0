"""Bounds on the error of a vehicle's odometry, which follow from its multipliers."""

from __future__ import annotations

import math

from mvsim_gym.part_states import Pose
from mvsim_gym.parts import Vehicle

__all__ = ["OdometryError"]


class OdometryError:
    """Bounds of the error that the multipliers of `<odometry>` have caused since the start. Messages use them as
    standard deviations.

    A displacement ds adds the error of its scale, and the shift by the error of the yaw. A turn adds the error of its
    scale. The bounds grow with the distance and never shrink, as the error of wheel odometry does.
    """

    def __init__(self, vehicle: Vehicle) -> None:
        self._vehicle = vehicle
        self.place = 0.0
        """Bound along x and along y, m."""
        self.yaw = 0.0
        """rad"""
        self._last: Pose | None = None

    def update(self, odometry: Pose) -> None:
        """Adds the motion since the last call; at the first call, the motion from the origin of `odom`."""
        last = Pose(0, 0, 0, 0, 0, 0) if self._last is None else self._last
        self._last = odometry
        way = math.hypot(odometry.x - last.x, odometry.y - last.y)
        turn = abs(math.remainder(odometry.yaw - last.yaw, math.tau))
        if way == turn == 0:
            return
        along_x, along_y, turning = self._vehicle.odometry_multipliers
        self.yaw += _share(turning) * turn
        self.place += (max(_share(along_x), _share(along_y)) + self.yaw) * way

    def forget(self) -> None:
        """Resets the bounds, as the odometry begins anew."""
        self.place, self.yaw, self._last = 0.0, 0.0, None


def _share(multiplier: float) -> float:
    """The error of a multiplier as a share of the measured odometry: true value = measured value / multiplier."""
    return abs(1 - 1 / multiplier) if multiplier else 1.0
