"""Meshes of all bodies of all worlds on a server, moved by arrays of poses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from mvsim_gym import _core
from mvsim_gym.view.kinds import Kind, kinds_of
from mvsim_gym.view.moment import Group

if TYPE_CHECKING:
    import viser

__all__ = ["Bodies", "instances_of", "triangles", "update_node"]


def instances_of(
    kind: Kind, poses: npt.NDArray[np.float32], offsets: npt.NDArray[np.float32]
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """Positions (n, 3), quaternions w, x, y, z (n, 4) and scales (n, 3) of a kind's copies in some envs.

    Args:
        poses: (envs, frames, 8), as in `Group`.
        offsets: (envs, 3), where each env's world lies.
    """
    own = poses[:, kind.frames]
    places = own[..., :3] + offsets[:, None]
    scales = np.ones(places.shape, np.float32)
    scales[..., :2] = own[..., 7:]
    turns = np.ascontiguousarray(own[..., 3:7])
    return places.reshape(-1, 3), turns.reshape(-1, 4), scales.reshape(-1, 3)


class _Shown:
    """A kind of a world on the server."""

    def __init__(self, server: viser.ViserServer, name: str, kind: Kind) -> None:
        self.kind = kind
        self.sent: tuple[npt.NDArray[np.float32], ...] = ()
        """positions, quaternions and scales that browsers have"""
        self._server, self._name = server, name
        self._handle: viser.BatchedGlbHandle | None = None
        self._hidden = False
        self._offsets = np.zeros((0, 3), np.float32)

    def show(self, poses: npt.NDArray[np.float32], offsets: npt.NDArray[np.float32]) -> None:
        """Moves the copies."""
        if self._handle is not None and not self._hidden and self._stands(poses, offsets):
            return
        now = instances_of(self.kind, poses, offsets)
        places, turns, scales = now
        if self._handle is None:
            self._handle = self._server.scene.add_batched_glb(
                self._name, self.kind.glb, turns, places, batched_scales=scales, lod="off"
            )
        elif not all(map(np.array_equal, now, self.sent)):
            arrays = {"batched_wxyzs": turns, "batched_scales": scales, "batched_positions": places}
            update_node(self._server.scene, self._handle.name, arrays)
        self.sent = now
        if self._hidden:
            self._handle.visible, self._hidden = True, False

    def _stands(self, poses: npt.NDArray[np.float32], offsets: npt.NDArray[np.float32]) -> bool:
        """Whether it is part of worlds that have not been put elsewhere: their frame never moves."""
        before, self._offsets = self._offsets, offsets
        return not self.kind.frames.any() and np.array_equal(before, offsets)

    def hide(self) -> None:
        if self._handle is not None and not self._hidden:
            self._handle.visible, self._hidden = False, True


class Bodies:
    """What stands in worlds, below a node of a server."""

    def __init__(self, server: viser.ViserServer, parent: str) -> None:
        self._server, self._parent = server, parent
        # by the identity of a model, which is kept, so that no other gets it
        self._worlds: dict[int, tuple[_core.Model, list[_Shown]]] = {}

    def show(self, groups: list[Group], offset_of: npt.NDArray[np.float32]) -> None:
        """Moves everything; `offset_of` has a row an env. Worlds that are not among the groups are hidden."""
        for group in groups:
            offsets = offset_of[group.envs]
            for shown in self._shown(group.model):
                shown.show(group.poses, offsets)
        present = {id(group.model) for group in groups}
        for key, (_, all_shown) in self._worlds.items():
            if key not in present:
                for shown in all_shown:
                    shown.hide()

    def _shown(self, model: _core.Model) -> list[_Shown]:
        if id(model) not in self._worlds:
            prefix = f"{self._parent}/{len(self._worlds)}"
            shown = [_Shown(self._server, f"{prefix}_{i}", kind) for i, kind in enumerate(kinds_of(model))]
            self._worlds[id(model)] = model, shown
        return self._worlds[id(model)][1]


def update_node(scene: viser.SceneApi, name: str, arrays: dict[str, npt.NDArray[Any]]) -> None:
    """Sends new values of a node's properties in one message: an assignment of each to its handle costs many times as
    much of the trainer's machine."""
    from viser._messages import SceneNodeUpdateMessage

    scene._queue_scene_message(SceneNodeUpdateMessage(name, arrays))


def triangles(*meshes: tuple[Any, Any]) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.uint32]]:
    """Several meshes, each vertices and faces, as one."""
    first, vertices, faces = 0, [], []
    for points, indices in meshes:
        vertices.append(np.asarray(points, np.float32))
        faces.append(np.asarray(indices, np.uint32) + first)
        first += len(points)
    return np.concatenate(vertices), np.concatenate(faces)
