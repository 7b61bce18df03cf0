"""Names of worlds as pages show them: text, of a length that fits."""

from __future__ import annotations

from collections.abc import Sequence

from mvsim_gym._notices import printable

__all__ = ["label_of", "labelled"]

_MAX_LABEL = 80  # characters


def label_of(name: str) -> str:
    """A name of a world as it may be shown where text is text; long ones are cut."""
    text = printable(name, one_line=True)
    return text if len(text) <= _MAX_LABEL else text[: _MAX_LABEL - 1] + "…"


def labelled(names: Sequence[str]) -> dict[str, str]:
    """Names by their labels, each of which stands for one of them."""
    found: dict[str, str] = {}
    for i, name in enumerate(names):
        label = label_of(name)
        found[label if label not in found else f"{label} ({i})"] = name
    return found
