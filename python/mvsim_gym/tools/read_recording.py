"""Trajectories and scans of the vehicles of a recording, as arrays."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from mvsim_gym._notices import extra
from mvsim_gym.tools.read_log import Array, Scans, Track

if TYPE_CHECKING:
    from mvsim_gym.recording.recorded import Recorded

_ODOMETRY, _SCAN, _FRAMES = "nav_msgs/msg/Odometry", "sensor_msgs/msg/LaserScan", "tf2_msgs/msg/TFMessage"
_TRUTH = "base_pose_ground_truth"
_MOST_MESSAGES = 20_000  # most decoded poses of all vehicles: a picture cannot show more
_MOST_SCANS = 1000  # most decoded scans of all vehicles
_MOST_RAYS = 5_000_000  # most rays of all scans
_MOST_VEHICLES = 50
_FAR = 1e9  # m


def tracks_of(path: str) -> list[Track]:
    """Returns the vehicles of a recording. From a long recording, evenly spaced messages are taken.

    Raises:
        ValueError: the recording is damaged, or has no vehicles.
        OSError, ImportError: the file cannot be read.
    """
    with extra("plot of a recording", "record"):
        from mvsim_gym.recording.recorded import Recorded
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
        rows.append(np.where(np.isfinite(ranges) & (ranges < min(first.range_max, _FAR)), ranges, np.nan))
    ((start, step),) = _checked([(first.angle_min, first.angle_increment)], topic).tolist()
    return Scans(np.array(times), start + step * np.arange(rays), np.stack(rows), mounts[frame])


def _checked(rows: list[Any], topic: str) -> Array:
    """Returns the rows as an array, if all numbers can be drawn."""
    found = np.array(rows, float)
    good = np.abs(found) < _FAR  # False for NaN
    if not good.all():
        raise ValueError(f"{topic}: found the number {found[~good][0]:g}, expected less than {_FAR:g}")
    return found


def _time(message: Any) -> float:
    return float(message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec)


def _planar(place: Any, q: Any) -> tuple[float, float, float]:
    with np.errstate(all="ignore"):  # `_checked` finds NaN and infinity later
        yaw = np.arctan2(2 * (q.w * q.z + q.x * q.y), 1 - 2 * (np.float64(q.y) ** 2 + np.float64(q.z) ** 2))
    return place.x, place.y, float(yaw)
