"""Meshes of all bodies of all worlds on a server, moved by arrays of poses. Browsers draw them as binary glTF, in which
axes are kept: x forward, z up, metres."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mvsim_gym import _core
from mvsim_gym._picture import png_of
from mvsim_gym.view.moment import Group
from mvsim_gym.view.stream import Stream

if TYPE_CHECKING:
    import viser

_FLOAT, _UINT16, _UINT32 = 5126, 5123, 5125  # component types of glTF
_JSON, _BIN = b"JSON", b"BIN\0"


def glb_of(part: Mapping[str, Any], texture: npt.NDArray[np.uint8] | None) -> bytes:
    """Returns a part of `_core.scene_meshes` as a file; `texture` is (height, width, 4)."""
    file = _File()
    material: dict[str, Any] = {
        "pbrMetallicRoughness": {"metallicFactor": 0, "roughnessFactor": 0.9},
        "doubleSided": part["both_sides"],
    }
    if part["glass"]:
        material["alphaMode"] = "BLEND"
    positions = np.ascontiguousarray(part["positions"], np.float32)
    bounds = {"min": positions.min(axis=0).tolist(), "max": positions.max(axis=0).tolist()}
    attributes = {
        "POSITION": file.add(positions, _FLOAT, "VEC3", **bounds),
        "NORMAL": file.add(part["normals"], _FLOAT, "VEC3"),
        "COLOR_0": file.add(_linear(part["colors"]), _UINT16, "VEC4", normalized=True),
    }
    if texture is not None:
        attributes["TEXCOORD_0"] = file.add(part["uvs"], _FLOAT, "VEC2")
        image = {"bufferView": file.view(png_of(texture)), "mimeType": "image/png"}
        file.top |= {"images": [image], "textures": [{"source": 0, "sampler": 0}], "samplers": [{}]}
        material["pbrMetallicRoughness"]["baseColorTexture"] = {"index": 0}
    indices = file.add(part["indices"], _UINT32, "SCALAR")
    file.top |= {
        "materials": [material],
        "meshes": [{"primitives": [{"attributes": attributes, "indices": indices, "material": 0}]}],
        "nodes": [{"mesh": 0}],
        "scenes": [{"nodes": [0]}],
        "scene": 0,
    }
    return file.bytes()


class _File:
    """Collects arrays and returns the index of each."""

    def __init__(self) -> None:
        self.top: dict[str, Any] = {"asset": {"version": "2.0"}, "accessors": [], "bufferViews": []}
        self._data = bytearray()

    def view(self, data: bytes) -> int:
        self._data += b"\0" * (-len(self._data) % 4)
        self.top["bufferViews"].append({"buffer": 0, "byteOffset": len(self._data), "byteLength": len(data)})
        self._data += data
        return len(self.top["bufferViews"]) - 1

    def add(self, values: npt.NDArray[Any], kind: int, shape: str, **more: Any) -> int:
        self.top["accessors"].append(
            {
                "bufferView": self.view(values.tobytes()),
                "componentType": kind,
                "count": len(values),
                "type": shape,
                **more,
            }
        )
        return len(self.top["accessors"]) - 1

    def bytes(self) -> bytes:
        self._data += b"\0" * (-len(self._data) % 4)
        self.top["buffers"] = [{"byteLength": len(self._data)}]
        text = json.dumps(self.top).encode()
        text += b" " * (-len(text) % 4)
        body = b"".join(
            struct.pack("<I", len(chunk)) + kind + bytes(chunk)
            for kind, chunk in ((_JSON, text), (_BIN, self._data))
        )
        return b"glTF" + struct.pack("<II", 2, 12 + len(body)) + body


def _linear(colors: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint16]:
    """Converts colours (sRGB) to the linear colours of glTF's vertices; alpha is linear already."""
    given = colors.astype(np.float64) / 255
    linear = np.where(given <= 0.04045, given / 12.92, ((given + 0.055) / 1.055) ** 2.4)
    linear[:, 3] = given[:, 3]
    return np.round(65535 * linear).astype(np.uint16)


Arrays = tuple[npt.NDArray[np.float32], npt.NDArray[np.float32], npt.NDArray[np.float32]]
_PROPERTIES = ("batched_positions", "batched_wxyzs", "batched_scales")
"""The library's names for the results of `instances_of`."""
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


def instances_of(
    frames: npt.NDArray[np.int64], poses: npt.NDArray[np.float32], offsets: npt.NDArray[np.float32]
) -> Arrays:
    """Returns positions (frames, envs, 3), quaternions w, x, y, z (frames, envs, 4) and scales (frames, envs, 3).

    Args:
        poses: (envs, all frames, 8), as in `Group`.
        offsets: (envs, 3), position of each env's world, m.
    """
    own = poses.transpose(1, 0, 2).take(frames, axis=0)
    scales = np.ones((*own.shape[:2], 3), np.float32)
    scales[..., :2] = own[..., 7:]
    return own[..., :3] + offsets, np.ascontiguousarray(own[..., 3:7]), scales


class _Shown:
    def __init__(self, server: viser.ViserServer, stream: Stream, name: str, kind: Kind) -> None:
        self.kind = kind
        self.sent: tuple[npt.NDArray[np.float32], ...] = ()
        """Positions, quaternions and scales that browsers have, with a row for each copy."""
        self._server, self._stream, self._name = server, stream, name
        self._handle: viser.BatchedGlbHandle | None = None
        self._bytes: tuple[bytes, ...] = ()  # the bytes of `sent`

    def show(self, arrays: tuple[npt.NDArray[np.float32], ...]) -> None:
        now = tuple(values.reshape(-1, values.shape[-1]) for values in arrays)
        as_bytes = tuple(values.tobytes() for values in now)
        if self._handle is None:
            places, turns, scales = now
            self._handle = self._server.scene.add_batched_glb(
                self._name, self.kind.glb, turns, places, batched_scales=scales, lod="off"
            )
        elif as_bytes != self._bytes:
            both = zip(_PROPERTIES, now, as_bytes, self._bytes, strict=True)
            self._stream.update(self._name, {key: values for key, values, new, old in both if new != old})
        self.sent, self._bytes = now, as_bytes

    def set_visible(self, visible: bool) -> None:
        if self._handle is not None:
            self._handle.visible = visible


class _ShownWorld:
    def __init__(self, server: viser.ViserServer, stream: Stream, prefix: str, model: _core.Model) -> None:
        self.model = model  # kept alive, so that no other model gets its id
        kinds = sorted(kinds_of(model), key=lambda kind: bool(kind.frames.any()))
        self.kinds = [_Shown(server, stream, f"{prefix}_{i}", kind) for i, kind in enumerate(kinds)]
        # number of kinds that are part of the world, which come first
        self._standing = sum(not kind.frames.any() for kind in kinds)
        self._frames = np.concatenate([np.zeros(0, np.int64), *(kind.frames for kind in kinds)])
        self._ends = np.cumsum([0, *(len(kind.frames) for kind in kinds)]).tolist()
        self._envs, self._offsets = b"", b""
        self._is_visible = True

    def show(self, group: Group, offset_of: npt.NDArray[np.float32]) -> None:
        self._set_visible(True)
        envs, offsets = group.envs.tobytes(), offset_of[group.envs]
        stays = envs == self._envs and offsets.tobytes() == self._offsets
        self._envs, self._offsets = envs, offsets.tobytes()
        first = self._standing if stays else 0
        start = self._ends[first]
        arrays = instances_of(self._frames[start:], group.poses, offsets)
        for k in range(first, len(self.kinds)):
            rows = slice(self._ends[k] - start, self._ends[k + 1] - start)
            self.kinds[k].show(tuple(values[rows] for values in arrays))

    def hide(self) -> None:
        """Hides all copies until the world is shown again."""
        self._set_visible(False)

    def _set_visible(self, visible: bool) -> None:
        if visible != self._is_visible:
            self._is_visible = visible
            for kind in self.kinds:
                kind.set_visible(visible)


class Bodies:
    """Bodies of worlds, below a node of a server."""

    def __init__(self, server: viser.ViserServer, stream: Stream, parent: str) -> None:
        self._server, self._stream, self._parent = server, stream, parent
        self.worlds: dict[int, _ShownWorld] = {}
        """Worlds by the id of the model."""

    def show(self, groups: list[Group], offset_of: npt.NDArray[np.float32]) -> None:
        """Moves all bodies; `offset_of` has a row for each env. Worlds that are not in `groups` are hidden."""
        for group in groups:
            self._shown(group.model).show(group, offset_of)
        present = {id(group.model) for group in groups}
        for key, world in self.worlds.items():
            if key not in present:
                world.hide()

    def _shown(self, model: _core.Model) -> _ShownWorld:
        if id(model) not in self.worlds:
            prefix = f"{self._parent}/{len(self.worlds)}"
            self.worlds[id(model)] = _ShownWorld(self._server, self._stream, prefix, model)
        return self.worlds[id(model)]


def triangles(*meshes: tuple[Any, Any]) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.uint32]]:
    """Returns several meshes, each vertices and faces, as one mesh."""
    first, vertices, faces = 0, [], []
    for points, indices in meshes:
        vertices.append(np.asarray(points, np.float32))
        faces.append(np.asarray(indices, np.uint32) + first)
        first += len(points)
    return np.concatenate(vertices), np.concatenate(faces)
