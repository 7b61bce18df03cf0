"""Files in which `mvsim-gym collect` keeps complete episodes until it makes the data set.

After a run that is killed, or whose disk is full, the complete episodes remain in a folder beside the data set, and
the same call continues from there. HDF5 crashes its process on a full disk, so a child process makes the data set in
that folder. It is renamed when it is complete.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import pickle
import shutil
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

Track = tuple[dict[str, npt.NDArray[Any]], dict[str, Any]]
"""The arrays of an episode by the names of Minari's fields, and its metadata."""
Written = TypeVar("Written")

_HOME = "MINARI_DATASETS_PATH"  # variable by which Minari finds data sets
_PART = ".part"
_METADATA = "told"  # name of the array of an episode's file that holds its metadata as JSON


class Episodes:
    """The complete episodes of a data set that is being made.

    Args:
        folder: folder of data sets, made if it is missing.
        dataset_id: Minari's id.
        settings: everything on which the episodes depend. A run with other settings has other episodes.

    Raises:
        ValueError: another run, or the child of one that was killed, uses the same episodes.
    """

    def __init__(self, folder: str, dataset_id: str, settings: Mapping[str, Any]) -> None:
        text = json.dumps(settings, sort_keys=True, default=repr)
        mark = hashlib.sha256(text.encode()).hexdigest()[:8]
        self._folder, self._id = os.path.abspath(folder), dataset_id
        self._path = f"{os.path.join(self._folder, dataset_id)}-{mark}{_PART}"
        os.makedirs(self._path, exist_ok=True)
        # held by this process and its child: no other run writes here until both have ended
        self._lock = open(os.path.join(self._path, "lock"), "w")  # noqa: SIM115 (open as long as this object)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._lock.close()
            raise ValueError(
                f"another run collects the same episodes into '{self._path}': wait for its end"
            ) from None
        self._count = 0
        while os.path.exists(self._file(self._count)):
            self._count += 1

    def __enter__(self) -> Episodes:
        return self

    def __exit__(self, *_: object) -> None:
        """Releases the episodes for other runs; removes the folder if it is empty."""
        if not self._lock.closed:
            if self._count == 0:
                shutil.rmtree(self._path, ignore_errors=True)
            self._lock.close()

    def __len__(self) -> int:
        return self._count

    @property
    def path(self) -> str:
        """The folder of the episodes until the data set is complete."""
        return self._path

    @property
    def name(self) -> str:
        return self._id

    @property
    def place(self) -> str:
        """The folder of the data set when it is complete."""
        return os.path.join(self._folder, self._id)

    def add(self, tracks: list[dict[str, npt.NDArray[Any]]], metadata: list[dict[str, Any]]) -> None:
        """Writes an episode: the arrays and the metadata of each agent.

        Raises:
            OSError: the disk is full; the episodes before this one are complete.
        """
        arrays = {f"{row}/{key}": values for row, track in enumerate(tracks) for key, values in track.items()}
        arrays[_METADATA] = np.array(json.dumps(metadata))
        file = self._file(self._count)
        try:
            with open(f"{file}.new", "wb") as out:
                np.savez(out, **arrays)  # type: ignore[arg-type]
            os.replace(f"{file}.new", file)
        except OSError:
            with suppress(OSError):
                os.unlink(f"{file}.new")
            raise
        self._count += 1

    def make_dataset(self, episodes: int, **keywords: Any) -> Any:
        """Makes the data set of the first episodes and removes their files.

        Args:
            keywords: arguments of `minari.create_dataset_from_buffers`; they must be picklable.

        Raises:
            OSError: the disk is full; the episodes are kept.
        """
        import minari

        home = os.path.join(self._path, "datasets")
        shutil.rmtree(home, ignore_errors=True)
        os.makedirs(home, exist_ok=True)
        job = pickle.dumps((self._path, self._id, episodes, keywords))
        code = "from mvsim_gym.tools.collected import work; work()"
        done = subprocess.run(
            [sys.executable, "-c", code],
            input=job,
            capture_output=True,
            check=False,
            env={**os.environ, _HOME: home},
            pass_fds=[self._lock.fileno()],
        )
        if done.returncode != 0:
            shutil.rmtree(home, ignore_errors=True)
            lines = done.stderr.decode(errors="replace").strip().splitlines()
            why = lines[-1] if done.returncode > 0 and lines else f"HDF5 ended by signal {-done.returncode}"
            raise OSError(f"{self.place}: cannot write the data set ({why})")
        self._take_namespaces(home)
        self._finish(os.path.join(home, self._id))
        before = os.environ.get(_HOME)
        os.environ[_HOME] = self._folder
        try:
            return minari.load_dataset(self._id)
        finally:
            if before is None:
                del os.environ[_HOME]
            else:
                os.environ[_HOME] = before

    def make_folder(self, episodes: int, write: Callable[[str, Iterator[Track]], Written]) -> Written:
        """Makes the folder of the first episodes by `write`, which takes its path and the episodes, and removes their
        files.

        Raises:
            OSError: the disk is full; the episodes are kept.
        """
        home = os.path.join(self._path, "folder")
        shutil.rmtree(home, ignore_errors=True)
        try:
            written = write(home, _tracks(self._path, episodes))
        except OSError as error:
            shutil.rmtree(home, ignore_errors=True)
            raise OSError(f"{self.place}: cannot write the data set ({error})") from None
        self._finish(home)
        return written

    def _finish(self, made: str) -> None:
        """Moves the complete data set to its place and removes the episodes."""
        os.makedirs(os.path.dirname(self.place), exist_ok=True)
        os.rename(made, self.place)
        shutil.rmtree(self._path, ignore_errors=True)
        self._lock.close()

    def _take_namespaces(self, home: str) -> None:
        """Copies Minari's metadata of the folders above the data set, unless they have it."""
        for folder, _, files in os.walk(home):
            beside = os.path.relpath(folder, home)
            if beside != "." and not self._id.startswith(f"{beside}/"):
                continue
            for name in files:
                to = os.path.join(self._folder, beside, name)
                if not os.path.exists(to):
                    shutil.copyfile(os.path.join(folder, name), to)

    def _file(self, number: int) -> str:
        return os.path.join(self._path, f"{number:06}.npz")


def work() -> None:
    """Makes the data set in the child process, by the pickled arguments on standard input."""
    import minari

    path, dataset_id, episodes, keywords = pickle.load(sys.stdin.buffer)
    warnings.simplefilter("ignore")
    metadata: list[dict[str, Any]] = []
    try:
        dataset = minari.create_dataset_from_buffers(
            dataset_id,
            _buffers(path, episodes, metadata),
            data_format="hdf5",
            jpeg_encoding=False,
            **keywords,
        )
        dataset.storage.update_episode_metadata(metadata)
    except Exception as error:
        print(f"{type(error).__name__}: {' '.join(str(error).split())}"[:300], file=sys.stderr, flush=True)
        os._exit(1)  # without HDF5's clean-up, which may crash


def _tracks(path: str, episodes: int) -> Iterator[Track]:
    """Yields the arrays and the metadata of each episode, one by one."""
    for number in range(episodes):
        with np.load(os.path.join(path, f"{number:06}.npz")) as arrays:
            for row, each in enumerate(json.loads(str(arrays[_METADATA]))):
                yield (
                    {k.partition("/")[2]: arrays[k] for k in arrays.files if k.startswith(f"{row}/")},
                    each,
                )


def _buffers(path: str, episodes: int, metadata: list[dict[str, Any]]) -> Iterator[Any]:
    """Yields Minari's buffers one by one; appends the metadata of each to `metadata`."""
    from minari.data_collector import EpisodeBuffer

    for of_row, each in _tracks(path, episodes):
        observed = {k.partition("/")[2]: v for k, v in of_row.items() if k.startswith("observations/")}
        buffer = EpisodeBuffer(
            id=len(metadata),
            seed=each.pop("seed", None),
            observations=observed or of_row["observations"],
            actions=of_row["actions"],
            rewards=of_row["rewards"].tolist(),
            terminations=of_row["terminations"].tolist(),
            truncations=of_row["truncations"].tolist(),
        )
        metadata.append(each)
        yield buffer
