"""Driving by keys, with the same keys as in MVSim."""

from __future__ import annotations

import math
from typing import NamedTuple

from mvsim_gym.world import Vehicle, World

_DEGREE = math.pi / 180


class _Keys(NamedTuple):
    """Changes of the parts of a command by keys."""

    forward: tuple[float, ...]
    """change by W; S gives the opposite"""
    left: tuple[float, ...]
    """change by A; D gives the opposite"""
    names: tuple[str, ...]
    kept: tuple[int, ...] = ()
    """parts that the space bar does not change"""


# by the parts of the command; a negative torque drives forward, as in world files
_KEYS = {
    keys.names: keys
    for keys in (
        _Keys((0.1, 0), (0, 2 * _DEGREE), ("vx", "omega")),
        _Keys((0.1, 0), (0, _DEGREE), ("vx", "steer"), kept=(1,)),
        _Keys((-0.05, -0.05), (0.05, -0.05), ("left_torque", "right_torque")),
        _Keys((-1, -1, 0), (0, 0, _DEGREE), ("left_torque", "right_torque", "steer"), kept=(2,)),
        _Keys((-1, 0), (0, _DEGREE), ("torque", "steer"), kept=(1,)),
        _Keys((0.1, 0, 0), (0, 0, _DEGREE), ("throttle", "brake", "steer"), kept=(2,)),
    )
}
_CAR_TURNS = (0, _DEGREE)  # change of the steering for twist_front_steer_pid
_MAX_STEER = "/dynamics/max_steer_ang_deg"
_LIMITS = {"throttle": 1.0, "brake": 1.0}
HELP = "1-9 vehicle, w/s faster/slower, a/d left/right, space stop, l/c/n log, esc end"


class Teleop:
    """Keys that drive the vehicles of a world, one vehicle at a time."""

    def __init__(self, world: World) -> None:
        self._vehicles = [world.vehicles[name] for name in sorted(world.vehicles)]
        self._max_steer = {
            path: value * _DEGREE for path, value, *_ in world.model.parameters if path.endswith(_MAX_STEER)
        }
        self._commands = [[0.0] * len(v.command_names) for v in self._vehicles]
        self._selected = 0

    @property
    def selected(self) -> Vehicle | None:
        """The selected vehicle, which keys drive; None in a world without vehicles."""
        return self._vehicles[self._selected] if self._vehicles else None

    @property
    def number(self) -> tuple[int, int]:
        """Number of the selected vehicle in the order of names, from 1, and the count of vehicles."""
        return self._selected + 1 if self._vehicles else 0, len(self._vehicles)

    @property
    def command(self) -> dict[str, float]:
        """The command that keys gave to the selected vehicle."""
        if self.selected is None:
            return {}
        return dict(zip(self.selected.command_names, self._commands[self._selected], strict=True))

    def forget(self) -> None:
        """Resets all commands, after a reset of the world."""
        self._commands = [[0.0] * len(command) for command in self._commands]

    def select(self, vehicle: str) -> None:
        names = [one.name for one in self._vehicles]
        if vehicle in names:
            self._selected = names.index(vehicle)

    def press(self, key: str) -> bool:
        """Carries out a key; returns False if the key has no meaning here."""
        key = key.lower()
        if key.isdigit() and key != "0":
            if int(key) > len(self._vehicles):
                return False
            self._selected = int(key) - 1
            return True
        if self.selected is None or key not in ("w", "s", "a", "d", " "):
            return False
        keys = _KEYS.get(self.selected.command_names)
        if keys is None:
            return False
        self._drive(self.selected, keys, key)
        return True

    def _drive(self, vehicle: Vehicle, keys: _Keys, key: str) -> None:
        command = self._commands[self._selected]
        if key == " ":
            command = [value if i in keys.kept else 0.0 for i, value in enumerate(command)]
        else:
            left = _CAR_TURNS if vehicle.controller == "twist_front_steer_pid" else keys.left
            deltas = keys.forward if key in "ws" else left
            sign = 1 if key in "wa" else -1
            # rounds sums of tenths, so that they return to exactly zero
            command = [round(value + sign * delta, 12) for value, delta in zip(command, deltas, strict=True)]
        self._set(vehicle, command)

    def set_command(self, *values: float) -> None:
        """Commands the selected vehicle, within its limits."""
        if self.selected is not None:
            self._set(self.selected, list(values))

    def _set(self, vehicle: Vehicle, command: list[float]) -> None:
        limits = {**_LIMITS, "steer": self._max_steer.get(f"vehicle:{vehicle.name}{_MAX_STEER}", math.inf)}
        for i, name in enumerate(vehicle.command_names):
            if name in limits:
                command[i] = min(max(command[i], -limits[name]), limits[name])
        self._commands[self._selected] = command
        vehicle.set_command(*command)
