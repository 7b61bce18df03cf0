"""Draws a vehicle class from two sides, with the frames of its wheels and sensors."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np
import numpy.typing as npt

from mvsim_gym import _core
from mvsim_gym._notices import extra
from mvsim_gym._rotation import moved
from mvsim_gym.parts import Vehicle
from mvsim_gym.world import World

_SIDE = 900  # width and height of an image, px
_AXES = ("#d62728", "#2ca02c", "#1f4fd8")  # of x, y and z, as robot tools have them
_LENGTH = 0.12  # of an axis, of the size of the vehicle
_VIEWS = (("from the left, in front", (1.0, 0.9, 0.8)), ("from the right, behind", (-1.0, -0.9, 0.8)))

Points = npt.NDArray[np.float64]


def class_in(path: str) -> str | None:
    """Returns the name of the last `<vehicle:class>` of a vehicle file; None for another file."""
    if not path.endswith(".xml") or not os.path.isfile(path):
        return None
    text = re.sub(
        r"<!--.*?-->", "", Path(path).read_text(encoding="utf-8", errors="replace"), flags=re.DOTALL
    )
    if "<mvsim_world" in text:
        return None
    names = re.findall(r"""<vehicle:class\b[^>]*\bname\s*=\s*["']([^"']+)["']""", text)
    return names[-1] if names else None


def show_vehicle(path: str, name: str, output: str, **loading: Any) -> None:
    """Writes a picture (PNG) of a vehicle class. x axes are red, y green and z blue."""
    with extra("show", "plot"):
        from matplotlib.figure import Figure
    file = os.path.abspath(path)
    near = os.path.dirname(file)
    with tempfile.TemporaryDirectory(prefix="mvsim_gym_show") as folder:
        world_path = os.path.join(folder, "show.world.xml")
        Path(world_path).write_text(
            f"<mvsim_world><include file={quoteattr(file)}/><vehicle name='vehicle' class={quoteattr(name)}>"
            "<init_pose>0 0 0</init_pose></vehicle></mvsim_world>",
            encoding="utf-8",
        )
        roots = [near, os.path.dirname(near), *loading.pop("roots", ())]
        world = World(world_path, roots=roots, **loading)
        renderer = _core.Renderer()
        figure = Figure(figsize=(16, 8.4), dpi=110, layout="constrained")
        vehicle = world.vehicles["vehicle"]
        lowest, highest = _extent(vehicle)
        size = float(np.linalg.norm(highest - lowest))
        middle = (lowest + highest) / 2
        for axes, (title, side) in zip(figure.subplots(1, len(_VIEWS)), _VIEWS, strict=True):
            eye = middle + 0.85 * size * np.array(side)
            camera = _core.Camera.between(eye.tolist(), middle.tolist())
            axes.imshow(renderer.draw(world.model, world.simulation, camera, _SIDE, _SIDE))
            axes.set_title(f"{name}, {title}", fontsize=10)
            axes.set_axis_off()
            for label, pose in _frames(vehicle):
                _draw_frame(axes, camera, label, pose, _LENGTH * size)
        figure.savefig(output)


def _extent(vehicle: Vehicle) -> tuple[Points, Points]:
    low, high = vehicle.heights
    corners = [(*corner, z) for corner in vehicle.outline for z in (0.0, low, high)]
    for x, y, _, width, radius, _ in vehicle.wheel_mounts:
        corners += [(x - radius, y - width / 2, 0.0), (x + radius, y + width / 2, 2 * radius)]
    points = np.array(corners)
    return points.min(axis=0), points.max(axis=0)


def _frames(vehicle: Vehicle) -> Iterator[tuple[str, tuple[float, ...]]]:
    """Yields names and poses (x, y, z, yaw, pitch, roll) of the vehicle, its wheels and its sensors."""
    yield "", (0.0,) * 6
    for index, (x, y, yaw, _, radius, _) in enumerate(vehicle.wheel_mounts):
        yield f"wheel {index}", (x, y, radius, yaw, 0.0, 0.0)
    for sensor in vehicle.sensors.values():
        yield sensor.name, tuple(sensor.mount)


def _draw_frame(axes: Any, camera: Any, label: str, pose: tuple[float, ...], length: float) -> None:
    ends = moved(np.vstack([np.zeros(3), length * np.eye(3)]), pose)
    pixels = camera.pixels(ends, _SIDE, _SIDE)
    if not np.isfinite(pixels).all():
        return
    for end, color in zip(pixels[1:], _AXES, strict=True):
        axes.plot(*np.array([pixels[0], end]).T, color=color, linewidth=1.5, solid_capstyle="round")
    if label:
        box = {"boxstyle": "round,pad=0.15", "facecolor": "white", "alpha": 0.7, "linewidth": 0}
        axes.annotate(label, pixels[0], (4, -10), textcoords="offset points", fontsize=7, bbox=box)
