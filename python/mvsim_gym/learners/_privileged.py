"""An actor-critic policy of Stable-Baselines3 whose critic observes more than its actor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from gymnasium import spaces
from stable_baselines3.common.policies import ActorCriticPolicy
from stable_baselines3.common.type_aliases import Schedule
from torch import Tensor, nn


class PrivilegedCriticPolicy(ActorCriticPolicy):
    """Actor and critic have features of their own, and the actor sees zeros in place of the hidden observations.

    The critic is needed for training alone. It can use what the robot will not have (Pinto et al. 2018, "Asymmetric
    actor critic").

    Args:
        observation_space: vectors, such as those of `MVSimVecEnv` without pictures.
        action_space, lr_schedule, kwargs: as of `ActorCriticPolicy`.
        critic_only: the hidden parts of the vector: slices of `FlatObservation.columns`.
    """

    def __init__(
        self,
        observation_space: spaces.Space[Any],
        action_space: spaces.Space[Any],
        lr_schedule: Schedule,
        *,
        critic_only: Sequence[slice],
        **kwargs: Any,
    ) -> None:
        super().__init__(
            observation_space, action_space, lr_schedule, share_features_extractor=False, **kwargs
        )
        self.critic_only = tuple(critic_only)
        seen = torch.ones(spaces.flatdim(observation_space))
        for part in critic_only:
            seen[part] = 0
        self.seen: Tensor
        self.register_buffer("seen", seen)
        self.pi_features_extractor.register_forward_pre_hook(self._hide)

    def _hide(self, _: nn.Module, inputs: tuple[Tensor]) -> tuple[Tensor]:
        return (inputs[0] * self.seen,)

    def _get_constructor_parameters(self) -> dict[str, Any]:
        return {**super()._get_constructor_parameters(), "critic_only": self.critic_only}
