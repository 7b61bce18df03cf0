"""A consumer of DLPack without a library: it reads a capsule's structures as the specification lays them out."""

from __future__ import annotations

import ctypes
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt


class Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class Managed(ctypes.Structure):
    pass


class ManagedVersioned(ctypes.Structure):
    pass


Managed._fields_ = (
    ("tensor", Tensor),
    ("owner", ctypes.c_void_p),
    ("deleter", ctypes.CFUNCTYPE(None, ctypes.POINTER(Managed))),
)
ManagedVersioned._fields_ = (
    ("major", ctypes.c_uint32),
    ("minor", ctypes.c_uint32),
    ("owner", ctypes.c_void_p),
    ("deleter", ctypes.CFUNCTYPE(None, ctypes.POINTER(ManagedVersioned))),
    ("flags", ctypes.c_uint64),
    ("tensor", Tensor),
)

_API = ctypes.pythonapi
_API.PyCapsule_IsValid.argtypes = [ctypes.py_object, ctypes.c_char_p]
_API.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
_API.PyCapsule_GetPointer.restype = ctypes.c_void_p
_API.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]
_KINDS = {1: "u", 2: "f"}


class Borrowed:
    """Content of a capsule, taken over from it until `let_go`."""

    def __init__(self, capsule: Any) -> None:
        kinds: tuple[tuple[bytes, bytes, type[Any]], ...] = (
            (b"dltensor", b"used_dltensor", Managed),
            (b"dltensor_versioned", b"used_dltensor_versioned", ManagedVersioned),
        )
        name, used, kind = next(k for k in kinds if _API.PyCapsule_IsValid(capsule, k[0]))
        managed = ctypes.cast(_API.PyCapsule_GetPointer(capsule, name), ctypes.POINTER(kind))
        _API.PyCapsule_SetName(capsule, used)
        # the name is not copied
        self._capsule, self._name, self._managed = capsule, used, managed
        inside = managed.contents
        tensor = inside.tensor
        self.version = (inside.major, inside.minor) if kind is ManagedVersioned else None
        self.flags: int = inside.flags if kind is ManagedVersioned else 0
        self.address: int = tensor.data + tensor.byte_offset
        self.device: tuple[int, int] = (tensor.device_type, tensor.device_id)
        self.shape = tuple(tensor.shape[: tensor.ndim])
        self.strides = tuple(tensor.strides[: tensor.ndim])
        self.dtype: npt.DTypeLike = np.dtype(f"{_KINDS[tensor.code]}{tensor.bits // 8}")
        assert tensor.lanes == 1

    def let_go(self) -> None:
        managed, self._managed = self._managed, None
        if managed is not None:
            managed.contents.deleter(managed)

    def __enter__(self) -> Borrowed:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.let_go()


def borrowed(capsule: Any) -> Borrowed:
    """Takes over a capsule, as a library does in its `from_dlpack`."""
    return Borrowed(capsule)
