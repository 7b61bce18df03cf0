"""Observations as calls return them: copies, the batch's own arrays, one vector, the caller's arrays, or arrays on a
GPU."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from mvsim_gym import _core
from mvsim_gym._checks import check_flat_out, check_out

if TYPE_CHECKING:
    from mvsim_gym import _core
    from mvsim_gym._build import Recipe
    from mvsim_gym._terms import Terms


def array_of(batch: _core.Batch, key: int, final: bool = False) -> Any:
    """Returns an observation of all rows: a NumPy array that the batch rewrites, or a view of GPU memory."""
    on_device = _core.device_array(batch, key, final)
    if on_device is not None:
        return on_device
    return batch.final_observation(key) if final else batch.observation(key)


def on_host(array: Any) -> npt.NDArray[Any]:
    return array.to_numpy() if isinstance(array, _core.DeviceArray) else np.asarray(array)


LARGE = 1 << 17  # bytes from which a copy by the threads is faster than one by the caller


class Copier:
    """Copies the arrays of a batch and further arrays."""

    def __init__(self, batch: _core.Batch, observations: dict[str, Any]) -> None:
        self._batch = batch
        index = {o.key: i for i, o in enumerate(batch.observations)} if batch.num_threads > 1 else {}
        self._large = {
            key: index[key]
            for key, array in observations.items()
            if key in index and isinstance(array, np.ndarray) and array.nbytes >= LARGE
        }

    def copies(self, observations: dict[str, Any]) -> dict[str, Any]:
        """Returns new arrays with the present values of these."""
        large = self._large
        if not large:
            return {key: array.copy() for key, array in observations.items()}
        out = {
            key: np.empty_like(array) if key in large else array.copy() for key, array in observations.items()
        }
        self._batch.copy_observations([(i, out[key]) for key, i in large.items()])
        return out


def flat_space(space: spaces.Dict) -> spaces.Box:
    """Returns one float32 box: the observations in the order of their keys, each with its history, oldest first. Values
    are in physical units, unscaled.

    Raises:
        ValueError: an observation has more than one dimension, as pictures have; the message names it.
    """
    boxes = {key: box for key, box in space.spaces.items() if isinstance(box, spaces.Box)}
    for key, box in boxes.items():
        if len(box.shape) != 1:
            raise ValueError(
                f"flatten: the observation '{key}' has the shape {box.shape}, expected vectors only: leave it out by"
                f" observe={{'{key}': False}}, or take the dict"
            )
    low, high = (
        np.concatenate([getattr(box, bound) for box in boxes.values()]).astype(np.float32)
        for bound in ("low", "high")
    )
    return spaces.Box(low, high, dtype=np.float32)


def flattened(
    arrays: Iterable[npt.NDArray[np.generic]], out: npt.NDArray[np.float32] | None = None
) -> npt.NDArray[np.float32]:
    """Returns arrays (n, size) or (size,) end to end, in the order of the space: as a new array, or in `out`."""
    if out is not None:
        return np.concatenate(list(arrays), axis=-1, out=out, casting="same_kind")
    return np.concatenate(list(arrays), axis=-1, dtype=np.float32, casting="same_kind")


Observation = dict[str, npt.NDArray[Any]]


def arrays_of(
    batch: _core.Batch, keys: Sequence[str], terms: Terms | None
) -> tuple[Observation, Observation]:
    """Returns the arrays of observations and of final observations, in the order of the keys, from the batch and the
    terms."""
    index = {o.key: i for i, o in enumerate(batch.observations)}
    current, final = {}, {}
    for key in keys:
        if key in index:
            current[key], final[key] = array_of(batch, index[key]), array_of(batch, index[key], final=True)
        else:
            assert terms is not None
            current[key], final[key] = terms.current[key], terms.final[key]
    return current, final


class Outputs:
    """The observations of a batch in the form that the options ask for.

    Args:
        batch: the batch.
        keys: names of its observations and those of terms, in the order of the space.
        terms: terms in Python.
        recipe: the options `copy`, `flatten` and `device`.
    """

    def __init__(self, batch: _core.Batch, keys: Sequence[str], terms: Terms | None, recipe: Recipe) -> None:
        self._arrays, self._final = arrays_of(batch, keys, terms)
        self._batch = batch
        self._copy: bool = recipe.options["copy"]
        self._is_flat: bool = recipe.options["flatten"]
        self._device: str = recipe.options["device"]
        self._copier = Copier(batch, self._arrays)
        self._flat: npt.NDArray[np.float32] | None = None
        self._flat_shape = flattened(self._arrays.values()).shape if self._is_flat else ()
        # Images on a GPU are never copied: each step returns handles of its own.
        self._on_device = {
            o.key: i
            for i, o in enumerate(batch.observations)
            if isinstance(self._arrays[o.key], _core.DeviceArray)
        }

    def latest(self, out: Any = None) -> Any:
        """Returns the observations, in the caller's arrays if given."""
        arrays = self._arrays
        if self._is_flat:
            if out is None and not self._copy:
                if self._flat is None:
                    self._flat = flattened(arrays.values())
                out = self._flat
            return flattened(arrays.values(), out)
        if self._on_device:
            return self._renewed()
        if out is None:
            return self._copier.copies(arrays) if self._copy else arrays
        for key, array in arrays.items():
            np.copyto(out[key], array)
        return out

    def final(self) -> dict[str, Any]:
        """Returns the last observations of rows that ended, in mode SAME_STEP."""
        for key, i in self._on_device.items():
            self._final[key] = array_of(self._batch, i, final=True)
        return self._final

    def check(self, out: Any) -> None:
        """Raises TypeError or ValueError if the caller's arrays cannot take the observations."""
        if self._on_device:
            raise ValueError(
                f"out: found with device={self._device!r}, whose images are no NumPy arrays; copy them where they are:"
                " buffer[t].copy_(torch.from_dlpack(observation['image']))"
            )
        if self._is_flat:
            check_flat_out(out, self._flat_shape)
        else:
            check_out(out, self._arrays, self._copy)

    def _renewed(self) -> dict[str, Any]:
        for key, i in self._on_device.items():
            self._arrays[key] = array_of(self._batch, i)
        if not self._copy:
            return dict(self._arrays)
        return {key: a if key in self._on_device else a.copy() for key, a in self._arrays.items()}
