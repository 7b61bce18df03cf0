"""Reads the corners of meshes (STL, OBJ, Collada) within bounds, for outlines and the sizes of wheels."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from mvsim_gym.robots.description import Array
from mvsim_gym.robots.elements import Element, ImportRobotError, Limits, parse_xml

__all__ = ["mesh_corners", "mesh_triangles"]

_MAX_CORNERS = 15_000_000


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
            corners = _collada(data, name)
        else:
            raise ImportRobotError(f"{name}: found a mesh of the kind '{kind}', expected stl, obj or dae")
    except (ValueError, IndexError, KeyError, UnicodeError) as error:
        if isinstance(error, ImportRobotError):
            raise
        raise ImportRobotError(f"{name}: damaged ({error})") from None
    if len(corners) == 0:
        raise ImportRobotError(f"{name}: found no corner")
    if len(corners) > _MAX_CORNERS or not np.isfinite(corners).all() or np.abs(corners).max() > 1e6:
        raise ImportRobotError(f"{name}: found corners that are too many, not finite, or beyond 1e6 m")
    return corners


def mesh_triangles(data: bytes, name: str) -> Array:
    """Returns the triangles of a mesh, (n, 3, 3), in metres. The same rules as for `mesh_corners` hold.

    Raises:
        ImportRobotError: the file is damaged, too large, or of another format.
    """
    corners = mesh_corners(data, name)
    kind = name.lower().rsplit(".", 1)[-1]
    if kind == "stl":
        return corners[: len(corners) // 3 * 3].reshape(-1, 3, 3)
    try:
        if kind == "obj":
            index = _obj_faces(data)
            if len(index) and (index.min() < 0 or index.max() >= len(corners)):
                raise ImportRobotError(f"{name}: a face names a corner that is not there")
            return np.asarray(corners[index])
        return _collada_triangles(data, name)
    except (ValueError, IndexError, KeyError, UnicodeError) as error:
        if isinstance(error, ImportRobotError):
            raise
        raise ImportRobotError(f"{name}: damaged ({error})") from None


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


def _obj_faces(data: bytes) -> npt.NDArray[np.int64]:
    """Returns (n, 3) corners of triangles, counted from 0; polygons become fans."""
    found = []
    count = 0
    for line in data.decode("utf-8", "replace").splitlines():
        if line.startswith("v "):
            count += 1
        elif line.startswith("f "):
            ids = [int(word.split("/")[0]) for word in line.split()[1:]]
            ids = [i - 1 if i > 0 else count + i for i in ids]
            found += [(ids[0], a, b) for a, b in pairwise(ids[1:])]
    return np.array(found, dtype=np.int64).reshape(-1, 3)


def _collada(data: bytes, name: str) -> Array:
    return _collada_scene(data, name, _collada_corners)


def _collada_triangles(data: bytes, name: str) -> Array:
    return _collada_scene(data, name, _collada_faces).reshape(-1, 3, 3)


def _collada_corners(geometry: Element, sources: dict[str, Element]) -> Array:
    parts = [_positions(item, sources) for item in geometry.walk() if item.tag == "vertices"]
    return np.concatenate(parts) if parts else np.zeros((0, 3))


def _collada_faces(geometry: Element, sources: dict[str, Element]) -> Array:
    """Returns the corners of all triangles in a row; polygons become fans."""
    found = [np.zeros((0, 3))]
    tables = {
        item.attributes.get("id", ""): _positions(item, sources)
        for item in geometry.walk()
        if item.tag == "vertices"
    }
    for primitive in (item for item in geometry.walk() if item.tag in ("triangles", "polylist")):
        inputs = list(primitive.each("input"))
        stride = 1 + max(int(item.attributes.get("offset", "0")) for item in inputs)
        vertex = next(item for item in inputs if item.attributes.get("semantic") == "VERTEX")
        table = tables[vertex.attributes["source"].lstrip("#")]
        words = np.array(primitive.child_text("p").split(), dtype=np.int64)
        index = words[: len(words) // stride * stride].reshape(-1, stride)[
            :, int(vertex.attributes.get("offset", "0"))
        ]
        if len(index) and index.min() < 0:
            raise ValueError("a negative index")
        if primitive.tag == "polylist":
            counts = [int(word) for word in primitive.child_text("vcount").split()]
            starts = np.concatenate([[0], np.cumsum(counts)])[: len(counts)]
            fans = [
                (s, s + k, s + k + 1) for s, n in zip(starts, counts, strict=True) for k in range(1, n - 1)
            ]
            index = index[np.array(fans, dtype=np.int64).ravel()] if fans else index[:0]
        found.append(table[index[: len(index) // 3 * 3]])
    return np.concatenate(found)


def _collada_scene(data: bytes, name: str, read: Callable[[Element, dict[str, Element]], Array]) -> Array:
    """Returns the results of `read` for all geometries, placed by the nodes of the scene."""
    root = parse_xml(data, Limits(depth=400), name)
    unit = root.child("asset/unit")
    scale = float(unit.attributes.get("meter", "1")) if unit is not None else 1.0
    axis = root.child_text("asset/up_axis", "Y_UP")
    sources = {item.attributes.get("id", ""): item for item in root.walk() if item.tag == "source"}
    geometries: dict[str, Array] = {}
    for geometry in (item for item in root.walk() if item.tag == "geometry"):
        geometries[geometry.attributes.get("id", "")] = read(geometry, sources)
    scenes = root.child("library_visual_scenes")
    found: list[Array] = []
    stack = [(item, np.eye(4)) for item in (scenes.children if scenes is not None else [])]
    while stack:
        node, pose = stack.pop()
        pose = pose @ _matrix(node)
        for instance in node.each("instance_geometry"):
            corners = geometries.get(instance.attributes.get("url", "").lstrip("#"))
            if corners is not None:
                found.append(corners @ pose[:3, :3].T + pose[:3, 3])
        stack.extend((child, pose) for child in node.each("node"))
    if not found:
        found = list(geometries.values())
    corners = np.concatenate(found) * scale if found else np.zeros((0, 3))
    if not math.isfinite(scale) or scale <= 0:
        raise ImportRobotError(f"{name}: found a unit of {scale} m")
    if axis == "Z_UP" or axis == "Y_UP":  # RViz and Gazebo ignore the axis of the file
        return corners
    return corners[:, [1, 0, 2]] * [-1, 1, 1]


def _positions(vertices: Element, sources: dict[str, Element]) -> Array:
    for item in vertices.each("input"):
        if item.attributes.get("semantic") == "POSITION":
            source = sources[item.attributes["source"].lstrip("#")]
            array = source.first("float_array")
            if array is not None:
                return np.array(array.text.split(), dtype=np.float64).reshape(-1, 3)
    return np.zeros((0, 3))


def _matrix(node: Element) -> Array:
    pose = np.eye(4)
    for item in node.children:
        if item.tag == "matrix":
            pose = pose @ np.array(item.text.split(), dtype=np.float64).reshape(4, 4)
        elif item.tag == "translate":
            step = np.eye(4)
            step[:3, 3] = np.array(item.text.split(), dtype=np.float64)
            pose = pose @ step
        elif item.tag == "scale":
            pose = pose @ np.diag([*np.array(item.text.split(), dtype=np.float64), 1.0])
        elif item.tag == "rotate":
            x, y, z, angle = np.array(item.text.split(), dtype=np.float64)
            pose = pose @ _rotation(np.array([x, y, z]), math.radians(angle))
    return pose


def _rotation(axis: Array, angle: float) -> Array:
    """Rodrigues' formula."""
    length = float(np.linalg.norm(axis))
    matrix = np.eye(4)
    if length > 0:
        x, y, z = axis / length
        k = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
        matrix[:3, :3] = np.eye(3) + math.sin(angle) * k + (1 - math.cos(angle)) * (k @ k)
    return matrix
