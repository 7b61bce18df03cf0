"""Where the package's own data lies: the folder that holds `envs/` and `worlds/`."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import mvsim_gym


@cache
def assets() -> str:
    """The data folder: of the checkout for an editable install, else the one that was installed."""
    checkout = Path(__file__).resolve().parents[2]
    for folder in (checkout, *(Path(place) / "assets" for place in mvsim_gym.__path__)):
        if (folder / "envs").is_dir() and (folder / "worlds").is_dir():
            return str(folder)
    raise FileNotFoundError("mvsim_gym is not installed as a whole: its folders envs and worlds are missing")


def folders_of(roots: str | os.PathLike[str] | Iterable[str | os.PathLike[str]]) -> list[str]:
    """The folders that a keyword `roots` means: one path, or several. ValueError for one that is no folder."""
    several = [roots] if isinstance(roots, str | os.PathLike) else roots
    if not isinstance(several, Iterable):
        raise TypeError(f"roots: found {roots!r}, expected a path or a list of paths")
    folders = [os.fspath(root) for root in several]
    for folder in folders:
        if not os.path.isdir(folder):
            raise ValueError(f"roots: '{folder}' is not a folder")
    return folders
