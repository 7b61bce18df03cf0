"""Checks the language of comments, docstrings, messages and documents: `./dev words`.

Usage: python tests/words.py [--long] [FILE ...]. Without files it reads every file that git tracks.
Each finding is one line, `file:line: found ..., expected ...`; the exit status is 1 if there is one.
`--long` also lists sentences of more than 30 words, which are no error.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LONG = 30  # words

# Files that are written by a program or by others, or that hold the forbidden words as data.
LEFT_OUT = ("LICENSE", "src/render/glad/", "tests/words.py", "tests/python/test_words.py", "tests/data/")


@dataclass(frozen=True)
class Text:
    """Words of one comment, docstring, message or paragraph, joined to one line."""

    line: int
    words: str
    is_prose: bool = True  # False: a message or a table row, which need not be sentences
    lines: tuple[tuple[int, int], ...] = (
        (0, 0),
    )  # (offset in words, line of the file) where each line begins

    def line_at(self, offset: int) -> int:
        return max((start, line) for start, line in self.lines if start <= offset)[1] or self.line


@dataclass(frozen=True)
class Rule:
    """A pattern that no text may contain, and the advice that a finding prints."""

    pattern: re.Pattern[str]
    expected: str
    prose_only: bool = True


_START = r"(?:^|(?<=[a-z0-9)`\"'][.:?!] ))"
_PERSON = (
    r"(?<!person )(?<!people )(?<!persons )(?<!user )(?<!users )(?<!reader )(?<!readers )(?<!author )(?<!authors )"
    r"(?<!maintainers )(?<!contributors )(?<!somebody )"
)
RULES = (
    Rule(re.compile(_START + r"Of (?!course\b)[^.:?!]*"), "the subject first, as in 'The X of Y is ...'"),
    Rule(
        re.compile(_START + r"What(?:ever)? [^?.]*(?:\.(?!\w)|\.\w[^?.]*|$)"),
        "a noun or an imperative first, as in 'The state that ...' or 'Returns ...'",
    ),
    Rule(re.compile(_START + r"Wh(?:o|ose|om|oever) [^?.]*(?:\.|$)"), "the name of the thing first"),
    Rule(
        re.compile(
            _PERSON + r"\b(?:who|whom|whoever|whomever|nobody|somebody|anybody|anyone)\b", re.IGNORECASE
        ),
        "the name of the thing, or 'that', 'nothing', 'a caller': code is no person",
        prose_only=False,
    ),
)

# Identifiers that have been replaced; they must not come back.
NAMES = {
    "wish_of": "a verb that says what the function computes",
    "MakeCheck": "a noun that says what is checked",
    "Copyable": "a noun that says what is copied",
    "told": "a name for the values that are passed",
    "pay": "compute_reward",
}


def _joined(rows: list[tuple[int, str]], is_prose: bool = True) -> Text:
    words, lines = "", []
    for line, row in rows:
        words += " " if words and row else ""
        lines.append((len(words), line))
        words += row
    return Text(rows[0][0], words, is_prose, tuple(lines))


def _blocks(rows: list[tuple[int, str]]) -> Iterator[Text]:
    """Joins the comments of consecutive lines; an empty one separates paragraphs."""
    block: list[tuple[int, str]] = []
    for line, row in rows:
        if block and (not row or line != block[-1][0] + 1):
            yield _joined(block)
            block = []
        if row:
            block.append((line, row))
    if block:
        yield _joined(block)


_CPP = re.compile(
    r'R"(?P<tag>[^(\s"]*)\(.*?\)(?P=tag)"|"(?P<string>(?:\\.|[^"\\\n])*)"|\'(?:\\.|[^\'\\\n])+\''
    r"|//(?P<comment>[^\n]*)|/\*(?P<block>.*?)\*/",
    re.DOTALL,
)


def _cpp(source: str, with_messages: bool) -> Iterator[Text]:
    rows: list[tuple[int, str]] = []
    for found in _CPP.finditer(source):
        line = source.count("\n", 0, found.start()) + 1
        if found["comment"] is not None:
            begins = source.rfind("\n", 0, found.start()) + 1
            row = (line, found["comment"].strip("/ \t"))
            if source[
                begins : found.start()
            ].strip():  # beside code: a text of its own, continued on the next lines
                yield from _blocks(rows)
                rows = []
            rows.append(row)
        elif found["block"] is not None:
            yield from _blocks(
                [(line + i, row.strip("* \t")) for i, row in enumerate(found["block"].split("\n"))]
            )
        elif found["string"] is not None and with_messages and found["string"].count(" ") > 1:
            yield Text(line, found["string"], is_prose=False)
    yield from _blocks(rows)


def _paragraphs(text: str, line: int) -> Iterator[Text]:
    yield from _blocks([(line + i, row.strip()) for i, row in enumerate(text.split("\n"))])


def _python(source: str, with_messages: bool) -> Iterator[Text]:
    rows: list[tuple[int, str]] = []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            if token.line[: token.start[1]].strip():
                yield from _blocks(rows)
                rows = []
            rows.append((token.start[0], token.string.strip("#: ")))
    yield from _blocks(rows)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node, clean=False)
            if text is not None:
                yield from _paragraphs(text, node.body[0].lineno)
        elif isinstance(node, ast.Raise) and node.exc is not None and with_messages:
            for part in ast.walk(node.exc):
                if (
                    isinstance(part, ast.Constant)
                    and isinstance(part.value, str)
                    and part.value.count(" ") > 1
                ):
                    yield Text(part.lineno, part.value, is_prose=False)


def _markdown(source: str, _: bool) -> Iterator[Text]:
    rows: list[tuple[int, str]] = []
    fenced = False
    for line, row in enumerate(source.split("\n"), 1):
        is_fence = row.lstrip().startswith("```")
        fenced ^= is_fence
        words = re.sub(r"^\s*(?:#+|[-*>]|\d+\.)\s+", "", row).strip()
        if is_fence or fenced:
            rows.append((line, ""))
        elif words.startswith("|"):
            yield Text(line, words, is_prose=False)
        else:
            if row.strip() and words != row.strip():  # a list item or a heading begins a text of its own
                yield from _blocks(rows)
                rows = []
            rows.append((line, words))
    yield from _blocks(rows)


def _hash(source: str, _: bool) -> Iterator[Text]:
    rows: list[tuple[int, str]] = []
    for line, row in enumerate(source.split("\n"), 1):
        found = re.match(r"(?P<code>.*?)(?:^|(?<=\s))#(?!!)(?P<words>:?\s.*|$)", row)
        if found is None:
            continue
        is_help = found["words"].startswith(":")
        if found["code"].strip() or is_help:
            yield from _blocks(rows)
            rows = []
        words = found["words"].lstrip(":").strip()
        rows.append((line, re.sub(r"^[\w-]+ {2,}", "", words) if is_help else words))
    yield from _blocks(rows)


def _xml(source: str, _: bool) -> Iterator[Text]:
    for found in re.finditer(r"<!--(.*?)-->", source, re.DOTALL):
        yield from _paragraphs(found[1], source.count("\n", 0, found.start()) + 1)


READERS = {
    ".h": _cpp,
    ".cpp": _cpp,
    ".c": _cpp,
    ".py": _python,
    ".md": _markdown,
    ".xml": _xml,
    ".toml": _hash,
    "CMakeLists.txt": _hash,
    "dev": _hash,
}


def _reader(path: str) -> Callable[[str, bool], Iterator[Text]] | None:
    name = path.rsplit("/", 1)[-1]
    return READERS.get(name) or READERS.get(Path(name).suffix)


def texts(path: str, source: str) -> Iterator[Text]:
    """Yields the texts of a file. Messages count in src/ and python/; tests quote the words of their input."""
    read = _reader(path)
    if read is not None:
        yield from read(source, path.startswith(("src/", "python/")))


def findings(path: str, source: str) -> list[str]:
    """Returns a line for each violation in the text of the file `path`, sorted by line."""
    found: list[tuple[int, str]] = []
    for text in texts(path, source):
        words = re.sub(r"`[^`]*`", lambda code: "`" + "x" * (len(code[0]) - 2) + "`", text.words)
        for rule in RULES:
            if rule.prose_only and not text.is_prose:
                continue
            for match in rule.pattern.finditer(words):
                quoted = " ".join(text.words[match.start() : match.end()].split()[:5])
                found.append((text.line_at(match.start()), f"found '{quoted}', expected {rule.expected}"))
    if path.startswith("src/"):
        code = _CPP.sub(lambda part: re.sub(r"[^\n]", " ", part[0]), source)
        for match in re.finditer(r"\b(?:" + "|".join(NAMES) + r")\b", code):
            line = code.count("\n", 0, match.start()) + 1
            found.append((line, f"found the name '{match[0]}', expected {NAMES[match[0]]}"))
    return [f"{path}:{line}: {words}" for line, words in sorted(set(found))]


def long_sentences(path: str, source: str) -> list[str]:
    """Returns a line for each sentence of more than LONG words."""
    found = []
    for text in texts(path, source):
        if text.is_prose:
            for sentence in re.finditer(r"\S.*?(?:[.?!;](?= |$)|$)", text.words):
                count = len(sentence[0].split())
                if count > LONG:
                    line = text.line_at(sentence.start())
                    found.append(f"{path}:{line}: found a sentence of {count} words, expected at most {LONG}")
    return found


def tracked() -> list[str]:
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    return [path for path in listed.split("\0") if path and (ROOT / path).is_file()]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("files", nargs="*", help="paths relative to the repository")
    parser.add_argument(
        "--long", action="store_true", help=f"list sentences of more than {LONG} words as well"
    )
    options = parser.parse_args(arguments)
    paths = [path for path in options.files or tracked() if _reader(path) and not path.startswith(LEFT_OUT)]
    sources = {path: (ROOT / path).read_text(encoding="utf-8") for path in paths}
    lines = [line for path, source in sources.items() for line in findings(path, source)]
    for line in lines:
        print(line)
    if options.long:
        for path, source in sources.items():
            for line in long_sentences(path, source):
                print(line)
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
