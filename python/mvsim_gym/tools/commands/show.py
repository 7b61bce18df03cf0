"""`mvsim-gym show`."""

from __future__ import annotations

import argparse
from typing import Any

from mvsim_gym.tools.options import add_loading, add_output, add_world

HELP = "draw a world from above and in perspective, with names"


def add(parser: argparse.ArgumentParser) -> None:
    """Adds its arguments."""
    add_world(parser)
    add_output(parser, "PICTURE", "file for the picture, PNG")
    parser.add_argument(
        "--time", type=float, default=0, metavar="SECONDS", help="simulated before (default 0)"
    )
    add_loading(parser)


def run(world: str, output: str, time: float, **options: Any) -> None:
    """Draws it."""
    from mvsim_gym.tools.show import show
    from mvsim_gym.world import World

    shown = World(world, **options)
    if time > 0:
        shown.step(time)
    show(shown, output)
