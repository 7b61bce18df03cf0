"""Writes triangles with plain colours as a binary glTF 2.0 file (`.glb`)."""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mvsim_gym.robots.description import Array

_FLOAT, _POSITIONS = 5126, 34962
_DEFAULT_COLOR = "#b4b4b4"


@dataclass
class Part:
    """Triangles, (n, 3, 3) in metres, of one colour: #rrggbb, #rrggbbaa, or empty for grey."""

    triangles: Array
    color: str = ""
    texture: bool = False
    """whether its source has a texture, which is left out"""


def glb_of(parts: Sequence[Part]) -> bytes:
    """Returns a file of these parts. Parts of one colour become one mesh. The file's y axis is the parts' z axis."""
    colors: dict[str, list[Array]] = {}
    for part in parts:
        colors.setdefault(part.color or _DEFAULT_COLOR, []).append(part.triangles)
    data = bytearray()
    document: dict[str, Any] = {
        "asset": {"version": "2.0", "generator": "mvsim-gym import"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": []}],
        "materials": [_material(color) for color in colors],
        "accessors": [],
        "bufferViews": [],
    }

    for index, triangles in enumerate(colors.values()):
        # corners are not shared: the simulator smooths edges by their angle, which shared corners would prevent
        corners = np.concatenate(triangles).reshape(-1, 3)
        upright = np.stack([corners[:, 0], corners[:, 2], -corners[:, 1]], axis=1).astype("<f4")
        document["bufferViews"].append(
            {"buffer": 0, "byteOffset": len(data), "byteLength": upright.nbytes, "target": _POSITIONS}
        )
        document["accessors"].append(
            {
                "bufferView": index,
                "componentType": _FLOAT,
                "type": "VEC3",
                "count": len(upright),
                "min": upright.min(axis=0).tolist(),
                "max": upright.max(axis=0).tolist(),
            }
        )
        document["meshes"][0]["primitives"].append({"attributes": {"POSITION": index}, "material": index})
        data.extend(upright.tobytes())
    document["buffers"] = [{"byteLength": len(data)}]
    text = json.dumps(document, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 4)
    chunks = struct.pack("<I4s", len(text), b"JSON") + text + struct.pack("<I4s", len(data), b"BIN\0") + data
    return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks


def _material(color: str) -> dict[str, Any]:
    shares = [int(color[i : i + 2], 16) / 255 for i in range(1, len(color), 2)]
    found: dict[str, Any] = {
        "pbrMetallicRoughness": {"baseColorFactor": [*shares, 1.0][:4], "metallicFactor": 0},
        "name": color,
    }
    if len(shares) == 4:
        found["alphaMode"] = "BLEND"
    return found
