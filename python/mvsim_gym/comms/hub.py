"""The hub, at which nodes find each other. Data go directly from node to node."""

from __future__ import annotations

import errno
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from mvsim_gym.comms.endpoints import PORT, checked_port, host_of, is_loopback, reachable
from mvsim_gym.comms.errors import CommsError, FrameError
from mvsim_gym.comms.expiry import Expiry
from mvsim_gym.comms.frames import LARGEST_REQUEST, LARGEST_TAKEN, MAX_REQUESTS, decode, encode, split
from mvsim_gym.comms.notifier import Notifier
from mvsim_gym.comms.registry import Registry
from mvsim_gym.comms.sockets import opened, zmq

_HINTS = {
    errno.EADDRINUSE: ": is a hub running there already?",
    errno.ENODEV: ": expected an IPv4 address of this machine",
    errno.EADDRNOTAVAIL: ": expected an IPv4 address of this machine",
}
_MAX_BATCH = 100  # requests that are answered before other events are handled
_MAX_PENDING = 10_000  # answers that wait for subscribers
_TICK_MS = 100  # ms between checks for subscribers that are late


class Hub:
    """A hub in a thread of this process, from `start` to `stop`.

    Args:
        port: the port at which it listens; 0 takes a free one.
        host: the address of this machine at which it listens. There is no password: beyond the loopback address,
            every program that reaches the hub can use it.
    """

    def __init__(self, port: int = PORT, host: str = "127.0.0.1") -> None:
        self._port, self._host = checked_port(port), "127.0.0.1" if host == "localhost" else host
        self._thread: threading.Thread | None = None

    @property
    def host(self) -> str:
        """The address at which it listens."""
        return self._host

    @property
    def port(self) -> int:
        """The port at which it listens."""
        return self._port

    @property
    def endpoint(self) -> str:
        """The endpoint at which it listens, as tcp://ADDRESS:PORT."""
        return f"tcp://{self._host}:{self._port}"

    def start(self) -> Hub:
        """Begins to listen.

        Raises:
            CommsError: it runs already, the address is in use, or the address is none of this host.
        """
        if self._thread is not None:
            raise CommsError("start: this hub runs already")
        self._context: zmq.Context[Any] = zmq.Context()
        self._context.setsockopt(zmq.MAX_SOCKETS, 4096)
        # a ROUTER may answer requests in any order, which a REP cannot; a REQ sees no difference
        self._requests = opened(
            self._context, zmq.ROUTER, LINGER=500, MAXMSGSIZE=LARGEST_TAKEN, RCVHWM=MAX_REQUESTS
        )
        Expiry.watch(self._requests)
        try:
            self._requests.bind(self.endpoint if self._port else f"tcp://{self._host}:*")
        except zmq.ZMQError as error:
            self._context.destroy(0)
            cause = zmq.strerror(error.errno or 0) + _HINTS.get(error.errno or 0, "")
            raise CommsError(f"cannot listen on {self.endpoint}: {cause}") from None
        self._port = int(self._requests.getsockopt_string(zmq.LAST_ENDPOINT).rpartition(":")[2])
        self._stop = self._context.socket(zmq.PAIR)
        self._stop.bind("inproc://stop")
        self._thread = threading.Thread(target=self._run, name="mvsim_gym hub", daemon=True)
        self._thread.start()
        return self

    def stop(self) -> None:
        """Stops listening. Nodes keep the connections that they have. A second call does nothing."""
        if self._thread is None:
            return
        self._stop.send(b"")
        self._thread.join()
        self._thread = None
        self._stop.close(0)
        self._context.term()

    def __enter__(self) -> Hub:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _run(self) -> None:
        poller = zmq.Poller()
        stopped = self._context.socket(zmq.PAIR)
        stopped.connect("inproc://stop")
        poller.register(stopped, zmq.POLLIN)
        poller.register(self._requests, zmq.POLLIN)
        self._registry = Registry()
        self._pending = 0
        self._notifier = Notifier(self._context, poller, self._registry.forget_subscriber)
        self._expiry = Expiry(self._requests, poller, self._registry, is_local=is_loopback(self._host))
        while True:
            is_busy = self._notifier.is_busy or self._expiry.is_busy
            pause = self._expiry.pause
            ready = dict(
                poller.poll(_TICK_MS if is_busy else None if pause is None else round(1e3 * pause) + 1)
            )
            if stopped in ready:
                break
            self._notifier.work(ready)
            self._expiry.work(ready)
            if self._requests in ready:
                self._serve()
        self._notifier.close()
        self._expiry.close()
        stopped.close(0)
        self._requests.close()

    def _serve(self) -> None:
        for _ in range(_MAX_BATCH):
            try:
                frames = self._requests.recv_multipart(zmq.NOBLOCK, copy=False)
            except zmq.Again:
                return
            parts = [frame.bytes for frame in frames]
            if b"" in parts[:-1]:  # the parts before the request are the return address
                begin = parts.index(b"") + 1
                self._take(parts[:begin], parts[begin:], int(frames[-1].get(zmq.SRCFD)))

    def _take(self, sender: Sequence[bytes], parts: Sequence[bytes], connection: int) -> None:
        """Answers any request that came over the connection with this file descriptor."""
        name = ""
        try:
            if len(parts) != 1:
                raise FrameError(f"found a message of {len(parts)} parts, expected one")
            if len(parts[0]) > LARGEST_REQUEST:
                raise FrameError(f"found {len(parts[0])} bytes, expected at most {LARGEST_REQUEST}")
            name = split(parts[0])[0].rpartition(".")[2]
            request = decode(parts[0], *self._registry.requests)
            if name == "SubscribeRequest":
                self._subscribe(sender, request)
            elif name == "AdvertiseTopicRequest":
                self._advertise(sender, request)
            else:
                self._answer(sender, self._registry.answer(request))
            self._expiry.note_request(connection, request)
        except CommsError as error:
            self._answer(sender, self._registry.refusal(name, str(error)))

    def _subscribe(self, sender: Sequence[bytes], request: Any) -> None:
        """Answers when the subscriber knows the publishers."""
        endpoint = reachable(request.updatesEndpoint)
        if is_loopback(self._host) and not is_loopback(host_of(endpoint)):
            raise CommsError(f"updatesEndpoint: found {endpoint[:100]}, expected one of this host")
        if self._pending >= _MAX_PENDING:
            raise CommsError("the hub is busy: too many subscribers have not acknowledged yet")
        request.updatesEndpoint = endpoint
        answer = self._registry.answer(request)

        def acknowledged(success: bool) -> None:
            self._pending -= 1
            answer.success = success
            self._answer(sender, answer)

        self._pending += 1
        self._notifier.send(endpoint, encode(self._registry.info(request.topic)), acknowledged)

    def _advertise(self, sender: Sequence[bytes], request: Any) -> None:
        """Answers at once, and informs the subscribers."""
        reachable(request.endpoint)
        self._answer(sender, self._registry.answer(request))
        info = encode(self._registry.info(request.topicName))
        for endpoint in self._registry.subscribers(request.topicName):
            self._notifier.send(endpoint, info, lambda _: None)

    def _answer(self, sender: Sequence[bytes], answer: Any) -> None:
        """Sends an answer; drops it if the receiver has gone or reads no answers."""
        with suppress(zmq.ZMQError):
            self._requests.send_multipart([*sender, encode(answer)], zmq.NOBLOCK)
