"""MCAP files (https://mcap.dev/spec) that lose little when their writer is killed, and the repair of such a file.

The library `mcap` reads them and has their records. Its writer closes a chunk when it is large enough, whenever that
is; this one also when it is old enough.
"""

from __future__ import annotations

import os
import struct
import time
import zlib
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple

from mvsim_gym._extras import extra

with extra("a recording", "record"):
    import zstandard
    from mcap.data_stream import RecordBuilder
    from mcap.exceptions import McapError
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
    from mcap.stream_reader import StreamReader, breakup_chunk

__all__ = ["MAGIC", "McapFile", "Repair", "chunks_of", "repair"]

MAGIC = b"\x89MCAP0\r\n"
_CHUNK_BYTES = 2**20
_CHUNK_SECONDS = 0.5  # of the wall, between a message and its being safe from a kill
_CHUNK_NANOSECONDS = 10**9  # of the messages


class McapFile:
    """Writes one file. A message is in it, whatever becomes of the process, when one comes that is half a second
    younger (or a simulated second). One thread at a time."""

    def __init__(self, path: str | os.PathLike[str], library: str) -> None:
        self._file: BinaryIO = open(path, "wb")  # noqa: SIM115 (until close)
        self._chunk = bytearray()
        self._index: dict[int, list[tuple[int, int]]] = {}  # of the chunk: by channel, time and place
        self._began = 0.0, 0  # when the chunk's first message came: s of the wall, its own time in ns
        self._chunks: list[ChunkIndex] = []
        self._schemas: dict[int, Schema] = {}
        self._channels: dict[int, Channel] = {}
        self._counts: dict[int, int] = defaultdict(int)
        self._times: tuple[int, int] | None = None  # of the first and the last message
        self._file.write(MAGIC + _bytes_of(Header(profile="ros2", library=library)))
        self._file.flush()

    def add(self, record: Schema | Channel | Message) -> None:
        """Appends a record; a channel comes after its schema, a message after its channel."""
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
        first, last = self._times or (message.log_time, message.log_time)
        self._times = min(first, message.log_time), max(last, message.log_time)
        place = len(self._chunk)
        self._chunk += _bytes_of(message)
        self._index.setdefault(message.channel_id, []).append((message.log_time, place))
        self._counts[message.channel_id] += 1
        if (
            len(self._chunk) >= _CHUNK_BYTES
            or now - self._began[0] >= _CHUNK_SECONDS
            or message.log_time - self._began[1] >= _CHUNK_NANOSECONDS
        ):
            self.flush()

    def flush(self) -> None:
        """All messages so far are in the file when it returns."""
        if not self._index:
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
        start, block = self._file.tell(), _bytes_of(chunk)
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
        self._file.write(block)  # in one piece: Ctrl-C may come between any two lines
        self._chunks.append(index)
        self._file.flush()
        self._chunk.clear()
        self._index.clear()

    def close(self) -> None:
        """Finishes the file: index, statistics, footer. A second call does nothing."""
        if self._file.closed:
            return
        self.flush()
        self._file.write(_bytes_of(DataEnd(data_section_crc=0)))
        begin, offsets = self._file.tell(), []
        for opcode, records in (
            (Opcode.SCHEMA, list(self._schemas.values())),
            (Opcode.CHANNEL, list(self._channels.values())),
            (Opcode.STATISTICS, [self._statistics()]),
            (Opcode.CHUNK_INDEX, self._chunks),
        ):
            at = self._file.tell()
            length = self._file.write(b"".join(map(_bytes_of, records)))
            offsets.append(SummaryOffset(group_opcode=opcode, group_start=at, group_length=length))
        at = self._file.tell()
        self._file.write(b"".join(map(_bytes_of, offsets)))
        self._file.write(_bytes_of(Footer(summary_start=begin, summary_offset_start=at, summary_crc=0)))
        self._file.write(MAGIC)
        self._file.close()

    def _statistics(self) -> Statistics:
        first, last = self._times or (0, 0)
        return Statistics(
            attachment_count=0,
            channel_count=len(self._channels),
            channel_message_counts=dict(self._counts),
            chunk_count=len(self._chunks),
            message_count=sum(self._counts.values()),
            message_start_time=first,
            message_end_time=last,
            metadata_count=0,
            schema_count=len(self._schemas),
        )


def _bytes_of(record: McapRecord) -> bytes:
    builder = RecordBuilder()
    record.write(builder)
    return bytes(builder.end())


class Repair(NamedTuple):
    """What was found in a file."""

    finished: bool
    """it was whole: nothing has been written"""
    messages: int
    seconds: float
    """from the first message to the last"""


def repair(path: str | os.PathLike[str], output: str | os.PathLike[str] | None = None) -> Repair:
    """Makes a finished file of one whose writer was killed, with all messages up to its first damage.

    Args:
        path: the file.
        output: where the result goes; by default it replaces the file.

    Raises:
        OSError: it cannot be read, or the result not be written.
        ValueError: it is no MCAP file.
    """
    target = os.fspath(path if output is None else output)
    part = f"{target}.part"
    with open(path, "rb") as source:
        if source.read(len(MAGIC)) != MAGIC:
            raise ValueError(f"'{os.fspath(path)}' is no MCAP file")
        source.seek(0)
        file = McapFile(part, "mvsim_gym repair")
        try:
            finished = _copy(source, file)
            file.close()
            first, last = file._times or (0, 0)
            result = Repair(finished, sum(file._counts.values()), (last - first) / 1e9)
            if not finished or output is not None:
                os.replace(part, target)
            return result
        finally:
            file._file.close()
            if os.path.exists(part):
                os.remove(part)


def _copy(source: BinaryIO, file: McapFile) -> bool:
    """Adds what can be read of a file to another; True if that is all of it."""
    is_data = True
    try:
        for found in _reader(source, emit_chunks=True).records:
            is_data &= not isinstance(found, DataEnd)
            if isinstance(found, Chunk):
                _check_size(found)
            for record in breakup_chunk(found, validate_crc=True) if isinstance(found, Chunk) else [found]:
                if is_data and isinstance(record, Schema | Channel | Message):
                    file.add(record)
        return True
    except _CUT:
        return False


def _check_size(chunk: Chunk) -> None:
    """A few bytes may say that they are billions."""
    size = chunk.uncompressed_size
    if chunk.compression == "zstd":
        size = max(size, zstandard.frame_content_size(chunk.data))
    if chunk.compression == "lz4":  # unpacked whatever size is stated
        size = max(size, _LZ4_RATIO * len(chunk.data))
    if size > _MOST_BYTES:
        raise ValueError(f"found a chunk of {size} bytes, expected at most {_MOST_BYTES}")


_MOST_BYTES = 2**30
_LZ4_RATIO = 255  # a byte stands for no more
_CUT = (McapError, zstandard.ZstdError, struct.error, ValueError, EOFError, MemoryError)
"""What the library raises where a file was cut or damaged."""


def _reader(source: BinaryIO, **options: Any) -> StreamReader:
    size = os.fstat(source.fileno()).st_size
    return StreamReader(source, validate_crcs=True, record_size_limit=size, **options)


def chunks_of(source: BinaryIO) -> Iterator[tuple[Chunk, list[McapRecord]]]:
    """The chunks of a file from its beginning, and what is in each, up to the file's first damage or its end."""
    try:
        for record in _reader(source, emit_chunks=True).records:
            if isinstance(record, DataEnd):
                return
            if isinstance(record, Chunk):
                _check_size(record)
                yield record, breakup_chunk(record, validate_crc=True)
    except _CUT:
        return  # what comes later is lost
