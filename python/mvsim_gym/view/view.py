"""The common base of views of worlds, environments and recordings."""

from __future__ import annotations

import atexit
import math
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from mvsim_gym import _core
from mvsim_gym._notices import notice
from mvsim_gym.view.controls import Controls, Plots
from mvsim_gym.view.doors import Doors
from mvsim_gym.view.feed import Feed
from mvsim_gym.view.moment import Moment, label_of
from mvsim_gym.view.server import close_server, open_server
from mvsim_gym.view.stage import Stage

PICTURE_PERIOD = 0.25  # s of wall time between images: one costs the stepping thread milliseconds
_RATE = 30  # moments per second of wall time, at most
_TEXT_PERIOD = 0.5  # s of wall time between updates of the text
# share of wall time, and most s at once, for moments that may not be shown
_SPARE_SHARE, _SPARE_MOST = 0.02, 0.03
_LAST_WAIT, _LAST_NAP = 1.0, 0.005  # s of wall time


class View(ABC):
    """A view of something that runs, for any number of browsers. Browsers only affect it by commands of the panel."""

    _marks_period = 0.1  # s of wall time
    _pictures_due = 0.0

    def __init__(
        self,
        model: _core.Model,
        things: list[str],
        host: str,
        port: int,
        *,
        doors: Doors | None = None,
        num_envs: int = 1,
        **panel: Any,
    ) -> None:
        self._server, self._query = open_server(host, port, doors)
        self._host = host
        self._stage = Stage(self._server, model, num_envs)
        self.controls = Controls(self._server, self._stage, things, num_envs=num_envs, **panel)
        self._plots = Plots(self._server)
        self._pictures: dict[str, Any] = {}
        self._shown_last: Moment | None = None
        self._text_due = self._marks_due = 0.0
        loop = self._server.get_event_loop()
        self._feed = Feed(self._send, 1 / _RATE, loop, self._settle)
        self.closed = False
        self._spare_time, self._kept = 0.0, -math.inf  # s; the second of a monotonic clock
        self._stepper: int | None = None  # the thread that steps
        atexit.register(self.close)  # runs before the library's own, so that the last moment is still sent

    @property
    def url(self) -> str:
        """The URL for a browser, with the token that gives it control."""
        host = "localhost" if self._host in ("", "0.0.0.0", "::") else self._host
        return f"http://{f'[{host}]' if ':' in host else host}:{self._server.get_port()}/{self._query}"

    @property
    def is_watched(self) -> bool:
        return bool(self._server.get_clients())

    def close(self) -> None:
        """Shows the last moment and closes the port; the simulation continues. A second call does nothing."""
        if not self.closed:
            self.closed = True
            atexit.unregister(self.close)
            self._show_last()
            self._feed.close()
            close_server(self._server)

    @abstractmethod
    def moment(self) -> Moment:
        """Returns the present state."""

    def _show_last(self) -> None:
        """Sends the last moment to pages, and waits a short time until they have it. Only the thread that steps may do
        this, since another one could read the state during a step."""
        if self._feed.failure is not None or not self.is_watched:
            return
        if self._stepper not in (None, threading.get_ident()):
            return
        ends = time.monotonic() + _LAST_WAIT
        stream = self._stage.stream
        try:
            self._pictures_due = 0.0
            self._hurry()
            moment = self.moment()
            for _ in range(2):  # a browser that was still taking another moment misses the first one
                self._feed.last(moment, ends - time.monotonic())
                while not stream.is_taken and time.monotonic() < ends:
                    time.sleep(_LAST_NAP)
        except Exception as error:  # the view ends in any case
            notice([f"view: the last moment was not shown: {error!r}"])

    def _offer_spare(self, spare: Callable[[], Moment]) -> None:
        """Hands over a moment that is shown if no other follows, so that a paused simulation is shown as it is. It is
        only made while that costs little of the stepping thread's time."""
        now = time.monotonic()
        self._spare_time = min(self._spare_time + _SPARE_SHARE * (now - self._kept), _SPARE_MOST)
        self._kept = now
        if self._spare_time <= 0 or self.closed or not self.is_watched:
            return
        self._feed.spare(spare())
        self._spare_time -= time.monotonic() - now

    def _fail(self, error: Exception) -> None:
        """Closes the view; the simulation continues without it."""
        if not self.closed:
            self._feed.failure = error
            notice([f"view: closed, it failed with {error!r}"])
            self.close()

    def _wants_moment(self) -> bool:
        """Whether a moment should be handed over now. Without a browser the answer is no."""
        if self._feed.failure is not None:
            self._fail(self._feed.failure)
        return not self.closed and self._feed.is_due and self.is_watched

    def _wants_marks(self) -> bool:
        """Whether the next moment should have marks, which cost more than the bodies."""
        now = time.monotonic()
        if now < self._marks_due:
            return False
        self._marks_due = now + self._marks_period
        return True

    def _shows(self, mark: str) -> bool:
        return self._stage.marks.wanted[mark]

    def _send(self, moment: Moment) -> None:
        """Shows a moment. Runs on the event loop of the server."""
        self._show(moment)
        self._stage.stream.send()

    def _settle(self) -> None:
        """Settles the stream after a while without changes. Runs on the event loop of the server."""
        self._stage.stream.settle()
        if self._shown_last is not None:
            self._hurry()
            self._show_values(self._shown_last)

    def _hurry(self) -> None:
        self._text_due = 0.0
        self._plots.hurry()

    def _show(self, moment: Moment) -> None:
        self._shown_last = moment
        self._stage.show(moment)
        self._show_values(moment)
        for name, picture in moment.pictures.items():
            if name in self._pictures:
                self._pictures[name].image = picture
            else:
                self._pictures[name] = self._server.gui.add_image(picture, label=label_of(name))

    def _show_values(self, moment: Moment) -> None:
        self._plots.show(moment.time, moment.values, (moment.chosen, moment.vehicle))
        if time.monotonic() >= self._text_due:
            self._text_due = time.monotonic() + _TEXT_PERIOD
            self.controls.tell(moment.text)

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
