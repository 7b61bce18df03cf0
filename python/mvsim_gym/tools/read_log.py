"""Logs as arrays: CSV files of a World and of `mvsim-gym replay`, and MCAP recordings."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TextIO

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

_MOST_BYTES = 2**28  # largest size of a CSV file
_LONGEST_LINE = 2**16  # characters
_FAR = 1e15  # no value of a log is larger


@dataclass
class Track:
    name: str
    time: Array
    """s"""
    pose: Array
    """(n, 3) true x, y, yaw: m, m, rad"""
    twist: Array | None = None
    """(n, 3) true speeds in the body frame: m/s, m/s, rad/s"""
    odometry: Array | None = None
    """(n, 2) x, y by the wheels"""
    scans: dict[str, Scans] = field(default_factory=dict)


@dataclass
class Scans:
    time: Array
    angles: Array
    ranges: Array
    """(scans, rays) m, NaN for rays without a hit"""
    mount: Array
    """x, y, yaw of the lidar on the vehicle"""


@dataclass
class Wheels:
    """One wheel over time: columns of its CSV file."""

    name: str
    columns: dict[str, Array]


def read_log(path: str) -> list[Track] | list[Wheels]:
    """Returns the vehicles or the wheels of a log.

    Raises:
        ValueError: the file is no log, or has no row.
        OSError, ImportError: the file cannot be read.
    """
    if path.endswith(".mcap"):
        from mvsim_gym.tools.read_recording import tracks_of

        return tracks_of(path)
    columns = _columns(path)
    name = os.path.basename(path).removesuffix(".csv")
    try:
        if "q0x" in columns:
            return [_pose_log(name, columns)]
        if "wheel_pos_x" in columns:
            _column(columns, "Timestamp")
            return [Wheels(name, columns)]
        if "t" in columns and (found := _replayed(columns)):
            return found
    except ValueError as error:
        raise ValueError(f"'{path}': {error}") from None
    raise ValueError(f"'{path}' is no log: found the columns {', '.join(list(columns)[:5])[:200]}...")


def _columns(path: str) -> dict[str, Array]:
    size = os.path.getsize(path)
    if size > _MOST_BYTES:
        raise ValueError(f"'{path}' has {size} bytes, expected at most {_MOST_BYTES}")
    with open(path, encoding="utf-8") as file:
        lines = _Lines(file)
        try:
            names = [name.strip().strip('"') for name in next(lines, "").split(",")]
            rows = list(_rows(lines, len(names)))
        except UnicodeDecodeError:
            raise ValueError(f"'{path}' is no log: it is no text in UTF-8") from None
        except ValueError as error:
            raise ValueError(f"{path}:{lines.count}: {error}") from None
    if not rows:
        raise ValueError(f"'{path}' is no log of numbers: no row is in it")
    return dict(zip(names, np.stack(rows).T, strict=True))


class _Lines(Iterator[str]):
    """The lines of a file that are not empty; refuses a line that is too long."""

    def __init__(self, file: TextIO) -> None:
        self._file, self.count = file, 0

    def __next__(self) -> str:
        while line := self._file.readline(_LONGEST_LINE):
            self.count += 1
            if len(line) == _LONGEST_LINE:
                raise ValueError(
                    f"found a line of more than {len(line)} characters, expected a log of numbers"
                )
            if line.strip():
                return line
        raise StopIteration


def _rows(lines: Iterator[str], size: int) -> Iterator[Array]:
    for line in lines:
        cells = line.split(",")
        if len(cells) != size:
            raise ValueError(f"found {len(cells)} cells, expected a log with the {size} of the first line")
        try:
            row = np.array(cells, float)
        except ValueError as error:
            raise ValueError(f"{' '.join(str(error).split())[:100]}, expected a log of numbers") from None
        if (np.abs(row) > _FAR).any():
            raise ValueError(f"found {row[np.nanargmax(np.abs(row))]:g}, expected the numbers of a world")
        yield row


def _stack(columns: dict[str, Array], *names: str) -> Array:
    return np.stack([_column(columns, name) for name in names], axis=1)


def _column(columns: dict[str, Array], name: str) -> Array:
    if name not in columns:
        raise ValueError(f"this log has no column '{name}'")
    return columns[name]


def _pose_log(name: str, columns: dict[str, Array]) -> Track:
    return Track(
        name.removeprefix("mvsim_").removesuffix("_pose"),
        _column(columns, "Timestamp"),
        _stack(columns, "q0x", "q1y", "q3yaw"),
        _stack(columns, "dqx", "dqy", "dqw"),
        _stack(columns, "odo_x", "odo_y"),
    )


def _replayed(columns: dict[str, Array]) -> list[Track]:
    names = [column.removesuffix(".odo_yaw") for column in columns if column.endswith(".odo_yaw")]
    return [
        Track(
            name,
            columns["t"],
            _stack(columns, *(f"{name}.{part}" for part in ("x", "y", "yaw"))),
            _stack(columns, *(f"{name}.{part}" for part in ("vx_local", "vy_local", "w"))),
            _stack(columns, *(f"{name}.{part}" for part in ("odo_x", "odo_y"))),
        )
        for name in names
    ]
