"""The environments' ids in Gymnasium's registry."""

from __future__ import annotations

import difflib
import os
import re
from functools import cache
from typing import Any

import gymnasium as gym

from mvsim_gym import _core
from mvsim_gym._assets import assets
from mvsim_gym.errors import WorldFileError

CUSTOM_ID = "mvsim/Custom-v0"
_ENTRY_POINT = "mvsim_gym.env:Env"
_LOOKS_LIKE_ID = re.compile(r"[\w.-]+/[\w.-]+-v\d+")


@cache
def listing() -> dict[str, str]:
    """Id -> environment file of everything in the package's folder `envs`."""
    return dict(_core.list_envs(os.path.join(assets(), "envs")))


def source_of(env: str | os.PathLike[str] | None, overrides: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The environment file that an argument `env` means (a registered id or a path), and all keywords for it:
    those of the registration, replaced by the caller's.

    Raises:
        TypeError: no environment file is named.
        ValueError: it looks like an id, but none of this package is called so.
    """
    name = os.fspath(env) if env is not None else CUSTOM_ID
    listed = listing().get(name)
    if listed is not None:
        return listed, overrides
    known = gym.registry.get(name)
    if known is not None and known.entry_point == _ENTRY_POINT:
        keywords = {**known.kwargs, **overrides}
        if "env" not in keywords:
            raise TypeError(f"{name} needs the keyword env: the path of an environment file")
        return source_of(keywords.pop("env"), keywords)
    if _LOOKS_LIKE_ID.fullmatch(name) and not os.path.exists(name):
        ids = sorted(id for id, spec in gym.registry.items() if spec.entry_point == _ENTRY_POINT)
        near = difflib.get_close_matches(name, ids, 1)
        hint = f", did you mean '{near[0]}'?" if near else f", known are {', '.join(ids)}"
        raise ValueError(f"no environment of mvsim_gym is called '{name}'{hint}")
    return name, overrides


def register(id: str, env: str | os.PathLike[str], **overrides: Any) -> None:
    """Gives an environment file an id, for `gymnasium.make(id)` and `gymnasium.make_vec(id)`.

    Args:
        id: e.g. "my/Task-v0".
        env: path of the environment file, which is read when an environment is made; or another id of this
            package, whose keywords `overrides` adds to.
        overrides: keywords as in `gymnasium.make`, what JSON can say.

    An id that stands for something else already is given anew.

    Raises:
        WorldFileError: there is no such file.
        ValueError: `env` looks like an id, but none of this package is called so.
    """
    path, keywords = source_of(env, overrides)
    if not os.path.isfile(path):
        raise WorldFileError(f"env: found no file '{path}', expected an environment file or an id", path)
    _register(id, {"env": os.path.abspath(path), **keywords})


def register_all() -> None:
    """Registers the package's environments; a second call changes nothing."""
    for id in listing():
        _register(id, {"env": id})
    _register(CUSTOM_ID, {})


def _register(id: str, kwargs: dict[str, Any]) -> None:
    known = gym.registry.get(id)
    if known is not None:
        if known.kwargs == kwargs and known.entry_point == _ENTRY_POINT:
            return
        del gym.registry[id]
    # no max_episode_steps: the time limit is the environment file's, for single and vector environments alike
    gym.register(
        id,
        entry_point=_ENTRY_POINT,
        vector_entry_point="mvsim_gym.vector_env:VectorEnv",
        kwargs=kwargs,
    )
