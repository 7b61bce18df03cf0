"""Parameters of a node of ROS 2: `ros2 param list`, `get`, `set` and `describe`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from mvsim_gym.ros.messages import STORE
from mvsim_gym.ros.services import Handler, Service

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
            ("set_parameters_atomically", self._set_together),
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

    def _set_together(self, request: Any) -> Mapping[str, Any]:
        return {"result": self._result_of(request.parameters)}

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
