"""What a load may take of the machine."""

from __future__ import annotations

import operator
from typing import Any

DEFAULT_MEMORY_LIMIT = 2_000_000_000
"""Bytes."""


def checked_memory_limit(value: Any) -> int:
    """The limit as an int. ValueError for anything but an integer of at least 1: no value means no limit."""
    try:
        limit = -1 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        limit = -1
    if not 1 <= limit < 2**63:
        raise ValueError(f"memory_limit: found {value!r}, expected a number of bytes from 1 to 2**63 - 1")
    return limit
