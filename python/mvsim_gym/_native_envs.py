"""Base of `Env`, `VectorEnv` and the adapters for Stable-Baselines3 and PettingZoo. They own a native batch and
translate shapes."""

from __future__ import annotations

import copy
import os
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import gymnasium as gym
import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.envs.registration import EnvSpec

from mvsim_gym import _core
from mvsim_gym._build import Recipe, bodies_of, make_batch, marked, observation_space, terms_of
from mvsim_gym._checks import check_render_mode, path_text
from mvsim_gym._info import InfoTable
from mvsim_gym._outputs import flat_space
from mvsim_gym._overrides import portable_paths
from mvsim_gym._picture import Painter, Shot, checked_size, render_modes
from mvsim_gym._state import (
    log_backend,
    log_restored,
    observes_cameras,
    requested_backend,
    with_backend,
    without_backend,
)
from mvsim_gym.errors import TermError

if TYPE_CHECKING:
    from mvsim_gym.recording.recording import EnvRecording
    from mvsim_gym.view.envs_view import EnvsView

T = TypeVar("T", bound="NativeEnvs")

# Attributes that no copy takes over: the batch, objects made from it, and observers of it.
_ALWAYS_NATIVE = frozenset(
    {"_batch", "_info", "_painter", "_view", "_recording"}
    | {"_rewards", "_terminated", "_truncated", "_alive", "_finished"}
)


class NativeEnvs(ABC):
    """One or many environments on a native batch: can be stepped, viewed, recorded, copied and pickled while running.

    A copy shares the compiled worlds and owns everything else. A pickle has the constructor's arguments and the state.
    Loading it reads the same files again and continues from that state.
    """

    control_period: float
    """Simulated seconds of a step."""
    time_limit: float | None
    """Simulated seconds after which an episode is truncated; None: there is no limit."""
    action_low: npt.NDArray[np.float64]
    """Physical values of an action of -1."""
    action_high: npt.NDArray[np.float64]
    """Physical values of an action of 1."""
    action_names: list[str]
    """Names of the action's components, e.g. vx and omega."""

    _KIND: ClassVar[str]
    """Name in the message of an error after `close`."""
    _NATIVE: ClassVar[frozenset[str]] = frozenset()
    """Attributes that `_attach` makes from the batch, in addition to `_ALWAYS_NATIVE`."""

    metadata: dict[str, Any]
    _batch: _core.Batch | None = None  # None if the constructor failed
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
        """Makes the batch of a new object and sets the attributes that all kinds have."""
        options = recipe.options
        check_render_mode(options["render_mode"], many=recipe.kind not in ("Env", "parallel_env"))
        depth = options["render_mode"] == "depth_array"
        checked_size(options["width"], options["height"])
        batch = make_batch(recipe)
        if observes_cameras(batch):
            log_backend(requested_backend(options))
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
        self.time_limit = batch.spec.time_limit or None
        self.action_low, self.action_high = np.array(batch.action_low), np.array(batch.action_high)
        self.action_names = batch.action_names
        self._watch = ActionWatch(self.action_names, self.action_low, self.action_high)
        return batch

    def _make_space(self, recipe: Recipe, batch: _core.Batch) -> spaces.Dict:
        """Registers the caller's functions. Returns the space of an agent's observations, by key."""
        self._terms = terms_of(recipe.options, batch)
        self._bodies = bodies_of(recipe.options, batch)
        self._flat: bool = recipe.options["flatten"]
        space = observation_space(batch, self._terms)
        self._keys = list(space.spaces)
        return space

    def _flattened(self, space: spaces.Dict) -> spaces.Dict | spaces.Box:
        """Returns the space, flattened if the option `flatten` is set."""
        return flat_space(space) if self._flat else space

    def _attach(self, batch: _core.Batch) -> None:
        """Takes over a batch and makes the attributes named in `_ALWAYS_NATIVE` and `_NATIVE`."""
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
        """Returns the batch. Raises ClosedEnvironmentError after `close`."""
        if self._batch is None:
            raise gym.error.ClosedEnvironmentError(f"the {self._KIND} is closed")
        return self._batch

    @property
    def warnings(self) -> list[str]:
        """Elements and attributes of the world file that have no effect."""
        return self._open().warnings

    def _begin(self, starts: list[Any], mask: npt.NDArray[np.bool_] | None = None) -> None:
        """Starts episodes in all worlds, or in those of a mask."""
        self._open().reset(mask, starts)
        if self._terms is not None:
            self._terms.after_reset(mask)
        self._continue_recording()

    def _advance(
        self,
        actions: npt.NDArray[np.float32],
        between: Callable[[], Any] | None = None,
        *,
        stacklevel: int = 4,
    ) -> bool:
        """Steps the batch. Returns whether some row has an info.

        Args:
            between: called when all envs have advanced and none was reset.
            stacklevel: stack level of the hint about actions in physical units, so that it names the user's line.
        """
        if self._watch is not None and not self._watch.check(actions, stacklevel):
            self._watch = None
        if self._bodies is not None:
            self._bodies.before_step()
        batch = self._batch or self._open()  # saves a call in each step
        if self._terms is None:
            return batch.step(actions, between)
        try:
            return self._terms.step(actions)
        except TermError:
            self._after_term_error()
            raise

    @abstractmethod
    def _after_term_error(self) -> None:
        """Handles a failed function of the caller. The step has been made, but the ends of its episodes were not
        returned."""

    def _update_watchers(self, actions: npt.NDArray[np.float32] | None = None) -> None:
        """Updates the view, which may wait or move bodies, and then the recording. Called after a step."""
        if self._view is not None:
            self._view.after_step()
        if self._recording is not None:
            self._recording.after_step(actions)

    def _continue_recording(self) -> None:
        """Updates the recording after episodes have jumped."""
        if self._recording is not None:
            self._recording.after_step()

    def _put_back(self, which: Sequence[int], states: Sequence[bytes]) -> None:
        batch = self._open()
        batch.set_state(which, states)
        log_restored(states, requested_backend(self._recipe.options))
        self._forget_trails(which)
        if self._terms is not None:
            mask = np.zeros(batch.num_envs, np.bool_)
            mask[list(which)] = True
            self._terms.after_reset(mask)
        self._continue_recording()

    def _forget_trails(self, worlds: Iterable[int]) -> None:
        """Clears the trails in pictures of worlds whose bodies were moved."""
        if self._painter is not None:
            self._painter.forget(worlds)

    def _pictures(self) -> list[npt.NDArray[Any]]:
        """Returns a picture of each world, as `Env.render` does."""
        batch = self._open()
        painter = self._painter = self._painter or Painter()
        return [painter.of_env(batch, i, self._shot) for i in range(batch.num_envs)]

    def _release(self) -> None:
        """Frees threads and memory. An array of the batch that is still in use keeps its memory."""
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
        """Shows all envs in browsers while they are stepped. The result has the `url`. Viewing changes nothing in the
        envs. Pressing a button (pause, speed, move a robot) does.

        Args:
            host: address to listen at; by default only this machine can connect.
            port: 0 takes any free port.
            token: a page needs the token in `url` to press buttons, and none to watch. False: every page may press.
            allow_hosts: further names, `NAME` or `NAME:PORT`, by which browsers may address this server.
            commanded: steps run in real time, also without a browser, and the page has buttons for a reset and an end.
                The caller does these: `wishes` of the view has the words "reset" and "end".

        Raises:
            ImportError: the extra `view` is missing.
            ValueError: the port is in use, a name is invalid, or the envs are being viewed already.
        """
        from mvsim_gym.view.doors import doors_of
        from mvsim_gym.view.envs_view import EnvsView

        doors = doors_of("these envs", self._view, token, allow_hosts)
        self._view = EnvsView(self._open(), host, port, doors, commanded=commanded)
        return self._view

    def record(self, path: str | os.PathLike[str], *, env: int = 0) -> EnvRecording:
        """Records one of the envs from now on into an MCAP file, each control period, as ROS 2 messages
        (docs/tools-recordings.md lists them):

            with envs.record("run.mcap"):
                evaluate(envs)

        Episodes follow each other with increasing stamps. Recording changes nothing in the env. Its sensors are read
        for the recording separately, at their period, with their own noise. If an env is reset within the step that
        ends its episode, the last period of the episode is missing. A copy of the environments is not recorded.

        Args:
            path: the file; an existing one is overwritten.
            env: index of the env; with several agents, of the world.

        Raises:
            ImportError: the extra `record` is missing.
            ValueError: there is no such env, or one is being recorded already.
        """
        from mvsim_gym.recording.recording import EnvRecording

        batch = self._open()
        if not 0 <= env < batch.num_envs:
            raise ValueError(f"env: found {env}, expected 0 to {batch.num_envs - 1}")
        if self._recording is not None and not self._recording.closed:
            raise ValueError("record: found a recording of one of these envs, expected close() of that first")
        recipe = self._recipe
        portable = recipe.portable()
        origin = {
            "env": portable.env,
            "keywords": portable_paths(portable.overrides, batch.spec.keywords),
            "roots": portable.options["roots"],
            "resources": recipe.options["resources"] or {},
        }
        self._recording = EnvRecording(path_text("path", path), batch, env, origin)
        return self._recording

    def __copy__(self: T) -> T:
        return copy.deepcopy(self)

    def __deepcopy__(self: T, memo: dict[int, Any]) -> T:
        batch = self._open().clone()
        twin = type(self).__new__(type(self))
        memo[id(self)] = twin
        twin.__dict__.update(copy.deepcopy(self._plain_attributes(), memo))
        twin._attach(batch)  # noqa: SLF001 (same class)
        return twin

    def __getstate__(self) -> Any:
        batch = self._open()
        attributes = self._plain_attributes()
        if observes_cameras(batch):
            attributes = with_backend(attributes, requested_backend(self._recipe.options))
        return attributes, [batch.state(i) for i in range(batch.num_envs)]

    def __setstate__(self, state: Any) -> None:
        attributes, states = state
        self.__dict__.update(without_backend(attributes, requested_backend(attributes["_recipe"].options)))
        batch = make_batch(self._recipe)
        batch.set_state(range(batch.num_envs), states)
        self._attach(batch)

    def _plain_attributes(self) -> dict[str, Any]:
        left_out = self._NATIVE | _ALWAYS_NATIVE
        return {name: value for name, value in self.__dict__.items() if name not in left_out}


class HasSpec:
    """The attribute `spec` of environments that Gymnasium makes."""

    _spec: EnvSpec | None = None

    @property
    def spec(self) -> EnvSpec | None:
        """The EnvSpec from which `make` or `make_vec` of Gymnasium made this; Gymnasium sets it."""
        return self._spec

    @spec.setter
    def spec(self, spec: EnvSpec | None) -> None:
        self._spec = marked(spec)


_STEPS = 50  # the first steps, which are checked
_FAR = 2.0  # noise around actions in [-1, 1] rarely exceeds this


class ActionWatch:
    """Checks the first actions of an environment and warns once if they look like physical units."""

    def __init__(
        self, names: Sequence[str], low: npt.NDArray[np.float64], high: npt.NDArray[np.float64]
    ) -> None:
        self._names, self._low, self._high = names, low, high
        self._left = _STEPS

    def check(self, actions: npt.NDArray[np.float32], stacklevel: int = 3) -> bool:
        """Checks actions. Returns whether to go on: False after the warning and after the first steps.

        Args:
            actions: the last axis has the components.
            stacklevel: stack level of the warning, so that it names the user's line.
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
