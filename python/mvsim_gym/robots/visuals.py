"""Makes meshes of what a description draws: one file for the chassis and one for each wheel, with plain colours."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import numpy as np

from mvsim_gym.robots.base import Base, Wheel, links_below
from mvsim_gym.robots.description import Array, Geometry, Joint, Link
from mvsim_gym.robots.elements import Element, Fate, ImportRobotError
from mvsim_gym.robots.meshes import Part, glb_of, mesh_corners, mesh_parts
from mvsim_gym.robots.outline import convex_hull
from mvsim_gym.robots.sources import Sources

_MAX_TRIANGLES = 200_000  # of a robot
_MAX_OF_A_MESH = 30_000
_ROUND = 32  # sides of a circle
_SAME = 1e-3  # m, between a shape and the one that the simulator draws by itself


class MeshStore:
    """The mesh files of a description. Each is read once."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._files: dict[str, tuple[Path, bytes] | None] = {}
        self._corners: dict[str, Array] = {}
        self._parts: dict[str, tuple[list[Part], list[str]]] = {}

    def _file(self, shape: Geometry) -> tuple[Path, bytes] | None:
        if shape.uri not in self._files:
            path = self._sources.mesh(shape.uri, shape.element)
            self._files[shape.uri] = None if path is None else (path, self._sources.read(path, shape.element))
        if self._files[shape.uri] is None:
            shape.element.ignored(f"the mesh '{shape.uri}' is not there (--package NAME=FOLDER)")
        return self._files[shape.uri]

    def corners(self, shape: Geometry) -> Array | None:
        """Returns the corners of a mesh without its scale; None if it is not there."""
        if shape.uri not in self._corners:
            file = self._file(shape)
            if file is None:
                return None
            self._corners[shape.uri] = mesh_corners(file[1], file[0].name)
        return self._corners[shape.uri]

    def parts(self, shape: Geometry) -> list[Part] | None:
        """Returns the triangles of a mesh without its scale. None, with a reason in the table, if it cannot be read."""
        try:
            file = self._file(shape)
            if file is None:
                return None
            if shape.uri not in self._parts:
                path, data = file
                whole = mesh_parts(data, path.name, lambda name: self._beside(path, name, shape.element))
                self._parts[shape.uri] = _within_limit(whole)
        except (ImportRobotError, OSError) as error:
            shape.element.ignored(f"it is not drawn: {error}")
            return None
        parts, notes = self._parts[shape.uri]
        if notes:
            shape.element.approximated("; ".join(notes))
        return parts

    def _beside(self, path: Path, name: str, element: Element) -> bytes | None:
        found = self._sources.beside(path, name, element)
        return None if found is None else self._sources.read(found, element)


@dataclass
class Visuals:
    """The meshes and colours in place of chassis and wheels."""

    files: dict[str, bytes] = field(default_factory=dict)
    chassis: str = ""
    """name of a file, or empty if the outline is drawn"""
    wheels: dict[str, str] = field(default_factory=dict)
    """names of files by the joint of the wheel"""
    colors: dict[str, str] = field(default_factory=dict)
    """colours of wheels that are drawn as cylinders, by the joint"""
    triangles: int = 0
    lost: list[Link] = field(default_factory=list)
    """links with a body, of which neither a visual nor a collision shape can be drawn"""


def take_visuals(base: Base, name: str, store: MeshStore) -> Visuals:
    """Returns the meshes of a base; `name` begins the names of their files. The table says what is not drawn as
    stated."""
    made = Visuals()
    in_wheels: set[str] = set()
    for wheel, tag in base.tagged_wheels():
        links = links_below(base.robot, wheel.joint.child)
        in_wheels.update(links)
        to_wheel = np.eye(4)
        to_wheel[:3, 3] = -wheel.centre
        shapes = [(shape, to_wheel @ base.T_vehicle_link[link]) for link, shape in _visuals(base, links)]
        if len(shapes) == 1 and _is_plain_wheel(wheel, *shapes[0]):
            if shapes[0][0].color:
                made.colors[wheel.joint.name] = shapes[0][0].color
            continue
        parts = _parts_of(base, links, to_wheel, store, made)
        if parts:
            made.wheels[wheel.joint.name] = _add_file(made, f"{name}.{tag}.glb", parts)
    links = [link for link in base.robot.links if link not in in_wheels]
    shapes = [(shape, base.T_vehicle_link[link]) for link, shape in _visuals(base, links)]
    if len(shapes) == 1 and _is_outline(base, *shapes[0]):
        return made
    made.lost.clear()
    parts = _parts_of(base, links, np.eye(4), store, made)
    if parts and made.lost:
        parts.append(Part(_prism(base), base.color))
        for link in made.lost:
            _add_reason(link, "the outline of the chassis is drawn")
    if parts:
        made.chassis = _add_file(made, f"{name}.chassis.glb", parts)
        _say_what_does_not_move(base, links)
    return made


def _visuals(base: Base, links: list[str]) -> list[tuple[str, Geometry]]:
    return [(link, shape) for link in links for shape in base.robot.links[link].visuals]


def _add_file(made: Visuals, name: str, parts: list[Part]) -> str:
    data = glb_of(parts)
    for known, other in made.files.items():
        if other == data:
            return known
    made.files[name] = data
    return name


def _parts_of(base: Base, links: list[str], to_object: Array, store: MeshStore, made: Visuals) -> list[Part]:
    """Returns the triangles of some links in the frame of an object; none if no visual of them can be drawn."""
    found: list[Part] = []
    absent: list[Link] = []
    drawn = 0
    for name in links:
        link = base.robot.links[name]
        made_of = [
            _placed(shape, to_object @ base.T_vehicle_link[name], store, made) for shape in link.visuals
        ]
        found += [part for parts in made_of for part in parts or []]
        drawn += sum(parts is not None for parts in made_of)
        if any(parts is None for parts in made_of):
            absent.append(link)
    if not drawn:
        return []
    for link in absent:
        shapes = _collisions_of(link, to_object @ base.T_vehicle_link[link.name], store, made)
        found += shapes
        if not shapes and (link.collisions or link.inertial is not None):
            made.lost.append(link)
    return found


def _collisions_of(link: Link, pose: Array, store: MeshStore, made: Visuals) -> list[Part]:
    """Returns the collision shapes of a link, in the colour of its visuals."""
    found: list[Part] = []
    color = next((shape.color for shape in link.visuals if shape.color), "")
    for shape in link.collisions:
        for part in (None if shape.kind == "mesh" else _placed(shape, pose, store, made)) or []:
            found.append(Part(part.triangles, color))
    if found:
        _add_reason(link, "the collision shapes of its link are drawn")
    return found


def _add_reason(link: Link, text: str) -> None:
    for shape in link.visuals:
        if shape.element.fate is Fate.IGNORED:
            shape.element.reason += f"; {text}"


def _placed(shape: Geometry, pose: Array, store: MeshStore, made: Visuals) -> list[Part] | None:
    """Returns the triangles of a shape in another frame; None if it cannot be drawn."""
    if shape.opacity <= 0:
        shape.element.ignored("it is invisible")
        return []
    if shape.kind == "mesh":
        found = store.parts(shape)
        if found is None:
            return None
    elif shape.kind in ("box", "cylinder", "sphere"):
        found = [Part(_solid(shape))]
    else:
        shape.element.ignored(f"a {shape.kind} of a robot is not drawn")
        return []
    count = sum(len(part.triangles) for part in found)
    if made.triangles + count > _MAX_TRIANGLES:
        shape.element.ignored(f"it is not drawn: a robot has at most {_MAX_TRIANGLES} triangles")
        return None
    made.triangles += count
    placed = pose @ shape.T_link_shape
    color = shape.color + (f"{round(255 * shape.opacity):02x}" if shape.color and shape.opacity < 1 else "")
    parts = []
    for part in found:
        scale = np.asarray(shape.size) if shape.kind == "mesh" else np.ones(3)
        triangles = (part.triangles * scale) @ placed[:3, :3].T + placed[:3, 3]
        if float(np.prod(scale)) < 0:  # a mirror: the other side would be drawn
            triangles = triangles[:, ::-1]
        parts.append(Part(triangles, part.color or color))
    return parts


def _within_limit(parts: list[Part]) -> tuple[list[Part], list[str]]:
    """Returns the parts of a mesh and how they differ from it. A mesh with too many triangles has its near corners
    merged."""
    notes = ["a mesh with a texture is drawn in one colour"] if any(part.texture for part in parts) else []
    count = sum(len(part.triangles) for part in parts)
    if count <= _MAX_OF_A_MESH:
        return parts, notes
    corners = np.concatenate([part.triangles.reshape(-1, 3) for part in parts])
    least, size = corners.min(axis=0), float(np.ptp(corners, axis=0).max())
    for cells in (512, 384, 256, 192, 128, 96, 64, 48):
        found = [
            Part(_merged(part.triangles, least, size / cells), part.color, part.texture) for part in parts
        ]
        left = sum(len(part.triangles) for part in found)
        if left <= _MAX_OF_A_MESH:
            break
    notes.append(
        f"a mesh of {count} triangles is drawn with {left} (corners within {1 / cells:.2g} of its size are merged)"
    )
    return found, notes


def _merged(triangles: Array, least: Array, cell: float) -> Array:
    """Returns triangles whose corners are the means of all corners in one cell of a grid."""
    corners = triangles.reshape(-1, 3)
    rows = np.round((corners - least) / cell).astype(np.int64)
    keys = (rows[:, 0] << 40) + (rows[:, 1] << 20) + rows[:, 2]
    _, places = np.unique(keys, return_inverse=True)
    places = places.reshape(-1)
    counts = np.bincount(places)
    means = np.stack([np.bincount(places, corners[:, k]) / counts for k in range(3)], axis=1)
    index = places.reshape(-1, 3)
    index = index[(index[:, 0] != index[:, 1]) & (index[:, 1] != index[:, 2]) & (index[:, 2] != index[:, 0])]
    _, first = np.unique(np.sort(index, axis=1), axis=0, return_index=True)
    return np.asarray(means[index[np.sort(first)]])


def _prism(base: Base) -> Array:
    """Returns the triangles of the outline between its heights."""
    return _between(
        [np.column_stack([base.outline, np.full(len(base.outline), z)]) for z in (base.zmin, base.zmax)]
    )


def _solid(shape: Geometry) -> Array:
    """Returns the triangles of a box, a cylinder or a sphere, (n, 3, 3)."""
    angles = 2 * math.pi * np.arange(_ROUND) / _ROUND
    if shape.kind == "box":
        x, y, z = np.asarray(shape.size) / 2
        square = np.array([[x, y], [-x, y], [-x, -y], [x, -y]])
        rings = [np.column_stack([square, np.full(4, height)]) for height in (-z, z)]
    elif shape.kind == "cylinder":
        radius, length = shape.size
        circle = radius * np.stack([np.cos(angles), np.sin(angles)], axis=1)
        rings = [np.column_stack([circle, np.full(_ROUND, height)]) for height in (-length / 2, length / 2)]
    else:
        radius = shape.size[0]
        tilts = np.linspace(-math.pi / 2, math.pi / 2, _ROUND // 2 + 1)
        circle = np.stack([np.cos(angles), np.sin(angles)], axis=1)
        rings = [
            radius * np.column_stack([math.cos(tilt) * circle, np.full(_ROUND, math.sin(tilt))])
            for tilt in tilts
        ]
    return _between(rings)


def _between(rings: list[Array]) -> Array:
    """Returns triangles between rings of corners that lie above each other and run counter-clockwise, with their fronts
    outside. The first and the last ring are closed."""
    found = []
    for low, high in pairwise(rings):
        low_next, high_next = np.roll(low, -1, axis=0), np.roll(high, -1, axis=0)
        found += [np.stack([low, low_next, high_next], axis=1), np.stack([low, high_next, high], axis=1)]
    low, high = rings[0], rings[-1]
    found += [np.stack([np.broadcast_to(low[0], low[2:].shape), low[2:], low[1:-1]], axis=1)]
    found += [np.stack([np.broadcast_to(high[0], high[2:].shape), high[1:-1], high[2:]], axis=1)]
    triangles = np.concatenate(found)
    sides = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    return np.asarray(triangles[np.linalg.norm(sides, axis=1) > 1e-15])


def _is_plain_wheel(wheel: Wheel, shape: Geometry, pose: Array) -> bool:
    """Returns whether a visual is the cylinder that the simulator draws for a wheel."""
    if shape.kind != "cylinder" or shape.opacity < 1:
        return False
    placed = pose @ shape.T_link_shape
    radius, length = shape.size
    return (
        abs(placed[1, 2]) > 1 - 1e-6
        and float(np.abs(placed[:3, 3]).max()) < _SAME
        and abs(radius - wheel.radius) < _SAME
        and abs(length - wheel.width) < _SAME
    )


def _is_outline(base: Base, shape: Geometry, pose: Array) -> bool:
    """Returns whether a visual is an upright prism with the outline and heights of the chassis."""
    placed = pose @ shape.T_link_shape
    if shape.kind not in ("box", "cylinder") or shape.opacity < 1 or abs(placed[2, 2]) < 1 - 1e-9:
        return False
    corners = _solid(shape).reshape(-1, 3) @ placed[:3, :3].T + placed[:3, 3]
    area, own = (_area(points) for points in (base.outline, convex_hull(corners[:, :2])))
    heights = (base.zmin - max(0.0, corners[:, 2].min()), base.zmax - corners[:, 2].max())
    return abs(area / own - 1) < 0.03 and max(abs(float(gap)) for gap in heights) < _SAME


def _area(hull: Array) -> float:
    x, y = hull[:, 0], hull[:, 1]
    return abs(float(x @ np.roll(y, -1) - y @ np.roll(x, -1))) / 2


def _say_what_does_not_move(base: Base, links: list[str]) -> None:
    """Records joints of the chassis whose links are drawn where they stand at the joint's zero."""
    steering = {wheel.steered.name for wheel in base.wheels if wheel.steered is not None}

    def is_seen(joint: Joint) -> bool:
        return any(base.robot.links[name].visuals for name in links_below(base.robot, joint.child))

    for joint in base.robot.joints:
        if joint.kind == "fixed" or joint.child not in links or not is_seen(joint):
            continue
        if joint.name in steering:
            for name in links_below(base.robot, joint.child):
                for shape in base.robot.links[name].visuals:
                    if shape.element.fate is Fate.USED:
                        shape.element.approximated("it is drawn without its steering")
        elif joint.element.fate is Fate.USED:
            joint.element.approximated("it does not move: its links are drawn where they stand at zero")
