"""The command `mvsim-gym ros`: as a process among nodes, its end, its arguments, the network that it takes."""

from __future__ import annotations

import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from conftest import DATA, run_python
from pages import code_of
from signalled import command

pytest.importorskip("cyclonedds", reason="needs the extra ros")
pytest.importorskip("rosbags", reason="needs the extra ros")

import ros_peer as ros

from mvsim_gym.ros import Network, network_of, open_transport
from mvsim_gym.ros.cyclone_transport import config_of
from mvsim_gym.tools.cli import main

pytestmark = pytest.mark.unsanitized
YARD = str(DATA / "yard.world.xml")
QUICK = ["ros", YARD, "--via", "cyclonedds", "--realtime-factor", "100", "--duration", "0.2"]


@contextmanager
def running(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    """The command as a process, once it says that it is there."""
    options = ("--via", "cyclonedds", *arguments)
    with command("ros", YARD, *options, stderr=subprocess.PIPE) as process:
        try:
            assert process.stderr is not None
            assert re.fullmatch(
                r"ROS 2 by cyclonedds, domain \d+, this machine alone: \d+ topics\n",
                process.stderr.readline(),
            )
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGINT])
def test_a_process_is_driven_and_ends_in_good_order(end: signal.Signals) -> None:
    with running("--domain", str(ros.DOMAIN), "--clock") as process:
        transport = open_transport(Network(ros.DOMAIN), "cyclonedds")  # it sets this process's domain up
        peer = ros.Peer()
        try:
            drive = peer.driver("/r1/cmd_vel")
            peer.listen("/r1/odom", ros.Odometry)
            peer.listen("/clock", ros.Clock)
            odometry = peer.heard["/r1/odom"]

            def speed() -> float:
                return odometry[-1].twist.twist.linear.x if odometry else 0.0

            peer.wait(lambda: speed() > 0.25, lambda: drive(0.3, 0))
            peer.wait(lambda: abs(speed()) < 0.05)  # since no node drives any more
            times = [message.clock.ns for message in peer.heard["/clock"]]
            assert times == sorted(times) and len(times) > 2
        finally:
            transport.close()
        process.send_signal(end)
        _, told = process.communicate(timeout=20)
        assert process.returncode == 0
        assert told == f"ended by signal {end.value} ({end.name})\n"


def test_it_ends_by_itself() -> None:
    arguments = [*QUICK, "--domain", str(ros.DOMAIN)]
    done = run_python(f"import sys; from mvsim_gym.tools.cli import main; sys.exit(main({arguments!r}))")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == f"ROS 2 by cyclonedds, domain {ros.DOMAIN}, this machine alone: 19 topics\n"


def test_clients_of_mvsim_come_in_too() -> None:
    pytest.importorskip("zmq", reason="needs the extra zmq")
    from mvsim_gym.comms import Client, messages

    with running("--domain", str(ros.DOMAIN), "--hub", "0") as process:
        assert process.stderr is not None
        port = int(process.stderr.readline().rpartition(":")[2])
        with Client("test", port=port) as client:
            assert client.call("get_pose", messages.SrvGetPose(objectId="r1")).success
            client.call("shutdown", messages.SrvShutdown())
        assert process.wait(timeout=20) == 0


def test_two_worlds_share_a_domain() -> None:
    with running("--domain", str(ros.DOMAIN), "--namespace", "/west"), running("--domain", str(ros.DOMAIN)):
        transport = open_transport(Network(ros.DOMAIN), "cyclonedds")
        try:
            peer = ros.Peer()
            for topic in ("/west/r1/laser1", "/r1/laser1"):
                peer.listen(topic, ros.LaserScan)
            peer.wait(lambda: all(peer.heard.values()))
        finally:
            transport.close()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--domain", "233"], "--domain: found '233', expected an integer from 0 to 232"),
        (["--domain", "-1"], "--domain: found '-1'"),
        (["--interface", "nope"], "--interface: found 'nope', expected local, any, an interface (lo"),
        (["--interface", "203.0.113.7"], "--interface: found '203.0.113.7'"),
        (["--period", "0"], "period: found 0.0, expected seconds above 0"),
        (["--period", "nan"], "period: found nan"),
        (["--namespace", "/a b"], "namespace: found '/a b', expected words as in '/fleet/west'"),
        (["--namespace", "a"], "namespace: found 'a'"),
        (["--history", "0"], "history: found 0, expected at least 1"),
        (["--localization-error", "jump=1"], "localization_error: found 'jump=1', expected NAME=VALUE"),
        (["--realtime-factor", "0"], "--realtime-factor: found 0"),
    ],
)
def test_bad_arguments(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    network = [] if "--domain" in arguments else ["--domain", str(ros.DOMAIN)]
    assert main([*QUICK, *network, *arguments]) == 1
    told = capsys.readouterr().err
    assert message in told and told.count("\n") == 1


def test_wrong_arguments_end_with_2(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["ros"], ["ros", YARD, "--via", "smoke"], ["ros", YARD, "--domain", "x"]):
        with pytest.raises(SystemExit) as raised:
            main(arguments)
        assert raised.value.code == 2
    assert main(["ros", "absent.world.xml", "--domain", str(ros.DOMAIN)]) == 1
    assert "absent.world.xml" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, Network(0, "local")),
        ({"ROS_DOMAIN_ID": "7"}, Network(7, "local")),
        ({"ROS_DOMAIN_ID": ""}, Network(0, "local")),
        ({"ROS_LOCALHOST_ONLY": "1"}, Network(0, "local")),
        ({"ROS_LOCALHOST_ONLY": "0"}, Network(0, "any")),
        ({"ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}, Network(0, "local")),
        ({"ROS_AUTOMATIC_DISCOVERY_RANGE": "SUBNET"}, Network(0, "any")),
        ({"ROS_AUTOMATIC_DISCOVERY_RANGE": "SYSTEM_DEFAULT"}, Network(0, "any")),
        ({"ROS_AUTOMATIC_DISCOVERY_RANGE": "SUBNET", "ROS_LOCALHOST_ONLY": "1"}, Network(0, "local")),
        ({"ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST", "ROS_LOCALHOST_ONLY": "0"}, Network(0, "local")),
    ],
)
def test_the_environment_of_ros_counts(environment: dict[str, str], expected: Network) -> None:
    assert network_of(None, None, environment) == expected
    assert network_of(3, "lo", environment) == Network(3, "lo")
    assert network_of(None, "any", environment) == Network(expected.domain, "any")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ROS_DOMAIN_ID", "233"),
        ("ROS_DOMAIN_ID", "a"),
        ("ROS_LOCALHOST_ONLY", "yes"),
        ("ROS_AUTOMATIC_DISCOVERY_RANGE", "OFF"),
        ("ROS_AUTOMATIC_DISCOVERY_RANGE", "FAR"),
    ],
)
def test_a_bad_environment_is_named(name: str, value: str) -> None:
    with pytest.raises(ValueError, match=f"{name}: found '{value}', expected "):
        network_of(None, None, {name: value})


def test_interfaces_of_cyclone(monkeypatch: pytest.MonkeyPatch) -> None:
    assert '<NetworkInterface address="127.0.0.1"/>' in config_of("local")
    assert '<NetworkInterface name="eth0"/>' in config_of("eth0")
    assert '<NetworkInterface address="10.0.0.2"/>' in config_of("10.0.0.2")
    assert "Peer" in config_of("local") and "Peer" not in config_of("eth0")
    monkeypatch.setenv("CYCLONEDDS_URI", "file:///etc/mine.xml")
    assert config_of("any").startswith("file:///etc/mine.xml,<CycloneDDS>")
    assert "mine.xml" not in config_of("local")


WITHOUT = """
import sys
sys.modules[{missing!r}] = None
from mvsim_gym.tools.cli import main
sys.exit(main({arguments!r}))
"""


@pytest.mark.parametrize(
    ("missing", "way", "message"),
    [
        ("cyclonedds", "cyclonedds", r"needs cyclonedds(\.\w+)?: pip install 'mvsim_gym\[ros\]'"),
        ("rosbags", "cyclonedds", r"needs rosbags(\.typesys)?: pip install 'mvsim_gym\[ros\]'"),
        (
            "rclpy",
            "rclpy",
            "source the setup.bash of a ROS 2 installation with this Python, or use --via cyclonedds",
        ),
    ],
)
def test_what_is_missing_is_named(missing: str, way: str, message: str) -> None:
    arguments = ["ros", YARD, "--via", way, "--domain", str(ros.DOMAIN), "--duration", "0.1"]
    done = run_python(WITHOUT.format(missing=missing, arguments=arguments))
    assert done.returncode == 1
    assert re.search(message, done.stderr) and done.stderr.count("\n") == 1


def test_recordings_import_no_network() -> None:
    code = "import sys, mvsim_gym.recording.recording; print([m for m in ('cyclonedds', 'rclpy') if m in sys.modules])"
    assert run_python(code).stdout == "[]\n"


def test_the_node_of_the_page() -> None:
    code = code_of("ros").replace('"my.world.xml"', repr(YARD)).replace("domain=7", f"domain={ros.DOMAIN}")
    done = run_python(code + "print(len(node.topics), world.time >= 1)")
    assert (done.stdout, done.stderr) == ("20 True\n", "")
