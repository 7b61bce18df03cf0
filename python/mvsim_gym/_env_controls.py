"""Environments whose state is read and set by name: one world, or many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from mvsim_gym._control import checked_knobs, checked_name, held_values, one_each, set_knobs, values_of
from mvsim_gym._native_envs import NativeEnvs

Envs = int | Sequence[int] | npt.NDArray[Any] | None


class ControlsOne(NativeEnvs):
    """One world whose state is read and set by name."""

    def snapshot(self) -> bytes:
        """Returns the state of the episode and all that determines later ones: world, noise, time limit, episode
        counter. The generators of `np_random` and of the spaces are not included, though a pickle includes them."""
        return (self._batch or self._open()).state(0)

    def render(self) -> npt.NDArray[Any] | None:
        """Returns a picture of the world: (height, width, 3) uint8, or (height, width) float32, m, in mode
        "depth_array". None without a render mode."""
        self._open()
        return None if self.render_mode is None else self._pictures()[0]

    def close(self) -> None:
        """Frees threads and memory. A second call does nothing."""
        self._release()

    def names(self) -> list[str]:
        """Returns all names that `read` takes for the present world, without the paths of parameters."""
        return self._open().names(0)

    def read(self, name: str) -> Any:
        """Returns a value of the true state, at any time after the first reset.

        Args:
            name: `time`, `goal`, `vehicle:NAME/pose` (x, y, yaw), `block:NAME/twist`... (docs/python-state.md
                lists them), or the path of a parameter. A `*` stands for any run of characters; the result then has a
                row for each match.

        Returns:
            A float, or an array float64, in SI units and radians. A parameter has the unit that `mvsim-gym parameters`
            lists.

        Raises:
            ValueError: the name is unknown (the message has the nearest one), or no episode has begun.
        """
        value = self._open().read([0], checked_name(name))[0]
        return float(value) if value.ndim == 0 else value

    def write(self, name: str, value: Any) -> None:
        """Sets poses, twists, the goal, or parameters until the end of the episode. Called between steps. Observations,
        rewards and terminations use the new values from the next step on. The jump itself adds nothing to rewards of
        progress.

        A vehicle or block that was placed is at rest; a vehicle stands on the ground. The wheels of a vehicle with a
        twist roll accordingly.

        Args:
            name: as for `read`.
            value: of the shape that `read` returns, or one that broadcasts to it.

        Raises:
            ValueError: an unknown name, a thing that cannot be set, another shape, a value that is not finite or out of
                range, no running episode. Nothing has changed.
            TypeError: the value has no numbers.
        """
        batch = self._open()
        batch.write([0], name, values_of(batch, [0], name, value, one=True))
        self._forget_trails([0])

    def set_parameter(self, path: str, value: Any) -> None:
        """Sets the parameters that match a path, now and in all coming episodes, until `reset_parameters`. It overrides
        randomisation. Part of snapshots, copies and pickles.

        Args:
            path: as `mvsim-gym parameters` lists them; `*` stands for any run of characters.
            value: a number in the unit listed there, or the name of a choice.

        Raises:
            ValueError: no such parameter (the message has the nearest), or a value out of range. Nothing has changed.
            TypeError: the value is no number.
        """
        batch = self._open()
        batch.hold([0], checked_name(path), held_values(batch, [0], path, value))

    def reset_parameters(self) -> None:
        """Ends `set_parameter`: from the next episode on parameters come from the files and from randomisation
        again."""
        self._open().release([0])

    def set_knobs(self, knobs: Mapping[str, Any]) -> None:
        """Sets knobs of the environment file for the coming episodes, without making the environment anew. Other knobs
        keep the values given to the constructor. A world is compiled for each new set of values. Paths of parameters
        are knobs too, as in `set_parameter`. Part of snapshots, copies and pickles.

        Raises:
            ValueError: an unknown knob, or a value that would change the observations, the action, the rewards or the
                vehicles.
            WorldFileError: the files do not allow the value.
        """
        set_knobs(self._open(), [0], [checked_knobs("knobs", knobs)])


class ControlsMany(NativeEnvs):
    """Many worlds. Values have a row for each of `envs`: an index, indices or a mask, by default all."""

    @property
    def num_worlds(self) -> int:
        """Number of envs as `read`, `write`, seeds and states count them. Each has a row for every agent."""
        return self._open().num_envs

    @property
    def agent_names(self) -> list[str]:
        """The vehicles of a world's agents, in the order of their rows."""
        return self._open().agent_names

    @property
    def on_end(self) -> str:
        """How an agent goes on after the end of its episode, as `on_end` of the environment file: "wait", "respawn"
        or "end_all"."""
        return self._open().spec.on_end

    def names(self, env: int = 0) -> list[str]:
        """Returns the same as `Env.names`, for one env."""
        return self._open().names(env)

    def read(self, name: str, *, envs: Envs = None) -> npt.NDArray[np.float64]:
        """Does the same as `Env.read`, with a row for each env. The name must match equally many things in each env.

        Raises:
            ValueError: as for `Env.read`; the message has the env.
        """
        return self._open().read(self._indices(envs), checked_name(name))

    def write(self, name: str, value: Any, *, envs: Envs = None) -> None:
        """Does the same as `Env.write`, with one value for all or a row for each env.

        Raises:
            ValueError, TypeError: as for `Env.write`, or an episode has ended. Nothing has changed in any env.
        """
        batch, which = self._open(), self._indices(envs)
        batch.write(which, name, values_of(batch, which, name, value))
        self._forget_trails(which)

    def set_parameter(self, path: str, value: Any, *, envs: Envs = None) -> None:
        """Does the same as `Env.set_parameter`, with one value for all or one for each env.

        Raises:
            ValueError, TypeError: as for `Env.set_parameter`; nothing has changed in any env.
        """
        batch, which = self._open(), self._indices(envs)
        batch.hold(which, checked_name(path), held_values(batch, which, path, value))

    def reset_parameters(self, *, envs: Envs = None) -> None:
        """Does the same as `Env.reset_parameters`, for some envs."""
        self._open().release(self._indices(envs))

    def set_knobs(self, knobs: Mapping[str, Any] | Sequence[Mapping[str, Any]], *, envs: Envs = None) -> None:
        """Does the same as `Env.set_knobs`, with a dict for all or one for each env. Each env uses them from its next
        episode on.

        Raises:
            ValueError, WorldFileError: as for `Env.set_knobs`; no knob has changed.
        """
        batch, which = self._open(), self._indices(envs)
        set_knobs(batch, which, one_each("knobs", knobs, len(which)))

    def _indices(self, envs: Envs) -> list[int]:
        if envs is None:
            return list(range(self.num_worlds))
        array = np.asarray(envs)
        if array.dtype == np.bool_:
            if array.shape != (self.num_worlds,):
                raise ValueError(f"envs: found a mask of shape {array.shape}, expected ({self.num_worlds},)")
            return [int(i) for i in array.nonzero()[0]]
        if array.size == 0:
            return []
        if array.dtype.kind not in "iu" or array.ndim > 1:
            raise TypeError(f"envs: found {envs!r}, expected an index, indices or a mask of bool")
        found = [int(i) for i in np.atleast_1d(array)]
        for i in found:
            if not 0 <= i < self.num_worlds:
                raise ValueError(f"envs: found {i}, expected 0 to {self.num_worlds - 1}")
        if len(set(found)) < len(found):
            raise ValueError("envs: found an index twice, expected each once")
        return found
