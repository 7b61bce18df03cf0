"""Optional packages: imported when what needs them runs, with the remedy where they are missing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["extra"]


@contextmanager
def extra(who: str, name: str) -> Iterator[None]:
    """Stands around the imports that `who` needs and the extra `name` of this package installs.

    Raises:
        ImportError: one is missing; the message says what to install.
    """
    try:
        yield
    except ImportError as error:
        missing = error.name or str(error)
        raise ImportError(f"{who} needs {missing}: pip install 'mvsim_gym[{name}]'") from error
