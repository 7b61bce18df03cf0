"""Messages as bytes: the name of a type and a payload, each preceded by its length.

A frame is the length of the type's full name (uint32, little-endian), the name, the length of the payload (the same),
and the payload, a message in protobuf's encoding. Every message on a socket is one frame.
"""

from __future__ import annotations

import struct
from typing import Any

from mvsim_gym.comms.errors import FrameError
from mvsim_gym.comms.messages import TYPES, DecodeError, EncodeError, Message

LARGEST = 2**26  # bytes of a message of a topic; a peer that sends more is disconnected
LARGEST_TAKEN = 2**24  # bytes of a request that is read, even if only to refuse it; else as for LARGEST
LARGEST_REQUEST = 2**16  # bytes of a request to the hub; a larger one is answered by an error
MAX_REQUESTS = 20  # waiting requests of one peer; a peer that waits for its answers has one
_LENGTH = struct.Struct("<I")
_LONGEST_NAME = 256


def encode_raw(name: str, payload: bytes) -> bytes:
    """Returns the frame of a type's full name and a payload."""
    text = name.encode()
    return b"".join((_LENGTH.pack(len(text)), text, _LENGTH.pack(len(payload)), payload))


def encode(message: Message) -> bytes:
    """Returns the frame of a message, which may come from another descriptor pool.

    Raises:
        FrameError: a required field is missing.
    """
    return encode_raw(message.DESCRIPTOR.full_name, payload_of(message))


def payload_of(message: Message) -> bytes:
    """Returns the encoded message without its name.

    Raises:
        FrameError: a required field is missing.
    """
    try:
        return bytes(message.SerializeToString())
    except EncodeError as error:
        raise FrameError(str(error)) from None


def split(frame: bytes) -> tuple[str, bytes]:
    """Returns the type's full name and the payload.

    Raises:
        FrameError: a length does not fit the bytes, or the name is invalid.
    """
    name, rest = _split_after_length(frame, "type name")
    payload, rest = _split_after_length(rest, "payload")
    if rest:
        raise FrameError(f"found {len(rest)} bytes behind the payload, expected none")
    if not (0 < len(name) <= _LONGEST_NAME and name.isascii() and name.decode().isprintable()):
        raise FrameError(f"found an invalid type name of {len(name)} bytes")
    return name.decode(), payload


def _split_after_length(data: bytes, what: str) -> tuple[bytes, bytes]:
    if len(data) < _LENGTH.size:
        raise FrameError(f"found {len(data)} bytes, expected the length of the {what}")
    (length,) = _LENGTH.unpack_from(data)
    end = _LENGTH.size + length
    if end > len(data):
        raise FrameError(f"found {len(data) - _LENGTH.size} bytes, expected a {what} of {length}")
    return data[_LENGTH.size : end], data[end:]


def decode(frame: bytes, *expected: str) -> Any:
    """Returns the message of a frame. With `expected`, its type is one of these names, given without the package.

    Raises:
        FrameError: the bytes are no frame, the type is unknown or unexpected, or the payload is damaged.
    """
    name, payload = split(frame)
    kind = TYPES.get(name)
    short = name.rpartition(".")[2]
    if kind is None or (expected and short not in expected):
        wanted = " or ".join(expected) or "a message of mvsim_msgs"
        raise FrameError(f"found a message '{name}', expected {wanted}")
    return parse(kind, payload)


def parse(kind: type[Message], payload: bytes) -> Any:
    """Returns the message of a payload.

    Raises:
        FrameError: the payload is damaged.
    """
    name = kind.DESCRIPTOR.full_name
    try:
        message = kind.FromString(payload)
    except DecodeError as error:
        raise FrameError(f"found a damaged {name}: {error}") from None
    missing = message.FindInitializationErrors()
    if missing:
        raise FrameError(f"found a {name} without {', '.join(missing)}")
    if not _has_texts(message):
        raise FrameError(f"found a {name} with a text that is not UTF-8")
    return message


def _has_texts(message: Message) -> bool:
    """Whether all text fields are valid. Text that is not UTF-8 comes as bytes."""
    for field, value in message.ListFields():
        values = [value] if isinstance(value, str | bytes | Message) else value
        if field.type == field.TYPE_STRING and not all(isinstance(each, str) for each in values):
            return False
        if field.type == field.TYPE_MESSAGE and not all(map(_has_texts, values)):
            return False
    return True
