"""A gamepad: axes, buttons and limits as in MVSim. The device is an object with the interface of pygame's; SDL's own
search for devices runs too, where it finds none."""

from __future__ import annotations

import io
import math
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import DATA
from signalled import command
from test_launch import YARD, teleop_of

import mvsim_gym
from mvsim_gym.tools import launch as launching
from mvsim_gym.tools.cli import main
from mvsim_gym.tools.teleop import Gamepad, Teleop


class Pad:
    """A double of pygame.joystick.Joystick."""

    def __init__(self, axes: int = 4, buttons: int = 10) -> None:
        self.axes, self.buttons = [0.0] * axes, [False] * buttons

    def get_numaxes(self) -> int:
        return len(self.axes)

    def get_axis(self, axis_number: int, /) -> float:
        return self.axes[axis_number]

    def get_numbuttons(self) -> int:
        return len(self.buttons)

    def get_button(self, button: int, /) -> bool:
        return self.buttons[button]


class Driven:
    """A gamepad whose time is ours."""

    def __init__(self, teleop: Teleop, pad: Pad) -> None:
        self.said: list[str] = []
        self.time, self.is_there, self.pad, self.teleop = 0.0, True, pad, teleop
        self.gamepad = Gamepad(teleop, pad, self.said.append, lambda: self.is_there, lambda: self.time)

    def after(self, polls: int = 1) -> list[float]:
        """The command after so many polls."""
        for _ in range(polls):
            self.time += 0.0101
            self.gamepad.poll()
        return list(self.teleop.command.values())


@pytest.mark.parametrize(
    ("dynamics", "controller", "turn"),
    [
        ("differential", "twist_ideal", 0.5),
        ("differential", "twist_pid", 0.5),
        ("ackermann", "twist_ideal", 0.7),
        ("ackermann", "twist_front_steer_pid", 0.7),
        ("ackermann_drivetrain", "twist_front_steer_pid", 0.7),
        ("ackermann", "front_steer_pid", math.radians(5)),  # no farther than the car steers
    ],
)
def test_axes(tmp_path: Path, dynamics: str, controller: str, turn: float) -> None:
    driven = Driven(teleop_of(tmp_path, dynamics, controller), Pad())
    driven.pad.axes[:2] = [-1.0, -1.0]  # up is forward, left is left
    assert driven.after() == pytest.approx([1.0, turn])
    driven.pad.axes[:2] = [1.0, 0.5]
    command = driven.after()
    assert command[0] == -0.5 and command[1] == pytest.approx(-turn)
    driven.pad.axes[:2] = [0.0, 0.0]
    assert driven.after() == [0, 0] and math.copysign(1, driven.after()[0]) == 1
    assert not driven.said


def test_buttons_change_limits_and_brake(tmp_path: Path) -> None:
    driven = Driven(teleop_of(tmp_path, "differential", "twist_ideal"), Pad())
    driven.pad.axes[:2] = [-1.0, -1.0]
    for button, name, factor in (
        (5, "max_speed", 1.01),
        (7, "max_speed", 1 / 1.01),
        (4, "turn_factor", 1.01),
        (6, "turn_factor", 1 / 1.01),
    ):
        before = getattr(driven.gamepad, name)
        driven.pad.buttons[button] = True
        command = driven.after(20)
        driven.pad.buttons[button] = False
        assert getattr(driven.gamepad, name) == pytest.approx(before * factor**20)
        assert command == pytest.approx([driven.gamepad.max_speed, 0.5 * driven.gamepad.turn_factor])
    driven.pad.buttons[3] = True
    assert driven.after() == [0, 0]


def test_few_buttons_and_few_axes(tmp_path: Path) -> None:
    teleop = teleop_of(tmp_path, "differential", "twist_ideal")
    driven = Driven(teleop, Pad(buttons=7))
    driven.pad.axes[:2] = [0.0, -1.0]
    driven.pad.buttons[:] = [True] * 7
    assert driven.after(10) == [1.0, 0.0], "with fewer than eight they do nothing"
    lever = Driven(teleop, Pad(axes=1))
    lever.pad.axes[0] = 1.0
    assert lever.after() == [1.0, 0.0] and "found 1 axes" in lever.said[0]


def test_it_beats_other_commands_a_hundred_times_a_second() -> None:
    world = mvsim_gym.World(YARD)
    driven = Driven(Teleop(world), Pad())
    driven.pad.axes[1] = -0.5
    assert driven.after() == [0.5, 0]
    driven.teleop.press("w")
    driven.time += 0.002
    driven.gamepad.poll()
    assert driven.teleop.command["vx"] == pytest.approx(0.6), "it is not yet time"
    assert driven.after() == [0.5, 0]
    driven.teleop.press("2")
    assert driven.after() == [0, 0] and driven.after() == [0, 0]
    assert driven.said == [
        "gamepad: it does not drive 'r2', whose controller raw takes left_torque, right_torque"
    ]
    driven.teleop.press("1")
    driven.is_there = False
    assert driven.after() == [0, 0] and "it was disconnected" in driven.said[-1]
    driven.teleop.press("w")
    assert driven.after(3)[0] == pytest.approx(0.1), "others command again"


def test_it_drives_what_is_launched(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from contextlib import contextmanager

    pad = Pad()
    pad.axes[1] = -1.0

    @contextmanager
    def found(say: Any) -> Any:
        yield pad, lambda: True

    monkeypatch.setattr(launching, "first_device", found)
    launching.launch(YARD, factor=5, duration=1.0, joystick=True, outputs=str(tmp_path), say=io.StringIO())
    rows = (tmp_path / "ground_truth.r1.txt").read_text().splitlines()
    assert float(rows[-1].split()[1]) > float(rows[0].split()[1]) + 0.3


@pytest.mark.unsanitized  # SDL
def test_without_a_gamepad_there_is_a_warning() -> None:
    """pygame and SDL themselves, with no device that they could find."""
    pytest.importorskip("pygame", reason="needs the extra joystick")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    environment |= {"SDL_JOYSTICK_DISABLE_UDEV": "1", "SDL_JOYSTICK_DEVICE": "/dev/null"}
    wanted = [YARD, "--headless", "--no-hub", "--joystick"]
    ended = subprocess.run(
        [sys.executable, "-m", "mvsim_gym", "launch", *wanted, "--duration", "0.2"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert ended.returncode == 0
    assert "no gamepad is connected: --joystick has no effect" in ended.stderr
    more = {"env": environment, "stderr": subprocess.PIPE}
    with command("launch", *wanted, **more) as process:
        assert process.stderr is not None
        try:
            assert "no gamepad" in process.stderr.readline()
            process.send_signal(signal.SIGINT)
            assert process.wait(20) == 0, "SDL leaves the signals alone"
        finally:
            process.kill()


def test_without_pygame_the_remedy_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "pygame", None)
    assert main(["launch", str(DATA / "yard.world.xml"), "--headless", "--no-hub", "--joystick"]) == 1
    assert "pip install 'mvsim_gym[joystick]'" in capsys.readouterr().err
