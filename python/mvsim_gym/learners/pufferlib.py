"""The native batch as an environment of PufferLib that writes into PufferLib's buffers."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pufferlib
from gymnasium.vector import AutoresetMode

from mvsim_gym.learners._flat import refuse_waiting
from mvsim_gym.registration import Named
from mvsim_gym.vector_env import VectorEnv


class MVSimPufferEnv(pufferlib.PufferEnv):
    """`num_envs` copies of an environment, each an agent. It is made by `pufferlib.vector.make` or directly.

    Observations, rewards and flags are written to PufferLib's arrays, which are in shared memory if it has workers. A
    time limit sets `terminals` as well as `truncations`. PufferLib's learner reads no truncations, and would otherwise
    bootstrap across episodes. Infos have success, return and length of ended episodes.

    Args:
        env: as for `mvsim_gym.VectorEnv`.
        num_envs: number of envs.
        buf: PufferLib's arrays, passed by its `vector.make`.
        seed: seed of the first env, for the first reset without a seed.
        keywords: as for `mvsim_gym.VectorEnv`.
    """

    def __init__(
        self, env: Named, num_envs: int = 64, buf: Any = None, seed: int | None = None, **keywords: Any
    ) -> None:
        options = {**keywords, "flatten": True, "copy": False, "autoreset_mode": AutoresetMode.SAME_STEP}
        self.envs = VectorEnv(env, num_envs=num_envs, **options)
        refuse_waiting(self.envs.num_agents, self.envs.on_end, "PufferLib")
        self.single_observation_space = self.envs.single_observation_space
        self.single_action_space = self.envs.single_action_space
        self.num_agents = num_envs
        self._seed = seed
        self._returns = np.zeros(num_envs)
        self._lengths = np.zeros(num_envs)
        super().__init__(buf)

    def reset(self, seed: int | None = None) -> tuple[npt.NDArray[np.float32], list[dict[str, Any]]]:
        """Starts an episode in every env."""
        self.envs.reset(seed=self._seed if seed is None else seed, out=self.observations)
        self._seed = None
        for array in (self.rewards, self.terminals, self.truncations, self._returns, self._lengths):
            array[:] = 0
        return self.observations, []

    def step(self, actions: npt.NDArray[np.float32]) -> tuple[Any, Any, Any, Any, list[dict[str, Any]]]:
        """Steps all envs. Returns PufferLib's arrays, and infos."""
        _, rewards, terminated, truncated, infos = self.envs.step(actions, out=self.observations)
        self.rewards[:] = rewards
        np.logical_or(terminated, truncated, out=self.terminals)
        self.truncations[:] = truncated
        self._returns += rewards
        self._lengths += 1
        if not self.terminals.any():
            return self.observations, self.rewards, self.terminals, self.truncations, []
        ended = self.terminals.copy()
        info = {
            "success": infos["final_info"]["success"][ended].tolist(),
            "episode_return": self._returns[ended].tolist(),
            "episode_length": self._lengths[ended].tolist(),
        }
        self._returns[ended] = self._lengths[ended] = 0
        return self.observations, self.rewards, self.terminals, self.truncations, [info]

    def close(self) -> None:
        """Frees threads and memory."""
        self.envs.close()
