"""Features of GNSS receivers, odometry and IMUs in vectors of observations, for policies of Stable-Baselines3."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from gymnasium import spaces
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from torch import Tensor, nn

_FIX, _POSE, _IMU = 4, 4, 10
"""Numbers of values: of a fix, of a pose by odometry, and of an IMU that measures its orientation."""


class PlaceExtractor(BaseFeaturesExtractor):
    """Features of vectors of observations in which a network sees where a robot is and which way it looks. The other
    observations stay as they are.

    - the sine and cosine of the yaw in place of the quaternion of an `imu`, which changes its sign where a robot looks
      backwards;
    - the place by a `gnss`, as the sines and cosines of `octaves` waves for east and north (position encoding of
      Vaswani et al. 2017), and the share of its frames with a fix. A `gnss` with a history needs an `odometry` with the
      same history, and an `imu`: each fix is carried to the present by the way driven since, and the place is their
      mean. Its weights are learned, one for each frame. A frame without a fix has none.

    Args:
        observation_space: of `MVSimVecEnv`, or `FlatObservation.space`, without pictures.
        columns: slices of the observations in the vector: `FlatObservation.columns`.
        ranges: `max` of `gnss` and of `odometry`, m: the upper bounds of their first values.
        octaves: number of waves. The longest is as long as the receiver's range, each other half the one before.

    Raises:
        ValueError: `gnss`, `odometry` or `imu` have other sizes, or there is nothing of this to see.
    """

    def __init__(
        self,
        observation_space: spaces.Box,
        columns: Mapping[str, slice],
        ranges: Mapping[str, float],
        octaves: int = 6,
    ) -> None:
        self.gnss, self.imu = columns.get("gnss"), columns.get("imu")
        self.odometry = columns.get("odometry")
        if self.gnss is None and self.imu is None:
            raise ValueError(f"found {', '.join(columns)}, expected the observation 'gnss' or 'imu'")
        if self.imu and _size(self.imu) != _IMU:
            raise ValueError(f"imu: found {_size(self.imu)} values, expected {_IMU}")
        frames = _frames(self.gnss, _FIX, "gnss")
        if frames < 2:
            self.odometry = None
        elif self.imu is None or _frames(self.odometry, _POSE, "odometry") != frames:
            raise ValueError(f"gnss: found {frames} frames, expected as many of 'odometry', and an 'imu'")
        size = max(part.stop for part in columns.values())
        hidden = {i for part in (self.gnss, self.odometry) if part for i in range(part.start, part.stop)}
        if self.imu:
            hidden |= set(range(self.imu.stop - 4, self.imu.stop))
        rest = [i for i in range(size) if i not in hidden]
        super().__init__(
            observation_space, len(rest) + 2 * (self.imu is not None) + (4 * octaves + 1) * (frames > 0)
        )
        self.rest, self.frames = rest, frames
        self.scale = ranges["odometry"] / ranges["gnss"] if self.odometry else 1.0
        self.weights = nn.Parameter(torch.zeros(frames))
        self.waves: Tensor
        self.register_buffer("waves", torch.pi * 2.0 ** torch.arange(octaves))

    def forward(self, vector: Tensor) -> Tensor:
        """Returns the features (n, features) of vectors (n, size)."""
        parts = [vector[:, self.rest]]
        yaw = None
        if self.imu:
            w, x, y, z = vector[:, self.imu.stop - 4 : self.imu.stop].unbind(1)
            yaw = torch.stack([2 * (w * z + x * y), 1 - 2 * (y * y + z * z)], dim=1)
            parts.append(yaw)
        if self.gnss:
            fixes = vector[:, self.gnss].unflatten(1, (self.frames, _FIX))
            seen = (fixes[..., 3] + 1) / 2  # 1 with a fix
            place = self.carried(fixes[..., :2], seen, vector, yaw) if yaw is not None else fixes[:, 0, :2]
            turns = place.double().unsqueeze(-1) * (self.waves / (2 * torch.pi))
            small = (turns - turns.round()).float()  # so exact anywhere
            phase = (self.waves[0] * 2 * small).flatten(1)
            parts += [phase.sin(), phase.cos(), seen.mean(dim=1, keepdim=True)]
        return torch.cat(parts, dim=1)

    def carried(self, places: Tensor, seen: Tensor, vector: Tensor, yaw: Tensor) -> Tensor:
        """Returns the mean (n, 2) of places (n, frames, 2) of the past, each with the way driven since."""
        if self.odometry is None:
            return places[:, 0]
        # the shortest wave has a hundred times the error of the place, so all of this is double
        places, seen, yaw = places.double(), seen.double(), yaw.double()
        poses = vector[:, self.odometry].double().unflatten(1, (self.frames, _POSE))
        now = poses[:, -1]
        east, north = (self.scale * (now[:, None, :2] - poses[..., :2])).unbind(2)
        # from the frame of the odometry to that of the receiver
        sine = (yaw[:, 0] * now[:, 2] - yaw[:, 1] * now[:, 3]).unsqueeze(1)
        cosine = (yaw[:, 1] * now[:, 2] + yaw[:, 0] * now[:, 3]).unsqueeze(1)
        since = torch.stack([cosine * east - sine * north, sine * east + cosine * north], dim=2)
        weights = self.weights.exp() * seen
        mean = weights / weights.sum(dim=1, keepdim=True).clamp(min=1e-6)
        return ((places + since) * mean.unsqueeze(2)).sum(dim=1)


def _size(part: slice) -> int:
    return int(part.stop - part.start)


def _frames(part: slice | None, values: int, name: str) -> int:
    """Returns how many frames an observation has; 0 if there is none."""
    if part is None:
        return 0
    if _size(part) % values:
        raise ValueError(f"{name}: found {_size(part)} values, expected a multiple of {values}")
    return _size(part) // values
