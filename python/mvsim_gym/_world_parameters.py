"""Parameters of a World that a caller sets: kept over its resets, and part of its snapshots."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Any

from mvsim_gym import _core
from mvsim_gym._numbers import number
from mvsim_gym._state import checked_bytes, is_packed, pack, unpack


class HoldsParameters:
    """The part of `World` that has to do with parameters."""

    _simulation: _core.Simulation
    _held: dict[str, float]
    """What the caller has set, by path, the latest last."""

    _alone: Callable[[], AbstractContextManager[None]]
    """Of `World`: nobody else changes it meanwhile."""

    def set_parameter(self, path: str, value: float | str) -> None:
        """Sets the parameters that a path matches: friction, masses, gains, noise... They keep the value over resets,
        until `reset_parameters`.

        Args:
            path: e.g. `vehicle:r1/friction/mu`; `*` stands for any run of characters.
            value: a number, degrees for angles; or the name of a choice.

        Raises:
            ValueError: no such parameter (the message has the nearest), or a value out of range; nothing has changed.
            TypeError: no number.
        """
        with self._alone():
            if not isinstance(path, str):
                raise TypeError(f"path: found {path!r}, expected a text such as 'vehicle:r1/friction/mu'")
            given = self._simulation.choice_value(path, value) if isinstance(value, str) else value
            held = number("value", given)
            self._simulation.set_parameter(path, held)
            self._held.pop(path, None)
            self._held[path] = held

    def parameter(self, path: str) -> float:
        """The value of a parameter, as `set_parameter` takes it; of several that match, the first one's.

        Raises:
            ValueError: no such parameter.
        """
        return self._simulation.parameter(path)[0]

    def reset_parameters(self) -> None:
        """From the next reset on parameters are again as the world's file says."""
        self._held.clear()

    def _hold_again(self) -> None:
        """After a reset."""
        for path, value in self._held.items():
            self._simulation.set_parameter(path, value)

    def _state(self) -> bytes:
        """The simulation's, and what is held, if there is something."""
        state = bytes(self._simulation.snapshot())
        return pack([state, json.dumps(self._held).encode()]) if self._held else state

    def _set_state(self, data: Any) -> None:
        state, held = parted(data)
        for path in held:
            self._simulation.parameter(path)  # an error, before anything has changed
        self._simulation.restore(state)
        self._held = held


def parted(data: Any) -> tuple[bytes, dict[str, float]]:
    """A world's snapshot as the simulation's and what is held.

    Raises:
        ValueError: the bytes are damaged.
        TypeError: no bytes.
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
