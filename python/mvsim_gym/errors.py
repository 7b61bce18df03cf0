"""The exceptions of mvsim_gym. A wrong argument is Python's own ValueError or TypeError."""

from __future__ import annotations

from mvsim_gym._notices import printable

__all__ = [
    "ForkedProcessError",
    "MissingFileError",
    "RenderMemoryError",
    "RendererLost",
    "TermError",
    "WorldFileError",
]


class WorldFileError(ValueError):
    """A mistake in a world or environment file, or in a keyword that replaces a field of one.

    The message is `path:line:column: what was found, what was expected`.
    """

    def __init__(self, message: str, path: str = "", line: int = 0, column: int = 0) -> None:
        super().__init__(printable(message))  # it quotes the file, and ends in a terminal
        self.path = path
        """The file; for a keyword `keyword NAME`."""
        self.line = line
        """Counts from 1; 0 where no line is known."""
        self.column = column
        """Counts from 1; 0 where no column is known."""


class MissingFileError(WorldFileError, FileNotFoundError):
    """There is no environment file of that name."""


class ForkedProcessError(RuntimeError):
    """An environment was used in a process forked after it was made: make it in the child, or use spawn."""


class TermError(RuntimeError):
    """A term that is a Python function failed, or returned what is no value of such a term: the message names it. The
    step was made; the environment can be used on."""


class RenderMemoryError(RuntimeError):
    """The driver has no memory for a picture of the size asked."""


class RendererLost(RuntimeError):  # noqa: N818 (a loss, not a mistake)
    """The driver lost the context or does not answer; the next picture comes from a new one."""
