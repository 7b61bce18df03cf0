"""Worlds as nodes of ROS 2: messages, topics, commands, and two transports. Recordings hold the same messages.

    with RosNode(World("my.world.xml"), open_transport(Network())) as node: ...

This package needs the extra `ros`. docs/tools-ros.md lists the topics.
"""

from mvsim_gym.ros.node import RosNode
from mvsim_gym.ros.transport import Network, Transport, network_of, open_transport

__all__ = ["Network", "RosNode", "Transport", "network_of", "open_transport"]
