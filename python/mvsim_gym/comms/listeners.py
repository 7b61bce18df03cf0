"""The connection of a client to its hub, with requests and answers one at a time. Two threads receive calls of the
client's services and lists of publishers of its topics."""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

from mvsim_gym.comms import messages
from mvsim_gym.comms.errors import CommsError, FrameError, NoAnswer
from mvsim_gym.comms.frames import (
    LARGEST,
    LARGEST_REQUEST,
    LARGEST_TAKEN,
    MAX_REQUESTS,
    decode,
    encode,
    parse,
)
from mvsim_gym.comms.sockets import events_of, monitored, opened, zmq

_MAX_PUBLISHERS = 1000  # publishers of a topic that one message may name


class Service(NamedTuple):
    input: type[messages.Message]
    output: type[messages.Message]
    callback: Callable[[Any], Any]


class Listener:
    """A thread that answers the messages of a socket, one after the other, until its context is terminated.

    A ROUTER socket answers each peer separately, so a peer that sends junk or leaves early does not affect the others.
    A REQ socket sees no difference from a REP.
    """

    def __init__(
        self, context: zmq.Context[Any], kind: int, address: str, answer: Callable[[bytes], Any]
    ) -> None:
        self._socket = opened(context, kind, MAXMSGSIZE=LARGEST_TAKEN, RCVHWM=MAX_REQUESTS)
        self._socket.bind(f"tcp://{address}:*")
        self._answer, self._is_router = answer, kind == zmq.ROUTER
        self.endpoint = self._socket.getsockopt_string(zmq.LAST_ENDPOINT)
        """The endpoint at which it listens."""
        threading.Thread(target=self._run, name="mvsim_gym listener", daemon=True).start()

    def _run(self) -> None:
        try:
            while True:
                parts = self._socket.recv_multipart()
                way_back: list[bytes] = []
                if self._is_router:  # the parts before an empty one are the return address
                    if b"" not in parts:
                        continue
                    begin = parts.index(b"") + 1
                    way_back, parts = parts[:begin], parts[begin:]
                self._send([*way_back, self._answer_of(parts)])
        except zmq.ContextTerminated:
            pass
        finally:
            self._socket.close(500)  # ms for the last answer

    def _answer_of(self, parts: list[bytes]) -> bytes:
        try:
            if len(parts) != 1:
                raise FrameError(f"found a message of {len(parts)} parts, expected one")
            if len(parts[0]) > LARGEST_REQUEST * 16:
                raise FrameError(f"found {len(parts[0])} bytes, expected at most {LARGEST_REQUEST * 16}")
            return encode(self._answer(parts[0]))
        except CommsError as error:
            text = str(error)
        except Exception as error:  # a failing callback of the user must not end the other services
            _log.exception("a service failed")
            text = f"the service failed: {type(error).__name__}: {error}"
        return encode(messages.GenericAnswer(success=False, errorMessage=text))

    def _send(self, parts: list[bytes]) -> None:
        with suppress(zmq.Again):  # a peer that reads no answers
            self._socket.send_multipart(parts, zmq.NOBLOCK)


class Services:
    def __init__(self) -> None:
        self._services: dict[str, Service] = {}

    def add(self, name: str, service: Service) -> None:
        """Adds a service.

        Raises:
            CommsError: the service is offered already.
        """
        if name in self._services:
            raise CommsError(f"service '{name}' is offered by this node already")
        self._services[name] = service

    def remove(self, name: str) -> None:
        self._services.pop(name, None)

    def answer(self, frame: bytes) -> Any:
        """Calls the service that a CallService names, and returns the answer."""
        call = decode(frame, "CallService")
        service = self._services.get(call.serviceName)
        if service is None:
            raise CommsError(f"this node offers no service '{call.serviceName[:100]}'")
        answer = service.callback(parse(service.input, call.serializedInput))
        if not isinstance(answer, service.output):
            raise CommsError(
                f"service '{call.serviceName}': its callback returned {type(answer).__name__}, expected"
                f" {service.output.DESCRIPTOR.full_name}"
            )
        return answer


def publishers_of(frame: bytes) -> tuple[str, list[str]]:
    """The topic and the endpoints of a TopicInfo."""
    info = decode(frame, "TopicInfo")
    if len(info.publisherEndpoint) > _MAX_PUBLISHERS:
        raise CommsError(
            f"found {len(info.publisherEndpoint)} publishers, expected at most {_MAX_PUBLISHERS}"
        )
    return info.topicName, list(info.publisherEndpoint)


_log = logging.getLogger("mvsim_gym")


PATIENCE = 10.0  # s for an answer of the hub or of a service
_SLICE_MS = 200  # ms of one wait, so that Ctrl-C is noticed in time


class HubLink:
    """Sends requests to a hub. Any thread may use it; the threads take turns."""

    def __init__(self, context: zmq.Context[Any], host: str, port: int) -> None:
        self._context, self._host, self._port = context, host, port
        self._lock = threading.Lock()
        self._open()

    def ask(self, request: Any, answer: str, timeout: float | None = PATIENCE) -> Any:
        """Sends a request and returns its answer, whose type is `answer`.

        Raises:
            CommsError: no answer came in time, or the hub refused.
        """
        where = f"the hub at {self._host}:{self._port}"
        frame = encode(request)
        with self._lock:
            try:
                reply = exchange(self._socket, frame, timeout, where)
            except BaseException:  # a socket that still waits for an answer cannot be used again
                self._close()
                self._open()
                raise
        message = decode(reply, answer, "GenericAnswer")
        if not getattr(message, "success", True):
            raise CommsError(f"{where}: {getattr(message, 'errorMessage', '') or 'the request was refused'}")
        if message.DESCRIPTOR.name != answer:
            raise FrameError(f"{where}: found a message {message.DESCRIPTOR.full_name}, expected {answer}")
        return message

    def is_up(self) -> bool:
        """Whether there is a connection at present, as far as is known while a request waits."""
        if self._lock.acquire(blocking=False):
            try:
                for event in events_of(self._monitor):
                    self._is_up = event["event"] == zmq.EVENT_HANDSHAKE_SUCCEEDED
            finally:
                self._lock.release()
        return self._is_up

    def close(self) -> None:
        with self._lock:
            self._close()

    def _open(self) -> None:
        self._is_up = False
        self._socket: zmq.Socket[bytes] = opened(self._context, zmq.REQ, MAXMSGSIZE=LARGEST)
        self._monitor: zmq.Socket[bytes] = monitored(
            self._socket, zmq.EVENT_HANDSHAKE_SUCCEEDED | zmq.EVENT_DISCONNECTED
        )
        self._socket.connect(f"tcp://{self._host}:{self._port}")

    def _close(self) -> None:
        # the order matters: libzmq waits for ever if it has an event for a monitor that is no longer read
        self._socket.monitor(None, 0)
        self._monitor.close(0)
        self._socket.close(0)


def exchange(socket: zmq.Socket[bytes], frame: bytes, timeout: float | None, whom: str) -> bytes:
    """Sends a frame and returns the answer.

    Raises:
        NoAnswer: no answer came in time.
        FrameError: the answer has several parts.
    """
    until = math.inf if timeout is None else time.monotonic() + timeout
    socket.send(frame, zmq.NOBLOCK)
    while not socket.poll(round(min(_SLICE_MS, max(0, 1e3 * (until - time.monotonic()))))):
        if time.monotonic() >= until:
            raise NoAnswer(f"no answer from {whom} within {timeout:g} s")
    parts = socket.recv_multipart()
    if len(parts) != 1:
        raise FrameError(f"{whom}: found an answer of {len(parts)} parts, expected one")
    return parts[0]
