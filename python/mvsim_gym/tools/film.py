"""A film of an environment: `mvsim-gym film`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from mvsim_gym._checks import checked_count
from mvsim_gym._extras import extra
from mvsim_gym.env import Env
from mvsim_gym.tools.policy import policy_of

_AFTERWARDS = 1.0  # s of film that show how an episode has ended


def film(
    env_id: str,
    policy: str,
    path: str,
    *,
    episodes: int = 1,
    seed: int = 0,
    speed: float = 1.0,
    camera: str = "follow",
    width: int = 640,
    height: int = 640,
) -> Iterator[str]:
    """Films whole episodes, a frame a control period; yields a line about each when it is over.

    Args:
        env_id: what `mvsim_gym.Env` takes.
        policy: as `policy_of` reads it.
        path: .mp4 (even sizes) or .gif.
        episodes: how many; that number k has the seed `seed` + k.
        speed: 2 shows the film twice as fast as the robot is.

    Raises:
        ImportError: the extra `video` is missing.
        ValueError: another kind of file, an impossible size, or no device can draw.
    """
    checked_count("--episodes", episodes)
    if not 0 < speed <= 1000:
        raise ValueError(f"--speed: found {speed:g}, expected a number above 0, at most 1000")
    env = Env(env_id, render_mode="rgb_array", camera=camera, width=width, height=height)
    drive = policy_of(policy, env_id, env)
    env.action_space.seed(seed)
    rate = speed / env.control_period
    with _writer(path, rate, width, height) as writer:
        for k in range(episodes):
            observation, info = env.reset(seed=seed + k)
            writer.append_data(env.render())
            frames, ended = 1, False
            while not ended:
                observation, _, terminated, truncated, info = env.step(drive(observation))
                picture = env.render()
                writer.append_data(picture)
                frames, ended = frames + 1, terminated or truncated
            for _ in range(round(_AFTERWARDS * rate)):
                writer.append_data(picture)
            yield f"seed {seed + k}: {outcome(info)} after {info['time']:.1f} s, {frames} frames"
    env.close()


def outcome(info: dict[str, Any]) -> str:
    """In a word, how an episode has ended, from the info of its last step."""
    if info["success"]:
        return "success"
    held = [key.removeprefix("terminated/") for key in info if key.startswith("terminated/") and info[key]]
    return held[0] if held else "timeout"


@contextmanager
def _writer(path: str, rate: float, width: int, height: int) -> Iterator[Any]:
    """What takes the frames; a film that is broken off keeps those that it has."""
    with extra("film", "video"):
        import imageio.v2 as imageio
        import imageio_ffmpeg  # noqa: F401 (imageio would miss it only with the first frame)
    kind = os.path.splitext(path)[1].lower()
    if kind == ".mp4":
        if width % 2 or height % 2:
            raise ValueError(f"found {width} x {height} pixels, expected even numbers for an .mp4")
        writer = imageio.get_writer(path, fps=rate, macro_block_size=2, quality=8)
    elif kind == ".gif":
        writer = imageio.get_writer(path, mode="I", duration=1000 / rate, loop=0)
    else:
        raise ValueError(f"found '{path}', expected a name that ends in .mp4 or .gif")
    with writer:
        yield writer
