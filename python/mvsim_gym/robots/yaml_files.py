"""Reads YAML of controllers and properties with PyYAML's safe loader, within bounds."""

from __future__ import annotations

from typing import Any

from mvsim_gym._notices import extra
from mvsim_gym.robots.elements import ImportRobotError

_MAX_BYTES = 1 << 20
_MAX_DEPTH = 40


def parse_yaml(data: bytes, shown: str) -> Any:
    """Returns the value of a document.

    Raises:
        ImportRobotError: the text is no YAML, has aliases or other tags, or exceeds a limit.
    """
    with extra("reading YAML", "robots"):
        import yaml

    if len(data) > _MAX_BYTES:
        raise ImportRobotError(f"{shown}: larger than {_MAX_BYTES >> 20} MiB")
    try:
        depth = 0
        for event in yaml.parse(data, Loader=yaml.SafeLoader):
            if isinstance(event, yaml.AliasEvent):  # nested aliases can grow without bound
                raise ImportRobotError(f"{shown}: found an alias '*', expected none")
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > _MAX_DEPTH:
                raise ImportRobotError(f"{shown}: nested deeper than {_MAX_DEPTH}")
        return yaml.load(data, Loader=yaml.SafeLoader)
    except ImportRobotError:
        raise
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f"{shown}:{mark.line + 1}:{mark.column + 1}" if mark else shown
        raise ImportRobotError(f"{place}: {getattr(error, 'problem', None) or 'no YAML'}") from None
    except (ValueError, RecursionError, UnicodeError) as error:
        raise ImportRobotError(f"{shown}: {type(error).__name__} in a value") from None
