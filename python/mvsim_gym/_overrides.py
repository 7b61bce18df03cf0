"""Converts the keywords of an environment file to pairs of a path and a value, which the core puts into its tree.

`reward={"collision": -20}` is `(("reward", "collision", "weight"), -20.0)`. The value None removes a term, or resets an
attribute to its default. The text "" at the path of a term adds the term with its defaults.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

from mvsim_gym._checks import shortened
from mvsim_gym.errors import WorldFileError

Path = tuple[str, ...]
Value = bool | float | str | tuple[float | str, ...] | None
Override = tuple[Path, Value]

_SHORTHAND = {"reward": "weight", "randomize": "scale"}
"""The attribute that a value without a dict sets."""
_KINDS = {
    type(None): "None",
    bool: "a bool",
    float: "a number",
    str: "a text",
    list: "a list",
    dict: "a dict",
}


def flatten(overrides: Mapping[str, Any], kinds: Mapping[str, str]) -> list[Override]:
    """Returns the pairs for the keywords, in their order.

    Args:
        overrides: as `plain_values` returns them.
        kinds: the keywords of the environment and the kind of value that each takes (`_core.EnvSpec.keywords`).

    Raises:
        WorldFileError: a value of a kind that its keyword does not take; the message names the keyword.
    """
    return [pair for name, value in overrides.items() for pair in _pairs(name, value, kinds.get(name, ""))]


def portable_paths(overrides: Mapping[str, Any], kinds: Mapping[str, str]) -> dict[str, Any]:
    """Returns the same keywords for a process in another folder: the paths of existing files become absolute.

    Args:
        overrides: as `plain_values` returns them.
        kinds: as those of `flatten`.
    """
    return {
        name: _absolute(value) if kinds.get(name) in {"path", "file"} else value
        for name, value in overrides.items()
    }


def _absolute(value: Any) -> Any:
    if isinstance(value, list):
        return [_absolute(item) for item in value]
    return os.path.abspath(value) if isinstance(value, str) and os.path.isfile(value) else value


def _pairs(name: str, value: Any, kind: str) -> Iterator[Override]:
    path = (name,)
    if kind == "number":
        number = 0.0 if value is None and name == "time_limit" else value
        yield path, _of_kind(path, number, float, "a number")
    elif kind in {"text", "path"}:
        yield path, _of_kind(path, value, str, "a text")
    elif kind == "action":
        attributes = _of_kind(path, value, dict, "a dict of attributes (an agent has one action)")
        yield from _attributes(path, attributes)
    elif kind == "terms":
        yield from _terms(path, value)
    elif kind == "tracker":
        if value is False or value is None:
            yield path, None
        else:
            yield from _attributes(path, _of_kind(path, value, dict, "a dict of attributes, or False"))
    elif kind == "file":
        yield from _files(path, value)
    else:
        yield path, _value(path, value)


def _terms(path: Path, value: Any) -> Iterator[Override]:
    if value is False:
        yield path, None
        return
    if path == ("randomize",) and isinstance(value, str):
        value = {"level": value}
    shorthand = _SHORTHAND.get(path[0])
    for name, item in _of_kind(path, value, dict, "a dict from the names of terms to values").items():
        term = (*path, name)
        if term == ("randomize", "level"):
            yield path, _of_kind(term, item, str, "none, standard or strong")
            continue
        if item is None or item is False:
            yield term, None
        elif item is True or item == {}:
            yield term, ""
        elif shorthand is not None and not isinstance(item, dict):
            yield (*term, shorthand), _value((*term, shorthand), item)
        else:
            yield from _attributes(
                term, _of_kind(term, item, dict, "a dict of attributes, or False to leave it out")
            )


def _attributes(path: Path, values: dict[str, Any]) -> Iterator[Override]:
    if "class" in values:  # first, because another class has other attributes
        yield (*path, "class"), _of_kind((*path, "class"), values["class"], str, "the name of a class")
    for name, value in values.items():
        if name != "class":
            yield (*path, name), None if value is None else _value((*path, name), value)


def _files(path: Path, value: Any) -> Iterator[Override]:
    if value == []:
        raise _error(path, "found an empty list, expected one file or several")
    for item in value if isinstance(value, list) else [value]:
        yield path, _of_kind(path, item, str, "the path of a file, or a list of some")


def _value(path: Path, value: Any) -> Value:
    """Returns the value of an attribute; a list becomes a tuple."""
    if isinstance(value, bool | float | str):
        return value
    if not isinstance(value, list):
        _refuse(path, value, "a number, bool, text or list")
    for item in value:
        if isinstance(item, bool) or not isinstance(item, float | str):
            _refuse(path, item, "numbers or texts in the list")
    return tuple(value)


def _of_kind(path: Path, value: Any, kind: type, expected: str) -> Any:
    if type(value) is not kind:
        _refuse(path, value, expected)
    return value


def _refuse(path: Path, value: Any, expected: str) -> NoReturn:
    raise _error(path, f"found {_KINDS[type(value)]}, expected {expected}")


def _error(path: Path, text: str) -> WorldFileError:
    place = f"keyword {'.'.join(path)}"
    shown = "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode() for c in shortened(place, 1200)
    )
    return WorldFileError(f"{shown}: {text}", place)
