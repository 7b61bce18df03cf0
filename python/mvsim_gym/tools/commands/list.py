"""`mvsim-gym list`."""

from __future__ import annotations

import argparse

HELP = "show the environments and their files"


def add(parser: argparse.ArgumentParser) -> None:
    """Adds no arguments."""


def run() -> None:
    """Prints ids and files."""
    from mvsim_gym.registration import CUSTOM_ID, listing

    environments = {**listing(), CUSTOM_ID: "any environment file: env=PATH"}
    width = max(map(len, environments))
    for id, path in environments.items():
        print(f"{id:{width}}  {path}")
