"""Commands that tests end by signals, whatever started the tests: a shell's background job has SIGINT ignored, and all
that it starts inherits that."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from conftest import ROOT

__all__ = ["command", "hearing_ctrl_c"]


@contextmanager
def hearing_ctrl_c(hears: bool = True) -> Iterator[None]:
    """SIGINT raises KeyboardInterrupt in this process, and in those that it starts; it does afterwards what it did
    before.

    Args:
        hears: False: it is ignored, as in a shell's background job.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler if hears else signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def command(*arguments: str, background: bool = False, **options: Any) -> subprocess.Popen[str]:
    """A command of `mvsim-gym`.

    Args:
        background: with SIGINT ignored, as a shell starts its background jobs.
        options: of `Popen`.
    """
    paths = [str(ROOT / "python"), *(p for p in sys.path if p)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    with hearing_ctrl_c(not background):
        return subprocess.Popen(
            [sys.executable, "-m", "mvsim_gym", *arguments], **{"env": environment, "text": True, **options}
        )
