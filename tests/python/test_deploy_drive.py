"""`mvsim-gym drive` drives the robot of `mvsim-gym ros`, each a process of its own, and stops it."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import ROOT, lasting
from signalled import command

pytest.importorskip("cyclonedds", reason="needs the extra ros")
pytest.importorskip("onnx", reason="needs the extra export")
pytest.importorskip("onnxruntime", reason="needs the extra deploy")

import ros_peer as ros

from mvsim_gym.parts import Pose, Twist
from mvsim_gym.readings import Reading
from mvsim_gym.ros import Network, open_transport
from mvsim_gym.ros.messages import STORE, Messages
from mvsim_gym.ros.topics import Topic

pytestmark = pytest.mark.unsanitized
NAV = "mvsim/NavArena-v0"
WORLD = str(ROOT / "worlds" / "nav_arena.world.xml")
VIA = ["--via", "cyclonedds", "--domain", str(ros.DOMAIN)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A policy that turns to its goal and drives."""
    import torch

    from mvsim_gym.deploy.export import export_policy

    def towards(seen: dict[str, torch.Tensor]) -> torch.Tensor:
        c, s = seen["goal"][:, 1:2], seen["goal"][:, 2:3]
        return torch.cat([2 * c - 1, 1.5 * torch.atan2(s, c) / math.pi], dim=1)

    place = tmp_path_factory.mktemp("drive") / "policy"
    export_policy(towards, NAV, place)
    return place


class Robot:
    """A simulated robot, and what it tells."""

    def __init__(self) -> None:
        # it sets this process's domain up
        self._transport = open_transport(Network(ros.DOMAIN), "cyclonedds")
        self.peer = ros.Peer()
        self.peer.listen("/base_pose_ground_truth", ros.Odometry)

    def close(self) -> None:
        self._transport.close()

    @property
    def truth(self) -> Any:
        heard = self.peer.heard["/base_pose_ground_truth"]
        return heard[-1] if heard else None

    @property
    def speed(self) -> float:
        return self.truth.twist.twist.linear.x if self.truth else 0.0

    @property
    def place(self) -> tuple[float, float]:
        position = self.truth.pose.pose.position
        return position.x, position.y


@pytest.fixture
def robot() -> Iterator[Robot]:
    with command("ros", WORLD, *VIA, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None and "topics" in process.stderr.readline()
        found = Robot()
        try:
            yield found
        finally:
            found.close()
            process.kill()


@contextmanager
def driving(folder: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    options = ["--robot", "turtlebot3_burger", "--scan", "/lidar", *VIA, *arguments]
    with command("drive", str(folder), *options, stdout=subprocess.PIPE) as process:
        try:
            yield process
        finally:
            process.kill()


def test_it_reaches_a_goal_and_stands_there(folder: Path, robot: Robot, tmp_path: Path) -> None:
    record = tmp_path / "drive.mcap"
    with driving(folder, "--goal", "-1.9", "-2.3", "--record", str(record)) as process:
        told = process.communicate(timeout=60)[0]
    assert process.returncode == 0 and "1 of 1 goals reached" in told, told
    robot.peer.wait(lambda: robot.truth and abs(robot.speed) < 0.01)
    assert math.dist(robot.place, (-1.9, -2.3)) < 0.3
    from mcap.reader import make_reader

    with open(record, "rb") as file:
        topics = {channel.topic for _, channel, _ in make_reader(file).iter_messages()}
    assert {"/lidar", "/odom", "/tf", "/cmd_vel", "/drive/settings", "/drive/status"} <= topics
    check_data_sets_of(record, folder, tmp_path)


def check_data_sets_of(record: Path, folder: Path, place: Path) -> None:
    """The observations in the data set are those that the policy had: it gives the recorded actions for them."""
    from mvsim_gym.deploy import load_policy
    from mvsim_gym.tools.cli import main
    from mvsim_gym.tools.collect import collect_drives

    pytest.importorskip("h5py", reason="needs the extra record")
    dataset = collect_drives(NAV, [str(record)], str(place / "data"))
    episodes = list(dataset.iterate_episodes())  # several if the machine was too slow for some period
    told = list(dataset.storage.get_episode_metadata(range(len(episodes))))
    policy = load_policy(folder)
    for episode, each in zip(episodes, told, strict=True):
        assert each["time"] == pytest.approx(0.2 * len(episode.actions))
        for t, taken in enumerate(episode.actions):
            action = policy({key: values[t] for key, values in episode.observations.items()})
            assert action.tobytes() == taken.tobytes(), t
    assert [each["success"] for each in told] == [False] * (len(told) - 1) + [True]
    assert [episode.rewards.sum() for episode in episodes] == [each["success"] for each in told]
    assert episodes[-1].terminations[-1] and not episodes[-1].truncations.any()
    assert episodes[-1].observations["goal"][-1][0] < episodes[0].observations["goal"][0][0]
    actions = np.concatenate([episode.actions for episode in episodes])
    cut = place / "cut.mcap"
    cut.write_bytes(record.read_bytes()[: record.stat().st_size * 3 // 4])
    short = list(collect_drives(NAV, [str(cut)], str(place / "cut")).iterate_episodes())
    assert short[-1].truncations[-1] and not short[-1].terminations.any()
    begun = np.concatenate([episode.actions for episode in short])
    assert 0 < len(begun) < len(actions) and begun.tobytes() == actions[: len(begun)].tobytes()
    pq = pytest.importorskip("pyarrow.parquet", reason="needs the extra lerobot")
    options = ["--recording", str(record), "--format", "lerobot", "--name", "x/drive", "-o", str(place)]
    assert main(["collect", NAV, *options]) == 0
    rows = pq.read_table(place / "x/drive/data/chunk-000/file-000.parquet").to_pylist()
    assert np.array([row["action"] for row in rows], np.float32).tobytes() == actions.tobytes()
    assert rows[-1]["next.success"]
    assert main(["collect", NAV, *options, "--episodes", "2"]) == 1
    assert main(["collect", NAV, "-o", str(place)]) == 1


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_whatever_ends_it_the_robot_is_told_to_stand(folder: Path, robot: Robot, end: signal.Signals) -> None:
    guard = ["--guard"] if end == signal.SIGKILL else []
    robot.peer.listen("/cmd_vel", ros.Twist)
    commands = robot.peer.heard["/cmd_vel"]
    with driving(folder, "--goal", "2", "2", "--no-box", *guard) as process:
        robot.peer.wait(lambda: robot.speed > 0.1 and commands and commands[-1].linear.x > 0.1)
        process.send_signal(end)
        if end == signal.SIGINT:
            process.send_signal(signal.SIGTERM)  # a second one, while the first is dealt with
        process.wait(20)
        # the last command of all is the stop: of a process that is killed, by the guard
        robot.peer.wait(lambda: commands[-1].linear.x == 0 and commands[-1].angular.z == 0)
        robot.peer.wait(lambda: abs(robot.speed) < 0.01)
        if end != signal.SIGKILL:
            assert process.returncode == 1  # the goal was not reached


@pytest.mark.slow
@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_it_stands_within_the_stated_distance_of_its_end(
    folder: Path, robot: Robot, end: signal.Signals
) -> None:
    """Docs state 0.25 s of reaction and the way to brake. A machine that is busy gets a second more."""
    stated = 0.22 * (0.25 + lasting(0, 1)) + 0.22**2 / (2 * 0.5)
    robot.peer.listen("/cmd_vel", ros.Twist)
    commands = robot.peer.heard["/cmd_vel"]
    guard = ["--guard"] if end == signal.SIGKILL else []
    for number in range(lasting(6, 1)):  # each takes a part of the way to the goal
        with driving(folder, "--goal", "2.4", "-2.4", *guard) as process:
            robot.peer.wait(lambda: robot.speed > 0.2 and commands and commands[-1].linear.x > 0.2)
            began = robot.place
            process.send_signal(end)
            robot.peer.wait(lambda: abs(robot.speed) < 0.005)
            way = math.dist(began, robot.place)
            process.wait(20)
            commands.clear()
        assert way <= stated, f"trial {number}: {way:.3f} m, stated are {stated:.3f} m"


@pytest.mark.slow
def test_the_closed_loop_counts_goals(folder: Path) -> None:
    """The robots are randomised. This policy avoids nothing, so that only the count is checked."""
    goals, domain = lasting(4, 1), str(ros.DOMAIN)
    script = [sys.executable, str(ROOT / "examples" / "closed_loop.py"), str(folder), "--domain", domain]
    options = ["--goals", str(goals), "--randomize", "standard", "--delay", "0.05"]
    paths = os.pathsep.join([str(ROOT / "python"), *filter(None, sys.path)])
    found = subprocess.run(
        [*script, *options],
        capture_output=True,
        text=True,
        timeout=600,
        env={**os.environ, "PYTHONPATH": paths},
    )
    assert found.returncode == 0, found.stderr
    lines = found.stdout.splitlines()
    ends = [line.split()[1] for line in lines[:-1]]
    assert len(ends) == goals and set(ends) <= {"goal", "collision", "timeout"}, lines
    assert lines[-1].startswith(f"{ends.count('goal')} of {goals} goals"), lines


def test_a_dry_run_sends_nothing_and_says_what_it_would_do(folder: Path, robot: Robot) -> None:
    robot.peer.listen("/drive/status", ros.String, late=True)
    with driving(folder, "--goal", "-1.9", "-2.3", "--dry"):
        status = robot.peer.heard["/drive/status"]
        robot.peer.wait(lambda: status and json.loads(status[-1].data)["state"] == "drive")
        last = json.loads(status[-1].data)
        assert last["dry"] and last["speed"] > 0 and last["readings"]["lidar"][0] == "fresh"
        assert abs(robot.speed) < 0.01


def test_readings_that_end_stop_it(folder: Path) -> None:
    """A robot whose scans end while its odometry goes on: it is told to stand, and goes on when they come again."""
    transport = open_transport(Network(ros.DOMAIN), "cyclonedds")
    peer = ros.Peer()
    try:
        peer.listen("/cmd_vel", ros.Twist)
        scan = transport.publisher(Topic("/lidar", "sensor_msgs/msg/LaserScan"))
        odom = transport.publisher(Topic("/odom", "nav_msgs/msg/Odometry"))
        heard = peer.heard["/cmd_vel"]
        count = 0

        def feed(scans: bool = True) -> None:
            nonlocal count
            count += 1
            make = Messages(10**12 + count * 10**7)
            still = make.truth(Pose(0, 0, 0, 0, 0, 0), Twist(0, 0, 0), "odom")
            odom.publish(bytes(STORE.serialize_cdr(still, still.__msgtype__)))
            if scans:
                angles = np.linspace(-math.pi, math.pi, 361)
                ranges = np.full(361, 5.0, np.float32)
                seen = make.scan(Reading(ranges, ranges > 0, angles, 0.0), 12.0, 0.1, "laser")
                scan.publish(bytes(STORE.serialize_cdr(seen, seen.__msgtype__)))
            time.sleep(0.01)

        with driving(folder, "--goal", "2", "0", "--localization", "odom", "--kind", "twist"):
            peer.wait(lambda: heard and heard[-1].linear.x > 0.1, feed)
            peer.wait(lambda: heard[-1].linear.x == 0, lambda: feed(scans=False))
            peer.wait(lambda: heard[-1].linear.x > 0.1, feed)
    finally:
        transport.close()
