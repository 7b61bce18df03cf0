"""Converts an SDF world to a world file. The shapes of its models become blocks."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from mvsim_gym.robots.description import Array, Geometry
from mvsim_gym.robots.elements import Element, parse_xml
from mvsim_gym.robots.importer import Report, Row, fates_of, refuse_ignored
from mvsim_gym.robots.meshes import mesh_triangles
from mvsim_gym.robots.outline import convex_hull, corners_of, with_few_corners
from mvsim_gym.robots.sdf import pose_of, sdf_shape
from mvsim_gym.robots.sensor_files import number
from mvsim_gym.robots.sources import Sources

_MAX_BLOCKS = 50_000  # in a world file
_MAX_TRIANGLES = 2_000  # in a mesh whose footprint is built from its triangles
_MAX_CORNERS = 14
_DEPTH = 20  # of nested models
_DEFAULT_MASS = 30.0


@dataclass
class ImportedWorld(Report):
    xml: str
    """the text of the world file"""
    blocks: int
    rows: list[Row] = field(default_factory=list)
    """use, place, element and reason, a row for each element"""

    def summary(self) -> Iterator[str]:
        yield f"{self.blocks} blocks"


class _Builder:
    def __init__(self, sources: Sources) -> None:
        self.sources = sources
        self.lines: list[str] = []
        self.roots: list[Element] = []
        self._triangles: dict[str, Array | None] = {}
        self._count = 0
        self._depth = 0

    def models(self, parent: Element, T_world_parent: Array, static: bool, prefix: str) -> None:  # noqa: N803
        self._depth += 1
        if self._depth > _DEPTH:
            raise parent.fault(f"models nested deeper than {_DEPTH}")
        for element in parent.each("model"):
            self._model(element, T_world_parent, static, prefix)
        for element in parent.each("include"):
            self._include(element.used(), T_world_parent, static, prefix)
        self._depth -= 1

    def _include(self, element: Element, T_world_parent: Array, static: bool, prefix: str) -> None:  # noqa: N803
        uri = element.child_text("uri")
        if uri.rstrip("/").rsplit("/", 1)[-1].lower().replace(" ", "_") in ("ground_plane", "sun"):
            element.approximated("every world has flat ground and a sun")
            return
        folder = uri.removeprefix("model://")
        if not uri.startswith("model://") or not self.sources.knows(folder.split("/")[0]):
            element.ignored(
                f"the model '{uri}' is not there (--package {folder.split('/')[0] or 'NAME'}=FOLDER)"
            )
            return
        found = self.sources.mesh(f"{uri}/model.sdf", element)
        if found is None:
            raise element.fault(f"there is no file 'model.sdf' in '{uri}'")
        root = parse_xml(self.sources.read(found, element), self.sources.limits, self.sources.shown(found))
        self.roots.append(root)
        model = root.used().first("model")
        if model is None:
            raise root.fault("found no <model>")
        pose, _ = pose_of(element)
        static = (element.child_text("static") in ("1", "true")) or static
        own, _ = pose_of(model)
        placed = T_world_parent @ (pose if element.first("pose") is not None else own)
        name = element.child_text("name") or model.attributes.get("name", "model")
        self._links(model, placed, static, f"{prefix}{name}")

    def _model(self, element: Element, T_world_parent: Array, static: bool, prefix: str) -> None:  # noqa: N803
        pose, _ = pose_of(element)
        self._links(
            element, T_world_parent @ pose, static, f"{prefix}{element.attributes.get('name', 'model')}"
        )

    def _links(self, model: Element, T_world_model: Array, static: bool, name: str) -> None:  # noqa: N803
        static = (model.used().child_text("static") in ("1", "true")) or static
        if any(joint.attributes.get("type") in ("revolute", "continuous") for joint in model.each("joint")):
            model.ignored("a model with joints that turn is a robot: import it as one")
            return
        for joint in model.each("joint"):
            joint.approximated("its links become separate blocks")
        for link in model.each("link"):
            pose, _ = pose_of(link.used())
            self._link(link, T_world_model @ pose, static, name)
        self.models(model, T_world_model, static, f"{name}_")

    def _link(self, link: Element, pose: Array, static: bool, name: str) -> None:
        shapes = [(item, sdf_shape(item)) for item in link.each("collision")]
        for visual in link.each("visual"):
            made = sdf_shape(visual)
            visual.ignored("blocks are drawn as their collision shapes")
            color = made.color if made is not None else ""
            for _, shape in shapes:
                if shape is not None:
                    shape.color = shape.color or color
        found: list[tuple[Array, float, float, str]] = []
        for item, shape in shapes:
            if shape is not None:
                item.used()
                found.extend(self._footprints(shape, pose))
        if not static and found:
            corners = np.concatenate([outline for outline, *_ in found])
            if len(found) > 1:
                link.approximated("the shapes of a link that moves become one convex outline")
            low, high = min(z for _, z, _, _ in found), max(z for _, _, z, _ in found)
            found = [(with_few_corners(convex_hull(corners), _MAX_CORNERS), low, high, found[0][3])]
        mass = link.child_number("inertial/mass") or _DEFAULT_MASS
        for outline, low, high, color in found:
            self._block(link, name, outline, low, high, color, None if static else mass)

    def _footprints(self, shape: Geometry, T_world_link: Array) -> list[tuple[Array, float, float, str]]:  # noqa: N803
        """Returns convex outlines that together are the shape seen from above, each with its heights and colour."""
        if shape.kind == "plane":
            shape.element.approximated("the ground is flat everywhere")
            return []
        if shape.kind == "mesh":
            return self._mesh(shape, T_world_link)
        placed_shape = T_world_link @ shape.T_link_shape
        if shape.kind == "cylinder" and abs(placed_shape[2, 2]) > 1 - 1e-9:
            return self._outline(shape, _upright_cylinder(shape.size, placed_shape[:3, 3]))
        corners = corners_of(shape, lambda _: None)
        assert corners is not None
        placed = corners @ T_world_link[:3, :3].T + T_world_link[:3, 3]
        return self._outline(shape, placed)

    def _outline(self, shape: Geometry, placed: Array) -> list[tuple[Array, float, float, str]]:
        hull = convex_hull(placed[:, :2])
        if len(hull) < 3:
            shape.element.ignored("it has no area seen from above")
            return []
        if len(hull) > _MAX_CORNERS:
            hull = with_few_corners(hull, _MAX_CORNERS)
        low, high = float(placed[:, 2].min()), float(placed[:, 2].max())
        if high <= 0:
            shape.element.ignored("it lies below the ground")
            return []
        return [(hull, max(low, 0.0), max(high, low + 1e-3), shape.color)]

    def _mesh(self, shape: Geometry, T_world_link: Array) -> list[tuple[Array, float, float, str]]:  # noqa: N803
        if shape.uri not in self._triangles:
            path = self.sources.mesh(shape.uri, shape.element)
            found = None
            if path is not None:
                found = mesh_triangles(self.sources.read(path, shape.element), path.name)
            self._triangles[shape.uri] = found
        triangles = self._triangles[shape.uri]
        if triangles is None:
            shape.element.ignored(f"the mesh '{shape.uri}' is not there (--package NAME=FOLDER)")
            return []
        pose = T_world_link @ shape.T_link_shape
        placed = (triangles.reshape(-1, 3) * shape.size) @ pose[:3, :3].T + pose[:3, 3]
        if len(triangles) > _MAX_TRIANGLES:
            shape.element.approximated(f"a mesh of {len(triangles)} triangles: its convex outline")
            return self._outline(shape, placed)
        shape.element.approximated("a mesh: its footprint from its lowest to its highest point")
        low, high = max(0.0, float(placed[:, 2].min())), float(placed[:, 2].max())
        if high <= 0:
            return []
        seen: dict[bytes, Array] = {}
        for corners in placed.reshape(-1, 3, 3)[:, :, :2]:
            hull = convex_hull(corners)
            (ax, ay), (bx, by) = corners[1] - corners[0], corners[2] - corners[0]
            if len(hull) == 3 and abs(ax * by - ay * bx) > 2e-6:  # m2, twice the area
                seen.setdefault(np.round(hull, 4).tobytes(), hull)
        if not seen:
            return self._outline(shape, placed)
        return [(hull, low, high, shape.color) for hull in seen.values()]

    def _block(
        self,
        link: Element,
        name: str,
        outline: Array,
        low: float,
        high: float,
        color: str,
        mass: float | None,
    ) -> None:
        self._count += 1
        if self._count > _MAX_BLOCKS:
            raise link.fault(f"more than {_MAX_BLOCKS} blocks")
        x, y = (float(value) for value in outline.mean(axis=0))
        corners = " ".join(
            f"<pt>{number(float(a) - x)} {number(float(b) - y)}</pt>" for a, b in outline[::-1]
        )
        plain = "".join(letter if letter.isalnum() or letter in "_-" else "_" for letter in name)
        kind = "<static>true</static>" if mass is None else f"<mass>{number(mass)}</mass>"
        shown = f" <color>{color}</color>" if color else ""
        self.lines.append(
            f'  <block name="{plain}_{self._count}">{kind}<init_pose>{number(x)} {number(y)} 0</init_pose>'
            f"<zmin>{number(low)}</zmin> <zmax>{number(high)}</zmax>{shown}<shape>{corners}</shape></block>"
        )

    @property
    def count(self) -> int:
        return self._count


def _upright_cylinder(size: tuple[float, ...], centre: Array) -> Array:
    """Returns the corners of a prism of 14 sides with the area of the circle. Its radius differs by at most 1.7 %."""
    radius, length = size
    turn = 2 * math.pi / _MAX_CORNERS
    outer = radius * math.sqrt(turn / math.sin(turn))
    angles = turn * np.arange(_MAX_CORNERS)
    ring = np.stack([outer * np.cos(angles), outer * np.sin(angles), np.zeros(_MAX_CORNERS)], axis=1)
    return np.concatenate([ring + centre + [0, 0, z] for z in (-length / 2, length / 2)])


def is_world(path: str | Path) -> bool:
    """Returns whether an SDF file holds a world instead of a robot."""
    file = Path(path)
    if file.suffix not in (".sdf", ".world"):
        return False
    sources = Sources(file, {})
    root = parse_xml(sources.read(file, None), sources.limits, sources.shown(file))
    return root.tag == "sdf" and root.first("world") is not None


def import_world(
    path: str | Path,
    *,
    packages: Mapping[str, str | Path] | None = None,
    name: str = "",
    strict: bool = False,
) -> ImportedWorld:
    """Reads the `<world>` of an SDF file and makes a world file of it. Code in the file is not run, and nothing is
    downloaded.

    Static models become static blocks, and the others become blocks with their mass. A mesh becomes its footprint.

    Args:
        path: `*.sdf` or `*.world`.
        packages: folders of Gazebo models by name, for `model://NAME`.
        name: name of the `<world>`; empty: its only one.
        strict: whether an element without effect is an error.

    Raises:
        ImportRobotError: the file is damaged or exceeds a limit; the message has file, line and reason.
        OSError: a file cannot be read.
    """
    file = Path(path)
    sources = Sources(file, {key: Path(folder) for key, folder in (packages or {}).items()})
    root = parse_xml(sources.read(file, None), sources.limits, sources.shown(file))
    worlds = [item for item in root.each("world") if not name or item.attributes.get("name") == name]
    if root.tag != "sdf" or len(worlds) != 1:
        raise root.fault(f"found <{root.tag}> with {len(worlds)} worlds, expected <sdf> with one <world>")
    builder = _Builder(sources)
    builder.roots.append(root.used())
    builder.models(worlds[0].used(), np.eye(4), False, "")
    rows = [row for tree in builder.roots for row in fates_of(tree)]
    if strict:
        refuse_ignored(rows)
    head = [
        '<mvsim_world version="1.0">',
        f"  <!-- Made by 'mvsim-gym import' from {file.name.replace('--', '- -')}. -->",
    ]
    return ImportedWorld("\n".join([*head, *builder.lines, "</mvsim_world>", ""]), builder.count, rows)
