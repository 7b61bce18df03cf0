"""`mvsim-gym play`."""

from __future__ import annotations

import argparse
from typing import Any

from mvsim_gym.tools.options import add_listening, add_loading, add_speed, add_value

HELP = "show a recording in a browser"
DESCRIPTION = (
    "Shows FILE.mcap, which --record or World.record wrote, in a browser, with a slider for its time."
    " A recording whose process was killed works too. Needs the extras 'view' and 'record'. Ctrl-C ends it."
)


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", metavar="FILE.mcap", help="the recording")
    add_value(parser, "--world", "WORLD", "the world file (default: the recorded one)")
    add_speed(parser)
    add_listening(parser)
    add_loading(parser)


def run(**options: Any) -> None:
    """Shows the recording until it is ended."""
    from mvsim_gym.tools.play import play

    play(**options)
