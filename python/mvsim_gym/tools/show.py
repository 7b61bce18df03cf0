"""A picture of a world from above and in perspective, with names: `mvsim-gym show`."""

from __future__ import annotations

import os

from mvsim_gym import _core
from mvsim_gym._drawing import places
from mvsim_gym.world import World

_VIEWS = (("from above", 0.0), ("in perspective", 55.0))
"""Titles, and degrees from straight above."""
_SIDE = 900  # px


def show(world: World, path: str | os.PathLike[str]) -> None:
    """Draws the world as it stands into a PNG file.

    Raises:
        ImportError: matplotlib is not installed.
        ValueError: no device can draw (the message has the remedy).
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("show needs matplotlib: pip install 'mvsim_gym[plot]'") from error
    names, points = places(world)
    renderer = _core.Renderer()
    figure = Figure(figsize=(16, 8.4), dpi=110, layout="constrained")
    for axes, (title, tilt) in zip(figure.subplots(1, len(_VIEWS)), _VIEWS, strict=True):
        camera = _core.Camera.above(world.model, tilt, 1.0)
        picture = renderer.draw(world.model, world.simulation, camera, _SIDE, _SIDE)
        pixels = camera.pixels(points, _SIDE, _SIDE)
        axes.imshow(picture)
        axes.set_title(f"{os.path.basename(world.model.path)}, {title}", fontsize=10)
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
    figure.savefig(path)
