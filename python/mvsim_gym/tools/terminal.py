"""Output and signals of the commands. Names from files or from the network cannot control the terminal. SIGINT and
SIGTERM are the regular end of commands without an own end: they clean up and return exit code 0."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
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


_KINDS = (signal.SIGINT, signal.SIGTERM)


def hear_ctrl_c() -> None:
    """Makes SIGINT raise KeyboardInterrupt in a shell's background job too, where it is ignored at first."""
    if _is_main_thread() and signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@contextmanager
def ended_by_signals(
    say: Callable[[str], None] = lambda _: None, on_end: Callable[[], None] = lambda: None
) -> Iterator[Callable[[], bool]]:
    """Yields a function that tells whether SIGINT or SIGTERM came. In this context the signals do not end the process.
    On other threads than the main one it returns False.

    Args:
        say: called at the end with a text that names the signal.
        on_end: called when a signal comes, between two instructions of Python.
    """
    if not _is_main_thread():
        yield lambda: False
        return
    came: list[int] = []

    def take(number: int, _: object) -> None:
        came.append(number)
        on_end()

    before = [signal.signal(kind, take) for kind in _KINDS]
    try:
        yield lambda: bool(came)
    finally:
        for kind, handler in zip(_KINDS, before, strict=True):
            signal.signal(kind, handler)
        if came:
            say(f"ended by signal {came[0]} ({signal.Signals(came[0]).name})")


def _is_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()
