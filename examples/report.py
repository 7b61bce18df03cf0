"""Results of a training run: the name of its folder, the learning curve and a film of one episode."""

from __future__ import annotations

import pathlib
import re
from typing import Any

import numpy as np
from evaluation import HELD_OUT_SEEDS, Policy
from tqdm import tqdm

import mvsim_gym

FILM_SIDE = 640  # pixels


def file_name(env: str) -> str:
    """A name for the outputs of an environment, whatever its id or path holds: NavArena-v0, my_task."""
    last = re.split(r"[/\\:]", env.rstrip("/\\"))[-1].removesuffix(".xml").removesuffix(".env")
    return re.sub(r"[^\w.-]+", "-", last).strip(".-") or "env"


def plot_learning_curve(metrics: dict[str, Any], path: pathlib.Path) -> None:
    """Success rate over steps and over training time, from step 0 on, with the baselines as lines."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.ticker import EngFormatter, MaxNLocator

    history = metrics["history"]
    steps = [h["steps"] for h in history]
    seconds = [h["seconds"] for h in history]
    figure, axes = plt.subplots(figsize=(7, 4.6), dpi=130)
    axes.plot(steps, [100 * h["success"] for h in history], "o-", ms=4, color="#1f6fb2", label="PPO")
    for style, (name, row) in zip((":", "--", "-."), metrics["baselines"].items(), strict=False):
        axes.axhline(100 * row["success"], ls=style, color="#777777", lw=1.2, label=name)
    axes.set(
        xlabel="environment steps",
        ylabel="success on held-out episodes (%)",
        ylim=(0, 102),
        xlim=(0, max(steps[-1], 1)),
    )
    axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    at_end = f": {100 * metrics['success']:.1f} % at the end" if "success" in metrics else ""
    axes.set_title(f"{metrics['env']}, seed {metrics['seed']}{at_end}", pad=12)
    time = axes.twiny()
    time.set(xlim=axes.get_xlim(), xlabel="training wall time (s)")
    marks = [s for s in MaxNLocator(7).tick_values(0, seconds[-1]) if 0 <= s <= seconds[-1]]
    time.set_xticks(np.interp(marks, seconds, steps), [f"{s:g}" for s in marks])
    axes.grid(alpha=0.25)
    axes.legend(loc="best")
    figure.tight_layout()
    figure.savefig(path)
    plt.close(figure)


def record_episode(
    env_id: str, policy: Policy, folder: pathlib.Path, seed: int = HELD_OUT_SEEDS[0], **keywords: Any
) -> pathlib.Path:
    """Film one episode from above, close to the robot: episode.mp4 where ffmpeg is to be had, else episode.gif."""
    env = mvsim_gym.Env(
        env_id, render_mode="rgb_array", camera="follow", width=FILM_SIDE, height=FILM_SIDE, **keywords
    )
    observation, _ = env.reset(seed=seed)
    frames, done = [env.render()], False
    with tqdm(desc="film", unit="frame", leave=False, mininterval=0.5) as bar:
        while not done:
            action = policy({key: value[None] for key, value in observation.items()})[0]
            observation, _, terminated, truncated, _ = env.step(action)
            frames.append(env.render())
            bar.update()
            done = terminated or truncated
    fps = 2 * env.metadata["render_fps"]
    env.close()
    frames += frames[-1:] * round(fps)  # a second to see how it ended
    return write_film(np.stack(frames), fps, folder)


def write_film(frames: np.ndarray, fps: float, folder: pathlib.Path) -> pathlib.Path:
    import imageio.v2 as imageio

    try:
        path = folder / "episode.mp4"
        imageio.mimwrite(path, frames, fps=fps, macro_block_size=None, quality=8)
    except (ImportError, OSError, ValueError):
        path = folder / "episode.gif"
        imageio.mimwrite(path, frames, duration=1000 / fps, loop=0)
    return path
