"""Stamps of messages: simulated time, or the wall's by one anchor."""

from __future__ import annotations

import math
from collections.abc import Callable

from mvsim_gym._notices import notice

__all__ = ["Stamps"]

_BEHIND = 5 * 10**9  # ns behind the wall at which that is said
_STANDING = 1.0  # s of the wall between two steps from which on the world counts as halted


class Stamps:
    """Tells the stamp of a simulated moment.

    Without a clock a stamp is simulated time plus an anchor: the wall's time at the start. So the time between two
    stamps is simulated time, also while a world catches up, and a speed follows from two poses and their stamps. The
    anchor moves where the world was reset, and where it stood still for more than a second of the wall: stamps go on
    with the wall's time then.

    Args:
        simulated: the world's time now, s.
        has_clock: stamps are simulated time.
        now: a clock of the wall, s, that never goes back.
        wall: the wall's time, ns since 1970.
    """

    def __init__(
        self, simulated: float, has_clock: bool, now: Callable[[], float], wall: Callable[[], int]
    ) -> None:
        self._has_clock, self._now, self._wall = has_clock, now, wall
        self._time = simulated  # of the world at the last call of `advance`
        self._told = now()  # s of the wall, then
        self._anchor = 0 if has_clock else wall() - round(simulated * 1e9)
        self._last = -math.inf  # ns, the latest stamp of a world's time

    def at(self, simulated: float) -> int:
        """ns of what happened at a simulated second."""
        return round(simulated * 1e9) + self._anchor

    def advance(self, simulated: float) -> int:
        """ns of now; called with the world's time after each step and after a reset."""
        now = self._now()
        if not self._has_clock:
            halted = (now - self._told) - (simulated - self._time)
            if simulated < self._time:
                self._anchor = self._wall() - round(simulated * 1e9)
                self._anchor += max(0, int(self._last) + 1 - self.at(simulated))  # stamps never go back
            elif halted > _STANDING:
                self._anchor += round(halted * 1e9)
            elif self._wall() - self.at(simulated) > _BEHIND:
                notice(
                    [
                        "ros: the world runs slower than the wall's time, and stamps fall behind it: --clock stamps"
                        " with simulated time"
                    ]
                )
        self._time, self._told = simulated, now
        self._last = self.at(simulated)
        return self.at(simulated)
