"""What sensors tell: those of a vehicle, or those that stand in the world."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache

from mvsim_gym._notices import notice
from mvsim_gym.parts import Sensor
from mvsim_gym.ros.frames import FrameTopics
from mvsim_gym.ros.messages import Messages
from mvsim_gym.ros.sensor_messages import Stream, streams_of
from mvsim_gym.ros.sources import Sampled, Scheduled
from mvsim_gym.ros.topics import HISTORY, Qos, Sink, Topic

__all__ = ["ReadingTopics"]


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
