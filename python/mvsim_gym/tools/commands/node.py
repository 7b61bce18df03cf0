"""`mvsim-gym node`."""

from __future__ import annotations

import argparse
from typing import Any

from mvsim_gym.tools.options import add_subcommands

HELP = "list the nodes of a hub"


def add(parser: argparse.ArgumentParser) -> None:
    add_subcommands(parser, {"list": ("list the nodes", run)})


def run(**where: Any) -> None:
    from mvsim_gym.tools.topics import joined, node_lines

    with joined(**where) as client:
        print("\n".join(node_lines(client)))
