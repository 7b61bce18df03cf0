"""How far the odometry of a vehicle may be from the truth, by its multipliers."""

from __future__ import annotations

import math

from mvsim_gym.part_states import Pose
from mvsim_gym.parts import Vehicle

__all__ = ["OdometryError"]


class OdometryError:
    """Bounds of the error that the multipliers of `<odometry>` have made since the start, used as standard deviations.

    A way of ds adds the error of its scale and what the error of the yaw shifts it by; a turn adds the error of its
    scale. The bounds grow with the way and never shrink, as those of a real odometry do.
    """

    def __init__(self, vehicle: Vehicle) -> None:
        self._vehicle = vehicle
        self.place = 0.0
        """m, along x and along y"""
        self.yaw = 0.0
        """rad"""
        self._last: Pose | None = None

    def update(self, odometry: Pose) -> None:
        """Adds the way since the last call; of the first call, that from the origin of `odom`."""
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
        """The odometry begins anew."""
        self.place, self.yaw, self._last = 0.0, 0.0, None


def _share(multiplier: float) -> float:
    """The error of a multiplier, as a share of what the odometry says: the truth is that divided by it."""
    return abs(1 - 1 / multiplier) if multiplier else 1.0
