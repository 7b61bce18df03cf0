"""Reads `contract.json` of an exported policy: its observations, its action and the environment of its training."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

CONTRACT = "contract.json"
FORMAT = 1
OF_CONSTRUCTORS = frozenset({"roots", "resources", "strict", "flatten", "num_threads", "autoreset_mode"})
"""Keywords that are not the environment's."""
_PATHS = ("world", "centreline", "roots")
"""Keywords of every environment that name files."""
_MOST_BYTES = 4 << 20
_MOST_PARTS = 256
_MOST_VALUES = 1 << 26
_DTYPES = ("float32", "uint8", "uint16", "float64")


class Part(NamedTuple):
    """An observation or the action of a policy."""

    key: str
    dtype: str
    shape: tuple[int, ...]


class Contract(NamedTuple):
    """The contract of one policy."""

    env: str
    """the environment file, relative to the folder"""
    env_id: str
    """id of the environment; "" if the file has none"""
    keywords: dict[str, Any]
    """keywords of the environment"""
    files: tuple[str, ...]
    """those of the keywords whose values are paths, relative to the folder"""
    agent: int
    control_period: float
    """s"""
    observations: tuple[Part, ...]
    action: Part
    action_names: tuple[str, ...]
    action_low: tuple[float, ...]
    """physical values of the action -1"""
    action_high: tuple[float, ...]
    states: tuple[Part, ...]
    """of the network, if it is recurrent: they are inputs, and outputs after the action"""
    digest: str
    """SHA-256 of policy.onnx"""
    whole: dict[str, Any]
    """the whole contents of the file"""


def digest_of(data: bytes) -> str:
    """Returns the SHA-256 of data, hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def in_folder(folder: str, keywords: Mapping[str, Any], files: Iterable[str]) -> dict[str, Any]:
    """Returns keywords with the paths of those that name files below a folder."""
    out = dict(keywords)
    for key in files:
        value = out[key]
        paths = [os.path.join(folder, name) for name in ([value] if isinstance(value, str) else value)]
        out[key] = paths[0] if isinstance(value, str) else paths
    return out


def read_contract(folder: str) -> Contract:
    """Reads the contract of an exported policy. It is data, and no code in it runs.

    Raises:
        FileNotFoundError: there is no contract.
        ValueError: the file is too large or no such contract; the message names the place.
    """
    path = os.path.join(folder, CONTRACT)
    if not os.path.isfile(path):
        raise FileNotFoundError(
            f"'{folder}' has no {CONTRACT}, expected a folder that `mvsim-gym export` wrote"
        )
    if os.path.getsize(path) > _MOST_BYTES:
        raise ValueError(f"{path}: found {os.path.getsize(path)} bytes, expected at most {_MOST_BYTES}")
    with open(path, encoding="utf-8") as file:
        try:
            whole = json.load(file)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{path}: it is no JSON: {error}") from None
    try:
        return _contract_of(whole)
    except (KeyError, TypeError, ValueError) as error:
        why = f"the key {error} is missing" if isinstance(error, KeyError) else str(error)
        raise ValueError(f"{path}: {why}") from None


def _contract_of(whole: Any) -> Contract:
    if not isinstance(whole, dict) or whole.get("format") != FORMAT:
        found = whole.get("format") if isinstance(whole, dict) else type(whole).__name__
        raise ValueError(f"found the format {found!r}, expected {FORMAT}")
    observations = whole["observations"]
    if not isinstance(observations, list) or not 0 < len(observations) <= _MOST_PARTS:
        raise ValueError(f"observations: expected a list of 1 to {_MOST_PARTS}")
    action = whole["action"]
    env = _inside(whole["env"], "env")
    keywords = whole["keywords"]
    if not isinstance(keywords, dict):
        raise ValueError("keywords: expected an object")
    files = tuple(_text(name, "files") for name in whole.get("files", []))
    for name in files:
        value = keywords[name]
        for part in value if isinstance(value, list) else [value]:
            _inside(part, f"keywords.{name}")
    for name in keywords:
        if name not in files and name in {*_PATHS, *OF_CONSTRUCTORS}:
            raise ValueError(
                f"keywords: found '{name}', which is not in 'files', expected paths in the folder alone"
            )
    names = tuple(_text(name, "action.names") for name in action["names"])
    part = Part("action", "float32", (len(names),))
    low, high = (tuple(float(value) for value in action[bound]) for bound in ("low", "high"))
    if not len(low) == len(high) == len(names) or not np.isfinite((low, high)).all():
        raise ValueError(f"action: expected {len(names)} finite bounds")
    period = float(whole["control_period"])
    if not 0 < period < 1e6:
        raise ValueError(f"control_period: found {period}, expected seconds above 0")
    return Contract(
        env=env,
        env_id=_text(whole["env_id"], "env_id"),
        keywords=keywords,
        files=files,
        agent=int(whole["agent"]),
        control_period=period,
        observations=tuple(_part(part) for part in observations),
        action=part,
        action_names=names,
        action_low=low,
        action_high=high,
        states=_states(whole.get("states", []), {part["key"] for part in observations}),
        digest=_text(whole["policy"]["sha256"], "policy.sha256"),
        whole=whole,
    )


def _states(given: Any, taken: set[str]) -> tuple[Part, ...]:
    if not isinstance(given, list) or len(given) > _MOST_PARTS:
        raise ValueError(f"states: expected a list of at most {_MOST_PARTS}")
    states = tuple(_part({**state, "dtype": "float32"}, "states") for state in given)
    keys = [state.key for state in states]
    if len(set(keys)) < len(keys) or taken & set(keys):
        raise ValueError(f"states: found the keys {keys}, expected different ones, no observation's")
    return states


def _part(given: Any, name: str = "observations") -> Part:
    shape = tuple(int(size) for size in given["shape"])
    if not shape or min(shape) < 1 or np.prod([float(size) for size in shape]) > _MOST_VALUES:
        raise ValueError(f"{name}: found the shape {shape}, expected 1 to {_MOST_VALUES} values")
    if given["dtype"] not in _DTYPES:
        raise ValueError(f"{name}: found the type {given['dtype']!r}, expected one of {', '.join(_DTYPES)}")
    return Part(_text(given["key"], f"{name}.key"), given["dtype"], shape)


def _inside(value: Any, name: str) -> str:
    path = _text(value, name)
    if os.path.isabs(path) or ".." in path.replace("\\", "/").split("/"):
        raise ValueError(f"{name}: found '{path}', expected a path below the folder")
    return path


def _text(value: Any, name: str) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{name}: found {value!r}, expected a text")
    return value
