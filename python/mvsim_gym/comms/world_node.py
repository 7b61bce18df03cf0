"""A world as a node: its topics and services, for MVSim's clients and ours."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

from mvsim_gym.comms.client import Client
from mvsim_gym.comms.endpoints import PORT
from mvsim_gym.comms.world_services import WorldServices
from mvsim_gym.comms.world_topics import topics_of
from mvsim_gym.world import World

_LISTENERS_EVERY = 0.02  # s of wall time between checks for subscribers


class WorldNode:
    """Publishes the state of a world and answers calls, as node `World` of a hub. The program that steps the world
    calls `update` after each step, and every few ms while the world is paused:

        with Hub(), WorldNode(world) as node:
            while not node.is_ended:
                world.step()
                node.update()

    Messages are only made for topics with a subscriber. Without one, a camera draws no images.

    Args:
        world: the world; only the thread that calls `update` may step it.
        host, port: where the hub listens.
        address: see `Client`.
        relative: names of vehicles or blocks by the name of another. Their poses in its frame are published.
        rename: new names of topics, by their default names.
        now: a clock of wall time, s.
    """

    def __init__(
        self,
        world: World,
        *,
        host: str = "localhost",
        port: int = PORT,
        address: str | None = None,
        relative: Mapping[str, Sequence[str]] | None = None,
        rename: Mapping[str, str] | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._now = now
        self._topics = topics_of(world, relative or {}, rename or {})
        self._services = WorldServices(world)
        self._listened: set[str] = set()
        self._looked = float("-inf")
        self._client = Client("World", host=host, port=port, address=address)

    def open(self, timeout: float | None = 10.0) -> WorldNode:
        """Connects to the hub.

        Raises:
            CommsError: no hub answered in time, or it refused.
        """
        self._client.connect(timeout)
        try:
            for topic in self._topics:
                self._client.advertise(topic.name, topic.kind)
            for name, (takes, answers, do) in self._services.table.items():
                self._client.offer(name, takes, answers, do)
        except BaseException:
            self._client.shutdown()
            raise
        return self

    def close(self) -> None:
        """Disconnects from the hub. A second call does nothing."""
        self._client.shutdown()

    def __enter__(self) -> WorldNode:
        return self.open()

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def is_ended(self) -> bool:
        return self._services.is_ended

    def update(self) -> None:
        self._services.work()
        now = self._now()
        if not 0 <= now - self._looked < _LISTENERS_EVERY:
            self._looked = now
            self._listened = {topic.name for topic in self._topics if self._client.has_listeners(topic.name)}
        for topic in self._topics:
            if topic.is_due(now) and topic.name in self._listened:
                for message in topic.messages():
                    self._client.publish(topic.name, message)
