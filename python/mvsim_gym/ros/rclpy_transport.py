"""The way of a ROS installation: rclpy, with the middleware that it is set to."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from typing import Any

from mvsim_gym.ros.messages import STORE
from mvsim_gym.ros.topics import Qos, Topic
from mvsim_gym.ros.transport import ANY, LOCAL, NODE, Network, Publisher, Transport

try:
    import rclpy
    from rclpy.executors import SingleThreadedExecutor
    from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy
except ImportError as error:
    raise ImportError(
        f"rclpy cannot be imported ({error}): source the setup.bash of a ROS 2 installation with this Python, or use"
        " --via cyclonedds"
    ) from error

__all__ = ["RclpyTransport"]

_TAKEN = 100  # messages handed over at once
_BEFORE_RANGES = ("foxy", "galactic", "humble")  # distributions without ROS_AUTOMATIC_DISCOVERY_RANGE
_WITH_RANGES = ("iron", "jazzy", "kilted", "lyrical", "rolling")


class RclpyTransport(Transport):
    """A node of rclpy, in a context of its own that leaves signals alone."""

    name = "rclpy"

    def __init__(self, network: Network) -> None:
        if network.interface not in (LOCAL, ANY):
            raise ValueError(
                f"--interface: found '{network.interface}', expected {LOCAL} or {ANY}: with rclpy the middleware's own"
                " configuration names interfaces"
            )
        _set_range(network.interface)
        self._context = rclpy.Context()
        self._context.init(args=[], domain_id=network.domain)
        self._node = rclpy.create_node(
            NODE,
            context=self._context,
            use_global_arguments=False,
            enable_rosout=False,
            start_parameter_services=False,
        )
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self._node)
        self._came = 0

    def publisher(self, topic: Topic) -> Publisher:
        """As of `Transport`."""
        return _Publisher(self._node.create_publisher(_type_of(topic.kind), topic.name, _qos(topic.qos)))

    def subscribe(self, topic: Topic, receive: Callable[[bytes], None]) -> None:
        """As of `Transport`."""

        def came(data: bytes) -> None:
            self._came += 1
            receive(data)

        self._node.create_subscription(_type_of(topic.kind), topic.name, came, _qos(topic.qos), raw=True)

    def work(self) -> None:
        """As of `Transport`."""
        for _ in range(_TAKEN):
            before = self._came
            self._executor.spin_once(timeout_sec=0)
            if self._came == before:
                return

    def close(self) -> None:
        """As of `Transport`."""
        if self._context.ok():
            self._executor.shutdown()
            self._node.destroy_node()
            self._context.shutdown()


class _Publisher(Publisher):
    def __init__(self, publisher: Any) -> None:
        self._publisher = publisher

    def publish(self, data: bytes) -> bool:
        """As of `Publisher`."""
        self._publisher.publish(data)
        return True

    @property
    def has_listeners(self) -> bool:
        """As of `Publisher`."""
        return bool(self._publisher.get_subscription_count())


def _set_range(interface: str) -> None:
    """Tells the middleware, which reads the environment when it begins, how far it is to reach. Before Jazzy it knows
    one variable, from then on another, of which the older one counts where both are there: where no ROS_DISTRO says
    which it is, `local` sets both."""
    is_local, distribution = interface == LOCAL, os.environ.get("ROS_DISTRO", "")
    if distribution in _BEFORE_RANGES:
        os.environ["ROS_LOCALHOST_ONLY"] = "1" if is_local else "0"
        return
    if is_local and distribution not in _WITH_RANGES:
        os.environ["ROS_LOCALHOST_ONLY"] = "1"
    else:
        os.environ.pop("ROS_LOCALHOST_ONLY", None)  # it would override the other one
    if is_local or os.environ.get("ROS_AUTOMATIC_DISCOVERY_RANGE") in (None, "", "LOCALHOST"):
        os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST" if is_local else "SUBNET"


def _qos(qos: Qos) -> Any:
    return QoSProfile(
        history=HistoryPolicy.KEEP_LAST,
        depth=qos.depth,
        reliability=ReliabilityPolicy.RELIABLE,
        durability=DurabilityPolicy.TRANSIENT_LOCAL if qos.latched else DurabilityPolicy.VOLATILE,
    )


def _type_of(kind: str) -> Any:
    """The class of a message type.

    Raises:
        ImportError: its package is not there.
        ValueError: it has other fields than ours.
    """
    package, _, name = kind.split("/")
    try:
        found = getattr(importlib.import_module(f"{package}.msg"), name)
    except (ImportError, AttributeError):
        raise ImportError(f"the ROS 2 installation has no {kind}") from None
    fields = [field for field, _ in STORE.fielddefs[kind][1]]
    if list(found.get_fields_and_field_types()) != fields:
        there = ", ".join(found.get_fields_and_field_types())
        raise ValueError(f"rclpy: {kind} has the fields {there}, expected {', '.join(fields)}")
    return found
