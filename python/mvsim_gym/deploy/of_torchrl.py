"""Actors of TorchRL for `mvsim_gym.deploy.export.export_policy`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from tensordict import TensorDict
from torch import Tensor, nn
from torchrl.envs.utils import ExplorationType, set_exploration_type

from mvsim_gym.deploy.network import Vector


class TorchRLPolicy(nn.Module):
    """The deterministic action of an actor that was trained on one vector, as examples/learners/torchrl_ppo.py does.

        export_policy(TorchRLPolicy(actor), "mvsim/NavArena-v0", "policy")

    Args:
        actor: a `ProbabilisticActor`, or another TensorDictModule with the output `action`.
        vector: makes the vector of the observations; by default that of `flatten=True`.

    Raises:
        ValueError: the actor has further inputs, as recurrent ones have, or gives no action.
    """

    def __init__(self, actor: Any, vector: nn.Module | None = None) -> None:
        super().__init__()
        keys = list(actor.in_keys)
        if len(keys) != 1 or "action" not in actor.out_keys:
            raise ValueError(
                f"found an actor from {keys} to {list(actor.out_keys)}, expected one from an observation to 'action'"
                " (a recurrent policy is exported as a function with state_shapes)"
            )
        self.actor, self.vector, self._key = actor, vector or Vector(), keys[0]

    def forward(self, seen: Mapping[str, Tensor]) -> Tensor:
        """Returns actions (n, size) for observations by key (n, ...)."""
        vector = self.vector(seen)
        rows = TensorDict({self._key: vector}, batch_size=vector.shape[:1])
        with set_exploration_type(ExplorationType.DETERMINISTIC):
            return torch.as_tensor(self.actor(rows)["action"])
