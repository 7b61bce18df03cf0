"""Bags of ROS 1 and ROS 2, written by the library rosbags, as logs of a robot."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("scipy", reason="the extra identify is not installed")
pytest.importorskip("rosbags", reason="the extra record is not installed")

from identify_logs import SKID, driven
from rosbags.rosbag1 import Writer as Writer1
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

from mvsim_gym.identify import Log, LogError, Robot, Stream, identify, read_log

FORMS = ("sqlite3", "mcap", "ros1")
START = 1.7e9  # s: clocks of robots count from 1970


class Messages:
    """Makes the messages of a log by the types of ROS 1 or ROS 2."""

    def __init__(self, ros1: bool) -> None:
        self.store = get_typestore(Stores.ROS1_NOETIC if ros1 else Stores.ROS2_HUMBLE)
        self.encode = self.store.serialize_ros1 if ros1 else self.store.serialize_cdr
        self._own = {"seq": 0} if ros1 else {}

    def make(self, name: str, **fields: Any) -> Any:
        return self.store.types[name](**fields)

    def vector(self, x: float = 0, y: float = 0, z: float = 0, name: str = "Vector3") -> Any:
        return self.make(f"geometry_msgs/msg/{name}", x=float(x), y=float(y), z=float(z))

    def turned(self, yaw: float) -> Any:
        return self.make(
            "geometry_msgs/msg/Quaternion", x=0.0, y=0.0, z=float(np.sin(yaw / 2)), w=float(np.cos(yaw / 2))
        )

    def header(self, time: float) -> Any:
        stamp = self.make(
            "builtin_interfaces/msg/Time", sec=int(time), nanosec=round((time - int(time)) * 1e9) % 10**9
        )
        return self.make("std_msgs/msg/Header", stamp=stamp, frame_id="base_link", **self._own)

    def twist(self, vx: float, omega: float) -> Any:
        return self.make("geometry_msgs/msg/Twist", linear=self.vector(vx), angular=self.vector(z=omega))

    def pose(self, x: float, y: float, yaw: float) -> Any:
        return self.make(
            "geometry_msgs/msg/Pose", position=self.vector(x, y, name="Point"), orientation=self.turned(yaw)
        )

    def of(self, kind: str, time: float, row: np.ndarray) -> Any:
        """Returns the message of a sample of a stream."""
        if kind.endswith("Twist"):
            return self.twist(*row)
        if kind.endswith("Odometry"):
            pose = self.make(
                "geometry_msgs/msg/PoseWithCovariance", pose=self.pose(0, 0, 0), covariance=np.zeros(36)
            )
            twist = self.make(
                "geometry_msgs/msg/TwistWithCovariance", twist=self.twist(*row), covariance=np.zeros(36)
            )
            return self.make(
                kind, header=self.header(time), child_frame_id="base_link", pose=pose, twist=twist
            )
        if kind.endswith("PoseStamped"):
            return self.make(kind, header=self.header(time), pose=self.pose(*row))
        none = np.zeros(9)
        return self.make(
            kind,
            header=self.header(time),
            orientation=self.turned(0),
            orientation_covariance=none,
            angular_velocity=self.vector(z=row[0]),
            angular_velocity_covariance=none,
            linear_acceleration=self.vector(z=9.81),
            linear_acceleration_covariance=none,
        )


TOPICS = {
    "command": ("/cmd_vel", "geometry_msgs/msg/Twist"),
    "odometry": ("/robot/odom", "nav_msgs/msg/Odometry"),
    "gyro": ("/imu/data", "sensor_msgs/msg/Imu"),
    "pose": ("/mocap/base", "geometry_msgs/msg/PoseStamped"),
}


def write_bag(log: Log, path: Path, form: str) -> None:
    """Writes the streams of a log to a bag, in the order of time."""
    messages = Messages(form == "ros1")
    samples = sorted(
        (time, name, tuple(row))
        for name, stream in log.streams.items()
        for time, row in zip(stream.time, stream.values, strict=True)
    )
    storage = StoragePlugin.MCAP if form == "mcap" else StoragePlugin.SQLITE3
    writer = Writer1(path) if form == "ros1" else Writer(path, version=9, storage_plugin=storage)
    with writer:
        topics = {
            name: writer.add_connection(*TOPICS[name], typestore=messages.store) for name in log.streams
        }
        for time, name, row in samples:
            kind = TOPICS[name][1]
            message = messages.of(kind, START + time, np.array(row))
            writer.write(topics[name], round((START + time) * 1e9), messages.encode(message, kind))


def short_log() -> Log:
    time = np.arange(40) * 0.02
    return Log(
        "short",
        {
            "command": Stream(time, np.column_stack([0.5 + 0 * time, time]), ("vx", "omega")),
            "odometry": Stream(time, np.column_stack([0.4 + 0 * time, time]), ("vx", "omega")),
            "gyro": Stream(time, time[:, None], ("omega",)),
            "pose": Stream(time, np.column_stack([time, 2 * time, 0.1 * time]), ("x", "y", "yaw")),
        },
    )


@pytest.mark.parametrize("form", FORMS)
def test_a_bag_has_the_samples_that_were_written(tmp_path: Path, form: str) -> None:
    path, written = tmp_path / ("run.bag" if form == "ros1" else "run"), short_log()
    write_bag(written, path, form)
    log = read_log(str(path))
    assert set(log.streams) == {*written.streams, "acceleration"}
    for name, stream in written.streams.items():
        assert log.streams[name].time == pytest.approx(
            stream.time, abs=1e-6
        )  # a double of 1.7e9 s has 0.24 us
        assert log.streams[name].values == pytest.approx(stream.values, abs=1e-12)
    if form == "sqlite3":
        assert set(read_log(str(path / "run.db3")).streams) == set(log.streams)
        other = read_log(str(path), topics={"odometry": "/robot/odom"})
        assert set(other.streams) == set(log.streams)
        with pytest.raises(LogError, match=r"no topic '/odom', expected one of /cmd_vel, /imu/data"):
            read_log(str(path), topics={"odometry": "/odom"})


def test_identify_fits_a_robot_to_a_rosbag2(tmp_path: Path) -> None:
    (tmp_path / "skid.vehicle.xml").write_text(SKID)
    with Robot(str(tmp_path / "skid.vehicle.xml")) as robot:
        write_bag(driven(robot, {"mu": 0.4}, 1, 8), tmp_path / "run", "sqlite3")
        found = identify(robot, [read_log(str(tmp_path / "run"))], ["mu"], starts=1, window=4)
    assert found.fitted["mu"].value == pytest.approx(0.4, rel=0.02)
    assert found.is_better


@pytest.mark.parametrize("form", FORMS)
def test_a_damaged_bag_is_refused(tmp_path: Path, form: str) -> None:
    """Any damage gives samples or a clear error, and no other."""
    path = tmp_path / ("run.bag" if form == "ros1" else "run")
    write_bag(short_log(), path, form)
    files = [path] if path.is_file() else sorted(path.iterdir())
    random = np.random.default_rng(0)
    refused = 0
    for trial in range(60):
        file = files[trial % len(files)]
        whole = file.read_bytes()
        damaged = bytearray(whole[: random.integers(len(whole))] if trial % 2 else whole)
        for _ in range(20 if damaged else 0):
            damaged[random.integers(len(damaged))] = random.integers(256)
        file.write_bytes(damaged)
        try:
            read_log(str(path))
        except LogError as error:
            refused += 1
            assert str(path) in str(error)
        file.write_bytes(whole)
    assert refused > 30
