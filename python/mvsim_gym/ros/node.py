"""A world as a node of ROS 2: its topics, `/clock`, and the commands that it takes."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Mapping
from typing import Any, Literal

from mvsim_gym._checks import number
from mvsim_gym._notices import notice
from mvsim_gym._schedule import Schedule
from mvsim_gym.ros.commands import Commands
from mvsim_gym.ros.frames import FrameTopics
from mvsim_gym.ros.log_topics import LogTopics
from mvsim_gym.ros.map_topics import MapTopics
from mvsim_gym.ros.messages import MAP, STORE, Message, Messages, word
from mvsim_gym.ros.reading_topics import ReadingTopics
from mvsim_gym.ros.stamps import Stamps
from mvsim_gym.ros.topics import CLOCK, HISTORY, Topic
from mvsim_gym.ros.transport import Publisher, Transport
from mvsim_gym.ros.vehicle_topics import Localization, VehicleTopics, prefixes
from mvsim_gym.world import World

__all__ = ["RosNode"]

_COMMANDS_EVERY = 0.01  # s of the wall between looks at commands
_LISTENERS_EVERY = 0.1  # s of the wall between looks at who listens
_LATCHED_EVERY = 1.0  # s of the wall between messages that nobody but late comers will get
_NAMESPACE = re.compile(r"(/[A-Za-z_][A-Za-z0-9_]*)*", re.ASCII)


class RosNode:
    """Publishes what a world does and drives its vehicles. Whoever steps the world calls `update` after each step, and
    every few ms while it stands:

        with RosNode(world, open_transport(Network())) as node:
            while True:
                world.step()
                node.update()

    What nobody listens to is not made: a camera's pictures cost nothing until somebody subscribes.

    Args:
        world: the world; it may be stepped by one thread only, that of `update`.
        transport: the way to the network; the node closes it.
        clock: publish `/clock` and stamp messages with simulated time; otherwise stamps are simulated time plus an
            anchor of the wall (see `Stamps`).
        period: simulated seconds between messages of poses. Readings go as they come.
        namespace: stands before all topics but `/clock`, e.g. `/fleet`.
        vehicle_namespace: `/NAME` before the topics of a single vehicle too.
        localization: with `amcl_pose`, `particlecloud` and the transform from `map` to `odom`, by which `base_link` is
            where the vehicle is; "identity" leaves `odom` at the origin of `map`, as MVSim does.
        odometry_frame: with the transform from `odom` to `base_link`.
        history: messages kept for slow receivers.
        log_topics: with the columns of the CSV files as topics, of every step.
        one_tree: transforms of all vehicles on `/tf` and `/tf_static`, in one tree: frames are called `NAME/base_link`.
        no_return: "inf" or "max", what a ray of a scan is that hit nothing; with "max" the longest range, as of MVSim.
        now: a clock of the wall, s, that never goes back.
        wall: the wall's time, ns since 1970.

    Raises:
        ValueError: an argument that cannot be; the transport is closed.
    """

    def __init__(
        self,
        world: World,
        transport: Transport,
        *,
        clock: bool = False,
        period: float = 0.02,
        namespace: str = "",
        vehicle_namespace: bool = False,
        localization: bool | Localization = True,
        odometry_frame: bool = True,
        history: int = HISTORY,
        log_topics: bool = False,
        one_tree: bool = False,
        no_return: Literal["inf", "max"] = "inf",
        now: Callable[[], float] = time.monotonic,
        wall: Callable[[], int] = time.time_ns,
    ) -> None:
        self._world, self._transport = world, transport
        self._states, self._has_clock = Schedule(period), clock
        self._now = now
        self._stamps = Stamps(world.time, clock, now, wall)
        self._sink = _NetworkSink(transport, now)
        self._frames = FrameTopics(self._sink)
        self._vehicles: list[VehicleTopics] = []
        self._commands: list[Commands] = []
        self._time = -math.inf  # of the world at the last update
        self._looked = -math.inf  # of the wall, at commands
        try:
            _check(period, namespace, history)
            of_sensors = {
                "history": history,
                "finite": _one_of("no_return", no_return, "inf", "max") == "max",
            }
            of_vehicles: dict[str, Any] = {
                "localization": _localization(localization),
                "odometry_frame": odometry_frame,
            }
            if one_tree:
                of_vehicles["tree"] = namespace
            before = prefixes(world.vehicles, always=vehicle_namespace)
            self._begin(namespace, before, of_sensors, of_vehicles)
            named = {k: namespace + prefix for k, prefix in enumerate(before.values())}
            self._logs = LogTopics(self._sink, world.simulation, named, history) if log_topics else None
        except BaseException:
            transport.close()
            raise

    def _begin(
        self,
        namespace: str,
        before: Mapping[str, str],
        of_sensors: dict[str, Any],
        of_vehicles: dict[str, Any],
    ) -> None:
        """Publishers and subscriptions, and what never changes."""
        world = self._world
        if self._has_clock:
            self._sink.offer(CLOCK)
        for name, vehicle in world.vehicles.items():
            prefix = namespace + before[name]
            frame_prefix = f"{word(name)}/" if "tree" in of_vehicles else ""
            topics = VehicleTopics(
                self._sink,
                world.simulation,
                vehicle,
                prefix,
                "ros",
                self._frames,
                frame_prefix=frame_prefix,
                **of_sensors,
                **of_vehicles,
            )
            commands = Commands(vehicle)
            for topic, receive in commands.topics:
                self._subscribe(topic._replace(name=f"{prefix}/{topic.name}"), receive)
            self._vehicles.append(topics)
            self._commands.append(commands)
        self._standing = ReadingTopics(
            self._sink, world.sensors.values(), namespace, MAP, "ros", "the world", self._frames, **of_sensors
        )
        now = self._stamps.at(world.time)
        MapTopics(self._sink, namespace).write(world.model, now)
        for topics in self._vehicles:
            topics.write_description(now)
        self._frames.flush_static(now)

    def _subscribe(self, topic: Topic, receive: Callable[[bytes], None]) -> None:
        try:
            self._transport.subscribe(topic, receive)
        except ImportError as error:
            notice([f"ros: commands on '{topic.name}' ({topic.kind}) are not taken: {error}"])

    def close(self) -> None:
        """Leaves the network. A second call does nothing."""
        if self._logs is not None:
            self._logs.close()
        self._transport.close()

    def __enter__(self) -> RosNode:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def is_ended(self) -> bool:
        """Never: nobody can end it from the network."""
        return False

    @property
    def topics(self) -> list[str]:
        """The names of what it publishes."""
        return self._sink.topics

    def update(self) -> None:
        """Publishes what is new, and does what was commanded."""
        now = self._now()
        if now - self._looked >= _COMMANDS_EVERY:
            self._looked = now
            self._transport.work()
            for commands in self._commands:
                commands.watch(now)
            self._sink.look()
        simulated = self._world.time
        if simulated != self._time:
            if simulated < self._time:
                self._begin_anew()
            self._time = simulated
            self._tell(simulated)

    def _tell(self, simulated: float) -> None:
        stamp = self._stamps.advance(simulated)
        if self._has_clock and self._sink.wants(CLOCK.name):
            self._sink.write(CLOCK.name, Messages(stamp).clock(), stamp)
        for vehicle in self._vehicles:
            vehicle.write_readings(self._stamps.at)
        self._standing.write(self._stamps.at)
        if self._logs is not None:
            self._logs.write(stamp)
        if self._states.is_due(simulated):
            for vehicle in self._vehicles:
                vehicle.write_state(stamp)
        self._frames.flush(stamp)

    def _begin_anew(self) -> None:
        """After a reset of the world."""
        self._states.restart()
        for vehicle in self._vehicles:
            vehicle.forget_readings()
        self._standing.forget()
        if self._logs is not None:
            self._logs.forget()


def _check(period: float, namespace: str, history: int) -> None:
    if not (math.isfinite(number("period", period)) and period > 0):
        raise ValueError(f"period: found {period}, expected seconds above 0")
    if not _NAMESPACE.fullmatch(namespace):
        raise ValueError(f"namespace: found '{namespace}', expected words as in '/fleet/west'")
    if history < 1:
        raise ValueError(f"history: found {history}, expected at least 1")


def _localization(given: object) -> Localization | None:
    if isinstance(given, bool):
        return "truth" if given else None
    return "identity" if _one_of("localization", given, "truth", "identity") == "identity" else "truth"


def _one_of(name: str, given: object, *known: str) -> str:
    if not isinstance(given, str) or given not in known:
        raise ValueError(f"{name}: found {given!r}, expected {' or '.join(known)}")
    return given


class _NetworkSink:
    """Publishers by topic, and who listens to them."""

    def __init__(self, transport: Transport, now: Callable[[], float]) -> None:
        self._transport, self._now = transport, now
        self._publishers: dict[str, Publisher] = {}
        self._latched: dict[str, float] = {}  # when its last message went, s of the wall
        self._listened: set[str] = set()
        self._looked = -math.inf

    @property
    def topics(self) -> list[str]:
        return list(self._publishers)

    def offer(self, topic: Topic) -> bool:
        """Begins to publish; of two topics of one name the first counts, and what has no type here is left out."""
        if topic.name in self._publishers:
            notice([f"ros: one topic '{topic.name}' is left out, since another has this name"])
            return False
        try:
            self._publishers[topic.name] = self._transport.publisher(topic)
        except ImportError as error:
            notice([f"ros: the topic '{topic.name}' is left out: {error}"])
            return False
        if topic.qos.latched:
            self._latched[topic.name] = -math.inf
        return True

    def look(self) -> None:
        """Sees who listens, if it is time to."""
        now = self._now()
        if now - self._looked >= _LISTENERS_EVERY:
            self._looked = now
            self._listened = {name for name, publisher in self._publishers.items() if publisher.has_listeners}

    def wants(self, topic: str) -> bool:
        """Somebody listens, or may come late to the last message."""
        if topic in self._listened:
            return True
        return topic in self._latched and self._now() - self._latched[topic] >= _LATCHED_EVERY

    def write(self, topic: str, message: Message, nanoseconds: int) -> None:
        """Sends it."""
        if topic in self._latched:
            self._latched[topic] = self._now()
        data = bytes(STORE.serialize_cdr(message, message.__msgtype__))
        if not self._publishers[topic].publish(data):
            notice([f"ros: receivers of {topic} are too slow: messages to them are left out"])
