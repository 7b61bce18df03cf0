"""The formats of data sets: Minari's and LeRobot's."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from gymnasium import spaces

import mvsim_gym
from mvsim_gym._notices import extra
from mvsim_gym.tools.collected import Episodes

__all__ = ["Contents", "check_target", "made_dataset"]


class Contents(NamedTuple):
    """The contents of a data set."""

    env_id: str
    observations: spaces.Dict
    """the observations by key"""
    written: spaces.Space[Any]
    """the observations as Minari stores them"""
    actions: spaces.Space[Any]
    action_names: Sequence[str]
    rate: float
    """steps per second"""
    env_spec: Any
    """from which Minari makes the environment; None: it makes none"""
    driver: str
    """name of the policy"""
    description: str
    settings: Mapping[str, Any]
    """everything on which the episodes depend"""


def check_target(folder: str, dataset_id: str, format: str) -> None:
    """Checks that a data set of that name can be written.

    Raises:
        ImportError: the extra of the format is missing.
        ValueError: the format is unknown, the name is invalid for it, or there is such a data set.
    """
    if format == "minari":
        with extra("collect", "record"):
            import h5py  # noqa: F401 (without it Minari would fail only after the first episode)
            import minari  # noqa: F401
    elif format == "lerobot":
        from mvsim_gym.tools.lerobot import check_name

        check_name(dataset_id)
    else:
        raise ValueError(f"--format: found '{format}', expected minari or lerobot")
    if os.path.exists(os.path.join(folder, dataset_id)):
        raise ValueError(f"there is a data set '{dataset_id}' in '{folder}': choose another --name")


def made_dataset(kept: Episodes, episodes: int, format: str, contents: Contents) -> Any:
    """Returns the data set of the first episodes that are kept: a `minari.MinariDataset` or a `LeRobotFolder`.

    Raises:
        OSError: the disk is full; the episodes are kept.
    """
    if format == "minari":
        return kept.make_dataset(
            episodes,
            env=contents.env_spec,
            observation_space=contents.written,
            action_space=contents.actions,
            algorithm_name=contents.driver,
            author="mvsim_gym",
            description=contents.description,
        )
    from mvsim_gym.tools.lerobot import Form, LeRobotFolder, write_lerobot

    about = {
        "description": contents.description,
        "mvsim_gym": mvsim_gym.__version__,
        **{key: contents.settings[key] for key in ("env", "policy", "seed") if key in contents.settings},
        "keywords": {key: str(value) for key, value in contents.settings["keywords"].items()},
    }
    form = Form(contents.observations, contents.action_names, contents.rate, contents.env_id, about)
    counts = kept.make_folder(episodes, lambda folder, tracks: write_lerobot(folder, tracks, form))
    return LeRobotFolder(kept.place, kept.name, *counts)
