"""What sensors tell, those of a vehicle or those that stand in the world, and when they have something new."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

from mvsim_gym._notices import notice
from mvsim_gym.parts import Sensor
from mvsim_gym.ros.frames import FrameTopics
from mvsim_gym.ros.messages import Messages
from mvsim_gym.ros.sensor_messages import Stream, streams_of
from mvsim_gym.ros.topics import HISTORY, Qos, Sink, Topic

__all__ = ["ReadingTopics", "Sampled", "Scheduled"]


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


class ReadingTopics:
    """Writes readings, and the frames that they are in.

    Args:
        who: what is written, in a notice of a sensor that is left out.
        prefix: stands before the topics.
        parent: the frame that the sensors are mounted on.
        of: whose sensors they are, in that notice.
        frames: takes the transforms of the sensors.
        tree: stands before `/tf`, on which they are.
        frame_prefix: stands before the names of frames.
        derived: with what follows from other topics: the points of depth images.
        history: messages kept of readings.
        source: when readings of a sensor are new.
        finite: as of `streams_of`.
    """

    def __init__(
        self,
        sink: Sink,
        sensors: Iterable[Sensor],
        prefix: str,
        parent: str,
        who: str,
        of: str,
        frames: FrameTopics,
        *,
        tree: str | None = None,
        frame_prefix: str = "",
        derived: bool = True,
        history: int = HISTORY,
        source: type[Sampled] | type[Scheduled] = Scheduled,
        finite: bool = False,
    ) -> None:
        self._sink, self._prefix, self._parent = sink, prefix, parent
        self._frames, self._frame_prefix = frames, frame_prefix
        self._tree = prefix if tree is None else tree
        self._sources: list[tuple[Sampled | Scheduled, list[Stream]]] = []
        for sensor in sensors:
            streams = [s for s in streams_of(sensor, finite=finite) if derived or not s.is_derived]
            if not streams:
                notice(
                    [
                        f"{who}: readings of the sensor '{sensor.name}' of {of} are left out: no message is known for"
                        f" the class '{sensor.class_name}'"
                    ]
                )
                continue
            own = [s for s in streams if sink.offer(Topic(f"{prefix}/{s.topic}", s.kind, Qos(history)))]
            self._sources.append((source(sensor), own))
        if self._sources:
            frames.offer(self._tree, "tf")

    def write(self, stamp: Callable[[float], int]) -> bool:
        """The readings that have come since the last call; called after every step.

        Args:
            stamp: ns of a message that tells of that simulated second.

        Returns:
            Whether there were some.
        """
        came = False
        for source, streams in self._sources:
            moment = source.moment()
            if moment is not None:
                came = True
                self._write_reading(source, streams, stamp(moment))
        return came

    def _write_reading(self, source: Sampled | Scheduled, streams: list[Stream], now: int) -> None:
        messages = Messages(now, self._frame_prefix)
        reading = cache(source.read)  # a picture is drawn when somebody wants it
        for stream in streams:
            name = f"{self._prefix}/{stream.topic}"
            if self._sink.wants(name):
                self._sink.write(name, stream.make(messages, reading()), now)
        if self._frames.wants(self._tree):
            frames = {stream.frame: stream.pose for stream in streams}
            edges = [(self._parent, frame, pose) for frame, pose in frames.items()]
            self._frames.add(self._tree, messages.transforms(edges))

    def forget(self) -> None:
        """The count of readings begins anew."""
        for source, _ in self._sources:
            source.forget()
