"""A recording of one env of many, made while they are stepped for training or evaluation."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from mvsim_gym import _core
from mvsim_gym.parts import Vehicle, vehicles_of
from mvsim_gym.recording.recording import Recording
from mvsim_gym.ros.messages import Messages
from mvsim_gym.ros.reading_topics import Sampled
from mvsim_gym.ros.topics import Topic

ACTIONS = "/mvsim_gym/actions"
"""Topic of actions: std_msgs/Float32MultiArray (agents, actions) in [-1, 1], of the step that ends at the stamp."""
REWARDS = "/mvsim_gym/rewards"
"""Topic of results: std_msgs/Float32MultiArray (agents, 3) of that step: reward, terminated, truncated."""
_STEP_TOPICS = tuple(Topic(name, "std_msgs/msg/Float32MultiArray") for name in (ACTIONS, REWARDS))


class EnvRecording(Recording):
    """Records an env each control period, until it is closed. `record` of environments makes it.

    It reads a copy of the env's world. So nothing in the env changes, and the sensor readings have noise of their own.

    Args:
        origin: origin of the environment, as values that JSON can express.
    """

    _SOURCE = Sampled

    def __init__(
        self, path: str | os.PathLike[str], batch: _core.Batch, env: int, origin: Mapping[str, Any]
    ) -> None:
        self._batch, self._env = batch, env
        self._moment: tuple[int, float] | None = None  # last time written: episode and s of it
        self._goal: npt.NDArray[np.float64] | None = None
        model, simulation = batch.model(env), _core.env_simulation(batch, env)
        vehicles: Mapping[str, Vehicle] = vehicles_of(model, simulation)
        super().__init__(path, model, simulation, vehicles, batch.control_period / 2, origin, _STEP_TOPICS)

    def after_step(self, actions: npt.NDArray[np.float32] | None = None) -> None:
        """Writes the state of the env if it is new.

        Args:
            actions: (rows, n) in [-1, 1], in the step that led to the state; None after a reset.
        """
        batch, env = self._batch, self._env
        if self.closed or not batch.started(env):
            return
        _core.copy_env(batch, env, self._simulation)
        moment = batch.episode(env), self._simulation.time
        if moment == self._moment:
            return
        before, self._moment = self._moment, moment
        if before is not None and (before[0] != moment[0] or moment[1] < before[1]):
            self._jump()
        else:
            self._last = self._stamp(moment[1])
        if batch.model(env) is not self._model:
            self._model = batch.model(env)
            self._write_world()
        if actions is not None:
            self._write_step(actions)
        self._write()
        goal = _core.env_goals(batch)[env]
        if np.isfinite(goal[0]) and (self._goal is None or not np.array_equal(goal, self._goal)):
            self._goal = goal
            self._scene.write_goal(goal, self._last)

    def _write_step(self, actions: npt.NDArray[np.float32]) -> None:
        """Writes the actions and results of the agents in the step. If the step ended an episode, the poses are those
        of the next one."""
        batch, agents = self._batch, self._batch.num_agents
        rows = slice(self._env * agents, (self._env + 1) * agents)
        given = np.reshape(np.asarray(actions, np.float32), (-1, batch.action_size))[rows]
        got = np.column_stack([batch.rewards[rows], batch.terminated[rows], batch.truncated[rows]])
        write = self._topics.write
        write(ACTIONS, Messages.table(given, ("agent", "action")), self._last)
        write(REWARDS, Messages.table(got.astype(np.float32), ("agent", "reward")), self._last)

    def _further_values(self) -> dict[str, Any]:
        radius = float(_core.env_goals(self._batch)[self._env, 2])
        more: dict[str, Any] = {"knobs": dict(self._batch.knobs(self._env))}
        return {**more, "goal_radius": radius} if np.isfinite(radius) else more
