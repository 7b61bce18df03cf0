"""Writes the table of constructors' keywords in python.md from `mvsim_gym/_options.py`; --check only compares."""

from __future__ import annotations

import sys
from pathlib import Path

from mvsim_gym._options import table

PAGE = Path(__file__).parent / "python.md"
BEGIN, END = "<!-- options: written by ./dev stubs -->\n", "\n<!-- /options -->"


def main() -> int:
    text = PAGE.read_text()
    before, rest = text.split(BEGIN)
    current = before + BEGIN + table() + END + rest.split(END, 1)[1]
    if current == text:
        return 0
    if "--check" in sys.argv:
        print(
            f"{PAGE}: the table of keywords is not that of mvsim_gym/_options.py: ./dev stubs",
            file=sys.stderr,
        )
        return 1
    PAGE.write_text(current)
    return 0


if __name__ == "__main__":
    sys.exit(main())
