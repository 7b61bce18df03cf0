"""`mvsim-gym show`."""

from __future__ import annotations

import argparse
import os
from typing import Any

from mvsim_gym._notices import extra
from mvsim_gym.tools.options import add_loading, add_output, add_value

_VIEWS = (("from above", 0.0), ("in perspective", 55.0))
"""Titles of the images, and the angle of each camera from the vertical, degrees."""
_SIDE = 900  # width and height of an image, px
HELP = "draw a world from above and in perspective, with names, or a vehicle with its frames"


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("world", metavar="WORLD", help="a world file, or a vehicle file")
    add_output(parser, "PICTURE", "file for the picture, PNG")
    add_value(parser, "--time", "SECONDS", "simulated time before (default 0)", default=0, type=float)
    add_loading(parser)


def run(world: str, output: str, time: float, **options: Any) -> None:
    from mvsim_gym import _core
    from mvsim_gym._drawing import places
    from mvsim_gym.tools.show_vehicle import class_in, show_vehicle
    from mvsim_gym.world import World

    name = class_in(world)
    if name is not None:
        if time > 0:
            raise ValueError(f"--time: found {time:g} with a vehicle file, expected a world file")
        show_vehicle(world, name, output, **options)
        return
    shown = World(world, **options)
    if time > 0:
        shown.step(time)
    with extra("show", "plot"):
        from matplotlib.figure import Figure
    names, points = places(shown)
    renderer = _core.Renderer()
    figure = Figure(figsize=(16, 8.4), dpi=110, layout="constrained")
    for axes, (title, tilt) in zip(figure.subplots(1, len(_VIEWS)), _VIEWS, strict=True):
        camera = _core.Camera.above(shown.model, tilt, 1.0)
        picture = renderer.draw(shown.model, shown.simulation, camera, _SIDE, _SIDE)
        pixels = camera.pixels(points, _SIDE, _SIDE)
        axes.imshow(picture)
        axes.set_title(f"{os.path.basename(shown.model.path)}, {title}", fontsize=10)
        axes.set_axis_off()
        for name, (x, y) in zip(names, pixels, strict=True):
            if 0 <= x < _SIDE and 0 <= y < _SIDE:
                axes.annotate(
                    name,
                    (x, y),
                    (4, 4),
                    textcoords="offset points",
                    fontsize=7,
                    bbox={"boxstyle": "round,pad=0.15", "facecolor": "white", "alpha": 0.7, "linewidth": 0},
                )
    figure.savefig(output)
