"""`mvsim-gym collect` on a full disk, or killed: what it had is kept, and the same call goes on from there."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mvsim_gym.tools.collect import collect

minari = pytest.importorskip("minari", reason="needs the extra record")
pytest.importorskip("h5py", reason="needs the extra record")

ENV = "mvsim/NavArena-v0"
NAME = "mvsim/NavArena/random-v0"

pytestmark = pytest.mark.unsanitized


def command(folder: Path, episodes: int) -> list[str]:
    return [
        *(sys.executable, "-m", "mvsim_gym", "collect", ENV, "--policy", "random"),
        *("--episodes", str(episodes), "-o", str(folder)),
    ]


def run_with_files_of(limit: int, folder: Path, episodes: int) -> subprocess.CompletedProcess[str]:
    """Runs it where no file can grow beyond a limit, as on a full disk."""
    return subprocess.run(
        command(folder, episodes),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )


def wait_for_episodes(folder: Path, count: int) -> None:
    until = time.monotonic() + 60
    while len(list(folder.rglob("*.npz"))) < count:
        assert time.monotonic() < until
        time.sleep(0.01)


def loaded(folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(folder))
    dataset = minari.load_dataset(NAME)
    return [e.actions.tobytes() + e.rewards.tobytes() for e in dataset.iterate_episodes()]


@pytest.mark.parametrize("limit", [8_000, 200_000], ids=["of episodes", "of the data set"])
def test_a_full_disk(limit: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "data"
    done = run_with_files_of(limit, folder, 12)
    (line,) = done.stderr.splitlines()
    assert done.returncode == 1 and line.startswith("mvsim-gym collect: ")
    assert f"of 12 episodes are kept in '{folder}/mvsim/NavArena/random-v0-" in line
    assert "the same command continues from there" in line
    assert not (folder / NAME).exists()  # the name is free
    again = subprocess.run(command(folder, 12), capture_output=True, text=True, timeout=120, check=False)
    assert again.returncode == 0 and again.stdout.startswith(f"{NAME}: 12 episodes"), again.stderr
    assert sorted(path.name for path in (folder / "mvsim/NavArena").iterdir() if path.is_dir()) == [
        "random-v0"
    ]
    collect(ENV, "random", str(tmp_path / "whole"), episodes=12)
    assert loaded(folder, monkeypatch) == loaded(tmp_path / "whole", monkeypatch)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_killed_run(how: signal.Signals, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with subprocess.Popen(
        command(tmp_path, 100_000), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as run:
        wait_for_episodes(tmp_path, 5)
        os.kill(run.pid, how)
    kept = len(list(tmp_path.rglob("*.npz")))
    assert kept >= 5 and not (tmp_path / NAME).exists()
    told: list[int] = []
    dataset = collect(ENV, "random", str(tmp_path), episodes=kept + 2, on_episode=told.append)
    assert told == [kept + 1, kept + 2] and dataset.total_episodes == kept + 2
    collect(ENV, "random", str(tmp_path / "whole"), episodes=kept + 2)
    assert loaded(tmp_path, monkeypatch) == loaded(tmp_path / "whole", monkeypatch)


def test_two_equal_runs_do_not_meet(tmp_path: Path) -> None:
    with subprocess.Popen(
        command(tmp_path, 100_000), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as run:
        wait_for_episodes(tmp_path, 3)
        with pytest.raises(ValueError, match="another run collects the same episodes"):
            collect(ENV, "random", str(tmp_path), episodes=2)
        run.kill()
    assert collect(ENV, "random", str(tmp_path), episodes=2).total_episodes == 2


def test_a_run_that_is_killed_while_its_child_writes(tmp_path: Path) -> None:
    """The child goes on for as long as it needs, and only then the next run begins."""
    with subprocess.Popen(
        command(tmp_path, 400), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as run:
        until = time.monotonic() + 60
        while not list(tmp_path.rglob("datasets")):
            assert time.monotonic() < until and run.poll() is None
            time.sleep(0.001)
        run.kill()
    until = time.monotonic() + 60
    while True:
        try:
            dataset = collect(ENV, "random", str(tmp_path), episodes=400)
            break
        except ValueError as error:
            assert "another run" in str(error) and time.monotonic() < until
            time.sleep(0.05)
    assert dataset.total_episodes == 400


def test_other_settings_have_other_episodes(tmp_path: Path) -> None:
    with subprocess.Popen(
        command(tmp_path, 100_000), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as run:
        wait_for_episodes(tmp_path, 3)
        run.kill()
    told: list[int] = []
    collect(ENV, "random", str(tmp_path), episodes=2, seed=7, on_episode=told.append)
    assert told == [1, 2]


def test_a_relative_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    collect(ENV, "random", "data", episodes=2)
    assert len(loaded(tmp_path / "data", monkeypatch)) == 2
