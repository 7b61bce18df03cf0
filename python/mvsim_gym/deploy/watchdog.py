"""A thread that stops the robot if the loop hangs."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress

_PATIENCE = 1.0  # s that the end waits for a call of `stop` that blocks


class Watchdog:
    """Calls `stop` repeatedly from its own thread while `fed` has not been called for `limit` seconds.

    Args:
        stop: sends the command to stand. It must be safe to call while another thread sends.
        limit: s of the clock.
        every: time between two calls, s.
        clock: a steady clock, s.
    """

    def __init__(
        self,
        stop: Callable[[], None],
        limit: float,
        every: float = 0.02,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stop, self._limit, self._every, self._clock = stop, limit, every, clock
        self._fed = clock()
        self._ended = threading.Event()
        self.barks = 0
        """number of times that the loop was late"""
        self._thread = threading.Thread(target=self._run, name="mvsim-gym watchdog", daemon=True)
        self._thread.start()

    def fed(self) -> None:
        """Tells that the loop runs."""
        self._fed = self._clock()

    @property
    def is_late(self) -> bool:
        """Whether the loop is late, so that the robot has to stop."""
        return self._clock() - self._fed > self._limit

    def close(self) -> None:
        """Ends the thread, and waits a second at most for a `stop` that blocks. A second call does nothing."""
        self._ended.set()
        self._thread.join(_PATIENCE)

    def _run(self) -> None:
        was_late = False
        while not self._ended.wait(self._every):
            late = self.is_late
            if late:
                with suppress(Exception):  # the thread must live on; the loop itself meets a lasting error
                    self._stop()
                self.barks += not was_late
            was_late = late
