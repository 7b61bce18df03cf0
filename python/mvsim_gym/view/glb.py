"""Meshes of a scene as binary glTF, which browsers draw. Axes are kept: x forward, z up, metres."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from mvsim_gym._picture import png_of

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
