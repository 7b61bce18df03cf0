"""Recordings of drives as episodes: the observations are the very ones that the policy had, whatever happened."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import ROOT

from mvsim_gym.deploy import Pipeline
from mvsim_gym.deploy.driver import Driver
from mvsim_gym.deploy.limits import Limits

pytest.importorskip("rosbags", reason="needs the extra ros")
pytest.importorskip("mcap", reason="needs the extra record")

from mcap.records import Channel, Message
from ros_bus import Loop

from mvsim_gym.parts import Pose, Twist
from mvsim_gym.readings import Reading
from mvsim_gym.recording.mcap_file import DriveRecording, McapFile
from mvsim_gym.ros.drive_node import DriveNode, DriveOptions
from mvsim_gym.ros.messages import STORE, Messages
from mvsim_gym.ros.services import Answer, Service
from mvsim_gym.ros.topics import Topic
from mvsim_gym.ros.transport import Publisher, Transport
from mvsim_gym.tools.collect import collect_drives
from mvsim_gym.tools.drive import _TOPICS
from mvsim_gym.tools.drive_episodes import DriveEpisode, DriveLog

NAV = "mvsim/NavArena-v0"
KEYWORDS: dict[str, Any] = {"observe": {"scan": {"history": 3}}}
NAMES = {**_TOPICS, "scan": "/scan", "odom": "/odom", "imu": "/imu", "cmd": "/cmd_vel"}
FAST = 12.0  # times as fast as it is told, so that the test is short
PERIOD = 0.2


class Out(Publisher):
    """Hands what is published to a function."""

    def __init__(self, take: Callable[[bytes], None]) -> None:
        self._take = take

    def publish(self, data: bytes) -> bool:
        self._take(data)
        return True

    @property
    def has_listeners(self) -> bool:
        return False


class Robot(Transport):
    """A robot on a line, in this process. Its lidar is silent for a while, and a goal comes by message."""

    name = "rclpy"

    def __init__(self, silent: range) -> None:
        self._take: dict[str, tuple[str, Callable[[bytes], None]]] = {}
        self._x = self._speed = 0.0
        self._silent, self._count, self._sent = silent, 0, 0
        self.answers: dict[str, Answer] = {}
        self.pauses: dict[int, bool] = {}  # calls of the service by the number of commands so far
        self.goal_at: tuple[int, float] | None = None
        self._angles = np.linspace(-np.pi, np.pi, 90, endpoint=False)

    def publisher(self, topic: Topic) -> Publisher:
        return Out(self._command if topic.name == "/cmd_vel" else lambda data: None)

    def subscribe(self, topic: Topic, receive: Callable[[bytes], None]) -> None:
        self._take[topic.name] = topic.kind, receive

    def serve(self, service: Service, answer: Answer) -> None:
        self.answers[service.name] = answer

    def close(self) -> None:
        pass

    def _command(self, data: bytes) -> None:
        message: Any = STORE.deserialize_cdr(data, "geometry_msgs/msg/Twist")
        self._speed = message.linear.x
        self._x += FAST * PERIOD * self._speed
        self._count += 1

    def _send(self, name: str, message: Any) -> None:
        kind, take = self._take[name]
        take(bytes(STORE.serialize_cdr(message, kind)))

    def work(self) -> None:
        if self._sent > self._count:
            return
        self._sent = self._count + 1
        if self._count in self.pauses:
            service = Service("/drive/pause", "std_srvs/srv/SetBool")
            request = STORE.types[service.request](data=self.pauses.pop(self._count))
            assert self.answers[service.name](bytes(STORE.serialize_cdr(request, service.request)))
        make = Messages(10**9 * self._sent)
        twist = Twist(self._speed, 0, 0)
        if self.goal_at is not None and self.goal_at[0] == self._count:
            self._send("/goal_pose", make.place(self.goal_at[1], 0, "odom"))
        self._send("/odom", make.truth(Pose(self._x, 0, 0, 0, 0, 0), twist, "odom"))
        if self._count not in self._silent:
            ranges = (3 + np.sin(self._angles + self._x)).astype(np.float32)
            hit = np.ones(90, bool)
            reading = Reading(ranges, hit, self._angles, float(self._sent))
            self._send("/scan", make.scan(reading, 5.0, 0.1, "laser"))


Seen = list[tuple[dict[str, np.ndarray], np.ndarray]]


def drive(path: Path, pauses: dict[int, bool] | None = None, policy: Any = None) -> Seen:
    """Drives to 0.9 m, then to 6 m with a silent lidar on the way, and by a message to -0.5 m instead. Returns what the
    policy saw and did, if none is given. `pauses`: of `Robot`."""
    pipeline = Pipeline(NAV, **KEYWORDS)
    ages = {name: {"max_age": 0.3} for name in pipeline.sources if name != "goal"}
    pipeline = Pipeline(NAV, sensors=ages, **KEYWORDS)
    seen: Seen = []

    def towards(observation: Any) -> np.ndarray:
        ahead = 1.0 if observation["goal"][1] > 0 else -1.0
        action = np.array([ahead, 0.1 * observation["scan"][0] / 3], np.float32)
        seen.append(({key: value.copy() for key, value in observation.items()}, action))
        return action

    robot = Robot(silent=range(8, 11))
    robot.goal_at = 14, -0.5
    robot.pauses = dict(pauses or {})
    driver = Driver(pipeline, policy or towards, Limits(box=False, acceleration=100.0), late=100.0)
    about = {"env": NAV, "keywords": KEYWORDS, "agent": 0}
    options = DriveOptions(NAMES, localization="odom", goals=((0.9, 0.0), (6.0, 0.0)), about=about)
    recording = DriveRecording(path)
    now = [0.0]

    def sleep(seconds: float) -> None:
        now[0] += max(seconds, 1e-5)

    node = DriveNode(
        driver,
        robot,
        options,
        record=recording.write,
        say=lambda text: None,
        clock=lambda: now[0],
        sleep=sleep,
    )
    node.run(22 * PERIOD)
    node.close()
    recording.close()
    return seen


@pytest.fixture(scope="module")
def drove(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Seen]:
    path = tmp_path_factory.mktemp("drive") / "drive.mcap"
    return path, drive(path)


def test_episodes_have_what_the_policy_saw(drove: tuple[Path, Seen]) -> None:
    path, seen = drove
    found = list(DriveLog(str(path)).episodes(NAV, KEYWORDS))
    assert len(found) >= 3 and any(episode.arrived for episode in found) and not found[-2].arrived
    check_episodes(found, seen)


def test_a_pause_ends_an_episode(drove: tuple[Path, Seen], tmp_path: Path) -> None:
    """Histories begin anew after it, in the drive and in its recording."""
    path = tmp_path / "paused.mcap"
    seen = drive(path, {16: True, 18: False})
    found = list(DriveLog(str(path)).episodes(NAV, KEYWORDS))
    check_episodes(found, seen)
    assert len(found) > len(list(DriveLog(str(drove[0])).episodes(NAV, KEYWORDS)))
    scan = found[-1].observations["scan"][0].reshape(3, -1)
    assert (scan[0] == scan[1]).all() and (scan[1] == scan[2]).all()


def test_a_car_has_the_angle_of_its_last_command(tmp_path: Path) -> None:
    """No message tells the steering angle."""
    race, path, seen = "mvsim/Race-v0", tmp_path / "race.mcap", []

    def curve(observation: Any) -> np.ndarray:
        action = np.array([-0.9, 0.1 * min(len(seen), 5)], np.float32)
        seen.append(({key: value.copy() for key, value in observation.items()}, action))
        return action

    recording = DriveRecording(path)
    loop = Loop(
        race,
        ROOT / "worlds" / "race.world.xml",
        curve,
        (10.5, 0.4, 1.9),
        None,
        lambda loop: None,
        record=recording.write,
        robot="f1tenth",
        names={"cmd": "/ackermann_cmd"},
        kind="ackermann",
        about={"env": race, "keywords": {}, "agent": 0},
    )
    loop.drive.run(1.5)
    recording.close()
    most = 0.41889647
    steers = [float(observation["steer"][0]) for observation, _ in seen[:7]]
    assert steers == pytest.approx([most * 0.1 * min(max(k - 1, 0), 5) for k in range(7)], abs=1e-5)
    assert loop.vehicle.twist.vx > 0.3
    found = list(DriveLog(str(path)).episodes(race, {}))
    check_episodes(found, seen)
    assert sum(len(episode.actions) for episode in found) >= 20


def check_episodes(found: list[DriveEpisode], seen: Seen) -> None:
    at = 0
    for episode in found:
        for t, action in enumerate(episode.actions):
            # the last step of an episode without its goal is left out
            while seen[at][1].tobytes() != action.tobytes() or any(
                seen[at][0][key].tobytes() != values[t].tobytes()
                for key, values in episode.observations.items()
            ):
                assert t == 0, "an episode has no gaps"
                at += 1
            at += 1
    total = sum(len(episode.actions) for episode in found)
    assert len(seen) - len(found) <= total <= len(seen)


def test_they_are_the_same_in_both_formats(drove: tuple[Path, Seen], tmp_path: Path) -> None:
    pq = pytest.importorskip("pyarrow.parquet", reason="needs the extra lerobot")
    pytest.importorskip("h5py", reason="needs the extra record")
    path, _ = drove
    minari = collect_drives(NAV, [str(path), str(path)], str(tmp_path))
    lerobot = collect_drives(NAV, [str(path), str(path)], str(tmp_path), format="lerobot")
    assert minari.total_episodes == lerobot.total_episodes and minari.total_steps == lerobot.total_steps
    rows = pq.read_table(Path(lerobot.path) / "data/chunk-000/file-000.parquet").to_pylist()
    episodes = list(minari.iterate_episodes())
    actions = np.concatenate([episode.actions for episode in episodes])
    assert actions.tobytes() == np.array([row["action"] for row in rows], np.float32).tobytes()
    scans = np.concatenate([episode.observations["scan"][:-1] for episode in episodes])
    info = json.loads((Path(lerobot.path) / "meta/info.json").read_text())
    names = info["features"]["observation.state"]["names"]
    columns = [k for k, name in enumerate(names) if name.startswith("scan.")]
    state = np.array([row["observation.state"] for row in rows], np.float32)
    assert scans.tobytes() == state[:, columns].tobytes()
    with pytest.raises(ValueError, match="there is a data set"):
        collect_drives(NAV, [str(path)], str(tmp_path))


def test_files_that_are_no_drive_are_refused(drove: tuple[Path, Seen], tmp_path: Path) -> None:
    pytest.importorskip("h5py", reason="needs the extra record")
    other = tmp_path / "other.mcap"
    file = McapFile(other, "test")
    file.add(Channel(id=1, topic="/x", message_encoding="cdr", metadata={}, schema_id=0))
    file.add(Message(channel_id=1, log_time=1, data=b"x", publish_time=1, sequence=1))
    file.close()
    with pytest.raises(ValueError, match=r"is no recording of `mvsim-gym drive --record`"):
        collect_drives(NAV, [str(other)], str(tmp_path))
    other.write_bytes(b"text")
    with pytest.raises(ValueError, match="is no MCAP file"):
        collect_drives(NAV, [str(other)], str(tmp_path))
    with pytest.raises(FileNotFoundError, match=r"nothing\.mcap"):
        collect_drives(NAV, ["nothing.mcap"], str(tmp_path))
    path = tmp_path / "dry.mcap"
    recording = DriveRecording(path)
    robot = Robot(silent=range(0))
    options = DriveOptions(NAMES, localization="odom", dry=True, about={"keywords": {}, "agent": 0})
    driver = Driver(Pipeline(NAV), lambda _: np.zeros(2, np.float32))
    DriveNode(driver, robot, options, record=recording.write, say=lambda text: None).run(0.3)
    recording.close()
    with pytest.raises(ValueError, match="found a dry run"):
        collect_drives(NAV, [str(path)], str(tmp_path))


def test_a_replay_tells_how_commands_differ(
    drove: tuple[Path, Seen], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A policy that drives half as fast as that of the recording."""
    pytest.importorskip("onnx", reason="needs the extra export")
    pytest.importorskip("onnxruntime", reason="needs the extra deploy")
    import torch

    from mvsim_gym.deploy.export import export_policy
    from mvsim_gym.tools.cli import main
    from mvsim_gym.tools.drive_episodes import replay_drive

    def act(seen: dict[str, torch.Tensor]) -> torch.Tensor:
        ahead = torch.where(seen["goal"][:, 1] > 0, 0.0, -1.0)  # 0 is half of the way from 0 to 0.22 m/s
        return torch.stack([ahead, 0.1 * seen["scan"][:, 0] / 3], dim=1)

    path, seen = drove
    folder = str(tmp_path / "policy")
    export_policy(act, NAV, folder, settings=KEYWORDS)
    found = replay_drive(folder, str(path), settings={}, say=lambda text: None)
    # the last period of an episode without its goal is left out
    assert found.names == ["vx", "omega"] and len(seen) - 4 <= len(found.recorded) <= len(seen)
    np.testing.assert_allclose(found.differences[:, 0], found.recorded[:, 0] / 2, atol=1e-7)
    assert found.differences[:, 1].max() < 1e-6 and found.recorded[:, 0].max() == pytest.approx(0.22)
    assert main(["drive", folder, "--replay", str(path)]) == 0
    told = capsys.readouterr().out.splitlines()
    assert told[-1].startswith(f"all: {len(found.recorded)} periods, differences: vx at most 0.11 m/s"), told
    assert "at its goal" in told[0]
    for further in (["--goal", "1", "2"], ["--dry"], ["--max-speed", "1"], ["--scan", "/x"]):
        assert main(["drive", folder, "--replay", str(path), *further]) == 1
        assert "expected --set alone" in capsys.readouterr().err
    assert main(["drive", folder, "--replay", "nothing.mcap"]) == 1
