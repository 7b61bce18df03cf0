"""From where and how large a picture is: the cameras of pictures, and those that sensors of a world are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mvsim_gym import _core

__all__ = ["CAMERAS", "Place", "Shot", "camera_between", "checked_size", "sensor_image"]

CAMERAS = ("above", "behind", "follow")
Place = tuple[Sequence[float], Sequence[float]]
"""Where a camera is and where it looks, ((x, y, z), (x, y, z)) in m."""

_PLACE = "two points ((x, y, z), (x, y, z)) in m: where it is and where it looks"


def checked_size(width: int, height: int) -> None:
    """ValueError for a picture of an impossible size."""
    for name, value in (("width", width), ("height", height)):
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or not 1 <= value <= 8192:
            raise ValueError(f"{name}: found {value!r}, expected an integer from 1 to 8192 (pixels)")


def camera_between(camera: Any, names: str) -> _core.Camera:
    """The camera of a `Place`.

    Raises:
        ValueError: it is none; `names` says what else is expected.
    """
    try:
        eye, target = (np.array(point, np.float64) for point in camera)
        is_pair = eye.shape == target.shape == (3,) and bool(np.isfinite([eye, target]).all())
    except (TypeError, ValueError, OverflowError):
        is_pair = False
    if isinstance(camera, str) or not is_pair:
        raise ValueError(f"camera: found {camera!r}, expected {names}, or {_PLACE}")
    if not np.linalg.norm(eye - target) > 1e-6:
        raise ValueError("camera: it looks at where it is, expected two different points")
    return _core.Camera.between(eye.tolist(), target.tolist())


class Shot(NamedTuple):
    """From where and how large a picture is."""

    width: int
    height: int
    camera: str | Place
    depth: bool = False
    """m along the axis, not colours: of a depth camera of the world"""

    def checked(self, model: _core.Model) -> Shot:
        """Itself, with its camera in the world of `model`: of a depth the first depth camera, where none is named.

        Raises:
            ValueError: an impossible size, or no such camera.
        """
        checked_size(self.width, self.height)
        wanted = "depth" if self.depth else "image"
        if self.depth and self.camera == "above":  # the default
            found = [
                name for name, index in sensors_of(model).items() if wanted in model.sensors[index].views
            ]
            if not found:
                raise ValueError(
                    "render_mode: found 'depth_array', expected 'rgb_array': the world has no depth camera"
                )
            return self._replace(camera=found[0])
        if isinstance(self.camera, str) and "/" in self.camera:
            self.sensor_index(model)
        elif self.depth:
            raise ValueError(f"camera: found {self.camera!r}, expected {_sensors(model, wanted)}")
        elif self.camera not in CAMERAS:
            camera_between(self.camera, f"{', '.join(map(repr, CAMERAS))}, {_sensors(model, wanted)}")
        return self

    @property
    def sees_as_sensor(self) -> bool:
        """Whether its camera is a sensor of the world."""
        return isinstance(self.camera, str) and "/" in self.camera

    def sensor_index(self, model: _core.Model) -> int:
        """Its camera among the sensors of a world; ValueError where it is none."""
        wanted = "depth" if self.depth else "image"
        index = sensors_of(model).get(str(self.camera))
        if index is None or wanted not in model.sensors[index].views:
            raise ValueError(f"camera: found {self.camera!r}, expected {_sensors(model, wanted)}")
        return index


def sensor_image(batch: _core.Batch, env: int, shot: Shot) -> npt.NDArray[Any]:
    """What the sensor of a shot sees in an env as it stands: (height, width, 3) uint8 or (height, width) float32, of
    the sensor's own size. Nothing of the env changes."""
    index = shot.sensor_index(batch.model(env))
    images = _core.env_simulation(batch, env).images(index, True)
    found: npt.NDArray[Any] = images["depth" if shot.depth else "image"]
    return found


def sensors_of(model: _core.Model) -> dict[str, int]:
    """Sensors that see the scene, by "vehicle/name", those that stand in the world by "/name"."""
    vehicles = model.vehicles
    return {
        f"{'' if sensor.is_standalone else vehicles[sensor.vehicle].name}/{sensor.name}": index
        for index, sensor in enumerate(model.sensors)
        if sensor.views
    }


def _sensors(model: _core.Model, wanted: str) -> str:
    names = [repr(name) for name, index in sensors_of(model).items() if wanted in model.sensors[index].views]
    kind = "a depth camera" if wanted == "depth" else "a camera"
    return f"{kind} of the world ({', '.join(names) if names else 'it has none'})"


def render_modes(model: _core.Model) -> list[str]:
    """What can be drawn of this world."""
    seen = any("depth" in sensor.views for sensor in model.sensors)
    return ["rgb_array", "depth_array"] if seen else ["rgb_array"]
