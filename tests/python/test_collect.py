"""Data sets of episodes: Minari loads them, and the stored seeds give the same bytes again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT

import mvsim_gym
from mvsim_gym.tools.cli import main
from mvsim_gym.tools.collect import collect, default_name

minari = pytest.importorskip("minari", reason="needs the extra record")
pytest.importorskip("h5py", reason="needs the extra record")

ENV = "mvsim/NavArena-v0"
TEAM = "mvsim/MultiNav-v0"
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


def test_each_agent_of_a_world_has_an_episode_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["collect", TEAM, "--policy", "random", "--seed", "7", "--episodes", "2", "-o", str(tmp_path)]
    assert main(arguments) == 0
    assert capsys.readouterr().out.startswith("mvsim/MultiNav/random-v0: 8 episodes, ")
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    dataset = minari.load_dataset("mvsim/MultiNav/random-v0")
    episodes = list(dataset.iterate_episodes())
    told = list(dataset.storage.get_episode_metadata(range(8)))
    assert [(each["seed"], each["agent"]) for each in told] == [
        (seed, agent) for seed in (7, 8) for agent in ("r1", "r2", "r3", "r4")
    ]
    assert len({len(episode) for episode in episodes[:4]}) > 1  # each ends where its agent does
    envs = mvsim_gym.VectorEnv(TEAM, num_envs=4, autoreset_mode="Disabled")
    for k in range(2):
        own, told_own = episodes[4 * k : 4 * k + 4], told[4 * k : 4 * k + 4]
        observations, _ = envs.reset(seed=told_own[0]["seed"])
        for t in range(max(len(episode) for episode in own)):
            actions = np.zeros((4, 2), np.float32)
            for row, episode in enumerate(own):
                assert envs.alive[row] == (t < len(episode))
                actions[row] = episode.actions[min(t, len(episode) - 1)]
            before, (observations, rewards, terminated, truncated, infos) = observations, envs.step(actions)
            for row, (episode, of_it) in enumerate(zip(own, told_own, strict=True)):
                if t >= len(episode):
                    continue
                for key, values in episode.observations.items():
                    assert values[t].tobytes() == before[key][row].tobytes(), (key, t)
                    assert values[t + 1].tobytes() == observations[key][row].tobytes(), (key, t)
                found = (episode.rewards[t], episode.terminations[t], episode.truncations[t])
                assert found == (rewards[row], terminated[row], truncated[row]), t
                if t + 1 == len(episode):
                    assert terminated[row] or truncated[row]
                    assert of_it["time"] == infos["time"][row] and of_it["success"] == infos["success"][row]
                    assert of_it["return"] == pytest.approx(episode.rewards.sum())
        assert not envs.alive.any()


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
