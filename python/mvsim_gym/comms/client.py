"""A node, which finds others through a hub, publishes and subscribes to topics, and offers and calls services."""

from __future__ import annotations

import atexit
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

from mvsim_gym.comms import messages
from mvsim_gym.comms.endpoints import PORT, checked_port, own_address, reachable
from mvsim_gym.comms.errors import CommsError
from mvsim_gym.comms.frames import LARGEST, decode, encode, payload_of, split
from mvsim_gym.comms.listeners import PATIENCE, HubLink, Listener, Service, Services, exchange, publishers_of
from mvsim_gym.comms.publisher import Publisher
from mvsim_gym.comms.sockets import opened, zmq
from mvsim_gym.comms.subscription import Callback, Subscription

_FAREWELL = 1.0  # s that the hub and running callbacks have when a client ends


class Topic(NamedTuple):
    """A topic that a hub knows."""

    name: str
    type: str
    """full name of the type of its messages"""
    endpoints: tuple[str, ...]
    publishers: tuple[str, ...]
    """names of nodes, in the order of the endpoints"""


class Client:
    """A node. Its methods may be called from any thread.

    Methods with names such as `callService` have MVSim's names, for programs that were written for its client.

    Args:
        name: the node's name; when a second node registers with a name, the hub keeps the latest.
        host, port: where the hub listens.
        address: the address of this machine at which other nodes reach this one. The default is the address that
            leads to the hub, which is the loopback address if the hub runs here.
    """

    def __init__(
        self,
        name: str = "anonymous",
        *,
        host: str = "localhost",
        port: int = PORT,
        address: str | None = None,
    ) -> None:
        self._name, self._host, self._port, self._address = name, host, checked_port(port), address
        self._context: zmq.Context[Any] | None = None
        self._link: HubLink | None = None
        self._lock = threading.RLock()  # guards the request socket and the tables
        self._reset_tables()

    def _reset_tables(self) -> None:
        self._services = Services()
        self._publishers: dict[str, Publisher] = {}
        self._subscriptions: dict[str, Subscription] = {}
        self._service_endpoints: dict[str, str] = {}  # endpoints of services, by name

    @property
    def name(self) -> str:
        """The node's name; it can be set before the node connects."""
        return self._name

    @name.setter
    def name(self, name: str) -> None:
        self._check_not_connected("name")
        self._name = name

    @property
    def host(self) -> str:
        """The host of the hub; it can be set before the node connects."""
        return self._host

    @host.setter
    def host(self, host: str) -> None:
        self._check_not_connected("host")
        self._host = host

    @property
    def port(self) -> int:
        """The port of the hub."""
        return self._port

    def connect(self, timeout: float | None = None) -> Client:
        """Registers the node; waits until a hub answers.

        Args:
            timeout: longest wait, s; None: no limit.

        Raises:
            CommsError: the node is connected already, no hub answered in time, or the hub refused.
        """
        self._check_not_connected("connect")
        address = self._address or own_address(self._host, self._port)
        context: zmq.Context[Any] = zmq.Context()
        context.setsockopt(zmq.LINGER, 0)
        context.setsockopt(zmq.MAX_SOCKETS, 4096)
        self._context = context
        try:
            self._link = HubLink(context, self._host, self._port)
            self._hub().ask(messages.RegisterNodeRequest(nodeName=self._name), "RegisterNodeAnswer", timeout)
            self._service_listener = Listener(context, zmq.ROUTER, address, self._services.answer)
            self._update_listener = Listener(context, zmq.PAIR, address, self._connect_publishers)
        except BaseException as error:
            self._close_all()
            if isinstance(error, zmq.ZMQError):
                raise CommsError(f"cannot listen at {address}: {zmq.strerror(error.errno or 0)}") from None
            raise
        self._bound = address
        atexit.register(self.shutdown)
        return self

    def connected(self) -> bool:
        """Whether there is a connection to the hub at present."""
        link = self._link
        return link is not None and link.is_up()

    def shutdown(self) -> None:
        """Unregisters the node and ends its threads. A second call does nothing; no error is raised."""
        with self._lock:
            if self._context is None:
                return
            atexit.unregister(self.shutdown)
            farewell = messages.UnregisterNodeRequest(nodeName=self._name)
            with suppress(CommsError):  # the hub may have ended before
                self._hub().ask(farewell, "GenericAnswer", _FAREWELL if self.connected() else 0)
            self._close_all()

    def __enter__(self) -> Client:
        return self.connect() if self._context is None else self

    def __exit__(self, *_: object) -> None:
        self.shutdown()

    # Topics

    def advertise(self, topic: str, kind: type[messages.Message]) -> None:
        """Makes this node a publisher of a topic. By convention the topic's name begins with /.

        Raises:
            CommsError: this node publishes the topic already, or the topic has another type.
        """
        with self._lock:
            context = self._connected_context()
            if topic in self._publishers:
                raise CommsError(f"topic '{topic}' is advertised by this node already")
            publisher = Publisher(context, self._bound, kind.DESCRIPTOR.full_name)
            try:
                self._hub().ask(
                    messages.AdvertiseTopicRequest(
                        topicName=topic,
                        topicTypeName=publisher.type,
                        endpoint=publisher.endpoint,
                        nodeName=self._name,
                    ),
                    "GenericAnswer",
                )
            except BaseException:
                publisher.close()
                raise
            self._publishers[topic] = publisher

    def publish(self, topic: str, message: messages.Message) -> None:
        """Sends a message to the present subscribers. A subscriber that is too slow misses some messages.

        Raises:
            CommsError: the topic is not advertised, or has another type.
        """
        with self._lock:
            publisher = self._publisher(topic)
            if message.DESCRIPTOR.full_name != publisher.type:
                raise CommsError(
                    f"topic '{topic}': found a message {message.DESCRIPTOR.full_name}, expected {publisher.type}"
                )
            publisher.send(encode(message))

    def has_listeners(self, topic: str) -> bool:
        """Whether a topic that this node publishes has a subscriber.

        Raises:
            CommsError: the topic is not advertised.
        """
        with self._lock:
            return self._publisher(topic).has_listeners()

    def subscribe(self, topic: str, callback: Callback) -> None:
        """Calls `callback(type, payload)` with every message, in the thread of the topic. A publisher may come later.

        Raises:
            CommsError: the hub does not answer, or refuses.
        """
        with self._lock:
            context = self._connected_context()
            known = self._subscriptions.get(topic)
            if known is not None:
                known.add(callback)
                return
            subscription = self._subscriptions[topic] = Subscription(context, topic)
            subscription.add(callback)
            request = messages.SubscribeRequest(topic=topic, updatesEndpoint=self._update_listener.endpoint)
            try:
                self._hub().ask(request, "SubscribeAnswer")
            except BaseException:
                self._subscriptions.pop(topic).close()
                raise

    def nodes(self, prefix: str = "") -> list[str]:
        """The names of the nodes that the hub knows."""
        request = messages.ListNodesRequest(nodeStartsWith=prefix)
        return list(self._hub().ask(request, "ListNodesAnswer").nodes)

    def topics(self, prefix: str = "") -> list[Topic]:
        """The topics that have a publisher."""
        answer = self._hub().ask(messages.ListTopicsRequest(topicStartsWith=prefix), "ListTopicsAnswer")
        return [
            Topic(t.topicName, t.topicType, tuple(t.publisherEndpoint), tuple(t.publisherName))
            for t in answer.topics
        ]

    # Services

    def offer(
        self,
        service: str,
        input: type[messages.Message],
        output: type[messages.Message],
        callback: Callable[[Any], Any],
    ) -> None:
        """Offers a service. `callback(request)` returns the answer; calls are made one at a time, in one thread.

        Raises:
            CommsError: this node offers the service already, or another node offers it with other types.
        """
        with self._lock:
            self._connected_context()
            self._services.add(service, Service(input, output, callback))
            request = messages.AdvertiseServiceRequest(
                serviceName=service,
                inputTypeName=input.DESCRIPTOR.full_name,
                outputTypeName=output.DESCRIPTOR.full_name,
                endpoint=self._service_listener.endpoint,
                nodeName=self._name,
            )
            try:
                self._hub().ask(request, "GenericAnswer")
            except BaseException:
                self._services.remove(service)
                raise

    def call(self, service: str, request: messages.Message, timeout: float | None = PATIENCE) -> Any:
        """Calls a service and returns its answer.

        Raises:
            CommsError: no node offers the service, no answer came in time, or the service refused.
        """
        return decode(self._call(service, payload_of(request), timeout))

    def call_raw(self, service: str, request: bytes, timeout: float | None = PATIENCE) -> bytes:
        """Calls a service with an encoded request and returns the encoded answer."""
        return split(self._call(service, request, timeout))[1]

    def _call(self, service: str, request: bytes, timeout: float | None) -> bytes:
        context = self._connected_context()
        endpoint = self._service_endpoints.get(service)
        if endpoint is None:
            answer = self._hub().ask(
                messages.GetServiceInfoRequest(serviceName=service), "GetServiceInfoAnswer"
            )
            endpoint = self._service_endpoints[service] = reachable(answer.serviceEndpoint)
        frame = encode(messages.CallService(serviceName=service, serializedInput=request))
        with opened(context, zmq.REQ, MAXMSGSIZE=LARGEST) as socket:
            socket.connect(endpoint)
            try:
                reply = exchange(socket, frame, timeout, f"service '{service}'")
            except CommsError:
                self._service_endpoints.pop(service, None)  # the service may have moved
                raise
        if split(reply)[0] == messages.GenericAnswer.DESCRIPTOR.full_name:
            refused = decode(reply)
            if not refused.success:
                raise CommsError(f"service '{service}': {refused.errorMessage}")
        return reply

    # Names of MVSim's client

    def setName(self, nodeName: str) -> None:  # noqa: N802, N803
        """Sets `name`."""
        self.name = nodeName

    def serverHostAddress(self, serverIpOrAddressName: str | None = None) -> str:  # noqa: N802, N803
        """Returns `host`; sets it first if one is given."""
        if serverIpOrAddressName is not None:
            self.host = serverIpOrAddressName
        return self._host

    def enable_profiler(self, enable: bool) -> None:
        """Does nothing."""

    callService = call_raw  # noqa: N815
    subscribeTopic = subscribe  # noqa: N815

    # Private methods

    def _check_not_connected(self, what: str) -> None:
        if self._context is not None:
            raise CommsError(f"{what}: this client is connected already")

    def _connected_context(self) -> zmq.Context[Any]:
        if self._context is None:
            raise CommsError("this client is not connected, expected connect() before")
        return self._context

    def _hub(self) -> HubLink:
        if self._link is None:
            raise CommsError("this client is not connected, expected connect() before")
        return self._link

    def _publisher(self, topic: str) -> Publisher:
        self._connected_context()
        try:
            return self._publishers[topic]
        except KeyError:
            raise CommsError(f"topic '{topic}' is not advertised by this node") from None

    def _connect_publishers(self, frame: bytes) -> Any:
        """Connects to the publishers of a topic that the hub reports. Runs in the thread of updates."""
        topic, endpoints = publishers_of(frame)
        subscription = self._subscriptions.get(topic)
        for endpoint in endpoints:
            if subscription is not None:
                with suppress(CommsError):  # an invalid endpoint: no node could reach this publisher
                    subscription.connect(reachable(endpoint))
        return messages.GenericAnswer(success=True)

    def _close_all(self) -> None:
        """Closes all sockets and ends the threads that wait at them."""
        context, self._context = self._connected_context(), None
        if self._link is not None:
            self._link.close()
            self._link = None
        for publisher in self._publishers.values():
            publisher.close()
        for subscription in self._subscriptions.values():
            subscription.close()
        self._reset_tables()
        # `term` returns when each thread has closed its socket; a thread in a callback is left after _FAREWELL
        ending = threading.Thread(target=context.term, name="mvsim_gym end", daemon=True)
        ending.start()
        ending.join(_FAREWELL)
