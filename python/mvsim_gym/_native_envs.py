"""What `Env`, `VectorEnv` and the adapters for Stable-Baselines3 and PettingZoo have in common: they stand on a native
batch. Each of them translates shapes."""

from __future__ import annotations

import copy
import os
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import gymnasium as gym
import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.envs.registration import EnvSpec

from mvsim_gym import _core
from mvsim_gym._build import Recipe, make_batch, observation_space
from mvsim_gym._checks import check_render_mode, path_text
from mvsim_gym._control import checked_knobs, checked_name, held_values, one_each, set_knobs, values_of
from mvsim_gym._info import InfoTable
from mvsim_gym._outputs import flat_space
from mvsim_gym._overrides import portable_paths
from mvsim_gym._picture import Painter, Shot, checked_size, render_modes
from mvsim_gym._state import (
    observes_cameras,
    recalled,
    remembered,
    tell_backend,
    tell_restored,
    wish_of,
)
from mvsim_gym._term_keywords import bodies_of, marked, terms_of
from mvsim_gym.errors import TermError

if TYPE_CHECKING:
    from mvsim_gym.recording.env_recording import EnvRecording
    from mvsim_gym.view.envs_view import EnvsView

__all__ = ["ControlsMany", "ControlsOne", "HasSpec", "NativeEnvs"]

Envs = int | Sequence[int] | npt.NDArray[Any] | None

T = TypeVar("T", bound="NativeEnvs")

# What no copy takes over: the batch, what is made from it, and what looks at it.
_ALWAYS_NATIVE = frozenset(
    {"_batch", "_info", "_painter", "_view", "_recording"}
    | {"_rewards", "_terminated", "_truncated", "_alive", "_finished"}
)


class NativeEnvs(ABC):
    """An environment, or many, over a native batch: made, stepped, seen and recorded, copied and pickled while it runs.

    A copy shares the compiled worlds and owns everything else. A pickle carries the constructor's arguments
    and the state: it is made anew where it is read, from the same files, and goes on where it was.
    """

    control_period: float
    """Simulated seconds of a step."""
    action_low: npt.NDArray[np.float64]
    """What an action of -1 stands for, physical units."""
    action_high: npt.NDArray[np.float64]
    """What an action of 1 stands for, physical units."""
    action_names: list[str]
    """Names of the action's components, e.g. vx and omega."""

    _KIND: ClassVar[str]
    """What it is called where it is closed."""
    _NATIVE: ClassVar[frozenset[str]] = frozenset()
    """Attributes that `_attach` makes from the batch, beside `_ALWAYS_NATIVE`."""

    metadata: dict[str, Any]
    _batch: _core.Batch | None = None  # of one whose making has failed
    _recipe: Recipe
    _watch: ActionWatch | None
    _view: EnvsView | None = None
    _recording: EnvRecording | None = None

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        constructor = getattr(cls.__dict__.get("__init__"), "constructor", None)
        if constructor is not None and cls.__doc__:
            cls.__doc__ = constructor.documented(cls.__doc__)

    def _make(self, recipe: Recipe) -> _core.Batch:
        """The batch of a new one, and the attributes that all kinds have."""
        options = recipe.options
        check_render_mode(options["render_mode"], many=recipe.kind not in ("Env", "parallel_env"))
        depth = options["render_mode"] == "depth_array"
        checked_size(options["width"], options["height"])
        batch = make_batch(recipe)
        if observes_cameras(batch):
            tell_backend(wish_of(options))
        model = batch.model(0)
        self._shot = Shot(options["width"], options["height"], options["camera"], depth).checked(model)
        self._recipe = recipe.portable()
        self.render_mode = options["render_mode"]
        self.metadata = {
            **getattr(type(self), "metadata", {}),
            "render_modes": render_modes(model),
            "render_fps": 1 / batch.control_period,
        }
        self.control_period = batch.control_period
        self.action_low, self.action_high = np.array(batch.action_low), np.array(batch.action_high)
        self.action_names = batch.action_names
        self._watch = ActionWatch(self.action_names, self.action_low, self.action_high)
        return batch

    def _make_space(self, recipe: Recipe, batch: _core.Batch) -> spaces.Dict:
        """Takes over the caller's functions; returns the observations of an agent, by key."""
        self._terms = terms_of(recipe.options, batch)
        self._bodies = bodies_of(recipe.options, batch)
        self._flat: bool = recipe.options["flatten"]
        space = observation_space(batch, self._terms)
        self._keys = list(space.spaces)
        return space

    def _flattened(self, space: spaces.Dict) -> spaces.Dict | spaces.Box:
        """The space as `flatten` asks for it."""
        return flat_space(space) if self._flat else space

    def _attach(self, batch: _core.Batch) -> None:
        """Takes over a batch, and makes from it what `_ALWAYS_NATIVE` and `_NATIVE` name."""
        self._batch = batch
        if self._terms is not None:
            self._terms.attach(batch)
        if self._bodies is not None:
            self._bodies.attach(batch)
        self._rewards, self._terminated, self._truncated = batch.rewards, batch.terminated, batch.truncated
        self._alive, self._finished = batch.alive, batch.finished
        self._info = InfoTable(batch, self._terms)
        self._painter: Painter | None = None

    def _open(self) -> _core.Batch:
        """The batch; an error where this has been closed."""
        if self._batch is None:
            raise gym.error.ClosedEnvironmentError(f"the {self._KIND} is closed")
        return self._batch

    @property
    def warnings(self) -> list[str]:
        """What the world file has that is without effect."""
        return self._open().warnings

    def _begin(self, starts: list[Any], mask: npt.NDArray[np.bool_] | None = None) -> None:
        """Starts episodes in all worlds, or in those of a mask."""
        self._open().reset(mask, starts)
        if self._terms is not None:
            self._terms.after_reset(mask)
        self._tell_recording()

    def _advance(
        self,
        actions: npt.NDArray[np.float32],
        between: Callable[[], Any] | None = None,
        *,
        stacklevel: int = 4,
    ) -> bool:
        """A step of the batch: whether some row has an info.

        Args:
            between: called when all envs have advanced and none was reset.
            stacklevel: of the hint for actions in physical units, which shows the line of the user's.
        """
        if self._watch is not None and not self._watch.looks(actions, stacklevel):
            self._watch = None
        if self._bodies is not None:
            self._bodies.before_step()
        batch = self._batch or self._open()  # a call less in each step
        if self._terms is None:
            return batch.step(actions, between)
        try:
            return self._terms.step(actions)
        except TermError:
            self._after_term_error()
            raise

    @abstractmethod
    def _after_term_error(self) -> None:
        """A function of the caller's has failed; the step has been made, and its ends are unseen."""

    def _tell_watchers(self, actions: npt.NDArray[np.float32] | None = None) -> None:
        """After a step: the view, which may wait and put things elsewhere, and then the recording."""
        if self._view is not None:
            self._view.after_step()
        if self._recording is not None:
            self._recording.after_step(actions)

    def _tell_recording(self) -> None:
        """After a jump of episodes."""
        if self._recording is not None:
            self._recording.after_step()

    def _put_back(self, which: Sequence[int], states: Sequence[bytes]) -> None:
        """Puts worlds of the batch back to snapshots."""
        batch = self._open()
        batch.set_state(which, states)
        tell_restored(states, wish_of(self._recipe.options))
        self._forget_trails(which)
        if self._terms is not None:
            mask = np.zeros(batch.num_envs, np.bool_)
            mask[list(which)] = True
            self._terms.after_reset(mask)
        self._tell_recording()

    def _forget_trails(self, worlds: Iterable[int]) -> None:
        """Trails of pictures begin anew where something was put elsewhere."""
        if self._painter is not None:
            self._painter.forget(worlds)

    def _pictures(self) -> list[npt.NDArray[Any]]:
        """Of each world, as of `Env.render`."""
        batch = self._open()
        painter = self._painter = self._painter or Painter()
        return [painter.of_env(batch, i, self._shot) for i in range(batch.num_envs)]

    def _release(self) -> None:
        """Gives threads and memory back; an array of the batch that is still in use keeps its memory."""
        for watcher in (self._view, self._recording):
            if watcher is not None:
                watcher.close()
        if self._batch is not None:
            self._batch.stop_threads()
        self._view = self._recording = self._batch = self._painter = None

    def view(
        self,
        host: str = "127.0.0.1",
        port: int = 8080,
        *,
        token: bool = True,
        allow_hosts: Sequence[str] = (),
        commanded: bool = False,
    ) -> EnvsView:
        """Shows all envs in browsers, at the `url` of what is returned, while they are stepped. Looking changes nothing
        in them; what is pressed there (a pause, another speed, a robot put somewhere) does.

        Args:
            host: where it listens; by default only this machine can look.
            port: 0 takes any that is free.
            token: a page presses only with the token in `url`, and watches without it. False: every page presses.
            allow_hosts: further names, `NAME` or `NAME:PORT`, by which browsers may call this server.
            commanded: in real time, with or without a browser, and with buttons for a reset and an end, which the
                caller does: `wishes` of the view has the words "reset" and "end".

        Raises:
            ImportError: the extra `view` is missing.
            ValueError: the port is taken, a name is none, or the envs are being viewed already.
        """
        from mvsim_gym.view.doors import Doors
        from mvsim_gym.view.envs_view import EnvsView

        if self._view is not None and not self._view.closed:
            raise ValueError(
                f"view: these envs are seen at {self._view.url} already, expected close() of that first"
            )
        doors = Doors(token, tuple(allow_hosts))
        self._view = EnvsView(self._open(), host, port, doors, commanded=commanded)
        return self._view

    def record(self, path: str | os.PathLike[str], *, env: int = 0) -> EnvRecording:
        """Writes what one of the envs does from now on, each control period, into an MCAP file, as ROS 2 messages
        (docs/tools-recordings.md lists them):

            with envs.record("run.mcap"):
                evaluate(envs)

        Its episodes follow each other, with stamps that go on. Recording changes nothing in the env; what its sensors
        see is read for the recording alone, at their period, with noise of its own. Where an env is reset within the
        step that ends its episode, the last period of that is missing. A copy of the environments records nothing.

        Args:
            path: the file; one that is there is overwritten.
            env: which one; of several agents, which world.

        Raises:
            ImportError: the extra `record` is missing.
            ValueError: there is no such env, or one is being recorded already.
        """
        from mvsim_gym.recording.env_recording import EnvRecording

        batch = self._open()
        if not 0 <= env < batch.num_envs:
            raise ValueError(f"env: found {env}, expected 0 to {batch.num_envs - 1}")
        if self._recording is not None and not self._recording.closed:
            raise ValueError("record: one of these is being recorded already, expected close() of that first")
        recipe = self._recipe
        portable = recipe.portable()
        told = {
            "env": portable.env,
            "keywords": portable_paths(portable.overrides, batch.spec.files),
            "roots": portable.options["roots"],
            "resources": recipe.options["resources"] or {},
        }
        self._recording = EnvRecording(path_text("path", path), batch, env, told)
        return self._recording

    def __copy__(self: T) -> T:
        return copy.deepcopy(self)

    def __deepcopy__(self: T, memo: dict[int, Any]) -> T:
        batch = self._open().clone()
        twin = type(self).__new__(type(self))
        memo[id(self)] = twin
        twin.__dict__.update(copy.deepcopy(self._plain_attributes(), memo))
        twin._attach(batch)  # noqa: SLF001 (of this class)
        return twin

    def __getstate__(self) -> Any:
        batch = self._open()
        attributes = self._plain_attributes()
        if observes_cameras(batch):
            attributes = remembered(attributes, wish_of(self._recipe.options))
        return attributes, [batch.state(i) for i in range(batch.num_envs)]

    def __setstate__(self, state: Any) -> None:
        attributes, states = state
        self.__dict__.update(recalled(attributes, wish_of(attributes["_recipe"].options)))
        batch = make_batch(self._recipe)
        batch.set_state(range(batch.num_envs), states)
        self._attach(batch)

    def _plain_attributes(self) -> dict[str, Any]:
        left_out = self._NATIVE | _ALWAYS_NATIVE
        return {name: value for name, value in self.__dict__.items() if name not in left_out}


class ControlsOne(NativeEnvs):
    """One world, read and set by name."""

    def snapshot(self) -> bytes:
        """The state of the episode and all that the coming ones follow from: world, noise, time limit, episode
        counter. The generators of `np_random` and of the spaces are no part of it (of a pickle they are)."""
        return self._open().state(0)

    def render(self) -> npt.NDArray[Any] | None:
        """A picture of the world: (height, width, 3) uint8, of the mode "depth_array" (height, width) float32, m; None
        without a render mode."""
        self._open()
        return None if self.render_mode is None else self._pictures()[0]

    def close(self) -> None:
        """Gives threads and memory back; a second call does nothing."""
        self._release()

    def names(self) -> list[str]:
        """All that `read` takes beside the paths of parameters, of the world as it is now."""
        return self._open().names(0)

    def read(self, name: str) -> Any:
        """The true state, at any moment after the first reset.

        Args:
            name: `time`, `goal`, `vehicle:NAME/pose` (x, y, yaw), `block:NAME/twist`... (docs/python-state.md
                lists them), or the path of a parameter. A `*` stands for any run of characters, and gives a row for
                each that matches.

        Returns:
            A float, or an array float64, in SI units and radians; of a parameter in the unit that
            `mvsim-gym parameters` tells.

        Raises:
            ValueError: there is no such thing (the message has the nearest name), or no episode yet.
        """
        value = self._open().read([0], checked_name(name))[0]
        return float(value) if value.ndim == 0 else value

    def write(self, name: str, value: Any) -> None:
        """Sets poses, twists, the goal, or parameters until the end of the episode; between steps. Observations,
        rewards and terminations see it in the next step, and no reward counts the way there.

        A placed vehicle or block rests; a vehicle stands on the ground. A vehicle with a twist has wheels that roll.

        Args:
            name: as for `read`.
            value: as `read` gives it, or what broadcasts to that.

        Raises:
            ValueError: an unknown name, a thing that cannot be set, another shape, a value that is not finite or out of
                range, no running episode. Nothing has changed.
            TypeError: no numbers.
        """
        batch = self._open()
        batch.write([0], name, values_of(batch, [0], name, value, one=True))
        self._forget_trails([0])

    def set_parameter(self, path: str, value: Any) -> None:
        """Sets the parameters that a path matches, now and in all coming episodes, whatever is randomised, until
        `reset_parameters`. Part of snapshots, copies and pickles.

        Args:
            path: as `mvsim-gym parameters` lists them; `*` stands for any run of characters.
            value: a number in the unit listed there, or the name of a choice.

        Raises:
            ValueError: no such parameter (the message has the nearest), or a value out of range. Nothing has changed.
            TypeError: no number.
        """
        batch = self._open()
        batch.hold([0], checked_name(path), held_values(batch, [0], path, value))

    def reset_parameters(self) -> None:
        """From the next episode on parameters are again as the files say and randomisation draws them."""
        self._open().release([0])

    def set_knobs(self, knobs: Mapping[str, Any]) -> None:
        """The knobs of the environment file for the coming episodes, as by keyword, without a remake; the ones not
        named are as the environment was made with. A world is compiled for each set of values that is new. Paths of
        parameters are knobs too: `set_parameter`. Part of snapshots, copies and pickles.

        Raises:
            ValueError: an unknown knob, or a value with which observations, actions, rewards or vehicles would be
                others.
            WorldFileError: a value that the files cannot take.
        """
        set_knobs(self._open(), [0], [checked_knobs("knobs", knobs)])


class ControlsMany(NativeEnvs):
    """Many: values have a row for each of `envs`, which are all by default: an index, indices, or a mask."""

    @property
    def num_worlds(self) -> int:
        """Envs as `read`, `write`, seeds and states count them; each has a row for every agent."""
        return self._open().num_envs

    @property
    def agent_names(self) -> list[str]:
        """The vehicles of a world's agents, in the order of their rows."""
        return self._open().agent_names

    @property
    def on_end(self) -> str:
        """What becomes of an agent whose episode has ended, as `on_end` of the environment file: "wait", "respawn" or
        "end_all"."""
        return self._open().spec.on_end

    def names(self, env: int = 0) -> list[str]:
        """As `Env.names`, of one env."""
        return self._open().names(env)

    def read(self, name: str, *, envs: Envs = None) -> npt.NDArray[np.float64]:
        """As `Env.read`, with a row for each env. Envs must have as many things of that name.

        Raises:
            ValueError: as there; the message has the env.
        """
        return self._open().read(self._indices(envs), checked_name(name))

    def write(self, name: str, value: Any, *, envs: Envs = None) -> None:
        """As `Env.write`: one value for all, or a row for each env.

        Raises:
            ValueError, TypeError: as there; nothing has changed in any env. Among them an env whose episode has ended.
        """
        batch, which = self._open(), self._indices(envs)
        batch.write(which, name, values_of(batch, which, name, value))
        self._forget_trails(which)

    def set_parameter(self, path: str, value: Any, *, envs: Envs = None) -> None:
        """As `Env.set_parameter`: one value for all, or one for each env.

        Raises:
            ValueError, TypeError: as there; nothing has changed in any env.
        """
        batch, which = self._open(), self._indices(envs)
        batch.hold(which, checked_name(path), held_values(batch, which, path, value))

    def reset_parameters(self, *, envs: Envs = None) -> None:
        """As `Env.reset_parameters`."""
        self._open().release(self._indices(envs))

    def set_knobs(self, knobs: Mapping[str, Any] | Sequence[Mapping[str, Any]], *, envs: Envs = None) -> None:
        """As `Env.set_knobs`: a dict for all, or one for each env. Each env plays with them from its next episode on.

        Raises:
            ValueError, WorldFileError: as there; no knob has changed.
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


class HasSpec:
    """What Gymnasium makes from an EnvSpec."""

    _spec: EnvSpec | None = None

    @property
    def spec(self) -> EnvSpec | None:
        """What Gymnasium (`make`, `make_vec`) made this from; set by it."""
        return self._spec

    @spec.setter
    def spec(self, spec: EnvSpec | None) -> None:
        self._spec = marked(spec)


_STEPS = 50  # that are looked at
_FAR = 2.0  # what noise about [-1, 1] rarely reaches


class ActionWatch:
    """Looks at the first actions of an environment and warns once. Changes nothing."""

    def __init__(
        self, names: Sequence[str], low: npt.NDArray[np.float64], high: npt.NDArray[np.float64]
    ) -> None:
        self._names, self._low, self._high = names, low, high
        self._left = _STEPS

    def looks(self, actions: npt.NDArray[np.float32], stacklevel: int = 3) -> bool:
        """Whether to go on: False after the warning and after the first steps.

        Args:
            actions: the last axis has the components.
            stacklevel: of the warning, which shows the line of the user's that it names.
        """
        self._left -= 1
        rows = actions.reshape(-1, len(self._names))
        far = (np.abs(rows) > _FAR) & np.isfinite(rows)
        if not far.any():
            return self._left > 0
        row, column = map(int, np.unravel_index(int(far.argmax()), far.shape))
        value, name = rows[row, column], self._names[column]
        warnings.warn(
            f"the action {name} is {value:g}, which counts as {np.sign(value):g}: actions are in [-1, 1], which "
            f"stands for {self._low[column]:g} to {self._high[column]:g} (action_low, action_high). From physical "
            "units: 2 * (value - action_low) / (action_high - action_low) - 1",
            UserWarning,
            stacklevel=stacklevel,
        )
        return False
