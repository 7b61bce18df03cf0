"""Which readings are there, and how old they are."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Literal, NamedTuple

__all__ = ["Freshness", "ReadingState", "StaleReadingError"]

_AHEAD = 0.05  # s that a stamp may lie after the moment of an observation: clocks of two machines differ


class StaleReadingError(RuntimeError):
    """A reading that an observation needs is missing, too old, impossible or from the future."""


class ReadingState(NamedTuple):
    """What is known of one source of readings."""

    status: Literal["fresh", "held", "old", "missing", "impossible", "future"]
    """`held`: older than its limit, and used all the same, as the pipeline was told"""
    age: float
    """s; inf where there is none"""
    limit: float
    """s"""
    note: str
    """what else is known, e.g. how many beams nothing covers"""

    @property
    def is_usable(self) -> bool:
        """Whether an observation may be made of it."""
        return self.status in ("fresh", "held")


class Freshness:
    """The stamps of sources of readings.

    Args:
        limits: s, the largest age by source; inf: one reading is enough.
        held: sources whose last reading is used however old it is.
    """

    def __init__(self, limits: dict[str, float], held: Iterable[str] = ()) -> None:
        for name, limit in limits.items():
            if not limit > 0:
                raise ValueError(f"max_age of '{name}': found {limit}, expected seconds above 0")
        self._limits, self._held = dict(limits), frozenset(held)
        self._stamps: dict[str, float] = {}
        self._notes: dict[str, str] = {}
        self._impossible: dict[str, str] = {}

    def forget(self) -> None:
        """All readings; those of sources without a limit of age stay."""
        self._stamps = {name: stamp for name, stamp in self._stamps.items() if math.isinf(self._limits[name])}
        self._notes.clear()
        self._impossible.clear()

    def came(self, source: str, stamp: float, note: str = "") -> None:
        """A sound reading came, of that moment (s of the caller's clock)."""
        if not math.isfinite(stamp):
            raise ValueError(f"{source}: found the stamp {stamp}, expected seconds")
        self._stamps[source], self._notes[source] = stamp, note
        self._impossible.pop(source, None)

    def refused(self, source: str, why: str) -> None:
        """A reading came that cannot be; it counts as the latest until a sound one comes."""
        self._impossible[source] = why

    def state(self, now: float) -> dict[str, ReadingState]:
        """Of every source, at a moment of the caller's clock."""
        return {name: self._state_of(name, now) for name in self._limits}

    def _state_of(self, name: str, now: float) -> ReadingState:
        limit = self._limits[name]
        if name in self._impossible:
            return ReadingState("impossible", math.inf, limit, self._impossible[name])
        stamp = self._stamps.get(name)
        if stamp is None:
            return ReadingState("missing", math.inf, limit, "")
        age, note = now - stamp, self._notes.get(name, "")
        if math.isinf(limit):
            return ReadingState("fresh", age, limit, note)
        if age < -_AHEAD:
            return ReadingState("future", age, limit, note)
        if age <= limit:
            return ReadingState("fresh", age, limit, note)
        return ReadingState("held" if name in self._held else "old", age, limit, note)

    def check(self, now: float) -> None:
        """Raises StaleReadingError where a source is not usable at that moment; the message names all of them."""
        found = [
            f"{name} is {state.status}" + (f" ({_said(state)})" if _said(state) else "")
            for name, state in self.state(now).items()
            if not state.is_usable
        ]
        if found:
            raise StaleReadingError("no observation: " + ", ".join(found))


def _said(state: ReadingState) -> str:
    if state.status == "impossible":
        return state.note
    if math.isinf(state.age):
        return ""
    return f"age {state.age:.3f} s, limit {state.limit:.3g} s"
