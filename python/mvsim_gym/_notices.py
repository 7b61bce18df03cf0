"""Messages for users: notices, text from other sources, and the remedy if an optional package is missing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache, lru_cache

_LINES = re.compile("[\t\n]")


@cache
def _controls() -> re.Pattern[str]:
    """Control characters (C0 but for tab and line feed, DEL, C1), writing directions, separators of lines and
    paragraphs, deprecated and invisible formats, tags, and halves of surrogate pairs, which no encoding can write.
    Compiled at first use, because that takes as long as importing two modules."""
    return re.compile(
        "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff"
        "\U000e0000-\U000e007f]"
    )


def _escaped(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def printable(text: str, *, one_line: bool = False) -> str:
    """Returns a text with control characters escaped as in Python: `\\x1b`, `\\u202e`.

    Args:
        one_line: escape tabs and line feeds as well.
    """
    text = _controls().sub(_escaped, text)
    return _LINES.sub(_escaped, text) if one_line else text


_KNOWN = 10_000  # texts; the limit guards against endless texts from other processes


@lru_cache(maxsize=_KNOWN)
def _say(text: str) -> None:
    import logging  # Imported here because it takes most of the start-up time, and most runs log nothing.

    logging.getLogger("mvsim_gym").warning("%s", printable(text))


def notice(texts: Iterable[str]) -> None:
    """Logs those of the texts that have not been logged yet."""
    for text in texts:
        if text:
            _say(text)


@contextmanager
def extra(who: str, name: str) -> Iterator[None]:
    """Wraps the imports that `who` needs and that the extra `name` of this package installs.

    Raises:
        ImportError: one is missing; the message says what to install.
    """
    try:
        yield
    except ImportError as error:
        missing = error.name or str(error)
        raise ImportError(f"{who} needs {missing}: pip install 'mvsim_gym[{name}]'") from error
