"""Clients: with each other, and with nodes of bare sockets that stand for MVSim's."""

from __future__ import annotations

import logging
import subprocess
import sys
import threading
import time
from typing import Any

import pytest
from conftest import run_python

pytest.importorskip("zmq", reason="needs the extra zmq")

import zmq
from comms_nodes import POSE, Bare, hub_and, wait_for

from mvsim_gym.comms import Client, CommsError, FrameError, Hub, messages
from mvsim_gym.comms.frames import decode, encode, encode_raw
from mvsim_gym.comms.listeners import HubLink


def pose(x: float = 1) -> Any:
    return messages.Pose(**{**POSE, "x": x})


def answer(success: bool = True, text: str = "") -> Any:
    return messages.SrvGetPoseAnswer(success=success, objectIsInCollision=False, errorMessage=text)


def offer(client: Client, service: str, callback: Any) -> None:
    client.offer(service, messages.SrvGetPose, messages.SrvGetPoseAnswer, callback)


def heard_by(client: Client, topic: str) -> list[tuple[str, bytes]]:
    heard: list[tuple[str, bytes]] = []
    client.subscribe(topic, lambda *message: heard.append(message))
    return heard


def test_a_client_waits_for_the_hub() -> None:
    with Hub(0) as hub:
        port = hub.port
    client = Client("early", port=port)
    with pytest.raises(CommsError, match=rf"no answer from the hub at localhost:{port} within 0.1 s"):
        client.connect(0.1)
    thread = threading.Thread(target=client.connect)
    thread.start()
    time.sleep(0.3)
    assert thread.is_alive() and not client.connected()
    with Hub(port):
        thread.join(10)
        assert not thread.is_alive() and client.connected() and client.nodes() == ["early"]
        client.shutdown()


def test_a_client_connects_once() -> None:
    with hub_and("a") as (_, client):
        for change in (client.connect, lambda: client.setName("b"), lambda: client.serverHostAddress("x")):
            with pytest.raises(CommsError, match="is connected already"):
                change()
        client.shutdown()
        client.shutdown()
        assert not client.connected()
        for call in (client.nodes, lambda: client.publish("/t", pose()), lambda: client.call_raw("s", b"")):
            with pytest.raises(CommsError, match="is not connected"):
                call()
        with client:
            assert client.nodes() == ["a"]


def test_names_of_mvsims_client() -> None:
    client = Client()
    assert client.name == "anonymous" and client.serverHostAddress() == "localhost"
    client.setName("n")
    client.serverHostAddress("127.0.0.1")
    client.enable_profiler(True)
    assert (client.name, client.host) == ("n", "127.0.0.1")


def test_subscribe_before_anybody_publishes() -> None:
    with hub_and("a", "b") as (_, a, b):
        heard = heard_by(b, "/t")
        assert a.topics() == []
        a.advertise("/t", messages.Pose)
        wait_for(lambda: a.has_listeners("/t"))
        a.publish("/t", pose(7))
        wait_for(lambda: heard)
        assert heard == [("mvsim_msgs.Pose", pose(7).SerializeToString())]
        assert [(t.name, t.type, t.publishers) for t in b.topics()] == [("/t", "mvsim_msgs.Pose", ("a",))]


def test_two_callbacks_and_two_publishers() -> None:
    with hub_and("a", "b", "c") as (_, a, b, c):
        heard, twice = heard_by(c, "/t"), heard_by(c, "/t")
        for client in (a, b):
            client.advertise("/t", messages.Pose)
            wait_for(lambda client=client: client.has_listeners("/t"))
            client.publish("/t", pose())
        wait_for(lambda: len(twice) == 2)
        assert heard == twice


def test_a_callback_that_fails_does_not_end_its_topic(caplog: pytest.LogCaptureFixture) -> None:
    with hub_and("a", "b") as (_, a, b):
        heard: list[int] = []

        def callback(*_: object) -> None:
            heard.append(len(heard))
            raise ValueError("of the user's")

        b.subscribe("/t", callback)
        a.advertise("/t", messages.Pose)
        wait_for(lambda: a.has_listeners("/t"))
        with caplog.at_level(logging.ERROR):
            for n in (1, 2):
                a.publish("/t", pose())
                wait_for(lambda n=n: len(heard) == n)
        wait_for(lambda: "of the user's" in caplog.text)


def test_wrong_types_and_topics() -> None:
    with hub_and("a", "b") as (_, a, b):
        a.advertise("/t", messages.Pose)
        with pytest.raises(
            CommsError, match=r"found a message mvsim_msgs[.]Twist, expected mvsim_msgs[.]Pose"
        ):
            a.publish("/t", messages.Twist(vx=0, vy=0, vz=0, wx=0, wy=0, wz=0))
        with pytest.raises(CommsError, match="'/u' is not advertised"):
            a.publish("/u", pose())
        with pytest.raises(CommsError, match="is advertised by this node already"):
            a.advertise("/t", messages.Pose)
        with pytest.raises(CommsError, match=r"mvsim_msgs\.Twist.*mvsim_msgs\.Pose"):
            b.advertise("/t", messages.Twist)
        with pytest.raises(FrameError, match="missing required fields: y"):
            a.publish("/t", messages.Pose(x=1))
        with pytest.raises(FrameError, match="missing required fields: objectId"):
            offer(a, "s", lambda _: answer())
            b.call("s", messages.SrvGetPose())


def test_services() -> None:
    with hub_and("a", "b") as (_, a, b):
        offer(a, "echo", lambda request: answer(text=request.objectId))
        assert b.call("echo", messages.SrvGetPose(objectId="x")).errorMessage == "x"
        reply = b.callService("echo", messages.SrvGetPose(objectId="y").SerializeToString())
        assert isinstance(reply, bytes) and messages.SrvGetPoseAnswer.FromString(reply).errorMessage == "y"
        with pytest.raises(CommsError, match="'echo' is offered by this node already"):
            offer(a, "echo", lambda _: answer())
        with pytest.raises(
            CommsError, match=r"expected mvsim_msgs.SrvGetPose -> mvsim_msgs.SrvGetPoseAnswer"
        ):
            b.offer("echo", messages.SrvShutdown, messages.SrvShutdownAnswer, lambda _: None)
        with pytest.raises(CommsError, match="could not find service 'absent'"):
            b.call_raw("absent", b"")


def test_a_service_that_fails_answers_and_goes_on() -> None:
    with hub_and("a", "b") as (_, a, b):

        def callback(request: Any) -> Any:
            return {"raise": lambda: 1 / 0, "other": pose, "half": messages.SrvGetPoseAnswer}.get(
                request.objectId, answer
            )()

        offer(a, "s", callback)
        for name, error in (("raise", "ZeroDivisionError"), ("other", "returned Pose"), ("half", "required")):
            with pytest.raises(CommsError, match=error):
                b.call("s", messages.SrvGetPose(objectId=name))
        with pytest.raises(CommsError, match="service 's': found a damaged"):
            b.call_raw("s", b"\xff")
        assert b.call("s", messages.SrvGetPose(objectId="good")).success


def test_a_second_call_asks_the_hub_no_more() -> None:
    with hub_and("a", "b") as (hub, a, b):
        offer(a, "s", lambda _: answer())
        assert b.call("s", messages.SrvGetPose(objectId="x")).success
        hub.stop()
        assert b.call("s", messages.SrvGetPose(objectId="x")).success


def test_a_provider_that_is_gone() -> None:
    """A call ends in time; the next one finds the new provider of the service."""
    with hub_and("b") as (hub, b):
        gone = Client("a", port=hub.port).connect(5)
        offer(gone, "s", lambda _: answer(text="first"))
        b.call("s", messages.SrvGetPose(objectId="x"))
        gone.shutdown()
        with pytest.raises(CommsError, match=r"no answer from service 's' within 0.2 s"):
            b.call("s", messages.SrvGetPose(objectId="x"), timeout=0.2)
        with Client("a", port=hub.port) as again:
            offer(again, "s", lambda _: answer(text="second"))
            assert b.call("s", messages.SrvGetPose(objectId="x")).errorMessage == "second"


def test_shutdown_does_not_wait_for_a_callback() -> None:
    with hub_and("a") as (hub, a):
        b = Client("b", port=hub.port).connect(5)
        free, held = threading.Event(), threading.Event()
        b.subscribe("/t", lambda *_: (held.set(), free.wait(20)))
        a.advertise("/t", messages.Pose)
        wait_for(lambda: a.has_listeners("/t"))
        a.publish("/t", pose())
        assert held.wait(10)
        began = time.monotonic()
        b.shutdown()
        assert time.monotonic() - began < 3 and a.nodes() == ["a"]
        free.set()


def test_nothing_is_left_of_a_client() -> None:
    before = set(threading.enumerate())
    with hub_and("a", "b") as (_, a, b):
        heard_by(b, "/t")
        a.advertise("/t", messages.Pose)
        offer(a, "s", lambda _: answer())
    wait_for(lambda: set(threading.enumerate()) <= before)


def test_a_program_that_forgets_shutdown_ends() -> None:
    with Hub(0) as hub:
        code = f"""
from mvsim_gym.comms import Client, messages
client = Client("forgetful", port={hub.port}).connect(5)
client.subscribe("/t", print)
client.advertise("/u", messages.Pose)
"""
        done = run_python(code, timeout=20)
        assert done.returncode == 0 and done.stderr == ""
        with Client("c", port=hub.port) as client:
            assert client.nodes() == ["c"]


def test_a_killed_node(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its messages end, the hub forgets it, and its name and its topics can be taken over."""
    monkeypatch.setattr("mvsim_gym.comms.notifier._PATIENCE", 0.1)
    code = """
import sys, time
from mvsim_gym.comms import Client, messages
client = Client("mortal", port=int(sys.argv[1])).connect(5)
client.subscribe("/other", print)
client.advertise("/t", messages.Pose)
while True:
    client.publish("/t", messages.Pose(x=1, y=0, z=0, yaw=0, pitch=0, roll=0))
    time.sleep(0.001)
"""
    with hub_and("a") as (hub, a):
        heard = heard_by(a, "/t")
        process = subprocess.Popen([sys.executable, "-c", code, str(hub.port)])
        wait_for(lambda: len(heard) > 20)
        process.kill()
        process.wait()
        wait_for(lambda: a.nodes() == ["a"] and not a.topics())
        a.advertise("/other", messages.Pose)
        with Client("mortal", port=hub.port) as heir:
            heir.advertise("/t", messages.Pose)
            wait_for(lambda: heir.has_listeners("/t"))
            count = len(heard)
            heir.publish("/t", pose(5))
            wait_for(lambda: len(heard) > count)
            assert heard[-1][1] == pose(5).SerializeToString()


# With nodes that were written for MVSim's hub


def test_a_bare_publisher_is_heard() -> None:
    with hub_and("a") as (hub, a), Bare(hub.port) as bare:
        heard = heard_by(a, "/t")
        source, endpoint = bare.bound(zmq.PUB)
        assert endpoint.startswith("tcp://0.0.0.0:")
        assert bare.advertise("/t", "any.Type", endpoint).success

        def told() -> bool:
            for frame in (b"junk", encode_raw("any.Type", b"abc")):
                source.send(frame)
            return bool(heard)

        wait_for(told)
        assert set(heard) == {("any.Type", b"abc")}


def test_a_bare_subscriber_hears() -> None:
    with hub_and("a") as (hub, a), Bare(hub.port) as bare:
        a.advertise("/t", messages.Pose)
        updates, endpoint = bare.bound(zmq.PAIR)
        bare.hub.send(encode(messages.SubscribeRequest(topic="/t", updatesEndpoint=endpoint)))
        info = decode(updates.recv(), "TopicInfo")
        updates.send(encode(messages.GenericAnswer(success=True)))
        assert decode(bare.hub.recv(), "SubscribeAnswer").success
        sink = bare.socket(zmq.SUB)
        sink.setsockopt(zmq.SUBSCRIBE, b"")
        sink.connect(info.publisherEndpoint[0])
        wait_for(lambda: a.has_listeners("/t"))
        a.publish("/t", pose(3))
        assert sink.recv_multipart() == [encode(pose(3))]
        sink.close()
        wait_for(lambda: not a.has_listeners("/t"))


def test_a_bare_caller_and_a_bare_provider() -> None:
    with hub_and("a") as (hub, a), Bare(hub.port) as bare:
        offer(a, "s", lambda request: answer(text=request.objectId))
        found = bare.ask(messages.GetServiceInfoRequest(serviceName="s"))
        line = bare.socket(zmq.REQ)
        line.connect(found.serviceEndpoint)
        for service, kind in (
            ("s", "SrvGetPoseAnswer"),
            ("unknown", "GenericAnswer"),
            ("s", "SrvGetPoseAnswer"),
        ):
            request = messages.SrvGetPose(objectId="q").SerializeToString()
            line.send(encode(messages.CallService(serviceName=service, serializedInput=request)))
            reply = decode(line.recv(), kind)
            assert reply.success is (kind != "GenericAnswer") and (
                "q" in reply.errorMessage or not reply.success
            )
        for junk in (b"", b"junk", encode(pose()), bytes(2_000_000)):
            line.send(junk)
            assert not decode(line.recv(), "GenericAnswer").success
        line.send_multipart([b"a", b"b"])
        assert "2 parts" in decode(line.recv(), "GenericAnswer").errorMessage
        provider, endpoint = bare.bound(zmq.REP)
        request = messages.AdvertiseServiceRequest(
            serviceName="theirs",
            inputTypeName="mvsim_msgs.SrvGetPose",
            outputTypeName="mvsim_msgs.SrvGetPoseAnswer",
            endpoint=endpoint,
            nodeName="bare",
        )
        assert bare.ask(request).success

        def serve() -> None:
            call = decode(provider.recv(), "CallService")
            assert call.serviceName == "theirs"
            provider.send(encode(answer(text=messages.SrvGetPose.FromString(call.serializedInput).objectId)))

        thread = threading.Thread(target=serve)
        thread.start()
        assert a.call("theirs", messages.SrvGetPose(objectId="z")).errorMessage == "z"
        thread.join()


def test_links_end_while_they_connect() -> None:
    """The events of a connection without a listener hold up nothing."""
    context: zmq.Context[Any] = zmq.Context()
    with Hub(0) as hub:
        for i in range(1000):
            link = HubLink(context, "localhost", hub.port)
            until = time.perf_counter() + 1e-6 * i
            while time.perf_counter() < until:
                pass
            link.close()
    context.term()


def test_a_hub_that_speaks_nonsense(monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers that are none, of another type or in parts are errors, and the client can go on."""
    with Bare(1) as bare:
        false_hub, endpoint = bare.bound(zmq.REP)
        replies: list[list[bytes]] = [
            [b"junk"],
            [encode(pose())],
            [encode(messages.GenericAnswer(success=True))],
            [encode(messages.RegisterNodeAnswer(success=False, errorMessage="go away"))],
            [b"a", b"b"],
        ]

        def serve() -> None:
            for reply in replies:
                false_hub.recv()
                false_hub.send_multipart(reply)

        thread = threading.Thread(target=serve)
        thread.start()
        client = Client("a", port=int(endpoint.rpartition(":")[2]))
        for error in ("type name", "mvsim_msgs.Pose", "GenericAnswer, expected Reg", "go away", "2 parts"):
            with pytest.raises(CommsError, match=error):
                client.connect(5)
        thread.join()


def test_a_client_that_falls_behind_holds_up_nobody() -> None:
    """Its queue is limited: the publisher drops further messages."""
    with hub_and("a", "b") as (_, a, b):
        free = threading.Event()
        heard: list[int] = []
        b.subscribe("/t", lambda _, data: (heard.append(len(data)), free.wait(20)))
        a.advertise("/t", messages.GenericObservation)
        wait_for(lambda: a.has_listeners("/t"))
        big = messages.GenericObservation(
            unixTimestamp=0, sourceObjectId="", mrptSerializedObservation=bytes(100_000)
        )
        began = time.monotonic()
        for _ in range(1000):
            a.publish("/t", big)
        assert time.monotonic() - began < 10
        free.set()
        time.sleep(0.5)
        assert 0 < len(heard) < 500
