"""A world without reinforcement learning: load, command, step, draw.

Units are SI and radians. Poses are in the world frame, twists in the body frame unless named `world_twist`.
"""

from __future__ import annotations

import copy
import json
import os
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mvsim_gym import _core
from mvsim_gym._checks import (
    DEFAULT_MEMORY_LIMIT,
    checked_backend,
    checked_flag,
    checked_key,
    checked_memory_limit,
    number,
    path_text,
    variables_as_text,
)
from mvsim_gym._files import Found, all_resources, assets, checked_resources, folders_of
from mvsim_gym._notices import notice
from mvsim_gym._state import has_cameras, log_restored, pack, parted, with_backend, without_backend
from mvsim_gym._world_watch import WatchedWorld
from mvsim_gym.parts import (
    Block,
    CameraReading,
    GnssReading,
    ImuReading,
    Lidar3dReading,
    Pose,
    Reading,
    Sensor,
    Twist,
    Vehicle,
    Wheel,
    Wheels,
)

__all__ = [
    "Block",
    "CameraReading",
    "GnssReading",
    "ImuReading",
    "Lidar3dReading",
    "Pose",
    "Reading",
    "Sensor",
    "Twist",
    "Vehicle",
    "Wheel",
    "Wheels",
    "World",
]

# Attributes of a World that are made from its model and its simulation. A copy writes no log and no recording.
_PARTS = frozenset({"_model", "_simulation", "_vehicles", "_sensors", "_blocks"})
_NATIVE = _PARTS | {"_painter", "_lock", "_log", "_recording", "_view"}


@dataclass(frozen=True)
class _Files:
    """The arguments from which a World is loaded; can be pickled."""

    path: str
    roots: list[str]
    world_seed: int
    variables: dict[str, str]
    memory_limit: int
    resources: Found
    strict: bool
    camera_backend: str

    def load(self, path: str, roots: Sequence[str]) -> _core.Model:
        """Loads the compiled world. `path` and `roots` name the same files in the form for messages."""
        return _core.load_model(
            path,
            assets(),
            roots,
            self.world_seed,
            self.variables,
            self.memory_limit,
            self.resources,
            self.strict,
            self.camera_backend,
        )


class World(WatchedWorld):
    """A running world.

    Args:
        path: the world file.
        seed: of everything random in the run: sensor noise, odometry errors.
        roots: folders that the world may read in addition to the parent of its own folder and the package's data.
        world_seed: of the random expressions in the world file itself, e.g. `$f{rand()}`.
        variables: of the world file, e.g. `{"obstacles": 12}` for its `${obstacles|8}`; numbers or text. A variable
            that the file does not use is an error.
        log_dir: a folder for CSV files of every vehicle, with a row for each physics step (docs/python.md); None
            writes none.
        memory_limit: bytes that the world may take. A larger demand is an error before memory is taken.
        resources: folders that stand for the starts of URLs in the world, e.g. `{"https://host/models/": "models"}`,
            in addition to those of the environment variable `MVSIM_RESOURCES` and the cache of `mvsim-gym fetch`.
            Nothing is downloaded.
        strict: a warning is an error.
        camera_backend: renderer of camera images: "egl" (OpenGL), "rays" (the CPU), or "auto": the value of the
            environment variable `MVSIM_CAMERA`, else "egl" if there is a GPU, and "rays" if not. 3D lidars always cast
            rays.

    Raises:
        WorldFileError: a mistake in the file, with its line and column; with `strict` also a warning.
        ValueError: the file cannot be read, the seed is no integer from 0 to 2**64 - 1, or `memory_limit` is no
            integer of at least 1.
        TypeError: the path or the variables have a wrong type; the message names the argument.
        KeyboardInterrupt: Ctrl-C during loading.

    An object of this class belongs to one thread at a time. A second thread that steps it gets a ValueError.
    """

    def __init__(
        self,
        path: str | bytes | os.PathLike[str],
        seed: int = 0,
        roots: Sequence[str | os.PathLike[str]] = (),
        *,
        world_seed: int = 0,
        variables: Mapping[str, str | float] | None = None,
        log_dir: str | os.PathLike[str] | None = None,
        memory_limit: int = DEFAULT_MEMORY_LIMIT,
        resources: Mapping[str, str | os.PathLike[str]] | None = None,
        strict: bool = False,
        camera_backend: str = "auto",
    ) -> None:
        folders = folders_of(roots)
        path = path_text("path", path)
        self._files = _Files(
            os.path.abspath(path),
            [os.path.abspath(f) for f in folders],
            checked_key(world_seed, "world_seed"),
            variables_as_text(variables),
            checked_memory_limit("memory_limit", memory_limit),
            all_resources(checked_resources("resources", resources)),
            checked_flag("strict", strict),
            checked_backend("camera_backend", camera_backend),
        )
        model = self._files.load(path, folders)
        simulation = _core.Simulation(model, checked_key(seed), 0)
        self._start_warnings = _core.check_start(simulation, strict)
        self._held: dict[str, float] = {}  # values that the caller has set by path, the latest last
        self._log_dir = "" if log_dir is None else path_text("log_dir", log_dir)
        self._attach(
            model, simulation, _core.VehicleLog(simulation, self._log_dir) if self._log_dir else None
        )
        if warnings := self.warnings:
            notice(warnings)

    def _attach(
        self, model: _core.Model, simulation: _core.Simulation, log: _core.VehicleLog | None = None
    ) -> None:
        self._model, self._simulation, self._log = model, simulation, log
        self._painter = self._recording = None
        self._lock = threading.Lock()

    @property
    def has_log(self) -> bool:
        """Whether CSV files of the vehicles are written. It is False without `log_dir` and for a copy."""
        return self._log is not None

    def begin_log(self) -> None:
        """Closes the CSV files, if any, and begins new ones beside them."""
        if self._log is None:
            return
        self._log = _core.VehicleLog(self._simulation, self._log_dir)
        for vehicle in self._vehicles.values():
            vehicle.log_to(self._log)

    @property
    def warnings(self) -> list[str]:
        """Warnings about the world file, `path:line:column: text`, each once: parts without effect, bodies that
        initially overlap, and requests that a physics step or a sensor cannot meet."""
        return [*self._model.warnings, *self._start_warnings]

    def wheels(self, vehicle: str) -> Wheels:
        """Returns all wheels of a vehicle as NumPy arrays: slip, load, torque, friction force, spin, steering.

        Raises:
            KeyError: no vehicle has this name.
        """
        return self._vehicles[vehicle].wheel_states()

    def step(self, duration: float | None = None) -> None:
        """Advances the world by `duration` seconds: whole physics steps and a shorter last one; by default one step.
        Less than a thousandth of a physics step is not simulated at once, but added to the next call.

        Raises:
            ValueError: the duration is negative or not finite, a log cannot be written, or the world has diverged.
            KeyboardInterrupt: Ctrl-C; the world has made whole steps and can still be used.
        """
        with self._alone():
            self._run(None if duration is None else number("duration", duration))
            if not self._simulation.is_finite():
                raise ValueError(
                    f"the world has diverged by {self.time:.6g} s: a pose or a speed is not finite; "
                    "expected milder commands, more similar masses, or a smaller <simul_timestep>"
                )
            if self._log is not None:
                self._log.flush()

    def _run(self, duration: float | None) -> None:
        watchers = [w for w in (self._recording, self._view) if w is not None and not w.closed]

        strict = self._files.strict

        def tell() -> None:
            for watcher in watchers:
                watcher.after_step()
            if strict:
                _core.refuse_cut_motion(self._simulation)

        if duration is None:
            self._simulation.step(self._model.timestep)
            tell()
        elif watchers or strict:
            self._simulation.run_watched(duration, tell)
        else:
            self._simulation.run(duration)
        if self._view is not None and not self._view.closed:
            self._view.after_call()

    def _origin(self) -> dict[str, Any]:
        files = self._files
        return {
            "world": files.path,
            "roots": files.roots,
            "world_seed": files.world_seed,
            "variables": files.variables,
            "resources": dict(files.resources[0]),
        }

    def reset(self, seed: int | None = None) -> None:
        """Returns to the initial state: with a seed as a new world, without a seed with fresh noise."""
        with self._alone():
            if seed is None:
                self._simulation.reset(self._simulation.key, self._simulation.episode + 1)
            else:
                self._simulation.reset(checked_key(seed), 0)
            for path, value in self._held.items():
                self._simulation.set_parameter(path, value)
            if self._recording is not None and not self._recording.closed:
                self._recording.after_jump()

    def set_parameter(self, path: str, value: float | str) -> None:
        """Sets the parameters that match a path: friction, masses, gains, noise... They keep the value over resets,
        until `reset_parameters`.

        Args:
            path: e.g. `vehicle:r1/friction/mu`; `*` stands for any run of characters.
            value: a number, degrees for angles; or the name of a choice.

        Raises:
            ValueError: no such parameter (the message has the nearest), or a value out of range; nothing has changed.
            TypeError: the value is no number.
        """
        with self._alone():
            if not isinstance(path, str):
                raise TypeError(f"path: found {path!r}, expected a text such as 'vehicle:r1/friction/mu'")
            given = self._simulation.choice_value(path, value) if isinstance(value, str) else value
            held = number("value", given)
            self._simulation.set_parameter(path, held)
            self._held.pop(path, None)
            self._held[path] = held

    def parameter(self, path: str) -> float:
        """Returns the value of a parameter, as `set_parameter` takes it. If several match, it is that of the first.

        Raises:
            ValueError: no such parameter.
        """
        return self._simulation.parameter(path)[0]

    def reset_parameters(self) -> None:
        """Resets parameters to those of the world file, from the next reset on."""
        self._held.clear()

    def snapshot(self) -> bytes:
        """Returns the whole state: bodies, wheels, controllers, commands, noise, sensors' clocks and readings.

        If bodies are in contact, taking a snapshot clears the solver's stored contact forces, as restoring one does.
        Both worlds then continue alike to the last bit, but not exactly as without a snapshot.

        Raises:
            ValueError: the world has diverged.
        """
        with self._alone():
            simulated = bytes(self._simulation.snapshot())
            return pack([simulated, json.dumps(self._held).encode()]) if self._held else simulated

    def restore(self, state: bytes) -> None:
        """Goes back to a snapshot of this world, also from another process, and continues from there bit for bit.

        Raises:
            ValueError: the bytes are damaged or of another world; nothing has changed.
            TypeError: the state is not bytes.
        """
        with self._alone():
            simulated, held = parted(state)
            for path in held:
                self._simulation.parameter(path)  # raises before anything has changed
            self._simulation.restore(simulated)
            self._held = held
            log_restored([simulated], self._files.camera_backend)
            if self._recording is not None and not self._recording.closed:
                self._recording.after_jump()

    def __copy__(self) -> World:
        return copy.deepcopy(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> World:
        twin = type(self).__new__(type(self))
        memo[id(self)] = twin
        twin.__dict__.update(copy.deepcopy(self._plain_attributes(), memo))
        with self._alone():
            twin._attach(self._model, self._simulation.clone())  # noqa: SLF001 (same class)
        return twin

    def __getstate__(self) -> Any:
        attributes = self._plain_attributes()
        if has_cameras(self._model):
            attributes = with_backend(attributes, self._files.camera_backend)
        return attributes, self.snapshot()

    def __setstate__(self, state: Any) -> None:
        attributes, snapshot = state
        files = attributes["_files"]
        if not isinstance(files, _Files):  # a tuple in pickles of former versions
            files = attributes["_files"] = _Files(*files)
        self.__dict__.update(without_backend(attributes, files.camera_backend))
        model = files.load(files.path, files.roots)
        simulation = _core.Simulation(model, 0, 0)
        state, self._held = parted(snapshot)
        simulation.restore(state)
        self._attach(model, simulation)

    def _plain_attributes(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in _NATIVE}

    def __repr__(self) -> str:
        return f"World({self._model.path!r}, time={self.time:.6g}, vehicles={list(self._vehicles)})"
