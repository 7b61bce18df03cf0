"""Checks the values that users give. An error names the argument, what was found and what was expected."""

from __future__ import annotations

import operator
import os
from collections.abc import Mapping, Sequence
from itertools import combinations, islice, permutations
from typing import Any

import numpy as np
import numpy.typing as npt

MAX_DEPTH = 16
"""Largest depth of lists and dicts within each other."""
MAX_VALUES = 100_000
"""Largest number of values in all keywords of an environment together."""


def plain_values(overrides: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the keywords as None, bool, float, str, lists and dicts of these. NumPy arrays and scalars, paths,
    tensors, mappings and sequences of any kind are converted.

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
        except Exception as error:  # The value's own class may raise anything.
            said = _message_of(error)
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
        if hasattr(value, "tolist") and not isinstance(value, type):  # NumPy, PyTorch and similar
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
    """Returns a path, a text or bytes as the text of a path. Bytes that are not Unicode are kept as `os.fsdecode` does.

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
    """Returns a text for a message: at most 200 characters, all of them printable."""
    return repr(text if len(text) <= 200 else text[:197] + "...")


def _message_of(error: Exception) -> str:
    try:
        return str(error) or type(error).__name__
    except Exception:  # from the value's own class
        return type(error).__name__


def _key(name: str, key: Any) -> str:
    if not isinstance(key, str):
        raise TypeError(f"{name}: found {kind_of(key)} as a key, expected texts as keys")
    return checked_text(name, key)


def kind_of(value: Any) -> str:
    """Returns the type of a value for a message: "a list", "an int"."""
    name = type(value).__name__
    return f"{'an' if name[:1] in 'aeiouAEIOU' else 'a'} {shortened(name)}"


def shortened(name: Any, size: int = 60) -> str:
    """Returns the first characters of a name, for a message."""
    text = str(name)
    return text if len(text) <= size else text[: size - 3] + "..."


Arrays = Mapping[str, npt.NDArray[Any]]
_FLOAT32 = np.dtype(np.float32)  # comparison with another dtype is faster than that of np.float32

DEFAULT_MEMORY_LIMIT = 2_000_000_000
"""Largest memory, in bytes, that a load may take."""


def checked_flag(name: str, found: Any) -> bool:
    """Returns the value of a keyword that is True or False. TypeError for anything else."""
    if not isinstance(found, bool | np.bool_):
        raise TypeError(f"{name}: found {kind_of(found)}, expected True or False")
    return bool(found)


def checked_count(name: str, value: Any, minimum: int = 1) -> int:
    """Returns an integer of at least `minimum` that a C int holds. ValueError for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not minimum <= value < 2**31:
        raise ValueError(f"{name}: found {value!r}, expected an integer of at least {minimum}")
    return int(value)


def checked_memory_limit(name: str, value: Any) -> int:
    """Returns the limit as an int. ValueError for anything but an integer of at least 1; no value means 'unlimited'."""
    try:
        limit = -1 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        limit = -1
    if not 1 <= limit < 2**63:
        raise ValueError(f"{name}: found {value!r}, expected a number of bytes from 1 to 2**63 - 1")
    return limit


def check_mode(name: str, found: Any, known: Sequence[Any]) -> None:
    """Raises ValueError if the value of a keyword is none of the known ones."""
    if found not in known:
        raise ValueError(f"{name}: found {found!r}, expected one of {', '.join(map(repr, known))}")


CAMERA_BACKENDS = ("auto", "egl", "rays")
"""Renderers that can draw the images of cameras."""


def checked_backend(name: str, found: Any) -> str:
    """Returns one of CAMERA_BACKENDS. ValueError for anything else."""
    check_mode(name, found, CAMERA_BACKENDS)
    return str(found)


def checked_device(name: str, found: Any) -> str:
    """Returns "cpu" or "cuda:<n>". ValueError for anything else."""
    text = found if isinstance(found, str) else ""
    head, _, number = text.partition(":")
    if text == "cpu" or (head == "cuda" and number.isascii() and number.isdigit() and int(number) < 2**31):
        return text
    hint = ", did you mean 'cuda:0'?" if text.lower() in ("cuda", "gpu", "cuda0", "cuda:") else ""
    raise ValueError(f"{name}: found {found!r}, expected 'cpu' or 'cuda:<n>'{hint}")


def check_render_mode(found: Any, many: bool) -> None:
    """Raises ValueError for a mode that is not drawn here; the message names what draws it."""
    if found in (None, "rgb_array", "depth_array"):
        return
    remedy = ""
    if found == "human":
        remedy = "; a window, of one environment, is opened by gymnasium.make(..., render_mode='human')"
    elif found == "rgb_array_list":
        remedy = "; gymnasium.wrappers.RenderCollection (of many: .vector) keeps the pictures of 'rgb_array'"
    if many and found == "human":
        remedy += ", and render() of 'rgb_array' returns the pictures of all"
    raise ValueError(f"render_mode: found {found!r}, expected None, 'rgb_array' or 'depth_array'{remedy}")


def checked_seed(seed: Any) -> int:
    """Returns a Gymnasium seed: an integer of at least 0.

    Raises:
        ValueError: it is none; the message names it.
    """
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise ValueError(f"seed: found {seed!r}, expected an integer of at least 0, or None")
    return int(seed)


def check_options(options: dict[str, Any] | None, known: Sequence[str]) -> None:
    """Raises ValueError for options of `reset` that are not known."""
    for name in options or ():
        if name not in known:
            expected = f"expected {' or '.join(known)}" if known else "there are no options"
            raise ValueError(f"options: found '{name}', {expected}")


def checked_mask(mask: Any, num_envs: int) -> npt.NDArray[np.bool_]:
    """Returns the option `reset_mask`: a bool array (num_envs,) with at least one True. TypeError or ValueError for
    anything else."""
    if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_:
        found = f"an array of {mask.dtype}" if isinstance(mask, np.ndarray) else kind_of(mask)
        raise TypeError(f"options['reset_mask']: found {found}, expected a NumPy array of bool")
    if mask.shape != (num_envs,):
        raise ValueError(f"options['reset_mask']: found shape {mask.shape}, expected ({num_envs},)")
    if not mask.any():
        raise ValueError("options['reset_mask']: found no True, expected at least one")
    return mask


def world_mask(mask: npt.NDArray[np.bool_], num_worlds: int) -> npt.NDArray[np.bool_]:
    """Returns a mask of rows as a mask of worlds. ValueError if it has only some of a world's agents."""
    rows = mask.reshape(num_worlds, -1)
    mixed = rows.any(axis=1) & ~rows.all(axis=1)
    if mixed.any():
        raise ValueError(
            f"options['reset_mask']: found some of the rows of world {mixed.argmax()}, expected all"
            f" {rows.shape[1]} or none: its agents begin together"
        )
    return rows[:, 0]


def seed_list(seed: Any, count: int) -> Sequence[int | None]:
    """Returns the seed of each of `count` envs; None means that the env continues its random stream. ValueError for
    anything else."""
    if seed is None:
        return [None] * count
    if isinstance(seed, int | np.integer):
        first = checked_seed(seed)
        return [first + i for i in range(count)]
    listed = isinstance(seed, Sequence) or (isinstance(seed, np.ndarray) and seed.ndim > 0)
    if isinstance(seed, str | bytes) or not listed:
        checked_seed(seed)
    if len(seed) != count:
        raise ValueError(f"seed: found a list of {len(seed)}, expected {count}, one for each env")
    return [None if value is None else checked_seed(value) for value in seed]


def check_flat_out(out: Any, shape: tuple[int, ...]) -> None:
    """Does the same as `check_out` for observations that are one array."""
    if not isinstance(out, np.ndarray) or out.dtype != np.float32 or out.shape != shape:
        found = f"{out.dtype} {out.shape}" if isinstance(out, np.ndarray) else f"a {type(out).__name__}"
        raise ValueError(f"out: found {found}, expected a writeable array of float32 {shape}")
    if not out.flags.writeable:
        raise ValueError("out: found an array that is read-only, expected a writeable one")


def check_out(out: Any, arrays: Arrays, copied: bool) -> None:
    """Raises TypeError or ValueError if the observations cannot be written into a caller's arrays.

    Args:
        out: the caller's arrays.
        arrays: the batch's own arrays.
        copied: the caller gets copies, so it has none of the batch's own arrays.
    """
    if not isinstance(out, Mapping):
        raise TypeError(f"out: found a {type(out).__name__}, expected a dict of arrays")
    if out.keys() != arrays.keys():
        raise ValueError(f"out: found the keys {', '.join(map(str, out))}, expected {', '.join(arrays)}")
    for key, array in arrays.items():
        found, target = "", out[key]
        if not isinstance(target, np.ndarray):
            found = f"a {type(target).__name__}"
        elif target.dtype != array.dtype or target.shape != array.shape:
            found = f"{target.dtype} {target.shape}"
        elif not target.flags.writeable:
            found = "an array that is read-only"
        if found:
            raise ValueError(
                f"out[{key!r}]: found {found}, expected a writeable array of {array.dtype} {array.shape}"
            )
    for key, other in combinations(arrays, 2):
        if _overlap(out[key], out[other]):
            raise ValueError(f"out[{key!r}]: shares memory with out[{other!r}], expected an array of its own")
    if copied:
        return
    for key, other in permutations(arrays, 2):  # the caller may hold the batch's own arrays
        if _overlap(out[key], arrays[other]):
            raise ValueError(f"out[{key!r}]: is where the batch has '{other}', expected another array")


def as_actions(actions: Any, shape: tuple[int, ...]) -> npt.NDArray[np.float32]:
    """Returns actions as the batch takes them: float32, C order, the right shape. They are copied only if necessary."""
    if isinstance(actions, np.ndarray) and actions.dtype == _FLOAT32 and actions.flags.c_contiguous:
        array = actions
    else:
        found = np.asarray(actions)
        if found.dtype.kind not in "biuf":
            raise ValueError(f"action: found an array of {found.dtype}, expected real numbers")
        with np.errstate(over="ignore"):  # values beyond float32 become infinite; the batch checks for that
            array = np.ascontiguousarray(found, dtype=np.float32)
    if array.shape != shape:
        raise ValueError(f"action: found shape {array.shape}, expected {shape}")
    return array


def _overlap(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> bool:
    return np.may_share_memory(a, b) and np.shares_memory(a, b)  # the fast test of bounds decides most cases


def checked_key(seed: Any, name: str = "seed") -> int:
    """Returns a 64-bit seed as an int. ValueError for anything else."""
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or not 0 <= seed < 2**64:
        raise ValueError(f"{name}: found {seed!r}, expected an integer from 0 to 2**64 - 1")
    return int(seed)


def variables_as_text(variables: Any) -> dict[str, str]:
    """Returns the variables of a world file as texts. TypeError for anything but a dict."""
    if variables is None:
        return {}
    if not isinstance(variables, Mapping):
        raise TypeError(f"variables: found {kind_of(variables)}, expected a dict")
    return {
        checked_text("variables", name): checked_text(f"variables[{name!r}]", str(value))
        for name, value in variables.items()
    }


def number(name: str, value: float) -> float:
    """Returns the value of `name` as a float. TypeError if it is no number, ValueError if a float cannot hold it."""
    # float() would read a text as a number
    if isinstance(value, str | bytes | complex) or (
        not hasattr(value, "__float__") and not hasattr(value, "__index__")
    ):
        raise TypeError(f"{name}: found {value!r}, expected a number")
    try:
        return float(value)
    except OverflowError:  # an integer or a fraction beyond 1e308
        raise ValueError(f"{name}: found a number beyond 1e308, expected a finite one") from None
