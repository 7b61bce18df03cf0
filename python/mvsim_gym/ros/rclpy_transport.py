"""A transport by an installation of ROS: rclpy, with the middleware that is configured there."""

from __future__ import annotations

import importlib
import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from rosbags.interfaces import Nodetype

from mvsim_gym._checks import shortened
from mvsim_gym._notices import notice
from mvsim_gym.ros.messages import STORE
from mvsim_gym.ros.services import Answer, Service
from mvsim_gym.ros.topics import Qos, Topic
from mvsim_gym.ros.transport import ANY, LOCAL, NODE, Network, NodeName, Publisher, Transport

try:
    import rclpy
    from rclpy.executors import SingleThreadedExecutor
    from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy
    from rclpy.serialization import deserialize_message
except ImportError as error:
    raise ImportError(
        f"rclpy cannot be imported ({error}): source the setup.bash of a ROS 2 installation with this Python, or use"
        " --via cyclonedds"
    ) from error

_TAKEN = 100  # messages taken at once
_UNMATCHED_EVERY = 0.5  # s of wall time between checks for publishers that do not match
_BEFORE_RANGES = ("foxy", "galactic", "humble")  # distributions without ROS_AUTOMATIC_DISCOVERY_RANGE
_WITH_RANGES = ("iron", "jazzy", "kilted", "lyrical", "rolling")


class RclpyTransport(Transport):
    """A node of rclpy (two if a topic has two types), in separate contexts that install no signal handlers."""

    name = "rclpy"

    def __init__(self, network: Network, node: NodeName = NODE) -> None:
        if network.interface not in (LOCAL, ANY):
            raise ValueError(
                f"--interface: found '{network.interface}', expected {LOCAL} or {ANY}: with rclpy the middleware's own"
                " configuration names interfaces"
            )
        _set_range(network.interface)
        self._domain = network.domain
        self._name = node
        self._nodes = [_Node(network.domain, node)]
        self._taken: dict[str, set[str]] = {}  # types that it subscribes to, by topic
        self._came = 0
        self._looked = time.monotonic()
        self._unmatched: set[str] = set()  # notices that the last check found

    def publisher(self, topic: Topic) -> Publisher:
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
            name = f"{self._name.name}_{len(self._nodes) + 1}"
            self._nodes.append(_Node(self._domain, self._name._replace(name=name)))
        node = self._nodes[len(taken)].node
        node.create_subscription(kind, topic.name, count_and_receive, _qos(topic.qos), raw=True)
        taken.add(topic.kind)

    def serve(self, service: Service, answer: Answer) -> None:
        """See `Transport`. A request that cannot be answered gets an empty reply."""
        kind = _class_of(service.kind)

        def respond(request: Any, empty: Any) -> Any:
            self._came += 1
            made = _converted(request, service.request)
            reply = answer(bytes(STORE.serialize_cdr(made, service.request)))
            return empty if reply is None else deserialize_message(reply, kind.Response)

        self._nodes[0].node.create_service(kind, service.name, respond)

    def work(self) -> None:
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
        for node in self._nodes:
            node.close()


class _Node:
    """A node in its own context, which is a DDS participant."""

    def __init__(self, domain: int, name: NodeName) -> None:
        self._context = rclpy.Context()
        self._context.init(args=[], domain_id=domain)
        self.node = rclpy.create_node(
            name.name,
            namespace=name.namespace or None,
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
        self._publisher.publish(data)
        return True

    @property
    def has_listeners(self) -> bool:
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


def _class_of(kind: str) -> Any:
    """Returns the class of a type of messages or services. ImportError: its package is not installed."""
    package, folder, name = kind.split("/")
    try:
        return getattr(importlib.import_module(f"{package}.{folder}"), name)
    except (ImportError, AttributeError):
        raise ImportError(f"the ROS 2 installation has no {kind}") from None


def _converted(message: Any, kind: str) -> Any:
    """Returns a message of rclpy as one of our types. rclpy's own encoding has bytes of no meaning at its end."""

    def value_of(value: Any, node: Nodetype, of: Any) -> Any:
        if node == Nodetype.NAME:
            return _converted(value, of)
        if node == Nodetype.BASE:
            return value
        inner, base = of[0]
        if inner == Nodetype.NAME:
            return [_converted(each, base) for each in value]
        if base[0] == "string":
            return list(value)
        if base[0] == "byte":  # a list of objects of one byte
            return np.frombuffer(b"".join(value), np.uint8)
        return np.array(value, base[0])

    known = STORE.fielddefs[kind][1]
    if not message.get_fields_and_field_types():  # ours has a field that stands for none
        return STORE.types[kind](**{name: 0 for name, _ in known})
    fields = {name: value_of(getattr(message, name), node, of) for name, (node, of) in known}
    return STORE.types[kind](**fields)


def _type_of(kind: str) -> Any:
    """Returns the class of a message type.

    Raises:
        ImportError: its package is not installed.
        ValueError: its fields differ from ours.
    """
    found = _class_of(kind)
    fields = [field for field, _ in STORE.fielddefs[kind][1]]
    if list(found.get_fields_and_field_types()) != fields:
        there = ", ".join(found.get_fields_and_field_types())
        raise ValueError(f"rclpy: {kind} has the fields {there}, expected {', '.join(fields)}")
    return found
