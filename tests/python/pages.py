"""The pages of the documentation and their code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"


class Code(NamedTuple):
    """A fenced block of a page: its language, its mark ("" without one) and its text."""

    page: str
    language: str
    mark: str
    text: str


def pages() -> list[Path]:
    """README.md and the pages that git tracks in docs/; those of environments are generated."""
    return [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]


def blocks() -> Iterator[Code]:
    for page in pages():
        for found in re.finditer(
            r"^( *)```([a-z]+)(?: ([\w.-]+))?\n(.*?)^\1```$", page.read_text(), re.M | re.S
        ):
            indent, language, mark, text = found.groups()
            text = "\n".join(line.removeprefix(indent) for line in text.split("\n"))
            yield Code(page.name, language, mark or "", text)


def code_of(name: str, language: str = "python") -> str:
    """The one block of all pages with this mark."""
    (text,) = [block.text for block in blocks() if (block.language, block.mark) == (language, name)]
    return text
