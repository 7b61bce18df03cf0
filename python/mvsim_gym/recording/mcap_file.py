"""Writes MCAP files (https://mcap.dev/spec) that lose little if the process is killed or the disk is full.

The library `mcap` provides the records. Its writer closes a chunk only when it is large enough. This one also closes a
chunk when it is old enough.
"""

from __future__ import annotations

import os
import threading
import time
import zlib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import Any, NamedTuple

from mvsim_gym._notices import extra

with extra("a recording", "record"):
    import zstandard
    from mcap.data_stream import RecordBuilder
    from mcap.opcode import Opcode
    from mcap.records import (
        Channel,
        Chunk,
        ChunkIndex,
        DataEnd,
        Footer,
        Header,
        McapRecord,
        Message,
        MessageIndex,
        Schema,
        Statistics,
        SummaryOffset,
    )

MAGIC = b"\x89MCAP0\r\n"
_CHUNK_BYTES = 2**20
_CHUNK_SECONDS = 0.5  # of the wall clock, from a message until it is in the file
_CHUNK_NANOSECONDS = 10**9  # of the messages' stamps


class _Written(NamedTuple):
    place: ChunkIndex
    counts: dict[int, int]
    """number of messages by channel"""


class McapFile:
    """Writes one file: records by `add`, or encoded messages of ROS 2 by `write`. One thread at a time may use it.

    A message is written to the file, and so survives a kill, at the latest when a message half a second later (or a
    simulated second later) is added.

    The file belongs to the process that made it. A forked child changes nothing in it.

    Args:
        path: the file; an existing one is overwritten.
        new: an existing file or link of that name is an error.
    """

    def __init__(self, path: str | os.PathLike[str], library: str, *, new: bool = False) -> None:
        self._path, self._owner = os.fspath(path), os.getpid()
        flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | (os.O_EXCL | os.O_NOFOLLOW if new else os.O_TRUNC)
        self._file = os.open(path, flags, 0o666)
        self._size = 0  # bytes in the file
        self._chunk = bytearray()
        # of the chunk: time and offset of messages by channel
        self._index: dict[int, list[tuple[int, int]]] = {}
        self._began = 0.0, 0  # first message of the chunk: wall clock in s, and its stamp in ns
        self._chunks: list[_Written] = []
        self._schemas: dict[int, Schema] = {}
        self._channels: dict[int, Channel] = {}
        self._by_kind: dict[str, int] = {}  # ids of the schemas that `write` made
        self._by_topic: dict[str, int] = {}  # and of its channels
        try:
            self._write([Header(profile="ros2", library=library)], MAGIC)
        except OSError:
            os.close(self._file)
            raise

    @property
    def is_ours(self) -> bool:
        """Returns whether this process made the file; false in a forked child."""
        return os.getpid() == self._owner

    def write(
        self,
        topic: str,
        kind: str,
        data: bytes,
        nanoseconds: int,
        *,
        sequence: int = 0,
        metadata: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """Appends an encoded message. The first one of a topic makes its channel, and the first one of a type its
        schema.

        Args:
            kind: e.g. `std_msgs/msg/String`.
            metadata: of the channel.

        Raises:
            OSError: as for `add`.
        """
        if topic not in self._by_topic:
            if kind not in self._by_kind:
                from mvsim_gym.ros.messages import STORE  # here: a missing extra `record` is reported first

                self._by_kind[kind] = len(self._by_kind) + 1
                text, _ = STORE.generate_msgdef(kind, ros_version=2)
                self.add(Schema(id=self._by_kind[kind], name=kind, encoding="ros2msg", data=text.encode()))
            self._by_topic[topic] = len(self._by_topic) + 1
            self.add(
                Channel(
                    id=self._by_topic[topic],
                    topic=topic,
                    message_encoding="cdr",
                    schema_id=self._by_kind[kind],
                    metadata=dict(metadata),
                )
            )
        self.add(
            Message(
                channel_id=self._by_topic[topic],
                log_time=nanoseconds,
                publish_time=nanoseconds,
                sequence=sequence,
                data=data,
            )
        )

    def add(self, record: Schema | Channel | Message) -> None:
        """Appends a record. A channel comes after its schema, a message after its channel.

        Raises:
            OSError: the file cannot be written. The error names the file, and earlier chunks are kept.
        """
        if isinstance(record, Message):
            self._add_message(record)
            return
        known: dict[int, Any] = self._schemas if isinstance(record, Schema) else self._channels
        known[record.id] = record
        self._chunk += _bytes_of(record)

    def _add_message(self, message: Message) -> None:
        now = time.monotonic()
        if not self._index:
            self._began = now, message.log_time
        place = len(self._chunk)
        self._chunk += _bytes_of(message)
        self._index.setdefault(message.channel_id, []).append((message.log_time, place))
        if (
            len(self._chunk) >= _CHUNK_BYTES
            or now - self._began[0] >= _CHUNK_SECONDS
            or message.log_time - self._began[1] >= _CHUNK_NANOSECONDS
        ):
            self.flush()

    def flush(self) -> None:
        """Writes all messages so far to the file."""
        if not self._index or not self.is_ours:
            return
        data = bytes(self._chunk)
        times = [at for records in self._index.values() for at, _ in records]
        chunk = Chunk(
            compression="zstd",
            data=zstandard.compress(data),
            message_start_time=min(times),
            message_end_time=max(times),
            uncompressed_crc=zlib.crc32(data),
            uncompressed_size=len(data),
        )
        start, block = self._size, _bytes_of(chunk)
        length, places = len(block), {}
        for channel, records in self._index.items():
            places[channel] = start + len(block)
            block += _bytes_of(MessageIndex(channel_id=channel, records=records))
        index = ChunkIndex(
            chunk_start_offset=start,
            chunk_length=length,
            message_start_time=chunk.message_start_time,
            message_end_time=chunk.message_end_time,
            message_index_offsets=places,
            message_index_length=len(block) - length,
            compression=chunk.compression,
            compressed_size=len(chunk.data),
            uncompressed_size=len(data),
        )
        self._write([], block)  # in one piece, because Ctrl-C may come between any two lines
        counts = {channel: len(records) for channel, records in self._index.items()}
        self._chunks.append(_Written(index, counts))
        self._chunk.clear()
        self._index.clear()

    def close(self) -> None:
        """Finishes the file: index, statistics, footer. If there is no space for these, the last chunks are removed. A
        second call does nothing.

        Raises:
            OSError: the file cannot be finished. The error names the file; `repair` can read it.
        """
        if self._file < 0:
            return
        try:
            if self.is_ours:
                self._finish()
        finally:
            os.close(self._file)
            self._file = -1

    def _finish(self) -> None:
        failed: OSError | None = None
        try:
            self.flush()
        except OSError as error:
            failed = error
        while True:
            try:
                self._write([], self._end())
                break
            except OSError as error:
                failed = failed or error
                if not self._chunks:
                    break
                self._size = self._chunks.pop().place.chunk_start_offset
                self._cut()
        if failed is not None:
            raise failed

    @property
    def messages(self) -> int:
        return sum(sum(chunk.counts.values()) for chunk in self._chunks)

    @property
    def nanoseconds(self) -> int:
        """Nanoseconds from the first message in the file to the last."""
        first, last = self._times()
        return last - first

    def _times(self) -> tuple[int, int]:
        """Returns the times of the first and the last message, ns."""
        starts = [chunk.place.message_start_time for chunk in self._chunks]
        ends = [chunk.place.message_end_time for chunk in self._chunks]
        return min(starts, default=0), max(ends, default=0)

    def _write(self, records: Iterable[McapRecord], data: bytes = b"") -> None:
        """Appends bytes, then records: all of them or, after an error, nothing."""
        view = memoryview(data + b"".join(map(_bytes_of, records)))
        done = 0
        try:
            while done < len(view):  # at a fixed offset, so that a rest left by Ctrl-C is overwritten
                done += os.pwrite(self._file, view[done:], self._size + done)
        except OSError as error:
            self._cut()
            raise OSError(error.errno, error.strerror, self._path) from None
        self._size += done

    def _cut(self) -> None:
        """Removes a partly written record."""
        with suppress(OSError):
            os.ftruncate(self._file, self._size)

    def _end(self) -> bytes:
        """Returns the records that follow the chunks."""
        out = bytearray(_bytes_of(DataEnd(data_section_crc=0)))
        begin, offsets = self._size + len(out), []
        for opcode, records in (
            (Opcode.SCHEMA, list(self._schemas.values())),
            (Opcode.CHANNEL, list(self._channels.values())),
            (Opcode.STATISTICS, [self._statistics()]),
            (Opcode.CHUNK_INDEX, [chunk.place for chunk in self._chunks]),
        ):
            at = self._size + len(out)
            data = b"".join(map(_bytes_of, records))
            offsets.append(SummaryOffset(group_opcode=opcode, group_start=at, group_length=len(data)))
            out += data
        at = self._size + len(out)
        out += b"".join(map(_bytes_of, offsets))
        out += _bytes_of(Footer(summary_start=begin, summary_offset_start=at, summary_crc=0)) + MAGIC
        return bytes(out)

    def _statistics(self) -> Statistics:
        counts: dict[int, int] = defaultdict(int)
        for chunk in self._chunks:
            for channel, count in chunk.counts.items():
                counts[channel] += count
        first, last = self._times()
        return Statistics(
            attachment_count=0,
            channel_count=len(self._channels),
            channel_message_counts=dict(counts),
            chunk_count=len(self._chunks),
            message_count=sum(counts.values()),
            message_start_time=first,
            message_end_time=last,
            metadata_count=0,
            schema_count=len(self._schemas),
        )


def _bytes_of(record: McapRecord) -> bytes:
    builder = RecordBuilder()
    record.write(builder)
    return bytes(builder.end())


class DriveRecording:
    """Records everything that a drive received and sent as an MCAP file. All threads may call it.

    Args:
        path: the file; an existing one is overwritten.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._file = McapFile(path, "mvsim_gym drive")
        self._count = 0
        self._lock = threading.Lock()

    def write(self, topic: str, kind: str, data: bytes, nanoseconds: int) -> None:
        """Records an encoded message that was received or sent at that time of the wall clock."""
        with self._lock:
            self._count += 1
            self._file.write(topic, kind, data, nanoseconds, sequence=self._count)

    def close(self) -> None:
        with self._lock:
            self._file.close()
