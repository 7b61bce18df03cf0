"""The native batch as a vector environment of rl_games."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode
from rl_games.common import env_configurations, vecenv
from rl_games.common.ivecenv import IVecEnv

from mvsim_gym.learners._flat import refuse_waiting
from mvsim_gym.registration import Named
from mvsim_gym.vector_env import VectorEnv

_TYPE = "MVSIM"


class GamesVecEnv(IVecEnv):
    """`num_actors` copies of an environment in one native batch. Episodes ended by a time limit are marked in
    `infos["time_outs"]`; rl_games bootstraps them with `value_bootstrap: True`.

    Args:
        env: as for `mvsim_gym.VectorEnv`.
        num_actors: number of envs.
        keywords: as for `mvsim_gym.VectorEnv`; `seed` is the seed of the first env.
    """

    def __init__(self, env: Named, num_actors: int, seed: int | None = None, **keywords: Any) -> None:
        options = {**keywords, "flatten": True, "autoreset_mode": AutoresetMode.SAME_STEP}
        self.envs = VectorEnv(env, num_envs=num_actors, **options)
        refuse_waiting(self.envs.num_agents, self.envs.on_end, "rl_games")
        self._seed = seed

    def reset(self) -> npt.NDArray[np.float32]:
        """Returns the first observations."""
        observation, _ = self.envs.reset(seed=self._seed)
        self._seed = None
        return np.asarray(observation)

    def step(
        self, actions: npt.NDArray[np.float32]
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32], npt.NDArray[np.bool_], dict[str, Any]]:
        """Returns observations, rewards, dones and infos."""
        observation, reward, terminated, truncated, _ = self.envs.step(actions)
        infos = {"time_outs": truncated & ~terminated}
        return observation, reward.astype(np.float32), terminated | truncated, infos

    def seed(self, seed: int | None) -> None:
        """Sets the seed of the next reset: env i gets seed + i."""
        self._seed = seed

    def get_env_info(self) -> dict[str, Any]:
        """Returns the spaces of one env."""
        return {
            "observation_space": self.envs.single_observation_space,
            "action_space": self.envs.single_action_space,
            "agents": 1,
            "value_size": 1,
        }


def register(env: Named, name: str = "mvsim", **keywords: Any) -> str:
    """Registers an environment with rl_games.

    Args:
        env: path of an environment file, or what `gymnasium.make` takes.
        name: the name to register.
        keywords: as for `mvsim_gym.VectorEnv`; those in `env_config` are added.

    Returns:
        The name, for `env_name` in the `config` of its parameters; `num_actors` there is the number of envs.
    """

    def make(config_name: str, num_actors: int, **config: Any) -> GamesVecEnv:
        own = env_configurations.configurations[config_name]["mvsim"]
        return GamesVecEnv(own["env"], num_actors, **{**own["keywords"], **config})

    vecenv.register(_TYPE, make)
    env_configurations.register(
        name, {"vecenv_type": _TYPE, "env_creator": None, "mvsim": {"env": env, "keywords": keywords}}
    )
    return name
