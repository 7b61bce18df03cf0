"""Gymnasium's info dicts from the dense columns of a batch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from mvsim_gym import _core
from mvsim_gym._outputs import flattened

if TYPE_CHECKING:
    from mvsim_gym._terms import Terms

_TYPES: dict[str, type] = {"bool": bool, "int": int, "float": float}
Mask = npt.NDArray[np.bool_]


class InfoTable:
    """The info columns of a batch. Most steps have no info, and this is found with two lookups in a mask."""

    def __init__(self, batch: _core.Batch, terms: Terms | None = None) -> None:
        self.moment = 0
        """Counts the calls that change the infos."""
        self._batch = batch
        of_terms = terms.columns() if terms else []
        self._columns = [
            (key, _TYPES[kind], values, mask) for key, kind, values, mask in batch.info_columns() + of_terms
        ]
        self._terms = terms
        self._dicts = _core.InfoDicts(batch)
        self._term_columns = self._columns[len(self._columns) - len(of_terms) :]
        self._finished = batch.finished
        # the only key that a step can have without ending an episode
        self._bad = next(mask for key, _, _, mask in self._columns if key == "bad_action")

    def of_env(self, i: int) -> dict[str, Any]:
        """Returns the info of one env: Python bools, ints and floats."""
        if not self._bad[i]:  # set at each end of an episode
            return {}
        return {key: kind(values[i]) for key, kind, values, mask in self._columns if mask[i]}

    def of_cut(self) -> dict[str, Any]:
        """Returns the info of a single env when something outside of it ends its episode in this step."""
        self._batch.report_cut(0)
        return self.of_env(0) | (self._terms.of_cut() if self._terms else {})

    def of_envs(self, among: Mask | None = None) -> dict[str, Any]:
        """Returns the infos of all envs, or of those in a mask. Each key has an array of values and a mask `_key`, as
        in Gymnasium's SyncVectorEnv."""
        infos = self._dicts.of_rows(among)
        if not infos:
            return infos
        for key, kind, values, mask in self._term_columns:
            has = mask.copy() if among is None else mask & among
            if has.any():
                infos[key] = np.where(has, values, 0).astype(kind)
                infos["_" + key] = has
        return infos

    def of_same_step(self, final: Mapping[str, npt.NDArray[Any]], flat: bool) -> dict[str, Any]:
        """Returns the infos of a step in mode SAME_STEP, which resets ended episodes at once. `final`: the last
        observations of all rows, passed on as dicts or as vectors."""
        ended = self._finished.copy()
        if not ended.any():
            return self.of_envs()
        last = np.full(len(ended), None, dtype=object)
        for i in ended.nonzero()[0]:
            own = {key: array[i].copy() for key, array in final.items()}
            last[i] = flattened(own.values()) if flat else own
        return {
            "final_obs": last,
            "_final_obs": ended,
            "final_info": self.of_envs(ended),
            "_final_info": ended.copy(),
            **self.of_envs(~ended),
        }


class OpenInfo(dict[str, Any]):
    """The info of a step that ended no episode: empty, or with `bad_action`.

    A limit outside of the environment (`gymnasium.wrappers.TimeLimit`) may still end the episode in this step. A key of
    an episode's end is therefore computed when it is read, as for a time limit of the environment itself. It can be
    read until the next step. A copy is a plain dict.
    """

    __slots__ = ("_moment", "_table")

    def __init__(self, table: InfoTable) -> None:
        self._table = table
        self._moment = table.moment

    def __missing__(self, key: str) -> Any:
        if self._moment != self._table.moment:
            raise KeyError(f"{key}: this step ended no episode, and the environment has gone on since")
        self.update(self._table.of_cut())
        if key not in self:
            raise KeyError(key)
        return self[key]

    def __copy__(self) -> dict[str, Any]:
        return dict(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> dict[str, Any]:
        return dict(self)  # holds only bools, numbers and texts

    def __reduce__(self) -> Any:
        return dict, (dict(self),)
