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


def flat_ids() -> None:
    """Registers a flat NavArena and a flat team."""
    for name, env in (("Flat", ENV), ("FlatTeam", TEAM)):
        mvsim_gym.register(f"collected/{name}-v0", env, flatten=True)


@pytest.mark.parametrize(
    ("env_id", "flag"), [(ENV, ["--flatten"]), ("collected/Flat-v0", []), ("collected/FlatTeam-v0", [])]
)
def test_flat_observations_are_those_of_flatten(
    env_id: str, flag: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a script, which is handed observations by name."""
    flat_ids()
    script = tmp_path / "script.py"
    script.write_text(
        "import numpy as np\n"
        "def policies(env):\n"
        "    def to_goal(o):\n"
        "        return np.stack([np.ones(len(o['goal'])), o['goal'][:, 2]], axis=1)\n"
        "    return {'to goal': to_goal}\n"
    )
    arguments = ["--policy", str(script), "--name", "flat/it-v0", "--episodes", "2", "-o", str(tmp_path)]
    assert main(["collect", env_id, *arguments, *flag]) == 0
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    dataset = minari.load_dataset("flat/it-v0")
    team = env_id == "collected/FlatTeam-v0"
    agents = 4 if team else 1
    envs = mvsim_gym.VectorEnv(
        TEAM if team else ENV, num_envs=agents, autoreset_mode="Disabled", flatten=True
    )
    assert dataset.spec.observation_space == envs.single_observation_space
    if not team:
        assert dataset.recover_environment().observation_space == envs.single_observation_space
    episodes = list(dataset.iterate_episodes())
    assert len(episodes) == 2 * agents
    for k in range(2):
        own = episodes[agents * k : agents * (k + 1)]
        observations, _ = envs.reset(seed=k)
        for t in range(max(len(episode) for episode in own)):
            for row, episode in enumerate(own):
                if t < len(episode):
                    assert episode.observations[t].tobytes() == observations[row].tobytes(), (k, row, t)
            actions = np.stack([episode.actions[min(t, len(episode) - 1)] for episode in own])
            observations, *_ = envs.step(actions)
        assert not envs.alive.any()


def test_pictures_are_not_flattened(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--flatten", "--policy", "random", "--episodes", "1", "-o", str(tmp_path)]
    assert main(["collect", "mvsim/DepthNavigation-v0", *arguments]) == 1
    assert "flatten: the observation 'depth' has the shape" in capsys.readouterr().err


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
        collect(ENV, "random", str(tmp_path), episodes=2, on_episode=told)
    assert not list(tmp_path.rglob("*.hdf5"))


def test_names() -> None:
    assert default_name(ENV, BASELINES) == "mvsim/NavArena/baselines-v0"
    assert (
        default_name("mvsim_gym:mvsim/NavMap-v0", f"{BASELINES}:go to goal") == "mvsim/NavMap/go-to-goal-v0"
    )
    assert default_name("tasks/my task.env.xml", "runs/model.zip") == "mvsim/my-task/model-v0"
