"""Observations of all keys as one vector."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
from gymnasium import spaces


def flat_space(space: spaces.Dict) -> spaces.Box:
    """One float32 box: the observations in the order of the space, which is that of their keys, each with its history
    as it stands, oldest first. Of numbers as they are, unscaled.

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
    """Arrays (n, size) or (size,), in the order of the space, end to end: a new array, or `out`."""
    if out is not None:
        return np.concatenate(list(arrays), axis=-1, out=out, casting="same_kind")
    return np.concatenate(list(arrays), axis=-1, dtype=np.float32, casting="same_kind")
