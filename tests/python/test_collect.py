"""Data sets of episodes: Minari loads them, and the stored seeds give the same bytes again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT

from mvsim_gym.tools.cli import main
from mvsim_gym.tools.collect import collect, default_name

minari = pytest.importorskip("minari", reason="needs the extra record")
pytest.importorskip("h5py", reason="needs the extra record")

ENV = "mvsim/NavArena-v0"
BASELINES = str(ROOT / "examples" / "baselines.py")

pytestmark = pytest.mark.unsanitized


def test_a_data_set_is_replayed_to_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [
        "collect",
        ENV,
        "--policy",
        BASELINES,
        "--seed",
        "40",
        "--episodes",
        "3",
        "-o",
        str(tmp_path),
    ]
    assert main(arguments) == 0
    name = "mvsim/NavArena/baselines-v0"
    assert capsys.readouterr().out.startswith(f"{name}: 3 episodes, ")
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    dataset = minari.load_dataset(name)
    env = dataset.recover_environment()
    told = list(dataset.storage.get_episode_metadata(range(3)))
    assert [each["seed"] for each in told] == [40, 41, 42]
    for episode, of_it in zip(dataset.iterate_episodes(), told, strict=True):
        observation, info = env.reset(seed=of_it["seed"])
        for t in range(len(episode)):
            for key, value in observation.items():
                assert value.tobytes() == episode.observations[key][t].tobytes(), (key, t)
            observation, reward, terminated, truncated, info = env.step(episode.actions[t])
            found = (episode.rewards[t], episode.terminations[t], episode.truncations[t])
            assert found == (reward, terminated, truncated), t
        assert terminated or truncated
        assert all(v.tobytes() == episode.observations[k][-1].tobytes() for k, v in observation.items())
        assert of_it["success"] == info["success"] and of_it["time"] == info["time"]
        assert of_it["return"] == pytest.approx(episode.rewards.sum())
    assert main(arguments) == 1
    assert f"there is a data set '{name}'" in capsys.readouterr().err


def test_random_data_are_those_of_the_seed(tmp_path: Path) -> None:
    found = [
        next(iter(collect(ENV, "random", str(tmp_path / folder), episodes=1, seed=seed).iterate_episodes()))
        for folder, seed in (("a", 1), ("b", 1), ("c", 2))
    ]
    assert found[0].actions.tobytes() == found[1].actions.tobytes()
    assert not np.array_equal(found[0].actions[:5], found[2].actions[:5])


def test_half_a_data_set_is_none(tmp_path: Path) -> None:
    def told(done: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        collect(ENV, "random", str(tmp_path), episodes=2, told=told)
    assert not list(tmp_path.rglob("*.hdf5"))


def test_names() -> None:
    assert default_name(ENV, BASELINES) == "mvsim/NavArena/baselines-v0"
    assert (
        default_name("mvsim_gym:mvsim/NavMap-v0", f"{BASELINES}:go to goal") == "mvsim/NavMap/go-to-goal-v0"
    )
    assert default_name("tasks/my task.env.xml", "runs/model.zip") == "mvsim/my-task/model-v0"
