"""`mvsim-gym film`."""

from __future__ import annotations

import argparse
from typing import Any

from mvsim_gym.tools.options import add_env, add_episodes, add_output, add_speed

HELP = "film episodes of an environment, MP4 or GIF"


def add(parser: argparse.ArgumentParser) -> None:
    add_env(parser)
    add_output(parser, "FILM", "file.mp4 or file.gif")
    add_episodes(parser, 1)
    add_speed(parser)
    parser.add_argument(
        "--camera", choices=("follow", "above", "behind"), help="default: follow, for several agents above"
    )
    for side in ("--width", "--height"):
        parser.add_argument(side, type=int, default=640, metavar="PIXELS", help="default 640")


def run(output: str, **options: Any) -> None:
    """Films, and prints a line for each episode."""
    from mvsim_gym.tools.film import film

    for line in film(path=output, **options):
        print(line, flush=True)
