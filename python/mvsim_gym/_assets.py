"""Where the package's own data lies: the folder that holds `envs/` and `worlds/`."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import mvsim_gym
from mvsim_gym._keywords import kind_of, path_text, quoted

Path_ = str | bytes | os.PathLike[str] | os.PathLike[bytes]


@cache
def assets() -> str:
    """The data folder: of the checkout for an editable install, else the one that was installed."""
    checkout = Path(__file__).resolve().parents[2]
    for folder in (checkout, *(Path(place) / "assets" for place in mvsim_gym.__path__)):
        if (folder / "envs").is_dir() and (folder / "worlds").is_dir():
            return str(folder)
    raise FileNotFoundError("mvsim_gym is not installed as a whole: its folders envs and worlds are missing")


def folders_of(roots: Path_ | Iterable[Path_]) -> list[str]:
    """The folders that a keyword `roots` means: one path, or several. ValueError for one that is no folder."""
    if roots == ():
        return []
    if isinstance(roots, str | bytes | os.PathLike):
        folders = [path_text("roots", roots)]
    elif isinstance(roots, Iterable):
        folders = [path_text(f"roots[{i}]", root) for i, root in enumerate(roots)]
    else:
        raise TypeError(f"roots: found {kind_of(roots)}, expected a path or a list of paths")
    for folder in folders:
        if not os.path.isdir(folder):
            raise ValueError(f"roots: {quoted(folder)} is not a folder")
    return folders
