"""A world without reinforcement learning: load, command, step, look.

Units are SI and radians. Poses are in the world frame, twists in the body frame unless named `world_twist`.
"""

from __future__ import annotations

import copy
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any

from mvsim_gym import _core
from mvsim_gym._assets import assets, folders_of
from mvsim_gym._camera_backend import has_cameras, recalled, remembered, tell_restored
from mvsim_gym._checks import (
    DEFAULT_MEMORY_LIMIT,
    checked_backend,
    checked_flag,
    checked_key,
    checked_memory_limit,
    texts_of,
)
from mvsim_gym._drawing import Drawable
from mvsim_gym._keywords import path_text
from mvsim_gym._notices import notice
from mvsim_gym._numbers import number
from mvsim_gym._resources import all_resources, checked_resources
from mvsim_gym._viewing import ViewableWorld
from mvsim_gym._world_parameters import HoldsParameters, parted
from mvsim_gym.parts import (
    Block,
    CameraReading,
    GnssReading,
    ImuReading,
    Lidar3dReading,
    Named,
    Pose,
    Reading,
    Sensor,
    Twist,
    Vehicle,
    Wheel,
    Wheels,
    standing_sensors,
    vehicles_of,
)

if TYPE_CHECKING:
    from mvsim_gym._picture import Painter
    from mvsim_gym.recording.recording import Recording

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

# Attributes of a World that are made from its model and its simulation; a copy writes no log and no recording.
_PARTS = frozenset({"_model", "_simulation", "_vehicles", "_sensors", "_blocks"})
_NATIVE = _PARTS | {"_painter", "_lock", "_log", "_recording", "_view"}


class World(Drawable, HoldsParameters, ViewableWorld):
    """A running world.

    Args:
        path: the world file.
        seed: of everything random in the run: sensor noise, odometry errors.
        roots: folders that the world may read beside the parent of its own folder and the package's data.
        world_seed: of the random expressions in the world file itself, e.g. `$f{rand()}`.
        variables: of the world file, e.g. `{"obstacles": 12}` for its `${obstacles|8}`; numbers or text. One
            that nothing there asks for is an error.
        log_dir: a folder for CSV files of every vehicle, a row a physics step (docs/python.md); without it nothing
            is written.
        memory_limit: bytes that the world may take; more is an error before it is taken.
        resources: folders that stand for the starts of URLs in the world, e.g.
            `{"https://host/models/": "models"}`; beside those of the environment variable `MVSIM_RESOURCES` and the
            cache of `mvsim-gym fetch`. Nothing is downloaded.
        strict: a warning is an error.
        camera_backend: what draws the views of cameras: "egl" (OpenGL), "rays" (the CPU), or "auto": what the
            environment variable `MVSIM_CAMERA` says, else "egl" where there is a GPU, and "rays" without. 3D lidars
            are always cast by rays.

    Raises:
        WorldFileError: a mistake in the file, with its line and column; with `strict` also a warning.
        ValueError: the file cannot be read, the seed is no integer from 0 to 2**64 - 1, or `memory_limit` is no
            integer of at least 1.
        TypeError: no path, no dict of variables; the message names the argument.
        KeyboardInterrupt: Ctrl-C while it loads.

    An object of this class belongs to one thread at a time; a second one that steps it gets a ValueError.
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
        self._files = (
            os.path.abspath(path),
            [os.path.abspath(f) for f in folders],
            checked_key(world_seed, "world_seed"),
            texts_of(variables),
            checked_memory_limit("memory_limit", memory_limit),
            all_resources(checked_resources("resources", resources)),
            checked_flag("strict", strict),
            checked_backend("camera_backend", camera_backend),
        )
        model = _core.load_model(path, assets(), folders, *self._files[2:])
        simulation = _core.Simulation(model, checked_key(seed), 0)
        self._start_warnings = _core.check_start(simulation, strict)
        self._held = {}
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
        self._painter: Painter | None = None
        self._recording: Recording | None = None
        self._lock = threading.Lock()

    # Made when they are asked for first, for a world may have thousands of blocks and a user of none.

    @cached_property
    def _vehicles(self) -> Named[Vehicle]:
        return vehicles_of(self._model, self._simulation, self._log)

    @cached_property
    def _sensors(self) -> Named[Sensor]:
        return standing_sensors(self._model, self._simulation)

    @cached_property
    def _blocks(self) -> Named[Block]:
        return Named(
            "block", {b.name: Block(self._simulation, b, i) for i, b in enumerate(self._model.blocks)}
        )

    def _new_log(self) -> None:
        """Closes the CSV files, if there are any, and begins new ones beside them."""
        if self._log is None or self._log_dir is None:
            return
        recording = [vehicle.recording for vehicle in self._vehicles.values()]
        self._log = _core.VehicleLog(self._simulation, self._log_dir)
        for vehicle, on in zip(self._vehicles.values(), recording, strict=True):
            vehicle._log = self._log
            vehicle.recording = on

    @property
    def vehicles(self) -> Mapping[str, Vehicle]:
        """The vehicles by name."""
        return self._vehicles

    @property
    def blocks(self) -> Mapping[str, Block]:
        """Blocks and walls by name."""
        return self._blocks

    @property
    def sensors(self) -> Mapping[str, Sensor]:
        """The sensors that stand in the world, outside of any vehicle, by name."""
        return self._sensors

    @property
    def labels(self) -> list[str]:
        """The names of things as label images count them: `labels[0]` is "" (nothing), then the things in the order of
        the file, unnamed ones by their tag, and "sensor" for all devices that stand in the world."""
        return ["", *self._model.labels]

    @property
    def time(self) -> float:
        """Simulated seconds since the last reset."""
        return self._simulation.time

    @property
    def timestep(self) -> float:
        """Seconds of a physics step."""
        return self._model.timestep

    @property
    def warnings(self) -> list[str]:
        """What a user of the world file should know: `path:line:column: text`, each once. What has no effect, what
        starts inside of something, what a physics step or a sensor cannot do as it is asked."""
        return [*self._model.warnings, *self._start_warnings]

    def wheels(self, vehicle: str) -> Wheels:
        """All wheels of a vehicle as NumPy arrays: slip, load, torque, friction force, spin, steering.

        Raises:
            KeyError: no vehicle has this name.
        """
        return self._vehicles[vehicle]._wheels()

    def step(self, duration: float | None = None) -> None:
        """Advances the world by `duration` seconds: whole physics steps and a shorter last one; by default
        one step. Less than a thousandth of a physics step is no step of its own: the next call makes up for it.

        Raises:
            ValueError: the duration is negative or not finite, a log cannot be written, or the world has diverged.
            KeyboardInterrupt: Ctrl-C; the world stands after a whole step and can be used on.
        """
        with self._alone():
            self._run(None if duration is None else number("duration", duration))
            if not self._simulation.is_finite():
                raise ValueError(
                    f"the world has diverged by {self.time:.6g} s: a pose or a speed is no number any more; "
                    "expected milder commands, masses nearer to each other, or a smaller <simul_timestep>"
                )
            if self._log is not None:
                self._log.flush()

    def _run(self, duration: float | None) -> None:
        watchers = [w for w in (self._recording, self._view) if w is not None and not w.closed]

        strict = self._files[6]

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

    def record(self, path: str | os.PathLike[str], *, period: float = 0.02) -> Recording:
        """Writes what happens from now on into an MCAP file, as ROS 2 messages (docs/tools-recordings.md lists them):

            with world.record("run.mcap"):
                world.step(10)

        Recording changes nothing in the world. A copy of the world records nothing.

        Args:
            path: the file; one that is there is overwritten.
            period: simulated seconds between poses of a vehicle. Readings are written as they come.

        Raises:
            ImportError: the extra `record` is missing.
            ValueError: it is being recorded already.
        """
        from mvsim_gym.recording.recording import Recording

        with self._alone():
            if self._recording is not None and not self._recording.closed:
                raise ValueError(
                    "record: this world is being recorded already, expected close() of that first"
                )
            self._recording = Recording(
                path_text("path", path), self._model, self._simulation, self._vehicles, period, self._told()
            )
        return self._recording

    def _told(self) -> dict[str, Any]:
        """What a recording says of where the world comes from."""
        path, roots, world_seed, variables, _, (resources, _), _, _ = self._files
        return {
            "world": path,
            "roots": roots,
            "world_seed": world_seed,
            "variables": variables,
            "resources": dict(resources),
        }

    def reset(self, seed: int | None = None) -> None:
        """Back to the initial state: with a seed as a new world, without one with fresh noise."""
        with self._alone():
            if seed is None:
                self._simulation.reset(self._simulation.key, self._simulation.episode + 1)
            else:
                self._simulation.reset(checked_key(seed), 0)
            self._hold_again()
            if self._recording is not None and not self._recording.closed:
                self._recording.after_jump()

    def snapshot(self) -> bytes:
        """The whole state: bodies, wheels, controllers, commands, noise, sensors' clocks and readings.

        Taken while something is touched, it makes this world forget how hard things press on each other, as a
        restored one must: both go on alike to the last bit, but not quite as without a snapshot.

        Raises:
            ValueError: the world has diverged.
        """
        with self._alone():
            return self._state()

    def restore(self, state: bytes) -> None:
        """Goes back to a snapshot of this world, also in another process, and on from there bit for bit.

        Raises:
            ValueError: the bytes are damaged or of another world; nothing has changed.
            TypeError: no bytes.
        """
        with self._alone():
            self._set_state(state)
            tell_restored([parted(state)[0]], self._files[-1])
            if self._recording is not None and not self._recording.closed:
                self._recording.after_jump()

    def __copy__(self) -> World:
        return copy.deepcopy(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> World:
        twin = type(self).__new__(type(self))
        memo[id(self)] = twin
        twin.__dict__.update(copy.deepcopy(self._plain_attributes(), memo))
        with self._alone():
            twin._attach(self._model, self._simulation.clone())
        return twin

    def __getstate__(self) -> Any:
        attributes = self._plain_attributes()
        if has_cameras(self._model):
            attributes = remembered(attributes, self._files[-1])
        return attributes, self.snapshot()

    def __setstate__(self, state: Any) -> None:
        attributes, snapshot = state
        self.__dict__.update(recalled(attributes, attributes["_files"][-1]))
        model = _core.load_model(self._files[0], assets(), *self._files[1:])
        simulation = _core.Simulation(model, 0, 0)
        state, self._held = parted(snapshot)
        simulation.restore(state)
        self._attach(model, simulation)

    def _plain_attributes(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in _NATIVE}

    @contextmanager
    def _alone(self) -> Iterator[None]:
        if not self._lock.acquire(blocking=False):
            raise ValueError("the world is being used by another thread, expected one call at a time")
        try:
            yield
        finally:
            self._lock.release()

    def __repr__(self) -> str:
        return f"World({self._model.path!r}, time={self.time:.6g}, vehicles={list(self._vehicles)})"
