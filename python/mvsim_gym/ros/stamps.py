"""Stamps of messages: simulated time, or simulated time plus an offset to wall time."""

from __future__ import annotations

import math
from collections.abc import Callable

from mvsim_gym._notices import notice

__all__ = ["Stamps"]

_BEHIND = 5 * 10**9  # ns behind wall time after which a notice is given
_STANDING = 1.0  # s of wall time without a step after which the world counts as paused


class Stamps:
    """Computes the stamp of a simulated time.

    Without `/clock`, a stamp is simulated time plus an offset: wall time at the start. So the difference of two stamps
    is simulated time, even if the world runs at another speed, and speeds that are computed from stamped poses are
    right. The offset is set anew after a reset of the world and after a pause of more than a second of wall time.

    Args:
        simulated: simulated time at present, s.
        has_clock: stamps are simulated time.
        now: a monotonic clock of wall time, s.
        wall: wall time, ns since 1970.
    """

    def __init__(
        self, simulated: float, has_clock: bool, now: Callable[[], float], wall: Callable[[], int]
    ) -> None:
        self._has_clock, self._now, self._wall = has_clock, now, wall
        self._time = simulated  # simulated time at the last call of `advance`, s
        self._advanced_at = now()  # wall time at that call, s
        self._anchor = 0 if has_clock else wall() - round(simulated * 1e9)
        self._last = -math.inf  # the latest stamp, ns

    def at(self, simulated: float) -> int:
        """The stamp of a simulated time (s), ns."""
        return round(simulated * 1e9) + self._anchor

    def advance(self, simulated: float) -> int:
        """The present stamp, ns; to be called with the simulated time after each step and after a reset."""
        now = self._now()
        if not self._has_clock:
            halted = (now - self._advanced_at) - (simulated - self._time)
            if simulated < self._time:
                self._anchor = self._wall() - round(simulated * 1e9)
                self._anchor += max(0, int(self._last) + 1 - self.at(simulated))  # stamps never go back
            elif halted > _STANDING:
                self._anchor += round(halted * 1e9)
            elif self._wall() - self.at(simulated) > _BEHIND:
                notice(
                    [
                        "ros: the world runs slower than wall time, so its stamps fall behind: use --clock for stamps"
                        " of simulated time"
                    ]
                )
        self._time, self._advanced_at = simulated, now
        self._last = self.at(simulated)
        return self.at(simulated)
