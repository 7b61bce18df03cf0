"""The environments' ids in Gymnasium's registry."""

from __future__ import annotations

import os
from functools import cache
from typing import Any

import gymnasium as gym

from mvsim_gym import _core
from mvsim_gym._assets import assets

CUSTOM_ID = "mvsim/Custom-v0"


@cache
def listing() -> dict[str, str]:
    """Id -> environment file of everything in the package's folder `envs`."""
    return dict(_core.list_envs(os.path.join(assets(), "envs")))


def path_of(env: str | os.PathLike[str] | None) -> str:
    """The environment file that an argument `env` means: an id of the package's listing, or a path."""
    if env is None:
        raise TypeError(f"{CUSTOM_ID} needs the keyword env: the path of an environment file")
    name = os.fspath(env)
    return listing().get(name, name)


def register(id: str, env: str | os.PathLike[str], **overrides: Any) -> None:
    """Gives an environment file an id, for `gymnasium.make(id)` and `gymnasium.make_vec(id)`.

    Args:
        id: e.g. "my/Task-v0".
        env: path of the environment file; the file is read when an environment is made.
        overrides: keywords as in `gymnasium.make`, what JSON can say.

    An id that stands for something else already is given anew.
    """
    _register(id, {"env": os.path.abspath(os.fspath(env)), **overrides})


def register_all() -> None:
    """Registers the package's environments; a second call changes nothing."""
    for id in listing():
        _register(id, {"env": id})
    _register(CUSTOM_ID, {})


def _register(id: str, kwargs: dict[str, Any]) -> None:
    known = gym.registry.get(id)
    if known is not None:
        if known.kwargs == kwargs and known.entry_point == "mvsim_gym.env:Env":
            return
        del gym.registry[id]
    # no max_episode_steps: the time limit is the environment file's, for single and vector environments alike
    gym.register(
        id,
        entry_point="mvsim_gym.env:Env",
        vector_entry_point="mvsim_gym.vector_env:VectorEnv",
        kwargs=kwargs,
    )
