"""What a recording holds, of any moment: messages by topic and time, also of a file whose process was killed or still
writes it."""

from __future__ import annotations

import bisect
import os
from collections import OrderedDict
from typing import Any, NamedTuple

from mvsim_gym._extras import extra
from mvsim_gym.recording.mcap_file import MAGIC, chunks_of
from mvsim_gym.ros.messages import STORE

with extra("a recording", "record"):
    from mcap.records import Channel, Chunk, Message, Schema
    from mcap.stream_reader import breakup_chunk

__all__ = ["Recorded", "Topic"]

_CHUNKS_OPEN = 4  # kept unpacked


class Topic(NamedTuple):
    """All messages of a topic, in the order of the file."""

    kind: str
    """e.g. sensor_msgs/msg/LaserScan"""
    times: list[int]
    """ns"""
    places: list[tuple[int, int]]
    """chunk, and which record of it"""


class Recorded:
    """A recording, of which this keeps the packed chunks and an index.

    Raises:
        OSError: it cannot be read.
        ValueError: it is no MCAP file, or no message is in it.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._chunks: list[Chunk] = []
        self._open: OrderedDict[int, list[Any]] = OrderedDict()
        self.topics: dict[str, Topic] = {}
        kinds: dict[int, str] = {}
        channels: dict[int, Topic] = {}
        with open(path, "rb") as file:
            if file.read(len(MAGIC)) != MAGIC:
                raise ValueError(f"'{os.fspath(path)}' is no MCAP file")
            file.seek(0)
            for chunk, records in chunks_of(file):
                self._chunks.append(chunk)
                for i, record in enumerate(records):
                    if isinstance(record, Schema):
                        kinds[record.id] = record.name
                    elif isinstance(record, Channel) and record.id not in channels:
                        topic = Topic(kinds.get(record.schema_id, ""), [], [])
                        channels[record.id] = self.topics.setdefault(record.topic, topic)
                    elif isinstance(record, Message) and record.channel_id in channels:
                        topic = channels[record.channel_id]
                        topic.times.append(record.log_time)
                        topic.places.append((len(self._chunks) - 1, i))
        times = [t.times for t in self.topics.values() if t.times]
        if not times:
            raise ValueError(f"'{os.fspath(path)}' holds no message")
        self.first = min(t[0] for t in times)
        """ns, of the first message"""
        self.last = max(t[-1] for t in times)
        """ns, of the last one"""

    def index(self, topic: str, time: int) -> int:
        """Which message of a topic is the latest at a time, ns; -1 before the first, or without such a topic."""
        return bisect.bisect_right(self.topics[topic].times, time) - 1 if topic in self.topics else -1

    def message(self, topic: str, index: int) -> Any:
        """A message of a topic, decoded.

        Raises:
            ValueError: its bytes are none of the type that the file says.
        """
        kind, _, places = self.topics[topic]
        chunk, i = places[index]
        try:
            return STORE.deserialize_cdr(self._records(chunk)[i].data, kind)
        except Exception as error:  # whatever bytes a stranger wrote
            raise ValueError(f"a message of {topic} is no {kind} ({error!r})") from None

    def latest(self, topic: str, time: int) -> Any | None:
        """The latest message of a topic at a time, ns, decoded; None where there is none."""
        index = self.index(topic, time)
        return None if index < 0 else self.message(topic, index)

    def _records(self, chunk: int) -> list[Any]:
        if chunk not in self._open:
            self._open[chunk] = breakup_chunk(self._chunks[chunk])
            if len(self._open) > _CHUNKS_OPEN:
                self._open.popitem(last=False)
        self._open.move_to_end(chunk)
        return self._open[chunk]
