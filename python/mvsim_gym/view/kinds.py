"""Meshes of a world's bodies: one for all bodies that look alike."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mvsim_gym import _core
from mvsim_gym.view.glb import glb_of

__all__ = ["Kind", "kinds_of"]

_ARRAYS = ("positions", "normals", "colors", "uvs", "indices")


class Kind(NamedTuple):
    """A mesh and the poses at which it is drawn."""

    glb: bytes
    frames: npt.NDArray[np.int64]
    """indices into the array of poses; the mesh has a copy at each"""


def kinds_of(model: _core.Model) -> list[Kind]:
    """Returns all meshes of a world. Meshes that are fixed to the world are kinds with frame 0 only."""
    textures = _core.scene_textures(model)
    parts: dict[tuple[Any, ...], tuple[dict[str, Any], list[int]]] = {}
    for part in _core.scene_meshes(model):
        looks = tuple(part[name].tobytes() for name in _ARRAYS)
        key = (part["texture"], part["glass"], part["both_sides"], *looks)
        parts.setdefault(key, (part, []))[1].append(part["frame"])
    return [
        Kind(glb_of(part, textures[part["texture"]] if part["texture"] >= 0 else None), np.array(frames))
        for part, frames in parts.values()
        if len(part["indices"])
    ]
