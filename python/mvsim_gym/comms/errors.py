"""What goes wrong between nodes."""

from __future__ import annotations

__all__ = ["CommsError", "FrameError", "NoAnswer"]


class CommsError(OSError):
    """A hub, a node or a service did not do what it was asked for; the text says which and why."""


class FrameError(CommsError):
    """Bytes that are no message, or another one than was expected."""


class NoAnswer(CommsError):  # noqa: N818
    """Nobody answered in time."""
