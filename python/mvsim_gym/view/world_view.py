"""A World in browsers."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from mvsim_gym import _core
from mvsim_gym.readings import VIEWS, CameraReading, Lidar3dReading
from mvsim_gym.view.controls import Put
from mvsim_gym.view.moment import Group, Moment
from mvsim_gym.view.view import View

if TYPE_CHECKING:
    from mvsim_gym.world import World

__all__ = ["WorldView"]

_PICTURE_PERIOD = 0.25  # s of the wall: a picture of a camera takes milliseconds of the thread that steps


class WorldView(View):
    """What `World.view` returns. The world hands over where everything is after steps, 30 times a second; whoever
    steps it asks for `wishes` and does them, as `mvsim-gym launch` does."""

    def __init__(self, world: World, host: str, port: int) -> None:
        things = [f"vehicle:{name}" for name in world.vehicles]
        things += [f"block:{name}" for name, block in world.blocks.items() if not block._model.is_wall]
        super().__init__(world._model, things, host, port, ends=True)
        self._world = world
        self._pictures_due = 0.0
        self._counts: dict[int, int] = {}
        self._clouds: list[npt.NDArray[np.float32]] = []
        self.text = ""
        """what stands above the controls"""

    def after_step(self) -> None:
        """Hands over where everything is, if it is time and somebody looks."""
        if self._wants_moment():
            self._feed.put(self.moment())

    def wishes(self) -> Iterator[str]:
        """What was pressed since the last call: keys, and the words "step", "reset" and "end". What was to be put
        somewhere is there, or the browser says why not."""
        while self.controls.wishes:
            wish = self.controls.wishes.popleft()
            if isinstance(wish, Put):
                self._put(wish)
            else:
                yield wish

    def moment(self) -> Moment:
        """How the world stands."""
        world, simulation = self._world, self._world._simulation
        marks = _core.scene_marks(simulation)
        envs, poses = np.zeros(1, np.int32), _core.scene_poses(simulation)[None]
        pictures: dict[str, npt.NDArray[np.uint8]] = {}
        if time.monotonic() >= self._pictures_due:
            self._pictures_due = time.monotonic() + _PICTURE_PERIOD
            pictures, self._clouds = self._seen()
        twist = next(iter(world.vehicles.values())).twist if world.vehicles else None
        return Moment(
            simulation.time,
            [Group(world._model, envs, poses)],
            hits=np.concatenate([marks["hits"], *self._clouds]),
            joints=marks["joints"],
            contacts=_core.vehicle_contacts(simulation),
            pictures=pictures,
            values={} if twist is None else {f"speed {name}": v for name, v in twist._asdict().items()},
            text=self.text or f"{simulation.time:.2f} s",
        )

    def _seen(self) -> tuple[dict[str, npt.NDArray[np.uint8]], list[npt.NDArray[np.float32]]]:
        """Pictures that are new, and the points of all 3D lidars in the world."""
        pictures: dict[str, npt.NDArray[np.uint8]] = {}
        clouds = []
        for vehicle in self._world.vehicles.values():
            for sensor in vehicle.sensors.values():
                if sensor._model.class_name not in VIEWS:
                    continue
                reading = sensor.read()
                if isinstance(reading, Lidar3dReading):
                    base, mount = vehicle.pose, sensor._model.mount
                    cloud = reading.points()
                    points = np.stack([cloud["x"], cloud["y"], cloud["z"]], axis=1)
                    clouds.append(_moved(_moved(points, mount), base).astype(np.float32))
                elif isinstance(reading, CameraReading) and self.controls.pictures:
                    pictures |= self._pictures_of(f"{vehicle.name}/{sensor.name}", sensor._index, reading)
        return pictures, clouds

    def _pictures_of(self, name: str, index: int, reading: CameraReading) -> dict[str, npt.NDArray[np.uint8]]:
        count = self._world._simulation.sensor_count(index)
        if self._counts.get(index) == count:
            return {}
        self._counts[index] = count
        found = {} if reading.image is None else {name: reading.image}
        if reading.depth is not None:
            depth = reading.depth / max(float(reading.depth.max()), 1e-6)
            found[f"{name} depth"] = np.repeat((255 * depth).astype(np.uint8)[..., None], 3, axis=2)
        return found

    def _put(self, wish: Put) -> None:
        kind, _, name = wish.name.partition(":")
        try:
            place = (self._world.vehicles if kind == "vehicle" else self._world.blocks)[name].set_pose
            place(wish.x, wish.y, wish.yaw)
        except ValueError as error:
            self.controls.say(str(error))


def _moved(points: npt.NDArray[np.float64], pose: tuple[float, ...]) -> npt.NDArray[np.float64]:
    """Points (n, 3) of a frame in that where its pose (x, y, z, yaw, pitch, roll) is given."""
    (cy, sy), (cp, sp), (cr, sr) = ((math.cos(a), math.sin(a)) for a in pose[3:])
    rotation = np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )
    return points @ rotation.T + np.array(pose[:3])
