"""Errors of nodes, hubs and services."""

from __future__ import annotations


class CommsError(OSError):
    """A hub, a node or a service failed or refused; the text says which, and why."""


class FrameError(CommsError):
    """Bytes that are no message, or a message of an unexpected type."""


class NoAnswer(CommsError):  # noqa: N818
    """No answer came in time."""
