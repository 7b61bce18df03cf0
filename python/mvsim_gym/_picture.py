"""Pictures from the headless renderer; nothing of OpenGL is touched before the first."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from mvsim_gym import _core
from mvsim_gym._follow import Follower
from mvsim_gym._notices import notice
from mvsim_gym.errors import RendererLost

Picture = npt.NDArray[np.uint8]
_CAMERAS = ("above", "behind", "follow")


def checked_size(width: int, height: int) -> None:
    """ValueError for a picture of an impossible size."""
    for name, value in (("width", width), ("height", height)):
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or not 1 <= value <= 8192:
            raise ValueError(f"{name}: found {value!r}, expected an integer from 1 to 8192 (pixels)")


class Shot(NamedTuple):
    """From where and how large a picture is."""

    width: int
    height: int
    camera: str

    def checked(self) -> Shot:
        """Itself, or ValueError."""
        if self.camera not in _CAMERAS:
            raise ValueError(
                f"camera: found {self.camera!r}, expected one of {', '.join(map(repr, _CAMERAS))}"
            )
        checked_size(self.width, self.height)
        return self


class Painter:
    """A renderer, opened for the first picture."""

    def __init__(self) -> None:
        self._renderer: _core.Renderer | None = None
        self._followers: dict[int, Follower] = {}

    def of_env(self, batch: _core.Batch, env: int, shot: Shot) -> Picture:
        """Env number `env` of a batch, (height, width, 3)."""
        with self._fresh_after_loss() as renderer:
            if shot.camera == "follow":
                follower = self._followers.setdefault(env, Follower())
                return follower.draw(renderer, batch, env, shot.width, shot.height)
            if shot.camera == "behind":
                camera = _core.Camera.behind_agent(batch, env)
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
