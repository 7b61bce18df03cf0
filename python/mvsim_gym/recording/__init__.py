"""Recordings of a running world: ROS 2 messages in an MCAP file."""
