"""What views of worlds and of environments have in common."""

from __future__ import annotations

import atexit
import math
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from types import TracebackType
from typing import Any

from mvsim_gym import _core
from mvsim_gym._notices import notice
from mvsim_gym.view.controls import Controls
from mvsim_gym.view.doors import Doors
from mvsim_gym.view.feed import Feed
from mvsim_gym.view.labels import label_of
from mvsim_gym.view.moment import Moment
from mvsim_gym.view.plots import Plots
from mvsim_gym.view.server import close_server, open_server
from mvsim_gym.view.stage import Stage

__all__ = ["PICTURE_PERIOD", "View"]

PICTURE_PERIOD = 0.25  # s of the wall: a picture of a camera takes milliseconds of the thread that steps
_RATE = 30  # moments a second of the wall, at most
_TEXT_PERIOD = 0.5  # s of the wall
_SPARE_SHARE, _SPARE_MOST = (
    0.02,
    0.03,
)  # of the time that passes, and s at most, for moments that may not be shown
_LAST_WAIT, _LAST_NAP = 1.0, 0.005  # s of the wall


class View(ABC):
    """Something that runs, in any number of browsers. They take nothing from it but what is pressed there."""

    _marks_period = 0.1  # s of the wall
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
        self._spare_time, self._kept = 0.0, -math.inf  # s; of a steady clock
        self._stepper: int | None = None  # the thread that steps
        atexit.register(self.close)  # before the library's own, so that the last moment is still sent

    @property
    def url(self) -> str:
        """What a browser opens; with its token, so that what is pressed there has effect."""
        host = "localhost" if self._host in ("", "0.0.0.0", "::") else self._host
        return f"http://{f'[{host}]' if ':' in host else host}:{self._server.get_port()}/{self._query}"

    @property
    def is_watched(self) -> bool:
        """Whether a browser is there."""
        return bool(self._server.get_clients())

    def close(self) -> None:
        """Shows the last moment, and lets go of the port; what it showed goes on. A second call does nothing."""
        if not self.closed:
            self.closed = True
            atexit.unregister(self.close)
            self._show_last()
            self._feed.close()
            close_server(self._server)

    @abstractmethod
    def moment(self) -> Moment:
        """How what is seen stands."""

    def _show_last(self) -> None:
        """To pages that are there, and waits until they have it, but not long. Another thread than the one that steps
        does not look: it may be stepping."""
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
            for _ in range(2):  # who was still taking another one the first time misses it
                self._feed.last(moment, ends - time.monotonic())
                while not stream.is_taken and time.monotonic() < ends:
                    time.sleep(_LAST_NAP)
        except Exception as error:  # it ends anyway
            notice([f"view: the last moment was not shown: {error!r}"])

    def _keep(self, spare: Callable[[], Moment]) -> None:
        """A moment that is shown if none follows: so that what stands still is seen as it stands. It is made as long
        as that costs little of the time of the thread that steps."""
        now = time.monotonic()
        self._spare_time = min(self._spare_time + _SPARE_SHARE * (now - self._kept), _SPARE_MOST)
        self._kept = now
        if self._spare_time <= 0 or self.closed or not self.is_watched:
            return
        self._feed.spare(spare())
        self._spare_time -= time.monotonic() - now

    def _fail(self, error: Exception) -> None:
        """Ends the view: what runs goes on without it."""
        if not self.closed:
            self._feed.failure = error
            notice([f"view: closed, it failed with {error!r}"])
            self.close()

    def _wants_moment(self) -> bool:
        """Whether a moment should be handed over now; nobody looks, nothing is done."""
        if self._feed.failure is not None:
            self._fail(self._feed.failure)
        return not self.closed and self._feed.is_due and self.is_watched

    def _wants_marks(self) -> bool:
        """Whether what is shown beside the bodies should be in the next moment, which costs more than they do."""
        now = time.monotonic()
        if now < self._marks_due:
            return False
        self._marks_due = now + self._marks_period
        return True

    def _shows(self, mark: str) -> bool:
        """Whether a toggle is on."""
        return self._stage.marks.wanted[mark]

    def _send(self, moment: Moment) -> None:
        """On the event loop of the server."""
        self._show(moment)
        self._stage.stream.send()

    def _settle(self) -> None:
        """Nothing has moved for a while: on the event loop of the server."""
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

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
