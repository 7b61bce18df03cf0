"""A film of an environment: `mvsim-gym film`."""

from __future__ import annotations

import io
import os
import struct
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from mvsim_gym._checks import checked_count
from mvsim_gym._notices import extra
from mvsim_gym.tools.policy import (
    agents_of,
    begin_episodes,
    ends_of,
    envs_for,
    keywords_of,
    outcome,
    policy_of,
)
from mvsim_gym.vector_env import VectorEnv

_AFTERWARDS = 1.0  # s of film after the end of an episode


def film(
    env_id: str,
    policy: str,
    path: str,
    *,
    episodes: int = 1,
    seed: int = 0,
    speed: float = 1.0,
    camera: str | None = None,
    width: int = 640,
    height: int = 640,
    settings: Mapping[str, Any] = MappingProxyType({}),
) -> Iterator[str]:
    """Films whole episodes with one frame for each control period; yields a line after each episode.

    With several agents an episode lasts until the last of them ends; with a camera at the first one, until that ends.

    Args:
        env_id: as for `mvsim_gym.VectorEnv`.
        policy: as for `policy_of`.
        path: .mp4 (even sizes) or .gif.
        episodes: number of episodes; episode k has the seed `seed` + k.
        speed: speed of the film relative to the robot: 2 is twice as fast.
        camera: by default "follow", for several agents "above".
        settings: keywords of the environment, which override those of a model.

    Raises:
        ImportError: the extra `video` is missing.
        ValueError: another kind of file, an invalid size, agents without a common end, or no device that can draw.
        OSError: the film cannot be written. No part of it is left.
    """
    checked_count("--episodes", episodes)
    if not 0 < speed <= 1000:
        raise ValueError(f"--speed: found {speed:g}, expected a number above 0, at most 1000")
    keywords = keywords_of(policy, settings)
    agents = agents_of(env_id, keywords)
    camera = camera or ("follow" if agents == 1 else "above")
    seen = slice(None) if camera == "above" else slice(1)  # rows
    envs = envs_for(
        env_id,
        keywords,
        num_envs=agents,
        autoreset_mode="Disabled",
        render_mode="rgb_array",
        camera=camera,
        width=width,
        height=height,
    )
    drive = policy_of(policy, env_id, envs)
    envs.action_space.seed(seed)
    rate = speed / envs.control_period
    with _writer(path, rate, width, height) as writer:
        for k in range(episodes):
            observations, _ = envs.reset(seed=seed + k)
            begin_episodes(drive)
            writer.append_data(_picture_of(envs))
            frames = 1
            ends: dict[int, dict[str, Any]] = {}  # last infos by row
            while envs.alive[seen].any():
                observations, _, terminated, truncated, infos = envs.step(drive(observations))
                ends |= ends_of((terminated | truncated)[seen], infos)
                picture = _picture_of(envs)
                writer.append_data(picture)
                frames += 1
            for _ in range(round(_AFTERWARDS * rate)):
                writer.append_data(picture)
            yield f"seed {seed + k}: {_summary(ends)}, {frames} frames"
    envs.close()


def _picture_of(envs: VectorEnv) -> npt.NDArray[np.uint8]:
    pictures = envs.render()
    assert pictures is not None  # since the render mode is set
    return pictures[0]


def _summary(ends: dict[int, dict[str, Any]]) -> str:
    """Returns how an episode ended: a word for one agent, the count of each word for several."""
    words = Counter(outcome(ends[row]) for row in sorted(ends))
    time = max(info["time"] for info in ends.values())
    said = ", ".join(word if len(ends) == 1 else f"{count} {word}" for word, count in words.most_common())
    return f"{said} after {time:.1f} s"


@contextmanager
def _writer(path: str, rate: float, width: int, height: int) -> Iterator[Any]:
    """Yields a writer of frames. If an error ends the film, the frames so far are kept.

    Raises:
        OSError: the film cannot be written, e.g. to a full disk. Its file is removed.
    """
    with extra("film", "video"):
        import imageio.v2 as imageio
        import imageio_ffmpeg  # noqa: F401 (without it imageio would fail only at the first frame)
    kind = os.path.splitext(path)[1].lower()
    if kind not in (".mp4", ".gif"):
        raise ValueError(f"found '{path}', expected a name that ends in .mp4 or .gif")
    if kind == ".mp4" and (width % 2 or height % 2):
        raise ValueError(f"found {width} x {height} pixels, expected even numbers for an .mp4")
    Path(path).write_bytes(b"")
    if kind == ".mp4":
        with _whole(path):
            with imageio.get_writer(path, fps=rate, macro_block_size=2, quality=8) as writer:
                yield writer
            _check_mp4(path)
        return
    frames = io.BytesIO()  # imageio encodes a GIF at its end anyway
    with _whole(path):
        try:
            with imageio.get_writer(frames, format="GIF", mode="I", duration=1000 / rate, loop=0) as writer:
                yield writer
        finally:
            Path(path).write_bytes(frames.getbuffer())


@contextmanager
def _whole(path: str) -> Iterator[None]:
    """Removes the file if it cannot be written, and raises OSError with one line."""
    try:
        yield
    except OSError as error:
        Path(path).unlink(missing_ok=True)
        raise OSError(
            f"the film '{path}' cannot be written: {error.strerror or 'is the disk full?'}"
        ) from error


def _check_mp4(path: str) -> None:
    """Raises OSError if ffmpeg ended before it wrote the index of the frames (`moov`). imageio does not tell."""
    with open(path, "rb") as file:
        while len(head := file.read(8)) == 8:
            size, name = struct.unpack(">I4s", head)
            if name == b"moov":
                return
            if size == 1:  # the size follows in 8 bytes
                (size,) = struct.unpack(">Q", file.read(8).rjust(8, b"\0"))
                size -= 8
            if size < 8:
                break
            file.seek(size - 8, os.SEEK_CUR)
    raise OSError
