"""Downloads in pieces, with bounds on size and time that hold for any server."""

from __future__ import annotations

import functools
import http.client
import io
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

_SILENCE = 60.0  # longest time without a byte, s
_SLOWEST = 20_000  # lowest rate after the first `_SILENCE` seconds, bytes/s
_HEAD_BYTES = 2**20  # most bytes of status lines and headers
_PIECE = 2**20


class FetchError(ValueError):
    """A file could not be downloaded, or differs from the one before."""


def pieces_of(url: str, max_bytes: int) -> Iterator[bytes]:
    """Downloads a URL.

    Raises:
        FetchError: the server cannot be reached, answers with an error or with bad HTTP, is too slow, or sends more
            than `max_bytes`.
    """
    try:
        with _opener(max_bytes).open(url, timeout=_SILENCE) as answer:
            yield from _checked(answer, url, max_bytes)
    except FetchError:
        raise
    except urllib.error.HTTPError as error:
        error.close()
        raise FetchError(f"{url}: the server answers {error.code} {_line(error.reason)}") from None
    except http.client.IncompleteRead as error:
        raise FetchError(
            f"{url}: the connection was cut after {len(error.partial)} bytes of a part"
        ) from None
    except (OSError, ValueError, EOFError, http.client.HTTPException) as error:
        reason = error.reason if isinstance(error, urllib.error.URLError) else error
        raise FetchError(f"{url}: cannot be downloaded: {_line(reason) or type(reason).__name__}") from None


def _checked(answer: Any, url: str, max_bytes: int) -> Iterator[bytes]:
    if answer.status != 200:
        raise FetchError(f"{url}: the server answers {answer.status} {_line(answer.reason)}, expected 200")
    packing = answer.headers.get("Content-Encoding", "identity").strip().lower()
    if packing != "identity":
        raise FetchError(
            f"{url}: the server compresses the file as '{_line(packing)}', expected it uncompressed"
        )
    expected = _length(answer.headers.get_all("Content-Length", []), url)
    if "Transfer-Encoding" in answer.headers:
        expected = None  # chunks have their own sizes
    got = 0
    if (expected or 0) > max_bytes:
        raise FetchError(f"{url}: has more than {max_bytes} bytes")
    while piece := answer.read(_PIECE):
        got += len(piece)
        if got > max_bytes:
            raise FetchError(f"{url}: has more than {max_bytes} bytes")
        yield piece
    if expected is not None and got != expected:
        raise FetchError(f"{url}: the connection was cut after {got} of {expected} bytes")


def _length(texts: list[str], url: str) -> int | None:
    """Returns the length that the header of an answer states."""
    found = {text.strip() for text in texts}
    if not found:
        return None
    text = found.pop()
    if found or not (text.isascii() and text.isdigit() and len(text) <= 20):
        raise FetchError(
            f"{url}: the server announces the length '{_line(', '.join(texts))}', expected one number"
        )
    return int(text)


def _line(value: object) -> str:
    """Returns a text of a server or a library as a short line without control characters."""
    text = " ".join(str(value).split())
    return "".join(c if c.isprintable() else "?" for c in text)[:200]


class _Paced(io.RawIOBase):
    """The bytes of a socket, with a limit on their number and a lowest rate."""

    def __init__(self, raw: io.RawIOBase, connection: socket.socket) -> None:
        self._raw, self._connection = raw, connection
        self._began, self._got = time.monotonic(), 0
        self.most = _HEAD_BYTES

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        if self._got > self.most:
            raise OSError(f"the server sends more than {self.most} bytes besides the file")
        left = self._began + _SILENCE + self._got / _SLOWEST - time.monotonic()
        try:
            if left <= 0:
                raise TimeoutError
            self._connection.settimeout(min(_SILENCE, left))
            got = self._raw.readinto(buffer)
        except TimeoutError:
            seconds = time.monotonic() - self._began
            raise TimeoutError(f"too slow: {self._got} bytes came in {seconds:.0f} s") from None
        self._got += got or 0
        return got

    def close(self) -> None:
        self._raw.close()
        super().close()


class _Answer(http.client.HTTPResponse):
    """An answer that is read through `_Paced`."""

    def __init__(self, sock: socket.socket, *arguments: Any, most: int, **keywords: Any) -> None:
        super().__init__(sock, *arguments, **keywords)
        self._most = most
        self._paced = _Paced(self.fp.detach(), sock)
        self.fp = io.BufferedReader(self._paced)

    def begin(self) -> None:
        super().begin()
        self._paced.most = self._most


class _Http(urllib.request.HTTPHandler):
    def __init__(self, answer: Any) -> None:
        super().__init__()
        self._answer = answer

    def http_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(_connection(http.client.HTTPConnection, self._answer), req)


class _Https(urllib.request.HTTPSHandler):
    def __init__(self, answer: Any) -> None:
        super().__init__()
        self._answer = answer

    def https_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        made = _connection(http.client.HTTPSConnection, self._answer)
        return self.do_open(made, req, context=self._context)  # type: ignore[attr-defined]


def _connection(kind: type[http.client.HTTPConnection], answer: Any) -> Any:
    return type(kind.__name__, (kind,), {"response_class": staticmethod(answer)})


class _SameScheme(urllib.request.HTTPRedirectHandler):
    """Follows redirections, but never from https to http or to files."""

    def redirect_request(self, request, answer, code, message, headers, target):  # type: ignore[no-untyped-def]
        if not target.startswith(("https://", request.type + "://")):
            raise FetchError(f"{request.full_url}: is redirected to {_line(target)}, which is refused")
        return super().redirect_request(request, answer, code, message, headers, target)


def _opener(max_bytes: int) -> urllib.request.OpenerDirector:
    # twice: small chunks have long headers
    answer = functools.partial(_Answer, most=2 * max_bytes + _HEAD_BYTES)
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler(),
        _Http(answer),
        _Https(answer),
        urllib.request.HTTPDefaultErrorHandler(),
        urllib.request.HTTPErrorProcessor(),
        _SameScheme(),
    ):
        opener.add_handler(handler)
    return opener
