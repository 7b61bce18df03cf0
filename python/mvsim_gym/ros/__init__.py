"""Worlds among nodes of ROS 2: messages (which recordings hold too), topics, commands, and two ways to the network.

It needs the extra `ros`; docs/tools.md lists the topics.
"""
