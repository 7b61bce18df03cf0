"""A recording of a running world with the topics, frames and types of MVSim's ROS 2 node, stamped with simulated time.

A single vehicle has the topics /odom, /tf... Several vehicles have theirs below /NAME, and frames named
NAME/base_link..., because viewers put all transforms of a file in one tree.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from mvsim_gym import __version__, _core
from mvsim_gym._checks import number
from mvsim_gym._notices import extra, notice
from mvsim_gym.parts import Vehicle, standing_sensors
from mvsim_gym.recording.mcap_file import McapFile
from mvsim_gym.recording.scene_topics import SceneTopics
from mvsim_gym.ros.frames import FrameTopics
from mvsim_gym.ros.map_topics import MapTopics
from mvsim_gym.ros.messages import STORE, Message, Messages
from mvsim_gym.ros.reading_topics import ReadingTopics, Sampled, Scheduled
from mvsim_gym.ros.stamps import Schedule
from mvsim_gym.ros.topics import CLOCK, Topic
from mvsim_gym.ros.vehicle_topics import VehicleTopics, prefixes

with extra("a recording", "record"):
    from mcap import records

_FOREVER = "{sec: 9223372036, nsec: 854775807}"
# The QoS profile by which rosbag2 marks a latched topic: keep last, reliable, transient local.
_LATCHED_QOS = (
    "- {{history: 1, depth: {depth}, reliability: 1, durability: 1, liveliness: 1,"
    " avoid_ros_namespace_conventions: false, deadline: {forever}, lifespan: {forever},"
    " liveliness_lease_duration: {forever}}}"
)


class Recording:
    """Records a world until it is closed, at the latest when the process ends. `World.record` makes it.

    If the process is killed, at most the last second is missing. `mvsim-gym play` shows such a file; other programs can
    read it after `mvsim-gym repair`.

    Args:
        origin: origin of the world, as values that JSON can express.
        more: further topics to record.
    """

    _SOURCE: ClassVar[type[Sampled] | type[Scheduled]] = Scheduled

    def __init__(
        self,
        path: str | os.PathLike[str],
        model: _core.Model,
        simulation: _core.Simulation,
        vehicles: Mapping[str, Vehicle],
        period: float,
        origin: Mapping[str, Any],
        more: Sequence[Topic] = (),
    ) -> None:
        if not number("period", period) > 0:
            raise ValueError(f"period: found {period}, expected seconds above 0")
        self._model, self._simulation = model, simulation
        self._states = Schedule(float(period))
        file = McapFile(path, f"mvsim_gym {__version__}")
        self._file = file
        topics, before = _Topics(file), prefixes(vehicles)
        self._topics = topics
        for topic in more:
            topics.offer(topic)
        self._finalizer = weakref.finalize(self, topics.close)
        self._parts = tuple(vehicles.values())
        self._frames = FrameTopics(topics)
        self._vehicles = [
            VehicleTopics(
                topics,
                simulation,
                vehicle,
                before[name],
                "recording",
                self._frames,
                frame_prefix=f"{before[name][1:]}/" if before[name] else "",
                derived=False,
                source=self._SOURCE,
                commands=True,
            )
            for name, vehicle in vehicles.items()
        ]
        self._standing = ReadingTopics(
            topics,
            standing_sensors(model, simulation).values(),
            "",
            "map",
            "recording",
            "the world",
            self._frames,
            derived=False,
            source=self._SOURCE,
        )
        self._scene, self._maps = SceneTopics(topics, origin), MapTopics(topics, "")
        self._offset = 0  # ns from simulated time to the stamps, which never decrease
        self._last = 0
        self._step_began: int | None = None  # stamp of the state before; None: no step led to the next
        self._write_world()
        for vehicle in self._vehicles:
            vehicle.write_description(self._stamp(simulation.time))
        self._frames.flush_static(self._stamp(simulation.time))
        self.after_step()
        if topics.error is not None:
            raise topics.error

    @property
    def closed(self) -> bool:
        """Whether it has been closed or ended by an error. It is True in a forked child, because the file belongs to
        the parent."""
        return not self._finalizer.alive or not self._file.is_ours

    @property
    def error(self) -> OSError | None:
        """The error that ended the recording, e.g. a full disk; else None. The file has the messages written before."""
        return self._topics.error

    def close(self) -> None:
        """Finishes the file. A second call does nothing."""
        self._finalizer()

    def __enter__(self) -> Recording:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def after_step(self) -> None:
        """Writes new data: readings as they come, states at their period."""
        self._write()

    def _write(self) -> None:
        now = self._simulation.time
        self._last = self._stamp(now)
        self._write_new(now)
        self._step_began = self._last
        if self._topics.error is not None:
            self.close()

    def _write_new(self, now: float) -> None:
        self._topics.write(CLOCK.name, Messages(self._last).clock(), self._last)
        for vehicle in self._vehicles:
            vehicle.write_readings(self._stamp)
        self._standing.write(self._stamp)
        has_states = self._states.is_due(now)
        if self._step_began is not None:  # a command acts from the beginning of a step
            for vehicle in self._vehicles:
                vehicle.write_command(self._step_began, always=has_states)
        if has_states:
            self._scene.write_poses(self._simulation, self._parts, self._last)
            for vehicle in self._vehicles:
                vehicle.write_state(self._last)
        self._frames.flush(self._last)

    def after_jump(self) -> None:
        """Continues after a reset or a restored snapshot. Later stamps follow the earlier ones."""
        self._jump()
        self._write()

    def _jump(self) -> None:
        self._offset += self._last + 1 - self._stamp(self._simulation.time)  # no stamp is used twice
        self._last += 1
        self._states.restart()
        self._step_began = None
        for vehicle in self._vehicles:
            vehicle.forget_readings()
        self._standing.forget()

    def _write_world(self) -> None:
        now = max(self._stamp(self._simulation.time), self._last)
        self._scene.write_world(self._model, now, **self._further_values())
        self._maps.write(self._model, now)

    def _further_values(self) -> dict[str, Any]:
        """Returns further values for the description of the world."""
        return {}

    def _stamp(self, time: float) -> int:
        return round(time * 1e9) + self._offset


class _Topics:
    """Channels of a file. Each is made with its first message."""

    def __init__(self, file: McapFile) -> None:
        self._file = file
        self._schemas: dict[str, int] = {}
        self._channels: dict[str, int] = {}
        self._topics: dict[str, Topic] = {}
        self._latest: dict[str, int] = {}  # time of the last message of each, ns
        self.error: OSError | None = None
        """the error that ended the file"""
        self.offer(CLOCK)

    def close(self) -> None:
        """Finishes the file and logs an error."""
        try:
            self._file.close()
        except OSError as error:
            self._fail(error)

    def _fail(self, error: OSError) -> None:
        if self.error is None:
            self.error = error
            notice([f"recording: '{error.filename}' ends here: {error.strerror}; what it has so far is kept"])

    def offer(self, topic: Topic) -> bool:
        """Accepts a topic, whose channel is made with its first message. If two topics have the same name, only the
        first is recorded."""
        if topic.name in self._topics:
            notice([f"recording: one topic '{topic.name}' is left out, since another has this name"])
            return False
        self._topics[topic.name] = topic
        return True

    def wants(self, topic: str) -> bool:
        """Returns True, because every topic is recorded."""
        return True

    def write(self, topic: str, message: Message, nanoseconds: int) -> None:
        """Appends a message. Stamps of a topic are unique: an equal stamp is moved by a nanosecond."""
        if self.error is not None:
            return
        try:
            nanoseconds = max(nanoseconds, self._latest.get(topic, -1) + 1)
            self._latest[topic] = nanoseconds
            self._append(topic, message, nanoseconds)
        except OSError as error:
            self._fail(error)

    def _append(self, topic: str, message: Message, nanoseconds: int) -> None:
        kind = message.__msgtype__
        if topic not in self._channels:
            self._channels[topic] = self._new_channel(topic, kind)
        data = bytes(STORE.serialize_cdr(message, kind))
        self._file.add(
            records.Message(
                channel_id=self._channels[topic],
                log_time=nanoseconds,
                publish_time=nanoseconds,
                sequence=0,
                data=data,
            )
        )

    def _new_channel(self, topic: str, kind: str) -> int:
        if kind not in self._schemas:
            self._schemas[kind] = len(self._schemas) + 1
            text, _ = STORE.generate_msgdef(kind, ros_version=2)
            self._file.add(
                records.Schema(id=self._schemas[kind], name=kind, encoding="ros2msg", data=text.encode())
            )
        channel = len(self._channels) + 1
        qos = self._topics[topic].qos
        latched = {"offered_qos_profiles": _LATCHED_QOS.format(depth=qos.depth, forever=_FOREVER)}
        self._file.add(
            records.Channel(
                id=channel,
                topic=topic,
                message_encoding="cdr",
                schema_id=self._schemas[kind],
                metadata=latched if qos.latched else {},
            )
        )
        return channel
