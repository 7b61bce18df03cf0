"""A small network for the observation `neighbours`, for policies of Stable-Baselines3."""

from __future__ import annotations

import torch
from gymnasium import spaces
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from torch import Tensor, nn

_SIZE = 6
"""Values of a neighbour; the last is 1 if there is one."""


class NeighbourExtractor(BaseFeaturesExtractor):
    """Features of observations with `neighbours` (a deep set). The same two layers process each neighbour together with
    the other observations, and the largest outputs are kept. All neighbours share the learned weights.

    Args:
        observation_space: that of `MVSimVecEnv`, a vector in [-1, 1].
        columns: slice of the neighbours in it: `FlatObservation.columns["neighbours"]`.
        features: features of all neighbours together; other observations are passed on unchanged.

    Raises:
        ValueError: the columns do not have six values for each neighbour.
    """

    def __init__(self, observation_space: spaces.Box, columns: slice, features: int = 64) -> None:
        wide, found = observation_space.shape[0], len(range(*columns.indices(observation_space.shape[0])))
        if found == 0 or found % _SIZE:
            raise ValueError(f"columns: found {found} values, expected {_SIZE} of each neighbour")
        super().__init__(observation_space, wide - found + features)
        self.columns = columns
        self.each = nn.Linear(_SIZE, features)
        self.beside = nn.Linear(wide - found, features, bias=False)
        self.second = nn.Linear(features, features)

    def forward(self, observation: Tensor) -> Tensor:
        """Returns the features (n, features) of (n, values)."""
        first, last = self.columns.start, self.columns.stop
        neighbours = observation[:, first:last].unflatten(1, (-1, _SIZE))
        rest = torch.cat([observation[:, :first], observation[:, last:]], dim=1)
        seen = torch.relu(self.each(neighbours) + self.beside(rest).unsqueeze(1))
        seen = torch.relu(self.second(seen)) * (neighbours[..., -1:] > 0)
        return torch.cat([rest, seen.amax(dim=1)], dim=1)
