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
        count = self.sensor.count
        if count == self._seen:
            return None
        self._seen = count
        return self.sensor.time

    def read(self) -> Any:
        """The reading of that moment."""
        return self.sensor.read()

    def forget(self) -> None:
        """The world was reset: the count of readings begins anew."""
        self._seen = self.sensor.count


class Sampled:
    """A sensor of an env, which only observations read: here it is read when its period is over."""

    def __init__(self, sensor: Sensor) -> None:
        self.sensor = sensor
        self._read_at = -math.inf  # s of the episode

    def moment(self) -> float | None:
        """As of `Scheduled`."""
        now = self.sensor.world_time
        if self._read_at <= now < self._read_at + (1 - 1e-6) * self.sensor.period:
            return None
        self._read_at = now
        return now

    def read(self) -> Any:
        """Of now, with noise of its own."""
        return self.sensor.read(fresh=True)

    def forget(self) -> None:
        """Another episode: it is read at once."""
        self._read_at = -math.inf
