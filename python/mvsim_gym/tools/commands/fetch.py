"""`mvsim-gym fetch`."""

from __future__ import annotations

import argparse
from typing import Any

from mvsim_gym.tools.options import add_flag, add_loading, add_worlds

HELP = "download the files that worlds name by URL into the cache"
DESCRIPTION = (
    "Downloads the files that each WORLD names by http(s) URL, unless --resources has them, into"
    " $MVSIM_CACHE (default ~/.cache/mvsim-storage), with their SHA-256 beside them. No other part of this package"
    " downloads files."
)


def add(parser: argparse.ArgumentParser) -> None:
    add_worlds(parser)
    add_flag(parser, "--check", "download again, and refuse changed files")
    add_loading(parser)


def run(worlds: list[str], strict: bool, **options: Any) -> None:
    """Downloads the files, and prints the state of each URL."""
    from mvsim_gym.tools.fetch import fetch_world

    for world in worlds:
        for url, state in fetch_world(world, **options):
            print(f"{state:10}  {url}", flush=True)
