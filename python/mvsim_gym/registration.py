"""The ids of the environments in Gymnasium's registry."""

from __future__ import annotations

import copy
import difflib
import importlib
import os
import re
import sys
from collections.abc import Sequence
from functools import cache
from typing import Any, NoReturn

import gymnasium as gym
from gymnasium.envs.registration import EnvSpec

from mvsim_gym import _core
from mvsim_gym._files import assets
from mvsim_gym.errors import MissingFileError, WorldFileError

CUSTOM_ID = "mvsim/Custom-v0"
_ENTRY_POINT = "mvsim_gym.env:Env"
# Entry points that mean the same in a registration.
_ENTRY_POINTS = (_ENTRY_POINT, "mvsim_gym:Env")
_LOOKS_LIKE_ID = re.compile(r"[\w.-]+/[\w.-]+-v\d+")
_MODULE_AND_ID = re.compile(r"([A-Za-z_][\w.]*):([\w:./-]+)")

Named = str | bytes | os.PathLike[str] | EnvSpec


@cache
def listing() -> dict[str, str]:
    """Returns the environment file of each id, for everything in the package's folder `envs`."""
    return dict(_core.list_envs(os.path.join(assets(), "envs")))


def source_of(env: Named | None, keywords: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Returns the environment file that an argument `env` means, and its keywords: those of a registration, replaced by
    the caller's.

    Args:
        env: the path of a file, or a name that `gymnasium.make` takes for an environment of this package: an id
            (also one that the caller has registered; without a version it is the latest), "module:id", whose module is
            imported first, or an EnvSpec.
        keywords: the caller's keywords.

    Raises:
        TypeError: no environment file is named.
        ValueError: the name looks like an id, but no environment of this package has it; or it is registered with
            another entry point, or with wrappers, which a batch of environments cannot have.
        ModuleNotFoundError: the module does not exist.
    """
    if isinstance(env, EnvSpec):
        return _source_of_spec(env, keywords)
    name = _name_of(env) if env is not None else CUSTOM_ID
    known = _spec_of(name)
    if known is not None and not _is_own(known):
        return _source_of_spec(known, keywords)
    listed = listing().get(known.id if known is not None else name)
    if listed is not None:
        return listed, keywords
    if _LOOKS_LIKE_ID.fullmatch(name) and not os.path.exists(name):
        ids = sorted(id for id, other in gym.registry.items() if other.entry_point in _ENTRY_POINTS)
        near = difflib.get_close_matches(name, ids, 1)
        hint = f", did you mean '{near[0]}'?" if near else f", known are {', '.join(ids)}"
        raise ValueError(f"no environment of mvsim_gym is called '{name}'{_imported(env)}{hint}")
    return name, keywords


def load_env(path: str, folders: Sequence[str]) -> _core.EnvSpec:
    """Reads an environment file.

    Raises:
        MissingFileError: the file does not exist; the message has the nearest name and the folders that were searched.
        WorldFileError: the file has a mistake.
    """
    try:
        return _core.load_env(path, assets(), folders)
    except WorldFileError as error:
        if os.path.exists(path):
            raise
        raise MissingFileError(str(error), error.path, error.line, error.column) from None


def register(id: str, env: str | bytes | os.PathLike[str], **overrides: Any) -> None:
    """Gives an environment file an id, for `gymnasium.make(id)` and `gymnasium.make_vec(id)`.

    Args:
        id: e.g. "my/Task-v0".
        env: path of the environment file, which is read when an environment is made; or another id of this package,
            to whose keywords `overrides` are added.
        overrides: keywords as in `gymnasium.make`, with values that JSON can express.

    An id that exists already is replaced.

    Raises:
        MissingFileError: the file does not exist (a WorldFileError, and a FileNotFoundError too).
        ValueError: `env` looks like an id, but no environment of this package has it.
    """
    path, keywords = _file_of(env, overrides)
    _register(id, {"env": os.path.abspath(path), **keywords})


def spec(env: Named, **keywords: Any) -> EnvSpec:
    """Returns the EnvSpec that `gymnasium.make` and `gymnasium.make_vec` take, also for an environment file:
    `gym.make(spec("my.env.xml"))`.

    Args:
        env: path of an environment file, an id, "module:id" or an EnvSpec.
        keywords: as in `gymnasium.make`; they replace those of the registration.

    Raises:
        MissingFileError: the file does not exist (a WorldFileError, and a FileNotFoundError too).
        ValueError: `env` looks like an id, but no environment has it.
        ModuleNotFoundError: the module does not exist.
    """
    known = env if isinstance(env, EnvSpec) else _spec_of(_name_of(env))
    if known is None:
        path = _file_of(env, {})[0]
        known, keywords = gym.spec(CUSTOM_ID), {"env": os.path.abspath(path), **keywords}
    known = copy.deepcopy(known)
    known.kwargs.update(keywords)
    return known


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
    # There is no max_episode_steps, because the environment file has the time limit, for single and vector environments
    # alike.
    gym.register(
        id,
        entry_point=_ENTRY_POINT,
        vector_entry_point="mvsim_gym.vector_env:VectorEnv",
        kwargs=kwargs,
    )


def _file_of(env: Named, keywords: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    path, keywords = source_of(env, keywords)
    if not os.path.isfile(path):
        load_env(path, ())  # raises the error with its reason
    return path, keywords


def _name_of(env: Any) -> str:
    """Returns the text of an argument `env`, and imports its module."""
    if not isinstance(env, str | bytes | os.PathLike):
        _refuse(env)
    from mvsim_gym._checks import path_text  # here, so that `import mvsim_gym` is fast

    return _after_import(path_text("env", env))


def _refuse(env: Any) -> NoReturn:
    if isinstance(env, list) and env and all(map(callable, env)):  # from Stable-Baselines3's make_vec_env
        raise TypeError(
            f"env: found a list of {len(env)} functions, as make_vec_env gives it to vec_env_cls, expected an id:"
            f" MVSimVecEnv(id, num_envs={len(env)}) is the whole vector environment"
        )
    from mvsim_gym._checks import kind_of

    raise TypeError(f"env: found {kind_of(env)}, expected the path of a file, or an id")


def _is_own(spec: EnvSpec) -> bool:
    """Returns whether it is an environment of the package as `register_all` registers it."""
    return spec.kwargs == {"env": spec.id} and spec.id in listing()


def module_of(name: str) -> str | None:
    """Returns the module in `module:id`; None for other names."""
    found = _MODULE_AND_ID.fullmatch(name)
    return None if found is None or os.path.exists(name) else found[1]


def _after_import(name: str) -> str:
    module = module_of(name)
    if module is None:
        return name
    try:
        importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(f"env: '{name}' needs the module '{module}': {error}") from error
    return name[len(module) + 1 :]


def _imported(env: Any) -> str:
    """Returns the file of the module in `module:id` for a message, because another module than intended may have been
    imported."""
    module = module_of(env) if isinstance(env, str) else None
    file = getattr(sys.modules.get(module or ""), "__file__", None)
    return f" after the import of '{module}' ({file})" if file else ""


def _spec_of(name: str) -> EnvSpec | None:
    known = gym.registry.get(name)
    if known is not None or os.path.exists(name):
        return known
    versions = [other for id, other in gym.registry.items() if id == f"{name}-v{other.version}"]
    return max(versions, key=lambda other: other.version or 0, default=None)


def _source_of_spec(spec: EnvSpec, keywords: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    entry = spec.entry_point
    if callable(entry):
        entry = f"{entry.__module__}:{getattr(entry, '__qualname__', '')}"
    if entry not in _ENTRY_POINTS:
        raise ValueError(
            f"'{spec.id}' is registered with {entry}, expected an environment of mvsim_gym"
            " (mvsim_gym.register gives an environment file an id)"
        )
    if spec.additional_wrappers:
        names = ", ".join(wrapper.name for wrapper in spec.additional_wrappers)
        raise ValueError(
            f"'{spec.id}' is registered with wrappers ({names}), expected none, because a native batch has no wrappers"
        )
    limit = {} if spec.max_episode_steps is None else {"max_episode_steps": spec.max_episode_steps}
    keywords = {**limit, **spec.kwargs, **keywords}
    keywords.pop("vectorization_mode", None)  # gymnasium.make_vec adds it to the spec of its environments
    if "env" not in keywords:
        raise TypeError(f"{spec.id} needs the keyword env: the path of an environment file")
    return source_of(keywords.pop("env"), keywords)


register_all()
