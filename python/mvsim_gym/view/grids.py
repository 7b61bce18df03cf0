"""Ground grids of the chosen world, which stay or follow a vehicle in steps of their interval."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mvsim_gym import _core
from mvsim_gym.view.moment import Group
from mvsim_gym.view.stream import Stream

if TYPE_CHECKING:
    import viser

_THINNEST = 0.001  # m
_PIECES = 20_000
_LIFT = 0.005  # m above the ground, as in images


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
            x, y, z = (np.add(shift, offset) + np.array((0, 0, _LIFT))).tolist()
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
