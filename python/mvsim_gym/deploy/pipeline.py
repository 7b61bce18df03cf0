"""Observations and commands of an environment from readings of a robot."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from mvsim_gym import _core
from mvsim_gym._checks import path_text, plain_values
from mvsim_gym._files import all_resources, assets, folders_of
from mvsim_gym._notices import notice
from mvsim_gym._overrides import flatten as flatten_overrides
from mvsim_gym.deploy.freshness import Freshness, ReadingState
from mvsim_gym.deploy.pipeline_readings import PipelineReadings, checked_sources
from mvsim_gym.deploy.terms import RobotTerms

Array = npt.NDArray[Any]
_PATIENCE = 2.0  # periods after which a reading is too old, unless the caller sets a limit
_EVENTS = frozenset({"goal"})  # one reading of these sources is enough


class Pipeline(PipelineReadings):
    """The observation and action code of an environment, without a world. It turns readings of a robot into the
    observations of the training, and actions into commands, by the same C++ code. SI units and radians; stamps are
    seconds of one clock of the caller.

    The environment's randomisation of the robot (noise, delays, dropped readings) is left out, because a real robot has
    its own.

    Args:
        env: the id of an environment of this package, or the path of an environment file.
        sensors: options by source (`sources` has their names): `mount` (x, y, yaw of a real lidar on the vehicle),
            `frames` (the same by the frame that a reading names), `max_age` (s), `max_uncovered` (share of a scan).
        agent: the robot's agent if the world has several.
        given: keys of observations whose values the caller gives with `value`, because no robot measures them.
        flatten: observations are one float32 vector, as with `flatten=True` of environments.
        hold: sources whose last reading is used when it is too old. None: those whose readings the environment delays
            or drops at random, because the policy was trained with old readings.
        observation_terms: observation terms in Python by key, as for `gymnasium.make`. Their view has one row, and the
            names that a robot has; anything else is an error here.
        roots, resources: as for `gymnasium.make`.
        keywords: of the environment, as in `gymnasium.make`, e.g. `map="my_map.yaml"` for paths on another map.

    Raises:
        WorldFileError: a mistake in the environment or its world.
        ValueError: an observation that no robot has (the message names a replacement), or an invalid option.
    """

    def __init__(
        self,
        env: str | bytes | os.PathLike[str],
        *,
        sensors: Mapping[str, Any] | None = None,
        agent: int = 0,
        given: Sequence[str] = (),
        flatten: bool = False,
        hold: Iterable[str] | None = None,
        observation_terms: Mapping[str, Callable[..., Any]] | None = None,
        roots: Any = (),
        resources: Mapping[str, str] | None = None,
        **keywords: Any,
    ) -> None:
        folders = folders_of(roots)
        path = path_text("env", env)
        listed = dict(_core.list_envs(os.path.join(assets(), "envs")))
        spec = _core.load_env(listed.get(path, path), assets(), folders)
        _core.apply_overrides(spec, flatten_overrides(plain_values(keywords), spec.keywords))
        self._core = core = _core.Pipeline(
            spec, assets(), folders, all_resources(resources or {}), agent, list(given)
        )
        notice(core.warnings)
        self.env = os.fspath(path)
        self.control_period: float = core.control_period
        """Time between two observations, s."""
        self.observation_keys: list[str] = [o.key for o in core.observations]
        self.action_names: list[str] = core.action_names
        self.action_low, self.action_high = np.array(core.action_low), np.array(core.action_high)
        self.command_names: list[str] = core.command_names
        self.command_units: list[str] = core.command_units
        self.has_goal: bool = core.has_goal
        self.goal_radius: float = core.goal_radius
        """Radius of the termination `goal`, m."""
        self._flatten = flatten
        self._order = sorted(range(len(core.observations)), key=lambda k: core.observations[k].key)
        self._model = core.model()
        # Several robots may have sensors of the same name.
        self._sensors = {
            sensor.name: k
            for k, sensor in enumerate(self._model.sensors)
            if sensor.is_standalone or sensor.vehicle == core.vehicle
        }
        self._keys = {o.key: k for k, o in enumerate(core.observations)}
        self._latest = {}
        self._terms: RobotTerms | None = None
        if observation_terms:
            names, size = [o.key for o in core.observations], len(self.action_names)
            self._terms = RobotTerms(observation_terms, self.vehicle.name, names, size, self.control_period)
            self._terms.find_needs({o.key: np.zeros(o.shape, o.dtype) for o in core.observations})
        self._sources = self._needed()
        self._options = checked_sources(sensors, self._sources)
        held = self._late() if hold is None else list(hold)
        for name in held:
            if name not in self._sources:
                raise ValueError(f"hold: found '{name}', expected some of {', '.join(self._sources)}")
        limits = {name: self._limit(name) for name in self._sources}
        self._freshness = Freshness(limits, held)

    def _needed(self) -> list[str]:
        """Returns the names of the sources, each once."""
        names: dict[str, None] = {}
        for source in self._core.sources:
            for need in source.needs:
                name = {"sensor": source.sensor, "given": source.key}.get(need, need)
                names[name] = None
        for need in [] if self._terms is None else self._terms.needs:
            names[need] = None
        return list(names)

    def _limit(self, name: str) -> float:
        given = self._options[name].max_age
        if given is not None:
            return given
        if name in _EVENTS:
            return math.inf
        period = self._model.sensors[self._sensors[name]].period if name in self._sensors else 0
        return _PATIENCE * max(self.control_period, period)

    def _late(self) -> list[str]:
        found = [(s.sensor, s.sensor_index) for s in self._core.sources if s.sensor]
        return [name for name, index in found if index is not None and self._core.may_be_late(index)]

    @property
    def sources(self) -> list[str]:
        """Names of the readings that observations need: names of sensors, `pose`, `velocity`, `odometry`, `attitude`,
        `steer`, `goal`, and keys of `given`."""
        return list(self._sources)

    @property
    def observation_specs(self) -> list[_core.ObservationSpec]:
        """Key, dtype, shape and bounds of each observation."""
        return list(self._core.observations)

    @property
    def described(self) -> list[tuple[_core.ObservationSpec, _core.ObservationSource]]:
        """Returns each observation with the source that it needs."""
        return list(zip(self._core.observations, self._core.sources, strict=True))

    @property
    def vehicle(self) -> _core.VehicleModel:
        """The robot in the environment's world."""
        return self._model.vehicles[self._core.vehicle]

    @property
    def observation_classes(self) -> dict[str, str]:
        """Classes of the environment file's observations, by key."""
        return {source.key: source.class_name for source in self._core.sources}

    @property
    def sensors(self) -> dict[str, _core.SensorModel]:
        """The world's sensors that observations use, by name."""
        return {name: self._model.sensors[k] for name, k in self._sensors.items() if name in self._sources}

    @property
    def max_ages(self) -> dict[str, float]:
        """Largest age by source, s, except of those of which one reading is enough."""
        return {name: limit for name, limit in self._freshness.limits.items() if name not in _EVENTS}

    def set_max_age(self, source: str, seconds: float) -> None:
        """Sets the largest age of a source of `max_ages`. ValueError for another source, or an invalid age."""
        if source not in self.max_ages:
            raise ValueError(f"max_age: found '{source}', expected one of {', '.join(self.max_ages)}")
        self._freshness.set_limit(source, seconds)

    def begin(self) -> None:
        """Forgets readings, history and the last action, as a reset of the environment does. The goal stays."""
        self._core.begin()
        self._freshness.forget()
        self._latest = {name: values for name, values in self._latest.items() if name in _EVENTS}
        if self._terms is not None:
            self._terms.begin()

    def state(self, now: float) -> dict[str, ReadingState]:
        """Returns the state of each source at a time of the caller's clock."""
        return self._freshness.state(now)

    def observe(self, now: float) -> Any:
        """Returns the observation of the control period that ends now: a dict of arrays, or one vector. Call it once
        every control period, because each call advances the histories.

        Raises:
            StaleReadingError: a reading is missing, too old or impossible. Histories have not advanced.
        """
        self._freshness.check(now)
        self._core.observe()
        arrays = {self._core.observations[k].key: self._core.observation(k) for k in self._order}
        if self._terms is not None:
            self._terms.readings = self._latest
            arrays = dict(sorted({**arrays, **self._terms.observed(arrays)}.items()))
        if self._flatten:
            return np.concatenate(list(arrays.values()), axis=-1, dtype=np.float32, casting="same_kind")
        return arrays

    def command(self, action: npt.ArrayLike) -> dict[str, float]:
        """Returns the command of the robot's controller for an action in [-1, 1], by name (`command_names`), in the
        units of `command_units`.

        Raises:
            ValueError: an action of another size, or a value that is not finite.
        """
        values = np.ascontiguousarray(action, np.float32)
        command = self._core.command(values)
        if self._terms is not None:
            self._terms.acted(values)
        return dict(zip(self.command_names, command, strict=True))
