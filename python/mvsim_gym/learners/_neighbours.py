"""A small network that looks at neighbours one by one, for policies of Stable-Baselines3."""

from __future__ import annotations

import torch
from gymnasium import spaces
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from torch import Tensor, nn

__all__ = ["NeighbourExtractor"]

_SIZE = 6
"""Values of a neighbour; the last says whether there is one."""


class NeighbourExtractor(BaseFeaturesExtractor):
    """Features of observations with `neighbours`: the same two layers see each neighbour beside all that is not one,
    and of their outputs the greatest count (a deep set). What is learned of the nearest neighbour holds for the others.

    Args:
        observation_space: of `MVSimVecEnv`, a vector in [-1, 1].
        columns: where the neighbours stand in it: `FlatObservation.columns["neighbours"]`.
        features: of the neighbours together; all that is not a neighbour is passed on as it is.

    Raises:
        ValueError: the columns are no neighbours, six values each.
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
        """(n, values) -> (n, features)"""
        first, last = self.columns.start, self.columns.stop
        neighbours = observation[:, first:last].unflatten(1, (-1, _SIZE))
        rest = torch.cat([observation[:, :first], observation[:, last:]], dim=1)
        seen = torch.relu(self.each(neighbours) + self.beside(rest).unsqueeze(1))
        seen = torch.relu(self.second(seen)) * (neighbours[..., -1:] > 0)
        return torch.cat([rest, seen.amax(dim=1)], dim=1)
