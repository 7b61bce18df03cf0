"""A transport without a ROS installation: Cyclone DDS, with the names, types and hashes that nodes of ROS 2 expect.

Messages are passed in encoded form. Their types are declared to Cyclone by the message definitions.
"""

from __future__ import annotations

import ipaddress
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np
from rosbags.interfaces import Nodetype
from rosbags.typesys import Stores, get_typestore
from rosbags.typesys.store import Typestore

from mvsim_gym._checks import shortened
from mvsim_gym._notices import extra, notice
from mvsim_gym.ros.cyclone_services import ServiceServer, reply_topic, request_topic
from mvsim_gym.ros.messages import STORE
from mvsim_gym.ros.services import Answer, Service
from mvsim_gym.ros.topics import Qos, Topic
from mvsim_gym.ros.transport import ANY, LOCAL, NODE, Network, NodeName, Publisher, Transport

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

GRAPH_TOPIC, _GRAPH_QOS = "ros_discovery_info", Qos(1, latched=True)
_GRAPH_KIND = "rmw_dds_common/msg/ParticipantEntitiesInfo"
_GRAPH_STORE = get_typestore(Stores.ROS2_JAZZY)
"""The types of the message as from ROS 2 Iron on, with GUIDs of 16 bytes; before, they had 24."""
_BLOCKING = 20 * 10**6  # ns that a message may wait for slow receivers
_OF_SERVICES = Qos(10)
_TAKEN = 100  # messages taken from a reader at once
_UNMATCHED_EVERY = 0.5  # s of wall time between checks for endpoints that do not match
_ENDPOINTS = 10_000  # most endpoints that a check reads
# The loopback interface gets the largest possible datagrams. With datagrams of Ethernet's size a best-effort receiver
# misses most images, since its socket buffer overflows before it wakes up.
_LARGE_DATAGRAMS = "<MaxMessageSize>65500B</MaxMessageSize><FragmentSize>32500B</FragmentSize>"
_BUFFER_FILE = "/proc/sys/net/core/rmem_default"  # default size of a receiver's socket buffer, bytes
_BUFFER = 212_992  # bytes, if there is no such file
# Newer versions of Fast DDS (from ROS 2 Kilted on) send descriptions of their types, which differ from ours in some
# properties. The descriptions are ignored and types match by name, as in ROS 2. 1.15 is the vendor id of Fast DDS.
_COMPATIBILITY = "<Compatibility><IgnoreTypeInformation>1.15</IgnoreTypeInformation></Compatibility>"
# A writer that is closed waits for confirmations, also of a reader that has died or hangs. The default is a second for
# each writer, one after another, so a node of many topics took many seconds to end.
_LINGER = "<Internal><WriterLingerDuration>50 ms</WriterLingerDuration></Internal>"
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
    """A DDS participant that appears as a node of ROS 2."""

    name = "cyclonedds"

    def __init__(self, network: Network, node: NodeName = NODE) -> None:
        self._node = node
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
        self._servers: list[tuple[str, Any, ServiceServer]] = []  # by the requests' topic in DDS
        self._subscribers: Any = BuiltinDataReader(self._participant, BuiltinTopicDcpsSubscription)
        self._publishers: Any = BuiltinDataReader(self._participant, BuiltinTopicDcpsPublication)
        self._graph: _Writer | None = _Writer(
            DataWriter(
                self._participant,
                DdsTopic(self._participant, GRAPH_TOPIC, _type_of(_GRAPH_KIND, _GRAPH_STORE)),
                qos=_qos(_GRAPH_QOS, _GRAPH_KIND, _GRAPH_STORE),
            ),
            _type_of(_GRAPH_KIND, _GRAPH_STORE),
        )
        self._announced = 0  # number of endpoints in the last graph message
        self._unmatched: set[str] = set()  # notices that the last check found
        self._looked = time.monotonic()

    def publisher(self, topic: Topic) -> Publisher:
        return self._make_writer(f"rt{topic.name}", _type_of(topic.kind), topic.qos, topic.kind)

    def subscribe(self, topic: Topic, receive: Callable[[bytes], None]) -> None:
        reader = self._make_reader(f"rt{topic.name}", _type_of(topic.kind), topic.qos, topic.kind)
        self._readers.append((f"rt{topic.name}", reader, receive))

    def serve(self, service: Service, answer: Answer) -> None:
        requests, replies = request_topic(service.name), reply_topic(service.name)
        reader = self._make_reader(
            requests, _type_of(service.request, header=True), _OF_SERVICES, service.kind
        )
        publisher = self._make_writer(
            replies, _type_of(service.reply, header=True), _OF_SERVICES, service.kind
        )
        server = ServiceServer(service, reader, publisher.writer, publisher, answer)
        self._servers.append((requests, reader, server))

    def _make_reader(self, name: str, kind: Any, qos: Qos, hashed: str) -> Any:
        """Makes a reader of a topic of DDS and its type there; `hashed` is the type of ROS 2 whose hash it tells."""
        topic = DdsTopic(self._participant, name, kind)
        return DataReader(self._participant, topic, qos=_qos(qos, hashed))

    def _make_writer(self, name: str, kind: Any, qos: Qos, hashed: str) -> _Writer:
        topic = DdsTopic(self._participant, name, kind)
        writer = DataWriter(self._participant, topic, qos=_qos(qos, hashed))
        self._writers[name] = publisher = _Writer(writer, kind)
        return publisher

    def work(self) -> None:
        self._publish_graph()
        for _, reader, receive in self._readers:
            for sample in reader.take(_TAKEN):
                if sample.sample_info.valid_data:  # other samples report that a publisher has gone
                    receive(sample.data)
        for _, _, server in self._servers:
            server.work()
        if time.monotonic() - self._looked >= _UNMATCHED_EVERY:
            self._looked = time.monotonic()
            self.look_for_unmatched()

    def _publish_graph(self) -> None:
        """Publishes the node's name and endpoints if endpoints have been added since the last time."""
        count = len(self._readers) + len(self._servers) + len(self._writers)
        if self._graph is not None and count != self._announced:
            self._announced = count
            readers = [reader.guid.bytes for _, reader, _ in (*self._readers, *self._servers)]
            writers = [writer.writer.guid.bytes for writer in self._writers.values()]
            self._graph.publish(_graph_message(self._node, self._participant.guid.bytes, readers, writers))

    def look_for_unmatched(self) -> None:
        """Gives a notice of subscribers and publishers of our topics that did not match at two checks in a row."""
        why = "its type ({}) or its quality of service does not fit"
        subscribers, publishers = _live_endpoints(self._subscribers), _live_endpoints(self._publishers)
        of_writers = {name: [(each.writer, "subscriptions")] for name, each in self._writers.items()}
        of_readers: dict[str, list[tuple[Any, str]]] = {}
        for name, reader, _ in (*self._readers, *self._servers):
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
        self._report_losses(subscribers)

    def _report_losses(self, subscribers: Sequence[Any]) -> None:
        """Gives a notice of best-effort subscribers to messages that are larger than their socket buffer."""
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
        if self._participant is not None:
            self._readers.clear()
            self._servers.clear()
            self._writers.clear()
            self._graph = None
            self._subscribers = self._publishers = None
            self._participant._delete(self._participant._ref)  # noqa: SLF001 (cyclonedds has no public way)
            self._participant = None
            self._domain._delete(self._domain._ref)  # noqa: SLF001 (cyclonedds has no public way)


def _socket_buffer() -> int:
    """Default size of a socket buffer of Linux, bytes."""
    try:
        with open(_BUFFER_FILE, encoding="ascii") as file:
            return int(file.read())
    except (OSError, ValueError):
        return _BUFFER


def _live_endpoints(others: Any) -> list[Any]:
    """Returns the descriptions of the live endpoints in the domain."""
    try:
        found = others.read(_ENDPOINTS)
    except Exception:  # other nodes may send any description, and the check is optional
        return []
    return [each for each in found if each.sample_info.instance_state == InstanceState.Alive]


def _unmatched(others: Sequence[Any], own: Mapping[str, list[tuple[Any, str]]]) -> Iterator[tuple[str, str]]:
    """Yields topic and type of endpoints in the domain whose topic has the name of one of ours, but that do not match.

    Args:
        others: the descriptions of the endpoints.
        own: our endpoints and the kind of endpoint that each matches, by the topic's name in DDS.
    """
    for endpoint in others:
        ends, info = own.get(endpoint.topic_name), endpoint.sample_info
        if ends is not None and not any(
            info.instance_handle in _matched_handles(end, what) for end, what in ends
        ):
            yield endpoint.topic_name[2:], shortened(endpoint.type_name, 200)


def _matched_handles(end: Any, what: str) -> set[int]:
    """The handles of matching endpoints as unsigned numbers. Cyclonedds gives them signed here, elsewhere unsigned."""
    return {handle % 2**64 for handle in getattr(end, f"get_matched_{what}")()}


class _Writer(Publisher):
    def __init__(self, writer: Any, kind: Any) -> None:
        self.writer, self._kind = writer, kind
        self.largest = 0
        """Size of the largest message so far, bytes."""

    def publish(self, data: bytes) -> bool:
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
        return bool(self.writer.get_matched_subscriptions())


def config_of(interface: str) -> str:
    """Returns Cyclone's configuration for an interface of `Network`; with `any` CYCLONEDDS_URI is included."""
    if interface == ANY:
        ours = f"<CycloneDDS><Domain>{_COMPATIBILITY}{_LINGER}</Domain></CycloneDDS>"
        return ",".join(filter(None, (os.environ.get("CYCLONEDDS_URI"), ours)))
    # The loopback interface seldom has multicast, so nodes there are discovered by unicast.
    peers, sizes = "", ""
    if interface == LOCAL:
        peers, sizes = '<Peers><Peer address="127.0.0.1"/></Peers>', _LARGE_DATAGRAMS
    place = "127.0.0.1" if interface == LOCAL else interface
    kind = "address" if _is_address(place) else "name"
    return (
        f"<CycloneDDS><Domain><General><Interfaces><NetworkInterface {kind}={quoteattr(place)}/></Interfaces>"
        f"{sizes}</General><Discovery><ParticipantIndex>auto</ParticipantIndex>{peers}</Discovery>{_COMPATIBILITY}{_LINGER}"
        "</Domain></CycloneDDS>"
    )


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _qos(qos: Qos, kind: str, store: Typestore = STORE) -> Any:
    """Returns the quality of service with the type's hash (REP 2016). Newer nodes do not list types without a hash."""
    return DdsQos(
        Policy.Reliability.Reliable(_BLOCKING) if qos.reliable else Policy.Reliability.BestEffort,
        Policy.Durability.TransientLocal if qos.latched else Policy.Durability.Volatile,
        Policy.History.KeepLast(qos.depth),
        Policy.DataRepresentation(use_cdrv0_representation=True),
        Policy.Userdata(f"typehash={store.hash_rihs01(kind)};".encode()),
    )


@cache
def _type_of(kind: str, store: Typestore = STORE, *, header: bool = False) -> Any:
    """Returns the DDS type of a ROS 2 type, with its name in DDS. Its objects hold `data`, an encoded message.

    With `header` the header of services is before it, since cyclonedds checks messages against their types.
    """
    package, folder, name = kind.split("/")
    of_header = {"guid": types.uint64, "seq": types.int64} if header else {}
    fields = of_header | {field: _field(node, of, store) for field, (node, of) in store.fielddefs[kind][1]}
    made = make_idl_struct(f"{name}_", f"{package}.{folder}.dds_.{name}_", fields, dataclassify=False)
    made.serialize = lambda self, **_: self.data
    made.deserialize = made.deserialize_key = classmethod(_sample_of)
    return made


def _sample_of(cls: type, data: bytes, **_: Any) -> Any:
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


def _graph_message(
    node: NodeName, participant: bytes, readers: Sequence[bytes], writers: Sequence[bytes]
) -> bytes:
    """Returns the encoded message by which a DDS participant with one node announces its name and its endpoints;
    `ros2 node list` shows the nodes that send it. GUIDs have 16 bytes."""
    gid, info = (_GRAPH_STORE.types[f"rmw_dds_common/msg/{name}"] for name in ("Gid", "NodeEntitiesInfo"))

    def made(guid: bytes) -> Any:
        return gid(data=np.frombuffer(guid, np.uint8))

    own = info(
        node_namespace=node.namespace or "/",
        node_name=node.name,
        reader_gid_seq=[made(guid) for guid in readers],
        writer_gid_seq=[made(guid) for guid in writers],
    )
    message = _GRAPH_STORE.types[_GRAPH_KIND](gid=made(participant), node_entities_info_seq=[own])
    return bytes(_GRAPH_STORE.serialize_cdr(message, _GRAPH_KIND))
