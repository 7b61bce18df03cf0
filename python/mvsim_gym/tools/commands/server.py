"""`mvsim-gym server`."""

from __future__ import annotations

import argparse
from typing import Any

from mvsim_gym.tools.options import add_hub

HELP = "run a hub alone, for nodes of MVSim or your own"
DESCRIPTION = "Runs a hub until Ctrl-C. `mvsim-gym launch` includes a hub."


def add(parser: argparse.ArgumentParser) -> None:
    add_hub(parser)


def run(**options: Any) -> None:
    """Runs the hub until it is ended."""
    from mvsim_gym.tools.topics import serve

    serve(**options)
