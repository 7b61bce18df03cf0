"""The parts of a world, and its pictures, views and recordings."""

from __future__ import annotations

import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from mvsim_gym import _core
from mvsim_gym._checks import path_text
from mvsim_gym._drawing import drawn
from mvsim_gym._picture import Painter, Place, png_of
from mvsim_gym.parts import Block, Vehicle, vehicles_of
from mvsim_gym.sensors import Named, Sensor, standing_sensors

if TYPE_CHECKING:
    from mvsim_gym.recording.recording import Recording
    from mvsim_gym.view.world_view import WorldView


class WatchedWorld(ABC):
    """Base of `World`: has its parts, draws it, shows it in browsers and records it."""

    _model: _core.Model
    _simulation: _core.Simulation
    _log: _core.VehicleLog | None
    _lock: threading.Lock
    _painter: Painter | None
    _recording: Recording | None
    _view: WorldView | None = None

    # Made at the first use, because a world may have thousands of blocks and many users need none.

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

    @property
    def model(self) -> _core.Model:
        """The compiled world, which never changes: its file, grids, nominal parameters, fingerprint."""
        return self._model

    @property
    def simulation(self) -> _core.Simulation:
        """The running simulation, for functions of the core that read it, such as those that draw. Advance it only by
        `step`."""
        return self._simulation

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
        """Names of things by their index in label images. `labels[0]` is "" (nothing). The things follow in the order
        of the file, unnamed ones by their tag, and "sensor" for all devices that stand in the world."""
        return ["", *self._model.labels]

    @property
    def time(self) -> float:
        """Simulated seconds since the last reset."""
        return self._simulation.time

    @property
    def timestep(self) -> float:
        """Duration of a physics step, s."""
        return self._model.timestep

    def draw(
        self,
        width: int = 640,
        height: int = 480,
        camera: str | Place = "above",
        vehicle: str | None = None,
        *,
        names: bool = False,
        forces: bool = False,
        trails: Iterable[npt.ArrayLike] = (),
    ) -> npt.NDArray[np.uint8]:
        """Returns a picture of the present world, (height, width, 3) uint8.

        Args:
            width, height: pixels.
            camera: "above" sees the whole world, "behind" follows a vehicle; or two points ((x, y, z), (x, y, z)) in m:
                the position of the camera and the point it looks at.
            vehicle: the vehicle that is followed, by default the first.
            names: whether to write the names of vehicles, actors and blocks, 60 at most; needs Pillow.
            forces: whether to draw arrows of each wheel's friction on its chassis. A force equal to the wheel's load is
                as long as the chassis' radius.
            trails: lines to draw, arrays (n, 2) or (n, 3) of x, y and z, m.

        Raises:
            ValueError: no device can draw (the message has the remedy), an impossible size, camera or trail.
            ImportError: names without Pillow.
        """
        if isinstance(width, str | os.PathLike):
            raise ValueError(
                f"draw: found {os.fspath(width)!r} as the width, expected pixels. It writes no file but returns the "
                "picture as an array: save it with PIL.Image.fromarray(world.draw()).save(path)"
            )
        index = 0 if vehicle is None else list(self.vehicles).index(self.vehicles[vehicle].name)
        with self._alone():
            painter = self._painter = self._painter or Painter()
            return drawn(self, painter, (width, height), camera, index, names, forces, trails)

    def _repr_png_(self) -> bytes | None:
        """Returns the picture that notebooks show. It is None if no device can draw, and notebooks then show the
        text."""
        try:
            return png_of(self.draw())
        except (ValueError, RuntimeError):
            return None

    def view(
        self,
        host: str = "127.0.0.1",
        port: int = 8080,
        *,
        token: bool = True,
        allow_hosts: Sequence[str] = (),
    ) -> WorldView:
        """Shows the world in browsers while it is stepped. The result has the `url`:

            with world.view() as view:
                world.step(60)

        Viewing changes nothing in the world. A copy of the world is not viewed.

        Args:
            host, port, token, allow_hosts: as for `Env.view`.

        Raises:
            ImportError, ValueError: as for `Env.view`.
        """
        from mvsim_gym.view.doors import doors_of
        from mvsim_gym.view.world_view import WorldView

        doors = doors_of("this world", self._view, token, allow_hosts)
        self._view = WorldView(self, host, port, doors)
        return self._view

    def record(self, path: str | os.PathLike[str], *, period: float = 0.02) -> Recording:
        """Records the world from now on into an MCAP file, as ROS 2 messages (docs/tools-recordings.md lists them):

            with world.record("run.mcap"):
                world.step(10)

        Recording changes nothing in the world. A copy of the world is not recorded.

        Args:
            path: the file; an existing one is overwritten.
            period: simulated seconds between poses of a vehicle. Readings are written as they come.

        Raises:
            ImportError: the extra `record` is missing.
            ValueError: the world is being recorded already.
        """
        from mvsim_gym.recording.recording import Recording

        with self._alone():
            if self._recording is not None and not self._recording.closed:
                raise ValueError("record: found a recording of this world, expected close() of that first")
            self._recording = Recording(
                path_text("path", path), self._model, self._simulation, self._vehicles, period, self._origin()
            )
        return self._recording

    @abstractmethod
    def _origin(self) -> dict[str, Any]:
        """Returns the origin of the world for a recording."""

    @contextmanager
    def _alone(self) -> Iterator[None]:
        if not self._lock.acquire(blocking=False):
            raise ValueError("the world is being used by another thread, expected one call at a time")
        try:
            yield
        finally:
            self._lock.release()
