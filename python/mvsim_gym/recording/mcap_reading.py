"""Reads MCAP files from any source, also damaged ones, with bounds on memory and time.

A few bytes may claim to be billions, and may unpack to as many. Bounds therefore apply to the size of each record, the
unpacked size of the file, and the number of records. The last two grow with the file size.

`repair` completes a recording whose process was killed.
"""

from __future__ import annotations

import io
import os
import struct
import tempfile
import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple

from mvsim_gym._notices import extra
from mvsim_gym.recording.mcap_file import MAGIC, McapFile

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
