"""Reads MCAP files from any source, also damaged ones, with bounds on memory and time.

A few bytes may claim to be billions, and may unpack to as many. Bounds therefore apply to the size of each record, the
unpacked size of the file, and the number of records. The last two grow with the file size.

`repair` completes a recording whose process was killed. `Recorded` reads messages by topic and time, also of such a
file and of one that is still written.
"""

from __future__ import annotations

import bisect
import io
import os
import struct
import tempfile
import zlib
from array import array
from collections import OrderedDict
from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple

from mvsim_gym._notices import extra
from mvsim_gym.recording.mcap_file import MAGIC, McapFile
from mvsim_gym.ros.messages import STORE

with extra("a recording", "record"):
    import lz4.frame  # type: ignore[import-untyped]
    import zstandard
    from mcap.data_stream import ReadDataStream
    from mcap.exceptions import McapError
    from mcap.opcode import Opcode
    from mcap.records import Channel, Chunk, Message, Schema

# Errors from reading a file that was cut or damaged. RuntimeError comes from LZ4.
_DAMAGE = (McapError, zstandard.ZstdError, RuntimeError, struct.error, ValueError, EOFError, MemoryError)
_MOST_BYTES = 2**27  # of a record, packed or not
_UNPACKED = 2**29, 100  # unpacked bytes of a file: a constant, and a factor on its size
_RECORDS = 2**19, 1 / 8  # records of a file: a constant, and a factor on its size
_HEAD = struct.Struct("<BQ")  # of a record: kind, length
_MESSAGE = struct.Struct("<HIQQ")  # channel, sequence, times
_KINDS: dict[int, Any] = {Opcode.SCHEMA: Schema, Opcode.CHANNEL: Channel}


class Damaged(ValueError):  # noqa: N818
    """A file that is cut or damaged, or that exceeds a bound."""


class Piece(NamedTuple):
    """A chunk of a file. A record outside of chunks is a piece of its own."""

    chunk: Chunk | None
    """None if the record is not packed"""
    data: bytes
    """the records, unpacked"""
    records: list[Schema | Channel | tuple[int, int, int]]
    """channel, time in ns and offset in `data` of each message, in the order of the file"""


def open_mcap(path: str | os.PathLike[str]) -> BinaryIO:
    """Opens a file and checks its first bytes.

    Raises:
        OSError: the file cannot be read.
        ValueError: the file is no MCAP file.
    """
    if os.path.exists(path) and not os.path.isfile(path):
        raise ValueError(f"'{os.fspath(path)}' is no MCAP file")
    file = open(path, "rb")  # noqa: SIM115 (the caller closes it)
    if file.read(len(MAGIC)) != MAGIC:
        file.close()
        raise ValueError(f"'{os.fspath(path)}' is no MCAP file")
    return file


def pieces_of(file: BinaryIO) -> Iterator[Piece]:
    """Yields the pieces of an opened file up to its end.

    Raises:
        Damaged: the next piece is cut, damaged or too large.
    """
    try:
        yield from _pieces_of(file)
    except Damaged:
        raise
    except _DAMAGE as error:
        raise Damaged(str(error) or type(error).__name__) from None


def _pieces_of(file: BinaryIO) -> Iterator[Piece]:
    size = os.fstat(file.fileno()).st_size
    most_unpacked, most_records = (base + rate * size for base, rate in (_UNPACKED, _RECORDS))
    got, count, at, is_data = 0, 0, len(MAGIC), True
    while True:
        file.seek(at)
        kind, length = _HEAD.unpack(file.read(_HEAD.size))
        body, at = at + _HEAD.size, at + _HEAD.size + length
        if at > size:
            raise Damaged(f"found {size - body} bytes of a record of {length}")
        if kind == Opcode.FOOTER:
            if file.seek(at) + len(MAGIC) != size or file.read() != MAGIC:
                raise Damaged("its last bytes are not those of an MCAP file")
            return
        is_data &= kind != Opcode.DATA_END
        if not is_data or kind not in (Opcode.CHUNK, Opcode.SCHEMA, Opcode.CHANNEL, Opcode.MESSAGE):
            continue
        if length > _MOST_BYTES:
            raise Damaged(f"found a record of {length} bytes, expected at most {_MOST_BYTES}")
        data, chunk = file.read(length), None
        if kind == Opcode.CHUNK:
            chunk = Chunk.read(ReadDataStream(io.BytesIO(data)))
            data = unpacked(chunk)
        else:
            data = _HEAD.pack(kind, length) + data
        got += len(data)
        if got > most_unpacked:
            raise Damaged(f"it unpacks to more than {got} bytes")
        records: list[Schema | Channel | tuple[int, int, int]] = []
        for record in _records_of(data):
            if record is not None:
                records.append(record)
            count += 1
            if count > most_records:
                raise Damaged(f"found more than {count} records in {size} bytes")
        yield Piece(chunk, data, records)


def _records_of(data: bytes) -> Iterator[Schema | Channel | tuple[int, int, int] | None]:
    """Yields the records in order; None for one that is skipped."""
    at, size = 0, len(data)
    while at < size:
        kind, length = _HEAD.unpack_from(data, at)
        end = at + _HEAD.size + length
        if end > size:
            raise Damaged(f"found {size - at - _HEAD.size} bytes of a record of {length}")
        if kind == Opcode.MESSAGE:
            if length < _MESSAGE.size:
                raise Damaged(f"found a message of {length} bytes, expected {_MESSAGE.size} or more")
            channel, _, time, _ = _MESSAGE.unpack_from(data, at + _HEAD.size)
            yield channel, time, at
        elif kind in _KINDS:
            body = io.BytesIO(data[at + _HEAD.size : end])
            yield _KINDS[kind].read(ReadDataStream(body))
        else:
            yield None
        at = end


def record_at(data: bytes, at: int) -> Message:
    """Returns the message at an offset of a piece's data."""
    _, length = _HEAD.unpack_from(data, at)
    begin = at + _HEAD.size
    channel, sequence, log_time, publish_time = _MESSAGE.unpack_from(data, begin)
    return Message(
        channel_id=channel,
        sequence=sequence,
        log_time=log_time,
        publish_time=publish_time,
        data=data[begin + _MESSAGE.size : begin + length],
    )


def unpacked(chunk: Chunk) -> bytes:
    """Returns the unpacked records of a chunk.

    Raises:
        Exception: the data is damaged or exceeds a bound.
    """
    size = chunk.uncompressed_size
    if size > _MOST_BYTES:
        raise Damaged(f"found a chunk of {size} bytes, expected at most {_MOST_BYTES}")
    if chunk.compression == "zstd":
        stated = zstandard.frame_content_size(chunk.data)
        if stated > size:
            raise Damaged(f"found {stated} bytes packed, expected {size}")
        data = zstandard.ZstdDecompressor(max_window_size=_MOST_BYTES).decompress(chunk.data, size)
    elif chunk.compression == "lz4":
        data = lz4.frame.LZ4FrameDecompressor().decompress(chunk.data, max_length=size + 1)
    elif chunk.compression == "":
        data = chunk.data
    else:
        raise Damaged(f"found a chunk packed by '{chunk.compression[:20]}', expected zstd or lz4")
    if len(data) != size:
        raise Damaged(f"found a chunk of {len(data)} bytes, expected {size}")
    if chunk.uncompressed_crc not in (0, zlib.crc32(data)):
        raise Damaged("found a chunk whose checksum is another")
    return data


class Repair(NamedTuple):
    finished: bool
    """the file was complete, and nothing was written"""
    messages: int
    seconds: float
    """from the first message to the last"""


def repair(path: str | os.PathLike[str], output: str | os.PathLike[str] | None = None) -> Repair:
    """Makes a complete file from one whose process was killed, with all messages up to the first damage.

    The result is written to a new private folder beside its destination and moved there when it is complete. A link at
    the destination is replaced, not followed.

    Args:
        path: the file.
        output: destination; by default the file is replaced.

    Raises:
        OSError: the file cannot be read, or the result cannot be written.
        ValueError: the file is no MCAP file.
    """
    target = os.fspath(path if output is None else output)
    with open_mcap(path) as source:
        folder = tempfile.TemporaryDirectory(prefix=".repair-", dir=os.path.dirname(target) or ".")
        with folder as own:
            part = os.path.join(own, os.path.basename(target))
            file = McapFile(part, "mvsim_gym repair", new=True)
            try:
                finished = _copy(source, file)
            finally:
                file.close()
            result = Repair(finished, file.messages, file.nanoseconds / 1e9)
            if not finished or output is not None:
                os.replace(part, target)
            return result


def _copy(source: BinaryIO, file: McapFile) -> bool:
    """Copies the readable records of a file to another. Returns whether the file was complete."""
    try:
        for piece in pieces_of(source):
            for record in piece.records:
                file.add(record_at(piece.data, record[2]) if isinstance(record, tuple) else record)
    except Damaged:
        return False
    return True


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
