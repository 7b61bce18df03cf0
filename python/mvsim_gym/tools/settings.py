"""Keywords of environments from texts such as `--set KEY=VALUE`, and functions that combine keywords."""

from __future__ import annotations

import ast
import json
import os
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from mvsim_gym._checks import quoted
from mvsim_gym._constructors import all_options
from mvsim_gym.registration import module_of

_TAKEN = {"camera_backend", "max_episode_steps", "memory_limit", "spl", "strict_actions"}
"""Keywords of constructors that `--set` takes. The command chooses the others."""
_OPTIONS = {"roots": "--roots FOLDER", "resources": "--resources PREFIX=FOLDER", "strict": "--strict"}
_WORDS = {"True": True, "False": False, "None": None}


def settings_of(texts: Iterable[str], option: str = "--set") -> dict[str, Any]:
    """Returns keywords of an environment from texts KEY=VALUE. Dots lead into dicts: `reward.collision=-20`. A value is
    JSON, True, False, None or a dict or list of Python; everything else is a text.

    Raises:
        ValueError: a text has no key or value, contradicts an earlier one, or names a keyword that the command chooses.
    """
    found: dict[str, Any] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        path = [part.strip() for part in key.split(".")]
        if not equals or not all(path):
            raise ValueError(
                f"{option}: found {quoted(text)}, expected KEY=VALUE, such as time_limit=30 or reward.collision=-20"
            )
        if path[0] in _OPTIONS:
            raise ValueError(f"{option}: found the keyword '{path[0]}', expected {_OPTIONS[path[0]]}")
        if path[0] == "env" or path[0] in all_options().keys() - _TAKEN:
            raise ValueError(
                f"{option}: found the keyword '{path[0]}', which the command chooses, expected one of the environment"
            )
        nested = _value(f"{option} {key.strip()}", value.strip())
        for name in reversed(path):
            nested = {name: nested}
        _check_kinds(option, found, nested, "")
        found = merged(found, nested)
    return found


def merged(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """Returns keywords of both arguments. Two dicts of one keyword are merged; otherwise the second value counts."""
    out = {**first, **second}
    for name in first.keys() & second.keys():
        if isinstance(first[name], Mapping) and isinstance(second[name], Mapping):
            out[name] = merged(first[name], second[name])
    return out


def combined(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the same as `merged`, but with the roots of both."""
    roots = [*first.get("roots", ()), *second.get("roots", ())]
    return {**merged(first, second), **({"roots": roots} if roots else {})}


def search_working_folder(env: str) -> None:
    """Adds the working folder to the end of the import path, so that `module:id` finds its modules."""
    if module_of(env) is not None and os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())


def _value(name: str, text: str) -> Any:
    if text in _WORDS:
        return _WORDS[text]
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        if not text.startswith(("{", "[", '"')):
            return text
    try:
        return ast.literal_eval(text)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        raise ValueError(
            f'{name}: found {quoted(text)}, expected JSON, such as {{"collision": -20}}, or a text'
        ) from None


def _check_kinds(option: str, first: Mapping[str, Any], second: Mapping[str, Any], place: str) -> None:
    """Refuses a keyword that is a dict in one argument and another value in the other."""
    for name in first.keys() & second.keys():
        old, new = (isinstance(values[name], Mapping) for values in (first, second))
        if old and new:
            _check_kinds(option, first[name], second[name], f"{place}{name}.")
        elif old or new:
            raise ValueError(f"{option}: found {place}{name} both with and without parts of its own")
