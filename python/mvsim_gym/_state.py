"""What stands on a native batch: its making, pickle, copy and bytes."""

from __future__ import annotations

import copy
import struct
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, TypeVar

import numpy as np
import numpy.typing as npt

from mvsim_gym import _core
from mvsim_gym._action_watch import ActionWatch
from mvsim_gym._build import Recipe, make_batch
from mvsim_gym._camera_backend import (
    observes_cameras,
    recalled,
    remembered,
    tell_backend,
    tell_restored,
    wish_of,
)
from mvsim_gym._checks import check_render_mode
from mvsim_gym._keywords import kind_of
from mvsim_gym._shot import Shot, checked_size

T = TypeVar("T", bound="Copyable")

# What no copy takes over: the batch, what is made from it, and what looks at it.
_ALWAYS_NATIVE = frozenset({"_batch", "_info", "_painter", "_view", "_recording"})
_MAGIC = b"mvsimpak"
_HEAD = struct.Struct("<8sQI")  # magic, number of parts, CRC-32 of all that follows


class Copyable(ABC):
    """An environment, or many, that can be copied and pickled while it runs.

    A copy shares the compiled worlds and owns everything else. A pickle carries the constructor's arguments
    and the state: it is made anew where it is read, from the same files, and goes on where it was.
    """

    control_period: float
    """Simulated seconds of a step."""
    action_low: npt.NDArray[np.float64]
    """What an action of -1 stands for, physical units."""
    action_high: npt.NDArray[np.float64]
    """What an action of 1 stands for, physical units."""
    action_names: list[str]
    """Names of the action's components, e.g. vx and omega."""

    _batch: _core.Batch | None = None  # of one whose making has failed
    _recipe: Recipe
    _watch: ActionWatch | None
    _NATIVE: ClassVar[frozenset[str]]
    """Attributes that `_attach` makes from the batch, beside `_ALWAYS_NATIVE`."""

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        constructor = getattr(cls.__dict__.get("__init__"), "constructor", None)
        if constructor is not None and cls.__doc__:
            cls.__doc__ = constructor.documented(cls.__doc__)

    def _make(self, recipe: Recipe) -> _core.Batch:
        """The batch of a new one, and the attributes that all kinds have."""
        options = recipe.options
        check_render_mode(options["render_mode"], many=recipe.kind not in ("Env", "parallel_env"))
        depth = options["render_mode"] == "depth_array"
        checked_size(options["width"], options["height"])
        batch = make_batch(recipe)
        if observes_cameras(batch):
            tell_backend(wish_of(options))
        self._shot = Shot(options["width"], options["height"], options["camera"], depth).checked(
            batch.model(0)
        )
        self._recipe = recipe.portable()
        self.render_mode = options["render_mode"]
        self.control_period = batch.control_period
        self.action_low, self.action_high = np.array(batch.action_low), np.array(batch.action_high)
        self.action_names = batch.action_names
        self._watch = ActionWatch(self.action_names, self.action_low, self.action_high)
        return batch

    @abstractmethod
    def _attach(self, batch: _core.Batch) -> None:
        """Takes over a batch and makes from it what `_NATIVE` names."""

    @abstractmethod
    def _open(self) -> _core.Batch:
        """The batch; an error where this has been closed."""

    def __copy__(self: T) -> T:
        return copy.deepcopy(self)

    def __deepcopy__(self: T, memo: dict[int, Any]) -> T:
        batch = self._open().clone()
        twin = type(self).__new__(type(self))
        memo[id(self)] = twin
        twin.__dict__.update(copy.deepcopy(self._plain_attributes(), memo))
        twin._attach(batch)  # noqa: SLF001 (of this class)
        return twin

    def __getstate__(self) -> Any:
        batch = self._open()
        attributes = self._plain_attributes()
        if observes_cameras(batch):
            attributes = remembered(attributes, wish_of(self._recipe.options))
        return attributes, [batch.state(i) for i in range(batch.num_envs)]

    def __setstate__(self, state: Any) -> None:
        attributes, states = state
        self.__dict__.update(recalled(attributes, wish_of(attributes["_recipe"].options)))
        batch = make_batch(self._recipe)
        batch.set_state(range(batch.num_envs), states)
        self._attach(batch)

    def _put_back(self, which: Sequence[int], states: Sequence[bytes]) -> None:
        """Puts envs of the batch back to snapshots."""
        self._open().set_state(which, states)
        tell_restored(states, wish_of(self._recipe.options))

    def _plain_attributes(self) -> dict[str, Any]:
        left_out = self._NATIVE | _ALWAYS_NATIVE
        return {name: value for name, value in self.__dict__.items() if name not in left_out}


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
