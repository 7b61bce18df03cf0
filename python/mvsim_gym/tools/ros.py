"""A world that runs as a node of ROS 2: `mvsim-gym ros`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO

from mvsim_gym.ros import Network, RosNode, open_transport
from mvsim_gym.ros.transport import ANY, LOCAL
from mvsim_gym.world import World

__all__ = ["node_of"]


@contextmanager
def node_of(
    world: World, say: TextIO, network: Network, way: str | None, **options: Any
) -> Iterator[RosNode]:
    """A node that publishes what a world does, and says where.

    Args:
        way: as of `open_transport`.
        options: keywords of `RosNode`.
    """
    transport = open_transport(network, way)
    try:
        with RosNode(world, transport, **options) as node:
            reach = {LOCAL: "this machine alone", ANY: "all that the middleware reaches"}.get(
                network.interface, f"interface {network.interface}"
            )
            print(
                f"ROS 2 by {transport.name}, domain {network.domain}, {reach}: {len(node.topics)} topics",
                file=say,
                flush=True,
            )
            yield node
    finally:
        transport.close()
