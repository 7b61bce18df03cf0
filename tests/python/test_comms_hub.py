"""The hub against bare sockets: its answers, its notifications, and its robustness."""

from __future__ import annotations

import os
import socket
import struct
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

pytest.importorskip("zmq", reason="needs the extra zmq")

import zmq
from comms_nodes import POSE, Bare, hub_and, wait_for

from mvsim_gym.comms import CommsError, Hub, messages
from mvsim_gym.comms.endpoints import PORT, reachable
from mvsim_gym.comms.frames import decode, encode, encode_raw
from mvsim_gym.comms.registry import Registry


@pytest.fixture
def hub() -> Iterator[Hub]:
    with Hub(0) as hub:
        yield hub


@pytest.fixture
def bare(hub: Hub) -> Iterator[Bare]:
    with Bare(hub.port) as bare:
        yield bare


def register(bare: Bare, name: str) -> Any:
    return bare.ask(messages.RegisterNodeRequest(nodeName=name))


def test_a_hub_listens_on_port_23700_of_the_loopback_address() -> None:
    assert PORT == 23700 and Hub().port == 23700 and Hub().endpoint == "tcp://127.0.0.1:23700"


def test_bytes_of_a_registration(bare: Bare) -> None:
    """A REQ sends them, one frame each way."""
    bare.hub.send(b"\x1e\0\0\0mvsim_msgs.RegisterNodeRequest\x03\0\0\0\x0a\x01a")
    assert bare.hub.recv_multipart() == [b"\x1d\0\0\0mvsim_msgs.RegisterNodeAnswer\x02\0\0\0\x08\x01"]


def test_nodes_come_and_go(bare: Bare) -> None:
    assert register(bare, "a").success and register(bare, "ab").success
    assert list(bare.ask(messages.ListNodesRequest()).nodes) == ["a", "ab"]
    assert list(bare.ask(messages.ListNodesRequest(nodeStartsWith="ab")).nodes) == ["ab"]
    assert bare.ask(messages.UnregisterNodeRequest(nodeName="a")).success
    assert bare.ask(messages.UnregisterNodeRequest(nodeName="never was")).success
    assert list(bare.ask(messages.ListNodesRequest()).nodes) == ["ab"]


def test_a_name_in_use_is_taken_over(bare: Bare) -> None:
    """Its topics and services went with the former node."""
    assert register(bare, "a").success
    assert bare.advertise("/t", "mvsim_msgs.Pose", "tcp://0.0.0.0:1", "a").success
    assert register(bare, "a").success
    assert list(bare.ask(messages.ListNodesRequest()).nodes) == ["a"]
    assert not bare.ask(messages.ListTopicsRequest()).topics


def test_topics_are_listed_with_all_publishers(bare: Bare) -> None:
    for node, endpoint in (("a", "tcp://0.0.0.0:11"), ("b", "tcp://0.0.0.0:12"), ("a", "tcp://0.0.0.0:13")):
        assert bare.advertise("/t", "mvsim_msgs.Pose", endpoint, node).success
    (topic,) = bare.ask(messages.ListTopicsRequest(topicStartsWith="/t")).topics
    assert (topic.topicName, topic.topicType) == ("/t", "mvsim_msgs.Pose")
    assert list(topic.publisherName) == ["a", "b"]
    assert list(topic.publisherEndpoint) == ["tcp://0.0.0.0:13", "tcp://0.0.0.0:12"]
    assert not bare.ask(messages.ListTopicsRequest(topicStartsWith="t")).topics


def test_another_type_is_refused_with_both_names(bare: Bare) -> None:
    assert bare.advertise("/t", "mvsim_msgs.Pose", "tcp://0.0.0.0:11", "a").success
    refused = bare.advertise("/t", "mvsim_msgs.Twist", "tcp://0.0.0.0:12", "b")
    assert type(refused) is messages.GenericAnswer and not refused.success
    assert "mvsim_msgs.Pose" in refused.errorMessage and "mvsim_msgs.Twist" in refused.errorMessage
    assert bare.advertise("/t", "mvsim_msgs.Twist", "tcp://0.0.0.0:11", "a").success  # its own, alone


def test_services_are_found_and_replaced(bare: Bare) -> None:
    def offer(node: str, endpoint: str, output: str = "B") -> Any:
        return bare.ask(
            messages.AdvertiseServiceRequest(
                serviceName="s", inputTypeName="A", outputTypeName=output, endpoint=endpoint, nodeName=node
            )
        )

    absent = bare.ask(messages.GetServiceInfoRequest(serviceName="s"))
    assert (
        type(absent) is messages.GetServiceInfoAnswer and not absent.success and "'s'" in absent.errorMessage
    )
    assert offer("a", "tcp://0.0.0.0:1").success and offer("b", "tcp://0.0.0.0:2").success
    found = bare.ask(messages.GetServiceInfoRequest(serviceName="s"))
    assert (found.serviceEndpoint, found.serviceNodeName) == ("tcp://0.0.0.0:2", "b")
    refused = offer("c", "tcp://0.0.0.0:3", "C")
    assert not refused.success and "A -> B" in refused.errorMessage and "A -> C" in refused.errorMessage
    assert bare.ask(messages.UnregisterNodeRequest(nodeName="b")).success
    assert not bare.ask(messages.GetServiceInfoRequest(serviceName="s")).success


def test_a_subscriber_is_told_before_it_is_answered_and_again_later(bare: Bare, hub: Hub) -> None:
    updates, endpoint = bare.bound(zmq.PAIR)
    bare.hub.send(encode(messages.SubscribeRequest(topic="/t", updatesEndpoint=endpoint)))
    info = decode(updates.recv(), "TopicInfo")
    assert info.topicName == "/t" and not info.publisherEndpoint
    assert not bare.hub.poll(100)  # waits for the acknowledgement
    updates.send(encode(messages.GenericAnswer(success=True)))
    answer = decode(bare.hub.recv(), "SubscribeAnswer")
    assert answer.topic == "/t" and answer.success
    assert not bare.ask(messages.ListTopicsRequest()).topics  # a waiting subscriber makes no topic
    with Bare(hub.port) as other:
        request = messages.AdvertiseTopicRequest(
            topicName="/t", topicTypeName="mvsim_msgs.Pose", endpoint="tcp://0.0.0.0:77", nodeName="o"
        )
        other.hub.send(encode(request))
        info = decode(updates.recv(), "TopicInfo")
        assert list(info.publisherEndpoint) == ["tcp://0.0.0.0:77"] and info.topicType == "mvsim_msgs.Pose"
        updates.send(encode(messages.GenericAnswer(success=True)))
        assert decode(other.hub.recv(), "GenericAnswer").success


def test_a_dead_subscriber_holds_up_nobody(bare: Bare, hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mvsim_gym.comms.notifier._PATIENCE", 0.2)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    bare.hub.send(encode(messages.SubscribeRequest(topic="/t", updatesEndpoint=f"tcp://127.0.0.1:{port}")))
    with Bare(hub.port) as other:
        began = time.monotonic()
        assert register(other, "o").success and time.monotonic() - began < 1
    answer = decode(bare.hub.recv(), "SubscribeAnswer")
    assert not answer.success
    began = time.monotonic()
    assert bare.advertise("/t", "mvsim_msgs.Pose", "tcp://0.0.0.0:1").success and time.monotonic() - began < 1


def test_a_subscriber_that_dies_later_is_forgotten(
    bare: Bare, hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mvsim_gym.comms.notifier._PATIENCE", 0.2)
    with Bare(hub.port) as mortal:
        updates, endpoint = mortal.bound(zmq.PAIR)
        mortal.hub.send(encode(messages.SubscribeRequest(topic="/t", updatesEndpoint=endpoint)))
        updates.recv()
        updates.send(encode(messages.GenericAnswer(success=True)))
        mortal.hub.recv()
    assert bare.advertise("/t", "mvsim_msgs.Pose", "tcp://0.0.0.0:1", "a").success
    wait_for(lambda: not hub._registry.subscribers("/t"))


def test_a_thousand_dead_subscribers(bare: Bare, hub: Hub) -> None:
    """Connections to them are opened a few at a time; others are served, and subscribe, meanwhile."""
    flood = bare.socket(zmq.DEALER)
    flood.connect(hub.endpoint)
    for port in range(1, 1001):
        request = messages.SubscribeRequest(topic="/t", updatesEndpoint=f"tcp://127.0.0.1:{port}")
        flood.send_multipart([b"", encode(request)])
    wait_for(lambda: len(hub._registry.subscribers("/t")) == 1000)
    began = time.monotonic()
    for name in "abc":
        assert register(bare, name).success
        assert bare.advertise("/t", "mvsim_msgs.Pose", "tcp://0.0.0.0:1", name).success
    assert time.monotonic() - began < 1
    assert len(os.listdir("/proc/self/fd")) < 500


@pytest.mark.parametrize(
    ("endpoint", "error"),
    [
        ("tcp://192.0.2.1:80", "expected one of this host"),
        ("ipc:///tmp/x", "expected tcp://ADDRESS:PORT"),
        ("tcp://127.0.0.1:0", "expected tcp://ADDRESS:PORT"),
        ("tcp://127.0.0.1:99999", "expected tcp://ADDRESS:PORT"),
        ("", "expected tcp://ADDRESS:PORT"),
    ],
)
def test_a_hub_connects_to_this_host_only(bare: Bare, endpoint: str, error: str) -> None:
    answer = bare.ask(messages.SubscribeRequest(topic="/t", updatesEndpoint=endpoint))
    assert type(answer) is messages.GenericAnswer and not answer.success and error in answer.errorMessage


def test_all_addresses_are_those_of_this_host() -> None:
    assert reachable("tcp://0.0.0.0:5") == reachable("tcp://[::]:5") == "tcp://127.0.0.1:5"
    assert reachable("tcp://[::1]:5") == "tcp://[::1]:5" and reachable("tcp://h-1.x:5") == "tcp://h-1.x:5"


@pytest.mark.parametrize(
    ("parts", "error"),
    [
        ((b"",), "expected the length of the type name"),
        ((b"\xff" * 100,), "expected a type name of"),
        ((encode_raw("mvsim_msgs.Pose", b""),), "found a message 'mvsim_msgs.Pose'"),
        ((encode_raw("mvsim_msgs.UnregisterNodeRequest", b""),), "without nodeName"),
        ((encode(messages.ListNodesRequest()), b"more"), "found a message of 2 parts"),
        ((bytes(70_000),), "found 70000 bytes, expected at most 65536"),
        ((bytes(10_000_000),), "found 10000000 bytes"),
        ((encode(messages.UnregisterNodeRequest(nodeName="x" * 1001)),), "nodeName: found 1001 characters"),
    ],
)
def test_what_is_no_request_gets_an_error(bare: Bare, parts: tuple[bytes, ...], error: str) -> None:
    answer = bare.ask_raw(*parts)
    assert type(answer) is messages.GenericAnswer and not answer.success and error in answer.errorMessage
    assert register(bare, "a").success


def test_answers_to_damaged_requests_have_the_type_that_is_waited_for(bare: Bare) -> None:
    answer = bare.ask_raw(encode_raw("mvsim_msgs.RegisterNodeRequest", b""))
    assert type(answer) is messages.RegisterNodeAnswer and "without nodeName" in answer.errorMessage


def test_bytes_that_are_no_zeromq(hub: Hub, bare: Bare) -> None:
    """Junk on the port, and a peer that is cut off within a message."""
    for junk in (
        b"GET / HTTP/1.1\r\n\r\n",
        bytes(1000),
        b"\xff" + bytes(8) + b"\x7f\x03" + bytes(53) + b"\x02\xff",
    ):
        with socket.create_connection(("127.0.0.1", hub.port)) as peer:
            peer.sendall(junk)
    greeting = b"\xff" + bytes(8) + b"\x7f" + b"\x03\x00" + b"NULL".ljust(20, b"\0") + bytes(32)
    ready = b"\x05READY\x0bSocket-Type" + struct.pack(">I", 3) + b"REQ"
    for message in (b"\x02" + struct.pack(">Q", 2**62), b"\x01\x00" + b"\x00\x40half"):
        with socket.create_connection(("127.0.0.1", hub.port)) as peer:
            peer.sendall(greeting + b"\x04" + bytes([len(ready)]) + ready + message)
            peer.recv(64)
    assert register(bare, "a").success


def test_a_hub_that_is_full_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mvsim_gym.comms.registry._MAX_ENTRIES", 2)
    registry = Registry()
    requests = [
        lambda i: messages.RegisterNodeRequest(nodeName=f"{i}"),
        lambda i: messages.SubscribeRequest(topic="/t", updatesEndpoint=f"{i}"),
        lambda i: messages.AdvertiseTopicRequest(
            topicName="/t", topicTypeName="P", endpoint="e", nodeName=f"{i}"
        ),
        lambda i: messages.AdvertiseServiceRequest(
            serviceName=f"{i}", inputTypeName="A", outputTypeName="B", endpoint="e", nodeName="0"
        ),
    ]
    for request in requests:
        for i in (0, 1, 1):
            assert registry.answer(request(i)).success
        with pytest.raises(CommsError, match="the hub is full: it has 2"):
            registry.answer(request(2))


def test_the_largest_message_about_a_topic_is_taken() -> None:
    """The longest names of as many publishers as a topic may have: its subscribers hear the last one."""
    with hub_and("a") as (hub, a), Bare(hub.port) as bare:
        source, endpoint = bare.bound(zmq.PUB)
        heard: list[bytes] = []
        a.subscribe("/t", lambda _, data: heard.append(data))
        for i in range(200):
            where = endpoint if i == 199 else f"tcp://127.0.0.1:{i + 1}"
            assert bare.advertise("/t", "T", where, f"{i:03}" + "n" * 990).success
        assert "200 publishers of the topic" in bare.advertise("/t", "T", endpoint, "more").errorMessage

        def told() -> bool:
            source.send(encode_raw("T", b"x"))
            return bool(heard)

        wait_for(told)


def test_starting_twice() -> None:
    with Hub(0) as hub:
        with pytest.raises(CommsError, match="runs already"):
            hub.start()
        with pytest.raises(
            CommsError, match=rf"cannot listen on tcp://127.0.0.1:{hub.port}: Address already in use"
        ):
            Hub(hub.port).start()
        port = hub.port
    with Hub(port) as again:  # the port is free at once
        assert again.port == port
    again.stop()
    with pytest.raises(ValueError, match="port: found 70000"):
        Hub(70000)


REQUESTS = [
    messages.RegisterNodeRequest(nodeName="a"),
    messages.UnregisterNodeRequest(nodeName="a"),
    messages.ListNodesRequest(nodeStartsWith="a"),
    messages.ListTopicsRequest(topicStartsWith="/"),
    messages.AdvertiseTopicRequest(
        topicName="/t", topicTypeName="T", endpoint="tcp://0.0.0.0:1", nodeName="a"
    ),
    messages.AdvertiseServiceRequest(
        serviceName="s", inputTypeName="A", outputTypeName="B", endpoint="tcp://0.0.0.0:1", nodeName="a"
    ),
    messages.GetServiceInfoRequest(serviceName="s"),
    messages.CallService(serviceName="s", serializedInput=b"abc"),
    messages.Pose(**POSE),
    messages.SubscribeRequest(topic="/t", updatesEndpoint="ipc:///x"),
]


def damaged(rng: np.random.Generator) -> list[bytes]:
    """A message with bytes that were changed, cut, doubled or put in, or none at all."""
    data = bytearray(encode(REQUESTS[rng.integers(len(REQUESTS))]))
    for _ in range(rng.integers(0, 4)):
        at = int(rng.integers(len(data) + 1))
        kind = rng.integers(5)
        if kind == 0:
            data[at:] = b""
        elif kind == 1:
            data[at:at] = rng.bytes(int(rng.integers(1, 9)))
        elif kind == 2:
            data[at : at + 4] = struct.pack("<I", int(rng.integers(2**32)))
        elif kind == 3:
            data += data[at:]
        elif at < len(data):
            data[at] = rng.integers(256)
    return [bytes(data)] if rng.integers(20) else [bytes(data), b"", bytes(data)]


def fuzz(count: int, seed: int) -> None:
    """Every message gets exactly one answer that can be read; the hub works afterwards."""
    rng = np.random.default_rng(seed)
    with Hub(0) as hub, Bare(hub.port) as bare:
        dealer = bare.socket(zmq.DEALER)
        dealer.connect(hub.endpoint)
        window = 200  # subscribers' endpoints are refused, so that all answers come at once and in turn
        for _ in range(count // window):
            for _ in range(window):
                dealer.send_multipart([b"", *damaged(rng)])
            for _ in range(window):
                empty, frame = dealer.recv_multipart()
                assert empty == b"" and decode(frame)
        dealer.send_multipart([b"x", b"y"])  # no way back: no answer
        assert register(bare, "after").success
        assert "after" in bare.ask(messages.ListNodesRequest()).nodes


def test_fuzzed_requests() -> None:
    fuzz(4000, 1)


@pytest.mark.slow
def test_many_fuzzed_requests() -> None:
    fuzz(100_000, 2)


def test_a_hub_comes_back() -> None:
    """Clients find a hub that was started again on the same port, and can register anew."""
    with hub_and("a") as (hub, client):
        port = hub.port
        hub.stop()
        wait_for(lambda: not client.connected())
        with Hub(port):
            wait_for(client.connected)
            assert client.nodes() == []
            client.advertise("/t", messages.Pose)
            assert client.nodes() == ["a"] and client.topics()[0].name == "/t"
