"""Commands of a vehicle: twists of its topic `cmd_vel`, and a stop where none comes any more."""

from __future__ import annotations

import math

from mvsim_gym._notices import notice
from mvsim_gym.parts import Vehicle
from mvsim_gym.ros.messages import STORE
from mvsim_gym.ros.topics import COMMAND

__all__ = ["TIMEOUT", "Commands"]

TIMEOUT = 1.0
"""s of the wall without a command after which a vehicle is told to stop, once"""


class Commands:
    """Drives a vehicle. What it refuses is said once and has no effect."""

    def __init__(self, vehicle: Vehicle) -> None:
        self._vehicle = vehicle
        self._fresh = False
        self._last: float | None = None  # s of the wall; None: it is not being driven

    def receive(self, data: bytes) -> None:
        """Takes an encoded geometry_msgs/Twist: forward speed (linear.x) and turn rate (angular.z) count."""
        try:
            twist = STORE.deserialize_cdr(data, COMMAND.kind)
            vx, omega = float(twist.linear.x), float(twist.angular.z)  # type: ignore[attr-defined]
        except Exception:  # whatever bytes the network has
            self._refuse(f"its bytes are no {COMMAND.kind}")
            return
        try:
            self._vehicle.set_twist(vx, omega)
        except ValueError as error:
            self._refuse(str(error) if math.isfinite(vx + omega) else "a speed is not finite")
            return
        self._fresh = True

    def watch(self, now: float) -> None:
        """Stops the vehicle once when no command has come for a second; called all the time, at `now` s of the wall."""
        if self._fresh:
            self._fresh, self._last = False, now
        elif self._last is not None and now - self._last >= TIMEOUT:
            self._last = None
            self._vehicle.set_twist(0, 0)

    def _refuse(self, why: str) -> None:
        notice([f"ros: a command of '{self._vehicle.name}' has no effect: {why}"])
