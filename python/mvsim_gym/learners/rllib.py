"""Registers environments with RLlib (new API stack): native batches for env runners, and worlds with several agents for
multi-agent runners."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import ray
from gymnasium import spaces
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space
from ray.tune import register_env

from mvsim_gym._build import one_world
from mvsim_gym._checks import checked_seed
from mvsim_gym.learners._flat import FlatObservation, Scaling, refuse_waiting, scale, scaling
from mvsim_gym.learners._rllib_team import TeamEnv
from mvsim_gym.registration import Named, listing, source_of
from mvsim_gym.vector_env import Seeds, VectorEnv

__all__ = ["FlatObservation", "RunnerEnv", "TeamEnv", "register", "register_team"]

_OWN = ("scaled", "reward_scale")
"""Keywords of `RunnerEnv` in addition to those of VectorEnv."""
_APART = 2**20
"""Difference of seeds between env runners, larger than the number of envs of a runner."""


class RunnerEnv(VectorEnv):
    """A `VectorEnv` with seeds for one env runner.

    RLlib resets runner k with its seed + k, and Gymnasium gives env i of a batch the seed + i. Env 1 of runner 0 and
    env 0 of runner 1 would then have the same episodes. Here env i gets s * 2**20 + i for a seed s.

    With `scaled` a flat observation is scaled by the bounds of its space to [-1, 1]. Rewards are multiplied by
    `reward_scale`. RLlib has connectors for both, but they take longer than a step.
    """

    def __init__(
        self, env: Named | None = None, *, scaled: bool = False, reward_scale: float = 1.0, **keywords: Any
    ) -> None:
        if not reward_scale > 0:
            raise ValueError(f"reward_scale: found {reward_scale}, expected a number above 0")
        super().__init__(env, **keywords)
        self.reward_scale = reward_scale
        self._scaling: Scaling | None = None
        if not scaled:
            return
        space = self.single_observation_space
        if not isinstance(space, spaces.Box):
            self.close()
            raise ValueError("scaled: found it with flatten=False, expected flatten=True")
        self._scaling = scaling(space.low, space.high)
        self.single_observation_space = self._scaling.space
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)

    def reset(
        self, *, seed: Seeds = None, options: dict[str, Any] | None = None, out: Any = None
    ) -> tuple[Any, dict[str, Any]]:
        """Does the same as `VectorEnv.reset`, except for the meaning of an int as seed."""
        if isinstance(seed, int | np.integer):
            first = checked_seed(seed) * _APART
            seed = [first + k for k in range(self.num_worlds)]
        observation, infos = super().reset(seed=seed, options=options, out=out)
        return self._scaled(observation), infos

    def step(self, actions: npt.NDArray[np.float32], *, out: Any = None) -> Any:
        """Does the same as `VectorEnv.step`. Clips the actions here, because clipping by RLlib takes longer than the
        step: `config.environment(name, normalize_actions=False, clip_actions=False)`."""
        observation, rewards, *ends, infos = super().step(np.clip(actions, -1, 1), out=out)
        if self.reward_scale != 1:
            rewards = self.reward_scale * rewards
        return self._scaled(observation), rewards, *ends, infos

    def _scaled(self, observation: Any) -> Any:
        return observation if self._scaling is None else scale(np.array(observation), self._scaling)


@dataclass(frozen=True)
class _Creator:
    """A callable that Tune calls on each env runner, with the `env_config` as a plain dict."""

    env: str
    keywords: dict[str, Any]
    """Options of `RunnerEnv`."""

    def __call__(self, config: dict[str, Any]) -> RunnerEnv:
        given = {"flatten": True, "num_threads": threads_of_runner(), **self.keywords, **config}
        if "num_envs" not in config:
            raise ValueError(
                f"{self.env}: RLlib asks for environments one by one, expected"
                " config.env_runners(gym_env_vectorize_mode='vector_entry_point', num_envs_per_env_runner=64)"
            )
        envs = RunnerEnv(self.env, **given)
        if envs.autoreset_mode is not AutoresetMode.NEXT_STEP:
            envs.close()
            raise ValueError(
                f"autoreset_mode: found {envs.autoreset_mode.value}, expected {AutoresetMode.NEXT_STEP.value}: RLlib"
                " assumes that the step after an episode's end is the reset"
            )
        return envs


@dataclass(frozen=True)
class _TeamCreator:
    """A callable that Tune calls for each world of an env runner, with RLlib's `EnvContext`."""

    env: str
    keywords: dict[str, Any]

    def __call__(self, config: dict[str, Any]) -> TeamEnv:
        return TeamEnv(self.env, getattr(config, "worker_index", 0), **{**self.keywords, **config})


def threads_of_runner() -> int:
    """Returns the number of processors that Ray has assigned to this env runner (`num_cpus_per_env_runner`). In the
    training process it is 0, so that the batch chooses."""
    if not ray.is_initialized() or ray.get_runtime_context().get_actor_id() is None:
        return 0
    return max(1, int(ray.get_runtime_context().get_assigned_resources().get("CPU", 1)))


def register(
    env: Named, name: str | None = None, *, scaled: bool = False, reward_scale: float = 1.0, **keywords: Any
) -> str:
    """Registers an environment with RLlib on every node, as one native batch for each env runner.

    Args:
        env: path of an environment file, or what `gymnasium.make` takes. A file must lie at the same path on all nodes.
        name: the name to register; by default that of `env`.
        scaled: observations scaled by the bounds of their space to [-1, 1].
        reward_scale: factor of rewards; it also scales the returns in RLlib's results.
        keywords: as for `gymnasium.make_vec`; those in `env_config` replace them. `flatten` is True, since RLlib's
            default networks take no dicts. `num_threads` is the number of processors of the env runner.

    Returns:
        The name, for `config.environment(name, normalize_actions=False, clip_actions=False)`. Use it together with
        `config.env_runners(gym_env_vectorize_mode="vector_entry_point", num_envs_per_env_runner=64)`.

    Raises:
        ValueError: an autoreset mode other than NEXT_STEP, which RLlib assumes; `num_envs` instead of RLlib's
            `num_envs_per_env_runner`; `scaled` with dicts; a `reward_scale` that is not above 0.
        MissingFileError, WorldFileError, TypeError: as for `mvsim_gym.VectorEnv`, which is made here for a check.

    With several agents each is a row, and one policy drives all. `num_envs_per_env_runner` must be a multiple of the
    agents of a world, and `on_end` must be "respawn" or "end_all". `register_team` keeps the agents apart by name.
    """
    if "num_envs" in keywords:
        raise ValueError(
            "num_envs: found it as a keyword, expected config.env_runners(num_envs_per_env_runner="
            f"{keywords['num_envs']})"
        )
    known, given = _name_for_processes(env, keywords)
    batch = one_world(known, **{name: value for name, value in given.items() if name not in _OWN})
    refuse_waiting(batch.num_agents, batch.spec.on_end, "RLlib", ", or mvsim_gym.rllib.register_team")
    creator = _Creator(known, {**given, "scaled": scaled, "reward_scale": reward_scale})
    creator({"num_envs": batch.num_agents, "num_threads": 1}).close()
    return _registered(env, name, creator)


def register_team(env: Named, name: str | None = None, **keywords: Any) -> str:
    """Registers an environment with several agents with RLlib, as a `MultiAgentEnv` for each world.
    `config.multi_agent(policies=..., policy_mapping_fn=...)` assigns a policy to each vehicle.

    RLlib steps the `num_envs_per_env_runner` worlds of a runner one by one. If one policy drives all, `register` is
    many times as fast.

    Args:
        env, name, keywords: as for `register`; keywords as for `mvsim_gym.pettingzoo.parallel_env`.

    Returns:
        The name, for `config.environment(name)`.

    Raises:
        ValueError: `on_end="respawn"`, because an agent of RLlib has one episode in that of its world.
        MissingFileError, WorldFileError, TypeError: as for `parallel_env`, which is made here for a check.
    """
    known, given = _name_for_processes(env, keywords)
    creator = _TeamCreator(known, given)
    creator({}).close()
    return _registered(env, name, creator)


def _name_for_processes(env: Named, keywords: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Returns an environment by a name that other processes know, and its keywords."""
    path, given = source_of(env, keywords)
    known = next((id for id, listed in listing().items() if listed == path), os.path.abspath(path))
    return known, given


def _registered(env: Named, name: str | None, creator: Any) -> str:
    name = name or str(getattr(env, "id", None) or os.fspath(env))  # type: ignore[arg-type]
    register_env(name, creator)
    return name
