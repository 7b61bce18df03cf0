"""Frames (REP 105): the pose of `odom` in `map`, and the messages of `tf` and `tf_static`."""

from __future__ import annotations

import numpy as np

from mvsim_gym._rotation import angles_of, rotation_of
from mvsim_gym.part_states import Pose
from mvsim_gym.ros.messages import Message, Messages
from mvsim_gym.ros.topics import STATES, Sink


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
