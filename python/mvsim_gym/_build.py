"""From constructor arguments to a native batch: what Env, VectorEnv and the SB3 adapter share."""

from __future__ import annotations

import copy
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, permutations
from typing import Any

import gymnasium as gym
import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.envs.registration import EnvSpec

from mvsim_gym import _core
from mvsim_gym._assets import assets, folders_of
from mvsim_gym._keywords import kind_of, path_text, plain_values, unknown_keyword
from mvsim_gym._limits import DEFAULT_MEMORY_LIMIT, checked_memory_limit
from mvsim_gym._notices import notice
from mvsim_gym.registration import CUSTOM_ID, listing, load_env

Observation = dict[str, npt.NDArray[Any]]
Path = str | os.PathLike[str]


@dataclass(frozen=True)
class Recipe:
    """What a batch is made from; can be pickled.

    `kind` is the class that it is for, `env` the path of an environment file or an id of the package's own."""

    kind: str
    env: Path
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
        path = os.path.abspath(_path_of(self))
        return replace(
            self,
            env=next((id for id, listed in listing().items() if os.path.abspath(listed) == path), path),
            overrides=plain_values(self.overrides),
            roots=[os.path.abspath(folder) for folder in folders_of(self.roots)],
            log_dir=None,
        )


def make_batch(recipe: Recipe) -> _core.Batch:
    """Loads the environment, applies the caller's keywords, makes the batch.

    Raises:
        TypeError: a keyword that the environment does not have, a value that JSON cannot say, or no bool.
        MissingFileError: there is no such environment file.
        WorldFileError: a mistake in the environment or world file, or in a keyword's value.
        ValueError: `num_envs` below 1 and the like.
    """
    folders = folders_of(recipe.roots)
    overrides = plain_values(recipe.overrides)
    spec = load_env(_path_of(recipe), folders)
    known = spec.keywords
    for name in overrides:
        if name not in known:
            raise unknown_keyword(recipe.kind, name, known)
    _core.apply_overrides(spec, overrides)
    if recipe.max_episode_steps is not None:
        limit = _count("max_episode_steps", recipe.max_episode_steps, 1) * spec.control_period
        spec.time_limit = min(limit, spec.time_limit) if spec.time_limit > 0 else limit
    batch = _core.Batch(
        spec,
        _count("num_envs", recipe.num_envs, 1),
        _count("num_threads", recipe.num_threads, 0),
        check_flag("pin", recipe.pin),
        recipe.autoreset,
        check_flag("strict_actions", recipe.strict_actions),
        check_flag("spl", recipe.spl),
        assets(),
        folders,
        checked_memory_limit(recipe.memory_limit),
    )
    if recipe.log_dir is not None:
        batch.log_to(path_text("log_dir", recipe.log_dir))
    notice(batch.warnings)
    return batch


def spec_of(recipe: Recipe) -> EnvSpec:
    """What `gymnasium.make` makes one such environment from."""
    named = recipe.env in listing()
    keywords = {"env": recipe.env, **recipe.overrides}
    for name in ("strict_actions", "spl", "roots", "max_episode_steps"):
        if getattr(recipe, name):
            keywords[name] = getattr(recipe, name)
    if recipe.memory_limit != DEFAULT_MEMORY_LIMIT:
        keywords["memory_limit"] = recipe.memory_limit
    spec = copy.deepcopy(gym.spec(os.fspath(recipe.env) if named else CUSTOM_ID))
    spec.kwargs = keywords
    return spec


def action_space(batch: _core.Batch) -> spaces.Box:
    """[-1, 1] for every component of the action."""
    return spaces.Box(-1.0, 1.0, (batch.action_size,), np.float32)


def observation_space(batch: _core.Batch) -> spaces.Dict:
    """A finite box for every observation of the environment file, by key, of its own shape and type."""
    return spaces.Dict({o.key: spaces.Box(o.low, o.high, dtype=o.dtype.type) for o in batch.observations})


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


def checked_seed(seed: Any) -> int:
    """A seed of Gymnasium: an integer of at least 0.

    Raises:
        ValueError: it is none; the message names it.
    """
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise ValueError(f"seed: found {seed!r}, expected an integer of at least 0, or None")
    return int(seed)


def checked_mask(mask: Any, num_envs: int) -> npt.NDArray[np.bool_]:
    """The option `reset_mask`: a bool array (num_envs,) with at least one True; else TypeError or ValueError."""
    if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_:
        found = f"an array of {mask.dtype}" if isinstance(mask, np.ndarray) else kind_of(mask)
        raise TypeError(f"options['reset_mask']: found {found}, expected a NumPy array of bool")
    if mask.shape != (num_envs,):
        raise ValueError(f"options['reset_mask']: found shape {mask.shape}, expected ({num_envs},)")
    if not mask.any():
        raise ValueError("options['reset_mask']: found no True, expected at least one")
    return mask


def check_flag(name: str, found: Any) -> bool:
    """The value of a keyword that is True or False; TypeError for anything else."""
    if not isinstance(found, bool | np.bool_):
        raise TypeError(f"{name}: found {kind_of(found)}, expected True or False")
    return bool(found)


def check_mode(name: str, found: Any, known: Sequence[Any]) -> None:
    """ValueError for a keyword whose value is none of the known ones."""
    if found not in known:
        raise ValueError(f"{name}: found {found!r}, expected one of {', '.join(map(repr, known))}")


def check_render_mode(found: Any, many: bool) -> None:
    """ValueError for a mode that is not drawn here, saying who draws it."""
    if found is None or found == "rgb_array":
        return
    remedy = ""
    if found == "human":
        remedy = "; a window, of one environment, is opened by gymnasium.make(..., render_mode='human')"
    elif found == "rgb_array_list":
        remedy = "; gymnasium.wrappers.RenderCollection (of many: .vector) keeps the pictures of 'rgb_array'"
    if many and found == "human":
        remedy += ", and render() of 'rgb_array' returns the pictures of all"
    raise ValueError(f"render_mode: found {found!r}, expected None or 'rgb_array'{remedy}")


def check_out(out: Any, arrays: Observation, copied: bool) -> None:
    """TypeError or ValueError where the observations cannot be written into a caller's arrays.

    Args:
        out: the caller's.
        arrays: the batch's own.
        copied: no caller has those.
    """
    if not isinstance(out, Mapping):
        raise TypeError(f"out: found a {type(out).__name__}, expected a dict of arrays")
    if out.keys() != arrays.keys():
        raise ValueError(f"out: found the keys {', '.join(map(str, out))}, expected {', '.join(arrays)}")
    for key, array in arrays.items():
        found, target = "", out[key]
        if not isinstance(target, np.ndarray):
            found = f"a {type(target).__name__}"
        elif target.dtype != array.dtype or target.shape != array.shape:
            found = f"{target.dtype} {target.shape}"
        elif not target.flags.writeable:
            found = "an array that is read-only"
        if found:
            raise ValueError(
                f"out[{key!r}]: found {found}, expected a writeable array of {array.dtype} {array.shape}"
            )
    for key, other in combinations(arrays, 2):
        if _overlap(out[key], out[other]):
            raise ValueError(f"out[{key!r}]: shares memory with out[{other!r}], expected an array of its own")
    if copied:
        return
    for key, other in permutations(arrays, 2):  # a caller has the batch's own arrays
        if _overlap(out[key], arrays[other]):
            raise ValueError(f"out[{key!r}]: is where the batch has '{other}', expected another array")


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


def _path_of(recipe: Recipe) -> str:
    path = os.fspath(recipe.env)
    return listing().get(path, path)


def _overlap(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> bool:
    return np.may_share_memory(a, b) and np.shares_memory(a, b)  # mostly their ends alone tell
