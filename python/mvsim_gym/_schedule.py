"""What is due once a period."""

from __future__ import annotations

import math


class Schedule:
    """Says when something is due that happens once a period, also where calls come at other times.

    It is due at the first call, then at the first call at or after each multiple of the period since. So the mean rate
    is kept where steps are no divisor of the period. Sensors follow the same rule. Multiples that pass between two
    calls are due once.
    """

    _ROUNDING = 1e-6  # s, of sums of time steps

    def __init__(self, period: float) -> None:
        self._period = period
        self._due: float | None = None

    def is_due(self, now: float) -> bool:
        """Whether it is due at `now` (s), which is not before that of the last call; then the next one is later."""
        if self._due is None:
            self._due = now
        late = now - self._due + self._ROUNDING
        if late < 0:
            return False
        self._due += (math.floor(late / self._period) + 1) * self._period
        return True

    def restart(self) -> None:
        """The next call is due, whatever its time: after a jump of the clock."""
        self._due = None
