"""Tracks which readings have come and how old they are."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Literal, NamedTuple

_AHEAD = 0.05  # s that a stamp may be later than the observation, because clocks of two machines differ


class StaleReadingError(RuntimeError):
    """A reading that an observation needs is missing, too old, impossible or from the future."""


class ReadingState(NamedTuple):
    status: Literal["fresh", "held", "old", "missing", "impossible", "future"]
    """`held`: older than its limit, and used because the pipeline has been told to hold it"""
    age: float
    """s; inf if there is no reading"""
    limit: float
    """s"""
    note: str
    """details, e.g. the number of beams that no reading covers"""

    @property
    def is_usable(self) -> bool:
        """Whether the reading can be used for an observation."""
        return self.status in ("fresh", "held")


class Freshness:
    """The stamps of the sources of readings.

    Args:
        limits: largest age by source, s; inf: one reading is enough.
        held: sources whose last reading is used at any age.
    """

    def __init__(self, limits: dict[str, float], held: Iterable[str] = ()) -> None:
        self._limits: dict[str, float] = {}
        for name, limit in limits.items():
            self.set_limit(name, limit)
        self._held = frozenset(held)
        self._stamps: dict[str, float] = {}
        self._notes: dict[str, str] = {}
        self._impossible: dict[str, str] = {}

    @property
    def limits(self) -> dict[str, float]:
        """Largest age by source, s."""
        return dict(self._limits)

    def set_limit(self, source: str, limit: float) -> None:
        """Sets the largest age of a source, s. ValueError for an invalid one."""
        if not limit > 0:
            raise ValueError(f"max_age of '{source}': found {limit}, expected seconds above 0")
        self._limits[source] = limit

    def forget(self) -> None:
        """Forgets all readings except those of sources without an age limit."""
        self._stamps = {name: stamp for name, stamp in self._stamps.items() if math.isinf(self._limits[name])}
        self._notes.clear()
        self._impossible.clear()

    def accept(self, source: str, stamp: float, note: str = "") -> None:
        """Takes a valid reading with its stamp (s of the caller's clock)."""
        if not math.isfinite(stamp):
            raise ValueError(f"{source}: found the stamp {stamp}, expected seconds")
        self._stamps[source], self._notes[source] = stamp, note
        self._impossible.pop(source, None)

    def reject(self, source: str, why: str) -> None:
        """Takes an invalid reading. It counts as the latest until a valid one comes."""
        self._impossible[source] = why

    def state(self, now: float) -> dict[str, ReadingState]:
        """Returns the state of every source at a time of the caller's clock."""
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
        """Raises StaleReadingError if a source is not usable at that time; the message names all such sources."""
        found = [
            f"{name} is {state.status}" + (f" ({_details(state)})" if _details(state) else "")
            for name, state in self.state(now).items()
            if not state.is_usable
        ]
        if found:
            raise StaleReadingError("no observation: " + ", ".join(found))


def _details(state: ReadingState) -> str:
    if state.status == "impossible":
        return state.note
    if math.isinf(state.age):
        return ""
    return f"age {state.age:.3f} s, limit {state.limit:.3g} s"
