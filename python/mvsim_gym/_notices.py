"""What a user should know and need not act on: to the logger `mvsim_gym`, each text once in a process."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from mvsim_gym._printable import printable

_KNOWN = 10_000  # texts; some name what others sent


@lru_cache(maxsize=_KNOWN)
def _say(text: str) -> None:
    import logging  # takes longer than all else of a start where nothing is said

    logging.getLogger("mvsim_gym").warning("%s", printable(text))


def notice(texts: Iterable[str]) -> None:
    """Logs those of the texts that have not been logged yet."""
    for text in texts:
        if text:
            _say(text)
