"""Driving by keys or by a gamepad, with the same keys, axes and buttons as in MVSim."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, Protocol

from mvsim_gym._notices import extra
from mvsim_gym.world import Vehicle, World

_DEGREE = math.pi / 180


class _Keys(NamedTuple):
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
        if self.selected is not None:
            self._set(self.selected, list(values))

    def _set(self, vehicle: Vehicle, command: list[float]) -> None:
        limits = {**_LIMITS, "steer": self._max_steer.get(f"vehicle:{vehicle.name}{_MAX_STEER}", math.inf)}
        for i, name in enumerate(vehicle.command_names):
            if name in limits:
                command[i] = min(max(command[i], -limits[name]), limits[name])
        self._commands[self._selected] = command
        vehicle.set_command(*command)


_PERIOD = 0.01  # s of wall time between polls
_GROWTH = 1.01  # factor of a limit for each poll with the button pressed
_LEAST, _MOST = 1e-2, 1e2  # bounds of the limits
_MAX_SPEED = 1.0  # m/s, initial limit
_MAX_TURN = {"differential": 0.5}  # rad/s, initial limit by dynamics
_MAX_TURN_OF_CARS = 0.7  # rad/s or rad of steering, initial limit
_SPEED_AXIS, _TURN_AXIS, _LEAST_AXES = 1, 0, 2
_BRAKE, _SLOWER_TURN, _FASTER_TURN, _SLOWER, _FASTER = 3, 6, 4, 7, 5  # buttons
_LEAST_BUTTONS = 8
_COMMANDS = (("vx", "omega"), ("vx", "steer"))  # commands that a gamepad can give


class Device(Protocol):
    """The part of `pygame.joystick.Joystick` that is used."""

    def get_numaxes(self) -> int:
        """Number of axes."""

    def get_axis(self, axis_number: int, /) -> float:
        """Position of an axis, from -1 to 1."""

    def get_numbuttons(self) -> int:
        """Number of buttons."""

    def get_button(self, button: int, /) -> bool:
        """Whether a button is pressed."""


class Gamepad:
    """A device that commands the selected vehicle a hundred times a second. It overrides other commands.

    Args:
        device: read by `poll`.
        say: called with messages for the user.
        present: whether the device is still connected; called at each poll.
    """

    def __init__(
        self,
        teleop: Teleop,
        device: Device,
        say: Callable[[str], None],
        present: Callable[[], bool] = lambda: True,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._teleop, self._device, self._say, self._present, self._now = teleop, device, say, present, now
        self._due = now()
        self._has_buttons = device.get_numbuttons() >= _LEAST_BUTTONS
        self._gone = device.get_numaxes() < _LEAST_AXES
        self._refused: set[str] = set()
        self.max_speed = _MAX_SPEED
        """Speed at full deflection of the stick, m/s."""
        self.turn_factor = 1.0
        """Factor of the turn rate or the steering at full deflection of the stick."""
        if self._gone:
            say(f"gamepad: found {device.get_numaxes()} axes, expected 2 or more: it is not used")

    def poll(self) -> None:
        """Reads the device if it is time, and commands the selected vehicle."""
        if self._gone or self._now() < self._due:
            return
        self._due = self._now() + _PERIOD
        if not self._present():
            self._gone = True
            self._command(0.0, 0.0)
            self._say("gamepad: it was disconnected, the vehicle stops")
            return
        self._change_limits()
        if self._pressed(_BRAKE):
            self._command(0.0, 0.0)
        else:
            self._command(-self._device.get_axis(_SPEED_AXIS), -self._device.get_axis(_TURN_AXIS))

    def _command(self, forward: float, left: float) -> None:
        """Commands the vehicle; both arguments are from -1 to 1."""
        vehicle = self._teleop.selected
        if vehicle is None:
            return
        if vehicle.command_names not in _COMMANDS:
            if vehicle.name not in self._refused:
                self._refused.add(vehicle.name)
                self._say(
                    f"gamepad: it does not drive '{vehicle.name}', whose controller {vehicle.controller} takes"
                    f" {', '.join(vehicle.command_names)}"
                )
            return
        most = self.turn_factor * _MAX_TURN.get(vehicle.dynamics, _MAX_TURN_OF_CARS)
        self._teleop.set_command(self.max_speed * forward + 0.0, most * left + 0.0)  # no -0

    def _change_limits(self) -> None:
        for more, less, name in (
            (_FASTER, _SLOWER, "max_speed"),
            (_FASTER_TURN, _SLOWER_TURN, "turn_factor"),
        ):
            factor = _GROWTH ** (self._pressed(more) - self._pressed(less))
            setattr(self, name, min(max(getattr(self, name) * factor, _LEAST), _MOST))

    def _pressed(self, button: int) -> bool:
        return self._has_buttons and bool(self._device.get_button(button))


@contextmanager
def first_device(say: Callable[[str], None]) -> Iterator[tuple[Device, Callable[[], bool]] | None]:
    """Yields the first gamepad of this machine, and a function that tells whether it is still connected. Without a
    gamepad it yields None, after a warning.

    Raises:
        ImportError: the extra `joystick` is missing.
    """
    # pygame must not open a window or take Ctrl-C
    os.environ |= {
        "PYGAME_HIDE_SUPPORT_PROMPT": "1",
        "SDL_VIDEODRIVER": "dummy",
        "SDL_JOYSTICK_ALLOW_BACKGROUND_EVENTS": "1",
        "SDL_NO_SIGNAL_HANDLERS": "1",
    }
    with extra("--joystick", "joystick"):
        import pygame
    pygame.display.init()
    pygame.joystick.init()
    try:
        if not pygame.joystick.get_count():
            say("no gamepad is connected: --joystick has no effect")
            yield None
            return
        device: Any = pygame.joystick.Joystick(0)
        number = device.get_instance_id()
        gone: list[Any] = []
        say(f"gamepad: {device.get_name()}")

        def present() -> bool:
            removed = pygame.event.get(pygame.JOYDEVICEREMOVED)  # this call also updates all devices
            gone.extend(event for event in removed if event.instance_id == number)
            return not gone

        yield device, present
    finally:
        pygame.joystick.quit()
        pygame.display.quit()
