"""Plots of values over time beside the scene."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from mvsim_gym.view.moment import label_of

if TYPE_CHECKING:
    import viser

_POINTS = 300
_PERIOD = 0.2  # s of wall time between points
LINES = 8
"""Most lines of a plot."""
_COLORS = ("#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b", "#e377c2", "#7f7f7f")


class Plots:
    """Plots of values. The first word of a name is the plot: "reward mean" and "reward env" are lines of one plot."""

    def __init__(self, server: viser.ViserServer) -> None:
        self._gui = server.gui
        self._folder = server.gui.add_folder("Plots")
        self._times: dict[str, deque[float]] = {}
        self._lines: dict[str, dict[str, deque[float]]] = {}
        self._shown: dict[str, Any] = {}
        self._due = 0.0
        self._whose: Hashable = None

    def hurry(self) -> None:
        """Lets `show` add the next point at once."""
        self._due = 0.0

    def show(self, now: float, values: Mapping[str, float], whose: Hashable = None) -> None:
        """Adds a point to each line, at simulated time `now`, if it is time for one.

        Plots without values are removed. A plot restarts if its lines change or its time goes back. All plots restart
        if `whose` changes.
        """
        if time.monotonic() < self._due and whose == self._whose:
            return
        if any(times[-1] == now for times in self._times.values()) and whose == self._whose:
            return  # this time has been shown
        if whose != self._whose:
            for title in list(self._lines):
                self._forget(title)
        self._whose = whose
        self._due = time.monotonic() + _PERIOD
        grouped: dict[str, dict[str, float]] = {}
        for name, value in values.items():
            group = grouped.setdefault(name.partition(" ")[0], {})
            if len(group) < LINES:
                group[name] = value
        for title in self._lines.keys() - grouped.keys():
            self._forget(title)
        for title, group in grouped.items():
            if title in self._lines and (
                self._lines[title].keys() != group.keys() or now < self._times[title][-1]
            ):
                self._forget(title)
            self._extend(title, now, group)

    def _extend(self, title: str, now: float, group: Mapping[str, float]) -> None:
        times = self._times.setdefault(title, deque(maxlen=_POINTS))
        lines = self._lines.setdefault(title, {name: deque(maxlen=_POINTS) for name in group})
        times.append(now)
        for name, value in group.items():
            lines[name].append(value)
        data = tuple(np.array(row) for row in (times, *lines.values()))
        if title in self._shown:
            self._shown[title].data = data
            return
        series: list[Any] = [{"label": "time, s"}]
        series += [
            {"label": label_of(name), "stroke": color, "width": 2}
            for name, color in zip(lines, _COLORS, strict=False)
        ]
        with self._folder:
            self._shown[title] = self._gui.add_uplot(
                data, tuple(series), title=label_of(title), scales={"x": {"time": False}}, height=170
            )

    def _forget(self, title: str) -> None:
        del self._times[title], self._lines[title]
        self._shown.pop(title).remove()
