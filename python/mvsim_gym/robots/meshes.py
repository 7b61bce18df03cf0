"""Reads meshes (STL, OBJ, Collada) within bounds: corners for outlines and the sizes of wheels, triangles with their
colours for drawing. Writes triangles with plain colours as a binary glTF 2.0 file (`.glb`)."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from mvsim_gym.robots.collada import collada_corners, collada_triangles
from mvsim_gym.robots.description import Array, color_of
from mvsim_gym.robots.elements import ImportRobotError

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


_MAX_CORNERS = 15_000_000
_MAX_MATERIAL_FILES = 16
Beside = Callable[[str], "bytes | None"]


def mesh_corners(data: bytes, name: str) -> Array:
    """Returns the corners of a mesh, (n, 3), in metres, in the axes of robot descriptions (z up).

    Raises:
        ImportRobotError: the file is damaged, too large, or of another format.
    """
    kind = name.lower().rsplit(".", 1)[-1]
    try:
        if kind == "stl":
            corners = _stl(data)
        elif kind == "obj":
            corners = _obj(data)
        elif kind == "dae":
            corners = collada_corners(data, name)
        else:
            raise ImportRobotError(f"{name}: found a mesh of the kind '{kind}', expected stl, obj or dae")
    except (ValueError, IndexError, KeyError, UnicodeError) as error:
        raise _damaged(name, error) from None
    _check(corners, name)
    return corners


def mesh_triangles(data: bytes, name: str) -> Array:
    """Returns the triangles of a mesh, (n, 3, 3), in metres. The same rules as for `mesh_corners` hold.

    Raises:
        ImportRobotError: the file is damaged, too large, or of another format.
    """
    return np.concatenate([np.zeros((0, 3, 3)), *(part.triangles for part in mesh_parts(data, name))])


def mesh_parts(data: bytes, name: str, beside: Beside | None = None) -> list[Part]:
    """Returns the triangles of a mesh by their materials. The same rules as for `mesh_corners` hold.

    Args:
        data: the file.
        name: its name, whose end tells the format.
        beside: function that returns the bytes of a material file of an OBJ; None if it is not there.

    Raises:
        ImportRobotError: the file is damaged, too large, or of another format.
    """
    kind = name.lower().rsplit(".", 1)[-1]
    corners = mesh_corners(data, name)
    if kind == "stl":
        return [Part(corners[: len(corners) // 3 * 3].reshape(-1, 3, 3))]
    try:
        found = (
            _obj_triangles(data, name, corners, beside) if kind == "obj" else collada_triangles(data, name)
        )
    except (ValueError, IndexError, KeyError, UnicodeError) as error:
        raise _damaged(name, error) from None
    parts = []
    for triangles, color, texture in found:
        if len(triangles):
            _check(triangles.reshape(-1, 3), name)
            parts.append(Part(triangles, color, texture))
    return parts


def _damaged(name: str, error: Exception) -> ImportRobotError:
    return error if isinstance(error, ImportRobotError) else ImportRobotError(f"{name}: damaged ({error})")


def _check(corners: Array, name: str) -> None:
    if len(corners) == 0:
        raise ImportRobotError(f"{name}: found no corner")
    if len(corners) > _MAX_CORNERS or not np.isfinite(corners).all() or np.abs(corners).max() > 1e6:
        raise ImportRobotError(f"{name}: found corners that are too many, not finite, or beyond 1e6 m")


def _stl(data: bytes) -> Array:
    if len(data) >= 84:
        count = int.from_bytes(data[80:84], "little")
        if len(data) == 84 + 50 * count:
            rows = np.frombuffer(data, dtype=[("v", "<f4", 12), ("a", "<u2")], offset=84, count=count)
            return rows["v"][:, 3:].reshape(-1, 3).astype(np.float64)
    words = [
        line.split()[1:4] for line in data.decode("ascii").splitlines() if line.lstrip().startswith("vertex")
    ]
    return np.array(words, dtype=np.float64).reshape(-1, 3)


def _obj(data: bytes) -> Array:
    lines = data.decode("utf-8", "replace").splitlines()
    return np.array([line.split()[1:4] for line in lines if line.startswith("v ")], dtype=np.float64).reshape(
        -1, 3
    )


def _obj_triangles(
    data: bytes, name: str, corners: Array, beside: Beside | None
) -> list[tuple[Array, str, bool]]:
    """Returns triangles, colour and texture of each material; polygons become fans."""
    faces: dict[str, list[tuple[int, int, int]]] = {}
    files: list[str] = []
    count, material = 0, ""
    for line in data.decode("utf-8", "replace").splitlines():
        if line.startswith("v "):
            count += 1
        elif line.startswith("f "):
            ids = [int(word.split("/")[0]) for word in line.split()[1:]]
            ids = [i - 1 if i > 0 else count + i for i in ids]
            faces.setdefault(material, []).extend((ids[0], a, b) for a, b in pairwise(ids[1:]))
        elif line.startswith("usemtl "):
            material = line[7:].strip()
        elif line.startswith("mtllib ") and len(files) < _MAX_MATERIAL_FILES:
            files.append(line[7:].strip())
    paints: dict[str, tuple[str, bool]] = {}
    for file in files:
        text = None if beside is None else beside(file)
        paints.update({} if text is None else _materials(text))
    found = []
    for material, own in faces.items():
        index: npt.NDArray[np.int64] = np.array(own, dtype=np.int64)
        if len(index) and (index.min() < 0 or index.max() >= len(corners)):
            raise ImportRobotError(f"{name}: a face names a corner that is not there")
        found.append((np.asarray(corners[index]), *paints.get(material, ("", False))))
    return found


def _materials(data: bytes) -> dict[str, tuple[str, bool]]:
    """Returns colour and texture of each material of an MTL file."""
    found: dict[str, tuple[str, bool]] = {}
    name = ""
    for line in data.decode("utf-8", "replace").splitlines():
        words = line.split()
        if len(words) < 2:
            continue
        color, texture = found.get(name, ("", False))
        if words[0] == "newmtl":
            name = line.split(None, 1)[1].strip()
            found[name] = "", False
        elif words[0] == "Kd" and len(words) == 4:
            found[name] = color_of([float(word) for word in words[1:]]), texture
        elif words[0] == "map_Kd":
            found[name] = color, True
    return found
