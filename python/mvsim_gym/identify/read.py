"""Reads a log of any format."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from mvsim_gym.identify.log import Log, LogError
from mvsim_gym.identify.read_bag import is_bag, read_bag
from mvsim_gym.identify.read_csv import read_csv


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
