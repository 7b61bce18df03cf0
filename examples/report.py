"""Pictures of a training run: the learning curve and a film of one episode."""

from __future__ import annotations

import pathlib
from typing import Any

import gymnasium as gym
import numpy as np
from evaluation import HELD_OUT_SEEDS, Policy

import mvsim_gym  # noqa: F401  (registers the environments)


def plot_learning_curve(metrics: dict[str, Any], path: pathlib.Path) -> None:
    """Success rate over training time, with the baselines as lines."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    history = metrics["history"]
    figure, axes = plt.subplots(figsize=(7, 4.2), dpi=130)
    seconds = [h["seconds"] for h in history]
    axes.plot(seconds, [100 * h["success"] for h in history], "o-", ms=4, color="#1f6fb2", label="PPO")
    for style, (name, row) in zip((":", "--", "-."), metrics["baselines"].items(), strict=False):
        axes.axhline(100 * row["success"], ls=style, color="#777777", lw=1.2, label=name)
    axes.set(
        xlabel="training wall time (s)",
        ylabel="success on held-out episodes (%)",
        ylim=(0, 102),
        xlim=(0, None),
        title=f"{metrics['env']}, seed {metrics['seed']}: {100 * metrics['success']:.1f} % at the end",
    )
    axes.grid(alpha=0.25)
    axes.legend(loc="lower right")
    figure.tight_layout()
    figure.savefig(path)
    plt.close(figure)


def record_episode(
    env_id: str, policy: Policy, folder: pathlib.Path, seed: int = HELD_OUT_SEEDS[0]
) -> pathlib.Path:
    """Film one episode: episode.mp4 where ffmpeg is to be had, else episode.gif. Returns the file."""
    env = gym.make(env_id, render_mode="rgb_array")
    observation, _ = env.reset(seed=seed)
    frames, done = [env.render()], False
    while not done:
        action = policy({key: value[None] for key, value in observation.items()})[0]
        observation, _, terminated, truncated, _ = env.step(action)
        frames.append(env.render())
        done = terminated or truncated
    fps = env.metadata["render_fps"]
    env.close()
    return write_film(np.stack(frames), 2 * fps, folder)


def write_film(frames: np.ndarray, fps: float, folder: pathlib.Path) -> pathlib.Path:
    import imageio.v2 as imageio

    try:
        path = folder / "episode.mp4"
        imageio.mimwrite(path, frames, fps=fps, macro_block_size=None, quality=8)
    except (ImportError, OSError, ValueError):
        path = folder / "episode.gif"
        imageio.mimwrite(path, frames, duration=1000 / fps, loop=0)
    return path
