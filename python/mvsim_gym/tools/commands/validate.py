"""`mvsim-gym validate`."""

from __future__ import annotations

import argparse
from typing import Any

from mvsim_gym.tools.options import add_loading, add_worlds

HELP = "check world files: errors, warnings, contents"
DESCRIPTION = (
    "Loads each WORLD and prints its errors and warnings, with lines, and a summary. The exit code is 0"
    " if all of them load, 1 if one does not, 2 for wrong arguments."
)


def add(parser: argparse.ArgumentParser) -> None:
    add_worlds(parser)
    add_loading(parser)


def run(worlds: list[str], **options: Any) -> int:
    """Checks all files, then prints the reports."""
    from mvsim_gym.tools.validate import validate

    reports = [validate(world, **options) for world in worlds]
    for report in reports:
        print("\n".join(report.lines()))
    return 1 if any(report.errors for report in reports) else 0
