"""Pictures from the headless renderer; nothing of OpenGL is touched before the first."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from mvsim_gym import _core
from mvsim_gym._follow import Follower
from mvsim_gym._notices import notice
from mvsim_gym._shot import Shot, camera_between, sensor_image
from mvsim_gym.errors import RendererLost

Picture = npt.NDArray[np.uint8]


class Painter:
    """A renderer, opened for the first picture."""

    def __init__(self) -> None:
        self._renderer: _core.Renderer | None = None
        self._followers: dict[int, Follower] = {}

    def of_env(self, batch: _core.Batch, env: int, shot: Shot) -> npt.NDArray[Any]:
        """Env number `env` of a batch, (height, width, 3) uint8; of a depth (height, width) float32, m."""
        if shot.sees_as_sensor:
            return sensor_image(batch, env, shot)
        with self._fresh_after_loss() as renderer:
            if shot.camera == "follow":
                follower = self._followers.setdefault(env, Follower())
                return follower.draw(renderer, batch, env, shot.width, shot.height)
            if shot.camera == "behind":
                camera = _core.Camera.behind_agent(batch, env)
            elif not isinstance(shot.camera, str):
                camera = camera_between(shot.camera, "")
            else:
                camera = _core.Camera.of_world(batch.model(env), shot.width / shot.height)
            return renderer.draw_env(batch, env, camera, shot.width, shot.height)

    def forget(self, envs: Iterable[int]) -> None:
        """Trails of these envs begin anew: they are where no picture has followed them to."""
        for env in envs:
            self._followers.pop(env, None)

    def of_world(
        self, model: _core.Model, simulation: _core.Simulation, camera: _core.Camera, width: int, height: int
    ) -> Picture:
        """A running world, (height, width, 3)."""
        with self._fresh_after_loss() as renderer:
            return renderer.draw(model, simulation, camera, width, height)

    @contextmanager
    def _fresh_after_loss(self) -> Iterator[_core.Renderer]:
        """The renderer; one that the driver lost is not used again."""
        if self._renderer is None:
            self._renderer = _core.Renderer()
            notice([self._renderer.notice])
        try:
            yield self._renderer
        except RendererLost:
            self._renderer = None
            raise


def png_of(picture: Picture) -> bytes:
    """A picture (height, width, 3), or 4 with alpha, as a PNG file."""
    height, width, channels = picture.shape
    rows = np.zeros((height, 1 + channels * width), np.uint8)  # each begins with its filter: none
    rows[:, 1:] = picture.reshape(height, channels * width)
    head = struct.pack(">2I5B", width, height, 8, {3: 2, 4: 6}[channels], 0, 0, 0)  # 8 bits, RGB or RGBA
    parts = ((b"IHDR", head), (b"IDAT", zlib.compress(rows.tobytes(), 6)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in parts
    )
