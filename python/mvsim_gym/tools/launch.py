"""Worlds in real time, driven from the terminal and from browsers: `mvsim-gym launch` and `mvsim-gym view`."""

from __future__ import annotations

import math
import os
import select
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TextIO
from urllib.parse import quote

from mvsim_gym._notices import printable
from mvsim_gym._rotation import quaternion_of
from mvsim_gym.parts import Vehicle
from mvsim_gym.tools.teleop import HELP, Device, Gamepad, Teleop, first_device
from mvsim_gym.tools.terminal import control, ended_by_signals, hear_ctrl_c
from mvsim_gym.world import World

if TYPE_CHECKING:
    from mvsim_gym.comms import WorldNode
    from mvsim_gym.view.world_view import WorldView

_SLICE = 0.02  # s of simulated time between checks for keys, and between rows of ground truth
_MOST_LAG = 1.0  # s of wall time that the world catches up at most
_STATUS_EVERY = 0.5  # s of wall time between status lines
_ESCAPE = "\x1b"
_ARROWS = {"[A": "w", "[B": "s", "[C": "d", "[D": "a"}


class Node(Protocol):
    """A node that publishes a world and carries out requests."""

    @property
    def is_ended(self) -> bool:
        """Whether a request asked for the end."""

    def update(self) -> None:
        """To be called after each step, and every few ms while the world is paused."""


class Clock:
    """Computes how far a world has to be stepped to keep up with wall time."""

    def __init__(self, factor: float, now: Callable[[], float] = time.monotonic) -> None:
        self._factor, self._now = factor, now
        self._began = now()
        self.dropped = 0.0
        """Wall time that was too much to catch up, s."""

    def lag(self, simulated: float) -> float:
        """The time that is due, s, at the simulated time `simulated`. A lag above 1 s of wall time is dropped."""
        due = self._factor * (self._now() - self._began) - simulated
        excess = due / self._factor - _MOST_LAG
        if excess > 0:
            self._began += excess
            self.dropped += excess
            due -= self._factor * excess
        return due

    def restart(self, simulated: float, factor: float) -> None:
        """Restarts at the simulated time `simulated`, where no time is due, with another factor."""
        self._factor = factor
        self._began = self._now() - simulated / factor


class _GroundTruth:
    """Trajectories in TUM's format, one file a vehicle: time x y z qx qy qz qw, at most 50 rows a simulated second."""

    def __init__(self, world: World, folder: str, stack: ExitStack) -> None:
        self._began = time.time() - world.time
        self._written = -math.inf
        self._files = []
        for vehicle in world.vehicles.values():
            path = os.path.join(folder, f"ground_truth.{quote(vehicle.name, safe='')}.txt")
            file = open(path, "w", encoding="utf-8")  # noqa: SIM115 (closed by the stack)
            self._files.append((vehicle, stack.enter_context(file)))

    def write(self, world: World) -> None:
        """Writes a row for each vehicle if it is time."""
        if world.time - self._written < 0.999 * _SLICE:
            return
        self._written = world.time
        for vehicle, file in self._files:
            pose = vehicle.pose
            row = (self._began + world.time, *pose[:3], *quaternion_of(pose.yaw, pose.pitch, pose.roll))
            print(" ".join(f"{value:.6f}" for value in row), file=file)


def launch(
    path: str,
    *,
    factor: float = 1.0,
    duration: float | None = None,
    outputs: str | None = None,
    record: str | None = None,
    keys: TextIO | None = None,
    hub: tuple[str, int] | None = None,
    topics: Mapping[str, Any] | None = None,
    nodes: Sequence[Callable[[World, TextIO], AbstractContextManager[Node]]] = (),
    view: tuple[str, int] | None = None,
    doors: Mapping[str, Any] | None = None,
    joystick: bool = False,
    say: TextIO | None = None,
    **loading: Any,
) -> float:
    """Simulates a world until `duration` is over, or Ctrl-C, SIGTERM or the key ESC ends it. Files are then complete.

    Args:
        path: the world file.
        factor: simulated seconds for each second of wall time.
        duration: simulated seconds; None: no limit.
        outputs: a folder for CSV files and ground truth, made if it is missing; None: they are not written.
        record: an MCAP file; a relative name is below `outputs` if that is given.
        keys: a terminal whose keys drive.
        hub: address and port of a hub that is started, with the world as its node; None: no hub.
        topics: the keywords `relative` and `rename` of `WorldNode`.
        nodes: functions that make further nodes of the world and `say`.
        view: address and port of a view, in which browsers show the world and drive.
        doors: further keywords of `World.view`, which control the access.
        joystick: whether a gamepad drives.
        say: stream for status and messages, by default standard error. On a terminal the status line is rewritten.
        loading: further keywords of `World`.

    Returns:
        Simulated time, s.
    """
    say = sys.stderr if say is None else say
    for name, value in (("--realtime-factor", factor), ("--duration", duration)):
        if value is not None and not (math.isfinite(value) and value > 0):
            raise ValueError(f"{name}: found {value:g}, expected a number above 0")
    hear_ctrl_c()
    world = World(path, log_dir=outputs, **loading)
    with ExitStack() as stack:
        ended = stack.enter_context(ended_by_signals(partial(_line, say, ends=True)))
        truth = None
        if outputs is not None:
            os.makedirs(outputs, exist_ok=True)
            truth = _GroundTruth(world, outputs, stack)
        if record is not None:
            stack.enter_context(world.record(record if outputs is None else os.path.join(outputs, record)))
        seen = None if view is None else stack.enter_context(world.view(*view, **(doors or {})))
        if seen is not None:
            seen.controls.begin(factor)
            _line(say, f"view: {seen.url}", ends=True)
        pressed = stack.enter_context(_keys_of(keys)) if keys is not None else lambda: ""
        device = stack.enter_context(first_device(partial(_line, say, ends=True))) if joystick else None
        running = [stack.enter_context(node(world, say)) for node in nodes]
        if hub is not None:
            running += stack.enter_context(_serving(world, *hub, topics or {}, say))
        until = math.inf if duration is None else duration
        _run(world, factor, until, truth, running, ended, pressed, seen, device, say)
    return world.time


def _run(
    world: World,
    factor: float,
    duration: float,
    truth: _GroundTruth | None,
    nodes: Sequence[Node],
    ended: Callable[[], bool],
    pressed: Callable[[], str],
    view: WorldView | None,
    device: tuple[Device, Callable[[], bool]] | None,
    say: TextIO,
) -> None:
    teleop, clock = Teleop(world), Clock(factor)
    pad = None if device is None else Gamepad(teleop, device[0], partial(_line, say, ends=True), device[1])
    pace = _Pace(clock, factor, view)
    began = shown = time.monotonic()
    dt = world.timestep
    slice_steps = max(1, round(_SLICE / dt))
    steps, dropped = 0, 0.0
    last = sys.maxsize if math.isinf(duration) else round(duration / dt)
    while steps < last and not ended() and not any(node.is_ended for node in nodes):
        due = min(math.floor(pace.lag(steps * dt, dt) / dt + 1e-6), slice_steps, last - steps)
        if due > 0:
            _advance(world, due, nodes)
            steps += due
            if truth is not None:
                truth.write(world)
        else:
            time.sleep(0.002)
            for node in nodes:
                node.update()
        keys = pressed() + ("" if view is None else _carry_out(view, world, teleop, pace))
        for key in keys:
            if not _log_key(world, teleop.selected, key, say):
                teleop.press(key)
        if _ESCAPE in keys:
            break
        if pad is not None:
            pad.poll()
        now = time.monotonic()
        if now - shown >= _STATUS_EVERY:
            shown = now
            if clock.dropped > dropped + _MOST_LAG:
                _line(say, f"cannot keep up: {clock.dropped - dropped:.1f} s dropped", ends=True)
                dropped = clock.dropped
            line = status(world, teleop, steps * dt / max(now - began, 1e-9))
            if view is not None:
                view.text = line.rpartition(" | ")[0] or line
            if say.isatty():
                _line(say, line)
    if say.isatty():
        _line(say, f"simulated {world.time:.2f} s", ends=True)


def _advance(world: World, steps: int, nodes: Sequence[Node]) -> None:
    if not nodes:
        world.step(steps * world.timestep)
        return
    for _ in range(steps):
        world.step()
        for node in nodes:
            node.update()


@contextmanager
def _serving(
    world: World, host: str, port: int, topics: Mapping[str, Any], say: TextIO
) -> Iterator[list[WorldNode]]:
    """Yields the world as the node of a hub; yields no node if the packages for it are missing."""
    try:
        from mvsim_gym.comms import Hub, WorldNode
    except ImportError as error:
        _line(say, f"no topics and no services: {error}", ends=True)
        yield []
        return
    with Hub(port, host) as hub:
        within = "localhost" if hub.host == "0.0.0.0" else hub.host
        with WorldNode(world, host=within, port=hub.port, address=hub.host, **topics) as node:
            _line(say, f"topics and services: hub at {hub.endpoint}", ends=True)
            yield [node]


class _Pace:
    """The clock under the controls of a view: speed, pause and single steps."""

    def __init__(self, clock: Clock, factor: float, view: WorldView | None) -> None:
        self._clock, self._factor, self._view = clock, factor, view
        self._paused = False
        self.single_steps = 0

    def lag(self, simulated: float, dt: float) -> float:
        if self._view is None:
            return self._clock.lag(simulated)
        controls = self._view.controls
        if controls.paused or self._paused or controls.speed != self._factor:
            self._factor, self._paused = controls.speed, controls.paused
            self._clock.restart(simulated, self._factor)
        if not controls.paused:
            return self._clock.lag(simulated)
        steps, self.single_steps = self.single_steps, 0
        return steps * dt


def _carry_out(view: WorldView, world: World, teleop: Teleop, pace: _Pace) -> str:
    """Carries out the commands from browsers, except keys, which it returns."""
    keys = ""
    _sync_selection(view, teleop)
    for wish in view.wishes():
        if wish == "step":
            pace.single_steps += 1
        elif wish == "reset":
            world.reset()
            teleop.forget()
        else:
            keys += _ESCAPE if wish == "end" else wish
    if view.controls.paused:
        view.after_step()
    return keys


def _sync_selection(view: WorldView, teleop: Teleop) -> None:
    """Selects the vehicle that was chosen in a browser; shows the selected one in browsers."""
    picked, view.controls.picked = view.controls.picked, None
    if picked is not None:
        teleop.select(picked)
    if teleop.selected is not None:
        view.controls.choose(teleop.selected.name)


def _log_key(world: World, vehicle: Vehicle | None, key: str, say: TextIO) -> bool:
    """Handles the keys of CSV files and returns True; returns False for other keys. L switches the files of the
    selected vehicle on and off, C and N begin new ones."""
    if key.lower() not in ("l", "c", "n"):
        return False
    if not world.has_log or vehicle is None:
        _line(say, "nothing is logged without --outputs", ends=True)
    elif key.lower() == "l":
        vehicle.recording = not vehicle.recording
    else:
        world.begin_log()
    return True


def status(world: World, teleop: Teleop, factor: float) -> str:
    """Returns a status line: time, speed of the simulation, the selected vehicle, its speeds and its command."""
    line = f"{world.time:8.2f} s, x{factor:.2f}"
    vehicle = teleop.selected
    if vehicle is None:
        return line
    k, n = teleop.number
    logging = " (LOGGING)" if vehicle.recording else ""
    twist, odometry = vehicle.twist, vehicle.odometry_twist
    command = " ".join(f"{name} {value:.3g}" for name, value in teleop.command.items())
    return (
        f"{line} | {vehicle.name} {k}/{n}{logging}: {twist.vx:.2f} {twist.vy:.2f} m/s {math.degrees(twist.omega):.1f}"
        f" deg/s (odometry {odometry.vx:.2f} m/s {math.degrees(odometry.omega):.1f} deg/s) | {vehicle.controller}:"
        f" {command} | {HELP}"
    )


def _line(say: TextIO, text: str, *, ends: bool = False) -> None:
    """Writes a line. On a terminal it replaces the status line, cut to the width of the terminal."""
    if say.isatty():
        width, line = os.get_terminal_size(say.fileno()).columns, printable(text, one_line=True)
        control(say, "\r\x1b[K")
        print(line if ends else line[: width - 1], end="\n" if ends else "", file=say, flush=True)
    else:
        print(printable(text, one_line=True), file=say, flush=True)


@contextmanager
def _keys_of(terminal: TextIO) -> Iterator[Callable[[], str]]:
    """Yields a function that returns the keys since the last call, with arrows as w, a, s and d. The terminal is
    restored at the end."""
    import termios
    import tty

    fd = terminal.fileno()
    before = termios.tcgetattr(fd)
    tty.setcbreak(fd)

    def pressed() -> str:
        if not select.select([fd], [], [], 0)[0]:
            return ""
        text = os.read(fd, 4096).decode(errors="replace")
        for code, key in _ARROWS.items():
            text = text.replace(_ESCAPE + code, key)
        return text

    try:
        yield pressed
    finally:
        termios.tcsetattr(fd, termios.TCSADRAIN, before)
