"""The native batch as a vector environment of Stable-Baselines3."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.utils import seeding
from stable_baselines3.common.vec_env.base_vec_env import VecEnv

from mvsim_gym import _core
from mvsim_gym._build import Recipe, action_space, draw_key, spec_of, takes_options
from mvsim_gym._checks import as_actions, check_options, checked_seed
from mvsim_gym._constructors import CONSTRUCTORS
from mvsim_gym._control import OPTIONS, checked_starts
from mvsim_gym._env_controls import ControlsMany
from mvsim_gym._options import SB3Options
from mvsim_gym._outputs import arrays_of
from mvsim_gym._state import pack, unpack
from mvsim_gym.learners._flat import FlatObservation, refuse_waiting
from mvsim_gym.learners._goals import GoalObservation, Reached, without_goal
from mvsim_gym.learners._neighbours import NeighbourExtractor
from mvsim_gym.learners._pictures import PictureExtractor
from mvsim_gym.learners._places import PlaceExtractor
from mvsim_gym.learners._privileged import PrivilegedCriticPolicy
from mvsim_gym.learners._rings import RingExtractor
from mvsim_gym.registration import Named

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = [
    "FlatObservation",
    "MVSimVecEnv",
    "NeighbourExtractor",
    "PictureExtractor",
    "PlaceExtractor",
    "PrivilegedCriticPolicy",
    "RingExtractor",
]

Indices = int | Iterable[int] | None
Observations = npt.NDArray[np.float32] | dict[str, npt.NDArray[Any]]


class MVSimVecEnv(ControlsMany, VecEnv):
    """`num_envs` copies of an environment for Stable-Baselines3, stepped by one native call.

    Args:
        env_id: path of an environment file, or what `gymnasium.make` takes: an id, "module:id", an EnvSpec.
        overrides: as for `mvsim_gym.Env`.

    If a world has several agents, each is a row (row = world * agents + agent), and one policy is learned for all.

    If there are pictures, observations are a dict for "MultiInputPolicy": pictures with channels first, and one vector
    of the other observations (`FlatObservation`).

    Arrays that `reset` and `step` return are copies. The info dicts are reused. They are empty except for envs whose
    episode ended in the step. Those have `terminal_observation`, `TimeLimit.truncated`, `episode` (r: return, l: length
    in steps, t: simulated s), `is_success` and the keys of `mvsim_gym.Env`.

    With `goal_radius` it is a goal environment for `HerReplayBuffer`. The reward is 1 within that distance of the goal
    (and within `goal_angle` and `goal_speed`, if they are given), else 0. `env_method("compute_reward", achieved,
    desired, infos, indices=[0])` returns it for any goal.
    """

    _KIND = "vector environment"
    _NATIVE = frozenset({"_current", "_final"})

    @overload
    def __init__(
        self, env_id: Named, num_envs: int = 1, num_threads: int = 0, **options: Unpack[SB3Options]
    ) -> None: ...
    @overload
    def __init__(self, env_id: Named, num_envs: int = 1, num_threads: int = 0, **keywords: Any) -> None: ...
    @takes_options(CONSTRUCTORS["MVSimVecEnv"])
    def __init__(self, recipe: Recipe) -> None:
        batch = self._make(recipe)
        refuse_waiting(batch.num_agents, batch.spec.on_end, "Stable-Baselines3")
        rows = batch.num_envs * batch.num_agents
        self.spec = spec_of(self._recipe)
        """The EnvSpec from which `gymnasium.make` makes a single one of these environments."""
        radius = recipe.options["goal_radius"]
        if radius is not None and not recipe.options["flatten"]:
            raise ValueError("goal_radius: found it with flatten=False, expected flatten=True, its default")
        if radius is not None and batch.num_agents > 1:
            raise ValueError(
                "goal_radius: found several agents in a world, expected an environment of one agent"
            )
        for limit in ("goal_angle", "goal_speed"):
            if radius is None and recipe.options[limit] is not None:
                raise ValueError(f"{limit}: found it without goal_radius, expected both")
        space = self._make_space(recipe, batch)
        if radius is not None and self._terms:
            raise ValueError(
                "goal_radius: found it beside terms in Python, expected one of them: its reward is its own"
            )
        if radius is not None:
            space = without_goal(space)
            self._keys = list(space.spaces)
        self._flatten = FlatObservation(space) if recipe.options["flatten"] else None
        seen: spaces.Space[Any] = self._flatten.space if self._flatten else space
        self._goals = None
        if radius is not None and self._flatten:
            if not isinstance(self._flatten.space, spaces.Box):
                raise ValueError(
                    f"goal_radius: found the observation '{self._flatten.pictures[0]}', a picture, expected vectors"
                    " only"
                )
            limits = recipe.options["goal_angle"], recipe.options["goal_speed"]
            self._goals = GoalObservation(self._flatten.space, Reached(radius, *limits))
            seen = self._goals.space
        metadata = self.metadata
        super().__init__(rows, seen, action_space(batch))
        self.metadata = metadata
        self._action_shape = (rows, batch.action_size)
        self._actions = np.zeros(self._action_shape, np.float32)
        self._infos: list[dict[str, Any]] = [{} for _ in range(rows)]
        self._told: list[int] = []  # envs whose info dict is not empty
        self._returns = np.zeros(rows)
        self._lengths = np.zeros(rows, np.int64)
        self._seeded = np.zeros(batch.num_envs, np.bool_)
        self._attach(batch)

    def _attach(self, batch: _core.Batch) -> None:
        super()._attach(batch)
        current, final = arrays_of(batch, self._keys, self._terms)
        self._current, self._final = list(current.items()), list(final.items())
        if self._goals:
            self._goals.attach(batch)

    def reset(self) -> Observations:
        """Starts an episode in every env, with the seeds given to `seed` since the last reset."""
        batch = self._open()
        for options in self._options:
            check_options(options, OPTIONS)
        for i, seed in enumerate(self._seeds[: batch.num_envs]):
            if seed is not None or not self._seeded[i]:
                batch.seed_env(i, draw_key(seeding.np_random(seed)[0]))
        self._seeded[:] = True
        given = self._options[: batch.num_envs]
        self._reset_seeds()
        self._reset_options()
        self._begin(checked_starts(batch, list(range(batch.num_envs)), given))
        self._forget_infos()
        self._returns[:] = 0
        self._lengths[:] = 0
        return self._observations(self._current)

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """Sets the seeds of the next reset: env i gets seed + i; None draws one.

        Returns:
            The seed of each env.

        Raises:
            ValueError: the seed is no integer of at least 0.
        """
        return super().seed(None if seed is None else checked_seed(seed))

    def step_async(self, actions: npt.NDArray[Any]) -> None:
        """Stores the actions, (num_envs, n) in [-1, 1], for `step_wait`."""
        self._actions = as_actions(actions, self._action_shape)

    def step_wait(
        self,
    ) -> tuple[Observations, npt.NDArray[np.float32], npt.NDArray[np.bool_], list[dict[str, Any]]]:
        """Steps all envs. Returns observations, rewards (float32), dones and infos.

        Raises:
            TermError: a function of the caller failed; the step has been made.
        """
        batch = self._open()
        between = self._goals.between if self._goals else None
        self._advance(self._actions, between, stacklevel=5)  # the caller of VecEnv.step
        self._update_watchers()
        rewards = self._goals.rewards() if self._goals else batch.rewards
        dones = batch.finished.copy()
        self._returns += rewards
        self._lengths += 1
        self._forget_infos()
        if dones.any():
            self._fill_infos(dones.nonzero()[0].tolist())
        return self._observations(self._current), rewards.astype(np.float32), dones, self._infos

    def snapshot(self) -> bytes:
        """Returns the states of all envs, with their returns and lengths."""
        batch = self._open()
        states = [batch.state(i) for i in range(batch.num_envs)]
        return pack([self._returns.tobytes(), self._lengths.tobytes(), *states])

    def restore(self, state: bytes) -> Observations:
        """Goes back to a snapshot of the same number of envs.

        Returns:
            The observations at the snapshot.

        Raises:
            ValueError: the bytes are damaged or no such snapshot; nothing has changed.
        """
        batch = self._open()
        returns, lengths, *states = unpack(state, 2 + batch.num_envs)
        if not len(returns) == len(lengths) == 8 * self.num_envs:
            raise ValueError(
                "snapshot: found one of another kind of environment, expected one of MVSimVecEnv"
            )
        self._put_back(range(batch.num_envs), states)
        self._returns[:] = np.frombuffer(returns)
        self._lengths[:] = np.frombuffer(lengths, np.int64)
        self._seeded[:] = [batch.started(i) for i in range(batch.num_envs)]
        self._forget_infos()
        return self._observations(self._current)

    def close(self) -> None:
        """Frees threads and memory."""
        self._release()

    def get_images(self) -> list[npt.NDArray[Any]]:
        """Returns a picture of each world, as `Env.render` does."""
        return self._pictures()

    def get_attr(self, attr_name: str, indices: Indices = None) -> list[Any]:
        """Returns an attribute for each env; all envs share it: `spec`, `render_mode`, `action_low`..."""
        return [getattr(self, attr_name) for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Indices = None) -> None:
        """Raises AttributeError, because rows of one batch have no attributes that can be set."""
        raise AttributeError(
            f"'{attr_name}' cannot be set: the envs are rows of a native batch. What differs from the environment"
            " file is said by keywords of MVSimVecEnv, for all of them"
        )

    def env_method(self, method_name: str, *args: Any, indices: Indices = None, **kwargs: Any) -> list[Any]:
        """Calls a method of the envs, which are rows of one batch. They have `render`, and `compute_reward` in a goal
        environment."""
        if method_name == "compute_reward" and self._goals:
            rewards = self._goals.compute_reward(*args, **kwargs)
            return [rewards for _ in self._get_indices(indices)]
        if method_name != "render":
            hint = (
                " (compute_reward: give the keyword goal_radius)" if method_name == "compute_reward" else ""
            )
            raise AttributeError(
                f"the envs of a native batch have no method '{method_name}', expected 'render'{hint}"
            )
        images = self.get_images()
        agents = self._open().num_agents
        return [images[i // agents] for i in self._get_indices(indices)]

    def env_is_wrapped(self, wrapper_class: type, indices: Indices = None) -> list[bool]:
        """Returns False for each env, but True for Monitor, because the batch keeps the statistics of episodes
        itself."""
        from stable_baselines3.common.monitor import Monitor

        return [wrapper_class is Monitor for _ in self._get_indices(indices)]

    def _observations(
        self, rows: list[tuple[str, npt.NDArray[Any]]], places: npt.NDArray[np.float64] | None = None
    ) -> Observations:
        if not self._flatten:
            return {key: array.copy() for key, array in rows}
        flat = self._flatten.of([array for _, array in rows])
        if not self._goals or isinstance(flat, dict):
            return flat
        return self._goals.of(flat, self._goals.now() if places is None else places)

    # Episodes that ended in this step are over; the caller did not see their end.
    def _after_term_error(self) -> None:
        ended = self._finished
        self._returns += self._rewards
        self._lengths += 1
        self._returns[ended] = 0
        self._lengths[ended] = 0
        self._forget_infos()

    def _forget_infos(self) -> None:
        for i in self._told:
            self._infos[i] = {}
        self._told = []

    def _fill_infos(self, ended: list[int]) -> None:
        batch = self._open()
        places = self._goals.ended[ended] if self._goals else None
        final = self._observations([(key, array[ended]) for key, array in self._final], places)
        truncated, terminated = batch.truncated, batch.terminated
        for row, i in enumerate(ended):
            info = self._info.of_env(i)
            info["terminal_observation"] = (
                {key: array[row] for key, array in final.items()} if isinstance(final, dict) else final[row]
            )
            info["TimeLimit.truncated"] = bool(truncated[i] and not terminated[i])
            info["is_success"] = info["success"]
            info["episode"] = {"r": float(self._returns[i]), "l": int(self._lengths[i]), "t": info["time"]}
            self._infos[i] = info
        self._told = ended
        self._returns[ended] = 0
        self._lengths[ended] = 0
