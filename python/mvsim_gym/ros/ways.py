"""Which way is taken to the network of ROS 2."""

from __future__ import annotations

import importlib.util

from mvsim_gym.ros.transport import Network, Transport

__all__ = ["open_transport"]


def open_transport(network: Network, way: str | None = None) -> Transport:
    """Joins the network as node `mvsim`, by rclpy where it can be imported, else by cyclonedds.

    Args:
        way: one of `WAYS`; None chooses.

    Raises:
        ImportError: the way is not installed; the message says what to do.
        ValueError: it cannot do that.
    """
    if way is None:
        way = "rclpy" if importlib.util.find_spec("rclpy") is not None else "cyclonedds"
    if way == "rclpy":
        from mvsim_gym.ros.rclpy_transport import RclpyTransport

        return RclpyTransport(network)
    from mvsim_gym.ros.cyclone_transport import CycloneTransport

    return CycloneTransport(network)
