"""Output of the commands. Names from files or from the network cannot control the terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO

from mvsim_gym._notices import printable


class _Plain:
    """A stream whose text is printable: control characters are written as Python escapes them, `\\x1b`."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        self._stream.write(printable(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def control(self, codes: str) -> None:
        """Writes our own control characters."""
        self._stream.write(codes)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def control(stream: TextIO, codes: str) -> None:
    """Writes our own control characters to a stream, which may be one of `plain_output`."""
    (stream.control if isinstance(stream, _Plain) else stream.write)(codes)


@contextmanager
def plain_output() -> Iterator[None]:
    """Escapes control characters on standard output and standard error."""
    before = sys.stdout, sys.stderr
    out, err = (stream if isinstance(stream, _Plain) else _Plain(stream) for stream in before)
    sys.stdout, sys.stderr = out, err
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before
