"""What the calls of a vector environment return of its observations: copies, the batch's own arrays, one vector, arrays
of the caller's, or arrays on a GPU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from mvsim_gym import _core
from mvsim_gym._build import Recipe, arrays_of
from mvsim_gym._checks import check_flat_out, check_out
from mvsim_gym._copies import Copier
from mvsim_gym._device import array_of
from mvsim_gym._flatten import flattened
from mvsim_gym._terms import Terms


class Outputs:
    """The observations of a batch, as its options want them.

    Args:
        batch: the batch.
        keys: its observations and those of terms, in the order of the space.
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
        # images on a GPU are never copied: each moment has handles of its own
        self._on_device = {
            o.key: i
            for i, o in enumerate(batch.observations)
            if isinstance(self._arrays[o.key], _core.DeviceArray)
        }

    def latest(self, out: Any = None) -> Any:
        """The observations, in the caller's arrays if there are such."""
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
        """The last observations of rows that ended, in mode SAME_STEP."""
        for key, i in self._on_device.items():
            self._final[key] = array_of(self._batch, i, final=True)
        return self._final

    def check(self, out: Any) -> None:
        """TypeError or ValueError for arrays of the caller's that cannot take the observations."""
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
