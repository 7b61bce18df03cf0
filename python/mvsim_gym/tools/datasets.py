"""The formats of data sets: Minari's and LeRobot's."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np
import numpy.typing as npt
from gymnasium import spaces

import mvsim_gym
from mvsim_gym._notices import extra
from mvsim_gym._outputs import flat_space, flattened
from mvsim_gym.registration import spec
from mvsim_gym.tools.collected import Episodes
from mvsim_gym.vector_env import VectorEnv


class Contents(NamedTuple):
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


def contents_of(
    envs: VectorEnv,
    env_id: str,
    keywords: Mapping[str, Any],
    flatten: bool,
    format: str,
    driver: str,
    description: str,
    origin: Mapping[str, Any],
) -> Contents:
    """Returns the contents of a data set of episodes of `envs`.

    Args:
        envs: the environment, without `flatten`.
        flatten: the observations of Minari are one vector.
        origin: settings on which the episodes depend, in addition to the environment and its keywords.
    """
    named = envs.single_observation_space
    assert isinstance(named, spaces.Dict)
    settings = {"env": env_id, **origin, "keywords": keywords, "flatten": flatten and format == "minari"}
    single = None
    if envs.num_agents == 1:
        # the data set recovers its environment by `gymnasium.make`, which cannot make several agents
        own = spec(env_id, **{**keywords, "flatten": settings["flatten"]})
        single = gym.make(own, disable_env_checker=True).spec
    return Contents(
        env_id=env_id,
        observations=named,
        written=flat_space(named) if flatten else named,
        actions=envs.single_action_space,
        action_names=envs.action_names,
        rate=1 / envs.control_period,
        env_spec=single,
        driver=driver,
        description=description,
        settings=settings,
    )


def observation_fields(
    observations: Mapping[str, npt.NDArray[Any]], flatten: bool
) -> dict[str, npt.NDArray[Any]]:
    """Returns the observations of an episode by the names of Minari's fields: by key unless they are flattened."""
    if flatten:
        return {"observations": flattened(observations.values())}
    return {f"observations/{key}": values for key, values in observations.items()}


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


Array = npt.NDArray[Any]
Found = Mapping[str, Mapping[str, Any]]
"""By column and by name of the statistic: nested lists of numbers."""

_QUANTILES = {"q01": 0.01, "q10": 0.1, "q50": 0.5, "q90": 0.9, "q99": 0.99}
_MOST_PICTURES = 100  # of an episode, evenly spaced, whose values are counted


def statistics_of(values: Array, is_picture: bool = False) -> dict[str, Any]:
    """Returns min, max, mean, std, count and quantiles of a column, in the shapes that LeRobot expects.

    Vectors have statistics of each component, pictures (n, height, width, 3) of each channel, scaled to [0, 1] and of
    the shape (3, 1, 1). Other arrays have those of all their values, of the shape (1,), which LeRobot broadcasts.
    """
    if values.ndim > 2:
        values = values[np.unique(np.linspace(0, len(values) - 1, _MOST_PICTURES).astype(int))]
    count = len(values)
    rows = values.reshape(-1, 3) / 255.0 if is_picture else values.reshape(count, -1).astype(np.float64)
    if values.ndim > 2 and not is_picture:
        rows = rows.reshape(-1, 1)
    quantiles = np.quantile(rows, list(_QUANTILES.values()), axis=0)
    found = {
        "min": rows.min(axis=0),
        "max": rows.max(axis=0),
        "mean": rows.mean(axis=0),
        "std": rows.std(axis=0),
        **dict(zip(_QUANTILES, quantiles, strict=True)),
    }
    shaped = {k: v.reshape(3, 1, 1) if is_picture else v for k, v in found.items()}
    return {**{k: v.tolist() for k, v in shaped.items()}, "count": [count]}


class Statistics:
    """The statistics of all episodes, from those of each. The mean and the deviation are exact, the quantiles are the
    weighted means of those of the episodes, as LeRobot combines them."""

    def __init__(self) -> None:
        self._of: dict[str, dict[str, Array]] = {}

    def add(self, found: Found) -> None:
        for key, each in found.items():
            new = {name: np.array(value, np.float64) for name, value in each.items()}
            self._of[key] = _both(self._of[key], new) if key in self._of else new

    def result(self) -> dict[str, dict[str, Any]]:
        return {
            key: {name: [int(v[0])] if name == "count" else v.tolist() for name, v in each.items()}
            for key, each in self._of.items()
        }


def _both(a: Mapping[str, Array], b: Mapping[str, Array]) -> dict[str, Array]:
    """Returns the statistics of two sets of rows together (Chan, Golub, LeVeque 1979 for the deviation)."""
    count = a["count"] + b["count"]
    share = b["count"][0] / count[0]
    apart = b["mean"] - a["mean"]
    variance = (1 - share) * a["std"] ** 2 + share * b["std"] ** 2 + share * (1 - share) * apart**2
    return {
        "min": np.minimum(a["min"], b["min"]),
        "max": np.maximum(a["max"], b["max"]),
        "mean": a["mean"] + share * apart,
        "std": np.sqrt(variance),
        **{name: (1 - share) * a[name] + share * b[name] for name in _QUANTILES},
        "count": count,
    }
