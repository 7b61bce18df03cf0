"""Worlds among nodes of ROS 2: messages (which recordings hold too), topics, commands, and two ways to the network.

    with RosNode(World("my.world.xml"), open_transport(Network())) as node: ...

It needs the extra `ros`; docs/tools-ros.md lists the topics.
"""

from mvsim_gym.ros.node import RosNode
from mvsim_gym.ros.transport import Network, Transport, network_of, open_transport

__all__ = ["Network", "RosNode", "Transport", "network_of", "open_transport"]
