"""The import of ZeroMQ, with the remedy if it is missing, and sockets with their options."""

from __future__ import annotations

import uuid
from typing import Any

from mvsim_gym._notices import extra

with extra("mvsim_gym.comms", "zmq"):
    import zmq as zmq
    from zmq.utils.monitor import parse_monitor_message

__all__ = ["events_of", "monitored", "opened", "zmq"]


def opened(context: zmq.Context[Any], kind: int, **options: int) -> zmq.Socket[bytes]:
    """Returns a socket with options of ZeroMQ, given by name such as `RCVHWM=10`."""
    socket: zmq.Socket[bytes] = context.socket(kind)
    for name, value in options.items():
        socket.setsockopt(getattr(zmq, name), value)
    return socket


def monitored(socket: zmq.Socket[bytes], events: int) -> zmq.Socket[bytes]:
    """Returns a socket that receives the events of another socket."""
    address = f"inproc://{uuid.uuid4()}"
    socket.monitor(address, events)
    monitor = opened(socket.context, zmq.PAIR, RCVHWM=0)  # a full queue would block the whole context
    monitor.connect(address)
    return monitor


def events_of(monitor: zmq.Socket[bytes]) -> list[dict[str, Any]]:
    """Returns the events that have come since the last call."""
    found = []
    while monitor.poll(0):
        found.append(dict(parse_monitor_message(monitor.recv_multipart())))
    return found
