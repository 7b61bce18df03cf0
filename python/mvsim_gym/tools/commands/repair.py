"""`mvsim-gym repair`."""

from __future__ import annotations

import argparse
from typing import Any

from mvsim_gym.tools.options import add_output

HELP = "finish a recording whose process was killed"
DESCRIPTION = (
    "Makes a finished MCAP file of one whose process was killed, with all messages up to its first"
    " damage. A finished one is left as it is."
)


def add(parser: argparse.ArgumentParser) -> None:
    """Adds its arguments."""
    parser.add_argument("path", metavar="FILE.mcap", help="the file, replaced unless -o says otherwise")
    add_output(parser, "OUT.mcap", "file for the result", required=False)


def run(**options: Any) -> None:
    """Tells what was found."""
    from mvsim_gym.recording.repair import repair

    found = repair(**options)
    state = "was finished" if found.finished else "repaired"
    print(f"{state}: {found.messages} messages over {found.seconds:.2f} s")
