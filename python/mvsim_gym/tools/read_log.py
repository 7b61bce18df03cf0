"""Logs as arrays: CSV files of a World and of `mvsim-gym replay`, and MCAP recordings."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np
import numpy.typing as npt

from mvsim_gym._notices import extra

if TYPE_CHECKING:
    from mvsim_gym.recording.mcap_reading import Recorded


Array = npt.NDArray[np.float64]

_MOST_BYTES = 2**28  # largest size of a CSV file
_LONGEST_LINE = 2**16  # characters
_FAR = 1e15  # no value of a log is larger


@dataclass
class Track:
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
    time: Array
    angles: Array
    ranges: Array
    """(scans, rays) m, NaN for rays without a hit"""
    mount: Array
    """x, y, yaw of the lidar on the vehicle"""


@dataclass
class Wheels:
    """One wheel over time: columns of its CSV file."""

    name: str
    columns: dict[str, Array]


def read_log(path: str) -> list[Track] | list[Wheels]:
    """Returns the vehicles or the wheels of a log.

    Raises:
        ValueError: the file is no log, or has no row.
        OSError, ImportError: the file cannot be read.
    """
    if path.endswith(".mcap"):
        return tracks_of(path)
    columns = _columns(path)
    name = os.path.basename(path).removesuffix(".csv")
    try:
        if "q0x" in columns:
            return [_pose_log(name, columns)]
        if "wheel_pos_x" in columns:
            _column(columns, "Timestamp")
            return [Wheels(name, columns)]
        if "t" in columns and (found := _replayed(columns)):
            return found
    except ValueError as error:
        raise ValueError(f"'{path}': {error}") from None
    raise ValueError(f"'{path}' is no log: found the columns {', '.join(list(columns)[:5])[:200]}...")


def _columns(path: str) -> dict[str, Array]:
    size = os.path.getsize(path)
    if size > _MOST_BYTES:
        raise ValueError(f"'{path}' has {size} bytes, expected at most {_MOST_BYTES}")
    with open(path, encoding="utf-8") as file:
        lines = _Lines(file)
        try:
            names = [name.strip().strip('"') for name in next(lines, "").split(",")]
            rows = list(_rows(lines, len(names)))
        except UnicodeDecodeError:
            raise ValueError(f"'{path}' is no log: it is no text in UTF-8") from None
        except ValueError as error:
            raise ValueError(f"{path}:{lines.count}: {error}") from None
    if not rows:
        raise ValueError(f"'{path}' is no log of numbers: no row is in it")
    return dict(zip(names, np.stack(rows).T, strict=True))


class _Lines(Iterator[str]):
    """The lines of a file that are not empty; refuses a line that is too long."""

    def __init__(self, file: TextIO) -> None:
        self._file, self.count = file, 0

    def __next__(self) -> str:
        while line := self._file.readline(_LONGEST_LINE):
            self.count += 1
            if len(line) == _LONGEST_LINE:
                raise ValueError(
                    f"found a line of more than {len(line)} characters, expected a log of numbers"
                )
            if line.strip():
                return line
        raise StopIteration


def _rows(lines: Iterator[str], size: int) -> Iterator[Array]:
    for line in lines:
        cells = line.split(",")
        if len(cells) != size:
            raise ValueError(f"found {len(cells)} cells, expected a log with the {size} of the first line")
        try:
            row = np.array(cells, float)
        except ValueError as error:
            raise ValueError(f"{' '.join(str(error).split())[:100]}, expected a log of numbers") from None
        if (np.abs(row) > _FAR).any():
            raise ValueError(f"found {row[np.nanargmax(np.abs(row))]:g}, expected the numbers of a world")
        yield row


def _stack(columns: dict[str, Array], *names: str) -> Array:
    return np.stack([_column(columns, name) for name in names], axis=1)


def _column(columns: dict[str, Array], name: str) -> Array:
    if name not in columns:
        raise ValueError(f"this log has no column '{name}'")
    return columns[name]


def _pose_log(name: str, columns: dict[str, Array]) -> Track:
    return Track(
        name.removeprefix("mvsim_").removesuffix("_pose"),
        _column(columns, "Timestamp"),
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


_ODOMETRY, _SCAN, _FRAMES = "nav_msgs/msg/Odometry", "sensor_msgs/msg/LaserScan", "tf2_msgs/msg/TFMessage"
_TRUTH = "base_pose_ground_truth"
_MOST_MESSAGES = 20_000  # most decoded poses of all vehicles: a picture cannot show more
_MOST_SCANS = 1000  # most decoded scans of all vehicles
_MOST_RAYS = 5_000_000  # most rays of all scans
_MOST_VEHICLES = 50
_FARTHEST = 1e9  # m


def tracks_of(path: str) -> list[Track]:
    """Returns the vehicles of a recording. From a long recording, evenly spaced messages are taken.

    Raises:
        ValueError: the recording is damaged, or has no vehicles.
        OSError, ImportError: the file cannot be read.
    """
    with extra("plot of a recording", "record"):
        from mvsim_gym.recording.mcap_reading import Recorded
    recorded = Recorded(path)
    if recorded.damage is not None:
        raise ValueError(f"'{path}' is no finished recording ({recorded.damage}): try mvsim-gym repair")
    prefixes = [
        topic.removesuffix(f"/{_TRUTH}")
        for topic, found in recorded.topics.items()
        if topic.endswith(f"/{_TRUTH}") and found.kind == _ODOMETRY and len(found.times)
    ]
    if not 0 < len(prefixes) <= _MOST_VEHICLES:
        raise ValueError(
            f"'{path}' has the topic {_TRUTH} of {len(prefixes)} vehicles, expected 1 to {_MOST_VEHICLES}"
        )
    try:
        return [_vehicle(recorded, prefix, len(prefixes)) for prefix in prefixes]
    except ValueError as error:
        raise ValueError(f"'{path}' cannot be drawn: {error}") from None


def _messages(recorded: Recorded, topic: str, kind: str, most: int) -> Iterator[Any]:
    """Yields evenly spaced messages of a topic, including the last one."""
    found = recorded.topics.get(topic)
    if found is None or found.kind != kind:
        return
    count = len(found.times)
    stride = max(1, -(-count // max(most, 1)))
    for index in range((count - 1) % stride, count, stride):
        yield recorded.message(topic, index)


def _vehicle(recorded: Recorded, prefix: str, of: int) -> Track:
    most = _MOST_MESSAGES // of // 2
    truth = [
        (
            *(_time(m), *_planar(m.pose.pose.position, m.pose.pose.orientation)),
            *(m.twist.twist.linear.x, m.twist.twist.linear.y, m.twist.twist.angular.z),
        )
        for m in _messages(recorded, f"{prefix}/{_TRUTH}", _ODOMETRY, most)
    ]
    odometry = [
        (m.pose.pose.position.x, m.pose.pose.position.y)
        for m in _messages(recorded, f"{prefix}/odom", _ODOMETRY, most)
    ]
    rows = _checked(truth, f"{prefix}/{_TRUTH}")
    topics = [
        topic
        for topic, found in recorded.topics.items()
        if topic.rpartition("/")[0] == prefix and found.kind == _SCAN and len(found.times)
    ]
    mounts = _mounts(recorded, prefix) if topics else {}
    return Track(
        prefix.strip("/") or "vehicle",
        rows[:, 0],
        rows[:, 1:4],
        rows[:, 4:],
        _checked(odometry, f"{prefix}/odom") if odometry else None,
        {topic.rpartition("/")[2]: _scans(recorded, topic, mounts, of * len(topics)) for topic in topics},
    )


def _mounts(recorded: Recorded, prefix: str) -> dict[str, Array]:
    """Returns x, y and yaw on the vehicle by frame."""
    mounts: dict[str, Array] = {}
    for topic in dict.fromkeys((f"{prefix}/tf", f"{prefix}/tf_static", "/tf", "/tf_static")):
        for message in _messages(recorded, topic, _FRAMES, _MOST_SCANS):
            for edge in message.transforms:
                # the frame has a prefix if there are several vehicles
                if edge.header.frame_id.rpartition("/")[2] == "base_link":
                    place = _planar(edge.transform.translation, edge.transform.rotation)
                    mounts.setdefault(edge.child_frame_id, _checked([place], topic)[0])
    return mounts


def _scans(recorded: Recorded, topic: str, mounts: dict[str, Array], of: int) -> Scans:
    first = recorded.message(topic, 0)
    rays, frame = len(first.ranges), first.header.frame_id
    if frame not in mounts:
        raise ValueError(f"found no transform to the frame '{frame[:100]}' of {topic}")
    times, rows = [], []
    most = min(_MOST_SCANS, _MOST_RAYS // max(rays, 1)) // of
    for message in _messages(recorded, topic, _SCAN, most):
        if len(message.ranges) != rays:
            raise ValueError(f"{topic}: found a scan of {len(message.ranges)} rays, expected {rays}")
        times.append(_time(message))
        with np.errstate(invalid="ignore"):  # for signalling NaNs
            ranges = np.asarray(message.ranges, float)
        rows.append(
            np.where(np.isfinite(ranges) & (ranges < min(first.range_max, _FARTHEST)), ranges, np.nan)
        )
    ((start, step),) = _checked([(first.angle_min, first.angle_increment)], topic).tolist()
    return Scans(np.array(times), start + step * np.arange(rays), np.stack(rows), mounts[frame])


def _checked(rows: list[Any], topic: str) -> Array:
    """Returns the rows as an array, if all numbers can be drawn."""
    found = np.array(rows, float)
    good = np.abs(found) < _FARTHEST  # False for NaN
    if not good.all():
        raise ValueError(f"{topic}: found the number {found[~good][0]:g}, expected less than {_FARTHEST:g}")
    return found


def _time(message: Any) -> float:
    return float(message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec)


def _planar(place: Any, q: Any) -> tuple[float, float, float]:
    with np.errstate(all="ignore"):  # `_checked` finds NaN and infinity later
        yaw = np.arctan2(2 * (q.w * q.z + q.x * q.y), 1 - 2 * (np.float64(q.y) ** 2 + np.float64(q.z) ** 2))
    return place.x, place.y, float(yaw)
