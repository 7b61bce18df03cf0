"""The folder of a training run: a new one for each, whole files, one process at a time."""

from __future__ import annotations

import fcntl
import os
import pathlib
from collections.abc import Callable
from typing import IO, Any

CHECKPOINT = "checkpoint.pt"
_OF_A_RUN = (CHECKPOINT, "model", "model.zip", "last.zip", "metrics.json")


def write_whole(path: pathlib.Path, write: Callable[[IO[bytes]], Any]) -> None:
    """The file at `path` is whole at any time: the old one or the new one."""
    new = path.with_name(f".{path.name}.new")
    try:
        with new.open("wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(new, path)
    except BaseException:
        new.unlink(missing_ok=True)
        raise


def new_folder(wanted: pathlib.Path) -> pathlib.Path:
    """Makes the folder of a new run: RUN, or RUN-2, RUN-3... where another run lies there."""
    number, folder = 1, wanted
    while any((folder / name).exists() for name in _OF_A_RUN):
        number += 1
        folder = wanted.with_name(f"{wanted.name}-{number}")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def hold(folder: pathlib.Path) -> None:
    """Keeps the folder of a run for this process, until it ends in whatever way.

    Raises:
        BlockingIOError: another process trains there.
    """
    fcntl.flock(os.open(folder, os.O_RDONLY), fcntl.LOCK_EX | fcntl.LOCK_NB)
