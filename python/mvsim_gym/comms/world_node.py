"""A world as a node: its topics and services, for MVSim's clients and ours."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

from mvsim_gym.comms.client import Client
from mvsim_gym.comms.endpoints import PORT
from mvsim_gym.comms.world_services import WorldServices
from mvsim_gym.comms.world_topics import topics_of
from mvsim_gym.world import World

__all__ = ["WorldNode"]

_LISTENERS_EVERY = 0.02  # s of the wall between looks at who listens


class WorldNode:
    """Publishes what a world does and answers calls, as node `World` of a hub. Whoever steps the world calls `update`
    after each step, and every few ms while it stands:

        with Hub(), WorldNode(world) as node:
            while not node.is_ended:
                world.step()
                node.update()

    What nobody listens to is not made: a camera's pictures cost nothing until somebody subscribes.

    Args:
        world: the world; it may be stepped by one thread only, that of `update`.
        host, port: where the hub is.
        address: as of `Client`.
        relative: by the name of a vehicle or block the names of others, whose poses in its frame are published.
        rename: other names for topics, by those that they have otherwise.
        now: a clock of the wall, s.
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
        """Joins the hub.

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
        """Leaves the hub. A second call does nothing."""
        self._client.shutdown()

    def __enter__(self) -> WorldNode:
        return self.open()

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def is_ended(self) -> bool:
        """Whether somebody called the service `shutdown`."""
        return self._services.is_ended

    def update(self) -> None:
        """Publishes what is new, and does what was called for."""
        self._services.work()
        now = self._now()
        if not 0 <= now - self._looked < _LISTENERS_EVERY:
            self._looked = now
            self._listened = {topic.name for topic in self._topics if self._client.has_listeners(topic.name)}
        for topic in self._topics:
            if topic.is_due(now) and topic.name in self._listened:
                for message in topic.messages():
                    self._client.publish(topic.name, message)
