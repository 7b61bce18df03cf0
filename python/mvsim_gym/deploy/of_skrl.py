"""Models of skrl for `mvsim_gym.deploy.export.export_policy`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from mvsim_gym.deploy.network import Vector


class SkrlPolicy(nn.Module):
    """The mean action of a model that was trained on one vector, as examples/learners/skrl_ppo.py does.

        export_policy(SkrlPolicy(agent.policy), "mvsim/NavArena-v0", "policy")

    Args:
        model: a `Model` with `GaussianMixin` or `DeterministicMixin`; its `compute` is called.
        preprocessor: scales the vector, e.g. the agent's `RunningStandardScaler`.
        vector: makes the vector of the observations; by default that of `flatten=True`.

    Raises:
        ValueError: the model is recurrent or gives logits of discrete actions.
    """

    def __init__(
        self,
        model: Any,
        preprocessor: Callable[[Tensor], Tensor] | None = None,
        vector: nn.Module | None = None,
    ) -> None:
        super().__init__()
        told: dict[str, Any] = getattr(model, "get_specification", dict)()
        if told.get("rnn"):
            raise ValueError(
                "found a recurrent model, expected one without a state, or a function with state_shapes"
            )
        names = {each.__name__ for each in type(model).__mro__}
        if names & {"CategoricalMixin", "MultiCategoricalMixin"}:
            raise ValueError(
                "found a model of discrete actions, expected GaussianMixin or DeterministicMixin"
            )
        self.model, self.preprocessor, self.vector = model, preprocessor, vector or Vector()

    def forward(self, seen: Mapping[str, Tensor]) -> Tensor:
        """Returns actions (n, size) for observations by key (n, ...)."""
        vector = self.vector(seen)
        if self.preprocessor is not None:
            vector = self.preprocessor(vector)
        # releases before 2 call the observations states
        action, *_ = self.model.compute({"observations": vector, "states": vector}, role="policy")
        return torch.as_tensor(action)
