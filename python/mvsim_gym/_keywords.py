"""What a user gave, as plain values and texts; an error says what was found."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np

MAX_DEPTH = 16
"""Of lists and dicts within each other."""
MAX_VALUES = 100_000
"""Of all keywords of an environment together."""


def plain_values(overrides: Mapping[str, Any]) -> dict[str, Any]:
    """The same keywords as None, bool, float, str, lists and dicts of these, and nothing else. NumPy arrays and
    scalars, paths, tensors, mappings and sequences of any kind become so.

    Raises:
        TypeError: a value, or a part of one, that JSON cannot say; the message has its keyword.
        ValueError: a number beyond float64, a text that is not Unicode, too many or too deeply nested values.
    """
    reader = _Reader()
    return {name: reader.read(f"keyword {shortened(name)}", value, 0) for name, value in overrides.items()}


class _Reader:
    def __init__(self) -> None:
        self._left = MAX_VALUES

    def read(self, name: str, value: Any, depth: int) -> Any:
        self._left -= 1
        if self._left < 0:
            raise ValueError(f"{name}: found more values than expected, at most {MAX_VALUES} in all keywords")
        try:
            if value is None or isinstance(value, bool):
                return value
            if isinstance(value, str):
                return checked_text(name, value)
            if isinstance(value, int | float):
                return _number(name, value)
            if depth >= MAX_DEPTH:
                raise ValueError(
                    f"{shortened(name)}: found lists or dicts more than {MAX_DEPTH} deep in each other"
                    " (does one contain itself?)"
                )
            return self._other(name, value, depth)
        except RecursionError:
            raise
        except Exception as error:  # whatever a stranger's class does
            said = _said(error)
            if isinstance(error, TypeError | ValueError) and said.startswith("keyword "):
                raise
            raise TypeError(f"{name}: found {kind_of(value)} that cannot be read ({said})") from error

    def _other(self, name: str, value: Any, depth: int) -> Any:
        if isinstance(value, os.PathLike):
            return checked_text(name, os.fspath(value))
        if isinstance(value, Mapping):
            return {
                _key(name, key): self.read(f"{name}.{shortened(key)}", value[key], depth + 1)
                for key in islice(value, self._left + 1)
            }
        if isinstance(value, np.ndarray) and value.size > self._left:
            raise ValueError(
                f"{name}: found {value.size} values, expected at most {MAX_VALUES} in all keywords"
            )
        if hasattr(value, "tolist") and not isinstance(value, type):  # NumPy, PyTorch and what is like them
            return self.read(name, value.tolist(), depth + 1)
        if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray | memoryview):
            items = list(islice(value, self._left + 1))
            return [self.read(f"{name}[{i}]", item, depth + 1) for i, item in enumerate(items)]
        if hasattr(value, "__float__") and not isinstance(value, type):
            return _number(name, value)
        remedy = ""
        if callable(value):
            remedy = (
                ": terms of the environment file are named, not passed; functions of your own are given by the"
                " keywords reward_terms, observation_terms and termination_terms"
            )
        raise TypeError(
            f"{name}: found {kind_of(value)}, expected None, a bool, a number, a text, a list or a dict{remedy}"
        )


def _number(name: str, value: Any) -> float:
    try:
        number = float(value)
    except OverflowError:
        raise ValueError(f"{name}: found an integer beyond 1e308, expected a number of float64") from None
    if isinstance(value, int) and number != value:
        raise ValueError(
            f"{name}: found {value}, expected an integer that a float64 holds (all are up to 2**53)"
        )
    return number


def checked_text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{name}: found {kind_of(value)}, expected a text")
    text = str.__str__(value)
    for place, character in enumerate(text):
        if "\ud800" <= character <= "\udfff" or character == "\0":
            raise ValueError(
                f"{name}: found a text with {character!r} at {place}, expected Unicode without NUL"
            )
    return text


def path_text(name: str, value: Any) -> str:
    """A path, a text or bytes as the text of a path; bytes that are not Unicode are kept as `os.fsdecode` does.

    Raises:
        TypeError, ValueError: it is none of these, or has a NUL; the message has the argument's name.
    """
    if not isinstance(value, str | bytes | os.PathLike):
        raise TypeError(f"{name}: found {kind_of(value)}, expected a path")
    text = os.fsdecode(value)
    if "\0" in text:
        raise ValueError(
            f"{name}: found a text with '\\x00' at {text.index(chr(0))}, expected a path without NUL"
        )
    return text


def quoted(text: str) -> str:
    """For a message: at most 200 characters, and none that cannot be printed."""
    return repr(text if len(text) <= 200 else text[:197] + "...")


def _said(error: Exception) -> str:
    try:
        return str(error) or type(error).__name__
    except Exception:  # a stranger's
        return type(error).__name__


def _key(name: str, key: Any) -> str:
    if not isinstance(key, str):
        raise TypeError(f"{name}: found {kind_of(key)} as a key, expected texts as keys")
    return checked_text(name, key)


def kind_of(value: Any) -> str:
    """ "a list", "an int"."""
    name = type(value).__name__
    return f"{'an' if name[:1] in 'aeiouAEIOU' else 'a'} {shortened(name)}"


def shortened(name: Any, size: int = 60) -> str:
    """A name for a message: its first characters."""
    text = str(name)
    return text if len(text) <= size else text[: size - 3] + "..."
