"""Data sets in LeRobot's format: pyarrow reads what the environment gave, and a full disk or a kill loses nothing."""

from __future__ import annotations

import io
import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import ROOT

import mvsim_gym
from mvsim_gym.tools.cli import main
from mvsim_gym.tools.collect import collect

pq = pytest.importorskip("pyarrow.parquet", reason="needs the extra lerobot")

ENV = "mvsim/NavArena-v0"
NAME = "mvsim/NavArena-random"
BASELINES = str(ROOT / "examples" / "baselines.py")

pytestmark = pytest.mark.unsanitized


def rows_of(root: Path, folder: str) -> list[dict[str, Any]]:
    """Reads each file alone, so that a folder gives no column of its own."""
    files = sorted((root / folder).rglob("*.parquet"))
    return [row for file in files for row in pq.read_table(file).to_pylist()]


@pytest.mark.parametrize("name", ["NavArena", "VisualNavigation", "DepthNavigation", "MultiNav"])
def test_rows_are_the_steps_of_the_environment(name: str, tmp_path: Path) -> None:
    env_id = f"mvsim/{name}-v0"
    made = collect(env_id, "random", str(tmp_path), episodes=1, seed=3, format="lerobot")
    root = Path(made.path)
    info = json.loads((root / "meta/info.json").read_text())
    rows, episodes = rows_of(root, "data"), rows_of(root, "meta/episodes")
    agents = 4 if name == "MultiNav" else 1
    assert info["codebase_version"] == "v3.0"
    assert info["total_episodes"] == made.total_episodes == len(episodes) == agents
    assert info["total_frames"] == made.total_steps == len(rows) == sum(e["length"] for e in episodes)
    envs = mvsim_gym.VectorEnv(env_id, num_envs=agents, autoreset_mode="Disabled")
    assert info["fps"] == pytest.approx(1 / envs.control_period)
    assert set(rows[0]) == set(info["features"])
    for agent, episode in enumerate(episodes):
        observations, _ = envs.reset(seed=episode["seed"])
        own = rows[episode["dataset_from_index"] : episode["dataset_to_index"]]
        actions = np.zeros((agents, 2), np.float32)
        others = [
            [row["action"] for row in rows[e["dataset_from_index"] : e["dataset_to_index"]]] for e in episodes
        ]
        for t, row in enumerate(own):
            flat = np.concatenate([v[agent] for v in observations.values() if v.ndim == 2])
            assert flat.tobytes() == np.array(row["observation.state"], np.float32).tobytes()
            if name == "DepthNavigation":
                depth = np.array(row["observation.depth"], np.float32)
                assert depth.tobytes() == observations["depth"][agent].tobytes()
            if name == "VisualNavigation" and t % 50 == 0:
                image = pytest.importorskip("PIL.Image")
                picture = np.asarray(image.open(io.BytesIO(row["observation.images.image"]["bytes"])))
                assert (picture == observations["image"][agent]).all()
            for k, of_other in enumerate(others):
                actions[k] = of_other[min(t, len(of_other) - 1)]
            observations, rewards, terminated, truncated, infos = envs.step(actions)
            assert row["next.reward"] == np.float32(rewards[agent])
            assert row["next.done"] == (terminated[agent] or truncated[agent])
            assert row["next.truncated"] == truncated[agent]
            assert (row["frame_index"], row["episode_index"]) == (t, agent)
            assert row["timestamp"] == np.float32(t / info["fps"])
        assert (
            own[-1]["next.done"] and own[-1]["next.success"] == episode["success"] == infos["success"][agent]
        )


def test_statistics_are_those_of_all_rows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["collect", ENV, "--policy", BASELINES, "--episodes", "3", "--format", "lerobot", "-o"]
    assert main([*command, str(tmp_path)]) == 0
    assert capsys.readouterr().out.startswith("mvsim/NavArena-baselines: 3 episodes, ")
    root = tmp_path / "mvsim/NavArena-baselines"
    stats = json.loads((root / "meta/stats.json").read_text())
    rows = rows_of(root, "data")
    for key in ("observation.state", "action", "next.reward"):
        values = np.array([row[key] for row in rows], np.float64).reshape(len(rows), -1)
        assert stats[key]["count"] == [len(rows)]
        for name, found in (("min", values.min(0)), ("max", values.max(0)), ("mean", values.mean(0))):
            np.testing.assert_allclose(stats[key][name], found, atol=1e-9)
        np.testing.assert_allclose(stats[key]["std"], values.std(0), atol=1e-9)
    (tasks,) = pq.read_table(root / "meta/tasks.parquet").to_pylist()
    assert tasks == {"task_index": 0, "task": ENV}
    told = json.loads((root / "meta/mvsim_gym.json").read_text())
    assert told["env"] == ENV and told["seed"] == 0
    assert main([*command, str(tmp_path)]) == 1
    assert "there is a data set 'mvsim/NavArena-baselines'" in capsys.readouterr().err


def test_names_that_lerobot_does_not_take(tmp_path: Path) -> None:
    for name in ("a/b/c", "../x", "a/..", ".x", "a b"):
        with pytest.raises(ValueError, match="expected OWNER/NAME"):
            collect(ENV, "random", str(tmp_path), episodes=1, name=name, format="lerobot")
    with pytest.raises(ValueError, match="--format: found 'zarr'"):
        collect(ENV, "random", str(tmp_path), episodes=1, format="zarr")
    assert not list(tmp_path.iterdir())


def command(folder: Path, episodes: int) -> list[str]:
    return [
        *(sys.executable, "-m", "mvsim_gym", "collect", ENV, "--policy", "random", "--format", "lerobot"),
        *("--episodes", str(episodes), "-o", str(folder)),
    ]


def data_of(root: Path) -> list[dict[str, Any]]:
    return rows_of(root / NAME, "data") + rows_of(root / NAME, "meta/episodes")


@pytest.mark.parametrize("limit", [8_000, 60_000], ids=["of episodes", "of the data set"])
def test_a_full_disk(limit: int, tmp_path: Path) -> None:
    folder = tmp_path / "data"
    done = subprocess.run(
        command(folder, 4),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )
    (line,) = done.stderr.splitlines()
    assert done.returncode == 1 and line.startswith("mvsim-gym collect: ")
    assert f"of 4 episodes are kept in '{folder}/{NAME}-" in line
    assert "the same command continues from there" in line
    assert ("cannot write the data set" in line) == (limit > 8_000)
    assert not (folder / NAME).exists()
    collect(ENV, "random", str(folder), episodes=4, format="lerobot")
    assert [path.name for path in (folder / "mvsim").iterdir()] == ["NavArena-random"]
    collect(ENV, "random", str(tmp_path / "whole"), episodes=4, format="lerobot")
    assert data_of(folder) == data_of(tmp_path / "whole")


def test_a_killed_run(tmp_path: Path) -> None:
    with subprocess.Popen(command(tmp_path, 100_000), stdout=subprocess.DEVNULL) as run:
        until = time.monotonic() + 60
        while len(list(tmp_path.rglob("*.npz"))) < 3:
            assert time.monotonic() < until
            time.sleep(0.01)
        os.kill(run.pid, signal.SIGKILL)
    kept = len(list(tmp_path.rglob("*.npz")))
    assert kept >= 3 and not (tmp_path / NAME).exists()
    told: list[int] = []
    collect(ENV, "random", str(tmp_path), episodes=kept + 1, on_episode=told.append, format="lerobot")
    assert told == [kept + 1]
    collect(ENV, "random", str(tmp_path / "whole"), episodes=kept + 1, format="lerobot")
    assert data_of(tmp_path) == data_of(tmp_path / "whole")
