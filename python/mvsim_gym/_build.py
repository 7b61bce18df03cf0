"""Makes a native batch from constructor arguments, for Env, VectorEnv and the SB3 and PettingZoo adapters."""

from __future__ import annotations

import copy
import functools
import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from gymnasium.envs.registration import EnvSpec
from gymnasium.vector import AutoresetMode

from mvsim_gym import _core
from mvsim_gym._checks import path_text, plain_values
from mvsim_gym._constructors import CONSTRUCTORS, Constructor, all_options, unknown_keyword
from mvsim_gym._files import all_resources, assets, folders_of
from mvsim_gym._notices import notice
from mvsim_gym._options import Path
from mvsim_gym._overrides import flatten
from mvsim_gym.registration import CUSTOM_ID, Named, listing, load_env, source_of

if TYPE_CHECKING:
    from mvsim_gym._terms import Bodies, Terms

TERM_KEYWORDS = ("reward_terms", "observation_terms", "termination_terms")
"""Keywords that take functions as terms."""
_AUTORESET = {
    "Env": AutoresetMode.DISABLED,
    "parallel_env": AutoresetMode.DISABLED,
    "MVSimVecEnv": AutoresetMode.SAME_STEP,
}
"""Autoreset modes of the classes that have no such option."""


class Recipe:
    """The arguments from which a batch is made; can be pickled.

    `kind` is the name of the class. `env` is the path of an environment file or an id of the package. `options` has a
    value for each option of the class (see `_options.py`)."""

    # No dataclass: creating one takes half a millisecond of the first gymnasium.make.
    def __init__(self, kind: str, env: Path, overrides: dict[str, Any], options: dict[str, Any]) -> None:
        self.kind, self.env, self.overrides, self.options = kind, env, overrides, options

    def portable(self) -> Recipe:
        """Returns the recipe for another process: absolute paths, no id that only this process has registered, and no
        log folder, because only one process may write to it."""
        path = os.path.abspath(_path_of(self))
        roots = [os.path.abspath(folder) for folder in folders_of(self.options["roots"])]
        return Recipe(
            self.kind,
            next((id for id, listed in listing().items() if os.path.abspath(listed) == path), path),
            plain_values(self.overrides),
            {**self.options, "roots": roots, "log_dir": None},
        )

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Also reads pickles of former versions, which have fewer options or store each option as an attribute."""
        given = dict(state.get("options", state))
        if "autoreset" in given:
            given["autoreset_mode"] = AutoresetMode[given["autoreset"].name]
        defaults = {name: option.default for name, option in CONSTRUCTORS[state["kind"]].options.items()}
        options = {name: given.get(name, default) for name, default in defaults.items()}
        for name in ("kind", "env", "overrides"):
            self.__dict__[name] = state[name]
        self.__dict__["options"] = options


def takes_options(constructor: Constructor) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Turns `__init__(self, recipe)` into a constructor. It takes the options, anything that names an environment
    (`registration.source_of`), and the keywords of the environment. Keywords of a registration are added as if the
    caller had given them."""

    def decorated(init: Callable[..., None]) -> Callable[..., None]:
        signature = constructor.signature(Named)

        @functools.wraps(init)
        def made(self: Any, *args: Any, **keywords: Any) -> None:
            # Binding is the slowest part here, so it is skipped if possible.
            if args or constructor.env not in keywords:
                try:
                    given = signature.bind(self, *args, **keywords).arguments
                except TypeError as error:
                    raise TypeError(f"{type(self).__name__}.__init__(): {error}") from None
                del given["self"]
                overrides = given.pop("overrides", {})
                keywords = {**given, **overrides}
            init(self, recipe_of(constructor, keywords.pop(constructor.env, None), keywords))

        made.__signature__ = signature  # type: ignore[attr-defined]
        made.constructor = constructor  # type: ignore[attr-defined]
        return made

    return decorated


def recipe_of(constructor: Constructor, env: Named | None, keywords: dict[str, Any]) -> Recipe:
    """Returns the recipe for an environment name (`registration.source_of`) and keywords, which are options and
    keywords of the environment."""
    path, overrides = source_of(env, keywords)
    options = {}
    for name, option in constructor.options.items():
        value = overrides.pop(name, option.default)
        options[name] = option.check(name, value) if option.check else value
    return Recipe(constructor.name, path, overrides, options)


def one_world(env: Named, **keywords: Any) -> _core.Batch:
    """Returns a batch of one world with all its agents. Takes the keywords of `VectorEnv` and raises as `make_batch`
    does."""
    recipe = recipe_of(CONSTRUCTORS["VectorEnv"], env, keywords)
    recipe.options |= {"num_envs": 0, "log_dir": None}  # 0: not given
    return make_batch(recipe)


def make_batch(recipe: Recipe) -> _core.Batch:
    """Loads the environment, applies the caller's keywords, and makes the batch.

    Raises:
        TypeError: a keyword that the environment does not have, or a value that JSON cannot say.
        MissingFileError: there is no such environment file.
        WorldFileError: a mistake in the environment or world file, or in a keyword's value.
        ValueError: more envs than memory.
    """
    options = recipe.options
    folders = folders_of(options["roots"])
    overrides = plain_values(recipe.overrides)
    spec = load_env(_path_of(recipe), folders)
    if spec.several_agents and recipe.kind == "Env":
        raise ValueError(
            f"{recipe.env}: found several agents, but gymnasium.make takes one, expected"
            " mvsim_gym.pettingzoo.parallel_env, or gymnasium.make_vec, where each agent of a world is a row"
        )
    known = spec.keywords
    for name in overrides:
        if name not in known:
            raise unknown_keyword(recipe.kind, name, known)
    _core.apply_overrides(spec, flatten(overrides, known))
    if spec.on_end == "respawn" and recipe.kind == "parallel_env":
        raise ValueError(
            "on_end: found 'respawn', but agents of PettingZoo cannot come back, expected 'wait' or 'end_all'"
        )
    if options["max_episode_steps"] is not None:
        limit = options["max_episode_steps"] * spec.control_period
        spec.time_limit = min(limit, spec.time_limit) if spec.time_limit > 0 else limit
    batch = _core.Batch(spec, _native_options(recipe, folders))
    if options["log_dir"] is not None:
        batch.log_to(path_text("log_dir", options["log_dir"]))
    notice(batch.warnings)
    return batch


def _native_options(recipe: Recipe, folders: Sequence[str]) -> _core.BatchOptions:
    options = {"autoreset_mode": _AUTORESET.get(recipe.kind), **recipe.options}
    options["autoreset_mode"] = _core.AutoresetMode.__members__[options["autoreset_mode"].name]
    native = _core.BatchOptions(assets(), folders, all_resources(recipe.options["resources"] or {}))
    for name, option in all_options().items():
        if option.native and name in options:
            setattr(native, name, options[name])
    return native


def spec_of(recipe: Recipe) -> EnvSpec:
    """Returns the spec from which `gymnasium.make` makes this environment."""
    named = recipe.env in listing()
    keywords = {"env": recipe.env, **recipe.overrides}
    own = CONSTRUCTORS[recipe.kind].options
    for name, option in CONSTRUCTORS["Env"].options.items():
        if option.task and name in own and own[name].task:
            value = recipe.options[name]
            if value not in (option.default, [], {}):
                keywords[name] = value
    spec = copy.deepcopy(gym.spec(os.fspath(recipe.env) if named else CUSTOM_ID))
    spec.kwargs = keywords
    return marked(spec) or spec


class SpecWithTerms(EnvSpec):
    """An EnvSpec with Python functions. Its `to_json` raises an error that names them."""

    def to_json(self) -> str:
        """Raises ValueError."""
        for name in (*TERM_KEYWORDS, "body_policies"):
            for key in self.kwargs.get(name) or {}:
                raise ValueError(f"{name}['{key}'] is a Python function, which JSON cannot express")
        return super().to_json()


def marked(spec: EnvSpec | None) -> EnvSpec | None:
    """Returns the spec of an environment, as SpecWithTerms if it has functions."""
    if type(spec) is EnvSpec and any(spec.kwargs.get(name) for name in (*TERM_KEYWORDS, "body_policies")):
        spec.__class__ = SpecWithTerms
    return spec


def terms_of(options: Mapping[str, Any], batch: _core.Batch) -> Terms | None:
    """Returns the terms of a constructor's options; None without terms."""
    functions = {name: options.get(name) or {} for name in TERM_KEYWORDS}
    if not any(functions.values()):
        return None
    from mvsim_gym._terms import Terms  # Imported here because most environments have no terms in Python.

    return Terms(functions, batch)


def bodies_of(options: Mapping[str, Any], batch: _core.Batch) -> Bodies | None:
    """Returns the body policies of a constructor's options; None without them.

    Raises:
        ValueError: a function for a group with another policy, or no function for a group with policy="python".
    """
    functions = options.get("body_policies") or {}
    for _, group, policy in batch.bodies:
        if policy == "python" and group not in functions:
            raise ValueError(
                f"body_policies: '{group}' has policy=\"python\", expected a function for it: {{'{group}': function}}"
            )
    if not functions:
        return None
    from mvsim_gym._terms import Bodies  # Imported here because most environments have none.

    return Bodies(functions, batch)


def action_space(batch: _core.Batch) -> spaces.Box:
    """Returns the box [-1, 1] with one component for each component of the action."""
    return spaces.Box(-1.0, 1.0, (batch.action_size,), np.float32)


def observation_space(batch: _core.Batch, terms: Terms | None = None) -> spaces.Dict:
    """Returns a finite box for each observation of the environment file, with its shape and dtype, and one for each
    observation term."""
    native = {o.key: spaces.Box(o.low, o.high, dtype=o.dtype.type) for o in batch.observations}
    return spaces.Dict({**native, **(terms.spaces if terms else {})})


def draw_key(random: np.random.Generator) -> int:
    """Draws the 64-bit key that determines all randomness of an env's coming episodes."""
    return int(random.integers(0, 2**64, dtype=np.uint64))


def _path_of(recipe: Recipe) -> str:
    path = os.fspath(recipe.env)
    return listing().get(path, path)
