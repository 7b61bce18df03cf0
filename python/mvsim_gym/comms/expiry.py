"""Removal of entries of nodes that ended without notice, such as a killed program, from the hub's registry.

A node speaks to its hub over one connection. When that ends, the hub connects to each endpoint that the node named, and
removes those that do not accept. So a node that only opened a new connection keeps its entries.
"""

from __future__ import annotations

import errno
import socket
import time
from collections import deque
from collections.abc import Mapping
from typing import Any, NamedTuple

from mvsim_gym.comms.endpoints import address_of, is_loopback, reachable
from mvsim_gym.comms.errors import CommsError
from mvsim_gym.comms.registry import Registry
from mvsim_gym.comms.sockets import events_of, monitored, zmq

_PATIENCE = 3.0  # s for an endpoint to accept a connection
_AGAIN = 30.0  # s between checks of the endpoints of a node that has no connection to the hub
_MAX_OPEN = 100  # connections open at the same time
_KEEPALIVE = {"TCP_KEEPALIVE": 1, "TCP_KEEPALIVE_IDLE": 30, "TCP_KEEPALIVE_INTVL": 5, "TCP_KEEPALIVE_CNT": 3}


class _Peer:
    """The node and the endpoints that were named over one connection."""

    def __init__(self) -> None:
        self.nodes: set[str] = set()
        self.endpoints: set[str] = set()


class _Probe(NamedTuple):
    """A connection that is being opened to an endpoint."""

    endpoint: str
    socket: socket.socket
    deadline: float


class Expiry:
    """Finds nodes that have ended and removes their entries.

    It belongs to the hub's thread, which polls `poller` and calls `work` when an event comes. `work` is also called
    every 100 ms while `is_busy`, and after `pause` s otherwise.

    Args:
        requests: the hub's socket.
        is_local: the hub listens on the loopback address. Then only endpoints on the loopback address are checked.
    """

    def __init__(
        self, requests: zmq.Socket[bytes], poller: zmq.Poller, registry: Registry, *, is_local: bool
    ) -> None:
        self._requests, self._poller, self._registry, self._is_local = requests, poller, registry, is_local
        self._peers: dict[int, _Peer] = {}  # by file descriptor of the hub's end
        self._waiting: deque[str] = deque()  # endpoints to be checked
        self._probes: list[_Probe] = []
        self._gone_nodes: set[str] = set()  # nodes whose connection has ended
        self._alone: dict[str, float] = {}  # endpoints without a connection, and the time of their next check
        self._monitor = monitored(requests, zmq.EVENT_DISCONNECTED)
        poller.register(self._monitor, zmq.POLLIN)

    @staticmethod
    def watch(requests: zmq.Socket[bytes]) -> None:
        """Lets the system detect peers whose host is down. To be called before the socket listens."""
        for name, value in _KEEPALIVE.items():
            requests.setsockopt(getattr(zmq, name), value)

    @property
    def is_busy(self) -> bool:
        return bool(self._probes or self._waiting)

    @property
    def pause(self) -> float | None:
        """Time until the next check, s; None if no check is due before the next event."""
        return max(0.0, min(self._alone.values()) - time.monotonic()) if self._alone else None

    def note_request(self, connection: int, request: Any) -> None:
        """Records a request that the registry has granted.

        Args:
            connection: the file descriptor of the hub's end.
        """
        kind = request.DESCRIPTOR.name
        if kind not in (
            "RegisterNodeRequest",
            "AdvertiseTopicRequest",
            "AdvertiseServiceRequest",
            "SubscribeRequest",
        ):
            return
        peer = self._peers.setdefault(connection, _Peer())
        if kind != "SubscribeRequest":
            peer.nodes.add(request.nodeName)
            self._gone_nodes.discard(request.nodeName)
        if kind != "RegisterNodeRequest":
            endpoint = request.updatesEndpoint if kind == "SubscribeRequest" else request.endpoint
            peer.endpoints.add(endpoint)
            self._alone.pop(endpoint, None)

    def work(self, ready: Mapping[Any, int]) -> None:
        """Handles the connections that ended and the endpoints that answered."""
        if self._monitor in ready:
            for event in events_of(self._monitor):
                self._take_end(event["value"])
        now = time.monotonic()
        for endpoint in [e for e, due in self._alone.items() if due <= now]:
            del self._alone[endpoint]
            self._waiting.append(endpoint)
        while self._waiting and len(self._probes) < _MAX_OPEN:
            self._open(self._waiting.popleft(), now)
        if self._probes:
            self._check_probes(now)

    def close(self) -> None:
        self._requests.monitor(None, 0)
        self._poller.unregister(self._monitor)
        self._monitor.close(0)
        for probe in self._probes:
            probe.socket.close()

    def _take_end(self, connection: int) -> None:
        peer = self._peers.pop(connection, None)
        if peer is None:
            return
        self._gone_nodes |= peer.nodes
        self._waiting.extend(sorted(peer.endpoints))
        if not peer.endpoints:
            self._forget_nodes()

    def _open(self, endpoint: str, now: float) -> None:
        try:
            address = address_of(reachable(endpoint))
        except CommsError:  # the endpoint of a service, which the hub does not check at registration
            address = None
        if address is None or (self._is_local and not is_loopback(address[0])):
            self._forget(endpoint)
            return
        family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        probe = socket.socket(family, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
        if probe.connect_ex(address) in (0, errno.EINPROGRESS):
            self._probes.append(_Probe(endpoint, probe, now + _PATIENCE))
            return
        probe.close()
        self._forget(endpoint)

    def _forget(self, endpoint: str) -> None:
        self._registry.forget_endpoint(endpoint)
        self._forget_nodes()

    def _check_probes(self, now: float) -> None:
        """Handles connections that were accepted or refused, or that take too long."""
        waiting = zmq.Poller()
        for probe in self._probes:
            waiting.register(probe.socket, zmq.POLLOUT)
        answered = dict(waiting.poll(0))
        still = []
        for probe in self._probes:
            if probe.socket.fileno() not in answered and now < probe.deadline:
                still.append(probe)
                continue
            is_there = (
                probe.socket.fileno() in answered
                and probe.socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == 0
            )
            if is_there and self._registry.has_endpoint(probe.endpoint):
                self._alone[probe.endpoint] = now + _AGAIN
            else:
                self._forget(probe.endpoint)
            probe.socket.close()
        self._probes = still

    def _forget_nodes(self) -> None:
        """Removes the nodes whose connection has ended and that have no endpoint left."""
        for name in [name for name in self._gone_nodes if not self._registry.has_entries(name)]:
            self._gone_nodes.discard(name)
            self._registry.forget_node(name)
