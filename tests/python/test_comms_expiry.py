"""A hub forgets nodes that have gone, and peers that misbehave cost the others nothing."""

from __future__ import annotations

import os
import socket
import struct
import time
from collections.abc import Iterator

import pytest

pytest.importorskip("zmq", reason="needs the extra zmq")

import zmq
from comms_nodes import Bare, wait_for

from mvsim_gym.comms import Client, Hub, messages
from mvsim_gym.comms.publisher import Publisher

NULL_GREETING = b"\xff\0\0\0\0\0\0\0\1\x7f\x03\0NULL"
JUNK = {
    "nothing": b"",
    "random bytes": os.urandom(1000),
    "HTTP": b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
    "half a greeting": NULL_GREETING + bytes(48),
    "an endless frame": NULL_GREETING + bytes(16) + b"\0" + bytes(31) + b"\x06" + b"\xff" * 8,
}


@pytest.fixture
def hub() -> Iterator[Hub]:
    with Hub(0) as hub:
        yield hub


def send_junk(endpoint: str, data: bytes, count: int = 30) -> None:
    host, port = endpoint.removeprefix("tcp://").rsplit(":", 1)
    for _ in range(count):
        with socket.create_connection((host, int(port)), 2) as peer:
            peer.sendall(data)


def advertised(bare: Bare, topic: str, node: str) -> str:
    _, endpoint = bare.bound(zmq.PUB)
    assert bare.ask(messages.RegisterNodeRequest(nodeName=node)).success
    assert bare.advertise(topic, "mvsim_msgs.Pose", endpoint, node).success
    return endpoint


def test_entries_of_a_node_that_has_gone_expire(hub: Hub) -> None:
    with Client("a", port=hub.port) as a:
        with Bare(hub.port) as mortal:
            endpoint = advertised(mortal, "/t", "mortal")
            _, service = mortal.bound(zmq.REP)
            request = messages.AdvertiseServiceRequest(
                serviceName="s", inputTypeName="x", outputTypeName="y", endpoint=service, nodeName="mortal"
            )
            assert mortal.ask(request).success
            assert a.nodes() == ["a", "mortal"] and [t.endpoints for t in a.topics()] == [(endpoint,)]
        wait_for(lambda: a.nodes() == ["a"])
        assert a.topics() == []
        with pytest.raises(Exception, match="no node offers it"):
            a.call_raw("s", b"", timeout=1)
        with Bare(hub.port) as heir:  # of another type
            assert heir.ask(messages.RegisterNodeRequest(nodeName="mortal")).success
            assert heir.advertise("/t", "other.Type", "tcp://127.0.0.1:9", "mortal").success


def test_a_node_that_opens_a_new_connection_keeps_its_entries(hub: Hub) -> None:
    with Client("a", port=hub.port) as a, Bare(hub.port) as node:
        endpoint = advertised(node, "/t", "steady")
        node.hub.close(0)
        time.sleep(0.5)
        assert [t.endpoints for t in a.topics()] == [(endpoint,)] and a.nodes() == ["a", "steady"]
        assert hub._expiry.pause is not None  # it looks again


def test_an_endpoint_without_a_connection_is_looked_at_again(
    hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mvsim_gym.comms.expiry._AGAIN", 0.3)
    with Client("a", port=hub.port) as a, Bare(hub.port) as node:
        source, endpoint = node.bound(zmq.PUB)
        assert node.advertise("/t", "mvsim_msgs.Pose", endpoint, "n").success
        node.hub.close(0)
        time.sleep(0.6)
        assert len(a.topics()) == 1
        source.close(0)
        wait_for(lambda: a.topics() == [] and a.nodes() == ["a"])


@pytest.mark.parametrize(
    "endpoint", ["tcp://192.0.2.1:80", "tcp://some-name.invalid:80", "tcp://[2001:db8::1]:80"]
)
def test_a_hub_of_this_host_connects_to_no_other(hub: Hub, endpoint: str) -> None:
    with Client("a", port=hub.port) as a:
        with Bare(hub.port) as node:
            assert node.advertise("/t", "mvsim_msgs.Pose", endpoint, "n").success
            assert len(a.topics()) == 1
        began = time.monotonic()
        wait_for(lambda: a.topics() == [])
        assert time.monotonic() - began < 2


@pytest.mark.parametrize("junk", JUNK.values(), ids=JUNK)
@pytest.mark.parametrize("whom", ["hub", "service", "topic"])
def test_junk_silences_nobody(hub: Hub, whom: str, junk: bytes) -> None:
    with Client("a", port=hub.port) as a, Client("b", port=hub.port) as b:
        a.offer("s", messages.Pose, messages.Pose, lambda pose: pose)
        a.advertise("/t", messages.Pose)
        pose = messages.Pose(x=1, y=2, z=3, yaw=0, pitch=0, roll=0)
        b.call("s", pose)
        heard: list[bytes] = []
        b.subscribe("/t", lambda _, payload: heard.append(payload))
        wait_for(lambda: a.has_listeners("/t"))
        send_junk(
            {"hub": hub.endpoint, "service": b._service_endpoints["s"], "topic": a.topics()[0].endpoints[0]}[
                whom
            ],
            junk,
        )
        assert b.call("s", pose, timeout=5) == pose
        a.publish("/t", pose)
        wait_for(lambda: bool(heard))
        assert sorted(b.nodes()) == ["a", "b"]


def test_requests_without_their_delimiter_are_dropped(hub: Hub) -> None:
    with Client("a", port=hub.port) as a, Client("b", port=hub.port) as b:
        a.offer("s", messages.Pose, messages.Pose, lambda pose: pose)
        pose = messages.Pose(x=1, y=2, z=3, yaw=0, pitch=0, roll=0)
        b.call("s", pose)
        with zmq.Context() as context, context.socket(zmq.DEALER) as dealer:
            dealer.setsockopt(zmq.LINGER, 0)
            dealer.connect(b._service_endpoints["s"])
            for parts in ([b"x"], [b"x", b"y"], [b"", b""], [b"", b"junk", b"more"], [b""]):
                dealer.send_multipart(parts)
            dealer.poll(300)
        assert b.call("s", pose, timeout=5) == pose


def test_many_subscribers_with_filters_shut_out_nobody() -> None:
    with zmq.Context() as context:
        publisher = Publisher(context, "127.0.0.1", "x")
        others = [context.socket(zmq.SUB) for _ in range(25)]
        for k, other in enumerate(others):
            other.setsockopt(zmq.LINGER, 0)
            other.connect(publisher.endpoint)
            for n in range(45):
                other.subscribe(struct.pack("<BB", k, n))
        # 22 of them fit; each of the rest is disconnected, which frees its filters, and connects again
        wait_for(lambda: publisher.has_listeners() and 990 <= len(publisher._filters) <= 1000)
        friend = context.socket(zmq.SUB)
        friend.setsockopt(zmq.LINGER, 0)
        friend.connect(publisher.endpoint)
        friend.subscribe(b"")
        wait_for(lambda: publisher.has_listeners() and b"" in publisher._filters)
        publisher.send(b"frame")
        assert friend.poll(2000) and friend.recv() == b"frame"
        for each in (*others, friend):
            each.close(0)
        publisher.close()


def test_the_number_of_filters_of_a_subscriber_is_limited() -> None:
    with zmq.Context() as context:
        publisher = Publisher(context, "127.0.0.1", "x")
        friend, flood = context.socket(zmq.SUB), context.socket(zmq.XSUB)
        for each in (friend, flood):
            each.setsockopt(zmq.LINGER, 0)
            each.connect(publisher.endpoint)
        flood.setsockopt(zmq.SNDHWM, 0)
        friend.subscribe(b"")
        wait_for(publisher.has_listeners)
        most = 0
        for k in range(20_000):
            flood.send(b"\1" + struct.pack("<I", k))
        end = time.monotonic() + 2
        while time.monotonic() < end:
            publisher.has_listeners()
            most = max(most, len(publisher._filters))
            publisher.send(b"frame")
            time.sleep(0.001)
        assert most <= 51
        assert friend.poll(1000) and friend.recv() == b"frame"
        flood.close(0)
        wait_for(lambda: publisher.has_listeners() and set(publisher._filters) == {b""})
        friend.close(0)
        publisher.close()
