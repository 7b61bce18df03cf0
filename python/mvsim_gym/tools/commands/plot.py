"""`mvsim-gym plot`."""

from __future__ import annotations

import argparse

from mvsim_gym.tools.options import add_output

HELP = "draw logs: trajectory, speeds, wheel forces, scans"
DESCRIPTION = (
    "Draws each LOG as a PNG file of the same name: an MCAP recording, a CSV file of a world's log_dir (pose"
    " or wheel), or the output of mvsim-gym replay."
)


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("logs", metavar="LOG", nargs="+", help="file.mcap or file.csv")
    add_output(parser, "DIR", "folder for the pictures (default: beside each log)", required=False)


def run(logs: list[str], output: str | None) -> None:
    """Draws each log, and prints the path of its picture."""
    from mvsim_gym.tools.plot import plot

    for log in logs:
        print(plot(log, output), flush=True)
