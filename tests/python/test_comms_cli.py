"""The commands `server`, `node` and `topic`, and what `launch` serves."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest
from conftest import DATA, run_python
from signalled import command

pytest.importorskip("zmq", reason="needs the extra zmq")

from mvsim_gym.comms import Client, messages
from mvsim_gym.comms.errors import NoAnswer
from mvsim_gym.tools.cli import main
from mvsim_gym.tools.topics import rate_lines

YARD = str(DATA / "yard.world.xml")


def start(*arguments: str, background: bool = False) -> tuple[subprocess.Popen[str], str]:
    """A command that says where its hub is, and the port."""
    process = command(*arguments, background=background, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert process.stdout is not None
    line = process.stdout.readline()
    found = re.search(r"hub at tcp://127\.0\.0\.1:(\d+)", line)
    assert found, line
    return process, found[1]


@pytest.fixture(scope="module")
def port() -> Iterator[str]:
    process, port = start("launch", YARD, "--headless", "-p", "0", "--relative-poses", "r1=r2,box")
    with process:
        yield port
        process.terminate()


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main([*arguments]) == 0
    return capsys.readouterr().out


def test_node_list(port: str, capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(capsys, "node", "list", "-p", port).splitlines()
    assert '- name: "World"' in lines and lines[0].startswith("# ")


def test_topic_list(port: str, capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(capsys, "topic", "list", "-p", port).splitlines()
    assert "/r1/pose [mvsim_msgs.TimeStampedPose] from node World" in lines
    assert "/r1/laser1_scan [mvsim_msgs.ObservationLidar2D] from node World" in lines
    detailed = printed(capsys, "topic", "list", "--details", "-p", port)
    pattern = (
        r'- name: "/r1/pose"\n  type: "mvsim_msgs.TimeStampedPose"\n  publishers:\n'
        r'    - endpoint: "tcp://127.0.0.1:\d+"\n      publisherNode: "World"\n'
    )
    assert re.match(pattern, detailed)


def test_topic_echo(port: str, capsys: pytest.CaptureFixture[str]) -> None:
    poses = printed(capsys, "topic", "echo", "/r1/relative_poses", "-n", "2", "-p", port)
    assert poses.count("mvsim_msgs.TimeStampedPose") == 2 and 'objectId: "box"' in poses
    readings = printed(capsys, "topic", "echo", "/r1/laser1", "-n", "1", "-p", port)
    assert "laser 'laser1'" in readings and "ranges: float32 (91,)" in readings


def test_topic_hz(port: str, capsys: pytest.CaptureFixture[str]) -> None:
    out = printed(capsys, "topic", "hz", "/r1/pose", "--seconds", "0.6", "-p", port)
    found = re.search(r"- ReceivedMsgs: (\d+)\n- Rate: ([\d.]+) Hz\n- MeanPeriod: ", out)
    assert found and 2 <= int(found[1]) <= 8
    assert main(["topic", "hz", "/r1/pose", "--seconds", "0", "-p", port]) == 1
    assert "--seconds: found 0" in capsys.readouterr().err


def test_rates_of_known_times() -> None:
    lines = rate_lines([0, 1, 2, 4], 5)
    assert lines[:3] == ["- ReceivedMsgs: 4", "- Rate: 0.800 Hz", "- MeanPeriod: 1.333333 s (0.750 Hz)"]
    assert lines[4:6] == ["- PeriodMin: 1.000000 s", "- PeriodMax: 2.000000 s"]
    assert rate_lines([], 5) == ["- ReceivedMsgs: 0", "- Rate: 0.000 Hz"]


@pytest.mark.parametrize("command", [["server"], ["launch", YARD, "--headless"]])
def test_a_port_that_is_taken(port: str, capsys: pytest.CaptureFixture[str], command: list[str]) -> None:
    assert main([*command, "-p", port]) == 1
    error = capsys.readouterr().err
    assert (
        error.count("\n") == 1 and f"cannot listen on tcp://127.0.0.1:{port}: Address already in use" in error
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["server", "-p", "70000"], "port: found 70000, expected 0"),
        (
            ["server", "--host", "192.0.2.1", "-p", "0"],
            "tcp://192.0.2.1:0: Cannot assign requested address: expected an IPv4",
        ),
        (["launch", YARD, "--headless", "-p", "0", "--relative-poses", "r1"], "--relative-poses: found 'r1'"),
        (
            ["launch", YARD, "--headless", "-p", "0", "--rename", "=x"],
            "--rename: found '=x', expected TOPIC=NEW",
        ),
        (["launch", YARD, "--headless", "-p", "0", "--rename", "/a=/b"], "rename: there is no topic '/a'"),
        (["launch", YARD, "--headless", "-p", "0", "--relative-poses", "r1=r9"], "no vehicle or block 'r9'"),
    ],
)
def test_what_is_wrong(capsys: pytest.CaptureFixture[str], arguments: list[str], message: str) -> None:
    assert main(arguments) == 1
    error = capsys.readouterr().err.splitlines()[-1]
    assert message in error and error.startswith(f"mvsim-gym {arguments[0]}: ")


@pytest.mark.parametrize("command", [["node"], ["topic"], ["topic", "what"]])
def test_a_subcommand_is_needed(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit:
        main(command)
    assert exit.value.code == 2 and "usage: " in capsys.readouterr().err


def test_the_service_shutdown_ends_launch() -> None:
    process, port = start("launch", YARD, "--headless", "-p", "0")
    with process, Client("end", port=int(port)) as client:
        assert client.call("shutdown", messages.SrvShutdown()).accepted
        assert process.wait(20) == 0


@pytest.mark.parametrize("background", [False, True])
@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGTERM])
def test_a_server_runs_until_a_signal_ends_it(kind: signal.Signals, background: bool) -> None:
    process, port = start("server", "-p", "0", background=background)
    with process, Client("a", port=int(port)) as client:
        assert client.nodes() == ["a"]
        process.send_signal(kind)
        assert process.wait(20) == 0
        assert process.stdout is not None
        assert process.stdout.read() == f"ended by signal {kind.value} ({kind.name})\n"


def test_launch_without_the_packages() -> None:
    code = f"""
import sys
sys.modules["zmq"] = None
from mvsim_gym.tools.cli import main
sys.exit(main(["launch", {YARD!r}, "--headless", "--realtime-factor", "100", "--duration", "1"]))
"""
    done = run_python(code)
    assert done.returncode == 0 and done.stderr.count("\n") == 1
    assert "no topics and no services: " in done.stderr and "pip install 'mvsim_gym[zmq]'" in done.stderr


def test_without_a_hub_nothing_listens() -> None:
    code = f"""
import sys
from mvsim_gym.tools.cli import main
main(["launch", {YARD!r}, "--headless", "--no-hub", "--realtime-factor", "100", "--duration", "1"])
print([m for m in ("zmq", "mvsim_gym.comms", "google.protobuf") if m in sys.modules])
"""
    assert run_python(code).stdout == "[]\n"


def test_a_command_says_that_it_waits(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def connect(client: Client, timeout: float | None = None) -> Any:
        raise KeyboardInterrupt if timeout is None else NoAnswer("late")

    monkeypatch.setattr(Client, "connect", connect)
    assert main(["node", "list"]) == 130
    assert capsys.readouterr().err == "waiting for a hub at 127.0.0.1:23700, until Ctrl-C\n"


def test_a_host_that_is_none(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """It is not waited for."""

    def connect(probe: socket.socket, address: object) -> None:
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket.socket, "connect", connect)
    assert main(["node", "list", "--host", "nowhere"]) == 1
    error = capsys.readouterr().err
    assert error.startswith("mvsim-gym node: cannot reach a hub at nowhere: ") and error.count("\n") == 1
