"""A network in this process, on a clock that the test moves: a world as a node, and `mvsim-gym drive` beside it."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from mvsim_gym import World
from mvsim_gym.deploy import Pipeline
from mvsim_gym.deploy.driver import Driver
from mvsim_gym.deploy.limits import robot_names
from mvsim_gym.ros import RosNode
from mvsim_gym.ros.drive_node import DriveNode, DriveOptions, Record
from mvsim_gym.ros.services import Answer, Service
from mvsim_gym.ros.topics import Topic
from mvsim_gym.ros.transport import Publisher, Transport
from mvsim_gym.tools.drive import _TOPICS

Fault = Callable[[str, bytes], bytes | None]
"""Changes a message of a topic; None drops it."""
NAMES = {**_TOPICS, "scan": "/lidar", "odom": "/odom", "imu": "/imu", "cmd": "/cmd_vel"}
_TICK = 0.005  # s


class Bus:
    """Hands messages from nodes to nodes."""

    def __init__(self) -> None:
        self.receivers: dict[tuple[str, str], list[deque[bytes]]] = {}
        self.requests: dict[str, deque[bytes]] = {}
        self.replies: dict[str, list[bytes | None]] = {}
        self.fault: Fault = lambda topic, data: data

    def node(self) -> Transport:
        return _Node(self)

    def publish(self, topic: Topic, data: bytes) -> None:
        found = self.fault(topic.name, data)
        if found is not None:
            for waiting in self.receivers.get((topic.name, topic.kind), []):
                waiting.append(found)


class _Node(Transport):
    name = "cyclonedds"

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._own: list[tuple[deque[bytes], Callable[[bytes], None]]] = []
        self._served: list[tuple[Service, deque[bytes], Answer]] = []

    def publisher(self, topic: Topic) -> Publisher:
        return _Out(self._bus, topic)

    def subscribe(self, topic: Topic, receive: Callable[[bytes], None]) -> None:
        waiting: deque[bytes] = deque()
        self._bus.receivers.setdefault((topic.name, topic.kind), []).append(waiting)
        self._own.append((waiting, receive))

    def serve(self, service: Service, answer: Answer) -> None:
        waiting: deque[bytes] = deque()
        self._bus.requests[service.name] = waiting
        self._served.append((service, waiting, answer))

    def work(self) -> None:
        for service, asked, answer in self._served:
            while asked:
                self._bus.replies.setdefault(service.name, []).append(answer(asked.popleft()))
        for waiting, receive in self._own:
            while waiting:
                receive(waiting.popleft())

    def close(self) -> None:
        self._own.clear()


class _Out(Publisher):
    def __init__(self, bus: Bus, topic: Topic) -> None:
        self._bus, self._topic = bus, topic

    def publish(self, data: bytes) -> bool:
        self._bus.publish(self._topic, data)
        return True

    @property
    def has_listeners(self) -> bool:
        return (self._topic.name, self._topic.kind) in self._bus.receivers


class Loop:
    """A world and a drive whose time passes together, as fast as the machine allows.

    Args:
        world: the world file, with one vehicle.
        policy: of the environment, in this process.
        begin: start of the vehicle, x, y (m), yaw (rad).
        goal: m; None: of an environment without goals.
        each: called after each step of the world.
        record: of the drive.
        robot: whose limits hold.
        names: of topics, where they differ.
        options: further fields of `DriveOptions`.
    """

    def __init__(
        self,
        env: str,
        world: str | Path,
        policy: Callable[[Mapping[str, Any]], Any],
        begin: tuple[float, float, float],
        goal: tuple[float, float] | None,
        each: Callable[[Loop], None],
        record: Record | None = None,
        robot: str = "turtlebot3_burger",
        names: Mapping[str, str] = MappingProxyType({}),
        **options: Any,
    ) -> None:
        self.bus = Bus()
        self.now = 0.0
        """s of the clock of both"""
        self.world = World(world, seed=1)
        (self.vehicle,) = self.world.vehicles.values()
        self.vehicle.set_pose(*begin)
        self._each = each
        self._robot = RosNode(
            self.world, self.bus.node(), now=self.clock, wall=lambda: 10**18 + round(self.now * 1e9)
        )
        limits = robot_names(robot).limits
        self.driver = Driver(Pipeline(env), policy, limits)
        self.drive = DriveNode(
            self.driver,
            self.bus.node(),
            DriveOptions({**NAMES, **names}, goals=() if goal is None else (goal,), **options),
            record=record,
            say=lambda text: None,
            clock=self.clock,
            sleep=self.pass_time,
        )

    def clock(self) -> float:
        return self.now

    def pass_time(self, seconds: float, *, real: bool = False) -> None:
        """Moves the clock, and the world with it. `real`: as slowly as the clock on the wall."""
        until = self.now + max(seconds, 1e-5)  # a wait below the resolution of the clock must end
        while self.now < until:
            self.now = min(self.now + _TICK, until)
            if real:
                time.sleep(_TICK)
            while self.world.time + self.world.timestep <= self.now + 1e-9:
                self.world.step()
                self._robot.update()
                self._each(self)
            self._robot.update()
