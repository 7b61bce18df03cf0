"""The registry of a hub: nodes, topics with their publishers and subscribers, and services. It uses no sockets."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from mvsim_gym.comms import messages
from mvsim_gym.comms.errors import CommsError

_MAX_ENTRIES = 10_000  # entries of each kind, of all nodes together
_MAX_PUBLISHERS = 200  # publishers of a topic, so that a TopicInfo stays small
_LONGEST_NAME = 1000  # characters of a name or an endpoint


class _Publisher(NamedTuple):
    type: str
    endpoint: str


class _Service(NamedTuple):
    types: tuple[str, str]
    endpoint: str
    node: str


class Registry:
    """Takes the requests of nodes and makes the answers. A refused request changes nothing."""

    def __init__(self) -> None:
        self._nodes: dict[str, None] = {}
        self._publishers: dict[str, dict[str, _Publisher]] = {}  # by topic, then by node
        self._subscribers: dict[str, dict[str, None]] = {}  # endpoints by topic
        self._services: dict[str, _Service] = {}
        self._answers: dict[str, Callable[[Any], Any]] = {
            "RegisterNodeRequest": self._register,
            "UnregisterNodeRequest": self._unregister,
            "ListNodesRequest": self._list_nodes,
            "ListTopicsRequest": self._list_topics,
            "AdvertiseTopicRequest": self._advertise,
            "SubscribeRequest": self._subscribe,
            "AdvertiseServiceRequest": self._offer,
            "GetServiceInfoRequest": self._find_service,
        }
        self.requests = tuple(self._answers)
        """Names of the messages that it answers."""

    def answer(self, request: Any) -> Any:
        """Carries out a request and returns its answer.

        Raises:
            CommsError: the request is refused; `refusal` makes an answer of the text.
        """
        for field, value in request.ListFields():
            if isinstance(value, str) and len(value) > _LONGEST_NAME:
                raise CommsError(
                    f"{field.name}: found {len(value)} characters, expected at most {_LONGEST_NAME}"
                )
        return self._answers[request.DESCRIPTOR.name](request)

    @staticmethod
    def refusal(request: str, error: str) -> Any:
        """Returns the answer to a failed request of this type. The answer to a SubscribeRequest has no text."""
        kinds = {
            "RegisterNodeRequest": messages.RegisterNodeAnswer,
            "GetServiceInfoRequest": messages.GetServiceInfoAnswer,
        }
        return kinds.get(request, messages.GenericAnswer)(success=False, errorMessage=error)

    def info(self, topic: str) -> Any:
        publishers = self._publishers.get(topic, {})
        return messages.TopicInfo(
            topicName=topic,
            topicType=next((p.type for p in publishers.values()), ""),
            publisherEndpoint=[p.endpoint for p in publishers.values()],
            publisherName=list(publishers),
        )

    def subscribers(self, topic: str) -> list[str]:
        """The endpoints of the subscribers to a topic, which receive its list of publishers."""
        return list(self._subscribers.get(topic, ()))

    def forget_subscriber(self, endpoint: str) -> None:
        for topic, endpoints in list(self._subscribers.items()):
            endpoints.pop(endpoint, None)
            if not endpoints:
                del self._subscribers[topic]

    def has_endpoint(self, endpoint: str) -> bool:
        return (
            any(
                p.endpoint == endpoint
                for publishers in self._publishers.values()
                for p in publishers.values()
            )
            or any(service.endpoint == endpoint for service in self._services.values())
            or any(endpoint in endpoints for endpoints in self._subscribers.values())
        )

    def has_entries(self, node: str) -> bool:
        return any(node in publishers for publishers in self._publishers.values()) or any(
            service.node == node for service in self._services.values()
        )

    def forget_endpoint(self, endpoint: str) -> None:
        self.forget_subscriber(endpoint)
        for topic, publishers in list(self._publishers.items()):
            for node in [node for node, p in publishers.items() if p.endpoint == endpoint]:
                del publishers[node]
            if not publishers:
                del self._publishers[topic]
        self._services = {key: each for key, each in self._services.items() if each.endpoint != endpoint}

    def _register(self, request: Any) -> Any:
        self.forget_node(request.nodeName)
        self._add_node(request.nodeName)
        return messages.RegisterNodeAnswer(success=True)

    def _unregister(self, request: Any) -> Any:
        self.forget_node(request.nodeName)
        return messages.GenericAnswer(success=True)

    def _add_node(self, name: str) -> None:
        """Adds a node. It may not have registered here: nodes keep advertising after the hub was restarted."""
        if name not in self._nodes:
            _check_room("nodes", len(self._nodes))
            self._nodes[name] = None

    def forget_node(self, name: str) -> None:
        self._nodes.pop(name, None)
        for topic, publishers in list(self._publishers.items()):
            publishers.pop(name, None)
            if not publishers:
                del self._publishers[topic]
        self._services = {key: each for key, each in self._services.items() if each.node != name}

    def _list_nodes(self, request: Any) -> Any:
        return messages.ListNodesAnswer(nodes=_starting(request.nodeStartsWith, self._nodes))

    def _list_topics(self, request: Any) -> Any:
        names = _starting(request.topicStartsWith, self._publishers)
        return messages.ListTopicsAnswer(topics=map(self.info, names))

    def _advertise(self, request: Any) -> Any:
        topic, kind = request.topicName, request.topicTypeName
        known = self._publishers.get(topic, {})
        others = {p.type for node, p in known.items() if node != request.nodeName}
        if others - {kind}:
            raise CommsError(
                f"topic '{topic}': found the type '{kind}', expected '{others.pop()}', which it has already"
            )
        if request.nodeName not in known:
            _check_room("publishers", sum(map(len, self._publishers.values())))
            _check_room(f"publishers of the topic '{topic}'", len(known), _MAX_PUBLISHERS)
        self._add_node(request.nodeName)
        self._publishers.setdefault(topic, {})[request.nodeName] = _Publisher(kind, request.endpoint)
        return messages.GenericAnswer(success=True)

    def _subscribe(self, request: Any) -> Any:
        if request.updatesEndpoint not in self._subscribers.get(request.topic, {}):
            _check_room("subscriptions", sum(map(len, self._subscribers.values())))
            self._subscribers.setdefault(request.topic, {})[request.updatesEndpoint] = None
        return messages.SubscribeAnswer(topic=request.topic, success=True)

    def _offer(self, request: Any) -> Any:
        name, types = request.serviceName, (request.inputTypeName, request.outputTypeName)
        known = self._services.get(name)
        if known is not None and known.types != types:
            raise CommsError(
                f"service '{name}': found the types {' -> '.join(types)}, expected {' -> '.join(known.types)},"
                " which it has already"
            )
        if known is None:
            _check_room("services", len(self._services))
        self._add_node(request.nodeName)
        self._services[name] = _Service(types, request.endpoint, request.nodeName)
        return messages.GenericAnswer(success=True)

    def _find_service(self, request: Any) -> Any:
        known = self._services.get(request.serviceName)
        if known is None:
            raise CommsError(f"could not find service '{request.serviceName}': no node offers it")
        return messages.GetServiceInfoAnswer(
            success=True, serviceEndpoint=known.endpoint, serviceNodeName=known.node
        )


def _starting(prefix: str, names: Iterable[str]) -> list[str]:
    return [name for name in names if name.startswith(prefix)]


def _check_room(what: str, count: int, room: int | None = None) -> None:
    room = _MAX_ENTRIES if room is None else room
    if count >= room:
        raise CommsError(f"the hub is full: it has {room} {what}")
