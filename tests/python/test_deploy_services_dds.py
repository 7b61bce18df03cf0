"""Services of `mvsim-gym drive` over Cyclone DDS, asked by a client as rmw_cyclonedds is one: types by hand, with the
header of 16 bytes that it puts before each message."""

# no annotations from __future__: cyclonedds takes types, not their names

import struct
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

pytest.importorskip("cyclonedds", reason="needs the extra ros")
pytest.importorskip("rosbags", reason="needs the extra ros")

import ros_peer as ros
from cyclonedds.core import Policy, Qos
from cyclonedds.domain import DomainParticipant
from cyclonedds.idl import IdlStruct
from cyclonedds.idl.types import int64, sequence, uint8, uint64
from cyclonedds.pub import DataWriter
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic
from cyclonedds.util import duration
from ros_bus import NAMES

from mvsim_gym.deploy import Pipeline
from mvsim_gym.deploy.driver import Driver
from mvsim_gym.ros import Network, open_transport
from mvsim_gym.ros.cyclone_transport import GRAPH_TOPIC
from mvsim_gym.ros.drive_node import DriveNode, DriveOptions
from mvsim_gym.ros.transport import NodeName

pytestmark = pytest.mark.unsanitized


@dataclass
class TriggerRequest(IdlStruct, typename="std_srvs.srv.dds_.Trigger_Request_"):
    guid: uint64
    seq: int64
    structure_needs_at_least_one_member: uint8


@dataclass
class TriggerReply(IdlStruct, typename="std_srvs.srv.dds_.Trigger_Response_"):
    guid: uint64
    seq: int64
    success: bool
    message: str


@dataclass
class TypesRequest(IdlStruct, typename="rcl_interfaces.srv.dds_.GetParameterTypes_Request_"):
    guid: uint64
    seq: int64
    names: sequence[str]


@dataclass
class TypesReply(IdlStruct, typename="rcl_interfaces.srv.dds_.GetParameterTypes_Response_"):
    guid: uint64
    seq: int64
    types: sequence[uint8]


class Client:
    def __init__(self, service: str, request: type, reply: type, guid: int) -> None:
        qos = Qos(
            Policy.Reliability.Reliable(duration(seconds=1)),
            Policy.Durability.Volatile,
            Policy.History.KeepLast(10),
            Policy.DataRepresentation(use_cdrv0_representation=True),
        )
        self._participant = DomainParticipant(ros.DOMAIN)
        self._guid, self._count = guid, 0
        self._out = DataWriter(
            self._participant, Topic(self._participant, f"rq{service}Request", request), qos=qos
        )
        self._in = DataReader(
            self._participant, Topic(self._participant, f"rr{service}Reply", reply), qos=qos
        )
        self._request = request

    def call(self, *fields: Any) -> Any:
        """Calls as soon as it has found the server, as a client does that waits for its service."""
        wait(self._out.get_matched_subscriptions)
        self._count += 1
        self._out.write(self._request(self._guid, self._count, *fields))
        found: list[Any] = []

        def is_there() -> bool:
            found.extend(each for each in self._in.take(10) if each.guid == self._guid)
            return bool(found)

        wait(is_there)
        assert [each.seq for each in found] == [self._count]
        return found[0]


def wait(holds: Callable[[], Any]) -> None:
    until = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < until, "waited in vain"
        time.sleep(0.01)


@pytest.fixture
def node() -> Iterator[DriveNode]:
    driver = Driver(Pipeline("mvsim/NavArena-v0"), lambda seen: np.zeros(2, np.float32))
    transport = open_transport(Network(ros.DOMAIN), "cyclonedds", NodeName("drive", "/r1"))
    options = DriveOptions(NAMES, namespace="/r1")
    found = DriveNode(driver, transport, options, say=lambda text: None)
    thread = threading.Thread(target=found.run, daemon=True)
    thread.start()
    yield found
    found.end()
    thread.join(20)
    found.close()
    assert not thread.is_alive()


def test_clients_of_rmw_cyclonedds_are_answered(node: DriveNode) -> None:
    stop = Client("/r1/drive/stop", TriggerRequest, TriggerReply, 11)
    other = Client("/r1/drive/stop", TriggerRequest, TriggerReply, 2**64 - 1)
    types = Client("/r1/drive/get_parameter_types", TypesRequest, TypesReply, 13)
    assert stop.call(0).message == "stopped" and node.driver.is_stopped
    assert (other.call(0).success, stop.call(0).message) == (False, "it was stopped already")
    assert list(types.call(["box", "max_speed", "none"]).types) == [1, 3, 0]
    start = Client("/r1/drive/start", TriggerRequest, TriggerReply, 14)
    assert start.call(0).success and not node.driver.is_stopped


def test_the_node_is_announced_by_its_name_with_its_services(node: DriveNode) -> None:
    peer = ros.Peer()
    peer.listen(GRAPH_TOPIC, ros.ParticipantEntitiesInfo, late=True, plain=True)
    heard = peer.heard[GRAPH_TOPIC]
    peer.wait(lambda: any(each.node_entities_info_seq for each in heard))
    (found,) = heard[-1].node_entities_info_seq
    assert (found.node_namespace, found.node_name) == ("/r1", "drive")
    assert len(found.reader_gid_seq) == 5 + 9, "5 topics and 9 services"


def test_a_request_without_a_header_or_of_the_other_byte_order() -> None:
    """Requests of Fast DDS have no header. Those of a machine of another byte order have a header in that one."""
    from mvsim_gym.ros.cyclone_services import ServiceServer
    from mvsim_gym.ros.services import Service, answering

    class Sample:
        def __init__(self, data: bytes) -> None:
            self.data, self.sample_info = data, self
            self.valid_data, self.publication_handle, self.participant_key = True, 1, "client"

    class End:
        """A reader, a writer and a publisher."""

        def __init__(self) -> None:
            self.came: list[Sample] = []
            self.sent: list[bytes] = []
            self.matched: list[int] = []

        def take(self, count: int) -> list[Sample]:
            came, self.came = self.came, []
            return came

        def get_matched_publication_data(self, handle: int) -> Sample:
            return Sample(b"")

        def get_matched_subscription_data(self, handle: int) -> Sample:
            return Sample(b"")

        def get_matched_subscriptions(self) -> list[int]:
            return self.matched

        def publish(self, data: bytes) -> bool:
            self.sent.append(data)
            return True

    service, end, now = Service("/stop", "std_srvs/srv/SetBool"), End(), [0.0]
    answer = answering(service, lambda request: {"success": request.data, "message": "m"})
    server = ServiceServer(service, end, end, end, answer, clock=lambda: now[0])  # type: ignore[arg-type]
    end.came = [Sample(b"\0\1\0\0\1")]
    server.work()
    assert not end.sent
    end.came = [Sample(b"\0\0\0\0" + struct.pack(">Qq?", 5, 7, True))]
    server.work()
    assert not end.sent, "it waits for the client"
    end.matched = [1]
    server.work()
    (reply,) = end.sent
    assert reply[:21] == b"\0\1\0\0" + struct.pack("<Qq?", 5, 7, True)
    end.matched, end.came = [], [Sample(b"\0\1\0\0" + struct.pack("<Qq?", 5, 8, False))]
    server.work()
    now[0] = 1.1
    server.work()
    assert len(end.sent) == 2, "it waits a second at most"
