"""A world as a node of ROS 2: its topics, `/clock`, and the commands of its vehicles."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from typing import Any, Literal

from mvsim_gym._checks import number
from mvsim_gym._notices import notice
from mvsim_gym.ros.commands import Commands
from mvsim_gym.ros.localization_error import EstimatedPose, LocalizationErrors
from mvsim_gym.ros.messages import MAP, STORE, Message, Messages, word
from mvsim_gym.ros.reading_topics import MapTopics, ReadingTopics
from mvsim_gym.ros.topics import CLOCK, HISTORY, Schedule, Stamps, Topic
from mvsim_gym.ros.transforms import FrameTopics
from mvsim_gym.ros.transport import Publisher, Transport, checked_namespace
from mvsim_gym.ros.vehicle_topics import Localization, LogTopics, VehicleTopics, prefixes
from mvsim_gym.world import World

_COMMANDS_EVERY = 0.01  # s of wall time between checks for commands
_LISTENERS_EVERY = 0.1  # s of wall time between checks for subscribers
_LATCHED_EVERY = 1.0  # s of wall time between latched messages without a subscriber, kept for late ones


class RosNode:
    """Publishes the state of a world and drives its vehicles. The program that steps the world calls `update` after
    each step, and every few ms while the world is paused:

        with RosNode(world, open_transport(Network())) as node:
            while True:
                world.step()
                node.update()

    Messages are only made for topics with a subscriber. Without one, a camera draws no images.

    Args:
        world: the world; only the thread that calls `update` may step it.
        transport: the connection to the network; the node closes it.
        clock: publish `/clock` and stamp messages with simulated time. Otherwise stamps are simulated time plus an
            offset to wall time (see `Stamps`).
        period: simulated seconds between messages of poses. Readings are published as they come.
        namespace: prefix of all topics except `/clock`, e.g. `/fleet`.
        vehicle_namespace: puts `/NAME` before the topics of a single vehicle too.
        localization: publish `amcl_pose`, `particlecloud` and the transform from `map` to `odom`, which places
            `base_link` at the true pose. "identity" leaves `odom` at the origin of `map`, as MVSim does.
        localization_error: errors of `amcl_pose`, `particlecloud` and the transform from `map` to `odom`, e.g.
            `jump_rate=0.2 jump_sigma=0.05`; "" for none. A drift replaces the errors of the vehicles' odometry.
        seed: of these errors.
        odometry_frame: publish the transform from `odom` to `base_link`.
        history: number of messages that are kept for slow receivers.
        log_topics: publish the columns of the CSV files as topics, at every step.
        one_tree: transforms of all vehicles on `/tf` and `/tf_static`, in one tree; frames are named `NAME/base_link`.
        no_return: "inf" or "max": the value of a scan's ray without a return. "max" is the longest range, as in MVSim.
        now: a monotonic clock of wall time, s.
        wall: wall time, ns since 1970.

    Raises:
        ValueError: an invalid argument; the transport is then closed.
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
        localization_error: str = "",
        seed: int = 0,
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
        self._estimates: list[tuple[str, EstimatedPose]] = []  # by vehicle
        self._time = -math.inf  # simulated time of the last update, s
        self._looked = -math.inf  # wall time of the last check for commands, s
        try:
            _check(period, namespace, history)
            of_sensors = {
                "history": history,
                "finite": _one_of("no_return", no_return, "inf", "max") == "max",
            }
            method = _localization(localization)
            errors = LocalizationErrors.parsed(localization_error, seed)
            if localization_error:
                if method != "truth":
                    raise ValueError(
                        "localization_error: found errors, expected them with the localization truth alone"
                    )
                self._estimates = [(name, EstimatedPose(errors, k)) for k, name in enumerate(world.vehicles)]
                self._set_drift()
            of_vehicles: dict[str, Any] = {
                "localization": method,
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
        """Begins to publish and to subscribe, and writes the descriptions, which never change."""
        world = self._world
        if self._has_clock:
            self._sink.offer(CLOCK)
        estimates = dict(self._estimates)
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
                estimate=estimates.get(name),
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
        """Always False: no message from the network ends the node."""
        return False

    @property
    def topics(self) -> list[str]:
        return self._sink.topics

    def update(self) -> None:
        now = self._now()
        if now - self._looked >= _COMMANDS_EVERY:
            self._looked = now
            self._transport.work()
            for commands in self._commands:
                commands.watch(now)
            self._sink.check_listeners()
        simulated = self._world.time
        if simulated != self._time:
            if simulated < self._time:
                self._restart()
            self._time = simulated
            self._publish(simulated)

    def _publish(self, simulated: float) -> None:
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

    def _set_drift(self) -> None:
        """Sets the errors of the vehicles' odometry, if there is a drift."""
        for name, estimate in self._estimates:
            if estimate.has_drift:
                for axis, value in zip(("x", "y", "yaw"), estimate.multipliers.tolist(), strict=True):
                    self._world.set_parameter(f"vehicle:{name}/odometry/{axis}_multiplier", value)

    def _restart(self) -> None:
        """Restarts schedules, counts and errors of the localization after a reset of the world."""
        self._states.restart()
        for vehicle in self._vehicles:
            vehicle.forget_readings()
        self._set_drift()
        self._standing.forget()
        if self._logs is not None:
            self._logs.forget()


def _check(period: float, namespace: str, history: int) -> None:
    if not (math.isfinite(number("period", period)) and period > 0):
        raise ValueError(f"period: found {period}, expected seconds above 0")
    checked_namespace("namespace", namespace)
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
    """Publishers by topic, and whether they have subscribers."""

    def __init__(self, transport: Transport, now: Callable[[], float]) -> None:
        self._transport, self._now = transport, now
        self._publishers: dict[str, Publisher] = {}
        self._latched: dict[str, float] = {}  # wall time of the last message, s, by topic
        self._listened: set[str] = set()
        self._looked = -math.inf

    @property
    def topics(self) -> list[str]:
        return list(self._publishers)

    def offer(self, topic: Topic) -> bool:
        """Begins to publish. A second topic of the same name, or one whose type is not installed, is left out."""
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

    def check_listeners(self) -> None:
        """Checks which topics have subscribers, at most every 0.1 s."""
        now = self._now()
        if now - self._looked >= _LISTENERS_EVERY:
            self._looked = now
            self._listened = {name for name, publisher in self._publishers.items() if publisher.has_listeners}

    def wants(self, topic: str) -> bool:
        """Whether the topic has a subscriber, or is latched and due for late subscribers."""
        if topic in self._listened:
            return True
        return topic in self._latched and self._now() - self._latched[topic] >= _LATCHED_EVERY

    def write(self, topic: str, message: Message, nanoseconds: int) -> None:
        if topic in self._latched:
            self._latched[topic] = self._now()
        data = bytes(STORE.serialize_cdr(message, message.__msgtype__))
        if not self._publishers[topic].publish(data):
            notice([f"ros: receivers of {topic} are too slow: messages to them are left out"])
