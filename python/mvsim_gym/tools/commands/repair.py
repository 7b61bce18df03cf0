"""`mvsim-gym repair`."""

from __future__ import annotations

import argparse
from typing import Any

from mvsim_gym.tools.options import add_output

HELP = "finish a recording whose process was killed"
DESCRIPTION = (
    "Finishes the MCAP file of a process that was killed: it keeps all messages up to the first damage."
    " A finished file is left as it is."
)


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", metavar="FILE.mcap", help="the file, which is replaced unless -o is given")
    add_output(parser, "OUT.mcap", "file for the result", required=False)


def run(**options: Any) -> None:
    """Repairs the file, and prints the number of messages."""
    from mvsim_gym.recording.mcap_reading import repair

    found = repair(**options)
    state = "was finished" if found.finished else "repaired"
    print(f"{state}: {found.messages} messages over {found.seconds:.2f} s")
