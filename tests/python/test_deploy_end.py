"""The end of a drive: nothing that hangs or fails keeps it from ending, or from sending its last stops."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections import deque
from typing import Any

import numpy as np
import pytest
from conftest import DATA, ROOT

pytest.importorskip("rosbags", reason="needs the extra ros")

from ros_bus import Loop
from signalled import command

from mvsim_gym.deploy.driver import Watchdog
from mvsim_gym.ros.messages import STORE
from mvsim_gym.tools.drive import _end_guard

TWIST = "geometry_msgs/msg/Twist"


def test_a_recording_that_fails_does_not_keep_the_last_stops_back() -> None:
    commands: deque[bytes] = deque()

    def record(topic: str, kind: str, data: bytes, nanoseconds: int) -> None:
        if len(commands) > 20:
            raise OSError("no space left on device")

    def forward(seen: Any) -> np.ndarray:
        return np.array([1.0, 0.0], np.float32)

    world = ROOT / "worlds" / "nav_arena.world.xml"
    begin = (-2.6, -2.2, 0.0)
    loop = Loop("mvsim/NavArena-v0", world, forward, begin, (2.6, -2.1), lambda loop: None, record=record)
    loop.bus.receivers["/cmd_vel", TWIST] = [commands]
    with pytest.raises(OSError, match="no space left"):
        loop.drive.run(20.0)
    speeds = [STORE.deserialize_cdr(data, TWIST).linear.x for data in commands]  # type: ignore[attr-defined]
    assert max(speeds) > 0.1 and speeds[-5:] == [0.0] * 5


def test_the_watchdog_lives_on_after_a_stop_that_fails() -> None:
    calls: list[int] = []
    often = threading.Event()

    def stop() -> None:
        calls.append(1)
        if len(calls) == 3:
            often.set()
        raise OSError("the network is gone")

    watchdog = Watchdog(stop, -1.0, every=0.001)
    assert often.wait(30)
    watchdog.close()
    assert watchdog.barks == 1


def test_the_watchdog_ends_while_a_stop_blocks() -> None:
    began, go_on = threading.Event(), threading.Event()

    def stop() -> None:
        began.set()
        go_on.wait()

    watchdog = Watchdog(stop, -1.0, every=0.001)
    assert began.wait(30)
    watchdog.close()
    go_on.set()


def test_a_guard_that_hangs_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mvsim_gym.tools.drive._GUARD_ENDS", 0.1)
    for code, ends in (("import time; time.sleep(1000)", -signal.SIGKILL), ("input()", 0), ("pass", 0)):
        child = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE)
        if ends == 0:
            monkeypatch.setattr("mvsim_gym.tools.drive._GUARD_ENDS", 60.0)
        _end_guard(child)
        assert child.returncode == ends


@pytest.mark.unsanitized
def test_a_node_ends_though_its_subscriber_was_killed() -> None:
    """Writers waited a second each for the dead one's confirmations, one writer after another."""
    pytest.importorskip("cyclonedds", reason="needs the extra ros")
    import ros_peer as ros

    from mvsim_gym.ros.cyclone_transport import config_of

    assert all("<WriterLingerDuration>50 ms<" in config_of(name) for name in ("local", "any", "eth0"))
    domain = str(ros.DOMAIN)
    listener = (
        "import ros_peer as ros\nfrom mvsim_gym.ros import Network, open_transport\n"
        f"joined = open_transport(Network({domain}), 'cyclonedds')\npeer = ros.Peer({domain})\n"
        "for name in ('odom', 'base_pose_ground_truth'): peer.listen(f'/r1/{name}', ros.Odometry)\n"
        "peer.wait(lambda: all(peer.heard.values()))\nprint('heard', flush=True)\ninput()"
    )
    paths = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "tests" / "python"), *sys.path])}
    world = str(DATA / "yard.world.xml")
    pipe = subprocess.PIPE
    with command("ros", world, "--via", "cyclonedds", "--domain", domain, stderr=pipe) as node:
        try:
            other = subprocess.Popen(
                [sys.executable, "-c", listener], stdin=pipe, stdout=pipe, text=True, env=paths
            )
            assert other.stdout is not None and other.stdout.readline() == "heard\n"
            other.kill()
            other.communicate()
            node.terminate()
            told = node.communicate(timeout=60)[1]
        finally:
            node.kill()
    assert node.returncode == 0 and "ended by signal 15" in told
