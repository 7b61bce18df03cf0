"""Nodes for tests: hubs on free ports of the loopback address, and a node of bare sockets that goes by the tables of
the protocol alone, as a client of MVSim does; a world that runs as a node."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import zmq
from conftest import DATA

from mvsim_gym import World
from mvsim_gym.comms import Client, Hub, WorldNode, messages
from mvsim_gym.comms.frames import decode, encode

POSE = {"x": 1.0, "y": 2.0, "z": 0.0, "yaw": 0.5, "pitch": 0.0, "roll": 0.0}
YARD = DATA / "yard.world.xml"


@contextmanager
def hub_and(*names: str) -> Iterator[tuple[Any, ...]]:
    """A hub and clients of it."""
    with Hub(0) as hub:
        clients = [Client(name, port=hub.port).connect(5) for name in names]
        try:
            yield (hub, *clients)
        finally:
            for client in clients:
                client.shutdown()


def wait_for(holds: Callable[[], Any], seconds: float = 10) -> Any:
    """Returns the first true result."""
    until = time.monotonic() + seconds
    while not (value := holds()):
        assert time.monotonic() < until, "waited in vain"
        time.sleep(0.005)
    return value


class Bare:
    """A node without any code of the package's client: REQ, PAIR, PUB, SUB and REP, opened as the protocol says."""

    def __init__(self, port: int) -> None:
        self.context: zmq.Context[Any] = zmq.Context()
        self.sockets: list[zmq.Socket[bytes]] = []
        self.hub = self.socket(zmq.REQ)
        self.hub.connect(f"tcp://localhost:{port}")

    def socket(self, kind: int) -> zmq.Socket[bytes]:
        socket: zmq.Socket[bytes] = self.context.socket(kind)
        self.sockets.append(socket)
        socket.setsockopt(zmq.LINGER, 0)
        socket.setsockopt(zmq.RCVTIMEO, 10_000)
        return socket

    def bound(self, kind: int) -> tuple[zmq.Socket[bytes], str]:
        """A socket as MVSim's clients bind theirs."""
        socket = self.socket(kind)
        socket.bind("tcp://0.0.0.0:*" if kind == zmq.PUB else "tcp://127.0.0.1:*")
        return socket, socket.getsockopt_string(zmq.LAST_ENDPOINT)

    def ask(self, request: Any) -> Any:
        """The answer of the hub."""
        return self.ask_raw(encode(request))

    def ask_raw(self, *parts: bytes) -> Any:
        self.hub.send_multipart(parts)
        return decode(self.hub.recv())

    def advertise(self, topic: str, kind: str, endpoint: str, node: str = "bare") -> Any:
        return self.ask(
            messages.AdvertiseTopicRequest(
                topicName=topic, topicTypeName=kind, endpoint=endpoint, nodeName=node
            )
        )

    def close(self) -> None:
        self.context.destroy(0)

    def __enter__(self) -> Bare:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Running:
    """A world that runs in a thread as a node, step by step, and a client beside it."""

    def __init__(self, world: World, node: WorldNode, client: Client) -> None:
        self.world, self.node, self.client = world, node, client
        self.may_step = True
        self.steps = 0
        self.pause = 0.0002  # s
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        while not self._stop.is_set() and not self.node.is_ended:
            if self.may_step:
                self.world.step()
                self.steps += 1
            self.node.update()
            time.sleep(self.pause)

    def stop(self) -> None:
        self._stop.set()
        self._thread.join()

    def let_pass(self, steps: int) -> None:
        goal = self.steps + steps
        wait_for(lambda: self.steps >= goal)

    def get_pose(self, name: str) -> Any:
        return self.client.call("get_pose", messages.SrvGetPose(objectId=name))

    def set_pose(self, name: str, **pose: float) -> Any:
        request = messages.SrvSetPose(objectId=name)
        request.pose.CopyFrom(messages.Pose(**{**dict.fromkeys(POSE, 0.0), **pose}))
        return self.client.call("set_pose", request)

    def move(self, name: str, **pose: float) -> Any:
        request = messages.SrvSetPose(objectId=name, relativeIncrement=True)
        request.pose.CopyFrom(messages.Pose(**{**dict.fromkeys(POSE, 0.0), **pose}))
        return self.client.call("set_pose", request)

    def drive(self, name: str, vx: float, wz: float = 0) -> Any:
        request = messages.SrvSetControllerTwist(objectId=name)
        request.twistSetPoint.CopyFrom(messages.Twist(vx=vx, vy=0, vz=0, wx=0, wy=0, wz=wz))
        return self.client.call("set_controller_twist", request)

    def hear(self, topic: str, kind: Any, count: int = 1) -> list[Any]:
        """The first messages of a topic."""
        heard: list[Any] = []
        self.client.subscribe(topic, lambda name, data: heard.append((name, kind.FromString(data))))
        wait_for(lambda: len(heard) >= count)
        assert {name for name, _ in heard} == {kind.DESCRIPTOR.full_name}
        return [message for _, message in heard]


@contextmanager
def running(path: Path = YARD, **keywords: Any) -> Iterator[Running]:
    with Hub(0) as hub, Client("test", port=hub.port) as client:
        world = World(path)
        with WorldNode(world, port=hub.port, **keywords) as node:
            runs = Running(world, node, client)
            try:
                yield runs
            finally:
                runs.stop()
