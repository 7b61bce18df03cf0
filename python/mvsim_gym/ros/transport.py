"""A transport: a connection to the network of ROS 2 that publishes and receives encoded messages (CDR)."""

from __future__ import annotations

import importlib.util
import ipaddress
import os
import re
import socket
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import NamedTuple

from mvsim_gym.ros.services import Answer, Service
from mvsim_gym.ros.topics import Topic

WAYS = ("rclpy", "cyclonedds")
LOCAL, ANY = "local", "any"
_LAST_DOMAIN = 232
_NAMESPACE = re.compile(r"(/[A-Za-z_][A-Za-z0-9_]*)*", re.ASCII)


class Network(NamedTuple):
    """The domain and the interface of a network."""

    domain: int = 0
    interface: str = LOCAL
    """`local`: this machine only; `any`: as the middleware chooses; else the name or the address of an interface"""


class NodeName(NamedTuple):
    name: str
    namespace: str = ""
    """e.g. `/fleet`, or empty"""

    @property
    def full(self) -> str:
        """The name with its namespace, e.g. `/fleet/drive`."""
        return f"{self.namespace}/{self.name}"


NODE = NodeName("mvsim")
"""The name of a node that simulates a world."""


def checked_namespace(name: str, namespace: str) -> str:
    """Returns a namespace. ValueError for an invalid one, with the name of its option."""
    if not _NAMESPACE.fullmatch(namespace):
        raise ValueError(f"{name}: found '{namespace}', expected words as in '/fleet/west'")
    return namespace


class Publisher(ABC):
    @abstractmethod
    def publish(self, data: bytes) -> bool:
        """Sends an encoded message. Returns False if receivers were too slow and the message was dropped."""

    @property
    @abstractmethod
    def has_listeners(self) -> bool:
        """Whether the topic has a subscriber at present."""


class Transport(ABC):
    """A node of ROS 2. Only one thread at a time may use it."""

    name: str
    """one of `WAYS`"""

    @abstractmethod
    def publisher(self, topic: Topic) -> Publisher:
        """Begins to publish. The topic's name is absolute."""

    @abstractmethod
    def subscribe(self, topic: Topic, receive: Callable[[bytes], None]) -> None:
        """Begins to receive. `work` calls `receive` with the encoded messages in their order."""

    @abstractmethod
    def serve(self, service: Service, answer: Answer) -> None:
        """Begins to answer the requests of a service. `work` calls `answer` with the encoded requests."""

    @abstractmethod
    def work(self) -> None:
        """Passes on the messages and the requests that have come, without waiting."""

    @abstractmethod
    def close(self) -> None:
        """Leaves the network. A second call does nothing."""


def network_of(
    domain: int | None, interface: str | None, environment: Mapping[str, str] = os.environ
) -> Network:
    """Returns the network that the arguments name. If an argument is None, the variables of ROS 2 count:
    ROS_DOMAIN_ID, ROS_LOCALHOST_ONLY and ROS_AUTOMATIC_DISCOVERY_RANGE. The default is this machine only.

    Raises:
        ValueError: an invalid value; the message names its source.
    """
    return Network(_domain(domain, environment), _interface(interface, environment))


def _domain(domain: int | None, environment: Mapping[str, str]) -> int:
    where, found = "--domain", str(domain)
    if domain is None:
        where, found = "ROS_DOMAIN_ID", environment.get("ROS_DOMAIN_ID") or "0"
    if not (found.isascii() and found.isdigit() and int(found) <= _LAST_DOMAIN):
        raise ValueError(f"{where}: found '{found}', expected an integer from 0 to {_LAST_DOMAIN}")
    return int(found)


def _interface(interface: str | None, environment: Mapping[str, str]) -> str:
    if interface is not None:
        if interface not in (LOCAL, ANY):
            _check_interface(interface)
        return interface
    only = environment.get("ROS_LOCALHOST_ONLY", "")
    reach = environment.get("ROS_AUTOMATIC_DISCOVERY_RANGE", "")
    if only not in ("", "0", "1"):
        raise ValueError(f"ROS_LOCALHOST_ONLY: found '{only}', expected 0 or 1")
    if only == "1" or reach in ("", "LOCALHOST"):
        return ANY if only == "0" and not reach else LOCAL
    if reach in ("SUBNET", "SYSTEM_DEFAULT"):
        return ANY
    expected = "LOCALHOST, SUBNET or SYSTEM_DEFAULT (with OFF no other node could find this one)"
    raise ValueError(f"ROS_AUTOMATIC_DISCOVERY_RANGE: found '{reach}', expected {expected}")


def _check_interface(interface: str) -> None:
    names = [name for _, name in socket.if_nameindex()]
    if interface in names:
        return
    try:
        address = ipaddress.ip_address(interface)
        family = socket.AF_INET if address.version == 4 else socket.AF_INET6
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.bind((interface, 0))
    except (ValueError, OSError):
        known = ", ".join(names)
        raise ValueError(
            f"--interface: found '{interface}', expected {LOCAL}, {ANY}, an interface ({known}) or its address"
        ) from None


def open_transport(network: Network, way: str | None = None, node: NodeName = NODE) -> Transport:
    """Joins the network as a node, by rclpy if it can be imported, else by cyclonedds.

    Args:
        way: one of `WAYS`; None chooses.
        node: the name of the node.

    Raises:
        ImportError: this transport is not installed; the message names the remedy.
        ValueError: this transport does not support the network.
    """
    if way is None:
        way = "rclpy" if importlib.util.find_spec("rclpy") is not None else "cyclonedds"
    if way == "rclpy":
        from mvsim_gym.ros.rclpy_transport import RclpyTransport

        return RclpyTransport(network, node)
    from mvsim_gym.ros.cyclone_transport import CycloneTransport

    return CycloneTransport(network, node)
