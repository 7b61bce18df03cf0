"""Reads a log of any format; CSV files (plain or .gz) by a map of columns."""

from __future__ import annotations

import csv
import gzip
import os
from collections.abc import Mapping, Sequence

import numpy as np

from mvsim_gym.identify.log import COLUMNS, Array, Log, LogError, Stream
from mvsim_gym.identify.read_bag import is_bag, read_bag

_MOST_BYTES = 2**29  # largest file, unpacked
_MOST_ROWS = 5_000_000

DEFAULT_MAP: dict[str, Sequence[str]] = {
    "command.vx": ("cmd_vx", "cmd_v", "command_vx"),
    "command.omega": ("cmd_omega", "cmd_w", "cmd_wz", "command_omega"),
    "wheel_speed.left": ("velL", "vel_left", "wheel_left", "left_wheel_speed"),
    "wheel_speed.right": ("velR", "vel_right", "wheel_right", "right_wheel_speed"),
    "odometry.vx": ("odom_vx",),
    "odometry.omega": ("odom_omega", "odom_wz"),
    "gyro.omega": ("wz", "gyro_z", "imu_wz"),
    "acceleration.ax": ("ax", "imu_ax"),
    "acceleration.ay": ("ay", "imu_ay"),
    "pose.x": ("x", "pose_x", "q0x"),
    "pose.y": ("y", "pose_y", "q0y"),
    "pose.yaw": ("yaw", "theta", "pose_yaw", "q0yaw"),
    "velocity.vx": ("vx",),
    "velocity.vy": ("vy",),
    "effort.left": ("curL", "effort_left", "torque_left"),
    "effort.right": ("curR", "effort_right", "torque_right"),
}
"""Column names that are known without a map."""
_TIMES = ("time", "t", "stamp", "Timestamp", "timestamp")


def read_csv(paths: Sequence[str], columns: Mapping[str, str] | None = None, name: str | None = None) -> Log:
    """Reads one log from files of one run, e.g. an IMU and an odometry file.

    Args:
        columns: column of each quantity (`gyro.omega`, `command.vx`..., `time`), with an optional factor:
            `{"gyro.omega": "yaw_rate_deg*0.0174533"}`. Other quantities are found by their usual names.

    Raises:
        LogError: a file lacks a time or a known column, or a cell is no number (path:line: text).
        OSError: a file cannot be read.
    """
    wanted = dict(columns or {})
    for key in wanted:
        stream = key.partition(".")[0]
        if key != "time" and (stream not in COLUMNS or "." not in key):
            near = ", ".join([*DEFAULT_MAP, "time"])
            raise LogError(f"column map: found '{key}', expected STREAM.COLUMN such as {near}")
    found: dict[str, Stream] = {}
    taken: set[str] = set()
    for path in paths:
        table = _table(path)
        time = _time(path, table, wanted.get("time"))
        order = np.argsort(time, kind="stable")
        parts: dict[str, dict[str, Array]] = {}
        for key in dict.fromkeys([*DEFAULT_MAP, *wanted]):
            if key == "time":
                continue
            values = _values(path, table, key, wanted)
            if values is not None:
                taken.add(key)
                stream, _, column = key.partition(".")
                parts.setdefault(stream, {})[column] = values[order]
        for stream, held in parts.items():
            if stream in found:
                continue
            order_of = COLUMNS[stream] or tuple(held)
            if any(column not in held for column in order_of):
                if stream not in {key.partition(".")[0] for key in wanted}:
                    continue
                missing = [c for c in order_of if c not in held]
                raise LogError(f"{path}: {stream} lacks {', '.join(missing)}, expected a column for each")
            good = np.all([np.isfinite(held[c]) for c in order_of], axis=0)
            stacked = np.column_stack([held[c] for c in order_of])
            found[stream] = Stream(time[order][good], stacked[good], tuple(order_of))
    for key, column in wanted.items():
        if key != "time" and key not in taken:
            raise LogError(f"{', '.join(paths)}: found no column '{column}' for {key}")
    if not found:
        raise LogError(f"{', '.join(paths)}: found no known column, expected a map such as gyro.omega=COLUMN")
    return Log(name or os.path.basename(paths[0]), found)


def _table(path: str) -> tuple[list[str], dict[str, Array]]:
    size = 0
    rows: list[list[str]] = []
    opened = gzip.open if path.endswith(".gz") else open
    with opened(path, "rt", encoding="utf-8", newline="") as stream:
        try:
            reader = csv.reader(stream)
            header = next(reader, None)
            if header is None:
                raise LogError(f"{path}: found an empty file, expected a row of names")
            names = [cell.strip().lstrip("#").strip() for cell in header]
            for line, row in enumerate(reader, 2):
                size += sum(map(len, row)) + len(row)
                if len(rows) >= _MOST_ROWS or size > _MOST_BYTES:
                    raise LogError(f"{path}:{line}: found more than {_MOST_ROWS} rows or {_MOST_BYTES} bytes")
                if not row:
                    continue
                if len(row) != len(names):
                    raise LogError(f"{path}:{line}: found {len(row)} cells, expected {len(names)}")
                rows.append(row)
        except (UnicodeDecodeError, EOFError, csv.Error, gzip.BadGzipFile) as error:
            raise LogError(f"{path}: {error}, expected text in UTF-8 with commas") from None
    if len(rows) < 2:
        raise LogError(f"{path}: found {len(rows)} rows of numbers, expected 2 at least")
    cells = np.array(rows, dtype=object)
    return names, {n: cells[:, i] for i, n in enumerate(names)}


def _numbers(path: str, name: str, cells: Array) -> Array:
    try:
        return np.array([float(c) if c else np.nan for c in cells])
    except ValueError:
        for line, cell in enumerate(cells, 2):
            try:
                float(cell or "nan")
            except ValueError:
                raise LogError(
                    f"{path}:{line}: found '{str(cell)[:40]}' in column '{name}', expected a number"
                ) from None
        raise


def _time(path: str, table: tuple[list[str], dict[str, Array]], wanted: str | None) -> Array:
    names, cells = table
    for name in [wanted] if wanted else _TIMES:
        column, factor = _factored(name)
        if column in names:
            time = _numbers(path, column, cells[column]) * factor
            if not np.isfinite(time).all():
                raise LogError(f"{path}: found an empty cell in the column '{column}' of times")
            return time
    expected = wanted or " or ".join(_TIMES)
    raise LogError(f"{path}: found the columns {', '.join(names[:20])}, expected one of times: {expected}")


def _values(
    path: str, table: tuple[list[str], dict[str, Array]], key: str, wanted: Mapping[str, str]
) -> Array | None:
    names, cells = table
    for name in [wanted[key]] if key in wanted else DEFAULT_MAP.get(key, ()):
        column, factor = _factored(name)
        if column in names:
            return _numbers(path, column, cells[column]) * factor
    return None


def _factored(text: str) -> tuple[str, float]:
    column, star, factor = text.rpartition("*")
    if not star:
        return text, 1.0
    try:
        return column, float(factor)
    except ValueError:
        raise LogError(f"column map: found '{text}', expected COLUMN or COLUMN*FACTOR") from None


def read_log(
    path: str | Sequence[str],
    columns: Mapping[str, str] | None = None,
    topics: Mapping[str, str] | None = None,
) -> Log:
    """Reads a log from a CSV file (or several files of one run, also as `a.csv+b.csv`), a bag, or a recording.

    Args:
        columns: columns of a CSV file, see `read_csv`.
        topics: topics of a bag or recording, see `read_bag`.

    Raises:
        LogError: the contents cannot be used.
        OSError, ImportError: the file cannot be read.
    """
    paths = path.split("+") if isinstance(path, str) and not os.path.exists(path) else path
    paths = [paths] if isinstance(paths, str) else list(paths)
    if len(paths) == 1 and is_bag(paths[0]):
        _require(paths[0])
        if columns:
            raise LogError(f"{paths[0]}: found a map of columns, expected one of topics for a bag")
        return read_bag(paths[0], topics)
    for one in paths:
        if not one.endswith((".csv", ".csv.gz")):
            raise LogError(f"'{one}': expected *.csv, *.csv.gz, *.bag, *.mcap or the folder of a rosbag2")
        _require(one)
    if topics:
        raise LogError(f"{paths[0]}: found a map of topics, expected one of columns for CSV")
    return read_csv(paths, columns)


def _require(path: str) -> None:
    if not os.path.exists(path):
        raise FileNotFoundError(f"log: there is no file '{path}'")
