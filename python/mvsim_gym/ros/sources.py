"""When a sensor has something new to record."""

from __future__ import annotations

import math
from typing import Any

from mvsim_gym.parts import Sensor

__all__ = ["Sampled", "Scheduled"]


class Scheduled:
    """A sensor of a world, whose readings come by themselves."""

    def __init__(self, sensor: Sensor) -> None:
        self.sensor = sensor
        self._seen = 0

    def moment(self) -> float | None:
        """The simulated time of a reading that is new since the last call, s; None where there is none."""
        simulation, index = self.sensor._simulation, self.sensor._index
        count = simulation.sensor_count(index)
        if count == self._seen:
            return None
        self._seen = count
        return simulation.sensor_time(index)

    def forget(self) -> None:
        """The world was reset: the count of readings begins anew."""
        self._seen = self.sensor._simulation.sensor_count(self.sensor._index)


class Sampled:
    """A sensor of an env, which only observations read: here it is read when its period is over."""

    def __init__(self, sensor: Sensor) -> None:
        self.sensor: Sensor = _AsItSees(sensor._simulation, sensor._model, sensor._index)
        self._read_at = -math.inf  # s of the episode

    def moment(self) -> float | None:
        """As of `Scheduled`."""
        now = self.sensor._simulation.time
        if self._read_at <= now < self._read_at + (1 - 1e-6) * self.sensor.period:
            return None
        self._read_at = now
        return now

    def forget(self) -> None:
        """Another episode: it is read at once."""
        self._read_at = -math.inf


class _AsItSees(Sensor):
    def read(self, *, fresh: bool = False) -> Any:
        """Of now, with noise of its own."""
        return super().read(fresh=True)
