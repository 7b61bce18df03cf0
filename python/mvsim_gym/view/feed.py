"""From the thread that steps to the one that shows: the latest moment alone, and nobody waits for anybody."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from mvsim_gym.view.moment import Moment

__all__ = ["Feed"]


class Feed:
    """A thread that shows moments; those that come while it is busy replace each other.

    Args:
        show: does it; an exception ends the thread and is kept in `failure`.
        period: s of the wall between moments.
    """

    def __init__(self, show: Callable[[Moment], None], period: float) -> None:
        self._show, self._period = show, period
        self._due = 0.0
        self._latest: Moment | None = None
        self._wake = threading.Event()
        self._ended = False
        self.failure: Exception | None = None
        self._thread = threading.Thread(target=self._run, name="mvsim-gym view", daemon=True)
        self._thread.start()

    @property
    def is_due(self) -> bool:
        """Whether it is time for another moment; then the next is due a period later."""
        now = time.monotonic()
        if now < self._due:
            return False
        self._due = max(self._due + self._period, now)
        return True

    def put(self, moment: Moment) -> None:
        """Shows it soon, if no later one comes before."""
        self._latest = moment
        self._wake.set()

    def close(self) -> None:
        """Ends the thread."""
        self._ended = True
        self._wake.set()
        if threading.current_thread() is not self._thread:
            self._thread.join(timeout=5)

    def _run(self) -> None:
        while True:
            self._wake.wait()
            self._wake.clear()
            if self._ended:
                return
            moment, self._latest = self._latest, None
            if moment is None:
                continue
            try:
                self._show(moment)
            except Exception as error:
                self.failure = error
                return
