"""A small network for pictures, for policies of Stable-Baselines3."""

from __future__ import annotations

import torch
from gymnasium import spaces
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from torch import Tensor, nn

from mvsim_gym.learners._flat import VECTOR

_LEAST, _LARGE = 23, 39
"""Smallest width of a picture, pixels, and smallest side for three convolutions instead of two."""


class PictureExtractor(BaseFeaturesExtractor):
    """Features of observations with pictures: two or three convolutions, the first one of squares of 4 x 4 pixels, and
    a layer of `features` for each picture. The vector of other observations is appended.

    Args:
        observation_space: that of `MVSimVecEnv`, or `FlatObservation.space`: pictures (channels, height, width), uint8
            or floats in [0, 1], at least 23 pixels wide, and optionally "vector". A picture of fewer than 23 rows
            (rings of a lidar) is convolved along its columns, with all rows at once.
        features: number of features of each picture.

    Give the policy `normalize_images=False`, because bytes are scaled here.

    Raises:
        ValueError: a picture is too narrow for the convolutions.
    """

    def __init__(self, observation_space: spaces.Dict, features: int = 48) -> None:
        boxes = {key: box for key, box in observation_space.spaces.items() if isinstance(box, spaces.Box)}
        pictures = {key: box for key, box in boxes.items() if len(box.shape) == 3}
        vector = boxes[VECTOR].shape[0] if VECTOR in boxes else 0
        super().__init__(observation_space, features * len(pictures) + vector)
        for key, box in pictures.items():
            if box.shape[2] < _LEAST:
                raise ValueError(
                    f"found the picture '{key}' of {box.shape[2]} x {box.shape[1]} pixels, expected at least {_LEAST} "
                    "columns"
                )
        self.networks = nn.ModuleDict({key: _network(box, features) for key, box in pictures.items()})
        self.scales = {key: 1 / float(box.high.max()) for key, box in pictures.items()}
        self.has_vector = vector > 0

    def forward(self, observation: dict[str, Tensor]) -> Tensor:
        """Returns the features (n, features) of {key: (n, ...)}."""
        seen = [
            _scaled(network, observation[key], self.scales[key]) for key, network in self.networks.items()
        ]
        return torch.cat([*seen, observation[VECTOR]] if self.has_vector else seen, dim=1)


def _scaled(network: nn.Module, picture: Tensor, scale: float) -> Tensor:
    """Applies the network to the picture times `scale`. Scales the first weights instead, because they are fewer."""
    assert isinstance(network, nn.Sequential)
    first = network[0]
    assert isinstance(first, nn.Conv2d)
    return network[1:](nn.functional.conv2d(picture.float(), first.weight * scale, first.bias, first.stride))


def _network(box: spaces.Box, features: int) -> nn.Sequential:
    """Returns the network of a picture. Its convolutions leave about 30 places, and the dense layer after them depends
    on the place."""
    channels, rows, columns = box.shape
    high, wide = rows >= _LARGE, columns >= _LARGE
    layers: list[nn.Module]
    if rows < _LEAST:
        layers = [nn.Conv2d(channels, 8, (rows, 8), stride=4), nn.ReLU(), nn.Conv2d(8, 16, (1, 3), stride=2)]
    else:
        stride = (2 if high else 1, 2 if wide else 1)
        layers = [nn.Conv2d(channels, 16, 4, stride=4), nn.ReLU(), nn.Conv2d(16, 16, 3, stride=stride)]
    if high or wide:
        layers += [nn.ReLU(), nn.Conv2d(16, 16, (3 if high else 1, 3 if wide else 1))]
    layers += [nn.ReLU(), nn.Flatten()]
    with torch.no_grad():
        size = nn.Sequential(*layers)(torch.zeros(1, *box.shape)).shape[1]
    return nn.Sequential(*layers, nn.Linear(size, features), nn.ReLU())
