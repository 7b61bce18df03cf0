"""Observations and rewards of a goal environment for hindsight experience replay (HER)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from mvsim_gym import _core

_OF_THE_GOAL = ("goal", "goal_heading", "waypoint")
"""Observations that depend on the goal."""


def without_goal(space: spaces.Dict) -> spaces.Dict:
    """Returns the space of the observations that do not depend on the goal."""
    return spaces.Dict({key: box for key, box in space.spaces.items() if key not in _OF_THE_GOAL})


class Reached(NamedTuple):
    """When a goal counts as reached: below all of these limits; None is no limit."""

    radius: float
    """Distance, m."""
    angle: float | None = None
    """Angle between the headings of robot and goal, rad."""
    speed: float | None = None
    """Speed of the robot in any direction, m/s."""

    @property
    def size(self) -> int:
        """Numbers of a goal: x, y, then cosine and sine of the heading, and the speed, where they count."""
        return 2 + 2 * (self.angle is not None) + (self.speed is not None)


class GoalObservation:
    """Observations with the robot's state (`achieved_goal`), its goal (`desired_goal`), and the rest.

    Both are x and y in the world, with a limit of the angle the cosine and sine of the heading, and with a limit of the
    speed the speed, which is 0 for a goal. The reward is 1 where all are within the limits and 0 elsewhere. It depends
    only on the two.
    """

    def __init__(self, rest: spaces.Box, reached: Reached) -> None:
        place = spaces.Box(-np.inf, np.inf, (reached.size,), np.float32)
        seen = spaces.Box(-1.0, 1.0, (rest.shape[0] + 2,), np.float32)
        self.space = spaces.Dict({"observation": seen, "achieved_goal": place, "desired_goal": place})
        self._reached = reached

    def attach(self, batch: _core.Batch) -> None:
        """Uses this batch from now on.

        Raises:
            ValueError: the task has no goal, or its goal has no heading and one is asked for.
        """
        if "goal" not in batch.names(0):
            raise ValueError(
                "goal_radius: the environment has no goal, expected one with <goal> in its <reset>"
            )
        if self._reached.angle is not None and "goal_yaw" not in batch.names(0):
            raise ValueError(
                "goal_angle: the goal of the environment has no heading, expected a <goal> with the attribute 'poses'"
            )
        self._batch: _core.Batch | None = batch
        self._rows = list(range(batch.num_envs))
        self.ended = np.zeros((batch.num_envs, 1 + 2 * self._reached.size))
        """States and goals after the last step, before any env was reset."""

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key != "_batch"}

    def between(self) -> None:
        """Stores states and goals within a step of the batch, when all envs have advanced and none was reset."""
        self.ended = self.now()

    def now(self) -> npt.NDArray[np.float64]:
        """Returns a row for each env: the robot's yaw, its state, and its goal."""
        assert self._batch is not None
        vehicle = f"vehicle:{self._batch.vehicle_name}"
        pose = self._batch.read(self._rows, f"{vehicle}/pose")
        yaw = pose[:, 2:]
        achieved, desired = [pose[:, :2]], [self._batch.read(self._rows, "goal")]
        if self._reached.angle is not None:
            wanted = self._batch.read(self._rows, "goal_yaw").reshape(-1, 1)
            achieved += [np.cos(yaw), np.sin(yaw)]
            desired += [np.cos(wanted), np.sin(wanted)]
        if self._reached.speed is not None:
            twist = self._batch.read(self._rows, f"{vehicle}/twist")
            achieved.append(np.hypot(twist[:, 0], twist[:, 1])[:, None])
            desired.append(np.zeros((len(yaw), 1)))
        return np.concatenate([yaw, *achieved, *desired], axis=1)

    def of(
        self, rest: npt.NDArray[np.float32], states: npt.NDArray[np.float64]
    ) -> dict[str, npt.NDArray[np.float32]]:
        """Returns the observation in these states. The robot's heading becomes part of the rest."""
        yaw = states[:, :1]
        seen = np.concatenate([rest, np.cos(yaw), np.sin(yaw)], axis=1, dtype=np.float32)
        achieved, desired = self._split(states)
        return {"observation": seen, "achieved_goal": achieved, "desired_goal": desired}

    def rewards(self) -> npt.NDArray[np.float32]:
        """Returns the rewards of the last step."""
        return self.compute_reward(*self._split(self.ended), ())

    def compute_reward(
        self, achieved: npt.ArrayLike, desired: npt.ArrayLike, infos: Sequence[Any]
    ) -> npt.NDArray[np.float32]:
        """Returns 1 for states within the limits of their goals, else 0; both are (n, size) or (size,)."""
        state, goal = np.asarray(achieved, np.float32), np.asarray(desired, np.float32)
        there = np.linalg.norm(state[..., :2] - goal[..., :2], axis=-1) < self._reached.radius
        if self._reached.angle is not None:
            there &= (state[..., 2:4] * goal[..., 2:4]).sum(axis=-1) > math.cos(self._reached.angle)
        if self._reached.speed is not None:
            there &= np.abs(state[..., -1] - goal[..., -1]) <= self._reached.speed
        return there.astype(np.float32)

    def _split(
        self, states: npt.NDArray[np.float64]
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        size = self._reached.size
        return states[:, 1 : 1 + size].astype(np.float32), states[:, 1 + size :].astype(np.float32)
