"""Topics of readings, of the sensors of a vehicle or of those that stand in the world, and of the world's occupancy
grids. A grid is written once, and late subscribers receive it too."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

import numpy as np

from mvsim_gym import _core
from mvsim_gym._notices import notice
from mvsim_gym.parts import Pose, Sensor
from mvsim_gym.ros.messages import Messages
from mvsim_gym.ros.sensor_messages import Stream, streams_of
from mvsim_gym.ros.topics import HISTORY, Qos, Sink, Topic
from mvsim_gym.ros.transforms import FrameTopics


class Scheduled:
    """A sensor of a world, which measures by its own schedule."""

    def __init__(self, sensor: Sensor) -> None:
        self.sensor = sensor
        self._seen = 0

    def moment(self) -> float | None:
        """The simulated time of a reading that is new since the last call, s; None if there is none."""
        count = self.sensor.count
        if count == self._seen:
            return None
        self._seen = count
        return self.sensor.time

    def read(self) -> Any:
        return self.sensor.read()

    def forget(self) -> None:
        """Restarts the count of readings after a reset of the world."""
        self._seen = self.sensor.count


class Sampled:
    """A sensor of an env, which has no schedule there. It is read each time its period is over."""

    def __init__(self, sensor: Sensor) -> None:
        self.sensor = sensor
        self._read_at = -math.inf  # s of the episode

    def moment(self) -> float | None:
        now = self.sensor.world_time
        if self._read_at <= now < self._read_at + (1 - 1e-6) * self.sensor.period:
            return None
        self._read_at = now
        return now

    def read(self) -> Any:
        """Returns a reading of the present, with its own noise."""
        return self.sensor.read(fresh=True)

    def forget(self) -> None:
        """Makes the sensor due at once, in a new episode."""
        self._read_at = -math.inf


class ReadingTopics:
    """Writes readings and the frames of their sensors.

    Args:
        prefix: prefix of the topics.
        parent: the frame on which the sensors are mounted.
        writer: name of the writer, for the notice that a sensor is left out.
        owner: name of the vehicle or world that has the sensors, for the same notice.
        frames: takes the transforms of the sensors.
        tree: prefix of the topic `/tf` that gets the transforms; None: `prefix`.
        frame_prefix: prefix of the names of frames.
        derived: also write topics that follow from others: the points of depth images.
        history: number of readings that a topic keeps.
        source: decides when a sensor has a new reading.
        finite: see `streams_of`.
    """

    def __init__(
        self,
        sink: Sink,
        sensors: Iterable[Sensor],
        prefix: str,
        parent: str,
        writer: str,
        owner: str,
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
                        f"{writer}: readings of the sensor '{sensor.name}' of {owner} are left out: no message is known"
                        f" for the class '{sensor.class_name}'"
                    ]
                )
                continue
            own = [s for s in streams if sink.offer(Topic(f"{prefix}/{s.topic}", s.kind, Qos(history)))]
            self._sources.append((source(sensor), own))
        if self._sources:
            frames.offer(self._tree, "tf")

    def write(self, stamp: Callable[[float], int]) -> bool:
        """Writes the readings that have come since the last call; to be called after every step.

        Args:
            stamp: returns the stamp of a simulated time (s), ns.

        Returns:
            Whether there was a reading.
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
        reading = cache(source.read)  # an image is drawn only if a topic has a receiver
        for stream in streams:
            name = f"{self._prefix}/{stream.topic}"
            if self._sink.wants(name):
                self._sink.write(name, stream.make(messages, reading()), now)
        if self._frames.wants(self._tree):
            frames = {stream.frame: stream.pose for stream in streams}
            edges = [(self._parent, frame, pose) for frame, pose in frames.items()]
            self._frames.add(self._tree, messages.transforms(edges))

    def forget(self) -> None:
        """Restarts the counts of readings."""
        for source, _ in self._sources:
            source.forget()


_ONCE = Qos(1, latched=True)
_VALUES = np.array([0, 100, -1], np.int8)  # values of a free, an occupied and an unknown cell


class MapTopics:
    """The occupancy grids of a world: the first as `simul_map`, further ones as `simul_map_2`, `simul_map_3`, ...

    Args:
        prefix: prefix of the topics.
    """

    def __init__(self, sink: Sink, prefix: str) -> None:
        self._sink, self._prefix = sink, prefix
        self._taken: dict[str, bool] = {}  # offered topics, and whether the sink took them

    def write(self, model: _core.Model, now: int) -> None:
        """Offers and writes the topics; to be called again if the world is replaced.

        Args:
            now: time of the messages, ns.
        """
        messages = Messages(now)
        for k, (cells, resolution, (x, y, yaw)) in enumerate(model.grids, 1):
            name = f"{self._prefix}/simul_map" + (f"_{k}" if k > 1 else "")
            height, width = cells.shape
            info = messages.map_info(resolution, width, height, Pose(x, y, 0, yaw, 0, 0))
            for topic, message in ((name, messages.map(_VALUES[cells], info)), (f"{name}_metadata", info)):
                if topic not in self._taken:
                    self._taken[topic] = self._sink.offer(Topic(topic, message.__msgtype__, _ONCE))
                if self._taken[topic] and self._sink.wants(topic):
                    self._sink.write(topic, message, now)
