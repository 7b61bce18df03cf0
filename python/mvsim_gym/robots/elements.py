"""A safe XML reader that keeps the place of every element and records how an import used it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any
from xml.parsers import expat


@dataclass(frozen=True)
class Limits:
    """Bounds of one import. Real robot descriptions stay far below all of them."""

    file_bytes: int = 16 << 20
    total_bytes: int = 64 << 20
    elements: int = 200_000
    depth: int = 200
    doctype: bool = False
    """whether a document type without declarations of its own is accepted, as SVG 1.1 files have it"""


class ImportRobotError(ValueError):
    """A mistake in a robot description. The message is `path:line: what was found, what was expected`."""


class Fate(Enum):
    """How the import used an element."""

    USED = "used"
    APPROXIMATED = "approximated"
    IGNORED = "ignored"


@dataclass
class Element:
    """An XML element with the file and line where it starts."""

    tag: str
    attributes: dict[str, str]
    file: str
    line: int
    children: list[Element] = field(default_factory=list)
    text: str = ""
    fate: Fate | None = None
    reason: str = ""

    @property
    def place(self) -> str:
        return f"{self.file}:{self.line}"

    def fault(self, message: str) -> ImportRobotError:
        return ImportRobotError(f"{self.place}: {message}")

    def used(self) -> Element:
        """Records that the import uses this element as stated."""
        self.fate = self.fate or Fate.USED
        return self

    def approximated(self, reason: str) -> Element:
        """Records that the import uses an approximation of this element."""
        self.fate, self.reason = Fate.APPROXIMATED, reason
        return self

    def ignored(self, reason: str) -> Element:
        """Records that this element and all below it have no effect, and the reason."""
        self.fate, self.reason = Fate.IGNORED, reason
        for child in self.children:
            if child.fate is None:
                child.ignored(reason)
        return self

    def each(self, tag: str) -> Iterator[Element]:
        return (child for child in self.children if child.tag == tag)

    def first(self, tag: str) -> Element | None:
        """Returns the first child of that name; None without one."""
        return next(self.each(tag), None)

    def walk(self) -> Iterator[Element]:
        """Yields this element and all below it, in the order of the file."""
        stack = [self]
        while stack:
            element = stack.pop()
            yield element
            stack.extend(reversed(element.children))

    def attribute(self, name: str) -> str:
        """Returns the value of an attribute that must be there."""
        try:
            return self.attributes[name]
        except KeyError:
            raise self.fault(f'<{self.tag}> without {name}="...", expected one') from None

    def numbers(self, text: str, count: int | None = None) -> list[float]:
        """Returns the finite numbers in a text of this element."""
        words = text.split()
        try:
            values = [float(word) for word in words]
        except ValueError:
            raise self.fault(f"<{self.tag}>: found '{text[:60]}', expected numbers") from None
        if count is not None and len(values) != count:
            raise self.fault(f"<{self.tag}>: found {len(values)} numbers, expected {count}")
        if not all(math.isfinite(value) and abs(value) < 1e9 for value in values):
            raise self.fault(f"<{self.tag}>: found '{text[:60]}', expected finite numbers below 1e9")
        return values

    def number(self, name: str, default: float | None = None) -> float:
        if default is not None and name not in self.attributes:
            return default
        return self.numbers(self.attribute(name), 1)[0]

    def child_number(self, path: str, default: float | None = None) -> float | None:
        """Returns the number in the child at a path such as `scan/horizontal/samples`, as SDF writes it."""
        found = self.child(path)
        if found is None or not found.text.strip():
            return default
        return found.used().numbers(found.text, 1)[0]

    def child_text(self, path: str, default: str = "") -> str:
        found = self.child(path)
        return default if found is None else found.used().text.strip()

    def child(self, path: str) -> Element | None:
        """Returns the child at a path. The elements on the way to it count as used."""
        element: Element = self
        for name in path.split("/"):
            below = element.first(name)
            if below is None:
                return None
            element.used()
            element = below
        return element


class _Builder:
    """Builds the tree while expat reads. Entities and document types are refused, because XML files can use them for
    attacks."""

    def __init__(self, file: str, limits: Limits) -> None:
        self._file, self._limits = file, limits
        self._stack: list[Element] = []
        self._count = 0
        self.root: Element | None = None
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._characters
        self.parser.EntityDeclHandler = self._refuse_entity
        self.parser.StartDoctypeDeclHandler = self._refuse_doctype

    def _here(self) -> str:
        return f"{self._file}:{self.parser.CurrentLineNumber}"

    def _refuse_entity(self, *_: Any) -> None:
        raise ImportRobotError(f"{self._here()}: found an entity declaration, expected none")

    def _refuse_doctype(self, _name: str, _system: Any, _public: Any, has_declarations: bool) -> None:
        if self._limits.doctype and not has_declarations:
            return  # the parser never fetches the external part
        raise ImportRobotError(f"{self._here()}: found a document type declaration, expected none")

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self._count += 1
        if self._count > self._limits.elements:
            raise ImportRobotError(f"{self._here()}: more than {self._limits.elements} elements")
        if len(self._stack) >= self._limits.depth:
            raise ImportRobotError(f"{self._here()}: elements nested deeper than {self._limits.depth}")
        element = Element(tag, attributes, self._file, self.parser.CurrentLineNumber)
        if self._stack:
            self._stack[-1].children.append(element)
        else:
            self.root = element
        self._stack.append(element)

    def _end(self, _: str) -> None:
        self._stack.pop()

    def _characters(self, text: str) -> None:
        if self._stack:
            self._stack[-1].text += text


def read_xml(path: Path, limits: Limits, shown: str = "") -> Element:
    """Reads a file into a tree.

    Raises:
        ImportRobotError: the file is no XML, has a document type or entities, or exceeds a limit.
        OSError: the file cannot be read.
    """
    shown = shown or str(path)
    return parse_xml(read_limited(path, limits.file_bytes), limits, shown)


def parse_xml(data: bytes, limits: Limits, shown: str) -> Element:
    """Does the same as `read_xml` for bytes."""
    builder = _Builder(shown, limits)
    try:
        builder.parser.Parse(data, True)
    except expat.ExpatError as error:
        raise ImportRobotError(
            f"{shown}:{error.lineno}:{error.offset + 1}: {expat.ErrorString(error.code)}"
        ) from None
    except (LookupError, UnicodeError) as error:
        raise ImportRobotError(f"{shown}: {error}, expected UTF-8") from None
    if builder.root is None:
        raise ImportRobotError(f"{shown}: found no element")
    return builder.root


def read_limited(path: Path, limit: int) -> bytes:
    """Returns the bytes of a regular file of at most `limit` bytes."""
    if not path.is_file():
        if path.exists():
            raise ImportRobotError(f"{path}: found no regular file")
        raise FileNotFoundError(f"{path}: there is no such file")
    with path.open("rb") as stream:
        data = stream.read(limit + 1)
    if len(data) > limit:
        raise ImportRobotError(f"{path}: larger than {limit >> 20} MiB")
    return data


def near(names: Sequence[str], name: str) -> str:
    """Returns a hint with the nearest of some names, or an empty text."""
    import difflib

    found = difflib.get_close_matches(name, names, n=1)
    return f", nearest: '{found[0]}'" if found else ""
