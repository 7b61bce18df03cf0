"""Reads a log from rosbag1 files, rosbag2 folders and MCAP files, including those of `record`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from mvsim_gym._notices import extra
from mvsim_gym._rotation import yaw_of
from mvsim_gym.identify.log import COLUMNS, Log, LogError, Stream

Row = tuple[str, float, tuple[float, ...]]
"""Stream, time in s, values."""
_MOST_MESSAGES = 2_000_000
_TRUTH = ("ground_truth", "truth", "mocap", "vicon", "optitrack")


def is_bag(path: str) -> bool:
    """Returns whether the name is that of a rosbag1 file, an MCAP file or a rosbag2 folder."""
    return path.endswith((".bag", ".mcap", ".db3")) or os.path.isdir(path)


def read_bag(path: str, topics: Mapping[str, str] | None = None) -> Log:
    """Reads a log from the topics of a bag.

    Args:
        topics: topic of each stream, e.g. `{"odometry": "/husky/odom"}`. The topic of any other stream is found by
            type and name. A topic is used once.

    Raises:
        LogError: the bag is damaged, or has no topic that can be used.
        ImportError: the extra `record` is missing.
        OSError: the bag cannot be read.
    """
    if path.endswith(".mcap"):
        return read_mcap(path, topics)
    with extra("a bag", "record"):
        from rosbags.highlevel import AnyReader
        from rosbags.typesys import Stores, get_typestore
    if not os.path.exists(path):
        raise FileNotFoundError(f"'{path}' is not there")
    given = Path(path).parent if path.endswith(".db3") else Path(path)
    rows: list[Row] = []
    try:
        with AnyReader([given], default_typestore=get_typestore(Stores.ROS2_HUMBLE)) as reader:
            plan = _plan(path, {c.topic: c.msgtype for c in reader.connections}, topics or {})
            chosen = [c for c in reader.connections if c.topic in plan]
            for connection, stamp, raw in reader.messages(connections=chosen):
                message = reader.deserialize(raw, connection.msgtype)
                rows += plan[connection.topic](message, stamp)
                if len(rows) > _MOST_MESSAGES:
                    raise LogError(f"{path}: found more than {_MOST_MESSAGES} messages")
    except (LogError, FileNotFoundError, PermissionError):
        raise
    except Exception as error:  # of rosbags, and of the libraries under it where bytes are damaged
        raise LogError(f"{path}: {error or type(error).__name__}, expected a whole bag") from error
    return _log_of(path, rows)


def read_mcap(path: str, topics: Mapping[str, str] | None = None) -> Log:
    """Does the same as `read_bag` for an MCAP file of ROS 2 messages. If the writing process was killed, the complete
    part is read."""
    with extra("a recording", "record"):
        from mvsim_gym.recording.mcap_reading import Recorded
    try:
        recorded = Recorded(path)
        plan = _plan(path, {topic: found.kind for topic, found in recorded.topics.items()}, topics or {})
        rows = [
            row
            for topic, read in plan.items()
            for index, stamp in enumerate(recorded.topics[topic].times)
            for row in read(recorded.message(topic, index), stamp)
        ]
    except LogError:
        raise
    except ValueError as error:
        raise LogError(f"{path}: {error}") from error
    log = _log_of(path, rows)
    if recorded.damage is not None:
        log.notes.append(f"{path}: the end is missing ({recorded.damage})")
    return log


def _plan(
    path: str, kinds: Mapping[str, str], wanted: Mapping[str, str]
) -> dict[str, Callable[[Any, int], Iterator[Row]]]:
    """Returns for each topic in use a function from message and stamp to rows."""
    for stream, topic in wanted.items():
        if stream not in COLUMNS:
            raise LogError(f"topic map: found '{stream}', expected one of {', '.join(COLUMNS)}")
        if topic not in kinds:
            raise LogError(f"{path}: found no topic '{topic}', expected one of {', '.join(sorted(kinds))}")
    plan: dict[str, Callable[[Any, int], Iterator[Row]]] = {}
    filled: set[str] = set()
    for topic, stream in [(t, s) for s, t in wanted.items()] + [(t, "") for t in sorted(kinds)]:
        kind = kinds[topic].replace("/msg/", "/").rpartition("/")[2]
        if topic in plan or kind not in _READERS:
            if stream and kind not in _READERS:
                raise LogError(f"{path}: {topic} holds {kinds[topic]}, expected one of {', '.join(_READERS)}")
            continue
        is_truth = stream == "pose" or (not stream and any(word in topic.lower() for word in _TRUTH))
        streams, reader = _READERS[kind]
        if kind == "Odometry":
            streams = ("pose", "velocity") if is_truth else ("odometry",)
            reader = _truth if is_truth else _odometry
        elif kind in ("PoseStamped", "PoseWithCovarianceStamped") and not is_truth:
            continue
        if filled & set(streams):
            continue
        filled |= set(streams)
        plan[topic] = reader
    if not plan:
        raise LogError(
            f"{path}: found the topics {', '.join(f'{t} ({k})' for t, k in sorted(kinds.items()))}, expected"
            f" one of {', '.join(_READERS)}"
        )
    return plan


def _stamp(message: Any, stamp: int) -> float:
    """Returns the stamp of the header if it is set, else that of the bag, s."""
    header = getattr(message, "header", None)
    if header is not None and (header.stamp.sec or header.stamp.nanosec):
        return float(header.stamp.sec) + 1e-9 * float(header.stamp.nanosec)
    return 1e-9 * stamp


def _twist(message: Any, stamp: int) -> Iterator[Row]:
    twist = getattr(message, "twist", message)
    yield "command", _stamp(message, stamp), (twist.linear.x, twist.angular.z)


def _odometry(message: Any, stamp: int) -> Iterator[Row]:
    twist = message.twist.twist
    yield "odometry", _stamp(message, stamp), (twist.linear.x, twist.angular.z)


def _truth(message: Any, stamp: int) -> Iterator[Row]:
    time = _stamp(message, stamp)
    pose = message.pose.pose
    yield "pose", time, (pose.position.x, pose.position.y, yaw_of(pose.orientation))
    twist = message.twist.twist
    yield "velocity", time, (twist.linear.x, twist.linear.y)


def _pose(message: Any, stamp: int) -> Iterator[Row]:
    pose = getattr(message.pose, "pose", message.pose)
    yield "pose", _stamp(message, stamp), (pose.position.x, pose.position.y, yaw_of(pose.orientation))


def _imu(message: Any, stamp: int) -> Iterator[Row]:
    time = _stamp(message, stamp)
    yield "gyro", time, (message.angular_velocity.z,)
    yield "acceleration", time, (message.linear_acceleration.x, message.linear_acceleration.y)


_READERS: dict[str, tuple[tuple[str, ...], Callable[[Any, int], Iterator[Row]]]] = {
    "Twist": (("command",), _twist),
    "TwistStamped": (("command",), _twist),
    "Odometry": (("odometry",), _odometry),
    "Imu": (("gyro", "acceleration"), _imu),
    "PoseStamped": (("pose",), _pose),
    "PoseWithCovarianceStamped": (("pose",), _pose),
}


def _log_of(path: str, rows: list[Row]) -> Log:
    streams = {}
    notes = []
    for name, columns in COLUMNS.items():
        own = [(time, *values) for stream, time, values in rows if stream == name]
        if len(own) < 2:
            continue
        table = np.array(sorted(own), float)
        good = np.isfinite(table).all(axis=1)
        if not good.all():
            notes.append(f"{path}: left out {int((~good).sum())} samples of {name} that are not finite")
        table = table[good]
        streams[name] = Stream(table[:, 0], table[:, 1:], columns or ("vx", "omega"))
    if not streams:
        raise LogError(f"{path}: found no two samples of any stream")
    start = min(float(s.time[0]) for s in streams.values())
    # Times since the first sample keep their digits.
    shifted = {name: stream.shifted(-start) for name, stream in streams.items()}
    return Log(os.path.basename(path.rstrip("/")), shifted, notes)
