"""A schedule for periodic work."""

from __future__ import annotations

import math


class Schedule:
    """Tells when periodic work is due, also if calls come at other times than the multiples of its period.

    Work is due at the first call, and then at the first call at or after each multiple of the period. The mean rate is
    kept even if the period is no multiple of the time step. Sensors follow the same rule. Several multiples between two
    calls are due once.
    """

    _ROUNDING = 1e-6  # s, rounding error of sums of time steps

    def __init__(self, period: float) -> None:
        self._period = period
        self._due: float | None = None

    def is_due(self, now: float) -> bool:
        """Returns whether work is due at `now` (s), and if so moves on to the next multiple. `now` must not
        decrease."""
        if self._due is None:
            self._due = now
        late = now - self._due + self._ROUNDING
        if late < 0:
            return False
        self._due += (math.floor(late / self._period) + 1) * self._period
        return True

    def restart(self) -> None:
        """Makes the next call due at any time, for use after the clock has jumped."""
        self._due = None
