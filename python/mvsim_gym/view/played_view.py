"""The view of a recording, with a slider for its time."""

from __future__ import annotations

import threading
import time
from typing import Any

from mvsim_gym.view.doors import Doors
from mvsim_gym.view.moment import Moment
from mvsim_gym.view.playback import Playback
from mvsim_gym.view.view import View

_SLIDER_PERIOD = 0.25  # s of wall time between updates of the slider
_HANDS_OFF = 1.0  # s of wall time without updates after the user moved the slider


class PlayedView(View):
    """The view of `mvsim-gym play`. Time passes while a browser is connected. The owner calls `advance` often."""

    def __init__(
        self,
        playback: Playback,
        host: str,
        port: int,
        doors: Doors | None = None,
        *,
        speed: float = 1.0,
    ) -> None:
        super().__init__(
            playback.model,
            [],
            host,
            port,
            doors=doors,
            speed=speed,
            resets=False,
            ends=True,
            vehicles=[vehicle.name for vehicle in playback.model.vehicles],
            cameras=playback.has_pictures,
            marks=("forces",) if playback.has_forces else (),
        )
        self._playback = playback
        self.at = 0.0
        """Time of the recording, s."""
        self.ended = False
        """Whether the button "End" was pressed."""
        self.sought: float | None = None
        """Time that was set by the slider, s; None after it was applied."""
        self._now = time.monotonic()
        self._shown: tuple[float, str] | None = None
        self._slider_due = 0.0
        self._slider: Any = self._server.gui.add_slider(
            "Time", min=0.0, max=max(playback.duration, 0.01), step=0.01, initial_value=0.0, order=0.5
        )
        self._slider.on_update(self._seek)

    def _seek(self, event: Any) -> None:
        if event.client is not None:  # otherwise this process moved the slider
            self._slider_due = time.monotonic() + _HANDS_OFF
            self.sought = float(event.target.value)

    def advance(self) -> None:
        """Carries out commands, and shows the present time of the recording."""
        self._stepper = threading.get_ident()
        now = time.monotonic()
        passed, self._now = now - self._now, now
        if self.is_watched and not self.controls.paused:
            self.at = min(self.at + self.controls.speed * passed, self._playback.duration)
        if self.sought is not None:
            self.at, self.sought = min(max(self.sought, 0.0), self._playback.duration), None
        while self.controls.wishes:
            wish = self.controls.wishes.popleft()
            if wish == "step":
                self.at = self._playback.after(self.at)
            elif wish == "end":
                self.ended = True
        wanted = self.at, self.controls.vehicle
        if wanted != self._shown and self._wants_moment():
            self._shown = wanted
            self._feed.put(self.moment())
        if now >= self._slider_due and self._slider.value != (value := round(self.at, 2)):
            self._slider_due = now + _SLIDER_PERIOD
            self._slider.value = value

    def moment(self) -> Moment:
        return self._playback.moment(
            self.at,
            vehicle=self.controls.vehicle,
            pictures=self.controls.pictures,
            forces=self._shows("forces"),
        )
