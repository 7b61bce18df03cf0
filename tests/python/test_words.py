"""The check of language in tests/words.py: findings, places and exceptions."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

_FILE = Path(__file__).resolve().parents[1] / "words.py"
_SPEC = importlib.util.spec_from_file_location("words", _FILE)
assert _SPEC is not None and _SPEC.loader is not None
words = importlib.util.module_from_spec(_SPEC)
sys.modules["words"] = words
_SPEC.loader.exec_module(words)


def lines_of(path: str, source: str) -> list[int]:
    return [int(line.split(":")[1]) for line in words.findings(path, source)]


@pytest.mark.parametrize(
    ("path", "source", "lines"),
    [
        ("src/a/a.h", "// What holds prisms.\nint a;\n", [1]),
        ("src/a/a.h", "// A circle. Of one body\n// the radius.\nint a;\n", [1]),
        ("src/a/a.h", "// A circle in the plane,\n// for whoever asks.\nint a;\n", [2]),
        ("src/a/a.h", "int a;  // nobody reads it\nint b;  /* one\n * nobody reads */\n", [1, 3]),
        ("src/a/a.cpp", 'throw Error("a value that nobody set");\n', [1]),
        ("src/a/a.cpp", "int told = 0;\n", [1]),
        ("tests/cpp/a/a_test.cpp", 'load("a value that nobody set");\n', []),
        ("python/a.py", '"""Worlds.\n\nWhat moves is an array.\n"""\n', [3]),
        ("python/a.py", 'def f():\n    raise ValueError("a value that nobody set")\n', [2]),
        ("python/a.py", "x = 1  # whoever reads it\n", [1]),
        ("docs/a.md", "# Title\n\n- What moves is an array.\n", [3]),
        ("docs/a.md", "| key | for whoever asks |\n", [1]),
        ("envs/a.xml", "<a>\n<!-- Of two\n robots. -->\n</a>\n", [2]),
        ("dev", "#!/bin/sh\n#: run    what nobody needs\necho a#nobody\n", [2]),
        ("CMakeLists.txt", "# Of assimp only headers are used.\n", [1]),
    ],
)
def test_a_violation_is_found_at_its_line(path: str, source: str, lines: list[int]) -> None:
    assert lines_of(path, source) == lines


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("src/a/a.h", "// The radius of a circle. A triangle whose normal is zero is left out.\n"),
        ("src/a/a.h", "// What is the radius? The half of the diameter.\n"),
        ("src/a/a.h", '// Of course a radius is positive.\nconst char* url = "http://nobody";\n'),
        ("src/a/a.h", "int looks_level; // length, of which\n"),
        ("docs/a.md", "For users who train policies.\n\n```\n# What nobody reads\n```\nUse `nobody`.\n"),
        ("python/a.py", 'text = "what nobody said"\n'),
        ("docs/a.png", "What nobody reads.\n"),
    ],
)
def test_plain_sentences_pass(path: str, source: str) -> None:
    assert words.findings(path, source) == []


def test_a_finding_says_what_was_found_and_what_is_expected() -> None:
    (finding,) = words.findings("src/a/a.h", "\n// Of each column the first row.\n")
    assert finding == (
        "src/a/a.h:2: found 'Of each column the first', expected the subject first, as in 'The X of Y is ...'"
    )


def test_long_sentences_are_listed_and_are_no_finding() -> None:
    source = "// A " + "very " * 30 + "long sentence.\n// A short one.\n"
    assert words.findings("src/a/a.h", source) == []
    (line,) = words.long_sentences("src/a/a.h", source)
    assert line == "src/a/a.h:1: found a sentence of 33 words, expected at most 30"
