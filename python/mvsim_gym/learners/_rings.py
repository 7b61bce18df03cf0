"""What a 3D lidar, a satellite receiver and an inertial unit say, as features for policies of Stable-Baselines3."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from gymnasium import spaces
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from torch import Tensor

from mvsim_gym.learners._flat import VECTOR

__all__ = ["RingExtractor"]

_NEAR = 0.1
"""the share of the lidar's range at which nearness is a half"""
_GNSS, _IMU = 4, 10
"""values of a receiver, the first two of which are east and north, and of an inertial unit that measures its
orientation, the last four of which are that"""


class RingExtractor(BaseFeaturesExtractor):
    """Features of observations with a `range_image`, beside the vector of all else, without weights of their own:

    - in each column of the lidar the nearest return of some rings, as a distance and as a nearness, which tells
      centimetres apart where it is close;
    - east and north of a `gnss`, each as the sines and cosines of so many `octaves` of waves (the encoding of positions
      of Vaswani et al. 2017), which tells metres apart in a field of a hundred;
    - the sine and cosine of the yaw in place of the quaternion of an `imu`.

    Args:
        observation_space: of `MVSimVecEnv`, or `FlatObservation.space`, with the picture "range_image" of one channel.
        columns: where what stands in the vector: `FlatObservation.columns`.
        rings: the first and one past the last, from below: those that look at neither the floor nor the sky.
        octaves: the longest wave is as long as the receiver's range is wide, each other one half of the one before.

    Give the policy `normalize_images=False`.

    Raises:
        ValueError: there is no range image, or it has no such rings, or a history; or `gnss` or `imu` have other sizes.
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
        """{key: (n, ...)} -> (n, features)"""
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
    """Where an observation stands, if there is one."""
    found = columns.get(name)
    if found is not None and found.stop - found.start != expected:
        raise ValueError(f"{name}: found {found.stop - found.start} values, expected {expected}")
    return found
