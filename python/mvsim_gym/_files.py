"""Files that may be read: the package's data, the folders of `roots`, and the folders that stand for URLs."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import mvsim_gym

# The functions import `_checks` themselves, so that `import mvsim_gym` needs neither it nor its time.

Path_ = str | bytes | os.PathLike[str] | os.PathLike[bytes]


def file_digest(path: str | os.PathLike[str]) -> str:
    """Returns the SHA-256 of a file, hexadecimal."""
    import hashlib

    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while piece := file.read(1 << 20):
            digest.update(piece)
    return digest.hexdigest()


@cache
def assets() -> str:
    """Returns the data folder: that of the checkout for an editable install, else the installed one."""
    checkout = Path(__file__).resolve().parents[2]
    for folder in (checkout, *(Path(place) / "assets" for place in mvsim_gym.__path__)):
        if (folder / "envs").is_dir() and (folder / "worlds").is_dir():
            return str(folder)
    raise FileNotFoundError("mvsim_gym is not installed as a whole: its folders envs and worlds are missing")


def folders_of(roots: Path_ | Iterable[Path_]) -> list[str]:
    """Returns the folders of a keyword `roots`, which is one path or several. ValueError if one is no folder."""
    if roots == ():
        return []
    from mvsim_gym._checks import kind_of, path_text, quoted

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


Found = tuple[list[tuple[str, str]], str]
"""Prefixes with their folders, and the cache, as the core takes them."""


def cache_folder() -> str:
    """Returns the cache of `mvsim-gym fetch`: `$MVSIM_CACHE`, else the cache that MVSim uses."""
    return os.environ.get("MVSIM_CACHE") or _cache_below(os.environ.get("HOME"))


@cache
def _cache_below(_home: str | None) -> str:
    return os.path.join(os.path.expanduser("~"), ".cache", "mvsim-storage")


def checked_resources(name: str, given: Any) -> dict[str, str]:
    """Returns a dict from URL prefixes to the folders that stand for them; None gives an empty dict. TypeError or
    ValueError for anything else."""
    if given is None:
        return {}
    from mvsim_gym._checks import checked_text, kind_of, path_text, quoted

    if not isinstance(given, Mapping):
        raise TypeError(
            f'{name}: found {kind_of(given)}, expected a dict as {{"https://host/models/": "folder"}}'
        )
    folders = {
        checked_text(name, prefix): os.path.abspath(path_text(f"{name}[{prefix!r}]", folder))
        for prefix, folder in given.items()
    }
    for prefix, folder in folders.items():
        if "://" not in prefix:
            raise ValueError(
                f"{name}: found the prefix {quoted(prefix)}, expected the start of a URL (https://...)"
            )
        if not os.path.isdir(folder):
            raise ValueError(f"{name}: {quoted(folder)} is not a folder")
    return folders


def parsed_resources(name: str, entries: str) -> dict[str, str]:
    """Returns the same from text: `prefix=folder`, separated by newlines or `;`."""
    parts = [part.strip() for part in entries.replace("\n", ";").split(";") if part.strip()]
    for part in parts:
        if "=" not in part:
            from mvsim_gym._checks import quoted

            raise ValueError(f"{name}: found {quoted(part)}, expected prefix=folder")
    return checked_resources(name, dict(part.rsplit("=", 1) for part in parts))


def all_resources(given: Mapping[str, str]) -> Found:
    """Returns the caller's folders, then those of `MVSIM_RESOURCES`, and the cache.

    Raises:
        ValueError: the environment variable names no folders.
    """
    entries = os.environ.get("MVSIM_RESOURCES")
    if entries:
        given = {**parsed_resources("MVSIM_RESOURCES", entries), **given}
    return [*given.items()], cache_folder()
