"""`mvsim-gym tire-plots`."""

from __future__ import annotations

import argparse

HELP = "draw force over slip of every tire model and surface"


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--out", required=True, metavar="DIR", help="folder for the pictures (PNG)")


def run(out: str) -> None:
    """Draws the pictures, and prints their paths."""
    from mvsim_gym.tools.tire_plots import draw_all

    for path in draw_all(out):
        print(path)
