"""A transport by an installation of ROS: rclpy, with the middleware that is configured there."""

from __future__ import annotations

import importlib
import os
import time
from collections.abc import Callable
from typing import Any

from mvsim_gym._checks import shortened
from mvsim_gym._notices import notice
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

_TAKEN = 100  # messages taken at once
_UNMATCHED_EVERY = 0.5  # s of wall time between checks for publishers that do not match
_BEFORE_RANGES = ("foxy", "galactic", "humble")  # distributions without ROS_AUTOMATIC_DISCOVERY_RANGE
_WITH_RANGES = ("iron", "jazzy", "kilted", "lyrical", "rolling")


class RclpyTransport(Transport):
    """A node of rclpy (two if a topic has two types), in separate contexts that install no signal handlers."""

    name = "rclpy"

    def __init__(self, network: Network) -> None:
        if network.interface not in (LOCAL, ANY):
            raise ValueError(
                f"--interface: found '{network.interface}', expected {LOCAL} or {ANY}: with rclpy the middleware's own"
                " configuration names interfaces"
            )
        _set_range(network.interface)
        self._domain = network.domain
        self._nodes = [_Node(network.domain, NODE)]
        self._taken: dict[str, set[str]] = {}  # types that it subscribes to, by topic
        self._came = 0
        self._looked = time.monotonic()
        self._unmatched: set[str] = set()  # notices that the last check found

    def publisher(self, topic: Topic) -> Publisher:
        """See `Transport`."""
        return _Publisher(
            self._nodes[0].node.create_publisher(_type_of(topic.kind), topic.name, _qos(topic.qos))
        )

    def subscribe(self, topic: Topic, receive: Callable[[bytes], None]) -> None:
        """See `Transport`. A participant of Fast DDS has one type for each topic, so a second node subscribes to a
        second type."""
        kind, taken = _type_of(topic.kind), self._taken.setdefault(topic.name, set())

        def count_and_receive(data: bytes) -> None:
            self._came += 1
            receive(data)

        if len(taken) == len(self._nodes):
            self._nodes.append(_Node(self._domain, f"{NODE}_{len(self._nodes) + 1}"))
        node = self._nodes[len(taken)].node
        node.create_subscription(kind, topic.name, count_and_receive, _qos(topic.qos), raw=True)
        taken.add(topic.kind)

    def work(self) -> None:
        """See `Transport`."""
        for node in self._nodes:
            for _ in range(_TAKEN):
                before = self._came
                node.executor.spin_once(timeout_sec=0)
                if self._came == before:
                    break
        if time.monotonic() - self._looked >= _UNMATCHED_EVERY:
            self._looked = time.monotonic()
            self.look_for_unmatched()

    def look_for_unmatched(self) -> None:
        """Gives a notice of publishers to our topics that did not match at two checks in a row."""
        unmatched = set()
        for topic, taken in self._taken.items():
            for info in self._nodes[0].node.get_publishers_info_by_topic(topic):
                is_reliable = info.qos_profile.reliability != ReliabilityPolicy.BEST_EFFORT
                if info.topic_type not in taken or not is_reliable:
                    kind = shortened(info.topic_type, 200)
                    unmatched.add(
                        f"ros: a publisher of {topic} has no effect: its type ({kind}) or its quality of service does"
                        " not fit"
                    )
        notice(sorted(unmatched & self._unmatched))
        self._unmatched = unmatched

    def close(self) -> None:
        """See `Transport`."""
        for node in self._nodes:
            node.close()


class _Node:
    """A node in its own context, which is a DDS participant."""

    def __init__(self, domain: int, name: str) -> None:
        self._context = rclpy.Context()
        self._context.init(args=[], domain_id=domain)
        self.node = rclpy.create_node(
            name,
            context=self._context,
            use_global_arguments=False,
            enable_rosout=False,
            start_parameter_services=False,
        )
        self.executor = SingleThreadedExecutor(context=self._context)
        self.executor.add_node(self.node)

    def close(self) -> None:
        """Leaves the network. A second call does nothing."""
        if self._context.ok():
            self.executor.shutdown()
            self.node.destroy_node()
            self._context.shutdown()


class _Publisher(Publisher):
    def __init__(self, publisher: Any) -> None:
        self._publisher = publisher

    def publish(self, data: bytes) -> bool:
        """See `Publisher`."""
        self._publisher.publish(data)
        return True

    @property
    def has_listeners(self) -> bool:
        """See `Publisher`."""
        return bool(self._publisher.get_subscription_count())


def _set_range(interface: str) -> None:
    """Sets the range of discovery in the environment, which the middleware reads when it begins.

    Distributions before Jazzy read ROS_LOCALHOST_ONLY, later ones ROS_AUTOMATIC_DISCOVERY_RANGE. If both are set, the
    older variable wins. Without ROS_DISTRO the distribution is unknown, and `local` sets both.
    """
    is_local, distribution = interface == LOCAL, os.environ.get("ROS_DISTRO", "")
    if distribution in _BEFORE_RANGES:
        os.environ["ROS_LOCALHOST_ONLY"] = "1" if is_local else "0"
        return
    if is_local and distribution not in _WITH_RANGES:
        os.environ["ROS_LOCALHOST_ONLY"] = "1"
    else:
        os.environ.pop("ROS_LOCALHOST_ONLY", None)  # it would override the newer variable
    if is_local or os.environ.get("ROS_AUTOMATIC_DISCOVERY_RANGE") in (None, "", "LOCALHOST"):
        os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST" if is_local else "SUBNET"


def _qos(qos: Qos) -> Any:
    return QoSProfile(
        history=HistoryPolicy.KEEP_LAST,
        depth=qos.depth,
        reliability=ReliabilityPolicy.RELIABLE if qos.reliable else ReliabilityPolicy.BEST_EFFORT,
        durability=DurabilityPolicy.TRANSIENT_LOCAL if qos.latched else DurabilityPolicy.VOLATILE,
    )


def _type_of(kind: str) -> Any:
    """Returns the class of a message type.

    Raises:
        ImportError: its package is not installed.
        ValueError: its fields differ from ours.
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
