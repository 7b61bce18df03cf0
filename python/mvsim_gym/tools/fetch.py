"""Downloads what worlds name into the cache: `mvsim-gym fetch`. The only code of the package that opens a connection.

A file lies in the cache under its full URL, its SHA-256 beside it. What is there stays; `check=True` downloads again
and refuses what has changed.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from mvsim_gym import _core
from mvsim_gym._assets import assets, folders_of
from mvsim_gym._resources import all_resources, cache_folder

MAX_BYTES = 2**30
"""Of one file."""
_TIMEOUT = 60.0  # s without a byte
_PIECE = 2**20
_RECORD = ".sha256"


class FetchError(ValueError):
    """A file that could not be downloaded, or that is another one than before."""


def fetch_world(
    path: str, roots: Sequence[str] = (), resources: Mapping[str, str] | None = None, *, check: bool = False
) -> Iterator[tuple[str, str]]:
    """Downloads what a world names and no mapped folder has; yields each URL and what became of it.

    Raises:
        FetchError: a file cannot be had, or has changed.
        WorldFileError: the world has a mistake beside what it lacks.
    """
    mapped = all_resources(resources or {})
    done: set[str] = set()
    while True:  # what is missing may hide what comes after it
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
    """Downloads one file unless the cache has it; returns "cached", "same" or "downloaded".

    Raises:
        FetchError: see above.
    """
    target = (Path(cache_folder()) if cache is None else cache) / url.replace("://", "/", 1)
    if ".." in target.parts or not url.startswith(("http://", "https://")):
        raise FetchError(f"{url}: is not the URL of a file")
    if target.suffix == _RECORD:
        raise FetchError(f"{url}: a name that ends in {_RECORD} is kept for records of the cache")
    try:
        return _fetch_into(target, url, check)
    except OSError as error:  # of the cache: the URL of a file may be a folder of another's
        raise FetchError(f"{url}: cannot be kept in the cache: {error}") from error


def _fetch_into(target: Path, url: str, check: bool) -> str:
    record = target.with_name(target.name + _RECORD)
    words = record.read_text(errors="replace").split() if record.is_file() else []
    known = words[0] if words else None
    if target.is_file():
        if known is not None and _hash_of(target) != known:
            raise FetchError(
                f"{target}: is not what was downloaded (its SHA-256 differs): delete it to fetch it again"
            )
        if not check:
            return "cached"
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=".fetch-", dir=target.parent)
    part = Path(name)
    try:
        with os.fdopen(handle, "wb") as out:
            found = _download(url, out)
        if known is not None and found != known:
            raise FetchError(f"{url}: has changed: SHA-256 {found}, expected {known} as in {record}")
        part.chmod(0o644)
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
    record.write_text(f"{found}  {target.name}\n")
    return "downloaded" if known is None else "same"


def _download(url: str, out: object) -> str:
    """Writes what a URL gives; its SHA-256."""
    digest = hashlib.sha256()
    try:
        with _opener().open(url, timeout=_TIMEOUT) as answer:
            expected = answer.headers.get("Content-Length")
            got = 0
            while piece := answer.read(_PIECE):
                got += len(piece)
                if got > MAX_BYTES:
                    raise FetchError(f"{url}: has more than {MAX_BYTES} bytes")
                digest.update(piece)
                out.write(piece)  # type: ignore[attr-defined]
    except urllib.error.HTTPError as error:
        raise FetchError(f"{url}: the server answers {error.code} {error.reason}") from error
    except (OSError, ValueError, EOFError) as error:
        if isinstance(error, FetchError):
            raise
        reason = error.reason if isinstance(error, urllib.error.URLError) else error
        raise FetchError(f"{url}: cannot be downloaded: {reason}") from error
    if expected is not None and got != int(expected):
        raise FetchError(f"{url}: the connection was cut after {got} of {expected} bytes")
    return digest.hexdigest()


class _SameScheme(urllib.request.HTTPRedirectHandler):
    """Follows redirections, never from https to http, nor to files."""

    def redirect_request(self, request, answer, code, message, headers, target):  # type: ignore[no-untyped-def]
        if not target.startswith(("https://", request.type + "://")):
            raise FetchError(f"{request.full_url}: is redirected to {target}, which is refused")
        return super().redirect_request(request, answer, code, message, headers, target)


def _opener() -> urllib.request.OpenerDirector:
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler(),
        urllib.request.HTTPHandler(),
        urllib.request.HTTPSHandler(),
        urllib.request.HTTPDefaultErrorHandler(),
        urllib.request.HTTPErrorProcessor(),
        _SameScheme(),
    ):
        opener.add_handler(handler)
    return opener


def _is_mapped(url: str, prefix: str, folder: str) -> bool:
    rest = url[len(prefix) :] if url.startswith(prefix) else ""
    if not prefix.endswith("/") and not rest.startswith("/"):  # a prefix ends between two parts
        return False
    return bool(rest) and (Path(folder) / rest.lstrip("/")).is_file()


def _hash_of(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(_PIECE):
            digest.update(piece)
    return digest.hexdigest()
