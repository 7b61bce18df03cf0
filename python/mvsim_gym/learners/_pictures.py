"""A small network that looks at pictures, for policies of Stable-Baselines3."""

from __future__ import annotations

import torch
from gymnasium import spaces
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from torch import Tensor, nn

from mvsim_gym.learners._flat import VECTOR

__all__ = ["PictureExtractor"]


class PictureExtractor(BaseFeaturesExtractor):
    """Features of observations with pictures: three convolutions (8, 16, 16 channels) and a layer of `features` for
    each picture, beside the vector of all else.

    Args:
        observation_space: of `MVSimVecEnv`, or `FlatObservation.space`: pictures (channels, height, width), of at least
            23 pixels a side, uint8 or floats in [0, 1], and perhaps "vector".
        features: of each picture.

    Give the policy `normalize_images=False`: bytes are scaled here.

    Raises:
        ValueError: a picture is too small for the convolutions.
    """

    def __init__(self, observation_space: spaces.Dict, features: int = 48) -> None:
        boxes = {key: box for key, box in observation_space.spaces.items() if isinstance(box, spaces.Box)}
        pictures = {key: box for key, box in boxes.items() if len(box.shape) == 3}
        vector = boxes[VECTOR].shape[0] if VECTOR in boxes else 0
        super().__init__(observation_space, features * len(pictures) + vector)
        for key, box in pictures.items():
            if min(box.shape[1:]) < 23:
                raise ValueError(
                    f"found the picture '{key}' of {box.shape[2]} x {box.shape[1]} pixels, expected at least 23 x 23"
                )
        self.networks = nn.ModuleDict({key: _network(box, features) for key, box in pictures.items()})
        self.scales = {key: 1 / float(box.high.max()) for key, box in pictures.items()}
        self.has_vector = vector > 0

    def forward(self, observation: dict[str, Tensor]) -> Tensor:
        """{key: (n, ...)} -> (n, features)"""
        seen = [
            network(observation[key].float() * self.scales[key]) for key, network in self.networks.items()
        ]
        return torch.cat([*seen, observation[VECTOR]] if self.has_vector else seen, dim=1)


def _network(box: spaces.Box, features: int) -> nn.Sequential:
    layers: list[nn.Module] = [
        nn.Conv2d(box.shape[0], 8, 8, stride=4),
        nn.ReLU(),
        nn.Conv2d(8, 16, 3, stride=2),
        nn.ReLU(),
        nn.Conv2d(16, 16, 3 if min(box.shape[1:]) >= 39 else 1),
        nn.ReLU(),
        nn.Flatten(),
    ]
    convolutions = nn.Sequential(*layers)
    with torch.no_grad():
        size = convolutions(torch.zeros(1, *box.shape)).shape[1]
    return nn.Sequential(*layers, nn.Linear(size, features), nn.ReLU())
