"""`mvsim-gym replay`."""

from __future__ import annotations

import argparse
import os
from typing import Any

from mvsim_gym.tools.options import add_duration, add_loading, add_output, add_seed, add_value, add_world

HELP = "drive a world by a script of commands and write its states"
DESCRIPTION = (
    "Runs WORLD under the script COMMANDS (CSV: t_start,vehicle,kind,a,b,c; docs/python.md lists the "
    "kinds of commands) and writes one row a step; row 0 is the initial state."
)


def add(parser: argparse.ArgumentParser) -> None:
    add_world(parser)
    parser.add_argument("commands", metavar="COMMANDS", help="a script of commands, CSV")
    add_duration(parser, "simulated time", required=True, metavar="SECONDS")
    add_output(parser, "OUT", "file for the states, CSV")
    add_value(parser, "--scans", "SCANS", "file for the lidar scans, CSV")
    add_seed(parser, "seed of the noise")
    add_loading(parser)


def run(world: str, commands: str, duration: float, output: str, scans: str | None, **options: Any) -> None:
    from mvsim_gym.tools.replay import read_commands, replay
    from mvsim_gym.world import World

    real = [os.path.realpath(file) for file in (world, commands, output, scans) if file is not None]
    if len(set(real)) < len(real):
        raise ValueError("WORLD, COMMANDS, OUT and SCANS must be different files")
    driven = World(world, **options)
    replay(driven, read_commands(commands, driven), duration, output, scans)
