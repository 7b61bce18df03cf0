"""From the thread that steps to the one that serves browsers: the latest moment alone, and nobody waits for anybody."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable

from mvsim_gym.view.moment import Moment

__all__ = ["Feed"]

_IDLE_LOOKS = 10  # in vain, after which the server looks no more until the next moment comes


class Feed:
    """Shows moments on a server's own event loop, which looks for them once a period: a thread between the two, or
    waking the server for each moment, would take more from whoever steps than the showing does.

    Args:
        show: does it; an exception ends the feed and is kept in `failure`.
        period: s of the wall between moments.
        loop: the event loop of the server, which runs in another thread.
        rest: called there when no moment has come for a while.
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
        self._next_look = 0.0
        self._latest: Moment | None = None
        self._spare: Moment | None = None  # shown if none comes after it
        self._looks = 0  # that are left; 0: the server does not look
        self._ended = False
        self._lock = threading.Lock()  # of the four above
        self._showing = threading.RLock()
        self.failure: Exception | None = None

    @property
    def is_due(self) -> bool:
        """Whether another moment is wanted: the last one has been taken, and a period is over. The next is due a period
        later."""
        now = time.monotonic()
        if now < self._due or self._latest is not None:
            return False
        self._due = max(self._due + self._period, now)
        return True

    def put(self, moment: Moment) -> None:
        """Shows it soon, if no later one comes before."""
        self._hand_over(moment, None)

    def spare(self, moment: Moment) -> None:
        """Shows it when no other has come for a while."""
        self._hand_over(None, moment)

    def _hand_over(self, latest: Moment | None, spare: Moment | None) -> None:
        with self._lock:
            if self._ended:
                return
            self._latest, self._spare = latest or self._latest, spare
            wakes = self._looks == 0
            if wakes:
                self._looks = _IDLE_LOOKS
        if wakes:
            self._loop.call_soon_threadsafe(self._look)

    def last(self, moment: Moment, seconds: float) -> None:
        """Shows it now, as the last one; waits for that, but not longer."""
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
        """Nothing is shown any more when it returns."""
        with self._lock:
            self._ended, self._latest, self._spare = True, None, None
        with self._showing:
            pass

    def _look(self) -> None:
        with self._showing:
            moment = self._taken()
            try:
                if moment is not None:
                    self._show(moment)
                if self._looks_on(moment is not None):
                    self._next_look = max(self._next_look + self._period, self._loop.time())
                    self._loop.call_at(self._next_look, self._look)
                elif not self._ended:
                    self._rest()
            except Exception as error:
                self.failure, self._ended = error, True

    def _taken(self) -> Moment | None:
        with self._lock:
            moment, self._latest = self._latest, None
            if moment is None and self._looks < _IDLE_LOOKS:  # the look before was in vain
                moment, self._spare = self._spare, None
            return moment

    def _looks_on(self, found: bool) -> bool:
        """Whether there is another look, after one that found a moment or none."""
        with self._lock:
            if found or self._latest is not None:
                self._looks = _IDLE_LOOKS
            else:
                self._looks -= 1
            return self._looks > 0 and not self._ended
