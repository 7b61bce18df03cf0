"""Snapshots of several parts as bytes."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Sequence
from typing import Any

from mvsim_gym._keywords import kind_of

_MAGIC = b"mvsimpak"
_HEAD = struct.Struct("<8sQI")  # magic, number of parts, CRC-32 of all that follows


_BYTES = (bytes, bytearray, memoryview)


def checked_bytes(state: bytes | bytearray | memoryview) -> bytes:
    """The same as bytes; TypeError for what is no snapshot at all."""
    if not isinstance(state, _BYTES):
        raise TypeError(f"snapshot: found {kind_of(state)}, expected bytes")
    return bytes(state)


def state_list(states: Any) -> list[bytes]:
    """One state, or several, as a list; TypeError for what is neither."""
    if isinstance(states, _BYTES):
        return [bytes(states)]
    if isinstance(states, str) or not isinstance(states, Iterable):
        raise TypeError(f"snapshot: found {kind_of(states)}, expected bytes or a list of them")
    return [checked_bytes(state) for state in states]


def pack(parts: Sequence[bytes]) -> bytes:
    """Several pieces of bytes as one."""
    body = struct.pack(f"<{len(parts)}Q", *map(len, parts)) + b"".join(parts)
    return _HEAD.pack(_MAGIC, len(parts), zlib.crc32(body)) + body


def is_packed(data: bytes) -> bool:
    """Whether they begin as those of `pack`."""
    return data.startswith(_MAGIC)


def unpack(data: bytes, count: int) -> list[bytes]:
    """The pieces of `pack`; ValueError for anything else and for another number of them."""
    data = checked_bytes(data)
    if len(data) < _HEAD.size or not is_packed(data):
        raise ValueError(f"snapshot: found {len(data)} bytes that are no snapshot of several parts")
    _, found, checksum = _HEAD.unpack_from(data)
    if zlib.crc32(data[_HEAD.size :]) != checksum:
        raise ValueError("snapshot: found damaged bytes (the checksum is wrong)")
    if found != count:
        raise ValueError(f"snapshot: found {found} parts, expected {count}: it is of another number of envs")
    sizes = struct.unpack_from(f"<{count}Q", data, _HEAD.size)
    at, parts = _HEAD.size + 8 * count, []
    for size in sizes:
        parts.append(data[at : at + size])
        at += size
    return parts
