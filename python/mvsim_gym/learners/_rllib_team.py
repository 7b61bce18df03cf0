"""A world with several agents as a multi-agent environment of RLlib."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
from ray.rllib.env.multi_agent_env import MultiAgentEnv

from mvsim_gym._notices import extra
from mvsim_gym.registration import Named

_APART = 2**20
"""Difference of seeds between env runners, larger than the number of worlds of a runner."""

PerAgent = dict[str, Any]


class TeamEnv(MultiAgentEnv):
    """One world for RLlib's multi-agent runners, with its agents by the names of their vehicles.

    Ray's own wrapper of PettingZoo environments ends an episode only if all agents that ended in the last step ended
    alike. Otherwise it goes on to step an empty world. In addition, RLlib treats an episode as terminated if all its
    agents are done, so values of agents at a time limit would count as zero. Here an agent that a time limit ends in
    the last step is reported by "__all__" alone.

    Args:
        env: as for `parallel_env`.
        runner: index of the env runner, on which the episodes depend.
        keywords: as for `parallel_env`; the default of `flatten` is True.
    """

    def __init__(self, env: Named, runner: int = 0, **keywords: Any) -> None:
        super().__init__()
        with extra("rllib.register_team", "pettingzoo"):
            from mvsim_gym.learners.pettingzoo import parallel_env
        self.world = parallel_env(env, **{"flatten": True, **keywords})
        self._first_seed = runner * _APART
        self.possible_agents = list(self.world.possible_agents)
        self.agents = list(self.possible_agents)
        self.observation_spaces = dict(self.world.observation_spaces)
        self.action_spaces = dict(self.world.action_spaces)
        self.observation_space = gym.spaces.Dict(self.observation_spaces)
        self.action_space = gym.spaces.Dict(self.action_spaces)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[PerAgent, PerAgent]:
        """Starts an episode of all agents."""
        own = None if seed is None else seed + self._first_seed
        observations, infos = self.world.reset(seed=own, options=options)
        self.agents = list(self.world.agents)
        return observations, infos

    def step(self, action_dict: PerAgent) -> tuple[PerAgent, PerAgent, PerAgent, PerAgent, PerAgent]:
        """Advances the world. Actions beyond [-1, 1] are clipped."""
        observations, rewards, terminated, truncated, infos = self.world.step(action_dict)
        self.agents = list(self.world.agents)
        over = not self.agents
        at_limit = over and any(truncated[name] and not terminated[name] for name in truncated)
        cut_off: PerAgent = {name: cut and not over for name, cut in truncated.items()}
        return (
            observations,
            rewards,
            {**terminated, "__all__": over and not at_limit},
            {**cut_off, "__all__": at_limit},
            infos,
        )

    def render(self) -> Any:
        """Returns a picture of the world, as `parallel_env` does."""
        return self.world.render()

    def close(self) -> None:
        """Closes the world."""
        self.world.close()
