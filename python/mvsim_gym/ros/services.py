"""Services of ROS 2: their types, the encoding of requests and replies, and the parameters of a node."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

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
        return f"{self.kind}_Request"

    @property
    def reply(self) -> str:
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


Value = bool | int | float | str
_PACKAGE = "rcl_interfaces"
# of rcl_interfaces/msg/ParameterType; 0 is a parameter that is not set
_BOOL, _INTEGER, _DOUBLE, _STRING = 1, 2, 3, 4
_TYPES: dict[type, int] = {bool: _BOOL, int: _INTEGER, float: _DOUBLE, str: _STRING}
_FIELDS = {
    _BOOL: "bool_value",
    _INTEGER: "integer_value",
    _DOUBLE: "double_value",
    _STRING: "string_value",
}
_SEPARATOR = "."


class Parameter(NamedTuple):
    """A parameter of a node, whose type is that of its value."""

    about: str
    """description, with the unit"""
    get: Callable[[], Value]
    set: Callable[[Any], None] | None = None
    """takes a value of the same type, and raises ValueError for an invalid one; None: it cannot be changed"""


class ParameterServer:
    """Answers the services of a node's parameters.

    Args:
        parameters: by name.
        on_change: called after a change.
    """

    def __init__(self, parameters: Mapping[str, Parameter], on_change: Callable[[], None]) -> None:
        self._parameters, self._on_change = dict(parameters), on_change

    def services(self, node: str) -> Iterator[tuple[Service, Handler]]:
        """Yields the services of a node, by its full name, and what answers each."""
        for name, handle in (
            ("list_parameters", self._list),
            ("get_parameters", self._get),
            ("get_parameter_types", self._types),
            ("describe_parameters", self._describe),
            ("set_parameters", self._set_each),
            ("set_parameters_atomically", lambda asked: {"result": self._result_of(asked.parameters)}),
        ):
            kind = "".join(map(str.capitalize, name.split("_")))
            yield Service(f"{node}/{name}", f"{_PACKAGE}/srv/{kind}"), handle

    def _list(self, request: Any) -> Mapping[str, Any]:
        """The names below the prefixes, down to a depth; no prefix: all, and depth 0: any."""

        def is_asked(name: str) -> bool:
            for prefix in request.prefixes or [""]:
                rest = name
                if prefix:
                    if name != prefix and not name.startswith(prefix + _SEPARATOR):
                        continue
                    rest = name[len(prefix) :].lstrip(_SEPARATOR)
                if not request.depth or rest.count(_SEPARATOR) < request.depth:
                    return True
            return False

        names = [name for name in self._parameters if is_asked(name)]
        above = {name.rpartition(_SEPARATOR)[0]: None for name in names if _SEPARATOR in name}
        return {"result": _made("ListParametersResult", names=names, prefixes=list(above))}

    def _get(self, request: Any) -> Mapping[str, Any]:
        found = [self._parameters.get(name) for name in request.names]
        return {"values": [_value_of(None if each is None else each.get()) for each in found]}

    def _types(self, request: Any) -> Mapping[str, Any]:
        return {"types": np.array([self._type(name) for name in request.names], np.uint8)}

    def _type(self, name: str) -> int:
        found = self._parameters.get(name)
        return 0 if found is None else _TYPES[type(found.get())]

    def _describe(self, request: Any) -> Mapping[str, Any]:
        def described(name: str) -> Any:
            found = self._parameters.get(name)
            return _made(
                "ParameterDescriptor",
                name=name,
                type=self._type(name),
                description="" if found is None else found.about,
                additional_constraints="",
                read_only=found is not None and found.set is None,
                dynamic_typing=False,
                floating_point_range=[],
                integer_range=[],
            )

        return {"descriptors": [described(name) for name in request.names]}

    def _set_each(self, request: Any) -> Mapping[str, Any]:
        return {"results": [self._result_of([each]) for each in request.parameters]}

    def _result_of(self, wanted: Sequence[Any]) -> Any:
        """Sets all of some parameters or, if one of them is refused, none."""
        before: list[tuple[Callable[[Any], None], Value]] = []
        reason = ""
        try:
            for each in wanted:
                parameter, value = self._checked(each)
                assert parameter.set is not None
                before.append((parameter.set, parameter.get()))
                parameter.set(value)
        except ValueError as error:
            reason = str(error)
            for put, value in reversed(before):
                put(value)
        else:
            self._on_change()
        return _made("SetParametersResult", successful=not reason, reason=reason)

    def _checked(self, wanted: Any) -> tuple[Parameter, Value]:
        """Returns the parameter that a rcl_interfaces/Parameter names, and the value for it. An integer is taken for a
        double."""
        parameter = self._parameters.get(wanted.name)
        if parameter is None:
            known = ", ".join(self._parameters)
            raise ValueError(f"found the parameter '{wanted.name}', expected one of {known}")
        if parameter.set is None:
            raise ValueError(f"{wanted.name}: it cannot be changed")
        kind, given = _TYPES[type(parameter.get())], wanted.value.type
        if given != kind and (given, kind) != (_INTEGER, _DOUBLE):
            names = {number: each.__name__ for each, number in _TYPES.items()}
            raise ValueError(
                f"{wanted.name}: found a value of type {names.get(given, given)}, expected {names[kind]}"
            )
        value = getattr(wanted.value, _FIELDS[given])
        return parameter, float(value) if kind == _DOUBLE else value


def _value_of(value: Value | None) -> Any:
    """Returns a rcl_interfaces/ParameterValue; None is a parameter that is not set."""
    fields: dict[str, Any] = {
        "type": 0 if value is None else _TYPES[type(value)],
        "bool_value": False,
        "integer_value": 0,
        "double_value": 0.0,
        "string_value": "",
        "byte_array_value": np.zeros(0, np.uint8),
        "bool_array_value": np.zeros(0, np.bool_),
        "integer_array_value": np.zeros(0, np.int64),
        "double_array_value": np.zeros(0, np.float64),
        "string_array_value": [],
    }
    if value is not None:
        fields[_FIELDS[fields["type"]]] = value
    return _made("ParameterValue", **fields)


def _made(name: str, /, **fields: Any) -> Any:
    return STORE.types[f"{_PACKAGE}/msg/{name}"](**fields)
