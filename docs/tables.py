"""Writes the tables between the markers of docs/world-*.md, docs/python.md, docs/baselines*.md,
docs/leaderboard.md and docs/learned.md.

Each marker is replaced up to the next `<!-- end -->`. `<!-- tags: block -->` becomes the table of the tags of an
element, `<!-- params: friction -->` that of the parameters of a kind of classes, `<!-- options: constructors -->`
that of the keywords of the constructors. `<!-- baselines: policies -->` becomes a table of baseline_tables.py.
`--check` writes nothing and fails if a page is not current.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable
from pathlib import Path

import baseline_tables

from mvsim_gym import _constructors, _core

DOCS = Path(__file__).resolve().parent
BLOCK = re.compile(r"(<!-- (tags|params|options|baselines): ([^>]*?) -->\n).*?(<!-- end -->)", re.DOTALL)
NUMBERS = ("number", "degrees", "int")
UNBOUNDED = 1e9  # a limit beyond this is no bound


def number(value: float) -> str:
    """Writes a number as short as possible: 1e7, 0.004, 36000."""
    text = f"{value:.0e}" if abs(value) >= 1e6 and float(f"{value:.0e}") == value else f"{value:.9g}"
    return re.sub(r"e([+-])0*(\d)", lambda m: "e" + m[1].replace("+", "") + m[2], text)


def default_of(row: _core.TagRow) -> str:
    if row.type not in NUMBERS or not row.default:
        return row.default
    value, (low, _) = float(row.default), row.limits
    needed = row.open[0] and value == low  # such as a length without a default
    return "" if needed else number(value)


def values_of(row: _core.TagRow) -> str:
    """Describes the values that a tag may have."""
    if row.type in ("bool", "text", "point"):
        return {"bool": "true, false", "text": "text", "point": "x y [z]"}[row.type]
    if row.type == "color":
        return "colour"
    if row.type == "choice":
        return ", ".join(f"`{choice}`" for choice in row.choices)
    if row.type not in NUMBERS:
        return ""
    (low, high), unit = row.limits, "deg" if row.type == "degrees" else row.unit
    above, below = (
        word if is_open else "" for word, is_open in zip(("above ", "below "), row.open, strict=True)
    )
    shown = " " + unit if unit else ""
    if low <= -UNBOUNDED and high >= UNBOUNDED:
        text = unit
    elif high >= UNBOUNDED:
        text = f"above {number(low)}{shown}" if above else f"{number(low)}{shown} or more"
    else:
        text = f"{above}{number(low)} to {below}{number(high)}{shown}"
    parts = ["integer", text] if row.type == "int" else [text]
    if row.also[0] is not None:
        parts += [f"or {number(row.also[0])} ({row.also[1]})"]
    return ", ".join(filter(None, parts))


def names(rows: Iterable[_core.TagRow]) -> str:
    return ", ".join(f"`{row.name}`" for row in rows)


def tags(element: str, rows: list[_core.TagRow]) -> list[str]:
    used = [row for row in rows if row.effect == "used"]
    lines = ["| tag | default | values | |", "|---|---|---|---|"] if used else []
    lines += [f"| `{row.name}` | {default_of(row)} | {values_of(row)} | {row.text} |" for row in used]
    for effect, words in (("none", "Checked, without effect"), ("refused", "Not supported yet")):
        others = [row for row in rows if row.effect == effect]
        shown_names = [f"`{row.name}`" + (f" ({row.text})" if row.text else "") for row in others]
        if shown_names:
            lines += [""] * bool(lines) + [f"{words}: {', '.join(shown_names)}."]
    return lines


def checked_only(elements: str, rows: list[_core.TagRow]) -> list[str]:
    """Lists the tags of elements that have no effect at all."""
    return [
        f"- `{element}`: {names(row for row in rows if row.element == element)}"
        for element in elements.split(", ")
    ]


def params(kind: str, rows: list[_core.TagRow]) -> list[str]:
    """Returns one row for the classes that have a parameter with the same default and values."""
    of_class: dict[str, set[str]] = {}  # name of a class -> its owners
    lines: dict[tuple[str, str, str], list[tuple[str, str]]] = {}
    for row in rows:
        group, _, rest = row.element.partition(" ")
        if group == kind:
            name, _, owner = rest.partition(" of ")
            of_class.setdefault(name, set()).add(owner)
            lines.setdefault((row.name, default_of(row), values_of(row)), []).append((name, owner))
    out = ["| parameter | default | values | of |", "|---|---|---|---|"]
    for (name, default, values), found in lines.items():
        owners: dict[str, list[str]] = {}
        for of, owner in found:
            owners.setdefault(of, []).append(owner)
        texts = [
            f"`{of}`" + ("" if set(names) == of_class[of] else " of " + ", ".join(f"`{n}`" for n in names))
            for of, names in owners.items()
        ]
        out += [f"| `{name}` | {default} | {values} | {', '.join(texts)} |"]
    return out


def with_keywords(text: str) -> str:
    """Returns docs/python.md with the current table of keywords."""
    return BLOCK.sub(lambda m: f"{m[1]}{_constructors.table()}\n{m[4]}", text)


def with_baselines(text: str) -> str:
    """Returns a page of scores with the current tables."""
    return BLOCK.sub(lambda m: f"{m[1]}\n{baseline_tables.TABLES[m[3]]()}\n\n{m[4]}", text)


def anchors(text: str) -> set[str]:
    heads = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in heads}


def with_links(page: str, text: str, texts: dict[str, str]) -> str:
    """Adds the page to each link whose heading stands on another page; the module's texts name only headings."""
    home = {anchor: name for name, other in texts.items() for anchor in anchors(other)}
    own = anchors(text)
    return re.sub(
        r"\]\(#([\w-]+)\)", lambda m: m[0] if m[1] in own else f"]({home.get(m[1], '')}#{m[1]})", text
    )


def with_tags(texts: dict[str, str]) -> dict[str, str]:
    """Returns the pages docs/world-*.md with the current tables; together they must have every table."""
    world, classes = _core.world_tags(), _core.class_params()
    shown: set[str] = set()

    def table(match: re.Match[str]) -> str:
        head, kind, name, end = match.groups()
        if kind == "params":
            lines = params(name, classes)
        elif name == "gui":
            lines = checked_only(name, world)
        else:
            lines = tags(name, [row for row in world if row.element == name])
        if len(lines) == (2 if kind == "params" else 0):
            raise SystemExit(f"world-*.md: found {kind}: {name}, which has no rows")
        shown.update([name] if kind == "params" else name.split(", "))
        return head + "\n" + "\n".join(lines) + "\n\n" + end

    out = {name: with_links(name, BLOCK.sub(table, text), texts) for name, text in texts.items()}
    known = {row.element for row in world} | {row.element.partition(" ")[0] for row in classes}
    if missing := known - shown:
        raise SystemExit(f"no page world-*.md has a table of {', '.join(sorted(missing))}")
    return out


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a page is not current")
    check = parser.parse_args().check
    stale = 0
    texts = {page.name: page.read_text() for page in sorted(DOCS.glob("*.md"))}
    pages = with_tags({name: text for name, text in texts.items() if name.startswith("world-")})
    pages["python.md"] = with_keywords(texts["python.md"])
    for name in ("baselines.md", "baselines-teams.md", "leaderboard.md", "learned.md"):
        pages[name] = with_baselines(texts[name])
    for name, current in pages.items():
        if current == texts[name]:
            continue
        if not check:
            (DOCS / name).write_text(current)
        else:
            print(f"{name} is not current: run ./dev docs", file=sys.stderr)
            stale = 1
    return stale


if __name__ == "__main__":
    sys.exit(main())
