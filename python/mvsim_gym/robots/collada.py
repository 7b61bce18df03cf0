"""Reads Collada files: corners, and triangles with the colours of their materials, placed by the nodes of the scene."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from mvsim_gym.robots.description import Array, color_of
from mvsim_gym.robots.elements import Element, ImportRobotError, Limits, parse_xml

_MAX_POINTS = 15_000_000
_Pieces = list[tuple[Array, str]]  # (n, 3) points and the symbol of their material


def collada_corners(data: bytes, name: str) -> Array:
    """Returns the corners of all geometries, (n, 3) m."""
    return np.concatenate([np.zeros((0, 3)), *(points for points, *_ in _placed(data, name, _corners))])


def collada_triangles(data: bytes, name: str) -> list[tuple[Array, str, bool]]:
    """Returns triangles, (n, 3, 3) m, their colour (empty if none is stated), and whether they have a texture."""
    return [
        (points.reshape(-1, 3, 3), color, texture) for points, color, texture in _placed(data, name, _faces)
    ]


def _placed(
    data: bytes, name: str, read: Callable[[Element, dict[str, Element]], _Pieces]
) -> list[tuple[Array, str, bool]]:
    """Returns the results of `read` for all geometries, placed by the nodes of the scene."""
    root = parse_xml(data, Limits(depth=400), name)
    unit = root.child("asset/unit")
    scale = float(unit.attributes.get("meter", "1")) if unit is not None else 1.0
    if not math.isfinite(scale) or scale <= 0:
        raise ImportRobotError(f"{name}: found a unit of {scale} m")
    axis = root.child_text("asset/up_axis", "Y_UP")
    sources = {item.attributes.get("id", ""): item for item in root.walk() if item.tag == "source"}
    geometries: dict[str, _Pieces] = {}
    for geometry in (item for item in root.walk() if item.tag == "geometry"):
        geometries[geometry.attributes.get("id", "")] = read(geometry, sources)
    paints = _Paints(root)
    scenes = root.child("library_visual_scenes")
    found: list[tuple[Array, str, bool]] = []
    count = 0
    stack = [(item, np.eye(4)) for item in (scenes.children if scenes is not None else [])]
    while stack:
        node, pose = stack.pop()
        pose = pose @ _matrix(node)
        for instance in node.each("instance_geometry"):
            for points, symbol in geometries.get(instance.attributes.get("url", "").lstrip("#"), []):
                count += len(points)
                if count > _MAX_POINTS:
                    raise ImportRobotError(f"{name}: its scene has more than {_MAX_POINTS} corners")
                found.append((points @ pose[:3, :3].T + pose[:3, 3], *paints.of(symbol, instance)))
        stack.extend((child, pose) for child in node.each("node"))
    if not found:
        found = [(points, *paints.of(symbol, None)) for own in geometries.values() for points, symbol in own]
    if axis == "X_UP":  # RViz and Gazebo ignore the other axes
        found = [(points[:, [1, 0, 2]] * [-1, 1, 1], color, texture) for points, color, texture in found]
    return [(points * scale, color, texture) for points, color, texture in found]


class _Paints:
    """The materials of a file by name: a colour, and whether there is a texture."""

    def __init__(self, root: Element) -> None:
        effects: dict[str, tuple[str, bool]] = {}
        for effect in (item for item in root.walk() if item.tag == "effect"):
            diffuse = next((item for item in effect.walk() if item.tag == "diffuse"), None)
            color = diffuse.first("color") if diffuse is not None else None
            shown = ""
            if color is not None:
                shares = [float(word) for word in color.text.split()[:3]]
                shown = color_of(shares) if len(shares) == 3 and np.isfinite(shares).all() else ""
            texture = diffuse is not None and diffuse.first("texture") is not None
            effects[effect.attributes.get("id", "")] = shown, texture
        self._materials: dict[str, tuple[str, bool]] = {}
        for material in (item for item in root.walk() if item.tag == "material"):
            instance = material.first("instance_effect")
            if instance is not None:
                effect_id = instance.attributes.get("url", "").lstrip("#")
                self._materials[material.attributes.get("id", "")] = effects.get(effect_id, ("", False))

    def of(self, symbol: str, instance: Element | None) -> tuple[str, bool]:
        """Returns what a symbol of a geometry stands for in one of its instances."""
        target = symbol
        for item in instance.walk() if instance is not None else ():
            if item.tag == "instance_material" and item.attributes.get("symbol") == symbol:
                target = item.attributes.get("target", "").lstrip("#")
        return self._materials.get(target, ("", False))


def _corners(geometry: Element, sources: dict[str, Element]) -> _Pieces:
    return [(_positions(item, sources), "") for item in geometry.walk() if item.tag == "vertices"]


def _faces(geometry: Element, sources: dict[str, Element]) -> _Pieces:
    """Returns the corners of all triangles in a row; polygons become fans."""
    tables = {
        item.attributes.get("id", ""): _positions(item, sources)
        for item in geometry.walk()
        if item.tag == "vertices"
    }
    found = []
    for primitive in (item for item in geometry.walk() if item.tag in ("triangles", "polylist", "polygons")):
        inputs = list(primitive.each("input"))
        if not inputs:
            continue
        stride = 1 + max(int(item.attributes.get("offset", "0")) for item in inputs)
        vertex = next((item for item in inputs if item.attributes.get("semantic") == "VERTEX"), None)
        if vertex is None:
            raise ValueError(f"<{primitive.tag}> without an input VERTEX")
        table = tables[vertex.attributes["source"].lstrip("#")]
        texts = [item.text for item in primitive.each("p")]
        words = np.array(" ".join(texts).split(), dtype=np.int64)
        offset = int(vertex.attributes.get("offset", "0"))
        index = words[: len(words) // stride * stride].reshape(-1, stride)[:, offset]
        if len(index) and index.min() < 0:
            raise ValueError("a negative index")
        if primitive.tag != "triangles":
            if primitive.tag == "polylist":
                counts = [int(word) for word in primitive.child_text("vcount").split()]
            else:
                counts = [len(text.split()) // stride for text in texts]
            if sum(counts) > len(index) or min(counts, default=0) < 0:
                raise ValueError("polygons with more corners than there are")
            index = index[_fans(counts)]
        found.append((table[index[: len(index) // 3 * 3]], primitive.attributes.get("material", "")))
    return found


def _fans(counts: list[int]) -> np.ndarray:
    starts = np.concatenate([[0], np.cumsum(counts)])[: len(counts)]
    fans = [(s, s + k, s + k + 1) for s, n in zip(starts, counts, strict=True) for k in range(1, n - 1)]
    return np.array(fans, dtype=np.int64).ravel()


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
