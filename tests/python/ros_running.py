"""A world that runs as a node of ROS 2, with a peer in the same domain, for tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import ros_peer as ros

import mvsim_gym
from mvsim_gym._notices import _say
from mvsim_gym.ros import Network, RosNode, open_transport


class Running:
    """A world, its node, and a peer in the same domain. The node's clock of the wall passes with each step alone."""

    def __init__(self, world: mvsim_gym.World, **options: Any) -> None:
        self.world = world
        self.wall = 0.0
        transport = open_transport(Network(ros.DOMAIN), "cyclonedds")
        self.transport = transport
        self.node = RosNode(world, transport, now=lambda: self.wall, **options)
        self.peer = ros.Peer()

    def step(self) -> None:
        self.world.step()
        self.wait(self.world.timestep)

    def wait(self, seconds: float) -> None:
        self.wall += seconds
        self.node.update()

    def hear(self, topics: dict[str, Any], count: int = 1, *, late: bool = False) -> list[Any]:
        """Receives the messages of topics by type while the world steps."""
        for topic, kind in topics.items():
            self.peer.listen(topic, kind, late=late)
        heard = self.peer.heard
        self.peer.wait(lambda: all(len(heard[topic]) >= count for topic in topics), self.step)
        return [heard[topic] for topic in topics]


@contextmanager
def starting(folder: Path) -> Iterator[Callable[..., Running]]:
    """Starts worlds, of a file or of XML, with options of the node; ends them."""
    began: list[Running] = []

    def start(world: Path | str, **options: Any) -> Running:
        if isinstance(world, str):
            (folder / "ros.world.xml").write_text(world)
            world = folder / "ros.world.xml"
        began.append(Running(mvsim_gym.World(world, seed=5), **options))
        return began[-1]

    _say.cache_clear()
    yield start
    for each in began:
        each.node.close()
        each.node.close()
