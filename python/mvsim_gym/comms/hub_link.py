"""A client's connection to its hub: requests and answers, one at a time."""

from __future__ import annotations

import math
import threading
import time
from typing import Any

from mvsim_gym.comms.errors import CommsError, FrameError, NoAnswer
from mvsim_gym.comms.frames import LARGEST, decode, encode
from mvsim_gym.comms.sockets import events_of, monitored, opened, zmq

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
