"""A topic to which a client subscribes, in its own thread."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Any

from mvsim_gym.comms.errors import CommsError, FrameError
from mvsim_gym.comms.frames import LARGEST, split
from mvsim_gym.comms.sockets import opened, zmq

_MAX_WAITING = 100  # messages
_MAX_PUBLISHERS = 10_000  # publishers, including former ones

Callback = Callable[[str, bytes], object]
"""Receives the type's full name and the payload of each message."""


class Subscription:
    """Calls callbacks with every message of a topic, one after the other, until its context is terminated.

    Up to 100 messages wait here for the callbacks; the publisher drops further ones.
    """

    def __init__(self, context: zmq.Context[Any], topic: str) -> None:
        self._topic = topic
        self._callbacks: list[Callback] = []
        way = f"inproc://{id(self)}"
        # a socket belongs to one thread, so the thread connects it
        self._found = opened(context, zmq.PUSH, SNDHWM=_MAX_PUBLISHERS)
        self._found.bind(way)
        self._known: set[str] = set()  # endpoints of publishers
        self._lock = threading.Lock()
        thread = threading.Thread(target=self._run, args=(context, way), daemon=True)
        thread.name = f"mvsim_gym topic {topic}"
        thread.start()

    def add(self, callback: Callback) -> None:
        self._callbacks = [*self._callbacks, callback]

    def connect(self, endpoint: str) -> None:
        """Connects to a publisher, unless it is connected already."""
        with self._lock:
            if self._found.closed or endpoint in self._known or len(self._known) >= _MAX_PUBLISHERS:
                return
            self._known.add(endpoint)
            self._found.send_string(endpoint, zmq.NOBLOCK)

    def close(self) -> None:
        """Closes the sockets, so that the context can end."""
        with self._lock:
            self._found.close(0)

    def _run(self, context: zmq.Context[Any], way: str) -> None:
        try:
            found = context.socket(zmq.PULL)
            data = opened(context, zmq.SUB, MAXMSGSIZE=LARGEST, RCVHWM=_MAX_WAITING)
        except zmq.ZMQError:
            return  # the context ends already
        data.subscribe(b"")
        poller = zmq.Poller()
        poller.register(found, zmq.POLLIN)
        poller.register(data, zmq.POLLIN)
        try:
            found.connect(way)
            while True:
                ready = dict(poller.poll())
                if found in ready:
                    self._connect(data, found.recv_string())
                if data in ready:
                    self._deliver(data.recv_multipart())
        except zmq.ContextTerminated:
            pass
        finally:
            found.close(0)
            data.close(0)

    def _connect(self, data: zmq.Socket[bytes], endpoint: str) -> None:
        try:
            data.connect(endpoint)
        except zmq.ContextTerminated:
            raise
        except zmq.ZMQError as error:
            _log.warning("topic %s: cannot listen to %s: %s", self._topic, endpoint, error)

    def _deliver(self, parts: list[bytes]) -> None:
        try:
            if len(parts) != 1:
                raise FrameError(f"found a message of {len(parts)} parts, expected one")
            name, payload = split(parts[0])
        except CommsError as error:
            _log.warning("topic %s: %s", self._topic, error)
            return
        for callback in self._callbacks:
            try:
                callback(name, payload)
            except Exception:
                _log.exception("topic %s: the callback failed", self._topic)


_log = logging.getLogger("mvsim_gym")
