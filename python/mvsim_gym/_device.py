"""Observations where they lie: NumPy arrays of the host, or arrays on a GPU, which leave by DLPack."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from mvsim_gym import _core


def array_of(batch: _core.Batch, key: int, final: bool = False) -> Any:
    """An observation of all rows: a NumPy array that the batch rewrites, or what a GPU's memory shows until then."""
    on_device = _core.device_array(batch, key, final)
    if on_device is not None:
        return on_device
    return batch.final_observation(key) if final else batch.observation(key)


def on_host(array: Any) -> npt.NDArray[Any]:
    """The same as a NumPy array."""
    return array.to_numpy() if isinstance(array, _core.DeviceArray) else np.asarray(array)
