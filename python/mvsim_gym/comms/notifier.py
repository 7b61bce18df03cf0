"""Messages of a hub to subscribers about publishers. Each subscriber has a PAIR socket and acknowledges one message at
a time. A subscriber that is late is dropped, so a dead one delays no other."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from mvsim_gym.comms.errors import CommsError
from mvsim_gym.comms.frames import decode
from mvsim_gym.comms.sockets import zmq

_PATIENCE = 0.7  # s for an acknowledgement before a new connection is tried
_TRIES = 3
_IDLE = 1.0  # s that a connection stays open for the next message
_MAX_OPEN = 200  # open connections; further subscribers wait
_MAX_QUEUE = 1000  # messages that may wait for one subscriber

Done = Callable[[bool], None]


class _Waiting(NamedTuple):
    frame: bytes
    done: Done


class _Line:
    def __init__(self) -> None:
        self.socket: zmq.Socket[bytes] | None = None
        self.waiting: deque[_Waiting] = deque()
        self.tries = 0
        self.deadline = 0.0  # when the acknowledgement is late or, if none is due, when the connection closes


class Notifier:
    """Sends messages to subscribers and waits for their acknowledgements.

    It belongs to one thread, which polls `poller` and calls `work` when an event comes, or after `_PATIENCE`.
    """

    def __init__(
        self, context: zmq.Context[Any], poller: zmq.Poller, given_up: Callable[[str], None]
    ) -> None:
        self._context, self._poller, self._given_up = context, poller, given_up
        self._lines: dict[str, _Line] = {}
        self._open = 0  # number of open connections

    @property
    def is_busy(self) -> bool:
        """Whether there are connections that `work` must handle."""
        return bool(self._lines)

    def send(self, endpoint: str, frame: bytes, done: Done) -> None:
        """Sends a frame; `done` is called later with whether it was acknowledged."""
        line = self._lines.setdefault(endpoint, _Line())
        if len(line.waiting) >= _MAX_QUEUE:
            done(False)
            return
        line.waiting.append(_Waiting(frame, done))
        if len(line.waiting) == 1:
            line.tries = 0
            self._start(endpoint, line)

    def work(self, ready: Mapping[Any, int]) -> None:
        """Takes acknowledgements, and drops subscribers that are late."""
        now = time.monotonic()
        for endpoint, line in list(self._lines.items()):
            if line.socket is not None and line.socket in ready:
                self._acknowledged(endpoint, line)
            elif line.waiting and line.socket is None:
                self._start(endpoint, line)
            elif now >= line.deadline:
                self._late(endpoint, line)

    def close(self) -> None:
        for line in self._lines.values():
            self._disconnect(line)
        self._lines.clear()

    def _start(self, endpoint: str, line: _Line) -> None:
        """Sends the first waiting message if another connection may be opened."""
        if line.socket is None:
            if self._open >= _MAX_OPEN:
                return
            try:
                line.socket = self._connect(endpoint)
            except zmq.ZMQError:  # no file descriptor left, or an invalid host
                self._give_up(endpoint, line)
                return
        line.deadline = time.monotonic() + _PATIENCE
        line.tries += 1
        with suppress(zmq.Again):  # it becomes late
            line.socket.send(line.waiting[0].frame, zmq.NOBLOCK)

    def _connect(self, endpoint: str) -> zmq.Socket[bytes]:
        socket: zmq.Socket[bytes] = self._context.socket(zmq.PAIR)
        try:
            socket.setsockopt(zmq.MAXMSGSIZE, 1000)
            socket.connect(endpoint)
        except zmq.ZMQError:
            socket.close(0)
            raise
        self._poller.register(socket, zmq.POLLIN)
        self._open += 1
        return socket

    def _acknowledged(self, endpoint: str, line: _Line) -> None:
        assert line.socket is not None
        try:
            is_good = decode(b"".join(line.socket.recv_multipart(zmq.NOBLOCK)), "GenericAnswer").success
        except zmq.Again:
            return
        except CommsError:
            is_good = False
        if not line.waiting:
            return  # no message waits for an acknowledgement
        if not is_good:
            self._give_up(endpoint, line)
            return
        line.waiting.popleft().done(True)
        line.tries = 0
        if line.waiting:
            self._start(endpoint, line)
        else:
            line.deadline = time.monotonic() + _IDLE

    def _late(self, endpoint: str, line: _Line) -> None:
        self._disconnect(line)
        if not line.waiting:
            del self._lines[endpoint]
        elif line.tries < _TRIES:
            self._start(endpoint, line)
        else:
            self._give_up(endpoint, line)

    def _give_up(self, endpoint: str, line: _Line) -> None:
        self._disconnect(line)
        del self._lines[endpoint]
        self._given_up(endpoint)
        for each in line.waiting:
            each.done(False)

    def _disconnect(self, line: _Line) -> None:
        if line.socket is not None:
            self._poller.unregister(line.socket)
            line.socket.close(0)
            line.socket = None
            self._open -= 1
