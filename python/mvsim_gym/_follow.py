"""Pictures that follow a robot from above: where they look, its trail, the direction of a goal out of sight."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt

from mvsim_gym import _core

Picture = npt.NDArray[np.uint8]
Window = tuple[float, float, float, float]  # x_min, x_max, y_min, y_max, m

_TRAIL = (31, 111, 178)
_GOAL = (40, 160, 70)
_CLOSEST, _FARTHEST = (
    10.0,
    40.0,
)  # sides of the picture in radii of the robot: it is never smaller than a 20th
_BORDER = 3.0  # radii of the robot between it, or the goal, and the picture's edge


def window_on(robot: tuple[float, float], radius: float, goal: tuple[float, float] | None) -> Window:
    """A square that holds the robot, and the goal too unless the robot would become too small."""
    way = np.subtract(goal, robot) if goal is not None else np.zeros(2)
    distance = float(np.hypot(*way))
    side = float(np.clip(distance + 2 * _BORDER * radius, _CLOSEST * radius, _FARTHEST * radius))
    towards = min(distance / 2, side / 2 - _BORDER * radius)
    x, y = np.asarray(robot) + (towards / distance * way if distance > 0 else 0)
    return float(x - side / 2), float(x + side / 2), float(y - side / 2), float(y + side / 2)


class Follower:
    """Draws one env of a batch with the trail of its episode: the places that its pictures have shown."""

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
        """A picture (height, width, 3)."""
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
    """Draws straight pieces from point to point (n, 2), pixels, with smooth edges."""
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
    """A disc at the edge on the line from the centre to a goal (2,), pixels, that lies outside of the picture."""
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
