"""One environment as a Gymnasium Env."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

import gymnasium as gym
import numpy as np
import numpy.typing as npt

from mvsim_gym import _core
from mvsim_gym._build import Recipe, action_space, draw_key, takes_options
from mvsim_gym._checks import as_actions, check_options, checked_seed
from mvsim_gym._constructors import CONSTRUCTORS
from mvsim_gym._control import OPTIONS, Start, checked_starts
from mvsim_gym._env_controls import ControlsOne
from mvsim_gym._info import OpenInfo
from mvsim_gym._native_envs import HasSpec
from mvsim_gym._options import EnvOptions
from mvsim_gym._outputs import arrays_of, flattened
from mvsim_gym._state import checked_bytes
from mvsim_gym.registration import Named

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["Env"]


class Env(HasSpec, ControlsOne, gym.Env[Any, Any]):
    """A robot's task as an environment file describes it.

    Observations are a dict of arrays within finite bounds: 1-D float32, and images. Actions are a float32 vector in
    [-1, 1], which stands for `action_low`..`action_high` in physical units. `info` is empty except in the last step of
    an episode. Then it has `success`, `collision`, `timeout`, `diverged`, `time` (s), `path_length` (m),
    `min_clearance` (m), `bad_action` (count) and the sum of each reward term as `reward/<name>`. A step with a bad
    action has `bad_action` too. If a wrapper ends the episode earlier, `info["success"]` and all other keys can be read
    in that step too, with the values that a time limit would have given.

    Args:
        env: path of an environment file, or what `gymnasium.make` takes: an id, "module:id", an EnvSpec.
        overrides: any field, term or knob of the environment file, e.g. `time_limit=30`,
            `reward={"collision": -20}`; see docs/env-files.md.

    Raises:
        TypeError: an unknown keyword (the message names the nearest one), or a value of another type.
        MissingFileError: there is no such environment file.
        WorldFileError: a mistake in a file or a keyword's value.

    A running environment can be copied, pickled, and restored to an earlier snapshot (`snapshot`). Its true state is
    read and set by name (`read`, `write`). Parameters and knobs can be set while it runs.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array", "depth_array"]}  # noqa: RUF012 (Gymnasium reads it from the class)

    _KIND = "environment"
    _NATIVE = frozenset({"_rows"})

    @overload
    def __init__(self, env: Named | None = None, **options: Unpack[EnvOptions]) -> None: ...
    @overload
    def __init__(self, env: Named | None = None, **keywords: Any) -> None: ...
    @takes_options(CONSTRUCTORS["Env"])
    def __init__(self, recipe: Recipe) -> None:
        batch = self._make(recipe)
        self.action_space = action_space(batch)
        self.observation_space = self._flattened(self._make_space(recipe, batch))
        self._action_shape = (batch.action_size,)
        self._seeded = self._running = False
        self._attach(batch)

    def _attach(self, batch: _core.Batch) -> None:
        super()._attach(batch)
        arrays, _ = arrays_of(batch, self._keys, self._terms)
        self._rows = [(key, array[0]) for key, array in arrays.items()]

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Starts an episode: with a seed the first one of that seed, without a seed the next one.

        Args:
            seed: determines everything random.
            options: `pose` (x, y, yaw) and `goal` (x, y) of this episode, drawn if missing; and `knobs`, a dict, set
                as by `set_knobs` before the episode begins. Any other key raises ValueError, and so does a place where
                no episode can begin.

        Returns:
            The first observation and an empty info.
        """
        batch = self._open()
        starts: list[Start] = []
        if options:
            check_options(options, OPTIONS)
            starts = checked_starts(batch, [0], [options])
        if seed is not None:
            super().reset(seed=checked_seed(seed))
        if seed is not None or not self._seeded:
            batch.seed_env(0, draw_key(self.np_random))
            self._seeded = True
        self._begin(starts)
        self._info.moment += 1
        self._running = True
        return self._observation(), {}

    def step(self, action: npt.NDArray[np.float32]) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Advances the world by one control period.

        Args:
            action: (n,) float32 in [-1, 1]; values beyond are clipped.

        Returns:
            observation, reward, terminated, truncated, info.

        Raises:
            gymnasium.error.ResetNeeded: there is no episode, or it has ended.
            ValueError: an action of another shape; with `strict_actions` one that is not finite.
        """
        batch = self._batch
        if batch is None or not self._running:  # saves a call in each step
            self._open()
            raise gym.error.ResetNeeded("no episode is running: call reset() before step()")
        actions = as_actions(action, self._action_shape)
        if self._watch is None and self._bodies is None and self._terms is None:  # saves a call, too
            has_infos = batch.step(actions)
        else:
            has_infos = self._advance(actions)
        observation = self._observation()
        reward = float(self._rewards[0])
        self._info.moment += 1
        if self._view is not None or self._recording is not None:
            self._update_watchers(actions)
        if not has_infos:  # the end of an episode always has an info
            return observation, reward, False, False, OpenInfo(self._info)
        terminated, truncated = bool(self._terminated[0]), bool(self._truncated[0])
        info = self._info.of_env(0)
        if terminated or truncated:
            self._running = False
            return observation, reward, terminated, truncated, info
        open_info = OpenInfo(self._info)
        open_info.update(info)
        return observation, reward, False, False, open_info

    def _after_term_error(self) -> None:
        self._running = not self._open().ended(0)

    def restore(self, state: bytes) -> Any:
        """Goes back to a snapshot and continues from there bit for bit. The snapshot may come from this environment,
        from another with the same worlds, observations, actions and rewards, or from an entry of `VectorEnv.get_state`.

        Returns:
            The observation at the snapshot.

        Raises:
            ValueError: the bytes are damaged or no such snapshot; nothing has changed.
        """
        batch = self._open()
        self._put_back([0], [checked_bytes(state)])
        self._info.moment += 1
        self._seeded = batch.started(0)
        self._running = self._seeded and not batch.ended(0)
        return self._observation()

    def _observation(self) -> Any:
        if self._flat:
            return flattened(row for _, row in self._rows)
        return {key: row.copy() for key, row in self._rows}
