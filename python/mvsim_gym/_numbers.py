"""Numbers of a caller."""

from __future__ import annotations


def number(name: str, value: float) -> float:
    """What a user gave for `name` as a float; TypeError for what is no number, ValueError for what no float holds."""
    # a text is no number, though float() would read it
    if isinstance(value, str | bytes | complex) or (
        not hasattr(value, "__float__") and not hasattr(value, "__index__")
    ):
        raise TypeError(f"{name}: found {value!r}, expected a number")
    try:
        return float(value)
    except OverflowError:  # an integer or a fraction beyond 1e308
        raise ValueError(f"{name}: found a number beyond 1e308, expected a finite one") from None
