"""Marks in the chosen world: points of lidars, joints, trails, goals, contacts, names, forces, the path to the goal.
Ground grids stay or follow a vehicle in steps of their interval."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mvsim_gym import _core
from mvsim_gym._drawing import arrows
from mvsim_gym.parts import Vehicle
from mvsim_gym.view.bodies import triangles
from mvsim_gym.view.moment import Group, Moment, label_of
from mvsim_gym.view.stream import Stream

if TYPE_CHECKING:
    import viser

_THINNEST = 0.001  # m
_PIECES = 20_000
_GRID_LIFT = 0.005  # m above the ground, as in images


def shift_of(interval: float, followed: npt.NDArray[Any]) -> tuple[float, float, float]:
    """Returns the shift of a grid that follows something at (x, y, z)."""
    x, y = np.trunc(followed[:2].astype(np.float64) / interval) * interval
    return (float(x), float(y), 0.0) if np.isfinite([x, y]).all() else (0.0, 0.0, 0.0)


def pieces_of(lines: npt.NDArray[np.float32], length: float) -> npt.NDArray[np.float32]:
    """Cuts lines (n, 2, 3) into pieces of about a length, unless there would be too many. Pages draw long lines badly
    if one end is behind the camera."""
    longest = float(np.abs(lines[:, 1] - lines[:, 0]).max(initial=0))
    count = int(min(np.ceil(longest / length), _PIECES // max(len(lines), 1)))
    if count < 2:
        return lines
    share = np.linspace(0, 1, count + 1, dtype=np.float32)[:, None, None]
    corners = (1 - share) * lines[:, 0] + share * lines[:, 1]
    return np.stack([corners[:-1], corners[1:]], axis=2).reshape(-1, 2, 3)


class _Grid(NamedTuple):
    node: Any
    frame: int
    """frame that it follows; 0: none"""
    interval: float
    """m"""


class Grids:
    """Nodes of a server below `parent`. The grids of worlds that are not shown are hidden."""

    def __init__(self, server: viser.ViserServer, stream: Stream, parent: str) -> None:
        self._scene, self._stream, self._parent = server.scene, stream, parent
        self._shown: _core.Model | None = None
        self._of: dict[int, tuple[_core.Model, list[_Grid]]] = {}  # by the id of a model
        self.places: dict[str, tuple[float, float, float]] = {}
        """Positions by the name of a node."""

    def show(self, group: Group, row: int, offset: npt.NDArray[np.float32]) -> None:
        """Moves the grids of a world.

        Args:
            row: row of the env in the group.
            offset: (3,), position of the world, m.
        """
        grids = self._grids_of(group.model)
        if group.model is not self._shown:
            for model, others in self._of.values():
                for grid in others:
                    grid.node.visible = model is group.model
            self._shown = group.model
        for node, frame, interval in grids:
            shift = shift_of(interval, group.poses[row, frame]) if frame else (0.0, 0.0, 0.0)
            x, y, z = (np.add(shift, offset) + np.array((0, 0, _GRID_LIFT))).tolist()
            if self.places.get(node.name) != (x, y, z):
                self.places[node.name] = x, y, z
                self._stream.move(node.name, (x, y, z))

    def _grids_of(self, model: _core.Model) -> list[_Grid]:
        if id(model) not in self._of:
            grids: list[_Grid] = []
            for lines, width, color, frame, interval in _core.scene_grids(model):
                name = f"{self._parent}/{len(self._of)}_{len(grids)}"
                points = pieces_of(lines.reshape(-1, 2, 3), interval)
                node = self._scene.add_line_segments(name, points, color, thickness=max(width, _THINNEST))
                grids.append(_Grid(node, frame, interval))
            self._of[id(model)] = model, grids
        return self._of[id(model)][1]


_TRAIL = 400  # points of each vehicle
_TRAIL_STEP = 0.03  # m between them
_JUMP = 1.0  # m; a vehicle that moves farther between two moments was placed there
_LIFT = np.array([0, 0, 0.02], np.float32)  # m above the ground
_NAMES = 60  # most names that are shown
_ABOVE = np.array([0, 0, 0.5], np.float32)  # m from a vehicle's reference point to its contact mark and name
_COLORS = {
    "hits": (230, 60, 40),
    "joints": (90, 60, 20),
    "forces": (0, 110, 60),
    "path": (150, 60, 190),
    "trails": (40, 90, 200),
    "goals": (0, 120, 40),
    "contact": (255, 190, 0),
}
_NO_LINES = np.zeros((0, 2, 3), np.float32)
_HEAD = 0.3  # length of an arrow's head, as a share of the arrow
_COPIES = npt.NDArray[np.float32]


class Marks:
    """Nodes of a server below `parent`. Marks that are False in `wanted` are hidden."""

    def __init__(self, server: viser.ViserServer, stream: Stream, parent: str) -> None:
        self._scene, self._stream, self._parent = server.scene, stream, parent
        self.wanted = {"hits": True, "trails": True, "names": False, "forces": False, "path": False}
        self._nodes: dict[str, Any] = {}
        self._sent: dict[str, npt.NDArray[Any]] = {}  # arrays that browsers have, by node
        self._labels: dict[str, Any] = {}
        self._named = 0  # number of labels so far
        self._trails: dict[str, deque[npt.NDArray[np.float32]]] = {}
        self._whose: tuple[int, int] | None = None

    def show(self, moment: Moment, offset_of: npt.NDArray[np.float32], shown: list[int]) -> None:
        """Moves all marks. Goals are those of the envs in `shown`."""
        group, row = moment.group_of(moment.chosen)
        offset = offset_of[moment.chosen]
        movers = _core.scene_movers(group.model)
        places = {name: group.poses[row, frame, :3] for kind, name, frame in movers if kind == "vehicle"}
        self._points("hits", moment.hits + offset if self.wanted["hits"] else moment.hits[:0])
        self._lines("forces", _arrows(moment.forces) + offset if self.wanted["forces"] else _NO_LINES)
        self._lines("path", _pieces(moment.path) + offset + _LIFT if self.wanted["path"] else _NO_LINES)
        self._lines("joints", (moment.joints + offset).reshape(-1, 2, 3))
        whose = id(group.model), moment.chosen
        if whose != self._whose:
            self._trails, self._whose = {}, whose
        for name, place in places.items():
            self._extend(name, place)
        self._lines("trails", self._segments() + offset if self.wanted["trails"] else _NO_LINES)
        self._show_goals(moment.goals, offset_of, shown)
        touched = [place for place, touches in zip(places.values(), moment.contacts, strict=False) if touches]
        above = np.array(touched, np.float32).reshape(-1, 3) + offset + _ABOVE
        self._copies("contact", _diamond, _COLORS["contact"], above, np.full_like(above, 0.12))
        named = movers[:_NAMES] if self.wanted["names"] else []
        self._name(
            {f"{kind}_{name}": (name, group.poses[row, frame, :3] + offset) for kind, name, frame in named}
        )

    def _extend(self, name: str, place: npt.NDArray[np.float32]) -> None:
        trail = self._trails.setdefault(name, deque(maxlen=_TRAIL))
        way = float(np.hypot(*(place - trail[-1])[:2])) if trail else np.inf
        if way > _JUMP:
            trail.clear()
        if way > _TRAIL_STEP:
            trail.append(place + _LIFT)

    def _segments(self) -> npt.NDArray[np.float32]:
        """Returns the line segments of all trails, (n, 2, 3)."""
        return np.concatenate([_NO_LINES, *(_pieces(np.array(trail)) for trail in self._trails.values())])

    def _show_goals(
        self, goals: npt.NDArray[np.float64] | None, offset_of: npt.NDArray[np.float32], shown: list[int]
    ) -> None:
        if goals is None:
            return
        there = np.array(shown, np.intp)
        there = there[np.isfinite(goals[there, 0])]
        places = offset_of[there]
        places[:, :2] += goals[there, :2]
        sizes = np.ones_like(places)
        sizes[:, :2] = goals[there, 2:]
        self._copies("goals", _ring, _COLORS["goals"], places, sizes)

    def _points(self, name: str, points: _COPIES) -> None:
        if self._is_new(name, points):
            self._nodes[name] = self._scene.add_point_cloud(
                f"{self._parent}/{name}",
                points,
                _COLORS[name],
                point_size=0.04,
                point_shape="circle",
                precision="float32",
                point_shading="flat",
            )
        self._update(name, points, points=points)

    def _lines(self, name: str, lines: npt.NDArray[Any]) -> None:
        lines = lines.astype(np.float32)
        if self._is_new(name, lines):
            self._nodes[name] = self._scene.add_line_segments(
                f"{self._parent}/{name}", lines, _COLORS[name], thickness=0.025
            )
        self._update(name, lines, points=lines)

    def _copies(
        self,
        name: str,
        mesh: Callable[[], tuple[Any, Any]],
        color: tuple[int, int, int],
        places: _COPIES,
        sizes: _COPIES,
    ) -> None:
        turns = np.zeros((len(places), 4), np.float32)
        turns[:, 0] = 1
        if self._is_new(name, places):
            self._nodes[name] = self._scene.add_batched_meshes_simple(
                f"{self._parent}/{name}",
                *mesh(),
                turns,
                places,
                batched_scales=sizes,
                batched_colors=color,
                side="double",
                lod="off",
            )
        self._update(name, places, batched_wxyzs=turns, batched_scales=sizes, batched_positions=places)

    def _is_new(self, name: str, things: npt.NDArray[Any]) -> bool:
        return name not in self._nodes and len(things) > 0

    def _update(self, name: str, things: npt.NDArray[Any], **arrays: npt.NDArray[np.float32]) -> None:
        """Sets the properties of a node; hides the node if `things` is empty."""
        if name not in self._nodes:
            return
        self._nodes[name].visible = len(things) > 0
        if len(things) and not np.array_equal(things, self._sent.get(name, _NO_LINES)):
            if name in self._sent:  # otherwise the node was made with these arrays
                self._stream.update(f"{self._parent}/{name}", arrays)
            self._sent[name] = things.copy()

    def _name(self, names: dict[str, tuple[str, npt.NDArray[np.float32]]]) -> None:
        for key in self._labels.keys() - names.keys():
            self._labels.pop(key).remove()
        for key, (name, place) in names.items():
            at = place + _ABOVE
            if key not in self._labels:
                self._named += 1
                self._labels[key] = self._scene.add_label(
                    f"{self._parent}/names/{self._named}", label_of(name), position=at
                )
            elif not np.allclose(self._labels[key].position, at, atol=0.005):
                self._labels[key].position = at


def forces_of(vehicles: Iterable[Vehicle]) -> npt.NDArray[np.float64]:
    """Returns arrows (n, 2, 3) of the friction of each wheel, lifted above the vehicle so that they are visible."""
    found = []
    for vehicle in vehicles:
        lift = np.array([0.0, 0.0, vehicle.heights[1] + 0.02])
        found += [ends + lift for ends in arrows([vehicle])]
    return np.array(found).reshape(-1, 2, 3)


def _pieces(line: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Returns the straight pieces (n - 1, 2, 3) of a line through points (n, 3)."""
    return np.stack([line[:-1], line[1:]], axis=1) if len(line) > 1 else _NO_LINES


def _arrows(ends: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Returns shafts and horizontal heads (3 n, 2, 3) of arrows (n, 2, 3)."""
    start, tip = ends[:, 0], ends[:, 1]
    way = _HEAD * (tip - start)
    side = 0.5 * np.stack([-way[:, 1], way[:, 0], 0 * way[:, 2]], axis=1)
    wings = [np.stack([tip, tip - way + turn], axis=1) for turn in (side, -side)]
    return np.concatenate([ends, *wings])


def _diamond() -> tuple[Any, Any]:
    corners = [(1, 0, 0), (0, 1, 0), (-1, 0, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1)]
    return triangles((corners, [(i, (i + 1) % 4, tip) for i in range(4) for tip in (4, 5)]))


def _ring() -> tuple[Any, Any]:
    """Returns a ring of radius 1 on the ground with a pole of 1 m at its centre, which is visible behind hills."""
    n, up = 48, 0.02
    angles = 2 * np.pi * np.arange(n) / n
    round_ = np.stack([np.cos(angles), np.sin(angles), np.full(n, up)], axis=1)
    inner = round_ * [0.75, 0.75, 1]
    band = [
        face for i in range(n) for face in ((i, (i + 1) % n, n + i), (n + i, (i + 1) % n, n + (i + 1) % n))
    ]
    pole = [(0.05 * x, 0.05 * y, z) for z in (0, 1) for x, y in ((1, 0), (0, 1), (-1, 0), (0, -1))]
    sides = [f for i in range(4) for f in ((i, (i + 1) % 4, 4 + i), (4 + i, (i + 1) % 4, 4 + (i + 1) % 4))]
    return triangles((np.concatenate([round_, inner]), band), (pole, sides))
