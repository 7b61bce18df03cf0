"""Converts values that callers read, write and give as options of `reset` to the form that the batch takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from mvsim_gym import _core
from mvsim_gym._checks import kind_of, number, plain_values, shortened
from mvsim_gym._overrides import Value, flatten

Start = tuple[list[float] | None, list[float] | None]
"""Pose and goal of an episode; None where not given."""

OPTIONS = ("pose", "goal", "knobs")
"""Options of `reset`; VectorEnv also has `reset_mask`."""
_SIZES = {"pose": (3, "x, y, yaw"), "goal": (2, "x, y")}


def checked_name(name: Any) -> str:
    """Returns a name that is a text. TypeError for anything else."""
    if not isinstance(name, str):
        raise TypeError(f"name: found {kind_of(name)}, expected a text such as 'vehicle:robot/pose'")
    return name


def values_of(
    batch: _core.Batch, envs: list[int], name: str, value: Any, one: bool = False
) -> npt.NDArray[np.float64]:
    """Returns a value as `batch.write` takes it, with a row for each env. `one`: the value was given without rows."""
    shape = batch.read(envs, checked_name(name)).shape
    array = numbers(name, value)
    given = shape[1:] if one else shape
    try:
        return np.ascontiguousarray(np.broadcast_to(np.broadcast_to(array, given), shape))
    except ValueError:
        raise ValueError(
            f"{shortened(name)}: found values of shape {array.shape}, expected {given} or what broadcasts to it"
        ) from None


def held_values(batch: _core.Batch, envs: list[int], path: str, value: Any) -> npt.NDArray[np.float64]:
    """Returns a parameter's value for each env."""
    if isinstance(value, str):
        value = batch.choice_value(checked_name(path), value)
    array = numbers(path, value)
    if array.shape not in ((), (len(envs),)):
        raise ValueError(
            f"{shortened(path)}: found values of shape {array.shape}, expected one number, or {len(envs)}, one for"
            " each env"
        )
    return np.ascontiguousarray(np.broadcast_to(array, (len(envs),)))


def numbers(name: str, value: Any) -> npt.NDArray[np.float64]:
    """Returns a value as an array of float64. TypeError if it holds no numbers."""
    try:
        array = np.asarray(value)
    except ValueError:  # rows of different lengths
        array = np.array(None)
    if array.dtype.kind == "O" and array.size and all(isinstance(v, int | float) for v in array.flat):
        # integers that no dtype holds
        floats = [number(shortened(name), v) for v in array.flat]
        return np.array(floats, np.float64).reshape(array.shape)
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{shortened(name)}: found {kind_of(value)}, expected numbers")
    return array.astype(np.float64)


def checked_knobs(name: str, knobs: Any) -> dict[str, Any]:
    """Returns a dict of knobs. TypeError for anything else."""
    if not isinstance(knobs, Mapping):
        raise TypeError(f"{name}: found {kind_of(knobs)}, expected a dict of knobs")
    return {checked_name(key): value for key, value in knobs.items()}


def one_each(name: str, given: Any, count: int) -> list[Any]:
    """Returns a dict for each env from one dict for all or a sequence of dicts; None stands for none."""
    if isinstance(given, Mapping):
        return [checked_knobs(name, given)] * count
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise TypeError(f"{name}: found {kind_of(given)}, expected a dict, or a list of one for each env")
    if len(given) != count:
        raise ValueError(f"{name}: found {len(given)} dicts, expected {count}, one for each env")
    return [None if knobs is None else checked_knobs(name, knobs) for knobs in given]


def set_knobs(batch: _core.Batch, envs: list[int], knobs: Sequence[dict[str, Any] | None]) -> None:
    """Sets the knobs of each env, including those that are parameters. None leaves an env unchanged."""
    kinds = batch.spec.keywords
    groups: dict[tuple[tuple[str, Value], ...], list[int]] = {}
    known: dict[int, tuple[tuple[str, Value], ...]] = {}  # A dict that several envs share is read once.
    for i, own in zip(envs, knobs, strict=True):
        if own is None:
            continue
        if id(own) not in known:
            plain = plain_values({name: own[name] for name in sorted(own) if ":" not in name})
            pairs = flatten(plain, kinds)
            known[id(own)] = tuple((path[0], value) for path, value in pairs if value is not None)
        groups.setdefault(known[id(own)], []).append(i)
    for values in groups:
        batch.set_knobs([], list(values))  # Raises before any env has changed.
    for i, own in zip(envs, knobs, strict=True):
        for path in own or ():
            if ":" in path:
                batch.hold([i], path, held_values(batch, [i], path, (own or {})[path]))
    for values, members in groups.items():
        batch.set_knobs(members, list(values))


def starts_of(batch: _core.Batch, envs: list[int], options: Sequence[Mapping[str, Any]]) -> list[Start]:
    """Sets the knobs in the envs' options of `reset`. Returns start pose and goal of each row's episode, None where no
    option gives them."""
    set_knobs(batch, envs, [None if own.get("knobs") is None else own["knobs"] for own in options])
    names = batch.agent_names
    places = [
        list(
            zip(_places("pose", own.get("pose"), names), _places("goal", own.get("goal"), names), strict=True)
        )
        for own in options
    ]
    if all(place == (None, None) for own in places for place in own):
        return []
    starts: list[Start] = [(None, None)] * (batch.num_envs * len(names))
    for i, own in zip(envs, places, strict=True):
        starts[i * len(names) : (i + 1) * len(names)] = own
    return starts


def checked_starts(batch: _core.Batch, envs: list[int], options: Sequence[Mapping[str, Any]]) -> list[Start]:
    """Does the same as `starts_of` for options whose knobs have not been checked."""
    own = [
        {**each, "knobs": checked_knobs("options['knobs']", each["knobs"])}
        if each.get("knobs") is not None
        else each
        for each in options
    ]
    return starts_of(batch, envs, own) if any(own) else []


def split(options: Mapping[str, Any], num_envs: int, num_agents: int) -> list[dict[str, Any]]:
    """Splits the options of a VectorEnv into the options of each world."""
    out: list[dict[str, Any]] = [{} for _ in range(num_envs)]
    for name in OPTIONS:
        given = options.get(name)
        if given is None:
            continue
        each = (
            one_each("options['knobs']", given, num_envs)
            if name == "knobs"
            else _worlds(name, given, num_envs, num_agents)
        )
        for own, value in zip(out, each, strict=True):
            own[name] = value
    return out


def _worlds(name: str, given: Any, num_envs: int, num_agents: int) -> list[Any]:
    """Returns for each world what `_places` takes. `given` is one value for all, one for each world or row, or the
    result of `read` for a pattern. None leaves it open."""
    if isinstance(given, Mapping):
        return [given] * num_envs
    size, _ = _SIZES[name]
    if isinstance(given, Sequence) and any(row is None for row in given):
        rows = list(given)
    else:
        array = numbers(f"options[{name!r}]", given)
        if array.shape == (size,):
            return [array] * num_envs
        rows = list(array) if array.shape[1:] in ((size,), (num_agents, size)) else []
    if num_agents > 1 and len(rows) == num_envs * num_agents:
        return [rows[i * num_agents : (i + 1) * num_agents] for i in range(num_envs)]
    if len(rows) != num_envs:
        each = f" or ({num_envs * num_agents}, {size}), one for each row" if num_agents > 1 else ""
        raise ValueError(
            f"options[{name!r}]: found {len(rows) or 'another shape'}, expected ({size},) for all envs or"
            f" ({num_envs}, {size}){each}"
        )
    return rows


def _places(name: str, given: Any, agents: Sequence[str]) -> list[list[float] | None]:
    """Returns a pose or goal for each agent of a world. A single place belongs to the first agent. Several places are
    one for each agent, where None leaves it open, or a dict by agent name."""
    if given is None:
        return [None] * len(agents)
    size, parts = _SIZES[name]
    what = f"options[{name!r}]"
    each: list[Any]
    if isinstance(given, Mapping):
        for agent in given:
            if agent not in agents:
                raise ValueError(f"{what}: found the agent {agent!r}, expected one of {', '.join(agents)}")
        each = [given.get(agent) for agent in agents]
    elif isinstance(given, Sequence) and any(row is None for row in given):
        each = list(given)
    else:
        array = numbers(what, given)
        each = list(array) if len(agents) > 1 and array.ndim == 2 else [array, *[None] * (len(agents) - 1)]
    if len(each) != len(agents):
        raise ValueError(f"{what}: found {len(each)} places, expected {len(agents)}, one for each agent")
    return [None if place is None else _place(what, place, size, parts) for place in each]


def _place(what: str, given: Any, size: int, parts: str) -> list[float]:
    array = numbers(what, given)
    if array.shape != (size,):
        raise ValueError(f"{what}: found shape {array.shape}, expected ({size},): {parts}")
    return [float(v) for v in array]
