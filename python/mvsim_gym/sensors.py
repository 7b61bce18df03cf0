"""The sensors of a running world, and the mapping of its parts by name."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from mvsim_gym import _core
from mvsim_gym.part_states import Pose
from mvsim_gym.readings import has_images, type_of, view_reading

T = TypeVar("T")


class Named(Mapping[str, T], Generic[T]):
    """Items by name, in the order of the file. A wrong name raises KeyError with the valid names."""

    def __init__(self, kind: str, items: Mapping[str, T]) -> None:
        self._kind = kind
        self._items = dict(items)

    def __getitem__(self, name: str) -> T:
        try:
            return self._items[name]
        except KeyError:
            near = difflib.get_close_matches(str(name), self._items, n=1)
            hint = (
                f", did you mean '{near[0]}'?" if near else f"; there are: {', '.join(self._items) or 'none'}"
            )
            raise KeyError(f"no {self._kind} '{name}'{hint}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __repr__(self) -> str:
        return f"<{self._kind}s: {', '.join(self._items)}>"


M = TypeVar("M", bound=_core.SensorModel | _core.VehicleModel | _core.BlockModel)


class Part(Generic[M]):
    """Base of the parts of a running world, each with its model and its index in the simulation."""

    def __init__(self, simulation: _core.Simulation, model: M, index: int) -> None:
        self._simulation = simulation
        self._model = model
        self._index = index

    @property
    def name(self) -> str:
        """Name in the world file."""
        return self._model.name


class Sensor(Part[_core.SensorModel]):
    """A sensor of a vehicle."""

    @property
    def period(self) -> float:
        """Simulated seconds between readings."""
        return self._model.period

    @property
    def publish_topic(self) -> str:
        """The topic of its readings in an active `<publish>` of the world file, else empty."""
        return self._model.publish_topic

    @property
    def angles(self) -> npt.NDArray[np.float64] | None:
        """Angle of each ray in the sensor's frame, rad; None for a sensor without rays."""
        return self._model.angles

    @property
    def class_name(self) -> str:
        """Class in the world file, e.g. `laser`."""
        return self._model.class_name

    @property
    def form(self) -> str:
        """Form of its readings: `scan`, `imu`, `fix`, `camera`, `rgbd`, `rings`, or another word of its class."""
        return self._model.form

    @property
    def mount(self) -> Pose:
        """Pose on the vehicle, or in the world if the sensor stands there: m and rad."""
        return Pose(*self._model.mount)

    @property
    def max_range(self) -> float:
        """Largest value of a reading; for a lidar the longest range, m."""
        return self._model.high

    @property
    def views(self) -> dict[str, dict[str, Any]]:
        """The images of a sensor that sees the scene, by name. A camera has `intrinsics` (fx, fy, cx, cy, px) and
        `T_vehicle_camera`, (4, 4) float64. A 3D lidar has `elevations` and `azimuths`, float64, rad."""
        return self._model.views

    @property
    def parameters(self) -> dict[str, float]:
        """Its parameters in this episode by name, such as those of its noise."""
        return self._simulation.sensor_params(self._index)

    @property
    def count(self) -> int:
        """Number of readings that were due since the last reset."""
        return self._simulation.sensor_count(self._index)

    @property
    def time(self) -> float:
        """Simulated time of the latest reading that was due, s."""
        return self._simulation.sensor_time(self._index)

    @property
    def world_time(self) -> float:
        """Present simulated time of its world, s."""
        return self._simulation.time

    def read(self, *, fresh: bool = False) -> Any:
        """Returns the latest reading that was due, or None before the first: a `Reading` of a lidar, an `ImuReading` of
        an IMU, a `GnssReading` of a receiver (None without a fix), a `CameraReading` of a camera, a `Lidar3dReading` of
        a 3D lidar.

        A reading is due in the first physics step that begins at or after each multiple of `period`. It describes the
        end of that step. With steps of 5 ms and a period of 0.1 s readings are of 0.105, 0.205, 0.305 s... So after
        `world.step(0.1)` there is none yet, and later the latest is 95 ms old.

        Args:
            fresh: read the sensor in the present state of the world, whatever its period; never None. The reading has
                its own noise and does not change the schedule. A later `read()` returns the due reading again, with
                other noise than without the fresh reading.
        """
        simulation, index = self._simulation, self._index
        if has_images(self.form):
            if not fresh and self.count == 0:
                return None
            time = self.world_time if fresh else self.time
            return view_reading(self._model, simulation.images(index, fresh), time)
        make = type_of(self._model)
        if fresh:
            values, valid = simulation.read_now(index)
            return make(values, valid, self.world_time)
        if self.count == 0:
            return None
        return make(simulation.reading(index), simulation.reading_valid(index), self.time)

    def values(self, *, fresh: bool = False) -> npt.NDArray[Any] | None:
        """Returns a copy of the values of `read`, for a sensor of any class, in their own dtype and shape."""
        if fresh:
            return self._simulation.read_now(self._index)[0]
        return self._simulation.reading(self._index) if self.count else None


def standing_sensors(model: _core.Model, simulation: _core.Simulation) -> Named[Sensor]:
    """Returns the sensors that stand in the world, outside of any vehicle, by name."""
    standing = ((i, s) for i, s in enumerate(model.sensors) if s.is_standalone)
    return Named("sensor", {s.name: Sensor(simulation, s, i) for i, s in standing})
