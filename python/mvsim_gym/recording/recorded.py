"""Reads messages of a recording by topic and time, also from a file whose process was killed or is still writing."""

from __future__ import annotations

import bisect
import os
from array import array
from collections import OrderedDict
from typing import Any, NamedTuple

from mvsim_gym._notices import extra
from mvsim_gym.recording.mcap_reading import Damaged, open_mcap, pieces_of, record_at, unpacked
from mvsim_gym.ros.messages import STORE

with extra("a recording", "record"):
    from mcap.records import Channel, Chunk, Schema

_BYTES_OPEN = 2**27  # largest size of unpacked chunks that are kept; the latest is always kept


class Topic(NamedTuple):
    """All messages of a topic, in the order of the file."""

    kind: str
    """message type, e.g. sensor_msgs/msg/LaserScan"""
    times: array[int]
    """times of the messages, ns"""
    chunks: array[int]
    """chunk of each message"""
    places: array[int]
    """offset of each message in its chunk"""


class Recorded:
    """A recording. Keeps the packed chunks and an index in memory.

    Raises:
        OSError: the file cannot be read.
        ValueError: the file is no MCAP file, or has no message.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._chunks: list[Chunk | bytes] = []
        self._open: OrderedDict[int, bytes] = OrderedDict()
        self.topics: dict[str, Topic] = {}
        self.damage: str | None = None
        """reason why the file ends early; empty if it is complete"""
        kinds: dict[int, str] = {}
        channels: dict[int, Topic] = {}
        with open_mcap(path) as file:
            try:
                for piece in pieces_of(file):
                    for record in piece.records:
                        if isinstance(record, tuple):
                            channel, time, place = record
                            if (topic := channels.get(channel)) is not None:
                                topic.times.append(time)
                                topic.chunks.append(len(self._chunks))
                                topic.places.append(place)
                        elif isinstance(record, Schema):
                            kinds[record.id] = record.name
                        elif isinstance(record, Channel) and record.id not in channels:
                            new = Topic(kinds.get(record.schema_id, ""), array("Q"), array("I"), array("I"))
                            channels[record.id] = self.topics.setdefault(record.topic, new)
                    self._chunks.append(piece.data if piece.chunk is None else piece.chunk)
            except Damaged as error:
                self.damage = str(error)
        times = [t.times for t in self.topics.values() if t.times]
        if not times:
            raise ValueError(
                f"'{os.fspath(path)}' holds no message" + (f": {self.damage}" if self.damage else "")
            )
        self.first = min(t[0] for t in times)
        """time of the first message, ns"""
        self.last = max(t[-1] for t in times)
        """time of the last message, ns"""

    def index(self, topic: str, time: int) -> int:
        """Returns the index of a topic's latest message at a time, ns; -1 before the first, or without such a topic."""
        return bisect.bisect_right(self.topics[topic].times, time) - 1 if topic in self.topics else -1

    def message(self, topic: str, index: int) -> Any:
        """Returns a message of a topic, decoded.

        Raises:
            ValueError: the message is not of the type that the file states.
        """
        found = self.topics[topic]
        try:
            data = record_at(self._data(found.chunks[index]), found.places[index]).data
            return STORE.deserialize_cdr(data, found.kind)
        except Exception as error:  # decoding arbitrary bytes may raise anything
            raise ValueError(f"a message of {topic} is no {found.kind} ({error!r})") from None

    def latest(self, topic: str, time: int) -> Any | None:
        """Returns the latest message of a topic at a time, ns, decoded; None if there is none."""
        index = self.index(topic, time)
        return None if index < 0 else self.message(topic, index)

    def _data(self, chunk: int) -> bytes:
        packed = self._chunks[chunk]
        if isinstance(packed, bytes):
            return packed
        if chunk not in self._open:
            self._open[chunk] = unpacked(packed)
            while len(self._open) > 1 and sum(map(len, self._open.values())) > _BYTES_OPEN:
                self._open.popitem(last=False)
        self._open.move_to_end(chunk)
        return self._open[chunk]
