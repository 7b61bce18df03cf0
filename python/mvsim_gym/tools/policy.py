"""Who drives: what `--policy` names on the command line.

`random`, a folder that `mvsim-gym export` wrote, a model of Stable-Baselines3 (MODEL.zip), or FILE.py[:NAME], a file
whose `policies(env)` returns scripted policies by name, as examples/baselines.py does. The model and the file are code
that runs; the folder is none.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

import gymnasium as gym
import numpy as np
import numpy.typing as npt

from mvsim_gym._notices import extra
from mvsim_gym._outputs import flat_space, flattened
from mvsim_gym.tools.settings import combined
from mvsim_gym.vector_env import VectorEnv

if TYPE_CHECKING:
    from mvsim_gym.deploy.policy import PolicyFile

__all__ = ["Policy", "RandomPolicy", "envs_for", "keywords_of", "network_of", "policy_of", "read_model"]

Policy = Callable[[Mapping[str, npt.NDArray[Any]]], npt.NDArray[np.float32]]
"""Observations to actions, both with a row an env, or an agent."""


def keywords_of(name: str, settings: Mapping[str, Any] = MappingProxyType({})) -> dict[str, Any]:
    """The keywords of the environment that a model was trained with: the attribute `env_keywords` that it was saved
    with; none of a policy of another kind. Those of `settings` go before them.

    Raises:
        ValueError: they are no dict.
        OSError, ImportError: its file cannot be read, or the extra `sb3` is missing.
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
    """The environments that a policy drives: with observations by name, as policies are handed them, also where
    `env_id` was registered with `flatten=True`. Raises what `VectorEnv` raises.

    Args:
        keywords: of the environment, those of the policy (`keywords_of`) among them.
        options: of the constructor.
    """
    return VectorEnv(env_id, **{**keywords, **options, "flatten": False})


def policy_of(name: str, env_id: str, envs: VectorEnv) -> Policy:
    """What drives `envs`, which were made of `env_id`.

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
        return _learned(name, env_id, envs)
    if file.endswith(".py"):
        return _scripted(file, which, env_id)
    raise ValueError(
        f"--policy: found '{name}', expected 'random', a folder of `mvsim-gym export`, a model of Stable-Baselines3"
        " (MODEL.zip), or FILE.py[:NAME] with a function policies(env)"
    )


class RandomPolicy:
    """The policy `random`, by numbers of its own for each world, which `begin` chooses: its episode is the same beside
    whichever others it runs."""

    def __init__(self, envs: VectorEnv) -> None:
        self._shape = (envs.num_agents, *envs.single_action_space.shape)  # type: ignore[misc]
        self._count = envs.num_envs // envs.num_agents
        self.begin(0)

    def begin(self, seed: int) -> None:
        """World k draws by the seed `seed` + k from now on."""
        self._random = [np.random.default_rng(seed + k) for k in range(self._count)]

    def __call__(self, _: Mapping[str, npt.NDArray[Any]]) -> npt.NDArray[np.float32]:
        """(rows, action size)"""
        drawn = [random.uniform(-1, 1, self._shape) for random in self._random]
        return np.concatenate(drawn).astype(np.float32)


def _exported(folder: str) -> PolicyFile:
    from mvsim_gym.deploy.policy import load_policy

    return load_policy(folder)


def _learned(path: str, env_id: str, envs: VectorEnv) -> Policy:
    from mvsim_gym.learners.sb3 import FlatObservation

    space = envs.single_observation_space
    assert isinstance(space, gym.spaces.Dict)
    network, form = network_of(path, env_id, envs)
    flat, keys = FlatObservation(space), list(space.spaces)
    seen: Callable[[Mapping[str, npt.NDArray[Any]]], Any] = dict if form == "dict" else flat
    if form == "flat":
        seen = lambda observations: flattened(observations[key] for key in keys)  # noqa: E731
    return lambda observations: np.asarray(network.predict(seen(observations), deterministic=True)[0])


def network_of(path: str, env_id: str, envs: VectorEnv) -> tuple[Any, Literal["dict", "scaled", "flat"]]:
    """The policy of a model of Stable-Baselines3, and what it sees of an environment: the dict, what `MVSimVecEnv`
    makes of it, or the vector of `flatten=True`.

    Raises:
        ValueError: it is no such model, or for another environment.
        OSError, ImportError: its file cannot be read, or the extra `sb3` is missing.
    """
    data, parameters = read_model(path)
    from mvsim_gym.learners.sb3 import FlatObservation

    if not data or "policy_class" not in data or "policy" not in parameters:
        raise ValueError(f"--policy: '{path}' is no model of Stable-Baselines3")
    space = envs.single_observation_space
    assert isinstance(space, gym.spaces.Dict)
    trained = data["observation_space"]
    flat = FlatObservation(space)
    is_dict = isinstance(trained, gym.spaces.Dict) and _shape_of(trained) != _shape_of(flat.space)
    form: Literal["dict", "scaled", "flat"] = "dict" if is_dict else "scaled"
    for what, own, found in (
        ("observations", trained, space if is_dict else flat.space),
        ("actions", data["action_space"], envs.single_action_space),
    ):
        if _shape_of(own) != _shape_of(found):
            raise ValueError(
                f"--policy: '{path}' was trained with {what} of shape {_shape_of(own)}, those of '{env_id}' have"
                f" {_shape_of(found)}"
            )
    if isinstance(trained, gym.spaces.Box) and not _alike(trained, flat.space):
        if not _alike(trained, flat_space(space)):
            raise ValueError(
                f"--policy: '{path}' was trained with observations between other bounds than those of '{env_id}',"
                " expected [-1, 1] as MVSimVecEnv has them, or those of flatten=True (what a wrapper has changed cannot"
                " be told from here)"
            )
        form = "flat"
    # only its network: which algorithm trained it makes no difference any more
    network = data["policy_class"](
        data["observation_space"],
        data["action_space"],
        lambda _: 0.0,
        **{**data["policy_kwargs"], **({"use_sde": True} if data.get("use_sde") else {})},
    )
    network.load_state_dict(parameters["policy"])
    return network, form


def read_model(path: str) -> tuple[dict[str, Any] | None, dict[str, Any]]:
    """What a model of Stable-Baselines3 was saved with, and the parameters of its parts. Its file is code that runs.

    Raises:
        OSError, ImportError: its file cannot be read, or the extra `sb3` is missing.
    """
    if not os.path.isfile(path):
        raise FileNotFoundError(f"--policy: there is no file '{path}'")
    with extra("a MODEL.zip as --policy", "sb3"):
        from stable_baselines3.common.save_util import load_from_zip_file
    data, parameters, _ = load_from_zip_file(path, device="cpu")
    return data, parameters


def _alike(space: gym.spaces.Box, other: Any) -> bool:
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
    """A file run as a module, with those beside it importable as for `python FILE`."""
    spec = importlib.util.spec_from_file_location(os.path.basename(path).removesuffix(".py"), path)
    assert spec is not None and spec.loader is not None  # of a name that ends in .py
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    spec.loader.exec_module(module)
    return module
