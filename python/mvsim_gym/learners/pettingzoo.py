"""A world with several agents as a parallel environment of PettingZoo."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, overload

import gymnasium as gym
import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.utils import seeding
from pettingzoo import ParallelEnv

from mvsim_gym import _core
from mvsim_gym._build import Recipe, action_space, draw_key, takes_options
from mvsim_gym._checks import as_actions, checked_seed
from mvsim_gym._constructors import CONSTRUCTORS
from mvsim_gym._control import OPTIONS, checked_starts
from mvsim_gym._env_controls import ControlsOne
from mvsim_gym._options import ParallelOptions
from mvsim_gym._outputs import arrays_of, flattened
from mvsim_gym._state import checked_bytes
from mvsim_gym.registration import Named

if TYPE_CHECKING:
    from typing_extensions import Unpack

PerAgent = dict[str, Any]
_STATE_SIZE = 10  # per agent


class MVSimParallelEnv(ControlsOne, ParallelEnv[str, Any, Any]):
    """One world and its agents, named by their vehicles.

    With the seed s it has the same episodes as world 0 of `mvsim_gym.VectorEnv` with the seed s. An agent leaves
    `agents` when its episode ends, with its last observation and its info; the others go on.

    Args:
        env: path of an environment file, or what `gymnasium.make_vec` takes: an id, "module:id", an EnvSpec.
        overrides: as for `mvsim_gym.Env`.

    Raises:
        TypeError, WorldFileError: as for `mvsim_gym.Env`.
        ValueError: `on_end="respawn"`, because agents of PettingZoo do not come back.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array", "depth_array"], "is_parallelizable": True}  # noqa: RUF012 (as PettingZoo reads it)

    _KIND = "parallel environment"
    _NATIVE = frozenset({"_arrays"})

    @overload
    def __init__(self, env: Named | None = None, **options: Unpack[ParallelOptions]) -> None: ...
    @overload
    def __init__(self, env: Named | None = None, **keywords: Any) -> None: ...
    @takes_options(CONSTRUCTORS["parallel_env"])
    def __init__(self, recipe: Recipe) -> None:
        batch = self._make(recipe)
        self.metadata["name"] = batch.spec.id or "mvsim"
        self.possible_agents: list[str] = batch.agent_names
        self.agents: list[str] = []
        single = self._flattened(self._make_space(recipe, batch))
        # Each agent has its own object, because they are seeded separately.
        self.observation_spaces: dict[str, spaces.Space[Any]] = {
            name: copy.deepcopy(single) for name in self.possible_agents
        }
        self.action_spaces: dict[str, spaces.Space[Any]] = {
            name: action_space(batch) for name in self.possible_agents
        }
        self.state_space = spaces.Box(-np.inf, np.inf, (len(self.possible_agents) * _STATE_SIZE,), np.float32)
        self._action_shape = (batch.action_size,)
        self._seeded = False
        self._attach(batch)

    def _attach(self, batch: _core.Batch) -> None:
        super()._attach(batch)
        self._arrays, _ = arrays_of(batch, self._keys, self._terms)

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Returns the observation space of an agent, the same object each time."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """Returns the action space of an agent, the same object each time."""
        return self.action_spaces[agent]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[PerAgent, PerAgent]:
        """Starts an episode of all agents: with a seed the first one of that seed, without a seed the next one.

        Args:
            seed: determines everything random.
            options: `pose`, `goal` (each a dict by the agents' names, a row for each agent, or one place for the first
                agent) and `knobs`, as for `Env.reset`. Other options are ignored, as PettingZoo's own test requires.

        Returns:
            The first observation and an empty info of each agent.
        """
        batch = self._open()
        own = {
            name: value for name, value in (options or {}).items() if name in OPTIONS and value is not None
        }
        starts = checked_starts(batch, [0], [own])
        if seed is not None or not self._seeded:
            batch.seed_env(0, draw_key(seeding.np_random(None if seed is None else checked_seed(seed))[0]))
            self._seeded = True
        self._begin(starts)
        self.agents = list(self.possible_agents)
        return self._observations(self.agents), {name: {} for name in self.agents}

    def step(
        self, actions: dict[str, npt.NDArray[np.float32]]
    ) -> tuple[PerAgent, PerAgent, PerAgent, PerAgent, PerAgent]:
        """Advances the world by one control period.

        Args:
            actions: for each of `agents` (n,) float32 in [-1, 1]; values beyond are clipped.

        Returns:
            observations, rewards, terminations, truncations and infos of the agents that were alive before the step.
            After the end of an episode and without actions they are five empty dicts, as in PettingZoo's own
            environments. SuperSuit's `black_death` recognises the end by them.

        Raises:
            gymnasium.error.ResetNeeded: there is no episode, or it has ended.
            ValueError: an action of another shape, a missing one, or one of an agent that is not alive.
            TermError: a function of the caller failed; the step has been made.
        """
        batch = self._open()
        if not self.agents:
            if not actions and batch.started(0):
                return {}, {}, {}, {}, {}
            raise gym.error.ResetNeeded("no episode is running: call reset() before step()")
        acting = self.agents
        rows = [(name, self.possible_agents.index(name)) for name in acting]
        array = self._rows_of(actions)
        try:
            has_infos = self._advance(array)
        finally:
            self.agents = [name for name, row in rows if self._alive[row]]
        result = (
            self._observations(acting),
            {name: float(self._rewards[row]) for name, row in rows},
            {name: bool(self._terminated[row]) for name, row in rows},
            {name: bool(self._truncated[row]) for name, row in rows},
            {name: self._info.of_env(row) if has_infos else {} for name, row in rows},
        )
        self._update_watchers(array)
        return result

    def _after_term_error(self) -> None:
        pass  # `agents` is set anew after each step

    def state(self) -> npt.NDArray[np.float32]:
        """Returns the true state of all agents, ten numbers each, in the order of `possible_agents`: x, y, cosine and
        sine of the yaw, forward, lateral and turning speed, x and y of the goal (0 without one), 1 while the agent is
        alive."""
        batch = self._open()
        rows = []
        for i, name in enumerate(self.possible_agents):
            x, y, yaw = batch.read([0], f"vehicle:{name}/pose")[0]
            twist = batch.read([0], f"vehicle:{name}/twist")[0]
            goal = batch.goal(0, i) or (0.0, 0.0)
            rows.append([x, y, np.cos(yaw), np.sin(yaw), *twist, *goal, float(self._alive[i])])
        return np.array(rows, np.float32).ravel()

    def restore(self, state: bytes) -> PerAgent:
        """Goes back to a snapshot. It may also be one of a world, from `VectorEnv.get_state`.

        Returns:
            The observations of the agents that are alive.

        Raises:
            ValueError: the bytes are damaged or no such snapshot; nothing has changed.
        """
        batch = self._open()
        self._put_back([0], [checked_bytes(state)])
        self._seeded = batch.started(0)
        self.agents = [name for row, name in enumerate(self.possible_agents) if self._alive[row]]
        return self._observations(self.agents)

    def _rows_of(self, actions: dict[str, Any]) -> npt.NDArray[np.float32]:
        for name in self.agents:
            if name not in actions:
                raise ValueError(f"actions: found none of '{name}', expected one of each agent that lives")
        array = np.zeros((len(self.possible_agents), *self._action_shape), np.float32)
        for name, action in actions.items():
            if name not in self.possible_agents:
                known = ", ".join(self.possible_agents)
                raise ValueError(f"actions: found the agent '{name}', expected one of {known}")
            if name in self.agents:
                array[self.possible_agents.index(name)] = as_actions(action, self._action_shape)
        return array

    def _observations(self, names: list[str]) -> PerAgent:
        out: PerAgent = {}
        for name in names:
            row = self.possible_agents.index(name)
            own = {key: array[row].copy() for key, array in self._arrays.items()}
            out[name] = flattened(own.values()) if self._flat else own
        return out


parallel_env = MVSimParallelEnv
"""The function by which PettingZoo environments are usually made: `parallel_env(id, **keywords)`."""
