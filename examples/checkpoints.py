"""The checkpoint of a training run, from which it goes on exactly."""

from __future__ import annotations

import pathlib
import random
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from run_folder import CHECKPOINT, write_whole
from stable_baselines3 import PPO

from mvsim_gym.sb3 import MVSimVecEnv

if TYPE_CHECKING:
    from progress import Progress

_COUNTS = ("num_timesteps", "_n_updates", "_episode_num")
_OF_PROGRESS = (
    "history",
    "next_check",
    "rollouts",
    "best",
    "best_success",
    "best_steps",
    "good",
    "mean",
    "last_check",
)

State = dict[str, Any]


def load(folder: pathlib.Path) -> State:
    """The checkpoint of a run; code that runs, as its models are.

    Raises:
        OSError, RuntimeError, EOFError: there is none, or another file in its place.
    """
    return dict(torch.load(folder / CHECKPOINT, map_location="cpu", weights_only=False))


def save(progress: Progress, options: State, trained: bool = False) -> None:
    """Writes the checkpoint of a run that stands between an update and the next rollout, or that has ended
    (`trained`). `options` are kept as they are."""
    model = progress.model
    assert isinstance(model, PPO)
    state = {
        "options": options,
        "trained": trained,
        "policy": model.policy.state_dict(),
        "optimizer": model.policy.optimizer.state_dict(),
        "model": {name: getattr(model, name) for name in _COUNTS},
        "episodes": [list(model.ep_info_buffer or ()), list(model.ep_success_buffer or ())],
        "progress": {name: getattr(progress, name) for name in _OF_PROGRESS},
        "seconds": [progress.training_seconds(), progress.processor_seconds(), progress.venv.seconds],
        "envs": None if trained else envs_of(progress).snapshot(),
        "starts": model._last_episode_starts,
        # Stable-Baselines3 draws from all of these
        "random": [torch.get_rng_state(), np.random.get_state(), random.getstate()],  # noqa: NPY002
    }
    write_whole(progress.folder / CHECKPOINT, lambda file: torch.save(state, file))


def put_back(progress: Progress, state: State) -> None:
    """Brings model, environments, progress and random numbers of a run to where they were.

    Raises:
        ValueError: the environments are others by now.
    """
    model = progress.model
    assert isinstance(model, PPO)
    model.policy.load_state_dict(state["policy"])
    model.policy.optimizer.load_state_dict(state["optimizer"])
    for name, value in state["model"].items():
        setattr(model, name, value)
    for name, value in state["progress"].items():
        setattr(progress, name, value)
    for buffer, values in zip(
        (model.ep_info_buffer, model.ep_success_buffer), state["episodes"], strict=True
    ):
        if buffer is not None:
            buffer.extend(values)
    progress.begin_at(*state["seconds"])
    if state["envs"] is not None:
        model._last_obs = envs_of(progress).restore(state["envs"])
    model._last_episode_starts = state["starts"]
    torch.set_rng_state(state["random"][0])
    np.random.set_state(state["random"][1])  # noqa: NPY002
    random.setstate(state["random"][2])


def envs_of(progress: Progress) -> MVSimVecEnv:
    envs = progress.venv.venv
    assert isinstance(envs, MVSimVecEnv)
    return envs
