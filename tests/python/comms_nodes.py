"""Nodes for tests: hubs on free ports of the loopback address, and a node of bare sockets that goes by the tables of
the protocol alone, as a client of MVSim does."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import zmq

from mvsim_gym.comms import Client, Hub, messages
from mvsim_gym.comms.frames import decode, encode

POSE = {"x": 1.0, "y": 2.0, "z": 0.0, "yaw": 0.5, "pitch": 0.0, "roll": 0.0}


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
    """What it returns when it is true."""
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
