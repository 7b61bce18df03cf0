"""Numbers of a caller."""

from __future__ import annotations


def number(name: str, value: float) -> float:
    """What a user gave for `name` as a float; TypeError for what is no number."""
    # a text is no number, though float() would read it
    if isinstance(value, str | bytes | complex) or (
        not hasattr(value, "__float__") and not hasattr(value, "__index__")
    ):
        raise TypeError(f"{name}: found {value!r}, expected a number")
    return float(value)
