"""Commands of a vehicle: twists of the topic `cmd_vel` and drives of a car's `ackermann_cmd`. The vehicle stops if
commands cease."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from mvsim_gym._notices import notice
from mvsim_gym.parts import Vehicle
from mvsim_gym.ros.messages import STORE
from mvsim_gym.ros.topics import ACKERMANN_COMMAND, COMMAND, STAMPED_COMMAND, Topic

TIMEOUT = 1.0
"""Wall time without a command after which a vehicle is stopped, once; s."""


class Commands:
    """Drives a vehicle by messages. A notice, given once, tells of commands that are refused or clipped.

    If the controller takes a speed and a steering angle, a twist is converted to the angle atan(wheelbase * omega / v).
    If it takes twists, a steering angle is converted to the turn rate v * tan(angle) / wheelbase. This is the bicycle
    model.
    """

    def __init__(self, vehicle: Vehicle) -> None:
        self._vehicle = vehicle
        self._fresh = False
        self._last: float | None = None  # s of wall time, of the last command; None: none since the last stop
        self._steer = 0.0  # rad, of the last command to a controller that takes an angle

    @property
    def topics(self) -> list[tuple[Topic, Callable[[bytes], None]]]:
        """The topics of commands, without a prefix, and the function that takes the encoded messages of each."""
        taken: list[tuple[Topic, Callable[[bytes], None]]] = [
            (COMMAND, self.receive),
            (STAMPED_COMMAND, self.receive_stamped),
        ]
        if self._vehicle.max_steer is not None:
            taken.append((ACKERMANN_COMMAND, self.receive_ackermann))
        return taken

    def receive(self, data: bytes) -> None:
        """Takes an encoded geometry_msgs/Twist; uses the forward speed (linear.x) and the turn rate (angular.z)."""
        self._take(data, COMMAND.kind, lambda twist: self._drive(twist.linear.x, twist.angular.z))

    def receive_stamped(self, data: bytes) -> None:
        """Takes an encoded geometry_msgs/TwistStamped; ignores its stamp and its frame."""
        self._take(data, STAMPED_COMMAND.kind, lambda m: self._drive(m.twist.linear.x, m.twist.angular.z))

    def receive_ackermann(self, data: bytes) -> None:
        """Takes an encoded ackermann_msgs/AckermannDriveStamped of a car; uses its speed and steering angle."""
        self._take(
            data, ACKERMANN_COMMAND.kind, lambda m: self._drive_car(m.drive.speed, m.drive.steering_angle)
        )

    def watch(self, now: float) -> None:
        """Stops the vehicle once if no command has come for a second. To be called often, at `now` s of wall time."""
        if self._fresh:
            self._fresh, self._last = False, now
        elif self._last is not None and now - self._last >= TIMEOUT:
            self._last = None
            if self._takes_steer:
                self._vehicle.set_command(0, self._steer)
            else:
                self._vehicle.set_twist(0, 0)

    def _take(self, data: bytes, kind: str, drive: Callable[[Any], None]) -> None:
        try:
            message = STORE.deserialize_cdr(data, kind)
        except Exception:  # the network may deliver any bytes
            self._refuse(f"its bytes are no {kind}")
            return
        try:
            drive(message)
        except ValueError as error:
            self._refuse(str(error))
            return
        self._fresh = True

    def _drive(self, vx: float, omega: float) -> None:
        _check_finite(vx, omega)
        if not self._takes_steer:
            most_vx, most_omega = self._vehicle.fastest
            self._tell_limits("vx", vx, "m/s")
            self._tell_limits("omega", omega, "rad/s")
            self._vehicle.set_twist(
                self._clipped(vx, most_vx, "m/s"), self._clipped(omega, most_omega, "rad/s")
            )
            return
        turn = self._wheelbase * omega * (-1 if vx < 0 else 1)
        self._steer_to(vx, math.atan2(turn, abs(vx)) if turn else 0.0)

    def _drive_car(self, speed: float, steer: float) -> None:
        _check_finite(speed, steer)
        most = self._vehicle.max_steer
        assert most is not None
        steer = self._clipped(steer, most, "rad of steering")
        if self._takes_steer:
            self._steer_to(speed, steer)
        else:
            speed = self._clipped(speed, self._vehicle.fastest[0], "m/s")
            self._drive(speed, speed * math.tan(steer) / self._wheelbase)

    def _steer_to(self, speed: float, steer: float) -> None:
        most = self._vehicle.max_steer
        assert most is not None
        self._steer = min(max(steer, -most), most)
        self._tell_limits("vx", speed, "m/s")
        self._vehicle.set_command(self._clipped(speed, self._vehicle.fastest[0], "m/s"), self._steer)

    @property
    def _takes_steer(self) -> bool:
        return self._vehicle.command_names == ("vx", "steer")

    @property
    def _wheelbase(self) -> float:
        assert self._vehicle.wheelbase is not None
        return self._vehicle.wheelbase

    def _clipped(self, value: float, most: float, unit: str) -> float:
        if abs(value) <= most:
            return value
        notice([f"ros: a command of '{self._vehicle.name}' beyond {most:.4g} {unit} is clipped to that"])
        return math.copysign(most, value)

    def _tell_limits(self, name: str, value: float, unit: str) -> None:
        """Gives a notice of a value that `<limits>` of the vehicle will cut."""
        low, high = self._vehicle.command_limits(name)
        if not low <= value <= high:
            notice(
                [
                    f"ros: a command of '{self._vehicle.name}' beyond its <limits>, {low:.4g} to {high:.4g} {unit}, is"
                    " cut to them"
                ]
            )

    def _refuse(self, why: str) -> None:
        notice([f"ros: a command of '{self._vehicle.name}' has no effect: {why}"])


def commanded_twist(vehicle: Vehicle) -> tuple[float, float] | None:
    """Commanded speed (m/s) and turn rate (rad/s) of a vehicle; None if its controller takes neither a twist nor a
    steering angle with a speed."""
    match vehicle.command_names:
        case ("vx", "omega"):
            vx, omega = vehicle.command
            return vx, omega
        case ("vx", "steer"):
            vx, steer = vehicle.command
            assert vehicle.wheelbase is not None
            return vx, vx * math.tan(steer) / vehicle.wheelbase
    return None


def commanded_drive(vehicle: Vehicle) -> tuple[float, float] | None:
    """Commanded speed (m/s) and steering angle (rad) of a car; None for other vehicles, or as in `commanded_twist`."""
    twist, wheelbase = commanded_twist(vehicle), vehicle.wheelbase
    if twist is None or wheelbase is None:
        return None
    if vehicle.command_names == ("vx", "steer"):
        speed, steer = vehicle.command
        return speed, steer
    vx, omega = twist
    turn = wheelbase * omega * (-1 if vx < 0 else 1)
    return vx, math.atan2(turn, abs(vx)) if turn else 0.0


def _check_finite(*values: float) -> None:
    if not all(map(math.isfinite, values)):
        raise ValueError("a value is not finite")
