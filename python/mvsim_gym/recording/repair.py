"""Completes a recording whose process was killed: `mvsim-gym repair`."""

from __future__ import annotations

import os
import tempfile
from typing import BinaryIO, NamedTuple

from mvsim_gym.recording.mcap_file import McapFile
from mvsim_gym.recording.mcap_reading import Damaged, open_mcap, pieces_of, record_at


class Repair(NamedTuple):
    """The result of a repair."""

    finished: bool
    """the file was complete, and nothing was written"""
    messages: int
    seconds: float
    """from the first message to the last"""


def repair(path: str | os.PathLike[str], output: str | os.PathLike[str] | None = None) -> Repair:
    """Makes a complete file from one whose process was killed, with all messages up to the first damage.

    The result is written to a new private folder beside its destination and moved there when it is complete. A link at
    the destination is replaced, not followed.

    Args:
        path: the file.
        output: destination; by default the file is replaced.

    Raises:
        OSError: the file cannot be read, or the result cannot be written.
        ValueError: the file is no MCAP file.
    """
    target = os.fspath(path if output is None else output)
    with open_mcap(path) as source:
        folder = tempfile.TemporaryDirectory(prefix=".repair-", dir=os.path.dirname(target) or ".")
        with folder as own:
            part = os.path.join(own, os.path.basename(target))
            file = McapFile(part, "mvsim_gym repair", new=True)
            try:
                finished = _copy(source, file)
            finally:
                file.close()
            result = Repair(finished, file.messages, file.nanoseconds / 1e9)
            if not finished or output is not None:
                os.replace(part, target)
            return result


def _copy(source: BinaryIO, file: McapFile) -> bool:
    """Copies the readable records of a file to another. Returns whether the file was complete."""
    try:
        for piece in pieces_of(source):
            for record in piece.records:
                file.add(record_at(piece.data, record[2]) if isinstance(record, tuple) else record)
    except Damaged:
        return False
    return True
