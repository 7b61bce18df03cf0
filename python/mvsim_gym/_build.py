"""From constructor arguments to a native batch: what Env, VectorEnv and the SB3 adapter share."""

from __future__ import annotations

import difflib
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import gymnasium as gym
import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from mvsim_gym import _core
from mvsim_gym._assets import assets, folders_of
from mvsim_gym._limits import DEFAULT_MEMORY_LIMIT, checked_memory_limit
from mvsim_gym._notices import notice
from mvsim_gym.errors import UnknownKeywordError
from mvsim_gym.registration import listing, source_of

# Keywords of the constructors; all others belong to the environment file.
OWN_KEYWORDS = [
    "env",
    "num_envs",
    "num_threads",
    "autoreset_mode",
    "strict_actions",
    "spl",
    "roots",
    "log_dir",
    "memory_limit",
]
OWN_KEYWORDS += ["render_mode", "width", "height", "camera", "max_episode_steps", "copy", "flatten", "pin"]

Observation = dict[str, npt.NDArray[np.float32]]
Path = str | os.PathLike[str]


@dataclass(frozen=True)
class Recipe:
    """What a batch is made from; can be pickled."""

    env: Path | None
    overrides: dict[str, Any]
    num_envs: int
    num_threads: int
    autoreset: _core.AutoresetMode
    strict_actions: bool
    spl: bool
    roots: Sequence[Path]
    pin: bool = False
    max_episode_steps: int | None = None
    log_dir: Path | None = None
    memory_limit: int = DEFAULT_MEMORY_LIMIT

    def portable(self) -> Recipe:
        """The same for another process: absolute paths, no id that only this process has registered, and no logs,
        which belong to one writer."""
        path, overrides = source_of(self.env, self.overrides)
        id = next((id for id, listed in listing().items() if listed == path), None)
        return replace(
            self,
            env=id or os.path.abspath(path),
            overrides=overrides,
            roots=[os.path.abspath(folder) for folder in folders_of(self.roots)],
            log_dir=None,
        )


def make_batch(recipe: Recipe) -> _core.Batch:
    """Loads the environment, applies the caller's keywords, makes the batch.

    Raises:
        TypeError: a keyword that the environment does not have, or a value that JSON cannot say.
        WorldFileError: a mistake in the environment or world file, or in a keyword's value.
        ValueError: `num_envs` below 1 and the like.
    """
    folders = folders_of(recipe.roots)
    path, overrides = source_of(recipe.env, recipe.overrides)
    spec = _core.load_env(path, assets(), folders)
    try:
        _core.apply_overrides(spec, {name: _plain(value) for name, value in overrides.items()})
    except UnknownKeywordError as error:
        raise TypeError(_with_hint(str(error), overrides)) from None
    if recipe.max_episode_steps is not None:
        if recipe.max_episode_steps < 1:
            raise ValueError(f"max_episode_steps: found {recipe.max_episode_steps}, expected at least 1")
        limit = recipe.max_episode_steps * spec.control_period
        spec.time_limit = min(limit, spec.time_limit) if spec.time_limit > 0 else limit
    batch = _core.Batch(
        spec,
        _count("num_envs", recipe.num_envs, 1),
        _count("num_threads", recipe.num_threads, 0),
        recipe.pin,
        recipe.autoreset,
        recipe.strict_actions,
        recipe.spl,
        assets(),
        folders,
        checked_memory_limit(recipe.memory_limit),
    )
    if recipe.log_dir is not None:
        batch.log_to(os.fspath(recipe.log_dir))
    notice(batch.warnings)
    return batch


def action_space(batch: _core.Batch) -> spaces.Box:
    """[-1, 1] for every component of the action."""
    return spaces.Box(-1.0, 1.0, (batch.action_size,), np.float32)


def observation_space(batch: _core.Batch) -> spaces.Dict:
    """A finite box for every observation of the environment file, by key."""
    return spaces.Dict({o.key: spaces.Box(o.low, o.high, dtype=np.float32) for o in batch.observations})


def columns_of(batch: _core.Batch, space: spaces.Dict) -> list[tuple[str, int]]:
    """Key and index in the batch of each observation, in the order of the space."""
    index = {o.key: i for i, o in enumerate(batch.observations)}
    return [(key, index[key]) for key in space.spaces]


def draw_key(random: np.random.Generator) -> int:
    """The 64-bit key from which everything random of an env's coming episodes follows."""
    return int(random.integers(0, 2**64, dtype=np.uint64))


def check_options(options: dict[str, Any] | None, known: Sequence[str]) -> None:
    """Refuses options of `reset` that nothing would heed."""
    for name in options or ():
        if name not in known:
            expected = f"expected {' or '.join(known)}" if known else "there are no options"
            raise ValueError(f"options: found '{name}', {expected}")


def check_mode(name: str, found: Any, known: Sequence[Any]) -> None:
    """ValueError for a keyword whose value is none of the known ones."""
    if found not in known:
        raise ValueError(f"{name}: found {found!r}, expected one of {', '.join(map(repr, known))}")


def as_actions(actions: Any, shape: tuple[int, ...]) -> npt.NDArray[np.float32]:
    """Actions as the batch takes them, float32 in C order of the right shape; copied only if they are not."""
    if isinstance(actions, np.ndarray) and actions.dtype == np.float32 and actions.flags.c_contiguous:
        array = actions
    else:
        found = np.asarray(actions)
        if found.dtype.kind not in "biuf":
            raise ValueError(f"action: found an array of {found.dtype}, expected real numbers")
        with np.errstate(over="ignore"):  # beyond float32 is infinite, and the batch judges that
            array = np.ascontiguousarray(found, dtype=np.float32)
    if array.shape != shape:
        raise ValueError(f"action: found shape {array.shape}, expected {shape}")
    return array


def closed_error(kind: str) -> gym.error.ClosedEnvironmentError:
    """The error of using a closed environment."""
    return gym.error.ClosedEnvironmentError(f"the {kind} is closed")


def _count(name: str, value: Any, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not least <= value < 2**31:
        raise ValueError(f"{name}: found {value!r}, expected an integer of at least {least}")
    return int(value)


def _plain(value: Any) -> Any:
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return value


def _with_hint(message: str, overrides: dict[str, Any]) -> str:
    if "did you mean" in message:
        return message
    for name in overrides:
        near = difflib.get_close_matches(name, OWN_KEYWORDS, n=1)
        if near and f"'{name}'" in message:
            return f"{message}, did you mean '{near[0]}'?"
    return message
