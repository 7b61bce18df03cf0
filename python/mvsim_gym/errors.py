"""The exceptions of mvsim_gym. A wrong argument raises Python's ValueError or TypeError."""

from __future__ import annotations

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
        from mvsim_gym._notices import printable  # here, so that `import mvsim_gym` is fast

        super().__init__(printable(message))  # The message quotes the file, and may be shown in a terminal.
        self.path = path
        """The file; `keyword NAME` for a keyword."""
        self.line = line
        """Counts from 1; 0 if no line is known."""
        self.column = column
        """Counts from 1; 0 if no column is known."""


class MissingFileError(WorldFileError, FileNotFoundError):
    """The environment file does not exist."""


class ForkedProcessError(RuntimeError):
    """An environment was used in a process forked after it was made. Make it in the child, or use spawn."""


class TermError(RuntimeError):
    """A term that is a Python function failed or returned an invalid value. The message names the term. The step was
    made, and the environment can still be used."""


class RenderMemoryError(RuntimeError):
    """The driver has no memory for a picture of the requested size."""


class RendererLost(RuntimeError):  # noqa: N818 (a loss, not a mistake)
    """The driver lost the context or does not answer. The next picture uses a new context."""
