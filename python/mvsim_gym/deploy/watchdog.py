"""A thread that stops the robot where the loop hangs."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

__all__ = ["Watchdog"]


class Watchdog:
    """Calls `stop` again and again, from a thread of its own, while `fed` has not been called for `limit` seconds.

    Args:
        stop: sends the command to stand; it must be safe to call beside other sends.
        limit: s of the steady clock.
        every: s between two calls.
    """

    def __init__(self, stop: Callable[[], None], limit: float, every: float = 0.02) -> None:
        self._stop, self._limit, self._every = stop, limit, every
        self._fed = time.monotonic()
        self._ended = threading.Event()
        self.barks = 0
        """how often the loop was late"""
        self._thread = threading.Thread(target=self._run, name="mvsim-gym watchdog", daemon=True)
        self._thread.start()

    def fed(self) -> None:
        """The loop runs."""
        self._fed = time.monotonic()

    @property
    def is_late(self) -> bool:
        """Whether it has to stop the robot now."""
        return time.monotonic() - self._fed > self._limit

    def close(self) -> None:
        """Ends it. A second call does nothing."""
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        was_late = False
        while not self._ended.wait(self._every):
            late = self.is_late
            if late:
                self._stop()
                self.barks += not was_late
            was_late = late
