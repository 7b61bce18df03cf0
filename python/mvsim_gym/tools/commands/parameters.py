"""`mvsim-gym parameters`."""

from __future__ import annotations

import argparse
from typing import Any

from mvsim_gym.tools.options import add_settings

HELP = "list the parameters that an environment can randomise"
DESCRIPTION = (
    "Lists every parameter that <randomize of=...> (or the keyword randomize) can draw in ENV: path, "
    "nominal value, range and unit."
)


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("env_id", metavar="ENV", help="an id or an environment file")
    parser.add_argument(
        "pattern", metavar="PATTERN", nargs="?", default="*", help="a filter, e.g. 'vehicle:*/friction/*'"
    )
    add_settings(parser)


def run(env_id: str, pattern: str, settings: dict[str, Any]) -> None:
    from mvsim_gym.tools.parameters import parameters_of, table_of

    print("\n".join(table_of(parameters_of(env_id, **settings), pattern)))
