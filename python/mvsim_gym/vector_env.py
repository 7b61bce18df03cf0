"""Many environments as a Gymnasium VectorEnv, stepped by one native call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, overload

import gymnasium as gym
import numpy as np
import numpy.typing as npt
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from mvsim_gym import _core
from mvsim_gym._build import Recipe, action_space, draw_key, takes_options
from mvsim_gym._checks import (
    as_actions,
    check_options,
    checked_mask,
    seed_list,
    world_mask,
)
from mvsim_gym._constructors import CONSTRUCTORS
from mvsim_gym._control import OPTIONS, Start, split, starts_of
from mvsim_gym._env_controls import ControlsMany
from mvsim_gym._native_envs import HasSpec
from mvsim_gym._options import VectorOptions
from mvsim_gym._outputs import Outputs
from mvsim_gym._state import pack, state_list, unpack
from mvsim_gym.registration import Named

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["VectorEnv"]

Seeds = int | Sequence[int | None] | npt.NDArray[np.integer[Any]] | None


class VectorEnv(HasSpec, ControlsMany, gym.vector.VectorEnv[Any, Any, Any]):
    """`num_envs` copies of an environment. Arrays have a row for each env. Spaces and infos are those of Gymnasium's
    SyncVectorEnv over `Env`, in every autoreset mode.

    Env i of a batch seeded with s has the same episodes as a single `Env` seeded with s + i, for any number of envs and
    threads.

    If a world has several agents, a row is an agent: row = world * agents + agent. `num_envs` counts rows. Seeds,
    states, pictures, and values read and written by name belong to worlds. `alive` (an array, and a key of every info)
    marks the rows that count, because an agent whose episode has ended may wait for the others of its world.

    Args:
        env: as for `Env`.
        overrides: as for `Env`.

    Raises:
        TypeError, WorldFileError: as for `Env`.
        ValueError: `num_envs` below 1 and similar.

    A running one can be copied, pickled, and restored to an earlier snapshot, as a whole (`snapshot`) or env by env
    (`get_state`).
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array", "depth_array"]}  # noqa: RUF012 (Gymnasium reads it from the class)

    _KIND = "vector environment"
    _NATIVE = frozenset({"_outputs"})

    @overload
    def __init__(self, env: Named | None = None, **options: Unpack[VectorOptions]) -> None: ...
    @overload
    def __init__(self, env: Named | None = None, **keywords: Any) -> None: ...
    @takes_options(CONSTRUCTORS["VectorEnv"])
    def __init__(self, recipe: Recipe) -> None:
        batch = self._make(recipe)
        self.autoreset_mode = recipe.options["autoreset_mode"]
        self.num_envs = batch.num_envs * batch.num_agents
        self.num_agents: int = batch.num_agents
        """Number of agents of a world, whose rows are consecutive."""
        self.num_threads: int = batch.num_threads
        """Number of threads that step the envs, including the caller's."""
        self.metadata["autoreset_mode"] = self.autoreset_mode
        self.single_action_space = action_space(batch)
        self.single_observation_space = self._flattened(self._make_space(recipe, batch))
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)

        self._copy: bool = recipe.options["copy"]
        self._action_shape = (self.num_envs, batch.action_size)
        # of worlds
        self._randoms: list[np.random.Generator | None] = [None] * batch.num_envs
        self._seeds: list[int] = [-1] * batch.num_envs
        self._seeded = np.zeros(batch.num_envs, np.bool_)
        self._needs_reset = np.ones(batch.num_envs, np.bool_)
        self._ready = False  # True: no world needs a reset
        self._attach(batch)

    def _attach(self, batch: _core.Batch) -> None:
        super()._attach(batch)
        self._outputs = Outputs(batch, self._keys, self._terms, self._recipe)
        self._everyone = np.ones(self.num_envs, np.bool_)

    @property
    def alive(self) -> npt.NDArray[np.bool_]:
        """(num_envs,): True for rows whose episode goes on, so that their next action counts."""
        self._open()
        return self._alive.copy() if self._copy else self._alive

    @property  # type: ignore[misc]
    def np_random(self) -> tuple[np.random.Generator, ...]:  # type: ignore[override]
        """The generator of each env, from which its key was drawn."""
        return tuple(self._random(i) for i in range(self.num_worlds))

    @property
    def np_random_seed(self) -> tuple[int, ...]:  # type: ignore[override]
        """The seed of each env."""
        return tuple(self._seeds[i] for i in range(self.num_worlds) if self._random(i))

    def reset(
        self, *, seed: Seeds = None, options: dict[str, Any] | None = None, out: Any = None
    ) -> tuple[Any, dict[str, Any]]:
        """Starts an episode in every env, or in those of a mask.

        Args:
            seed: an int s seeds env i with s + i; a sequence has a seed or None for each env. An env without a seed
                continues with its next episode.
            options: `reset_mask`, a bool array (num_envs,) with at least one True; and `pose`, `goal`, `knobs` as for
                `Env.reset`. Each is one value for all envs or one for each: an array with a row for each env, or a
                list in which None leaves it open; knobs are a list of dicts. With several agents a single place
                belongs to the first one. A dict by their names, or an array with a place for each, sets the others too.
            out: as for `step`.

        Returns:
            All observations (num_envs, ...), and an empty info.

        Raises:
            TypeError, ValueError: a mask of another type or shape, the wrong number of seeds, an unknown
                option.
        """
        batch = self._open()
        check_options(options, ("reset_mask", *OPTIONS))
        mask = (
            world_mask(checked_mask(options["reset_mask"], self.num_envs), batch.num_envs)
            if options and "reset_mask" in options
            else None
        )
        if out is not None:
            self._outputs.check(out)
        starts = (
            self._starts(batch, mask, options) if options and any(name in options for name in OPTIONS) else []
        )
        for i, value in enumerate(seed_list(seed, batch.num_envs)):
            if (mask is not None and not mask[i]) or (value is None and self._seeded[i]):
                continue
            if value is not None:
                self._randoms[i], self._seeds[i] = seeding.np_random(value)
            batch.seed_env(i, draw_key(self._random(i)))
            self._seeded[i] = True
        self._begin(starts, mask)
        self._needs_reset[slice(None) if mask is None else mask] = False
        self._ready = not self._needs_reset.any()
        infos: dict[str, Any] = {}
        if self.num_agents > 1:
            self._add_alive(infos)
        return self._outputs.latest(out), infos

    def step(
        self, actions: npt.NDArray[np.float32], *, out: Any = None
    ) -> tuple[Any, npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any], dict[str, Any]]:
        """Advances every env by one control period.

        Args:
            actions: (num_envs, n) float32 in [-1, 1]; values beyond are clipped. Float32 in C order is not copied.
            out: the caller's writeable arrays for the observations, of their types and any strides, one for each key,
                such as rows of a rollout buffer. No two may share memory. They are returned instead of new arrays.

        Returns:
            observations (num_envs, ...), rewards (num_envs,) float64, terminated and truncated
            (num_envs,) bool, infos.

        Raises:
            gymnasium.error.ResetNeeded: before the first reset, or (mode DISABLED) for an env whose episode
                has ended.
            ValueError: actions or `out` of another shape; `out` that is read-only or overlaps; with
                `strict_actions` an action that is not finite. Nothing has moved.
        """
        if self._batch is None or not self._ready:
            self._open()
            env = int(self._needs_reset.argmax())
            raise gym.error.ResetNeeded(f"env {env} has no running episode: call reset() before step()")
        if out is not None:
            self._outputs.check(out)
        array = as_actions(actions, self._action_shape)
        infos = self._infos() if self._advance(array) else {}
        if self.num_agents > 1:
            self._add_alive(infos)
        if self._view is not None or self._recording is not None:  # saves a call in each step
            self._update_watchers(array)
        if not self._copy:
            return self._outputs.latest(out), self._rewards, self._terminated, self._truncated, infos
        return (
            self._outputs.latest(out),
            self._rewards.copy(),
            self._terminated.copy(),
            self._truncated.copy(),
            infos,
        )

    def _starts(
        self, batch: _core.Batch, mask: npt.NDArray[np.bool_] | None, options: dict[str, Any]
    ) -> list[Start]:
        which = list(range(batch.num_envs)) if mask is None else mask.nonzero()[0].tolist()
        own = split(options, batch.num_envs, batch.num_agents)
        return starts_of(batch, which, [own[i] for i in which])

    def _after_term_error(self) -> None:
        if self.autoreset_mode is AutoresetMode.DISABLED:
            self._note_ends()

    def get_state(self, indices: Sequence[int] | npt.NDArray[np.integer[Any]] | None = None) -> list[bytes]:
        """Returns snapshots of envs, by default of all, each as `Env.snapshot` makes it."""
        batch = self._open()
        return [batch.state(int(i)) for i in (range(batch.num_envs) if indices is None else indices)]

    def set_state(
        self,
        indices: Sequence[int] | npt.NDArray[np.integer[Any]] | None,
        states: bytes | bytearray | memoryview | Sequence[bytes],
    ) -> Any:
        """Restores envs to snapshots, of any env of the same kind. Other envs do not change.

        Args:
            indices: the envs; None for all.
            states: one for each of them, or one for all.

        Returns:
            All observations (num_envs, ...).

        Raises:
            ValueError: damaged bytes, or no such snapshot; an index beyond the envs; the wrong number of states.
                Nothing has changed.
            TypeError: a state that is not bytes.
        """
        batch = self._open()
        which = list(range(batch.num_envs)) if indices is None else [int(i) for i in indices]
        self._put_back(which, state_list(states))
        next_step = self.autoreset_mode is AutoresetMode.NEXT_STEP
        for i in which:
            self._seeded[i] = batch.started(i)
            self._needs_reset[i] = not batch.started(i) or (batch.ended(i) and not next_step)
        self._ready = not self._needs_reset.any()
        return self._outputs.latest(None)

    def snapshot(self) -> bytes:
        """Returns the states of all envs as one."""
        return pack(self.get_state())

    def restore(self, state: bytes) -> Any:
        """Goes back to a snapshot of the same number of envs.

        Returns:
            The observations at the snapshot.

        Raises:
            ValueError: the bytes are damaged or no such snapshot; nothing has changed.
        """
        return self.set_state(None, unpack(state, self.num_worlds))

    def render(self) -> tuple[npt.NDArray[Any], ...] | None:
        """Returns a picture of each env, as `Env.render` does; None without a render mode."""
        self._open()
        return None if self.render_mode is None else tuple(self._pictures())

    def close_extras(self, **kwargs: Any) -> None:
        """Frees threads and memory. An array of the batch that is still in use keeps its memory."""
        self._release()

    def _note_ends(self) -> None:
        """Marks worlds without a living agent as needing a reset, in mode DISABLED."""
        self._needs_reset |= ~self._alive.reshape(-1, self.num_agents).any(axis=1)
        self._ready = not self._needs_reset.any()

    def _add_alive(self, infos: dict[str, Any]) -> None:
        infos["alive"], infos["_alive"] = self._alive.copy(), self._everyone.copy()

    def _infos(self) -> dict[str, Any]:
        if self.autoreset_mode is AutoresetMode.SAME_STEP:
            return self._info.of_same_step(self._outputs.final(), self._flat)
        if self.autoreset_mode is AutoresetMode.DISABLED:
            self._note_ends()
        return self._info.of_envs()

    def _random(self, i: int) -> np.random.Generator:
        if (random := self._randoms[i]) is None:
            random, self._seeds[i] = seeding.np_random()
            self._randoms[i] = random
        return random
