"""The queue between the thread that steps and the server of browsers. It holds one moment, and no thread waits."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable

from mvsim_gym.view.moment import Moment

_IDLE_CHECKS = 10  # checks without a new moment after which the server stops checking


class Feed:
    """Shows moments on a server's own event loop, which checks for a new one once a period.

    A thread between the two, or a wake-up of the server for each moment, would slow down stepping more than showing
    does.

    Args:
        show: shows a moment; an exception ends the feed and is kept in `failure`.
        period: wall time between moments, s.
        loop: the event loop of the server, which runs in another thread.
        rest: called on that loop when no moment has come for a while.
    """

    def __init__(
        self,
        show: Callable[[Moment], None],
        period: float,
        loop: asyncio.AbstractEventLoop,
        rest: Callable[[], None] = lambda: None,
    ) -> None:
        self._show, self._period, self._loop, self._rest = show, period, loop, rest
        self._due = 0.0
        self._next_check = 0.0
        self._latest: Moment | None = None
        self._spare: Moment | None = None  # shown if no other comes after it
        self._checks_left = 0  # checks that are left; 0: the server does not check
        self._ended = False
        self._lock = threading.Lock()  # guards the four members above
        self._showing = threading.RLock()
        self.failure: Exception | None = None

    @property
    def is_due(self) -> bool:
        """Whether another moment is due: the last one was taken and a period is over. If so, the next one is due a
        period later."""
        now = time.monotonic()
        if now < self._due or self._latest is not None:
            return False
        self._due = max(self._due + self._period, now)
        return True

    def put(self, moment: Moment) -> None:
        """Shows a moment soon, unless a later one comes before."""
        self._hand_over(moment, None)

    def spare(self, moment: Moment) -> None:
        """Shows a moment if no other comes for a while."""
        self._hand_over(None, moment)

    def _hand_over(self, latest: Moment | None, spare: Moment | None) -> None:
        with self._lock:
            if self._ended:
                return
            self._latest, self._spare = latest or self._latest, spare
            wakes = self._checks_left == 0
            if wakes:
                self._checks_left = _IDLE_CHECKS
        if wakes:
            self._loop.call_soon_threadsafe(self._check)

    def last(self, moment: Moment, seconds: float) -> None:
        """Shows the last moment at once; waits for it, at most `seconds`."""
        if self._ended:
            return
        shown = threading.Event()

        def show() -> None:
            with self._showing:
                try:
                    self._show(moment)
                except Exception as error:
                    self.failure, self._ended = error, True
            shown.set()

        self._loop.call_soon_threadsafe(show)
        shown.wait(seconds)

    def close(self) -> None:
        """Ends the feed. No moment is shown after it has returned."""
        with self._lock:
            self._ended, self._latest, self._spare = True, None, None
        with self._showing:
            pass

    def _check(self) -> None:
        with self._showing:
            moment = self._taken()
            try:
                if moment is not None:
                    self._show(moment)
                if self._continues(moment is not None):
                    self._next_check = max(self._next_check + self._period, self._loop.time())
                    self._loop.call_at(self._next_check, self._check)
                elif not self._ended:
                    self._rest()
            except Exception as error:
                self.failure, self._ended = error, True

    def _taken(self) -> Moment | None:
        with self._lock:
            moment, self._latest = self._latest, None
            if moment is None and self._checks_left < _IDLE_CHECKS:  # the check before found no moment either
                moment, self._spare = self._spare, None
            return moment

    def _continues(self, found: bool) -> bool:
        """Whether the server checks again; `found`: the last check found a moment."""
        with self._lock:
            if found or self._latest is not None:
                self._checks_left = _IDLE_CHECKS
            else:
                self._checks_left -= 1
            return self._checks_left > 0 and not self._ended
