"""A recording of one env of many, while whoever trains or evaluates steps them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from mvsim_gym import _core
from mvsim_gym.parts import Vehicle, vehicles_of
from mvsim_gym.recording.recording import Recording
from mvsim_gym.ros.sources import Sampled

__all__ = ["EnvRecording"]


class EnvRecording(Recording):
    """Writes what an env does, each control period, until it is closed; made by `record` of environments.

    It reads a copy of the env's world, so nothing of the env is held, and what sensors see has noise of its own.

    Args:
        told: what the environment was made from, what JSON can say.
    """

    _SOURCE = Sampled

    def __init__(
        self, path: str | os.PathLike[str], batch: _core.Batch, env: int, told: Mapping[str, Any]
    ) -> None:
        self._batch, self._env = batch, env
        self._moment: tuple[int, float] | None = None  # written last: episode and s of it
        self._goal: npt.NDArray[np.float64] | None = None
        model, simulation = batch.model(env), _core.env_simulation(batch, env)
        vehicles: Mapping[str, Vehicle] = vehicles_of(model, simulation)
        super().__init__(path, model, simulation, vehicles, batch.control_period / 2, told)

    def after_step(self) -> None:
        """Writes how the env stands, if that is new."""
        batch, env = self._batch, self._env
        if self.closed or not batch.started(env):
            return
        _core.copy_env(batch, env, self._simulation)
        moment = batch.episode(env), self._simulation.time
        if moment == self._moment:
            return
        before, self._moment = self._moment, moment
        if batch.model(env) is not self._model:
            self._model = batch.model(env)
            self._write_world()
        if before is not None and (before[0] != moment[0] or moment[1] < before[1]):
            self.after_jump()
        else:
            self._write()
        goal = _core.env_goals(batch)[env]
        if np.isfinite(goal[0]) and (self._goal is None or not np.array_equal(goal, self._goal)):
            self._goal = goal
            self._scene.write_goal(goal, self._last)

    def _more(self) -> dict[str, Any]:
        radius = float(_core.env_goals(self._batch)[self._env, 2])
        more: dict[str, Any] = {"knobs": dict(self._batch.knobs(self._env))}
        return {**more, "goal_radius": radius} if np.isfinite(radius) else more
