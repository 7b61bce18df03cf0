"""An environment as a learner sees it: of one agent or several, with the keywords of its recipe, and its evaluation."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from evaluation import Policy, Result, evaluate
from stable_baselines3.common.base_class import BaseAlgorithm
from team_evaluation import evaluate_team

import mvsim_gym
from mvsim_gym.sb3 import FlatObservation


@dataclass(frozen=True)
class Task:
    """`keywords` are those of the environment, `num_threads` is the envs' (0: as many as there are processors)."""

    env: str
    keywords: dict[str, Any] = field(default_factory=dict)
    num_threads: int = 0

    @property
    def agents(self) -> int:
        return agents_of(self.env, self.keywords)

    def flat(self) -> FlatObservation:
        """Returns the function that flattens dict observations as `MVSimVecEnv` does."""
        envs = mvsim_gym.VectorEnv(self.env, num_envs=self.agents, **self.keywords)
        flat = FlatObservation(envs.single_observation_space)
        envs.close()
        return flat

    def greedy_policy(self, model: BaseAlgorithm) -> Policy:
        """The deterministic policy on dict observations, as `evaluate` wants it."""
        flat = self.flat()
        return lambda observation: np.asarray(model.predict(flat(observation), deterministic=True)[0])

    def evaluate(self, policy: Policy, seeds: Sequence[int], **options: Any) -> Result:
        """As `evaluate`, whose options it takes; of several agents the rates are those of agents."""
        own = {**self.keywords, "num_threads": self.num_threads}
        if self.agents == 1:
            return evaluate(self.env, policy, seeds, **options, **own)
        return team_result(evaluate_team(self.env, policy, seeds, self.agents, **own))


def agents_of(env: str, keywords: dict[str, Any]) -> int:
    """How many agents a world has."""
    found = 1
    while True:
        try:
            mvsim_gym.VectorEnv(env, num_envs=found, **keywords).close()
        except ValueError as error:
            told = re.match(r"num_envs: .* multiple of (\d+)", str(error))
            if told is None or int(told[1]) == found:
                raise
            found = int(told[1])
        else:
            return found


def team_result(row: Result) -> Result:
    """An evaluation of a team with the ways to fail of its agents where that of one agent has them."""
    return {**row, "failures": {way: row[way] for way in ("collision", "timeout")}}
