"""What a log holds, as arrays: CSV files of a World and of `mvsim-gym replay`, and MCAP recordings."""

from __future__ import annotations

import csv
import os
import struct
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

__all__ = ["Track", "Wheels", "read_log"]


@dataclass
class Track:
    """One vehicle over time."""

    name: str
    time: Array
    """s"""
    pose: Array
    """(n, 3) true x, y, yaw: m, m, rad"""
    twist: Array | None = None
    """(n, 3) true speeds in the body frame: m/s, m/s, rad/s"""
    odometry: Array | None = None
    """(n, 2) x, y by the wheels"""
    scans: dict[str, Scans] = field(default_factory=dict)


@dataclass
class Scans:
    """All scans of a lidar."""

    time: Array
    angles: Array
    ranges: Array
    """(scans, rays), NaN where nothing was hit"""
    mount: Array
    """x, y, yaw on the vehicle"""


@dataclass
class Wheels:
    """One wheel over time: columns of its CSV file."""

    name: str
    columns: dict[str, Array]


def read_log(path: str) -> list[Track] | list[Wheels]:
    """What a file holds.

    Raises:
        ValueError: it is no log, or one without a row.
        OSError, ImportError: it cannot be read.
    """
    if path.endswith(".mcap"):
        return _recording(path)
    columns = _columns(path)
    name = os.path.basename(path).removesuffix(".csv")
    if "q0x" in columns:
        return [_pose_log(name, columns)]
    if "wheel_pos_x" in columns:
        return [Wheels(name, columns)]
    if "t" in columns:
        return _replayed(columns)
    raise ValueError(f"'{path}' is no log: found the columns {', '.join(list(columns)[:5])}...")


def _columns(path: str) -> dict[str, Array]:
    try:
        with open(path, newline="", encoding="utf-8") as file:
            rows = list(csv.reader(file, skipinitialspace=True, strict=True))
        table = np.array(rows[1:], float)
        if table.ndim != 2 or table.shape[1] != len(rows[0]):
            raise ValueError("no row")
    except (csv.Error, ValueError, IndexError) as error:
        raise ValueError(f"'{path}' is no log of numbers: {error}") from None
    return dict(zip(rows[0], table.T, strict=True))


def _stack(columns: dict[str, Array], *names: str) -> Array:
    return np.stack([columns[name] for name in names], axis=1)


def _pose_log(name: str, columns: dict[str, Array]) -> Track:
    return Track(
        name.removeprefix("mvsim_").removesuffix("_pose"),
        columns["Timestamp"],
        _stack(columns, "q0x", "q1y", "q3yaw"),
        _stack(columns, "dqx", "dqy", "dqw"),
        _stack(columns, "odo_x", "odo_y"),
    )


def _replayed(columns: dict[str, Array]) -> list[Track]:
    names = [column.removesuffix(".odo_yaw") for column in columns if column.endswith(".odo_yaw")]
    return [
        Track(
            name,
            columns["t"],
            _stack(columns, *(f"{name}.{part}" for part in ("x", "y", "yaw"))),
            _stack(columns, *(f"{name}.{part}" for part in ("vx_local", "vy_local", "w"))),
            _stack(columns, *(f"{name}.{part}" for part in ("odo_x", "odo_y"))),
        )
        for name in names
    ]


def _recording(path: str) -> list[Track]:
    from mvsim_gym._extras import extra

    with extra("plot of a recording", "record"):
        from mcap.exceptions import McapError
        from mcap.reader import make_reader

        from mvsim_gym.ros.messages import STORE
    wanted = {"nav_msgs/msg/Odometry", "sensor_msgs/msg/LaserScan", "tf2_msgs/msg/TFMessage"}
    found: dict[str, list[Any]] = {}
    try:
        with open(path, "rb") as file:
            for schema, channel, message in make_reader(file).iter_messages():
                if schema is not None and schema.name in wanted:
                    decoded = STORE.deserialize_cdr(message.data, schema.name)
                    found.setdefault(channel.topic, []).append(decoded)
    except (McapError, struct.error) as error:
        raise ValueError(f"'{path}' is no finished recording ({error}): try mvsim-gym repair") from None
    prefixes = [topic.removesuffix("/odom") for topic in found if topic.endswith("/odom")]
    return [_vehicle(prefix, found) for prefix in prefixes]


def _vehicle(prefix: str, found: dict[str, list[Any]]) -> Track:
    truth, odometry = found[f"{prefix}/base_pose_ground_truth"], found[f"{prefix}/odom"]
    scans: dict[str, list[Any]] = {
        topic: messages
        for topic, messages in found.items()
        if topic.rpartition("/")[0] == prefix and "LaserScan" in messages[0].__msgtype__
    }
    mounts = {
        edge.child_frame_id: edge.transform
        for message in found.get(f"{prefix}/tf", [])
        for edge in message.transforms
        if edge.header.frame_id.rpartition("/")[2] == "base_link"  # of several vehicles with a prefix
    }
    twists = [m.twist.twist for m in truth]
    return Track(
        prefix.strip("/") or "vehicle",
        _times(truth),
        np.array([_planar(m.pose.pose.position, m.pose.pose.orientation) for m in truth]),
        np.array([(t.linear.x, t.linear.y, t.angular.z) for t in twists]),
        np.array([(m.pose.pose.position.x, m.pose.pose.position.y) for m in odometry]),
        {
            topic.rpartition("/")[2]: _scans(messages, mounts[messages[0].header.frame_id])
            for topic, messages in scans.items()
        },
    )


def _scans(messages: list[Any], mount: Any) -> Scans:
    first = messages[0]
    ranges = np.stack([m.ranges for m in messages]).astype(float)
    ranges[~np.isfinite(ranges) | (ranges >= first.range_max)] = np.nan
    angles = first.angle_min + first.angle_increment * np.arange(ranges.shape[1])
    return Scans(_times(messages), angles, ranges, np.array(_planar(mount.translation, mount.rotation)))


def _times(messages: list[Any]) -> Array:
    return np.array([m.header.stamp.sec + 1e-9 * m.header.stamp.nanosec for m in messages])


def _planar(place: Any, q: Any) -> tuple[float, float, float]:
    yaw = np.arctan2(2 * (q.w * q.z + q.x * q.y), 1 - 2 * (q.y**2 + q.z**2))
    return place.x, place.y, float(yaw)
