"""Copies of observations: small arrays by NumPy, pictures by the threads of the batch that have just drawn them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from mvsim_gym import _core

LARGE = 1 << 17  # bytes from which a hand-over to the threads costs less than what it saves


class Copier:
    """Copies the arrays of a batch, and others beside them."""

    def __init__(self, batch: _core.Batch, observations: dict[str, Any]) -> None:
        self._batch = batch
        index = {o.key: i for i, o in enumerate(batch.observations)} if batch.num_threads > 1 else {}
        self._large = {
            key: index[key]
            for key, array in observations.items()
            if key in index and isinstance(array, np.ndarray) and array.nbytes >= LARGE
        }

    def copies(self, observations: dict[str, Any]) -> dict[str, Any]:
        """New arrays with what these hold now."""
        large = self._large
        if not large:
            return {key: array.copy() for key, array in observations.items()}
        out = {
            key: np.empty_like(array) if key in large else array.copy() for key, array in observations.items()
        }
        self._batch.copy_observations([(i, out[key]) for key, i in large.items()])
        return out
