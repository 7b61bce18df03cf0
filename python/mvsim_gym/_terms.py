"""Rewards, observations and terminations as Python functions over the arrays of all rows (envs x agents).

A function is called once a vector step with a `TermView`, after all envs have advanced and before any is reset. It is
stateless and works row by row: row i of its result depends only on row i of its inputs, or on the rows of that world.
The numbers of an env then do not depend on the number of envs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from gymnasium import spaces

from mvsim_gym import _core
from mvsim_gym._checks import shortened
from mvsim_gym._control import numbers
from mvsim_gym._outputs import array_of
from mvsim_gym._term_view import Array, BodiesView, Call, TermView
from mvsim_gym.errors import TermError

Function = Callable[..., Any]

_FLOAT64 = np.dtype(np.float64)  # dtype of results; others are converted


class _TermValueError(TermError, ValueError):
    """A TermError for a wrong value, such as a sum of rewards that overflows."""


class Terms:
    """The functions of one or many environments, and the sums of their rewards."""

    def __init__(self, functions: Mapping[str, Mapping[str, Function]], batch: _core.Batch) -> None:
        self._reward = dict(functions["reward_terms"])
        self._observation = dict(functions["observation_terms"])
        self._termination = dict(functions["termination_terms"])
        known = [o.key for o in batch.observations]
        for name in self._observation:
            if name in known:
                raise ValueError(f"observation_terms: '{name}' is an observation of the environment already")
        columns = {key for key, *_ in batch.info_columns()}
        for prefix, names in (("reward", self._reward), ("terminated", self._termination)):
            for name in names:
                if f"{prefix}/{name}" in columns:
                    raise ValueError(f"{prefix} term '{name}' is one of the environment already")
        n = batch.num_envs * batch.num_agents
        self.sums = {name: np.zeros(n) for name in self._reward}
        self.ended_sums = {name: np.zeros(n) for name in self._reward}
        self.held = {name: np.zeros(n) for name in self._termination}
        self.current: dict[str, Array] = {}
        self.final: dict[str, Array] = {}
        self.attach(batch)
        self._find_sizes(batch)

    def attach(self, batch: _core.Batch) -> None:
        self.batch: _core.Batch | None = batch
        self.num_rows = batch.num_envs * batch.num_agents
        self.vehicles = batch.agent_names
        self._several = batch.num_agents > 1
        keys = [o.key for o in batch.observations]
        self.native = {key: array_of(batch, i) for i, key in enumerate(keys)}
        self._native_final = {key: array_of(batch, i, final=True) for i, key in enumerate(keys)}
        self._finished, self._was_reset, self._live = batch.finished, batch.was_reset, batch.live
        self._same_step = any(len(array) for array in self._native_final.values())
        self._in_step = False

    def __getstate__(self) -> dict[str, Any]:
        left_out = ("batch", "native", "_native_final", "_finished", "_was_reset", "_live")
        return {key: value for key, value in self.__dict__.items() if key not in left_out}

    @property
    def spaces(self) -> dict[str, spaces.Box]:
        """Returns the boxes of the observation terms. A function may have the attributes `low` and `high` as bounds."""
        return {
            key: spaces.Box(*_bounds(self._observation[key], array.shape[1]), dtype=np.float32)
            for key, array in self.current.items()
        }

    def step(self, actions: Array) -> bool:
        """Steps the batch with the terms. Returns whether some row has an info. If a TermError is raised, the step has
        been made."""
        assert self.batch is not None
        has_infos = self.batch.step(actions, self.between)
        self.after_step(has_infos)
        return has_infos

    def read(self, name: str) -> Array:
        """Returns anything that `VectorEnv.read` knows by name, with a row for each agent; goal and actions are the
        agent's own."""
        assert self.batch is not None
        return self.batch.read_rows(name)

    def between(self) -> Array | None:
        """Runs the caller's functions within a step of the batch. Returns the mask of episodes that terms end."""
        self._in_step = True
        call = Call(self)
        try:
            if self._observation:
                self._observe(call, self._live)
                self._clear_waiting()
            for name, function in self._reward.items():
                value = self._called("reward", name, function, call)
                if value is not None:
                    self._add_reward(name, value)
            return self._terminated(call) if self._termination else None
        finally:
            call.end()
            self._in_step = False

    def after_step(self, has_infos: bool) -> None:
        """Adds up the rewards of ended episodes and observes new ones, after each step of the batch."""
        if has_infos and self._finished.any():
            for name, sums in self.sums.items():
                self.ended_sums[name][self._finished] = sums[self._finished]
                sums[self._finished] = 0
        if not self._observation:
            return
        # Agents whose episode ended while others of their world go on. Their latest observations are final ones.
        gone = None
        if self._several and self._same_step:
            gone = self._finished & ~self._was_reset
        if self._was_reset.any() or (gone is not None and gone.any()):
            for key, array in self.current.items():
                np.copyto(self.final[key], array)
                if gone is not None:
                    array[gone] = 0
            self.observe(self._was_reset)

    def after_reset(self, rows: Array | None) -> None:
        """Updates sums and observations after a reset, or a restored snapshot, of all worlds or of those in a mask."""
        agents = len(self.vehicles)
        mask = np.ones(self.num_rows, bool) if rows is None else np.repeat(rows, agents)
        for sums in self.sums.values():
            sums[mask] = 0
        if self._observation:
            self.observe(mask)
            self._clear_waiting()

    def observe(self, mask: Array) -> None:
        """Runs the observation terms for the rows of a mask."""
        call = Call(self)
        try:
            self._observe(call, mask)
        finally:
            call.end()

    def latest(self, key: str) -> Array:
        """Returns a copy of an observation of all envs. Within a step it is the last observation for episodes that
        ended."""
        if isinstance(self.native[key], _core.DeviceArray):
            raise ValueError(
                f"observation '{key}': it lies on {self.native[key].device}, expected one of the host's memory: a term"
                " in Python sees no images with device="
            )
        array = self.native[key].copy()
        final = self._native_final[key]
        if self._in_step and len(final) and self._finished.any():
            array[self._finished] = final[self._finished]
        return array

    def columns(self) -> list[tuple[str, str, Array, Array]]:
        """Returns the terms' info columns in the form of those of a batch."""
        rewards = [(f"reward/{n}", "float", a, self._finished) for n, a in self.ended_sums.items()]
        ends = [(f"terminated/{n}", "bool", a, self._finished) for n, a in self.held.items()]
        return rewards + ends

    def of_cut(self) -> dict[str, Any]:
        """Returns the terms' info of a single env when something outside ends its episode in this step."""
        rewards = {f"reward/{name}": float(sums[0]) for name, sums in self.sums.items()}
        return rewards | {f"terminated/{name}": bool(held[0]) for name, held in self.held.items()}

    def _clear_waiting(self) -> None:
        """Sets rows of agents to zero that have ended while other agents of their world go on."""
        if self._several:
            assert self.batch is not None
            waiting = self.batch.waiting()
            for array in self.current.values():
                array[waiting] = 0

    def _called(self, kind: str, name: str, function: Function, call: Call) -> Any:
        call.begin(name)
        try:
            return function(TermView(call))
        except Exception as error:
            raise TermError(f"{kind} term '{name}': {type(error).__name__}: {error}") from error

    def _add_reward(self, name: str, value: Any) -> None:
        assert self.batch is not None
        try:
            if type(value) is not np.ndarray or value.dtype is not _FLOAT64 or not value.flags.c_contiguous:
                value = np.ascontiguousarray(numbers("its value", value))
            if value.shape != (self.num_rows,):
                raise ValueError(f"found shape {value.shape}, expected ({self.num_rows},)")
            self.batch.add_rewards(value, self.sums[name])
        except ValueError as error:
            raise _TermValueError(f"reward term '{name}': {error}") from error
        except TypeError as error:
            raise TermError(f"reward term '{name}': {error}") from error

    def _terminated(self, call: Call) -> Array:
        ended = np.zeros(self.num_rows, bool)
        for name, function in self._termination.items():
            value = np.asarray(self._called("termination", name, function, call))
            if value.dtype != np.bool_ or value.shape != ended.shape:
                raise TermError(
                    f"termination term '{name}': found {value.dtype} {value.shape}, expected bool {ended.shape}"
                )
            np.logical_and(value, self._live, out=self.held[name])
            ended |= value
        return ended

    def _observe(self, call: Call, mask: Array) -> None:
        for name, function in self._observation.items():
            value = self._values(name, function, call)
            array = self.current[name]
            if value.shape != array.shape:
                raise TermError(
                    f"observation term '{name}': found shape {value.shape}, expected {array.shape}"
                )
            wrong = ~np.isfinite(value).all(axis=1) & mask
            if wrong.any():
                raise TermError(
                    f"observation term '{name}': found a value that is not finite in environment"
                    f" {wrong.argmax() // len(self.vehicles)}"
                )
            low, high = _bounds(function, array.shape[1])
            array[mask] = np.clip(value[mask], low, high)

    def _values(self, name: str, function: Function, call: Call) -> Array:
        value = self._called("observation", name, function, call)
        try:
            array = numbers("its value", value).astype(np.float32)
        except TypeError as error:
            raise TermError(f"observation term '{name}': {error}") from error
        array = array[:, None] if array.ndim == 1 else array
        if array.ndim != 2 or len(array) != self.num_rows or array.shape[1] == 0:
            raise TermError(
                f"observation term '{name}': found shape {array.shape}, expected ({self.num_rows}, size)"
            )
        return array

    def _find_sizes(self, batch: _core.Batch) -> None:
        """Runs the observation terms on a copy of the batch after its first reset to find the sizes of their
        results."""
        if not self._observation:
            return
        trial = batch.clone()
        trial.reset()
        self.attach(trial)
        call = Call(self)
        try:
            for name, function in self._observation.items():
                size = self._values(name, function, call).shape[1]
                self.current[name] = np.zeros((self.num_rows, size), np.float32)
                self.final[name] = np.zeros((self.num_rows, size), np.float32)
        finally:
            call.end()
            trial.stop_threads()
            self.attach(batch)


class Bodies:
    """The functions that move bodies of one or many environments, by the name of the bodies' element."""

    def __init__(self, functions: Mapping[str, Function], batch: _core.Batch) -> None:
        self._functions = dict(functions)
        self._names: dict[str, list[str]] = {name: [] for name in functions}
        policies = {group: policy for _, group, policy in batch.bodies}
        for group in functions:
            if policies.get(group) != "python":
                found = f"has the policy {policies[group]}" if group in policies else "moves nothing"
                known = ", ".join(g for g, policy in policies.items() if policy == "python") or "none"
                raise ValueError(
                    f"body_policies['{shortened(group)}']: '{shortened(group)}' {found}, expected an element with"
                    f' policy="python": {known}'
                )
        for name, group, _ in batch.bodies:
            if group in self._names:
                self._names[group].append(name)
        self.native: dict[str, Array] = {}  # body policies see no observations
        self.attach(batch)

    def attach(self, batch: _core.Batch) -> None:
        self.batch: _core.Batch | None = batch
        self.num_rows = batch.num_envs
        self.rows = list(range(batch.num_envs))
        self.vehicles = [batch.vehicle_name]

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key != "batch"}

    def read(self, name: str) -> Array:
        """Returns anything that `VectorEnv.read` knows by name, with a row for each world."""
        assert self.batch is not None
        return self.batch.read(self.rows, name)

    def before_step(self) -> None:
        """Calls every function and sets the velocities of bodies whose episode goes on."""
        batch = self.batch
        assert batch is not None
        running = [row for row in self.rows if not batch.ended(row)]
        for group, function in self._functions.items():
            names = self._names[group]
            call = Call(self)  # type: ignore[arg-type]
            call.begin(group)
            try:
                velocities = self._velocities(
                    group, function, BodiesView(call, names), (len(self.rows), len(names), 2)
                )
            finally:
                call.end()
            for k, name in enumerate(names):
                batch.write(
                    running, f"body:{name}/velocity", np.ascontiguousarray(velocities[running, k]).ravel()
                )

    def _velocities(self, group: str, function: Function, view: BodiesView, shape: tuple[int, ...]) -> Array:
        try:
            velocities = numbers("its value", function(view))
            if velocities.shape != shape:
                raise ValueError(f"found shape {velocities.shape}, expected {shape}")
            if not np.isfinite(velocities).all():
                raise ValueError("found a velocity that is not finite")
        except Exception as error:
            raise TermError(f"body policy '{group}': {type(error).__name__}: {error}") from error
        return velocities


def _bounds(function: Function, size: int) -> tuple[Array, Array]:
    low, high = getattr(function, "low", -np.inf), getattr(function, "high", np.inf)
    return np.full(size, low, np.float32), np.full(size, high, np.float32)
