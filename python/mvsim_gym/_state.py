"""The format of snapshots and pickles: several parts as bytes, and the backend that drew camera images."""

from __future__ import annotations

import json
import math
import struct
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from mvsim_gym import _core
from mvsim_gym._checks import kind_of
from mvsim_gym._notices import notice

_MAGIC = b"mvsimpak"
_HEAD = struct.Struct("<8sQI")  # magic, number of parts, CRC-32 of all that follows


_BYTES = (bytes, bytearray, memoryview)


def checked_bytes(state: bytes | bytearray | memoryview) -> bytes:
    """Returns the state as bytes. TypeError for anything but bytes."""
    if not isinstance(state, _BYTES):
        raise TypeError(f"snapshot: found {kind_of(state)}, expected bytes")
    return bytes(state)


def state_list(states: Any) -> list[bytes]:
    """Returns one state, or several, as a list. TypeError for anything else."""
    if isinstance(states, _BYTES):
        return [bytes(states)]
    if isinstance(states, str) or not isinstance(states, Iterable):
        raise TypeError(f"snapshot: found {kind_of(states)}, expected bytes or a list of them")
    return [checked_bytes(state) for state in states]


def pack(parts: Sequence[bytes]) -> bytes:
    body = struct.pack(f"<{len(parts)}Q", *map(len, parts)) + b"".join(parts)
    return _HEAD.pack(_MAGIC, len(parts), zlib.crc32(body)) + body


def is_packed(data: bytes) -> bool:
    return data.startswith(_MAGIC)


def unpack(data: bytes, count: int) -> list[bytes]:
    """Returns the pieces of `pack`. ValueError for anything else and for another number of them."""
    data = checked_bytes(data)
    if len(data) < _HEAD.size or not is_packed(data):
        raise ValueError(f"snapshot: found {len(data)} bytes that are no snapshot of several parts")
    _, found, checksum = _HEAD.unpack_from(data)
    if zlib.crc32(data[_HEAD.size :]) != checksum:
        raise ValueError("snapshot: found damaged bytes (the checksum is wrong)")
    if found != count:
        raise ValueError(f"snapshot: found {found} parts, expected {count}: it has another number of envs")
    sizes = struct.unpack_from(f"<{count}Q", data, _HEAD.size)
    at, parts = _HEAD.size + 8 * count, []
    for size in sizes:
        parts.append(data[at : at + size])
        at += size
    return parts


_KEY = "_drawn_by"


def has_cameras(model: _core.Model) -> bool:
    """Returns whether a model has anything that OpenGL may draw."""
    return any(sensor.is_camera for sensor in model.sensors)


@lru_cache(maxsize=16)
def log_backend(requested: str) -> None:
    """Logs at level INFO which backend draws, once for each requested backend."""
    import logging  # Imported here because it takes most of the start-up time, and most runs log nothing.

    name, reason = _core.camera_backend(requested)
    logging.getLogger("mvsim_gym").info("cameras are drawn by '%s': %s", name, reason)


def observes_cameras(batch: _core.Batch) -> bool:
    """Returns whether a batch may draw camera images: some observation is no vector, and the world has a sensor that
    sees the scene."""
    return any(len(o.shape) > 1 for o in batch.observations) and has_cameras(batch.model(0))


def requested_backend(options: Mapping[str, Any]) -> str:
    """Returns the camera backend that a constructor's options ask for. Images that stay on a GPU are drawn there."""
    return "egl" if options.get("device", "cpu") != "cpu" else str(options["camera_backend"])


def with_backend(attributes: Mapping[str, Any], requested: str) -> dict[str, Any]:
    """Returns attributes for a pickle with the name of the camera backend added."""
    return {**attributes, _KEY: _core.camera_backend(requested)[0]}


def without_backend(attributes: Mapping[str, Any], requested: str) -> dict[str, Any]:
    """Returns the attributes without the backend. Logs a notice if another backend draws now: states are the same, but
    pixels may differ."""
    if (before := attributes.get(_KEY)) is not None:
        _log_difference("a pickle", before, requested)
    return {name: value for name, value in attributes.items() if name != _KEY}


def log_restored(states: Iterable[bytes], requested: str) -> None:
    """Logs the same notice for snapshots, which name the backend if it has drawn an image."""
    for before in sorted({name for state in states if (name := _core.snapshot_drawn_by(state))}):
        _log_difference("a snapshot", before, requested)


def _log_difference(what: str, before: str, requested: str) -> None:
    if (now := _core.camera_backend(requested)[0]) != before:
        notice(
            [
                f"{what} whose cameras were drawn by '{before}' is restored where '{now}' draws: its state is the"
                f" same, pixels at edges may differ; camera_backend='{before}' or MVSIM_CAMERA={before} keeps them"
            ]
        )


def parted(data: Any) -> tuple[bytes, dict[str, float]]:
    """Splits a world's snapshot into that of the simulation and the parameters that are held.

    Raises:
        ValueError: the bytes are damaged.
        TypeError: the state is not bytes.
    """
    data = checked_bytes(data)
    if not is_packed(data):
        return data, {}
    state, text = unpack(data, 2)
    return state, dict(_held(text))


def _held(text: bytes) -> Iterator[tuple[str, float]]:
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, Mapping):
        raise ValueError("snapshot: found damaged bytes (no parameters where they should be)")
    for path, value in found.items():
        if not isinstance(value, float) or not math.isfinite(value):
            raise ValueError(f"snapshot: found damaged bytes (the parameter {path} is no number)")
        yield path, value
