"""No command lets a name of a stranger control the terminal: worlds, files, nodes and topics with escape sequences."""

from __future__ import annotations

import io
import os
import re
import sys
from pathlib import Path

import pytest

import mvsim_gym
from mvsim_gym._notices import printable
from mvsim_gym.tools.cli import main
from mvsim_gym.tools.launch import _line
from mvsim_gym.tools.terminal import control, plain_output

# what XML allows in a name: C1 controls (CSI, OSC, ST), directions of writing, separators, invisible formats
IN_XML = "n\x9b31m\x9d0;PWN\x9c\x85\u202e\u2066\u200f\u2028\ufeff\U000e0041"
IN_FILES = "f\x1b]0;PWN\x07\x1b[2J\r\x08\x7f" + IN_XML
CONTROLS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200f\u2028\u202e\u2066\ufeff\U000e0041]")


def assert_is_plain(capfd: pytest.CaptureFixture[str], *expected: str) -> None:
    out, err = capfd.readouterr()
    assert not CONTROLS.search(out + err), ascii(out + err)
    for text in expected:
        assert text in out + err


def hostile_world(folder: Path, more: str = "") -> str:
    file = folder / f"{IN_FILES}.world.xml"
    file.write_text(
        f'<mvsim_world><vehicle name="{IN_XML}"><init_pose>0 0 0</init_pose><dynamics class="differential"/></vehicle>'
        f'<block name="b{IN_XML}"><init_pose>3 0 0</init_pose></block>{more}</mvsim_world>'
    )
    return str(file)


def test_what_is_escaped_and_what_is_not() -> None:
    assert printable("a\tb\nc é 漢 🤖") == "a\tb\nc é 漢 🤖"
    assert printable("a\tb\nc", one_line=True) == "a\\x09b\\x0ac"
    assert printable("\x1b[1m\x9b\u202e\U000e0041\udcff") == "\\x1b[1m\\x9b\\u202e\\U000e0041\\udcff"


def test_names_of_worlds(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    world = hostile_world(tmp_path, f"<{'x' * 3}>{IN_XML}</{'x' * 3}>")
    assert main(["validate", world]) == 0
    assert_is_plain(capfd, "\\x1b]0;PWN\\x07", "\\u202e")
    assert main(["launch", world, "--headless", "--no-hub", "--duration", "0.05"]) == 0
    assert_is_plain(capfd)
    assert main(["launch", world, "--headless", "--no-hub", "--duration", "-1"]) == 1
    assert_is_plain(capfd)


@pytest.mark.parametrize(
    "more",
    [
        f'<vehicle name="v" class="{IN_XML}"/>',
        f'<element class="{IN_XML}"/>',
        f"<include file='{IN_XML}'/>",
        f"<simul_timestep>{IN_XML}</simul_timestep>",
        f'<vehicle name="{IN_XML}"/>',
    ],
)
def test_mistakes_in_worlds(tmp_path: Path, capfd: pytest.CaptureFixture[str], more: str) -> None:
    world = hostile_world(tmp_path, more)
    assert main(["validate", world]) == 1
    assert_is_plain(capfd, ":1:")
    assert main(["show", world, "-o", str(tmp_path / "x.png")]) == 1
    assert_is_plain(capfd, ":1:")
    with pytest.raises(mvsim_gym.WorldFileError) as raised:
        mvsim_gym.World(world)
    assert not CONTROLS.search(str(raised.value)), "nor as the last line of a script"


@pytest.mark.parametrize(
    "command",
    [
        "validate",
        "show",
        "fetch",
        "launch",
        "view",
        "play",
        "plot",
        "repair",
        "evaluate",
        "parameters",
        "film",
        "tune",
    ],
)
def test_files_that_are_not_there(tmp_path: Path, capfd: pytest.CaptureFixture[str], command: str) -> None:
    more = {"show": ["-o", "x.png"], "film": ["-o", "x.mp4"], "launch": ["--headless"], "tune": [IN_FILES]}
    assert main([command, str(tmp_path / f"{IN_FILES}.world.xml"), *more.get(command, [])]) == 1
    assert_is_plain(capfd, "\\x1b")


def test_wrong_arguments(capfd: pytest.CaptureFixture[str]) -> None:
    for arguments in ([IN_FILES], ["validate", "w", f"--{IN_FILES}"], ["view", "w", "--port", IN_FILES]):
        with pytest.raises(SystemExit):
            main(arguments)
        assert_is_plain(capfd, "\\x1b")


def test_nodes_and_topics(capfd: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("zmq", reason="needs the extra zmq")
    from mvsim_gym.comms import Client, Hub, messages

    with Hub(0) as hub, Client(f"a{IN_FILES}\nfake", port=hub.port) as client:
        client.advertise(f"/t{IN_FILES}", messages.TimeStampedPose)
        for command in (["node", "list"], ["topic", "list"], ["topic", "list", "--details"]):
            assert main([*command, "-p", str(hub.port)]) == 0
            assert_is_plain(capfd, "\\x1b]0;PWN\\x07", "\\x0afake")


def test_a_status_line_has_our_controls_alone() -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

        def fileno(self) -> int:
            return terminal

    main_end, terminal = os.openpty()
    stream = Terminal()
    before = sys.stderr
    sys.stderr = stream
    try:
        with plain_output():
            _line(sys.stderr, f"{IN_FILES}\n", ends=True)
            control(sys.stderr, "\r")
    finally:
        sys.stderr = before
        os.close(main_end)
        os.close(terminal)
    text = stream.getvalue()
    assert text.startswith("\r\x1b[Kf\\x1b]0;PWN") and text.endswith("\\x0a\n\r")
    assert not CONTROLS.search(text.removeprefix("\r\x1b[K").removesuffix("\r"))


def test_notices_are_printable(caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    mvsim_gym.World(hostile_world(tmp_path, f"<nonsense>{IN_XML}</nonsense>"))
    assert caplog.records and not CONTROLS.search(caplog.text.replace("\n", ""))


def test_streams_are_as_before() -> None:
    before = sys.stdout, sys.stderr
    assert main(["list"]) == 0
    assert (sys.stdout, sys.stderr) == before
