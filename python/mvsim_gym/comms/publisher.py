"""A topic that a client publishes."""

from __future__ import annotations

import os
import socket
from collections import Counter
from contextlib import suppress
from typing import Any

from mvsim_gym._notices import notice
from mvsim_gym.comms.sockets import opened, zmq

_MAX_WAITING = 50  # messages that wait for one subscriber; it misses further ones
_MAX_FILTERS = 1000
_MAX_OWN_FILTERS = (
    50  # filters of one subscriber; one that sends more is disconnected, which frees its filters
)
_LONGEST_FILTER = 100  # bytes; a subscriber that sends a longer one is disconnected


class Publisher:
    """A socket that knows whether it has subscribers. Only one thread at a time may use it."""

    def __init__(self, context: zmq.Context[Any], address: str, kind: str) -> None:
        self.type = kind
        """Full name of the type of its messages."""
        # an XPUB is a PUB that also reports subscriptions; a SUB sees no difference
        limits = {"SNDHWM": _MAX_WAITING, "RCVHWM": _MAX_OWN_FILTERS, "MAXMSGSIZE": _LONGEST_FILTER + 1}
        self._socket = opened(context, zmq.XPUB, **limits)
        self._socket.bind(f"tcp://{address}:*")
        self.endpoint = self._socket.getsockopt_string(zmq.LAST_ENDPOINT)
        """The endpoint from which it sends."""
        self._port = int(self.endpoint.rpartition(":")[2])
        self._filters: dict[bytes, int] = {}  # and the file descriptor of the connection of each
        self._counts: Counter[int] = Counter()  # number of filters, by that file descriptor

    def has_listeners(self) -> bool:
        # of this call alone: the system gives the number of a closed file to a later one
        ended: set[int] = set()
        for _ in range(_MAX_FILTERS):
            try:
                change = self._socket.recv(zmq.NOBLOCK, copy=False)
            except zmq.Again:
                break
            self._note(change, ended)
        return bool(self._filters)

    def _note(self, change: zmq.Frame, ended: set[int]) -> None:
        """Takes a subscription or the end of one. Libzmq keeps a tree of all filters, so their number is limited.
        A connection with too many is ended once and added to `ended`."""
        kind, text = change.bytes[:1], change.bytes[1:]
        if kind == b"\0":
            connection = self._filters.pop(text, None)
            if connection is not None:
                self._counts[connection] -= 1
                if self._counts[connection] == 0:
                    del self._counts[connection]
            return
        if kind != b"\1" or text in self._filters:
            return
        connection = int(change.get(zmq.SRCFD))
        has_room = self._counts[connection] < _MAX_OWN_FILTERS and len(self._filters) < _MAX_FILTERS
        if has_room or not text:  # the empty filter, which every subscriber to a topic has, takes no memory
            self._filters[text] = connection
            self._counts[connection] += 1
        elif connection not in ended:
            ended.add(connection)
            notice(
                [f"{self.endpoint}: a subscriber with more than {_MAX_OWN_FILTERS} filters is disconnected"]
            )
            self._end(connection)

    def _end(self, connection: int) -> None:
        """Ends the connection with this file descriptor, if libzmq opened it for this socket."""
        with suppress(OSError), socket.socket(fileno=os.dup(connection)) as peer:
            if peer.getsockname()[1] == self._port:
                peer.shutdown(socket.SHUT_RDWR)

    def send(self, frame: bytes) -> None:
        if self.has_listeners():
            self._socket.send(frame, zmq.NOBLOCK)

    def close(self) -> None:
        self._socket.close(0)
