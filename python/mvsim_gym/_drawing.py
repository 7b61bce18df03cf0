"""Pictures of a running world with annotations: names, wheel forces and trails."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from mvsim_gym import _core
from mvsim_gym._picture import Painter, Picture, camera_between, checked_size, draw_line
from mvsim_gym._rotation import moved

if TYPE_CHECKING:
    from mvsim_gym._world_watch import WatchedWorld
    from mvsim_gym.parts import Vehicle

Points = npt.NDArray[np.float64]

MAX_NAMES = 60
_CAMERAS = ("above", "behind")
_FORCE = (0, 110, 60)
_TRAILS = ((31, 111, 178), (230, 126, 34), (126, 87, 194), (0, 137, 123), (216, 27, 96))
_LONGEST_FORCE = 3.0  # in radii of the chassis


def drawn(
    world: WatchedWorld,
    painter: Painter,
    size: tuple[int, int],
    camera: Any,
    vehicle: int,
    names: bool,
    forces: bool,
    trails: Any,
) -> Picture:
    """Returns the picture of `World.draw`. `size`: width and height; `vehicle`: index of the vehicle that the camera
    follows."""
    width, height = size
    checked_size(width, height)
    seen = _camera_of(world, camera, vehicle, width / height)
    lines = _trails_of(trails)
    picture = painter.of_world(world.model, world.simulation, seen, width, height)
    thick = max(2.0, min(width, height) / 240)
    for k, line in enumerate(lines):
        draw_line(picture, seen.pixels(line, width, height), thick, _TRAILS[k % len(_TRAILS)])
    for arrow in arrows(world.vehicles.values()) if forces else ():
        _draw_arrow(picture, seen.pixels(arrow, width, height), thick)
    return _with_names(picture, *places(world), seen) if names else picture


def places(world: WatchedWorld) -> tuple[list[str], Points]:
    """Returns names and positions, (n, 3) m, of vehicles, actors and blocks. Walls are left out."""
    simulation, model = world.simulation, world.model
    found = [(v.name, simulation.vehicle_pose(i)) for i, v in enumerate(model.vehicles)]
    found += [(name, simulation.actor_pose(i)) for i, name in enumerate(model.actors)]
    found += [(b.name, simulation.block_pose(i)) for i, b in enumerate(model.blocks) if not b.is_wall]
    found = found[:MAX_NAMES]
    return [name for name, _ in found], np.array([pose[:3] for _, pose in found], float).reshape(-1, 3)


def _camera_of(world: WatchedWorld, camera: Any, vehicle: int, aspect: float) -> _core.Camera:
    if isinstance(camera, str) and camera in _CAMERAS:
        if camera == "above":
            return _core.Camera.of_world(world.model, aspect)
        if not world.vehicles:
            raise ValueError("camera: found 'behind', expected 'above': this world has no vehicle")
        return _core.Camera.behind(world.simulation, vehicle)
    return camera_between(camera, f"one of {', '.join(map(repr, _CAMERAS))}")


def _trails_of(trails: Any) -> list[Points]:
    expected = "expected an array (n, 2) or (n, 3) of x, y and z, m"
    if isinstance(trails, str | Mapping) or not isinstance(trails, Iterable):
        raise ValueError(f"trails: found {trails!r}, {expected}, in a list")
    out = []
    for i, trail in enumerate(trails):
        try:
            points = np.asarray(trail, np.float64)
        except (TypeError, ValueError):
            raise ValueError(f"trails[{i}]: found {trail!r}, {expected}") from None
        if points.ndim != 2 or points.shape[1] not in (2, 3):
            raise ValueError(f"trails[{i}]: found an array of shape {points.shape}, {expected}")
        out.append(points if points.shape[1] == 3 else np.c_[points, np.zeros(len(points))])
    return out


def arrows(vehicles: Iterable[Vehicle]) -> Iterator[Points]:
    """Yields for each wheel with a friction force the wheel's position and the tip of the force arrow, (2, 3) m."""
    for vehicle in vehicles:
        w = vehicle.wheel_states()
        forces = np.column_stack([w.force_x, w.force_y, w.load])
        for ends in arrows_of(vehicle.outline, vehicle.wheel_mounts, forces):
            yield moved(ends, vehicle.pose)


def arrows_of(
    outline: Points, mounts: Sequence[Sequence[float]], wheels: npt.NDArray[Any]
) -> Iterator[Points]:
    """Yields the same in the vehicle's frame, from its outline and wheel mounts. `wheels` (n, 3) has the friction force
    along x and y and the load of each wheel, N."""
    radius = float(np.linalg.norm(outline, axis=1).max())
    for (x, y, *_), (force_x, force_y, load) in zip(mounts, wheels, strict=True):
        size = math.hypot(force_x, force_y)
        if size > 0 and load > 0:
            length = radius * min(size / load, _LONGEST_FORCE) / size
            yield np.array([[x, y, 0.0], [x + length * force_x, y + length * force_y, 0.0]])


def _draw_arrow(picture: Picture, ends: Points, thick: float) -> None:
    start, tip = ends
    way = tip - start
    length = float(np.hypot(*way))
    if not length > 1:  # less than a pixel, or behind the camera (NaN)
        return
    head = min(4 * thick, length) / length
    side = np.array([-way[1], way[0]]) * 0.5
    wings = [tip - head * (way + side), tip, tip - head * (way - side)]
    draw_line(picture, np.array([start, tip]), thick, _FORCE)
    draw_line(picture, np.array(wings), thick, _FORCE)


def _with_names(picture: Picture, names: Sequence[str], points: Points, camera: _core.Camera) -> Picture:
    try:
        from PIL import Image, ImageDraw, ImageFont
    except ImportError as error:
        raise ImportError("names in pictures need Pillow: pip install 'mvsim_gym[plot]'") from error
    height, width, _ = picture.shape
    image = Image.fromarray(picture)
    pen = ImageDraw.Draw(image, "RGBA")
    font = ImageFont.load_default(max(10.0, min(width, height) / 40))
    for name, (x, y) in zip(names, camera.pixels(points, width, height), strict=True):
        if not (0 <= x < width and 0 <= y < height):
            continue
        place = (x + 4, y + 4)
        left, top, right, bottom = pen.textbbox(place, name, font=font)
        pen.rectangle((left - 2, top - 2, right + 2, bottom + 2), fill=(255, 255, 255, 180))
        pen.text(place, name, font=font, fill=(20, 20, 20))
    return np.array(image)
