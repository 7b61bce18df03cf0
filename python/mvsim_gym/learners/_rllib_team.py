"""A world with several agents as a multi-agent environment of RLlib."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
from ray.rllib.env.multi_agent_env import MultiAgentEnv

from mvsim_gym._notices import extra
from mvsim_gym.registration import Named

__all__ = ["TeamEnv"]

_APART = 2**20
"""Seeds from one env runner to the next: more than a runner has worlds."""

PerAgent = dict[str, Any]


class TeamEnv(MultiAgentEnv):
    """One world, its agents by the names of their vehicles, for RLlib's multi-agent runners.

    Ray's own wrapper of PettingZoo's environments says that an episode is over only where all that ended in its last
    step ended alike, and goes on stepping an empty world otherwise. And RLlib takes an episode whose agents have all
    said that they are done for terminated as a whole, so values of agents at a time limit would be taken for zero. Here
    an agent that a time limit ends in the last step says so by "__all__" alone.

    Args:
        env: as for `parallel_env`.
        runner: index of the env runner; its episodes are others than those of other runners.
        keywords: as for `parallel_env`; `flatten` is True unless said.
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
        """Advances the world; actions beyond [-1, 1] are clipped."""
        observations, rewards, terminated, truncated, infos = self.world.step(action_dict)
        self.agents = list(self.world.agents)
        over = not self.agents
        at_limit = over and any(truncated[name] and not terminated[name] for name in truncated)
        told: PerAgent = {name: cut and not over for name, cut in truncated.items()}
        return (
            observations,
            rewards,
            {**terminated, "__all__": over and not at_limit},
            {**told, "__all__": at_limit},
            infos,
        )

    def render(self) -> Any:
        """A picture of the world, as `parallel_env` has it."""
        return self.world.render()

    def close(self) -> None:
        """Gives the world back."""
        self.world.close()
