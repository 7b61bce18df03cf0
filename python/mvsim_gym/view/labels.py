"""Names of worlds as labels in pages: printable text of limited length."""

from __future__ import annotations

from collections.abc import Sequence

from mvsim_gym._notices import printable

_MAX_LABEL = 80  # characters


def label_of(name: str) -> str:
    """Returns a name as a label; long names are cut."""
    text = printable(name, one_line=True)
    return text if len(text) <= _MAX_LABEL else text[: _MAX_LABEL - 1] + "…"


def labelled(names: Sequence[str]) -> dict[str, str]:
    """Returns names by their labels, which are unique."""
    found: dict[str, str] = {}
    for i, name in enumerate(names):
        label = label_of(name)
        found[label if label not in found else f"{label} ({i})"] = name
    return found
