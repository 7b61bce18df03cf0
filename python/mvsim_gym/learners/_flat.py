"""Observations in the form of Stable-Baselines3 policies: scaled vectors, and pictures with channels first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

Rows = npt.NDArray[Any]

VECTOR = "vector"
"""Key of the vector of all other observations in a space with pictures."""


class FlatObservation:
    """Converts dicts of observations to those of `MVSimVecEnv`: vectors in [-1, 1], in the order of the space.
    Observations without bounds, as some terms in Python have, are not scaled.

    If the space has pictures (observations of two dimensions or more), the result is a dict with each picture under its
    key. The vector of all other observations, if there are any, is under "vector". Colours are unscaled uint8 (3,
    height, width), depths and ranges float32 (1, height, width) in [0, 1], and labels unscaled uint16 (1, height,
    width). A history adds channels, oldest first. Give policies of Stable-Baselines3 `normalize_images=False`, because
    otherwise they do not accept pictures of floats.

    Call it with the observations of a vector environment ({key: (n, size)}) or of a single one ({key: (size,)}) to use
    a trained policy: `model.predict(FlatObservation(envs.single_observation_space)(observation))`.

    Raises:
        ValueError: a picture has the key "vector".
    """

    def __init__(self, space: spaces.Dict) -> None:
        boxes: dict[str, Any] = dict(space.spaces)
        self._keys = list(boxes)
        self.pictures = [key for key, box in boxes.items() if len(box.shape) > 1]
        """Keys of the observations that are pictures."""
        if VECTOR in self.pictures:
            raise ValueError(
                f"found a picture with the key '{VECTOR}', which is the key of the vector, expected another key"
            )
        self._bounds = {key: (boxes[key].low, boxes[key].high) for key in self.pictures}
        vectors = {key: box for key, box in boxes.items() if key not in self.pictures}
        ends = np.cumsum([box.shape[0] for box in vectors.values()]).tolist()
        self.columns = {
            key: slice(end - box.shape[0], end) for (key, box), end in zip(vectors.items(), ends, strict=True)
        }
        """Slice of the vector for each observation that is no picture."""
        low, high = (
            np.concatenate([np.empty(0), *(getattr(box, bound).ravel() for box in vectors.values())]).astype(
                np.float32
            )
            for bound in ("low", "high")
        )
        self.highs = high
        """Upper bounds of the vector's values before they are scaled."""
        self._scaling = scaling(low, high)
        vector = self._scaling.space
        parts = {key: _channels_first(boxes[key]) for key in self.pictures}
        self.space: spaces.Box | spaces.Dict = (
            spaces.Dict({**parts, **({VECTOR: vector} if vectors else {})}) if parts else vector
        )

    def __call__(self, observation: Mapping[str, Rows]) -> Any:
        """Converts {key: (n, ...)} to (n, sum of sizes), float32, in a new array; also without n. With pictures the
        result is a dict of new arrays."""
        return self.of([observation[key] for key in self._keys])

    def of(self, rows: Sequence[Rows]) -> Any:
        """Does the same for a list of arrays in the order of the space."""
        named = dict(zip(self._keys, rows, strict=True))
        vectors = [named[key] for key in self._keys if key not in self.pictures]
        if not self.pictures:
            return self._vector(vectors)
        out = {key: self._picture(key, named[key]) for key in self.pictures}
        return {**out, VECTOR: self._vector(vectors)} if vectors else out

    def _vector(self, rows: list[Rows]) -> npt.NDArray[np.float32]:
        return scale(np.concatenate(rows, axis=-1, dtype=np.float32), self._scaling)

    def _picture(self, key: str, rows: Rows) -> Rows:
        low, high = self._bounds[key]
        lead = rows.shape[: rows.ndim - low.ndim]
        if rows.dtype != np.float32:
            return _ordered(rows, lead)
        return _ordered((rows - low) / np.where(high > low, high - low, np.float32(1)), lead)


class Scaling(NamedTuple):
    """Scale and offset that map vectors between bounds to [-1, 1]. Values without finite bounds do not change."""

    factor: npt.NDArray[np.float32]
    offset: npt.NDArray[np.float32]
    space: spaces.Box
    """Bounds of the result."""


def scaling(low: Rows, high: Rows) -> Scaling:
    """Returns the scaling for the bounds of vectors."""
    bounded = np.isfinite(low) & np.isfinite(high)
    space = spaces.Box(
        np.where(bounded, -1, low).astype(np.float32),
        np.where(bounded, 1, high).astype(np.float32),
        dtype=np.float32,
    )
    low, high = np.where(bounded, low, np.float32(-1)), np.where(bounded, high, np.float32(1))
    factor = (2 / np.where(high > low, high - low, 1)).astype(np.float32)
    return Scaling(factor, (-1 - low * factor).astype(np.float32), space)


def scale(vectors: npt.NDArray[np.float32], by: Scaling) -> npt.NDArray[np.float32]:
    """Scales vectors in place."""
    vectors *= by.factor
    vectors += by.offset
    return np.clip(vectors, by.space.low, by.space.high, out=vectors)


def _ordered(rows: Rows, lead: tuple[int, ...]) -> Rows:
    """Converts a picture (lead..., [history,] height, width[, 3]) to a new array (lead..., channels, height, width)."""
    own = rows.shape[len(lead) :]
    if rows.dtype == np.uint8 and len(own) > 2 and own[-1] == 3:  # colours
        rows, own = np.moveaxis(rows, -1, -3), (*own[:-3], 3, *own[-3:-1])
    return np.array(rows, order="C").reshape((*lead, -1, *own[-2:]))


def _channels_first(box: spaces.Box) -> spaces.Box:
    low, high = (_ordered(bound, ()) for bound in (box.low, box.high))
    if box.dtype == np.float32:
        return spaces.Box(0.0, 1.0, low.shape, np.float32)
    assert box.dtype is not None
    return spaces.Box(low, high, low.shape, box.dtype.type)


def refuse_waiting(num_agents: int, on_end: str, library: str, instead: str = "") -> None:
    """Raises ValueError if agents of a world may wait for each other. Their rows are zero while they wait, and a
    learner without a mask would learn from them. `instead` ends the message."""
    if num_agents > 1 and on_end == "wait":
        raise ValueError(
            f"on_end: found 'wait', where rows may have no robot for a while, but {library} cannot mask them,"
            f" expected 'respawn' or 'end_all'{instead}"
        )
