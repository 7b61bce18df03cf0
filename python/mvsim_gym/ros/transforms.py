"""Transforms of `/tf` and `/tf_static` (frames of REP 105): those that a node publishes, and the interpolation of those
that it receives. They do not need tf2."""

from __future__ import annotations

import math
from bisect import bisect_left

import numpy as np

from mvsim_gym._rotation import angles_of, rotation_of
from mvsim_gym.part_states import Pose
from mvsim_gym.ros.messages import Message, Messages
from mvsim_gym.ros.topics import STATES, Sink

Pose2 = tuple[float, float, float]
"""x and y (m) and yaw (rad) of a frame in another one."""

_KEPT = 10 * 10**9  # ns of history of an edge
_RESET = 10**9  # ns that a stamp may be before the latest one; beyond, the clock was set back
_MOST_EDGES = 1000  # the network may send any names
_MOST_STAMPS = 5000  # of an edge
_DEEPEST = 50  # edges from a frame to the root of its tree


class TransformError(LookupError):
    """A transform that is missing, too old, or of a time that is not kept any more."""


class _Edge:
    """The poses of a frame in its parent, by stamp."""

    def __init__(self, parent: str) -> None:
        self.parent = parent
        self.stamps: list[int] = []  # ns, increasing
        self.poses: list[Pose2] = []
        self.is_static = False
        self.arrived = 0.0  # s of the caller's clock

    def add(self, stamp: int, pose: Pose2) -> None:
        if self.stamps and stamp < self.stamps[-1] - _RESET:
            self.stamps.clear()
            self.poses.clear()
        place = bisect_left(self.stamps, stamp)
        if place < len(self.stamps) and self.stamps[place] == stamp:
            self.poses[place] = pose
            return
        self.stamps.insert(place, stamp)
        self.poses.insert(place, pose)
        old = bisect_left(self.stamps, self.stamps[-1] - _KEPT)
        old = max(old, len(self.stamps) - _MOST_STAMPS)
        del self.stamps[:old], self.poses[:old]


class TransformBuffer:
    """Keeps the transforms of the last 10 s, in the plane, and computes the pose of a frame in another one.

    Between two stamps the translation is interpolated linearly, and the yaw on the shorter arc at a constant rate (the
    slerp of rotations about z). Nothing is extrapolated: after the newest stamp the newest transform holds for `limit`
    seconds, and a later time is refused. A time before the oldest stamp is refused too. An edge of which nothing has
    arrived for `limit` seconds is refused at any time: AMCL stamps transforms in the future, so stamps alone would hold
    a dead source for longer.

    Args:
        limit: largest age of the newest transform of an edge, by its stamp and by its arrival, s.
    """

    def __init__(self, limit: float = 1.0) -> None:
        self.set_limit(limit)
        self._edges: dict[str, _Edge] = {}  # by child

    def set_limit(self, limit: float) -> None:
        """Sets the largest age, s. ValueError for an invalid one."""
        if not (math.isfinite(limit) and limit >= 0):
            raise ValueError(f"limit of transforms: found {limit}, expected seconds of at least 0")
        self.limit = limit

    def add(
        self, frame: str, child: str, pose: Pose2, stamp: int, now: float, *, static: bool = False
    ) -> None:
        """Takes the pose of `child` in `frame`.

        Args:
            stamp: ns of the sender's clock.
            now: time of arrival, s of the caller's clock.
            static: the pose holds at all times.

        Raises:
            ValueError: a value is not finite, a frame has no name or is its own child, or there are too many frames.
        """
        frame, child = frame.strip("/"), child.strip("/")
        if not frame or not child or frame == child:
            raise ValueError(f"found a transform from '{frame}' to '{child}', expected two different names")
        if not all(map(math.isfinite, pose)):
            raise ValueError(f"'{frame}' to '{child}': a value is not finite")
        edge = self._edges.get(child)
        if edge is None or edge.parent != frame:
            if edge is None and len(self._edges) >= _MOST_EDGES:
                raise ValueError(f"found more than {_MOST_EDGES} frames")
            edge = self._edges[child] = _Edge(frame)
        edge.is_static, edge.arrived = static, now
        if static:
            edge.stamps, edge.poses = [stamp], [pose]
        else:
            edge.add(stamp, pose)

    def pose(self, frame: str, child: str, stamp: int | None, now: float) -> Pose2:
        """Returns the pose of `child` in `frame` at a time.

        Args:
            stamp: ns of the senders' clock; None: the newest transforms.
            now: s of the caller's clock.

        Raises:
            TransformError: the frames are not connected, or the time is refused; the message names the edge.
        """
        frame, child = frame.strip("/"), child.strip("/")
        above, below = self._to_root(frame), self._to_root(child)
        while above and below and above[-1] == below[-1]:  # edges that both have
            above.pop()
            below.pop()
        root = self._edges[above[-1]].parent if above else frame
        other = self._edges[below[-1]].parent if below else child
        if root != other:
            raise TransformError(f"no transform from '{frame}' to '{child}' has come")
        return composed(inverted(self._chain(above, stamp, now)), self._chain(below, stamp, now))

    def _to_root(self, frame: str) -> list[str]:
        """Returns the children of the edges from a frame to the root of its tree."""
        found: list[str] = []
        while frame in self._edges:
            if len(found) == _DEEPEST:
                raise TransformError(f"the tree of '{found[0]}' has a loop, or more than {_DEEPEST} edges")
            found.append(frame)
            frame = self._edges[frame].parent
        return found

    def _chain(self, children: list[str], stamp: int | None, now: float) -> Pose2:
        """Returns the pose of the first of the children in the parent of the last one."""
        pose = (0.0, 0.0, 0.0)
        for child in children:
            pose = composed(self._at(child, stamp, now), pose)
        return pose

    def _at(self, child: str, stamp: int | None, now: float) -> Pose2:
        edge = self._edges[child]
        if edge.is_static:
            return edge.poses[-1]
        newest = edge.stamps[-1]
        since = now - edge.arrived
        age = since if stamp is None else max(since, (stamp - newest) * 1e-9)
        if age > self.limit:
            raise TransformError(
                f"the transform from '{edge.parent}' to '{child}' is {age:.3f} s old, limit {self.limit:.3g} s"
            )
        if stamp is None or stamp >= newest:
            return edge.poses[-1]
        place = bisect_left(edge.stamps, stamp)
        if edge.stamps[place] == stamp:
            return edge.poses[place]
        if place == 0:
            raise TransformError(
                f"the transforms from '{edge.parent}' to '{child}' begin {(edge.stamps[0] - stamp) * 1e-9:.3f} s later"
            )
        before, after = edge.stamps[place - 1], edge.stamps[place]
        return _between(edge.poses[place - 1], edge.poses[place], (stamp - before) / (after - before))


def composed(a: Pose2, b: Pose2) -> Pose2:
    """Returns T_a_c of T_a_b and T_b_c."""
    c, s = math.cos(a[2]), math.sin(a[2])
    return a[0] + c * b[0] - s * b[1], a[1] + s * b[0] + c * b[1], a[2] + b[2]


def inverted(a: Pose2) -> Pose2:
    """Returns T_b_a of T_a_b."""
    c, s = math.cos(a[2]), math.sin(a[2])
    return -c * a[0] - s * a[1], s * a[0] - c * a[1], -a[2]


def _between(a: Pose2, b: Pose2, share: float) -> Pose2:
    turn = math.remainder(b[2] - a[2], math.tau)
    return a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1]), a[2] + share * turn


def correction(truth: Pose, odometry: Pose) -> Pose:
    """The pose of `odom` in `map`: the true pose of a vehicle, times the inverse of its odometry. So the chain `map`,
    `odom`, `base_link` gives the true pose, from any start and after any drift."""
    turn = rotation_of(*truth[3:]) @ rotation_of(*odometry[3:]).T
    x, y, z = map(float, np.array(truth[:3]) - turn @ np.array(odometry[:3]))
    return Pose(x, y, z, *angles_of(turn))


class FrameTopics:
    """Writes transforms. Those of one instant go into one message of each topic.

    Several vehicles may share a topic. Their transforms then form one tree, so their frames need prefixes.
    """

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._taken: dict[str, bool] = {}  # offered topics, and whether the sink took them
        self._waiting: dict[str, list[Message]] = {}  # transforms of this instant, by topic
        self._static: dict[str, list[Message]] = {}  # all static transforms so far, by topic

    def offer(self, prefix: str, *names: str) -> None:
        """Offers topics of these names (`tf`, `tf_static`), unless they have been offered."""
        for name in names:
            topic = STATES[name]._replace(name=f"{prefix}/{name}")
            if topic.name not in self._taken:
                self._taken[topic.name] = self._sink.offer(topic)

    def wants(self, prefix: str) -> bool:
        """Whether `PREFIX/tf` has a receiver."""
        return self._taken.get(f"{prefix}/tf", False) and self._sink.wants(f"{prefix}/tf")

    def add(self, prefix: str, message: Message) -> None:
        """Adds a TFMessage for `PREFIX/tf`, which `flush` writes."""
        self._waiting.setdefault(f"{prefix}/tf", []).extend(message.transforms)

    def add_static(self, prefix: str, message: Message) -> None:
        """Adds a TFMessage for `PREFIX/tf_static`, which `flush_static` writes."""
        self._static.setdefault(f"{prefix}/tf_static", []).extend(message.transforms)

    def flush(self, now: int) -> None:
        """Writes the transforms that were added since the last call."""
        for topic, transforms in self._waiting.items():
            self._sink.write(topic, _message(now, transforms), now)
        self._waiting.clear()

    def flush_static(self, now: int) -> None:
        """Writes all static transforms, since a late subscriber gets only the last message."""
        for topic, transforms in self._static.items():
            if self._taken.get(topic, False) and self._sink.wants(topic):
                self._sink.write(topic, _message(now, transforms), now)


def _message(now: int, transforms: list[Message]) -> Message:
    message = Messages(now).transforms([])
    message.transforms = transforms
    return message
