"""Services of ROS 2: their types, and the encoding of requests and replies."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from mvsim_gym._checks import shortened
from mvsim_gym._notices import extra, notice
from mvsim_gym.ros.messages import STORE

with extra("a ROS 2 service", "ros"):
    from rosbags.interfaces import Nodetype
    from rosbags.typesys import get_types_from_msg

Answer = Callable[[bytes], bytes | None]
"""Takes an encoded request and returns the encoded reply; None: there is none."""
Handler = Callable[[Any], Mapping[str, Any]]
"""Takes a request and returns the fields of the reply."""


class Service(NamedTuple):
    """A service. Its name is absolute."""

    name: str
    kind: str
    """e.g. `std_srvs/srv/Trigger`"""

    @property
    def request(self) -> str:
        """The type of its requests."""
        return f"{self.kind}_Request"

    @property
    def reply(self) -> str:
        """The type of its replies."""
        return f"{self.kind}_Response"


_DEFINITIONS = {
    "std_srvs/srv/Trigger": ("", "bool success\nstring message"),
    "std_srvs/srv/SetBool": ("bool data", "bool success\nstring message"),
    "rcl_interfaces/srv/ListParameters": (
        "string[] prefixes\nuint64 depth",
        "rcl_interfaces/ListParametersResult result",
    ),
    "rcl_interfaces/srv/DescribeParameters": (
        "string[] names",
        "rcl_interfaces/ParameterDescriptor[] descriptors",
    ),
    "rcl_interfaces/srv/GetParameters": ("string[] names", "rcl_interfaces/ParameterValue[] values"),
    "rcl_interfaces/srv/GetParameterTypes": ("string[] names", "uint8[] types"),
    "rcl_interfaces/srv/SetParameters": (
        "rcl_interfaces/Parameter[] parameters",
        "rcl_interfaces/SetParametersResult[] results",
    ),
    "rcl_interfaces/srv/SetParametersAtomically": (
        "rcl_interfaces/Parameter[] parameters",
        "rcl_interfaces/SetParametersResult result",
    ),
}
"""Request and reply by service. Names have the form of rosbags, which knows messages alone."""
# since Iron
_INFO = "service_msgs/msg/ServiceEventInfo"
_INFO_FIELDS = "uint8 event_type\nbuiltin_interfaces/Time stamp\nuint8[16] client_gid\nint64 sequence_number"


def _register() -> None:
    """Registers the types of the services, and those of whole services, whose hash their endpoints tell (REP 2016)."""
    types: dict[str, Any] = dict(get_types_from_msg(_INFO_FIELDS, _INFO))
    for kind, (request, reply) in _DEFINITIONS.items():
        service = Service("", kind)
        for name, text in ((service.request, request), (service.reply, reply)):
            (types[name],) = get_types_from_msg(text, "service/msg/Part").values()
        parts = [(Nodetype.NAME, name) for name in (service.request, service.reply)]
        event: list[Any] = [("info", (Nodetype.NAME, _INFO))]
        event += [
            (name, (Nodetype.SEQUENCE, (part, 1)))
            for name, part in zip(("request", "response"), parts, strict=True)
        ]
        types[f"{kind}_Event"] = ([], event)
        whole = [*parts, (Nodetype.NAME, f"{kind}_Event")]
        names = ("request_message", "response_message", "event_message")
        types[kind] = ([], list(zip(names, whole, strict=True)))
    STORE.register(types)


_register()


def answering(service: Service, handle: Handler) -> Answer:
    """Returns a function that decodes requests and encodes the replies of `handle`. A request that is none, or whose
    handling fails, gets no reply but a notice."""

    def answer(data: bytes) -> bytes | None:
        try:
            request = STORE.deserialize_cdr(data, service.request)
            reply = STORE.types[service.reply](**handle(request))
            return bytes(STORE.serialize_cdr(reply, service.reply))
        except Exception as error:  # the network may deliver any bytes
            notice([f"ros: a request of '{service.name}' has no effect: {shortened(str(error), 200)}"])
            return None

    return answer
