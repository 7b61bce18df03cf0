"""SIGINT and SIGTERM as the regular end of commands without an own end: they clean up and return exit code 0."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

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
