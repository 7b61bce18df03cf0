"""Converts a race track, a map of map_server with the middle line beside it, to files for the keyword `tracks` of
`mvsim/Race-v0`."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mvsim_gym.robots.elements import Fate, ImportRobotError, read_limited
from mvsim_gym.robots.importer import Row
from mvsim_gym.robots.plan import ImportedPlan, MapOptions, map_files, read_png
from mvsim_gym.robots.sources import parse_yaml

ENDING = ".track.xml"
_MAX_BYTES = 64 << 20
_KEYS = ("image", "resolution", "origin", "occupied_thresh", "free_thresh", "negate", "mode")


@dataclass
class ImportedTrack(ImportedPlan):
    points: int = field(default=0, kw_only=True)
    """lines of the file of the middle line"""


def is_track(path: str | Path) -> bool:
    """Returns whether a file is the map of a track by its name."""
    return Path(path).suffix.lower() in (".yaml", ".yml")


def import_track(path: str | Path, centreline: str | Path, *, name: str) -> ImportedTrack:
    """Reads a map of map_server and a middle line, and makes the files of a track: NAME.track.xml, NAME.csv (the
    line as it is), and NAME.map.yaml and NAME.map.png. `tracks` of `mvsim/Race-v0` is their folder, and `track` NAME.

    Args:
        path: the yaml file of map_server, whose picture is a PNG file in the same folder.
        centreline: a file of points as `centreline` of an environment reads it.
        name: stem of the files.

    Raises:
        ImportRobotError: a file is damaged, or exceeds a limit; the message has file, line and reason.
        ValueError: a name that is not fit for a file.
        OSError: a file cannot be read.
    """
    if not re.fullmatch(r"[A-Za-z0-9_-]+", name):
        raise ValueError(f"--output: found the name '{name}', expected letters, digits, '_' and '-' only")
    file = Path(path)
    values = parse_yaml(read_limited(file, _MAX_BYTES), file.name)
    if not isinstance(values, dict):
        raise ImportRobotError(f"{file.name}: found no keys, expected image, resolution and origin")
    options, origin, image = _map_of(values, file.name)
    picture = file.parent / image
    data, line = read_limited(picture, _MAX_BYTES), read_limited(Path(centreline), _MAX_BYTES)
    width, height, rows = read_png(data, picture.name)
    rows += [_row(file.name, str(key), str(key) in _KEYS) for key in values]
    files = {**map_files(name, data, options, origin), f"{name}.csv": line}
    xml = f'<element class="occupancy_grid"><file>{name}.map.yaml</file></element>\n'
    size = (width * options.resolution, height * options.resolution)
    return ImportedTrack(xml, 0, size, origin[:2], files, rows, points=len(line.splitlines()))


def _row(shown: str, key: str, used: bool) -> Row:
    return (Fate.USED, shown, key, "") if used else (Fate.IGNORED, shown, key, "it is no key of map_server")


def _map_of(values: dict[Any, Any], shown: str) -> tuple[MapOptions, tuple[float, float, float], str]:
    image, origin = values.get("image"), values.get("origin")
    if not isinstance(image, str) or Path(image).name != image or not image.lower().endswith(".png"):
        raise ImportRobotError(f"{shown}: image: found {image!r}, expected a PNG file beside it")
    if not isinstance(origin, list) or len(origin) != 3 or not all(map(_is_number, origin)):
        raise ImportRobotError(f"{shown}: origin: found {origin!r}, expected three numbers")
    known = {key: values[key] for key in ("resolution", "occupied_thresh", "free_thresh") if key in values}
    for key, value in known.items():
        if not _is_number(value):
            raise ImportRobotError(f"{shown}: {key}: found {value!r}, expected a number")
    options = MapOptions(
        **{key: float(value) for key, value in known.items()},
        negate=values.get("negate", 0) in (1, True),
        mode=str(values.get("mode", "trinary")),
    )
    options.check()
    return options, (float(origin[0]), float(origin[1]), float(origin[2])), image


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
