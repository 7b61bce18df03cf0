"""Modules of RLlib (new API stack) for `mvsim_gym.deploy.export.export_policy`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from mvsim_gym.deploy.network import Vector


class RLlibPolicy(nn.Module):
    """The deterministic action of a module that was trained on one vector, as examples/learners/rllib_ppo.py does.

        export_policy(RLlibPolicy(algorithm.get_module()), "mvsim/NavArena-v0", "policy")

    Args:
        module: a `TorchRLModule`, of PPO or SAC.
        vector: makes the vector of the observations; by default that of `flatten=True`. With `register(...,
            scaled=True)` it is `mvsim_gym.deploy.network.ScaledVector(space)`.

    Raises:
        ValueError: the module is recurrent.
    """

    def __init__(self, module: Any, vector: nn.Module | None = None) -> None:
        super().__init__()
        if getattr(module, "is_stateful", bool)():
            raise ValueError(
                "found a recurrent module, expected one without a state, or a function with state_shapes"
            )
        self.module, self.vector = module, vector or Vector()

    def forward(self, seen: Mapping[str, Tensor]) -> Tensor:
        """Returns actions (n, size) for observations by key (n, ...)."""
        out = self.module.forward_inference({"obs": self.vector(seen)})
        if "actions" in out:
            return torch.as_tensor(out["actions"])
        kind = self.module.get_inference_action_dist_cls()
        return torch.as_tensor(kind.from_logits(out["action_dist_inputs"]).to_deterministic().sample())
