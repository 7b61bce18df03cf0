"""The scene on a server: bodies and marks, one env or all side by side, a camera that may follow a vehicle."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from mvsim_gym import _core
from mvsim_gym.view.bodies import Bodies
from mvsim_gym.view.marks import Grids, Marks
from mvsim_gym.view.moment import Group, Moment
from mvsim_gym.view.stream import Stream

if TYPE_CHECKING:
    import viser

_ROOT = "/world"
_AROUND = 100.0  # m around a world in which things can be placed, at least
_GAP = 1.15  # distance of worlds side by side, as a multiple of their size


def tiles(bounds: tuple[float, float, float, float], count: int) -> npt.NDArray[np.float32]:
    """Positions (count, 3) of worlds of one size side by side: the first at its own place, then along x and y."""
    width, depth = bounds[1] - bounds[0], bounds[3] - bounds[2]
    columns = math.ceil(math.sqrt(count))
    k = np.arange(count)
    places = np.stack([k % columns * width, k // columns * depth, 0 * k], axis=1)
    return (_GAP * places).astype(np.float32)


class Stage:
    """The scene that a server shows. One thread calls `show`; others may set the choices.

    Args:
        model: the world that determines the camera and the positions of the envs.
        num_envs: number of worlds.
    """

    def __init__(self, server: viser.ViserServer, model: _core.Model, num_envs: int = 1) -> None:
        self._server = server
        *bounds, _height = _core.scene_bounds(model)
        self._bounds = bounds
        self._tiles = tiles((bounds[0], bounds[1], bounds[2], bounds[3]), num_envs)
        server.scene.add_light_ambient("/light", intensity=1.5)  # so that shadows are not black
        server.scene.add_frame(_ROOT, show_axes=False)
        self.stream = Stream(server)
        self._origin = (0.0, 0.0, 0.0)
        self._bodies = Bodies(server, self.stream, f"{_ROOT}/bodies")
        self.grids = Grids(server, self.stream, f"{_ROOT}/grids")
        self.marks = Marks(server, self.stream, f"{_ROOT}/marks")
        self.marks.wanted["names"] = num_envs == 1
        self.all_envs = num_envs > 1
        """True: all envs side by side; False: the chosen one only."""
        self.follows = False
        """True: the chosen vehicle of the chosen env stays at the origin, and the world moves."""
        self.look_at_all()

    def look_at_all(self) -> None:
        """Moves the camera of present and future browsers so that it sees everything."""
        x_min, x_max, y_min, y_max = self._bounds
        if self.all_envs:
            x_max, y_max = x_max + self._tiles[:, 0].max(), y_max + self._tiles[:, 1].max()
        center = np.array([(x_min + x_max) / 2, (y_min + y_max) / 2, 0.0])
        self._place_camera(
            center, center + max(x_max - x_min, y_max - y_min, 2) * np.array([-0.55, -0.7, 0.9])
        )

    def look_closely(self) -> None:
        """Moves the camera behind the origin, where the followed vehicle is."""
        self._place_camera(np.zeros(3), np.array([-2.4, -1.2, 1.8]))

    def show(self, moment: Moment) -> None:
        offsets = self._tiles if self.all_envs else np.zeros_like(self._tiles)
        groups = list(moment.groups)
        if not self.all_envs:
            group, row = moment.group_of(moment.chosen)
            groups = [Group(group.model, group.envs[row : row + 1], group.poses[row : row + 1])]
        shown = [env for group in groups for env in group.envs.tolist()]
        x, y, z = (-self._followed(moment, offsets)).tolist()
        if (x, y, z) != self._origin:
            self._origin = x, y, z
            self.stream.move(_ROOT, self._origin)
        self._bodies.show(groups, offsets)
        self.grids.show(*moment.group_of(moment.chosen), offsets[moment.chosen])
        if moment.has_marks:
            self.marks.show(moment, offsets, shown)

    def ground_at(
        self, origin: npt.NDArray[np.float64], direction: npt.NDArray[np.float64], chosen: int
    ) -> tuple[float, float] | None:
        """Returns where the ray of a click meets the ground z = 0, in the chosen env's own world. Returns None above
        the horizon and far from the world."""
        if direction[2] > -1e-6:
            return None
        at = origin - origin[2] / direction[2] * direction - self._origin
        if self.all_envs:
            at = at - self._tiles[chosen]
        x_min, x_max, y_min, y_max = self._bounds
        around = max(x_max - x_min, y_max - y_min, _AROUND)
        if not (x_min - around <= at[0] <= x_max + around and y_min - around <= at[1] <= y_max + around):
            return None
        return float(at[0]), float(at[1])

    def _followed(self, moment: Moment, offsets: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        if not self.follows:
            return np.zeros(3, np.float32)
        group, row = moment.group_of(moment.chosen)
        frames = {name: frame for kind, name, frame in _core.scene_movers(group.model) if kind == "vehicle"}
        if not frames:
            return np.zeros(3, np.float32)
        frame = frames.get(moment.vehicle, next(iter(frames.values())))
        return group.poses[row, frame, :3] + offsets[moment.chosen]

    def _place_camera(self, at: npt.NDArray[np.float64], from_: npt.NDArray[np.float64]) -> None:
        camera = self._server.initial_camera
        camera.position, camera.look_at = tuple(from_), tuple(at)
        for client in self._server.get_clients().values():
            client.camera.position, client.camera.look_at = from_, at
