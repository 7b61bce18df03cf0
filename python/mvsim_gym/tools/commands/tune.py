"""`mvsim-gym tune`."""

from __future__ import annotations

import argparse
from typing import Any

from mvsim_gym.tools.options import add_duration, add_loading

HELP = "find gains for the speed PID of a vehicle class"
DESCRIPTION = (
    "Drives CLASS of FILE in an empty world, once with a constant torque and once with the gains that were"
    " found, and prints a report. No file is written."
)


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", metavar="FILE", help="the file with the class, e.g. my.vehicle.xml")
    parser.add_argument("class_name", metavar="CLASS", help="name of its <vehicle:class>")
    parser.add_argument(
        "-t",
        "--torque",
        type=float,
        default=0.0,
        metavar="NM",
        help="torque of the test (default: half of the limit by grip)",
    )
    add_duration(parser, "duration of the test (default 5)", "-d", default=5.0, metavar="S")
    parser.add_argument(
        "-s", "--sim-step", dest="step", type=float, default=0.001, metavar="S", help="default 0.001"
    )
    parser.add_argument(
        "-a",
        "--aggressiveness",
        type=float,
        default=0.25,
        metavar="A",
        help="a smaller value gives a faster response (default 0.25)",
    )
    parser.add_argument(
        "--speed",
        dest="speeds",
        type=float,
        nargs="+",
        default=[],
        metavar="V",
        help="setpoints of the speed, m/s (default 1, or 0.8 of the top speed if that is less)",
    )
    add_loading(parser)


def run(**options: Any) -> None:
    from mvsim_gym.tools.tune import tune

    for line in tune(**options):
        print(line, flush=True)
