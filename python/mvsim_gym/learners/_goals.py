"""Observations and rewards of a goal environment for hindsight experience replay (HER)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from mvsim_gym import _core

_OF_THE_GOAL = ("goal", "waypoint")
"""Observations that depend on the goal."""


def without_goal(space: spaces.Dict) -> spaces.Dict:
    """Returns the space of the observations that do not depend on the goal."""
    return spaces.Dict({key: box for key, box in space.spaces.items() if key not in _OF_THE_GOAL})


class GoalObservation:
    """Observations with the robot's place (`achieved_goal`, x and y in the world), its goal (`desired_goal`), and the
    rest.

    The reward is 1 within the radius of the goal and 0 elsewhere. It depends only on these two places.
    """

    def __init__(self, rest: spaces.Box, radius: float) -> None:
        place = spaces.Box(-np.inf, np.inf, (2,), np.float32)
        seen = spaces.Box(-1.0, 1.0, (rest.shape[0] + 2,), np.float32)
        self.space = spaces.Dict({"observation": seen, "achieved_goal": place, "desired_goal": place})
        self._radius = radius

    def attach(self, batch: _core.Batch) -> None:
        """Uses this batch from now on.

        Raises:
            ValueError: the task has no goal.
        """
        if "goal" not in batch.names(0):
            raise ValueError(
                "goal_radius: the environment has no goal, expected one with <goal> in its <reset>"
            )
        self._batch: _core.Batch | None = batch
        self._rows = list(range(batch.num_envs))
        self.ended = np.zeros((batch.num_envs, 5))
        """Poses and goals after the last step, before any env was reset."""

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key != "_batch"}

    def between(self) -> None:
        """Stores poses and goals within a step of the batch, when all envs have advanced and none was reset."""
        self.ended = self.now()

    def now(self) -> npt.NDArray[np.float64]:
        """Returns poses and goals with a row for each env: x, y, yaw, x and y of the goal."""
        assert self._batch is not None
        pose = self._batch.read(self._rows, f"vehicle:{self._batch.vehicle_name}/pose")
        return np.concatenate([pose, self._batch.read(self._rows, "goal")], axis=1)

    def of(
        self, rest: npt.NDArray[np.float32], places: npt.NDArray[np.float64]
    ) -> dict[str, npt.NDArray[np.float32]]:
        """Returns the observation at these places. The robot's heading becomes part of the rest."""
        yaw = places[:, 2:3]
        seen = np.concatenate([rest, np.cos(yaw), np.sin(yaw)], axis=1, dtype=np.float32)
        achieved, desired = places[:, :2].astype(np.float32), places[:, 3:].astype(np.float32)
        return {"observation": seen, "achieved_goal": achieved, "desired_goal": desired}

    def rewards(self) -> npt.NDArray[np.float32]:
        """Returns the rewards of the last step."""
        places = self.ended.astype(np.float32)
        return self.compute_reward(places[:, :2], places[:, 3:], ())

    def compute_reward(
        self, achieved: npt.ArrayLike, desired: npt.ArrayLike, infos: Sequence[Any]
    ) -> npt.NDArray[np.float32]:
        """Returns 1 for places within the radius of their goals, else 0; places are (n, 2) or (2,)."""
        away = np.asarray(achieved, np.float32) - np.asarray(desired, np.float32)
        return (np.linalg.norm(away, axis=-1) < self._radius).astype(np.float32)
