"""The way without a ROS installation: Cyclone DDS, with the names, types and hashes by which nodes of ROS 2 know them.

Messages come and go as they are encoded; what Cyclone has to know of a type is made of its definition.
"""

from __future__ import annotations

import ipaddress
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any
from xml.sax.saxutils import quoteattr

from rosbags.interfaces import Nodetype
from rosbags.typesys.store import Typestore

from mvsim_gym._checks import shortened
from mvsim_gym._notices import extra, notice
from mvsim_gym.ros import graph
from mvsim_gym.ros.messages import STORE
from mvsim_gym.ros.topics import Qos, Topic
from mvsim_gym.ros.transport import ANY, LOCAL, NODE, Network, Publisher, Transport

with extra("ROS 2 without rclpy", "ros"):
    from cyclonedds.builtin import (
        BuiltinDataReader,
        BuiltinTopicDcpsPublication,
        BuiltinTopicDcpsSubscription,
    )
    from cyclonedds.core import DDSException, InstanceState, Policy
    from cyclonedds.core import Qos as DdsQos
    from cyclonedds.domain import Domain, DomainParticipant
    from cyclonedds.idl import make_idl_struct, types
    from cyclonedds.pub import DataWriter
    from cyclonedds.sub import DataReader
    from cyclonedds.topic import Topic as DdsTopic

__all__ = ["CycloneTransport", "config_of"]

_BLOCKING = 20 * 10**6  # ns that a message may wait for slow receivers
_TAKEN = 100  # messages handed over at once
_UNMATCHED_EVERY = 0.5  # s of the wall between looks at who subscribes or publishes in vain
_ENDPOINTS = 10_000  # looked at
# On the loopback interface datagrams are as large as they can be: with those of Ethernet's size a receiver that does
# not ask again (best effort) misses most pictures, since its socket buffer overflows before it wakes up.
_LARGE_DATAGRAMS = "<MaxMessageSize>65500B</MaxMessageSize><FragmentSize>32500B</FragmentSize>"
_BUFFER_FILE = (
    "/proc/sys/net/core/rmem_default"  # bytes of a receiver's socket buffer, unless it asks for more
)
_BUFFER = 212_992  # where there is no such file
# Newer versions of Fast DDS (from ROS 2 Kilted on) tell of their types, with other properties than ours have: what they
# tell is passed over, and names decide, as they do among nodes of ROS 2. 1.15 is Fast DDS's number as a vendor.
_COMPATIBILITY = "<Compatibility><IgnoreTypeInformation>1.15</IgnoreTypeInformation></Compatibility>"
_BASES = {
    "bool": bool,
    "byte": types.uint8,
    "char": types.uint8,
    "string": str,
    "float32": types.float32,
    "float64": types.float64,
    **{f"{sign}int{n}": getattr(types, f"{sign}int{n}") for sign in ("", "u") for n in (8, 16, 32, 64)},
}


class CycloneTransport(Transport):
    """A participant of DDS that looks like a node of ROS 2."""

    name = "cyclonedds"

    def __init__(self, network: Network) -> None:
        try:
            self._domain = Domain(network.domain, config_of(network.interface))
            enclave = DdsQos(Policy.Userdata(b"enclave=/;"))
            self._participant: Any = DomainParticipant(network.domain, qos=enclave)
        except DDSException as error:
            why = str(error)
            if error.code == DDSException.DDS_RETCODE_PRECONDITION_NOT_MET:
                why = "this process is in it already, expected one node a domain"
            raise ValueError(f"cyclonedds: domain {network.domain} cannot be joined: {why}") from None
        self._readers: list[tuple[str, Any, Callable[[bytes], None]]] = []  # by the topic's name in DDS
        self._writers: dict[str, _Writer] = {}  # by the topic's name in DDS
        self._subscribers: Any = BuiltinDataReader(self._participant, BuiltinTopicDcpsSubscription)
        self._publishers: Any = BuiltinDataReader(self._participant, BuiltinTopicDcpsPublication)
        self._graph: _Writer | None = _Writer(
            DataWriter(
                self._participant,
                DdsTopic(self._participant, graph.TOPIC, _type_of(graph.KIND, graph.STORE)),
                qos=_qos(graph.QOS, graph.KIND, graph.STORE),
            ),
            _type_of(graph.KIND, graph.STORE),
        )
        self._told_of = 0  # endpoints
        self._unmatched: set[str] = set()  # what was to be said at the last look
        self._looked = time.monotonic()

    def publisher(self, topic: Topic) -> Publisher:
        """As of `Transport`."""
        writer = DataWriter(self._participant, self._topic(topic), qos=_qos(topic.qos, topic.kind))
        self._writers[f"rt{topic.name}"] = publisher = _Writer(writer, _type_of(topic.kind))
        return publisher

    def subscribe(self, topic: Topic, receive: Callable[[bytes], None]) -> None:
        """As of `Transport`."""
        reader = DataReader(self._participant, self._topic(topic), qos=_qos(topic.qos, topic.kind))
        self._readers.append((f"rt{topic.name}", reader, receive))

    def work(self) -> None:
        """As of `Transport`."""
        self._tell_graph()
        for _, reader, receive in self._readers:
            for sample in reader.take(_TAKEN):
                if sample.sample_info.valid_data:  # else it tells that a publisher has gone
                    receive(sample.data)
        if time.monotonic() - self._looked >= _UNMATCHED_EVERY:
            self._looked = time.monotonic()
            self.look_for_unmatched()

    def _tell_graph(self) -> None:
        """The node's name, and its endpoints if there are others than when they were told."""
        count = len(self._readers) + len(self._writers)
        if self._graph is not None and count != self._told_of:
            self._told_of = count
            readers = [reader.guid.bytes for _, reader, _ in self._readers]
            writers = [writer.writer.guid.bytes for writer in self._writers.values()]
            self._graph.publish(graph.graph_message(NODE, self._participant.guid.bytes, readers, writers))

    def look_for_unmatched(self) -> None:
        """Tells of subscribers and publishers that were there at the last look too and are still without effect."""
        why = "its type ({}) or its quality of service does not fit"
        subscribers, publishers = _found(self._subscribers), _found(self._publishers)
        of_writers = {name: [(each.writer, "subscriptions")] for name, each in self._writers.items()}
        of_readers: dict[str, list[tuple[Any, str]]] = {}
        for name, reader, _ in self._readers:
            of_readers.setdefault(name, []).append((reader, "publications"))
        unmatched = {
            *(
                f"ros: a subscriber of {topic} gets nothing: {why.format(kind)}"
                for topic, kind in _unmatched(subscribers, of_writers)
            ),
            *(
                f"ros: a publisher of {topic} has no effect: {why.format(kind)}"
                for topic, kind in _unmatched(publishers, of_readers)
            ),
        }
        notice(sorted(unmatched & self._unmatched))
        self._unmatched = unmatched
        self._tell_of_losses(subscribers)

    def _tell_of_losses(self, subscribers: Sequence[Any]) -> None:
        """Tells of best-effort subscribers of messages that their socket buffer cannot hold."""
        for found in subscribers:
            writer = self._writers.get(found.topic_name)
            if writer is None or found.qos[Policy.Reliability] != Policy.Reliability.BestEffort:
                continue
            if writer.largest > 1.25 * _socket_buffer():
                notice(
                    [
                        f"ros: a subscriber of {found.topic_name[2:]} is best effort and may miss messages, which are"
                        " larger than a socket buffer of Linux: subscribe reliably, or enlarge its buffers"
                        " (docs/tools-ros.md)"
                    ]
                )

    def close(self) -> None:
        """As of `Transport`."""
        if self._participant is not None:
            self._readers.clear()
            self._writers.clear()
            self._graph = None
            self._subscribers = self._publishers = None
            self._participant._delete(self._participant._ref)  # noqa: SLF001 (cyclonedds has no public way)
            self._participant = None
            self._domain._delete(self._domain._ref)  # noqa: SLF001 (cyclonedds has no public way)

    def _topic(self, topic: Topic) -> Any:
        return DdsTopic(self._participant, f"rt{topic.name}", _type_of(topic.kind))


def _socket_buffer() -> int:
    """bytes that Linux gives to a socket by default."""
    try:
        with open(_BUFFER_FILE, encoding="ascii") as file:
            return int(file.read())
    except (OSError, ValueError):
        return _BUFFER


def _found(others: Any) -> list[Any]:
    """What endpoints in the domain tell of themselves, those that are there."""
    try:
        found = others.read(_ENDPOINTS)
    except Exception:  # whatever others tell, it is only looked at
        return []
    return [each for each in found if each.sample_info.instance_state == InstanceState.Alive]


def _unmatched(others: Sequence[Any], own: Mapping[str, list[tuple[Any, str]]]) -> Iterator[tuple[str, str]]:
    """Topic and type of endpoints in the domain that share a topic's name with ours and fit none of these.

    Args:
        others: what they tell of themselves.
        own: by the topic's name in DDS: endpoints, and what they match.
    """
    for endpoint in others:
        ends, info = own.get(endpoint.topic_name), endpoint.sample_info
        if ends is not None and not any(info.instance_handle in _matched(end, what) for end, what in ends):
            yield endpoint.topic_name[2:], shortened(endpoint.type_name, 200)


def _matched(end: Any, what: str) -> set[int]:
    """The handles of what it is matched with, which cyclonedds gives with a sign here and without one elsewhere."""
    return {handle % 2**64 for handle in getattr(end, f"get_matched_{what}")()}


class _Writer(Publisher):
    def __init__(self, writer: Any, kind: Any) -> None:
        self.writer, self._kind = writer, kind
        self.largest = 0
        """bytes of a message so far"""

    def publish(self, data: bytes) -> bool:
        """As of `Publisher`."""
        sample = object.__new__(self._kind)
        sample.data = data
        self.largest = max(self.largest, len(data))
        try:
            self.writer.write(sample)
        except DDSException as error:
            if error.code == DDSException.DDS_RETCODE_TIMEOUT:
                return False
            raise
        return True

    @property
    def has_listeners(self) -> bool:
        """As of `Publisher`."""
        return bool(self.writer.get_matched_subscriptions())


def config_of(interface: str) -> str:
    """Cyclone's configuration for an interface of `Network`; with `any` CYCLONEDDS_URI has effect too."""
    if interface == ANY:
        ours = f"<CycloneDDS><Domain>{_COMPATIBILITY}</Domain></CycloneDDS>"
        return ",".join(filter(None, (os.environ.get("CYCLONEDDS_URI"), ours)))
    # On the loopback interface nodes are asked one by one, since it seldom has multicast.
    peers, sizes = "", ""
    if interface == LOCAL:
        peers, sizes = '<Peers><Peer address="127.0.0.1"/></Peers>', _LARGE_DATAGRAMS
    place = "127.0.0.1" if interface == LOCAL else interface
    kind = "address" if _is_address(place) else "name"
    return (
        f"<CycloneDDS><Domain><General><Interfaces><NetworkInterface {kind}={quoteattr(place)}/></Interfaces>"
        f"{sizes}</General><Discovery><ParticipantIndex>auto</ParticipantIndex>{peers}</Discovery>{_COMPATIBILITY}</Domain></CycloneDDS>"
    )


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _qos(qos: Qos, kind: str, store: Typestore = STORE) -> Any:
    """Quality of service, with the type's hash (REP 2016), without which newer nodes do not list the type."""
    return DdsQos(
        Policy.Reliability.Reliable(_BLOCKING) if qos.reliable else Policy.Reliability.BestEffort,
        Policy.Durability.TransientLocal if qos.latched else Policy.Durability.Volatile,
        Policy.History.KeepLast(qos.depth),
        Policy.DataRepresentation(use_cdrv0_representation=True),
        Policy.Userdata(f"typehash={store.hash_rihs01(kind)};".encode()),
    )


@cache
def _type_of(kind: str, store: Typestore = STORE) -> Any:
    """A type of DDS for one of ROS 2, under its name there, whose objects hold `data`, an encoded message."""
    package, _, name = kind.split("/")
    fields = {field: _field(node, of, store) for field, (node, of) in store.fielddefs[kind][1]}
    made = make_idl_struct(f"{name}_", f"{package}.msg.dds_.{name}_", fields, dataclassify=False)
    made.serialize = lambda self, **_: self.data
    made.deserialize = made.deserialize_key = classmethod(_holding)
    return made


def _holding(cls: type, data: bytes, **_: Any) -> Any:
    sample: Any = object.__new__(cls)
    sample.data = data
    return sample


def _field(node: Nodetype, of: Any, store: Typestore) -> Any:
    if node == Nodetype.BASE:
        return _BASES[of[0]]
    if node == Nodetype.NAME:
        return _type_of(of, store)
    (inner, of_inner), size = of
    element = _field(inner, of_inner, store)
    if node == Nodetype.ARRAY:
        return types.array[element, size]
    return types.sequence[element, size] if size else types.sequence[element]
