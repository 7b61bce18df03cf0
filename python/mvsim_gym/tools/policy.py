"""Policies that `--policy` names on the command line.

They are `random`, a folder that `mvsim-gym export` wrote, a model of Stable-Baselines3 (MODEL.zip), or FILE.py[:NAME].
The function `policies(env)` of such a file returns scripted policies by name, as in examples/baselines.py. Loading a
model or a file runs its code; a folder contains none. Whole episodes are for films and data sets.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import gymnasium as gym
import numpy as np
import numpy.typing as npt

from mvsim_gym._build import one_world, recipe_of
from mvsim_gym._constructors import CONSTRUCTORS
from mvsim_gym._notices import extra, notice
from mvsim_gym._outputs import flat_space, flattened
from mvsim_gym.tools.options import combined
from mvsim_gym.vector_env import VectorEnv

if TYPE_CHECKING:
    from mvsim_gym.deploy.policy import PolicyFile

Policy = Callable[[Mapping[str, npt.NDArray[Any]]], npt.NDArray[np.float32]]
"""Maps observations to actions. Both have a row for each env or agent. If it has a state, see `begin_episodes`."""


class Form(NamedTuple):
    """The form of observations that a model of Stable-Baselines3 takes."""

    kind: Literal["dict", "scaled", "flat"]
    """the dict, what `MVSimVecEnv` gives, or the vector of `flatten=True`"""
    key: str | None = None
    """the part that `VecExtractDictObs` took"""


def keywords_of(name: str, settings: Mapping[str, Any] = MappingProxyType({})) -> dict[str, Any]:
    """Returns the keywords of the environment in which a model was trained, from the attribute `env_keywords` that was
    saved with it. Policies of other kinds have none. Those in `settings` override them.

    Raises:
        ValueError: the attribute is no dict.
        OSError, ImportError: the file cannot be read, or the extra `sb3` is missing.
    """
    if os.path.isdir(name):
        return combined(_exported(name).keywords, settings)
    if not name.endswith(".zip"):
        return dict(settings)
    data, _ = read_model(name)
    keywords = (data or {}).get("env_keywords", {})
    if not isinstance(keywords, dict):
        raise ValueError(f"--policy: '{name}' has {keywords!r} for env_keywords, expected a dict")
    return combined(keywords, settings)


def envs_for(env_id: str, keywords: Mapping[str, Any], **options: Any) -> VectorEnv:
    """Returns the environments for a policy. Their observations are dicts, as policies expect, even if `env_id` was
    registered with `flatten=True`. Raises the errors of `VectorEnv`.

    Args:
        keywords: keywords of the environment, including those of the policy (`keywords_of`).
        options: further keywords of the constructor.
    """
    return VectorEnv(env_id, **{**keywords, **options, "flatten": False})


def policy_of(
    name: str, env_id: str, envs: VectorEnv, *, normalize: Callable[[Any], Any] | None = None
) -> Policy:
    """Returns the policy for `envs`, which were made of `env_id`.

    Args:
        normalize: of a MODEL.zip, `VecNormalize.normalize_obs` or the like, from observations to those that it takes.

    Raises:
        ValueError: there is no such policy, or it is for another environment.
        OSError, ImportError: its file cannot be read, or the extra `sb3` is missing.
    """
    file, _, which = name.partition(":")
    if name == "random":
        return lambda _: envs.action_space.sample()
    if os.path.isdir(name):
        return _exported(name).for_envs(env_id, envs.single_observation_space, envs.single_action_space)
    if name.endswith(".zip"):
        return _learned(name, env_id, envs, normalize)
    if file.endswith(".py"):
        return _scripted(file, which, env_id)
    raise ValueError(
        f"--policy: found '{name}', expected 'random', a folder of `mvsim-gym export`, a model of Stable-Baselines3"
        " (MODEL.zip), or FILE.py[:NAME] with a function policies(env)"
    )


def begin_episodes(policy: Policy, rows: npt.NDArray[np.bool_] | None = None) -> None:
    """Resets the state of a recurrent policy at the begin of episodes, of all rows or of those of a mask."""
    begin = getattr(policy, "begin", None)
    if begin is not None and not isinstance(policy, RandomPolicy):
        begin(rows)


class RandomPolicy:
    """The policy `random`. Each world has its own random numbers, which `begin` seeds. So an episode does not depend on
    the other worlds."""

    def __init__(self, envs: VectorEnv) -> None:
        self._shape = (envs.num_agents, *envs.single_action_space.shape)  # type: ignore[misc]
        self._count = envs.num_envs // envs.num_agents
        self.begin(0)

    def begin(self, seed: int) -> None:
        """Seeds the random numbers of world k with `seed` + k."""
        self._random = [np.random.default_rng(seed + k) for k in range(self._count)]

    def __call__(self, _: Mapping[str, npt.NDArray[Any]]) -> npt.NDArray[np.float32]:
        """Returns random actions, (rows, action size)."""
        drawn = [random.uniform(-1, 1, self._shape) for random in self._random]
        return np.concatenate(drawn).astype(np.float32)


def _exported(folder: str) -> PolicyFile:
    from mvsim_gym.deploy.policy import load_policy

    return load_policy(folder)


def _learned(
    path: str, env_id: str, envs: VectorEnv, normalize: Callable[[Any], Any] | None = None
) -> Policy:
    from mvsim_gym.learners.sb3 import FlatObservation

    if normalize is None and is_normalized(path):
        notice(
            [
                f"--policy: '{path}' was trained in VecNormalize, whose statistics are not in it: its actions are right"
                " only if no observations were normalised; `mvsim-gym export --normalize FILE.pkl` adds them"
            ]
        )

    space = envs.single_observation_space
    assert isinstance(space, gym.spaces.Dict)
    network, form = network_of(path, env_id, envs)
    flat, keys = FlatObservation(space), list(space.spaces)

    def seen(observations: Mapping[str, npt.NDArray[Any]]) -> Any:
        if form.kind == "flat":
            given: Any = flattened(observations[key] for key in keys)
        else:
            given = dict(observations) if form.kind == "dict" else flat(observations)
        given = given[form.key] if form.key else given
        return normalize(given) if normalize else given

    if hasattr(network, "lstm_actor"):
        return _Recurrent(network, seen)
    return lambda observations: np.asarray(network.predict(seen(observations), deterministic=True)[0])


class _Recurrent:
    """RecurrentPPO of sb3-contrib, with its state."""

    def __init__(self, network: Any, seen: Callable[[Mapping[str, npt.NDArray[Any]]], Any]) -> None:
        self._network, self._seen = network, seen
        self._states: tuple[npt.NDArray[np.float32], ...] | None = None  # (layers, n, size)

    def begin(self, rows: npt.NDArray[np.bool_] | None = None) -> None:
        if rows is None:
            self._states = None
        for state in self._states or ():
            state[:, rows] = 0

    def __call__(self, observations: Mapping[str, npt.NDArray[Any]]) -> npt.NDArray[np.float32]:
        actions, states = self._network.predict(self._seen(observations), self._states, deterministic=True)
        self._states = tuple(map(np.array, states))
        return np.asarray(actions)


def is_normalized(path: str) -> bool:
    """Returns whether a model of Stable-Baselines3 was trained in `VecNormalize`, whose statistics are another file.
    PPO and A2C keep an observation before normalisation only then. SAC and TD3 always keep one. Their last observation
    tells, because normalised values exceed the bounds."""
    data = read_model(path)[0] or {}
    if data.get("_last_original_obs") is None:
        return False
    if "replay_buffer_class" not in data:
        return True
    space, last = data.get("observation_space"), data.get("_last_obs")
    parts: Mapping[str, Any] = space.spaces if isinstance(space, gym.spaces.Dict) else {"": space}
    rows: Mapping[str, Any] = last if isinstance(last, dict) else {"": last}
    given = [(rows[key], box) for key, box in parts.items() if rows.get(key) is not None]
    return any(bool(((seen < box.low - 1e-3) | (seen > box.high + 1e-3)).any()) for seen, box in given)


def trained_space(path: str) -> Any:
    """Returns the observation space of a model of Stable-Baselines3, None if the file is no model."""
    return (read_model(path)[0] or {}).get("observation_space")


def network_of(path: str, env_id: str, envs: VectorEnv) -> tuple[Any, Form]:
    """Returns the policy of a model of Stable-Baselines3, and the form of observations that it takes.

    Raises:
        ValueError: the file is no such model, or the model is for another environment.
        OSError, ImportError: the file cannot be read, or the extra `sb3` is missing.
    """
    data, parameters = read_model(path)
    from mvsim_gym.learners.sb3 import FlatObservation

    if data and "policy_class" not in data and any("lstm" in name for name in parameters.get("policy", {})):
        raise ImportError(f"--policy: '{path}' is a recurrent model: pip install sb3-contrib")
    if not data or "policy_class" not in data or "policy" not in parameters:
        raise ValueError(f"--policy: '{path}' is no model of Stable-Baselines3")
    space = envs.single_observation_space
    assert isinstance(space, gym.spaces.Dict)
    trained = data["observation_space"]
    flat = FlatObservation(space)
    is_dict = isinstance(trained, gym.spaces.Dict) and _shape_of(trained) != _shape_of(flat.space)
    form = Form("dict" if is_dict else "scaled")
    expected: Any = space if is_dict else flat.space
    if isinstance(trained, gym.spaces.Box) and isinstance(expected, gym.spaces.Dict):
        same = [key for key, part in expected.spaces.items() if part.shape == trained.shape]
        if len(same) == 1:
            form, expected = Form("scaled", same[0]), expected[same[0]]
    for what, own, found in (
        ("observations", trained, expected),
        ("actions", data["action_space"], envs.single_action_space),
    ):
        if _shape_of(own) != _shape_of(found):
            raise ValueError(
                f"--policy: '{path}' was trained with {what} of shape {_shape_of(own)}, those of '{env_id}' have"
                f" {_shape_of(found)}"
            )
    if isinstance(trained, gym.spaces.Box) and not _have_same_bounds(trained, expected):
        if not _have_same_bounds(trained, flat_space(space)):
            raise ValueError(
                f"--policy: '{path}' was trained with observations between other bounds than those of '{env_id}',"
                " expected [-1, 1] as MVSimVecEnv has them, or those of flatten=True (changes by a wrapper are"
                " not known here)"
            )
        form = Form("flat")
    # the network is enough; the algorithm that trained it does not matter here
    network = data["policy_class"](
        data["observation_space"],
        data["action_space"],
        lambda _: 0.0,
        **{**data["policy_kwargs"], **({"use_sde": True} if data.get("use_sde") else {})},
    )
    network.load_state_dict(parameters["policy"])
    return network, form


def read_model(path: str) -> tuple[dict[str, Any] | None, dict[str, Any]]:
    """Returns the data that a model of Stable-Baselines3 was saved with, and the parameters of its parts. Loading the
    file runs its code.

    Raises:
        OSError, ImportError: the file cannot be read, or the extra `sb3` is missing.
    """
    if not os.path.isfile(path):
        raise FileNotFoundError(f"--policy: there is no file '{path}'")
    with extra("a MODEL.zip as --policy", "sb3"):
        from stable_baselines3.common.save_util import load_from_zip_file
    data, parameters, _ = load_from_zip_file(path, device="cpu")
    return data, parameters


def _have_same_bounds(space: gym.spaces.Box, other: Any) -> bool:
    return bool(np.allclose(space.low, other.low) and np.allclose(space.high, other.high))


def _shape_of(space: Any) -> Any:
    if isinstance(space, gym.spaces.Dict):
        return {key: part.shape for key, part in space.spaces.items()}
    return space.shape


def _scripted(path: str, which: str, env_id: str) -> Policy:
    policies = getattr(_module_of(path), "policies", None)
    if not callable(policies):
        raise ValueError(f"--policy: '{path}' has no function policies(env)")
    found = policies(env_id)
    if not found:
        raise ValueError(f"--policy: '{path}' has no policy for '{env_id}'")
    if which and which not in found:
        raise ValueError(f"--policy: found '{which}', '{path}' has: {', '.join(found)}")
    policy = found[which or next(iter(found))]
    return lambda o: np.asarray(policy(dict(o)), np.float32)


def _module_of(path: str) -> Any:
    """Runs a file as a module. Modules beside it can be imported, as with `python FILE`."""
    spec = importlib.util.spec_from_file_location(os.path.basename(path).removesuffix(".py"), path)
    assert spec is not None and spec.loader is not None  # since the name ends in .py
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    spec.loader.exec_module(module)
    return module


def agents_of(env_id: str, keywords: Mapping[str, Any]) -> int:
    """Returns the number of rows that one world has in a `VectorEnv` with these keywords.

    Raises:
        ValueError: agents restart one by one, so episodes of the world have no end.
    """
    batch = one_world(env_id, **keywords)
    if batch.spec.on_end == "respawn":
        raise ValueError(
            f"{env_id}: found on_end=\"respawn\", expected 'wait' or 'end_all': with respawn agents restart one by one,"
            " so an episode of the world has no end"
        )
    return batch.num_agents


def is_flat(env_id: str) -> bool:
    """Returns whether the id was registered with `flatten=True`, so that its observations are one vector."""
    return bool(recipe_of(CONSTRUCTORS["VectorEnv"], env_id, {}).options["flatten"])


def ends_of(finished: npt.NDArray[np.bool_], infos: dict[str, Any]) -> dict[int, dict[str, Any]]:
    """Returns the infos, as of `Env`, of the rows whose episode ended in a step; `infos` are those of the step."""
    return {
        row: {
            key: values[row].item()
            for key, values in infos.items()
            if not key.startswith("_") and infos[f"_{key}"][row]
        }
        for row in finished.nonzero()[0].tolist()
    }


def outcome(info: dict[str, Any]) -> str:
    """Returns one word for how an episode ended, from the info of its last step."""
    if info["success"]:
        return "success"
    held = [key.removeprefix("terminated/") for key in info if key.startswith("terminated/") and info[key]]
    if held:
        return held[0]
    # an episode without any of these ended with another agent of its world
    return next((word for word in ("timeout", "diverged") if info[word]), "cut short")
