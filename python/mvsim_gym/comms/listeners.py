"""The two threads in which a client receives calls of its services and lists of publishers of its topics."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

from mvsim_gym.comms import messages
from mvsim_gym.comms.errors import CommsError, FrameError
from mvsim_gym.comms.frames import LARGEST_REQUEST, LARGEST_TAKEN, MAX_REQUESTS, decode, encode, parse
from mvsim_gym.comms.sockets import opened, zmq

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
