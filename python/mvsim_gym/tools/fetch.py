"""Downloads of files that worlds name into the cache: `mvsim-gym fetch`. Apart from `download`, no other code of the
package connects to servers.

A file is stored in the cache under its full URL, with its SHA-256 beside it. Files in the cache are kept. `check=True`
downloads them again and refuses changed ones.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from mvsim_gym import _core
from mvsim_gym._files import all_resources, assets, cache_folder, file_digest, folders_of
from mvsim_gym.tools.download import FetchError, pieces_of

__all__ = ["MAX_BYTES", "FetchError", "fetch", "fetch_world"]

MAX_BYTES = 2**30
"""Largest size of a file, bytes."""
_RECORD = ".sha256"


def fetch_world(
    path: str, roots: Sequence[str] = (), resources: Mapping[str, str] | None = None, *, check: bool = False
) -> Iterator[tuple[str, str]]:
    """Downloads the files that a world names and no mapped folder has; yields each URL and its state.

    Raises:
        FetchError: a file cannot be downloaded, or has changed.
        WorldFileError: the world has an error besides missing files.
    """
    mapped = all_resources(resources or {})
    done: set[str] = set()
    while True:  # the loader stops at a missing file, so each pass may find further URLs
        urls, error = _core.named_urls(path, assets(), folders_of(roots), mapped)
        missing = [url for url in urls if url.startswith("http") and url not in done]
        if not missing:
            if error:
                raise ValueError(error)
            return
        for url in missing:
            done.add(url)
            if any(_is_mapped(url, prefix, folder) for prefix, folder in mapped[0]):
                yield url, "mapped"
            else:
                yield url, fetch(url, check=check)


def fetch(url: str, cache: Path | None = None, *, check: bool = False) -> str:
    """Downloads one file unless it is in the cache; returns "cached", "same" or "downloaded".

    Raises:
        FetchError: see `fetch_world`.
    """
    target = (Path(cache_folder()) if cache is None else cache) / url.replace("://", "/", 1)
    if ".." in target.parts or not url.startswith(("http://", "https://")):
        raise FetchError(f"{url}: is not the URL of a file")
    if target.suffix == _RECORD:
        raise FetchError(f"{url}: a name that ends in {_RECORD} is kept for records of the cache")
    try:
        return _fetch_into(target, url, check)
    except OSError as error:  # of the cache: the URL of a file may be the folder of another one
        raise FetchError(f"{url}: cannot be kept in the cache: {error}") from error


def _fetch_into(target: Path, url: str, check: bool) -> str:
    record = target.with_name(target.name + _RECORD)
    words = record.read_text(errors="replace").split() if record.is_file() else []
    known = words[0] if words else None
    if target.is_file():
        if known is not None and file_digest(target) != known:
            raise FetchError(
                f"{target}: is not what was downloaded (its SHA-256 differs): delete it to fetch it again"
            )
        if not check:
            return "cached"
    target.parent.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256()
    with _replaced(target) as out:
        for piece in pieces_of(url, MAX_BYTES):
            digest.update(piece)
            out.write(piece)
        found = digest.hexdigest()
        if known is not None and found != known:
            raise FetchError(f"{url}: has changed: SHA-256 {found}, expected {known} as in {record}")
    with _replaced(record) as out:
        out.write(f"{found}  {target.name}\n".encode())
    return "downloaded" if known is None else "same"


@contextmanager
def _replaced(target: Path) -> Iterator[BinaryIO]:
    """Yields a new file, which replaces another one when it is complete."""
    handle, name = tempfile.mkstemp(prefix=".fetch-", dir=target.parent)
    part = Path(name)
    try:
        with os.fdopen(handle, "wb") as out:
            yield out
        part.chmod(0o644)
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


def _is_mapped(url: str, prefix: str, folder: str) -> bool:
    rest = url[len(prefix) :] if url.startswith(prefix) else ""
    if not prefix.endswith("/") and not rest.startswith("/"):  # a prefix must end between two parts
        return False
    return bool(rest) and (Path(folder) / rest.lstrip("/")).is_file()
