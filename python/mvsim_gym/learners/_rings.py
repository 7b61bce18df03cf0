"""Features of a 3D lidar, a GNSS receiver and an IMU, for policies of Stable-Baselines3."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from gymnasium import spaces
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from torch import Tensor

from mvsim_gym.learners._flat import VECTOR

_NEAR = 0.1
"""Share of the lidar's range at which the nearness is 0.5."""
_GNSS, _IMU = 4, 10
"""Numbers of values. The first two of a receiver are east and north. The last four of an IMU that measures its
orientation are a quaternion."""


class RingExtractor(BaseFeaturesExtractor):
    """Features of observations with a `range_image`, without trainable weights. The vector of other observations is
    appended.

    - for each column of the lidar the nearest return of some rings, as a distance and as a nearness, which resolves
      centimetres at close range;
    - east and north of a `gnss`, each as the sines and cosines of `octaves` waves (position encoding of Vaswani et al.
      2017), which resolves metres in a field of a hundred;
    - the sine and cosine of the yaw in place of the quaternion of an `imu`.

    Args:
        observation_space: of `MVSimVecEnv`, or `FlatObservation.space`, with the picture "range_image" of one channel.
        columns: slices of the observations in the vector: `FlatObservation.columns`.
        rings: the first and one past the last, from below; choose rings that see neither the floor nor the sky.
        octaves: number of waves. The longest is as long as the receiver's range, each other half the one before.

    Give the policy `normalize_images=False`.

    Raises:
        ValueError: the range image is missing, lacks these rings or has a history; or `gnss` or `imu` have other sizes.
    """

    def __init__(
        self,
        observation_space: spaces.Dict,
        columns: Mapping[str, slice],
        rings: tuple[int, int],
        octaves: int = 6,
    ) -> None:
        image = observation_space.spaces.get("range_image")
        if image is None or image.shape is None or image.shape[0] != 1:
            raise ValueError("found no range image without history, expected the observation 'range_image'")
        _, count, width = image.shape
        if not 0 <= rings[0] < rings[1] <= count:
            raise ValueError(f"rings: found {rings}, expected two of 0 to {count}, in order")
        size = sum(part.stop - part.start for part in columns.values())
        gnss, imu = (_values(columns, name, values) for name, values in (("gnss", _GNSS), ("imu", _IMU)))
        super().__init__(
            observation_space,
            2 * width + size + (4 * octaves if gnss else 0) + (2 - 4 if imu else 0),
        )
        self.rings = slice(*rings)
        self.gnss, self.imu = gnss, imu
        self.rest = [i for i in range(size) if imu is None or not imu.stop - 4 <= i < imu.stop]
        self.waves: Tensor
        self.register_buffer("waves", torch.pi * 2.0 ** torch.arange(octaves))

    def forward(self, observation: dict[str, Tensor]) -> Tensor:
        """Returns the features (n, features) of {key: (n, ...)}."""
        distance = observation["range_image"][:, 0, self.rings].amin(dim=1)
        parts = [2 * distance - 1, _NEAR / (_NEAR + distance)]
        if VECTOR in observation:
            vector = observation[VECTOR]
            parts.append(vector[:, self.rest])
            if self.gnss:
                place = vector[:, self.gnss.start : self.gnss.start + 2]
                phase = (place.unsqueeze(-1) * self.waves).flatten(1)
                parts += [phase.sin(), phase.cos()]
            if self.imu:
                w, x, y, z = vector[:, self.imu.stop - 4 : self.imu.stop].unbind(1)
                parts.append(torch.stack([2 * (w * z + x * y), 1 - 2 * (y * y + z * z)], dim=1))
        return torch.cat(parts, dim=1)


def _values(columns: Mapping[str, slice], name: str, expected: int) -> slice | None:
    """Returns the slice of an observation; None if there is none."""
    found = columns.get(name)
    if found is not None and found.stop - found.start != expected:
        raise ValueError(f"{name}: found {found.stop - found.start} values, expected {expected}")
    return found
