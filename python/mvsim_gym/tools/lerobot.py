"""Data sets in the format of LeRobot, version 3.0: parquet files with a row for each step, and metadata.

The format is the one that LeRobot 0.4 writes (https://huggingface.co/docs/lerobot/lerobot-dataset-v3). Pictures are PNG
files inside of the parquet files, so no value is lost.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from mvsim_gym._notices import extra
from mvsim_gym._picture import png_of
from mvsim_gym.tools.datasets import Statistics, statistics_of

with extra("a data set of LeRobot", "lerobot"):
    import pyarrow as pa
    import pyarrow.parquet as pq

Array = npt.NDArray[Any]

_VERSION = "v3.0"
_FILE = "chunk-{chunk_index:03d}/file-{file_index:03d}.parquet"
_CHUNK = 1000  # files in a folder
_FILE_MB = 100  # size of a file, unpacked, after which the next one begins
_ROWS = 512  # steps that are packed at once
_EPISODES = 500  # episodes whose metadata are packed at once
_STATE = "observation.state"
_PICTURE = "image"


class Form(NamedTuple):
    observations: spaces.Dict
    actions: Sequence[str]
    """names of the action's values"""
    rate: float
    """steps per second"""
    env_id: str
    about: Mapping[str, Any]
    """facts for meta/mvsim_gym.json"""


class LeRobotFolder(NamedTuple):
    path: str
    name: str
    """LeRobot's `repo_id`"""
    total_episodes: int
    total_steps: int


class _Feature(NamedTuple):
    dtype: str
    shape: tuple[int, ...]
    names: list[str] | None = None

    @property
    def told(self) -> dict[str, Any]:
        return {"dtype": self.dtype, "shape": list(self.shape), "names": self.names}

    @property
    def of_datasets(self) -> dict[str, Any]:
        """Returns its entry in the metadata from which the library `datasets` recovers types."""
        if self.dtype == _PICTURE:
            return {"_type": "Image"}
        value = {"dtype": self.dtype, "_type": "Value"}
        if self.shape == (1,):
            return value
        if len(self.shape) == 1:
            return {"feature": value, "length": self.shape[0], "_type": "Sequence"}
        return {"shape": list(self.shape), "dtype": self.dtype, "_type": f"Array{len(self.shape)}D"}

    def column(self, values: Array) -> pa.Array:
        """Returns values (n, *shape) as a column."""
        if self.dtype == _PICTURE:
            files = [png_of(picture) for picture in values]
            return pa.array([{"bytes": file, "path": None} for file in files], _IMAGE)
        column = pa.array(np.ascontiguousarray(values).ravel())
        if self.shape == (1,):
            return column
        if len(self.shape) == 1:
            return pa.FixedSizeListArray.from_arrays(column, self.shape[0])
        for size in reversed(self.shape):
            bounds = np.arange(0, len(column) + 1, size, dtype=np.int32)
            column = pa.ListArray.from_arrays(pa.array(bounds), column)
        return column


_IMAGE = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
_OF_STEPS = {
    "next.reward": _Feature("float32", (1,)),
    "next.done": _Feature("bool", (1,)),
    "next.truncated": _Feature("bool", (1,)),
    "next.success": _Feature("bool", (1,)),
    "timestamp": _Feature("float32", (1,)),
    "frame_index": _Feature("int64", (1,)),
    "episode_index": _Feature("int64", (1,)),
    "index": _Feature("int64", (1,)),
    "task_index": _Feature("int64", (1,)),
}


def check_name(name: str) -> None:
    """ValueError if a data set cannot have this name."""
    if not re.fullmatch(r"(\w[\w.-]*/)?\w[\w.-]*", name, re.ASCII):
        raise ValueError(
            f"--name: found '{name}', expected OWNER/NAME of letters, digits, '-', '_' and '.', as LeRobot takes it"
        )


def write_lerobot(
    folder: str, tracks: Iterator[tuple[dict[str, Array], dict[str, Any]]], form: Form
) -> tuple[int, int]:
    """Writes a data set into a new folder. Returns the numbers of its episodes and steps.

    Args:
        tracks: of each episode: arrays by Minari's names (observations/KEY, actions, ...) and its metadata.

    Raises:
        OSError: the disk is full.
    """
    with _Data(folder, form) as data, _Table(os.path.join(folder, "meta", "episodes"), _EPISODES) as episodes:
        every = Statistics()
        for arrays, metadata in tracks:
            row, found = data.add(arrays, metadata)
            every.add(found)
            of_stats = {f"stats/{key}/{name}": v for key, each in found.items() for name, v in each.items()}
            episodes.add({**row, **of_stats, **metadata})
    meta = os.path.join(folder, "meta")
    _write_tasks(os.path.join(meta, "tasks.parquet"), form.env_id)
    _write_json(os.path.join(meta, "stats.json"), every.result())
    _write_json(os.path.join(meta, "mvsim_gym.json"), form.about)
    _write_json(os.path.join(meta, "info.json"), _info(form, data))
    return data.episodes, data.steps


def _features(form: Form) -> dict[str, _Feature]:
    boxes: dict[str, Any] = dict(form.observations.spaces)
    out: dict[str, _Feature] = {}
    names = [
        key if box.shape == (1,) else f"{key}.{k}"
        for key, box in boxes.items()
        if len(box.shape) == 1
        for k in range(box.shape[0])
    ]
    if names:
        out[_STATE] = _Feature("float32", (len(names),), names)
    for key, box in boxes.items():
        if len(box.shape) == 3 and box.shape[2] == 3 and box.dtype == np.uint8:
            out[f"observation.images.{key}"] = _Feature(_PICTURE, box.shape, ["height", "width", "channels"])
        elif len(box.shape) > 1:
            out[f"observation.{key}"] = _Feature(box.dtype.name, box.shape)
    out["action"] = _Feature("float32", (len(form.actions),), list(form.actions))
    return {**out, **_OF_STEPS}


class _Data:
    """The files with a row for each step. An episode lies within one file."""

    def __init__(self, folder: str, form: Form) -> None:
        self._folder, self._form = os.path.join(folder, "data"), form
        self.features = _features(form)
        told = {"info": {"features": {key: f.of_datasets for key, f in self.features.items()}}}
        self._metadata = {b"huggingface": json.dumps(told).encode()}
        self._writer: pq.ParquetWriter | None = None
        self._number, self._bytes = -1, 0
        self.episodes = self.steps = 0

    def __enter__(self) -> _Data:
        return self

    def __exit__(self, *_: object) -> None:
        if self._writer is not None:
            self._writer.close()

    def add(
        self, arrays: Mapping[str, Array], metadata: Mapping[str, Any]
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Appends an episode. Returns its row of metadata and its statistics."""
        columns = self._columns(arrays, bool(metadata["success"]))
        count = len(arrays["actions"])
        if self._writer is None or self._bytes >= _FILE_MB << 20:
            if self._writer is not None:
                self._writer.close()
            self._writer, self._bytes, self._number = None, 0, self._number + 1
        for first in range(0, count, _ROWS):
            cut = slice(first, first + _ROWS)
            made = {key: self.features[key].column(values[cut]) for key, values in columns.items()}
            table = pa.table(made).replace_schema_metadata(self._metadata)
            if self._writer is None:
                path = os.path.join(self._folder, _place(self._number))
                os.makedirs(os.path.dirname(path), exist_ok=True)
                self._writer = pq.ParquetWriter(path, table.schema, compression="snappy")
            self._writer.write_table(table)
            self._bytes += table.nbytes
        row = {
            "episode_index": self.episodes,
            "tasks": [self._form.env_id],
            "length": count,
            "data/chunk_index": self._number // _CHUNK,
            "data/file_index": self._number % _CHUNK,
            "dataset_from_index": self.steps,
            "dataset_to_index": self.steps + count,
        }
        found = {key: statistics_of(columns[key], f.dtype == _PICTURE) for key, f in self.features.items()}
        self.episodes, self.steps = self.episodes + 1, self.steps + count
        return row, found

    def _columns(self, arrays: Mapping[str, Array], success: bool) -> dict[str, Array]:
        """Returns the columns of an episode. The observation after the last step has no row, as in all data of
        LeRobot."""
        count = len(arrays["actions"])
        seen = {key: arrays[f"observations/{key}"][:-1] for key in self._form.observations.spaces}
        flat = [values for values in seen.values() if values.ndim == 2]
        ends = arrays["terminations"] | arrays["truncations"]
        steps = np.arange(count, dtype=np.int64)
        out: dict[str, Array] = {
            "action": arrays["actions"].astype(np.float32),
            "next.reward": arrays["rewards"].astype(np.float32),
            "next.done": ends,
            "next.truncated": arrays["truncations"],
            "next.success": ends & success,
            "timestamp": (steps / self._form.rate).astype(np.float32),
            "frame_index": steps,
            "episode_index": np.full(count, self.episodes, np.int64),
            "index": steps + self.steps,
            "task_index": np.zeros(count, np.int64),
        }
        if flat:
            out[_STATE] = np.concatenate(flat, axis=1, dtype=np.float32, casting="same_kind")
        for key, values in seen.items():
            if values.ndim > 2:
                named = f"observation.images.{key}"
                out[named if named in self.features else f"observation.{key}"] = values
        return {key: out[key] for key in self.features}


class _Table:
    """A file of rows, which are given one by one."""

    def __init__(self, folder: str, rows: int) -> None:
        self._path, self._most = os.path.join(folder, _place(0)), rows
        self._rows: list[dict[str, Any]] = []
        self._writer: pq.ParquetWriter | None = None

    def __enter__(self) -> _Table:
        return self

    def add(self, row: dict[str, Any]) -> None:
        """Appends a row. All rows have the same keys."""
        self._rows.append({**row, "meta/episodes/chunk_index": 0, "meta/episodes/file_index": 0})
        if len(self._rows) >= self._most:
            self._flush()

    def _flush(self) -> None:
        schema = None if self._writer is None else self._writer.schema
        table = pa.Table.from_pylist(self._rows, schema)
        if self._writer is None:
            os.makedirs(os.path.dirname(self._path), exist_ok=True)
            self._writer = pq.ParquetWriter(self._path, table.schema, compression="snappy")
        self._writer.write_table(table)
        self._rows.clear()

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None and self._rows:
            self._flush()
        if self._writer is not None:
            self._writer.close()


def _place(number: int) -> str:
    return _FILE.format(chunk_index=number // _CHUNK, file_index=number % _CHUNK)


def _info(form: Form, data: _Data) -> dict[str, Any]:
    rate = round(form.rate) if abs(form.rate - round(form.rate)) < 1e-6 else form.rate
    return {
        "codebase_version": _VERSION,
        "robot_type": form.env_id,
        "total_episodes": data.episodes,
        "total_frames": data.steps,
        "total_tasks": 1,
        "chunks_size": _CHUNK,
        "data_files_size_in_mb": _FILE_MB,
        "video_files_size_in_mb": _FILE_MB,
        "fps": rate,
        "splits": {"train": f"0:{data.episodes}"},
        "data_path": f"data/{_FILE}",
        "video_path": None,
        "features": {key: feature.told for key, feature in data.features.items()},
    }


def _write_tasks(path: str, task: str) -> None:
    """Writes the table of tasks. LeRobot reads it by pandas, with the text of a task as index."""
    columns = [
        {"name": "task_index", "field_name": "task_index", "pandas_type": "int64", "numpy_type": "int64"},
        {"name": "task", "field_name": "task", "pandas_type": "unicode", "numpy_type": "object"},
    ]
    told = {
        "index_columns": ["task"],
        "column_indexes": [],
        "columns": [{**column, "metadata": None} for column in columns],
        "creator": {"library": "pyarrow", "version": pa.__version__},
        "pandas_version": "2.0.0",
    }
    table = pa.table({"task_index": pa.array([0], pa.int64()), "task": pa.array([task])})
    pq.write_table(table.replace_schema_metadata({b"pandas": json.dumps(told).encode()}), path)


def _write_json(path: str, content: Mapping[str, Any]) -> None:
    with open(path, "w", encoding="utf-8") as file:
        json.dump(content, file, indent=4)
        file.write("\n")
