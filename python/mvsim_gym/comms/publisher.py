"""A topic that a client publishes."""

from __future__ import annotations

from typing import Any

from mvsim_gym._extras import extra

with extra("mvsim_gym.comms", "zmq"):
    import zmq

__all__ = ["Publisher"]

_MAX_WAITING = 50  # messages for one subscriber; further ones it misses
_MAX_FILTERS = 1000
_LONGEST_FILTER = (
    100  # bytes; subscribers of topics have the empty one, and who sends a longer one is cut off
)


class Publisher:
    """A socket that knows whether anybody listens. For one thread at a time."""

    def __init__(self, context: zmq.Context[Any], address: str, kind: str) -> None:
        self.type = kind
        """full name of the type of its messages"""
        # a PUB that also says who subscribes; to a SUB it is the same
        self._socket: zmq.Socket[bytes] = context.socket(zmq.XPUB)
        self._socket.setsockopt(zmq.SNDHWM, _MAX_WAITING)
        self._socket.setsockopt(zmq.MAXMSGSIZE, _LONGEST_FILTER + 1)
        self._socket.bind(f"tcp://{address}:*")
        self.endpoint = self._socket.getsockopt_string(zmq.LAST_ENDPOINT)
        """where it sends from"""
        self._filters: set[bytes] = set()

    def has_listeners(self) -> bool:
        """Whether anybody listens."""
        for _ in range(_MAX_FILTERS):
            try:
                change = self._socket.recv(zmq.NOBLOCK)
            except zmq.Again:
                break
            if change[:1] == b"\0":
                self._filters.discard(change[1:])
            elif change[:1] == b"\1" and len(self._filters) < _MAX_FILTERS:
                self._filters.add(change[1:])
        return bool(self._filters)

    def send(self, frame: bytes) -> None:
        """Sends a frame to all who listen."""
        if self.has_listeners():
            self._socket.send(frame, zmq.NOBLOCK)

    def close(self) -> None:
        """Sends no more."""
        self._socket.close(0)
