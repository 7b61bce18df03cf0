"""The view of a World."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from mvsim_gym import _core
from mvsim_gym._rotation import moved
from mvsim_gym.readings import CameraReading, Lidar3dReading, has_images
from mvsim_gym.view.controls import Put
from mvsim_gym.view.doors import Doors
from mvsim_gym.view.marks import forces_of
from mvsim_gym.view.moment import Group, Moment
from mvsim_gym.view.view import PICTURE_PERIOD, View

if TYPE_CHECKING:
    from mvsim_gym._world_watch import WatchedWorld
    from mvsim_gym.parts import Sensor

_WORLD = (0.0,) * 6


class WorldView(View):
    """The result of `World.view`. The world hands over its state after steps, 30 times a second. The program that steps
    it takes commands from `wishes` and carries them out, as `mvsim-gym launch` does."""

    def __init__(self, world: WatchedWorld, host: str, port: int, doors: Doors | None = None) -> None:
        things = [f"vehicle:{name}" for name in world.vehicles]
        things += [f"block:{name}" for name, block in world.blocks.items() if not block.is_wall]
        cameras = any(has_images(sensor.form) for sensor in world.model.sensors)
        super().__init__(
            world.model,
            things,
            host,
            port,
            doors=doors,
            ends=True,
            vehicles=tuple(world.vehicles),
            cameras=cameras,
            marks=("forces",),
        )
        self._world = world
        self._counts: dict[str, int] = {}
        self._clouds: dict[str, npt.NDArray[np.float32]] = {}
        self.text = ""
        """The line above the panel."""

    def after_step(self) -> None:
        """Hands over the state if it is time and a browser is connected."""
        try:
            self._stepper = threading.get_ident()
            if self._wants_moment():
                self._feed.put(self.moment(marks=self._wants_marks()))
        except Exception as error:
            self._fail(error)

    def after_call(self) -> None:
        """Hands over the state after the last step of a call. It is shown unless another call follows at once."""
        try:
            self._offer_spare(lambda: self.moment(marks=False, pictures=False))
        except Exception as error:
            self._fail(error)

    def wishes(self) -> Iterator[str]:
        """Yields the commands since the last call: keys, and the words "step", "reset" and "end". Places what was to
        be placed, or shows the error in the browser."""
        while self.controls.wishes:
            wish = self.controls.wishes.popleft()
            if isinstance(wish, Put):
                self._put(wish)
            else:
                yield wish

    def moment(self, *, marks: bool = True, pictures: bool = True) -> Moment:
        """Returns the present state of the world, with or without marks and images."""
        world, simulation = self._world, self._world.simulation
        envs, poses = np.zeros(1, np.int32), _core.scene_poses(simulation)[None]
        seen: dict[str, npt.NDArray[np.uint8]] = {}
        if pictures and time.monotonic() >= self._pictures_due:
            self._pictures_due = time.monotonic() + PICTURE_PERIOD
            seen = self._new_readings()
        details: dict[str, Any] = self._marks() if marks else {}
        chosen = self.controls.vehicle
        twist = world.vehicles[chosen].twist if chosen else None
        return Moment(
            simulation.time,
            [Group(world.model, envs, poses)],
            vehicle=chosen,
            pictures=seen,
            values={} if twist is None else {f"speed {name}": v for name, v in twist._asdict().items()},
            text=self.text or f"{simulation.time:.2f} s",
            has_marks=marks,
            **details,
        )

    def _marks(self) -> dict[str, Any]:
        world, simulation = self._world, self._world.simulation
        marks = _core.scene_marks(simulation)
        seen = world.vehicles.values() if self._shows("forces") else ()
        return {
            "hits": np.concatenate([marks["hits"], *self._clouds.values()]),
            "joints": marks["joints"],
            "forces": forces_of(seen),
            "contacts": _core.vehicle_contacts(simulation),
        }

    def _new_readings(self) -> dict[str, npt.NDArray[np.uint8]]:
        """Returns new images of cameras, and keeps the points of new readings of 3D lidars."""
        pictures: dict[str, npt.NDArray[np.uint8]] = {}
        if not self.controls.pictures:
            return pictures
        for name, sensor, pose in self._sensors():
            if not has_images(sensor.form) or sensor.count == self._counts.get(name, 0):
                continue
            self._counts[name] = sensor.count
            reading = sensor.read()
            if isinstance(reading, Lidar3dReading):
                self._clouds[name] = _cloud_of(reading, sensor.mount, pose)
            elif isinstance(reading, CameraReading):
                pictures |= _pictures_of(name, reading)
        return pictures

    def _sensors(self) -> Iterator[tuple[str, Sensor, tuple[float, ...]]]:
        """Yields all sensors with their names and the pose of the vehicle or the world that they are mounted on."""
        for vehicle in self._world.vehicles.values():
            for sensor in vehicle.sensors.values():
                yield f"{vehicle.name}/{sensor.name}", sensor, vehicle.pose
        for sensor in self._world.sensors.values():
            yield sensor.name, sensor, _WORLD

    def _put(self, wish: Put) -> None:
        kind, _, name = wish.name.partition(":")
        try:
            place = (self._world.vehicles if kind == "vehicle" else self._world.blocks)[name].set_pose
            place(wish.x, wish.y, wish.yaw)
        except (ValueError, KeyError) as error:
            self.controls.say(str(error))


def _pictures_of(name: str, reading: CameraReading) -> dict[str, npt.NDArray[np.uint8]]:
    """Returns images with their colours, and depths as greys; the farthest is white."""
    found = {} if reading.image is None else {name: reading.image}
    if reading.depth is not None:
        found[f"{name} depth"] = grey_of(reading.depth)
    return found


def grey_of(depth: npt.NDArray[np.float32]) -> npt.NDArray[np.uint8]:
    """Returns depths (height, width) as an image (height, width, 3); the farthest is white."""
    share = depth / max(float(depth.max()), 1e-6)
    return np.repeat((255 * share).astype(np.uint8)[..., None], 3, axis=2)


def _cloud_of(
    reading: Lidar3dReading, mount: tuple[float, ...], pose: tuple[float, ...]
) -> npt.NDArray[np.float32]:
    """Returns the points of a 3D lidar, (n, 3) m in the world."""
    cloud = reading.points()
    points = np.stack([cloud["x"], cloud["y"], cloud["z"]], axis=1)
    return moved(moved(points, mount), pose).astype(np.float32)
