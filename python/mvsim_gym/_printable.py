"""Text of strangers (names of files, worlds, nodes) as it may be printed: no character in it controls the reader."""

from __future__ import annotations

import re

__all__ = ["printable"]

# controls (C0 but for tab and line feed, DEL, C1), directions of writing, separators of lines and paragraphs,
# deprecated and invisible formats, tags, and halves of surrogate pairs, which no encoding can write
_CONTROLS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff"
    "\U000e0000-\U000e007f]"
)
_LINES = re.compile("[\t\n]")


def _escaped(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def printable(text: str, *, one_line: bool = False) -> str:
    """A text with its control characters written as Python escapes them: `\\x1b`, `\\u202e`.

    Args:
        one_line: tabs and line feeds as well.
    """
    text = _CONTROLS.sub(_escaped, text)
    return _LINES.sub(_escaped, text) if one_line else text
