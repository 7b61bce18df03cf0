"""Episodes of `mvsim-gym collect` on their way to a data set: each is a file of its own as soon as it is complete.

A run that is killed, or whose disk is full, leaves the episodes that it had in a folder beside the data set, and the
same call goes on from there. HDF5 crashes its process on a full disk, so a child makes the data set, in that folder;
it is renamed when it is whole.
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
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Episodes"]

_HOME = "MINARI_DATASETS_PATH"  # where Minari looks for data sets
_PART = ".part"
_TOLD = "told"  # an array of an episode's file: JSON of what is stored beside the tracks


class Episodes:
    """The complete episodes of a data set that is being made.

    Args:
        folder: of data sets; made if need be.
        dataset_id: Minari's.
        settings: what the episodes depend on. A run with other settings has other episodes.

    Raises:
        ValueError: another run, or the child of one that was killed, is at the same episodes.
    """

    def __init__(self, folder: str, dataset_id: str, settings: Mapping[str, Any]) -> None:
        text = json.dumps(settings, sort_keys=True, default=repr)
        mark = hashlib.sha256(text.encode()).hexdigest()[:8]
        self._folder, self._id = os.path.abspath(folder), dataset_id
        self._path = f"{os.path.join(self._folder, dataset_id)}-{mark}{_PART}"
        os.makedirs(self._path, exist_ok=True)
        # held by this process and by its child: until both have ended, no other run writes here
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
        """Lets another run have the episodes; a folder without any is removed."""
        if not self._lock.closed:
            if self._count == 0:
                shutil.rmtree(self._path, ignore_errors=True)
            self._lock.close()

    def __len__(self) -> int:
        return self._count

    @property
    def path(self) -> str:
        """The folder where they lie until the data set is whole."""
        return self._path

    def add(self, tracks: list[dict[str, npt.NDArray[Any]]], told: list[dict[str, Any]]) -> None:
        """Writes an episode: the arrays of each agent, and what is stored beside them.

        Raises:
            OSError: there is no room; the episodes before it are complete.
        """
        arrays = {f"{row}/{key}": values for row, track in enumerate(tracks) for key, values in track.items()}
        arrays[_TOLD] = np.array(json.dumps(told))
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
            keywords: of `minari.create_dataset_from_buffers`, what pickle can say.

        Raises:
            OSError: there is no room; the episodes are kept.
        """
        import minari

        place = os.path.join(self._folder, self._id)
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
            raise OSError(f"{place}: cannot write the data set ({why})")
        os.makedirs(os.path.dirname(place), exist_ok=True)
        self._take_namespaces(home)
        os.rename(os.path.join(home, self._id), place)
        shutil.rmtree(self._path, ignore_errors=True)
        self._lock.close()
        before = os.environ.get(_HOME)
        os.environ[_HOME] = self._folder
        try:
            return minari.load_dataset(self._id)
        finally:
            if before is None:
                del os.environ[_HOME]
            else:
                os.environ[_HOME] = before

    def _take_namespaces(self, home: str) -> None:
        """Copies what Minari says of the folders above the data set, where they do not have it."""
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
    """The child: makes the data set that its standard input, a pickle of this package, asks for."""
    import minari

    path, dataset_id, episodes, keywords = pickle.load(sys.stdin.buffer)
    warnings.simplefilter("ignore")
    told: list[dict[str, Any]] = []
    try:
        dataset = minari.create_dataset_from_buffers(
            dataset_id, _buffers(path, episodes, told), data_format="hdf5", jpeg_encoding=False, **keywords
        )
        dataset.storage.update_episode_metadata(told)
    except Exception as error:
        print(f"{type(error).__name__}: {' '.join(str(error).split())}"[:300], file=sys.stderr, flush=True)
        os._exit(1)  # without HDF5's clean-up, which may crash


def _buffers(path: str, episodes: int, told: list[dict[str, Any]]) -> Iterator[Any]:
    """Minari's buffers, each made when it is asked for; what is stored beside them goes to `told`."""
    from minari.data_collector import EpisodeBuffer

    for number in range(episodes):
        with np.load(os.path.join(path, f"{number:06}.npz")) as arrays:
            beside = json.loads(str(arrays[_TOLD]))
            for row, each in enumerate(beside):
                of_row = {k.partition("/")[2]: arrays[k] for k in arrays.files if k.startswith(f"{row}/")}
                observed = {
                    k.partition("/")[2]: v for k, v in of_row.items() if k.startswith("observations/")
                }
                buffer = EpisodeBuffer(
                    id=len(told),
                    seed=each.pop("seed"),
                    observations=observed or of_row["observations"],
                    actions=of_row["actions"],
                    rewards=of_row["rewards"].tolist(),
                    terminations=of_row["terminations"].tolist(),
                    truncations=of_row["truncations"].tolist(),
                )
                told.append(each)
                yield buffer
