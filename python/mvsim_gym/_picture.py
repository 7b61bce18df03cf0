"""Pictures from the headless renderer, with a trail and the goal drawn over pictures that follow a robot.

OpenGL is first used when the first picture is drawn."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mvsim_gym import _core
from mvsim_gym._notices import notice
from mvsim_gym.errors import RendererLost

CAMERAS = ("above", "behind", "follow")
Place = tuple[Sequence[float], Sequence[float]]
"""Position of the camera and the point it looks at, ((x, y, z), (x, y, z)) in m."""

_PLACE = "two points ((x, y, z), (x, y, z)) in m: where it is and where it looks"


def checked_size(width: int, height: int) -> None:
    """Raises ValueError for a picture of an impossible size."""
    for name, value in (("width", width), ("height", height)):
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or not 1 <= value <= 8192:
            raise ValueError(f"{name}: found {value!r}, expected an integer from 1 to 8192 (pixels)")


def camera_between(camera: Any, names: str) -> _core.Camera:
    """Returns the camera of a `Place`.

    Raises:
        ValueError: the place is invalid; `names` says what else is expected.
    """
    try:
        eye, target = (np.array(point, np.float64) for point in camera)
        is_pair = eye.shape == target.shape == (3,) and bool(np.isfinite([eye, target]).all())
    except (TypeError, ValueError, OverflowError):
        is_pair = False
    if isinstance(camera, str) or not is_pair:
        raise ValueError(f"camera: found {camera!r}, expected {names}, or {_PLACE}")
    if not np.linalg.norm(eye - target) > 1e-6:
        raise ValueError("camera: found the same point twice, expected two different points")
    return _core.Camera.between(eye.tolist(), target.tolist())


class Shot(NamedTuple):
    """Camera and size of a picture."""

    width: int
    height: int
    camera: str | Place
    depth: bool = False
    """A depth image of a depth camera, m along its axis, not a colour image."""

    def checked(self, model: _core.Model) -> Shot:
        """Returns the shot with its camera found in the world of `model`. A depth shot without a camera takes the first
        depth camera.

        Raises:
            ValueError: an impossible size, or no such camera.
        """
        checked_size(self.width, self.height)
        wanted = "depth" if self.depth else "image"
        if self.depth and self.camera == "above":  # the default: no camera was given
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
        """Returns whether its camera is a sensor of the world."""
        return isinstance(self.camera, str) and "/" in self.camera

    def sensor_index(self, model: _core.Model) -> int:
        """Returns the index of its camera among the sensors of a world. ValueError if there is none."""
        wanted = "depth" if self.depth else "image"
        index = sensors_of(model).get(str(self.camera))
        if index is None or wanted not in model.sensors[index].views:
            raise ValueError(f"camera: found {self.camera!r}, expected {_sensors(model, wanted)}")
        return index


def sensor_image(batch: _core.Batch, env: int, shot: Shot) -> npt.NDArray[Any]:
    """Returns the image of the shot's sensor in an env's present state: (height, width, 3) uint8 or (height, width)
    float32, of the sensor's own size. The env does not change."""
    index = shot.sensor_index(batch.model(env))
    images = _core.env_simulation(batch, env).images(index, True)
    found: npt.NDArray[Any] = images["depth" if shot.depth else "image"]
    return found


def sensors_of(model: _core.Model) -> dict[str, int]:
    """Returns the sensors that see the scene, by "vehicle/name"; static sensors by "/name"."""
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
    """Returns the render modes that this world supports."""
    seen = any("depth" in sensor.views for sensor in model.sensors)
    return ["rgb_array", "depth_array"] if seen else ["rgb_array"]


Picture = npt.NDArray[np.uint8]
Window = tuple[float, float, float, float]  # x_min, x_max, y_min, y_max, m

_TRAIL = (31, 111, 178)
_GOAL = (40, 160, 70)
# Side of the picture in radii of the robot. The robot's diameter is at least a 20th of the picture.
_CLOSEST, _FARTHEST = 10.0, 40.0
_BORDER = 3.0  # Distance of the robot, or the goal, from the picture's edge, in radii of the robot.


def window_on(robot: tuple[float, float], radius: float, goal: tuple[float, float] | None) -> Window:
    """Returns a square that holds the robot. It holds the goal too, unless the robot would become too small."""
    way = np.subtract(goal, robot) if goal is not None else np.zeros(2)
    distance = float(np.hypot(*way))
    side = float(np.clip(distance + 2 * _BORDER * radius, _CLOSEST * radius, _FARTHEST * radius))
    towards = min(distance / 2, side / 2 - _BORDER * radius)
    x, y = np.asarray(robot) + (towards / distance * way if distance > 0 else 0)
    return float(x - side / 2), float(x + side / 2), float(y - side / 2), float(y + side / 2)


class Follower:
    """Draws one env of a batch with the trail of its episode, made of the positions in earlier pictures."""

    def __init__(self) -> None:
        self._episode: tuple[int, int] | None = None
        self._trail: list[tuple[float, float, float]] = []

    def draw(
        self,
        renderer: _core.Renderer,
        batch: _core.Batch,
        env: int,
        width: int,
        height: int,
    ) -> Picture:
        """Returns a picture (height, width, 3)."""
        x, y, z, radius = _core.agent_place(batch, env)
        episode = id(batch), batch.episode(env)
        if episode != self._episode:
            self._episode, self._trail = episode, []
        if not self._trail or self._trail[-1] != (x, y, z):
            self._trail.append((x, y, z))
        goal = batch.goal(env)
        window = window_on((x, y), radius, goal)
        camera = _core.Camera.over(window, width / height)
        picture = renderer.draw_env(batch, env, camera, width, height)
        line = camera.pixels(np.array(self._trail), width, height)
        thick = max(2.0, min(width, height) / 160)
        draw_line(picture, line, thick, _TRAIL)
        if goal is not None:
            mark_goal(picture, camera.pixels(np.array([[*goal, z]]), width, height)[0], 3 * thick)
        return picture


def draw_line(
    picture: Picture, points: npt.NDArray[np.float64], thickness: float, color: tuple[int, int, int]
) -> None:
    """Draws straight segments from point to point (n, 2), pixels, with smooth edges."""
    height, width, _ = picture.shape
    cover = np.zeros((height, width), np.float32)
    reach = thickness / 2 + 1
    for start, end in pairwise(points):
        low, high = np.minimum(start, end) - reach, np.maximum(start, end) + reach
        if not (np.isfinite(low).all() and (high > 0).all() and low[0] < width and low[1] < height):
            continue
        x0, y0 = np.clip(np.floor(low), 0, (width, height)).astype(int)
        x1, y1 = np.clip(np.ceil(high), 0, (width, height)).astype(int)
        px = np.arange(x0, x1) + 0.5 - start[0]
        py = np.arange(y0, y1)[:, None] + 0.5 - start[1]
        along = end - start
        share = np.clip((px * along[0] + py * along[1]) / max(float(along @ along), 1e-12), 0, 1)
        distance = np.hypot(px - share * along[0], py - share * along[1])
        part = cover[y0:y1, x0:x1]
        np.maximum(part, np.clip(thickness / 2 + 0.5 - distance, 0, 1), out=part)
    _blend(picture, 0.85 * cover, color)


def mark_goal(picture: Picture, goal: npt.NDArray[np.float64], size: float) -> None:
    """Draws a disc at the picture's edge, on the line from the centre to a goal (2,), pixels, outside of the
    picture."""
    height, width, _ = picture.shape
    center = np.array([width / 2, height / 2])
    way = goal - center
    room = center - size
    beyond = float(np.max(np.abs(way) / np.maximum(room, 1)))
    if not beyond > 1:
        return
    x, y = center + way / beyond
    distance = np.hypot(np.arange(width) + 0.5 - x, np.arange(height)[:, None] + 0.5 - y)
    _blend(picture, np.clip(size + 1.5 - distance, 0, 1), (255, 255, 255))
    _blend(picture, np.clip(size + 0.5 - distance, 0, 1), _GOAL)


def _blend(picture: Picture, cover: npt.NDArray[np.floating], color: tuple[int, int, int]) -> None:
    where = cover > 0
    share = cover[where][:, None]
    picture[where] = np.rint((1 - share) * picture[where] + share * np.array(color)).astype(np.uint8)


class Painter:
    """A renderer that is opened for the first picture."""

    def __init__(self) -> None:
        self._renderer: _core.Renderer | None = None
        self._followers: dict[int, Follower] = {}

    def of_env(self, batch: _core.Batch, env: int, shot: Shot) -> npt.NDArray[Any]:
        """Returns a picture of env number `env` of a batch: (height, width, 3) uint8, or (height, width) float32, m,
        for a depth shot."""
        if shot.sees_as_sensor:
            return sensor_image(batch, env, shot)
        with self._fresh_after_loss() as renderer:
            if shot.camera == "follow":
                follower = self._followers.setdefault(env, Follower())
                return follower.draw(renderer, batch, env, shot.width, shot.height)
            if shot.camera == "behind":
                camera = _core.Camera.behind_agent(batch, env)
            elif not isinstance(shot.camera, str):
                camera = camera_between(shot.camera, "")
            else:
                camera = _core.Camera.of_world(batch.model(env), shot.width / shot.height)
            return renderer.draw_env(batch, env, camera, shot.width, shot.height)

    def forget(self, envs: Iterable[int]) -> None:
        """Clears the trails of these envs, because they have jumped."""
        for env in envs:
            self._followers.pop(env, None)

    def of_world(
        self, model: _core.Model, simulation: _core.Simulation, camera: _core.Camera, width: int, height: int
    ) -> Picture:
        """Returns a picture of a running world, (height, width, 3)."""
        with self._fresh_after_loss() as renderer:
            return renderer.draw(model, simulation, camera, width, height)

    @contextmanager
    def _fresh_after_loss(self) -> Iterator[_core.Renderer]:
        """Yields the renderer. A renderer whose context the driver lost is not used again."""
        if self._renderer is None:
            self._renderer = _core.Renderer()
            notice([self._renderer.notice])
        try:
            yield self._renderer
        except RendererLost:
            self._renderer = None
            raise


def png_of(picture: Picture) -> bytes:
    """Returns a picture (height, width, 3), or 4 with alpha, as a PNG file."""
    height, width, channels = picture.shape
    rows = np.zeros((height, 1 + channels * width), np.uint8)  # each row begins with its filter byte: none
    rows[:, 1:] = picture.reshape(height, channels * width)
    head = struct.pack(">2I5B", width, height, 8, {3: 2, 4: 6}[channels], 0, 0, 0)  # 8 bits, RGB or RGBA
    parts = ((b"IHDR", head), (b"IDAT", zlib.compress(rows.tobytes(), 6)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in parts
    )
