"""The messages of mvsim.proto as classes: `messages.Pose(x=1, ...)`.

The classes are made when this module is imported, in their own descriptor pool. So they can be used beside modules
that `protoc` made of MVSim's files.
"""

from __future__ import annotations

import re
from importlib.resources import files
from typing import Any

from mvsim_gym._notices import extra

with extra("mvsim_gym.comms", "zmq"):
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
    from google.protobuf.message import DecodeError, EncodeError, Message

__all__ = ["PACKAGE", "TYPES", "DecodeError", "EncodeError", "Message"]

PACKAGE = "mvsim_msgs"
_Field = descriptor_pb2.FieldDescriptorProto
_LABELS = {
    "required": _Field.LABEL_REQUIRED,
    "optional": _Field.LABEL_OPTIONAL,
    "repeated": _Field.LABEL_REPEATED,
}
_SCALARS = {
    "bool": _Field.TYPE_BOOL,
    "bytes": _Field.TYPE_BYTES,
    "double": _Field.TYPE_DOUBLE,
    "float": _Field.TYPE_FLOAT,
    "string": _Field.TYPE_STRING,
}
_MESSAGE = re.compile(r"message (\w+) \{(.*?)\}", re.DOTALL)
_FIELD = re.compile(r"(required|optional|repeated) (\w+) (\w+) = (\d+);")


def description() -> Any:
    """Returns the file as a FileDescriptorProto. It parses only the constructs that the file uses: flat messages of
    scalars, texts and messages."""
    text = re.sub("//.*", "", (files(__package__) / "mvsim.proto").read_text(encoding="utf-8"))
    described = descriptor_pb2.FileDescriptorProto(name="mvsim_gym/comms/mvsim.proto", package=PACKAGE)
    for name, body in _MESSAGE.findall(text):
        message = described.message_type.add(name=name)
        for label, kind, field, number in _FIELD.findall(body):
            added = message.field.add(name=field, number=int(number), label=_LABELS[label])
            if kind in _SCALARS:
                added.type = _SCALARS[kind]
            else:
                added.type, added.type_name = _Field.TYPE_MESSAGE, f".{PACKAGE}.{kind}"
    return described


def _classes() -> dict[str, type[Message]]:
    described = description()
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(described.SerializeToString())
    names = [f"{PACKAGE}.{message.name}" for message in described.message_type]
    return {name: message_factory.GetMessageClass(pool.FindMessageTypeByName(name)) for name in names}


TYPES = _classes()
"""The classes by full name, as in frames: `mvsim_msgs.Pose`."""


def __getattr__(name: str) -> Any:
    try:
        return TYPES[f"{PACKAGE}.{name}"]
    except KeyError:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'") from None
