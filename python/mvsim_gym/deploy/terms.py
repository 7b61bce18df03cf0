"""Observation terms in Python on readings of a robot: the functions of `observation_terms` with the same names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from mvsim_gym._checks import shortened
from mvsim_gym._term_view import ReadView
from mvsim_gym.errors import TermError

Array = npt.NDArray[Any]
_QUANTITIES = {
    "pose": ("pose", slice(0, 3)),
    "estimated_pose": ("pose", slice(0, 3)),
    "twist": ("velocity", slice(0, 3)),
    "odometry_twist": ("velocity", slice(0, 3)),
    "odometry": ("odometry", slice(0, 3)),
    "attitude": ("attitude", slice(0, 3)),
    "goal": ("goal", slice(0, 2)),
}
"""Names of quantities of a robot, with the reading that has them."""


class RobotTerms:
    """The terms of one robot. They are called with one row, after the environment's own observations.

    Args:
        functions: by key of the observation.
        robot: name of the robot in the environment.
        keys: the environment's own observations.
        action_size: number of values of an action.
        period: s
    """

    def __init__(
        self,
        functions: Mapping[str, Callable[..., Any]],
        robot: str,
        keys: list[str],
        action_size: int,
        period: float,
    ) -> None:
        for name, function in functions.items():
            if name in keys:
                raise ValueError(f"observation_terms: '{name}' is an observation of the environment already")
            if not callable(function):
                raise TypeError(f"observation_terms: found {function!r} for '{name}', expected a function")
        self._functions, self.robot, self.period = dict(functions), robot, period
        self.readings: dict[str, tuple[float, ...]] = {}
        self.needs: list[str] = []
        """readings that the terms need"""
        self.observations: Mapping[str, Array] = {}
        self._actions = np.zeros((2, action_size), np.float32)  # the last one and the one before
        self._periods = -1
        self._sizes: dict[str, int] = {}

    def find_needs(self, observations: Mapping[str, Array]) -> None:
        """Calls the terms once on zeros. TermError or ValueError for what no robot has."""
        zeros: dict[str, tuple[float, ...]] = {name: (0.0,) * 3 for name, _ in _QUANTITIES.values()}
        self.readings, self._periods = zeros, 0
        for name, value in self.values(observations).items():
            self._sizes[name] = value.size
        self.readings = {}
        self.begin()

    def begin(self) -> None:
        """Begins an episode. The goal stays."""
        self.readings = {name: value for name, value in self.readings.items() if name == "goal"}
        self._actions[:] = 0
        self._periods = -1

    def acted(self, action: Array) -> None:
        self._actions[1] = self._actions[0]
        self._actions[0] = np.clip(action, -1, 1)

    def observed(self, observations: Mapping[str, Array]) -> dict[str, Array]:
        """Returns the values of all terms at the end of a period."""
        self._periods += 1
        return self.values(observations)

    def values(self, observations: Mapping[str, Array]) -> dict[str, Array]:
        """Returns the values of all terms, (size,) float32."""
        self.observations = observations
        return {name: self._value(name, function) for name, function in self._functions.items()}

    def _value(self, name: str, function: Callable[..., Any]) -> Array:
        view = ReadingsView(self)
        try:
            value = np.asarray(function(view))
        except Exception as error:
            raise TermError(f"observation term '{name}': {type(error).__name__}: {error}") from error
        if value.dtype.kind not in "biuf" or value.ndim not in (1, 2) or len(value) != 1 or value.size == 0:
            raise TermError(
                f"observation term '{name}': found {value.dtype} of the shape {value.shape}, expected numbers (1, size)"
            )
        out = value.astype(np.float64).astype(np.float32).ravel()
        if out.size != self._sizes.get(name, out.size):
            raise TermError(
                f"observation term '{name}': found {out.size} values, expected {self._sizes[name]}"
            )
        if not np.isfinite(out).all():
            raise TermError(f"observation term '{name}': found a value that is not finite")
        low, high = getattr(function, "low", -np.inf), getattr(function, "high", np.inf)
        return np.clip(out, np.full(out.size, low, np.float32), np.full(out.size, high, np.float32))

    def read(self, name: str) -> Array:
        """Returns a quantity by its name, (1, size)."""
        if name == "time":
            return np.array([max(self._periods, 0) * self.period])
        if name in ("action", "previous_action"):
            return self._actions[None, int(name == "previous_action")].copy()
        owner, _, quantity = name.rpartition("/")
        if quantity not in _QUANTITIES or owner not in ("", f"vehicle:{self.robot}", f"agent:{self.robot}"):
            raise ValueError(
                f"no robot measures '{shortened(name)}', expected time, action, previous_action or some of"
                f" {', '.join(_QUANTITIES)} of 'vehicle:{self.robot}'"
            )
        reading, part = _QUANTITIES[quantity]
        if reading not in self.needs:
            self.needs.append(reading)
        return np.array(self.readings[reading][part], float)[None]


class ReadingsView(ReadView):
    """The view of a term on a robot, with one row: the names of `TermView` that a robot has."""

    num_envs = num_agents = 1

    def __init__(self, terms: RobotTerms) -> None:
        self._terms = terms

    @property
    def control_period(self) -> float:
        """s"""
        return self._terms.period

    @property
    def poses(self) -> Array:
        """(1, 3): x, y, yaw of the localization."""
        return self.read("pose")

    @property
    def twists(self) -> Array:
        """(1, 3): vx, vy, omega in the body frame."""
        return self.read("twist")

    @property
    def observations(self) -> Mapping[str, Array]:
        """The environment's own observations by key."""
        return {key: _read_only(value[None].copy()) for key, value in self._terms.observations.items()}

    def read(self, name: str) -> Array:
        return _read_only(self._terms.read(name))

    def __getattr__(self, name: str) -> NoReturn:
        """Raises AttributeError: no robot has the rest."""
        raise AttributeError(f"no robot has '{shortened(name)}' of the view of a term")


def _read_only(array: Array) -> Array:
    array.setflags(write=False)
    return array
