"""Errors of a simulated localization: drift, jumps and latency, as `<localization>` of environment files has them."""

from __future__ import annotations

import math
import re
from collections import deque
from typing import NamedTuple

import numpy as np

from mvsim_gym._checks import checked_key
from mvsim_gym.part_states import Pose
from mvsim_gym.ros.transforms import Pose2, composed, correction

_MOST = {"drift": 1.0, "jump_rate": 1000.0, "jump_sigma": 1000.0, "jump_sigma_yaw": 180.0, "latency": 60.0}
"""The largest value of each error."""
_RANGE = re.compile(r"uniform\(\s*([^\s,()]+)\s*,\s*([^\s,()]+)\s*\)")
_WORD = re.compile(r"(\w+)\s*=\s*(uniform\([^()]*\)|[^\s()]+)(?:\s+|$)")


class _Between(NamedTuple):
    """A uniform distribution; a number if both are equal."""

    low: float
    high: float

    def draw(self, random: np.random.Generator) -> float:
        return float(random.uniform(self.low, self.high))


_NONE = _Between(0.0, 0.0)


class LocalizationErrors(NamedTuple):
    """The errors of all vehicles of a world.

    Args:
        drift: standard deviation of the relative errors of the odometry; None leaves those of the world.
        jump_rate: mean number of jumps in a second.
        jump_sigma: standard deviation of the error of x and of y after a jump, and at the start; m.
        jump_sigma_yaw: the same of the yaw; degrees.
        latency: age of the estimate, s.
        seed: of the random numbers.
    """

    drift: float | None = None
    jump_rate: _Between = _NONE
    jump_sigma: _Between = _NONE
    jump_sigma_yaw: _Between = _NONE
    latency: _Between = _NONE
    seed: int = 0

    @classmethod
    def parsed(cls, text: str, seed: int = 0, name: str = "localization_error") -> LocalizationErrors:
        """Reads e.g. `jump_rate=0.2 jump_sigma=0.05 latency=uniform(0, 0.3)`.

        Raises:
            ValueError: an unknown, repeated or invalid error; the message begins with `name`.
        """
        found: dict[str, _Between] = {}
        at = len(text) - len(text.lstrip())
        while at < len(text):
            word = _WORD.match(text, at)
            if word is None or word[1] not in _MOST or word[1] in found:
                raise ValueError(
                    f"{name}: found '{text[at:].strip()[:60]}', expected NAME=VALUE, once each, of {', '.join(_MOST)}"
                )
            found[word[1]] = _between(name, word[1], word[2])
            at = word.end()
        drift = found.pop("drift", None)
        if drift is not None and drift.low != drift.high:
            raise ValueError(f"{name}: drift: found a distribution, expected a number")
        return cls(drift=None if drift is None else drift.low, seed=checked_key(seed), **found)


def _between(name: str, error: str, text: str) -> _Between:
    ends = _RANGE.fullmatch(text)
    try:
        out = _Between(float(ends[1]), float(ends[2])) if ends else _Between(float(text), float(text))
    except ValueError:
        out = _Between(math.nan, math.nan)
    if not 0 <= out.low <= out.high <= _MOST[error]:
        raise ValueError(
            f"{name}: {error}: found '{text}', expected a number from 0 to {_MOST[error]:g} or uniform(LOW, HIGH)"
        )
    return out


class EstimatedPose:
    """The pose that the localization of one vehicle estimates.

    The estimate is the pose of `odom` in `map` times that of the robot in `odom`. The former stays as it is between
    jumps. At a jump, and at the start, the estimate is the true pose plus a random error.

    Args:
        number: number of the vehicle; each has random numbers of its own.
    """

    def __init__(self, errors: LocalizationErrors, number: int) -> None:
        self._errors, self._number, self._episode = errors, number, 0
        self.begin()

    def begin(self) -> None:
        """Draws the errors of an episode anew, which begins at the next call of `update`."""
        errors = self._errors
        self._random = np.random.Generator(np.random.Philox([errors.seed, self._number, self._episode]))
        self._episode += 1
        # drawn first: it does not depend on the kinds of distributions
        self._first = self._random.standard_normal(3)
        self.multipliers = 1 + (errors.drift or 0.0) * self._random.standard_normal(3)
        """Of the odometry along x, along y and of turns, if there is a drift."""
        self._jump_rate = errors.jump_rate.draw(self._random)
        self.sigma = errors.jump_sigma.draw(self._random)
        """m"""
        self.sigma_yaw = math.radians(errors.jump_sigma_yaw.draw(self._random))
        """rad"""
        self._latency = errors.latency.draw(self._random)
        self._correction: Pose2 | None = None  # of the frame odom in map
        self._kept: deque[tuple[float, Pose]] = deque()  # time (s) and estimate
        self._updated = -math.inf

    @property
    def has_drift(self) -> bool:
        """Whether `multipliers` hold instead of those of the world."""
        return self._errors.drift is not None

    def update(self, now: float, truth: Pose, odometry: Pose) -> None:
        """Moves on to the time `now`, s: there may be a jump since the last call."""
        if self._correction is None:
            self._jump(truth, odometry, self._first)
        elif self._random.random() < 1 - math.exp(-self._jump_rate * (now - self._updated)):
            self._jump(truth, odometry, self._random.standard_normal(3))
        self._updated = now
        self.at(now, truth, odometry)

    def at(self, now: float, truth: Pose, odometry: Pose) -> Pose:
        """Returns the estimate of `latency` before `now` (s), linearly between two; height, pitch and roll are true."""
        if self._correction is None:
            self.update(now, truth, odometry)
        assert self._correction is not None
        estimate = _plane(truth, composed(self._correction, (odometry.x, odometry.y, odometry.yaw)))
        if self._latency == 0:
            return estimate
        if not self._kept or self._kept[-1][0] < now:
            self._kept.append((now, estimate))
        then = now - self._latency
        while len(self._kept) > 2 and self._kept[1][0] <= then:
            self._kept.popleft()
        (since, older), (until, newer) = self._kept[0], self._kept[min(1, len(self._kept) - 1)]
        share = min(max((then - since) / (until - since), 0.0), 1.0) if until > since else 0.0
        turn = math.remainder(newer.yaw - older.yaw, math.tau)
        x, y = (a + share * (b - a) for a, b in zip(older[:2], newer[:2], strict=True))
        return _plane(truth, (x, y, older.yaw + share * turn))

    def _jump(self, truth: Pose, odometry: Pose, error: np.ndarray) -> None:
        x, y, yaw = error * (self.sigma, self.sigma, self.sigma_yaw)
        estimate = _plane(truth, (truth.x + x, truth.y + y, truth.yaw + yaw), flat=True)
        corrected = correction(estimate, odometry)
        self._correction = corrected.x, corrected.y, corrected.yaw


def _plane(truth: Pose, place: tuple[float, float, float], *, flat: bool = False) -> Pose:
    """Returns a pose with the height, the pitch and the roll of the true one; with `flat` these are 0."""
    x, y, yaw = map(float, place)
    return Pose(x, y, 0.0, yaw, 0.0, 0.0) if flat else Pose(x, y, truth.z, yaw, truth.pitch, truth.roll)
