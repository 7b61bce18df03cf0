"""Options for the sources of readings of a robot: mount and largest age."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from mvsim_gym._checks import kind_of


class SourceOptions(NamedTuple):
    """Options of one source."""

    mount: tuple[float, float, float] | None = None
    """x, y (m) and yaw (rad) of a real lidar on its vehicle; None: as in the environment"""
    frames: Mapping[str, tuple[float, float, float]] = {}
    """mount by the frame of a reading, for robots with several lidars"""
    max_age: float | None = None
    """largest age, s; None: twice the longer of the control period and the sensor's period"""
    max_uncovered: float = 0.5
    """largest share of beams without readings; more makes the state of the scan "impossible", see `Pipeline.state`"""


def checked_sources(given: Mapping[str, Any] | None, known: Iterable[str]) -> dict[str, SourceOptions]:
    """Returns the options of each source. ValueError or TypeError for an unknown name or an invalid value."""
    known = list(known)
    out = {name: SourceOptions() for name in known}
    for name, options in (given or {}).items():
        if name not in out:
            raise ValueError(f"sensors: found '{name}', expected some of {', '.join(known)}")
        if not isinstance(options, Mapping):
            raise TypeError(f"sensors['{name}']: found {kind_of(options)}, expected a dict")
        unknown = set(options) - set(SourceOptions._fields)
        if unknown:
            raise ValueError(
                f"sensors['{name}']: found '{min(unknown)}', expected some of {', '.join(SourceOptions._fields)}"
            )
        out[name] = _checked(name, SourceOptions(**options))
    return out


def _checked(name: str, options: SourceOptions) -> SourceOptions:
    mount = None if options.mount is None else _mount(f"sensors['{name}']: mount", options.mount)
    frames = {
        frame: _mount(f"sensors['{name}']: frames['{frame}']", pose) for frame, pose in options.frames.items()
    }
    if options.max_age is not None and not options.max_age > 0:
        raise ValueError(f"sensors['{name}']: max_age: found {options.max_age}, expected seconds above 0")
    if not 0 <= options.max_uncovered <= 1:
        raise ValueError(f"sensors['{name}']: max_uncovered: found {options.max_uncovered}, expected 0 to 1")
    return options._replace(mount=mount, frames=frames)


def _mount(what: str, pose: Any) -> tuple[float, float, float]:
    values = tuple(float(value) for value in pose)
    if len(values) != 3 or not all(map(math.isfinite, values)):
        raise ValueError(f"{what}: found {pose!r}, expected x and y (m) and yaw (rad)")
    return values[0], values[1], values[2]
