"""Gymnasium's info dicts from the dense columns of a batch."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from mvsim_gym import _core

_TYPES: dict[str, type] = {"bool": bool, "int": int, "float": float}
Mask = npt.NDArray[np.bool_]


class InfoTable:
    """The info columns of a batch. Most steps have none, and finding that out costs two looks at a mask."""

    def __init__(self, batch: _core.Batch) -> None:
        self._columns = [
            (key, _TYPES[kind], values, mask) for key, kind, values, mask in batch.info_columns()
        ]
        self._finished = batch.finished
        # the one key that a step may have without ending an episode
        self._bad = next(mask for key, _, _, mask in self._columns if key == "bad_action")

    def of_env(self, i: int) -> dict[str, Any]:
        """What one env has to say: Python bools, ints and floats."""
        if not self._bad[i]:  # an episode's end has it always
            return {}
        return {key: kind(values[i]) for key, kind, values, mask in self._columns if mask[i]}

    def of_envs(self, among: Mask | None = None) -> dict[str, Any]:
        """What all envs, or those of a mask, have to say: an array of values and a mask `_key` for each key
        that some env has, as Gymnasium's SyncVectorEnv puts them together."""
        infos: dict[str, Any] = {}
        if not self._bad.any():
            return infos
        for key, kind, values, mask in self._columns:
            has = mask.copy() if among is None else mask & among
            if has.any():
                infos[key] = np.where(has, values, 0).astype(kind)
                infos["_" + key] = has
        return infos
