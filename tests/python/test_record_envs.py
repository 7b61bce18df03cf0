"""Recordings of environments: their content equals that of the API, and recording changes nothing."""

from __future__ import annotations

import copy
import io
import pickle
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import ROOT, actions_for

import mvsim_gym
from mvsim_gym import _core
from mvsim_gym.tools.cli import main
from mvsim_gym.tools.evaluate import evaluate
from mvsim_gym.tools.play import finder
from mvsim_gym.tools.policy import policy_of
from mvsim_gym.tools.view import view_envs

pytest.importorskip("mcap", reason="needs the extra record")
pytest.importorskip("rosbags", reason="needs the extra record")
pytest.importorskip("viser", reason="needs the extra view")
from mvsim_gym.recording.mcap_reading import Recorded
from mvsim_gym.recording.recording import ACTIONS, REWARDS
from mvsim_gym.recording.scene_topics import GOAL, POSES, WORLD
from mvsim_gym.view.playback import Playback

ENV = "mvsim/NavArena-v0"
BASELINES = str(ROOT / "examples" / "baselines.py")


def playback_of(path: Path) -> Playback:
    return Playback(Recorded(path), finder(None, {}))


def poses_of(envs: Any, env: int) -> np.ndarray:
    for _, among, poses in _core.batch_poses(envs._batch):
        if env in among:
            return poses[list(among).index(env)]
    raise AssertionError


def test_commands_of_an_env_are_its_actions_in_physical_units(tmp_path: Path) -> None:
    envs = mvsim_gym.VectorEnv(ENV, num_envs=2, time_limit=100.0)
    envs.reset(seed=1)
    actions = list(actions_for(3, 20, 2))
    with envs.record(tmp_path / "x.mcap", env=1):
        for action in actions:
            envs.step(action)
    recorded = Recorded(tmp_path / "x.mcap")
    low, high = np.asarray(envs._batch.action_low), np.asarray(envs._batch.action_high)
    for k, action in enumerate(actions):
        twist = recorded.message("/cmd_vel", k)
        expected = low + (np.clip(action[1], -1, 1) + 1) / 2 * (high - low)
        np.testing.assert_allclose((twist.linear.x, twist.angular.z), expected, atol=1e-6)


def test_an_env_is_recorded_as_it_was(tmp_path: Path) -> None:
    envs = mvsim_gym.VectorEnv(ENV, num_envs=4, time_limit=3.0)
    envs.reset(seed=1)
    was = [(poses_of(envs, 2), envs.read("goal")[2])]
    steps = []
    with envs.record(tmp_path / "x.mcap", env=2) as recording:
        for action in actions_for(3, 40, 4):
            _, rewards, terminated, truncated, _ = envs.step(action)
            steps.append((action[2], (rewards[2], terminated[2], truncated[2])))
            was.append((poses_of(envs, 2), envs.read("goal")[2]))
        assert not recording.closed
    recorded = Recorded(tmp_path / "x.mcap")
    assert {len(recorded.topics[name].times) for name in (ACTIONS, REWARDS)} == {40}
    assert any(truncated for _, (_, _, truncated) in steps)
    for k, (action, got) in enumerate(steps):
        np.testing.assert_array_equal(recorded.message(ACTIONS, k).data, action)
        np.testing.assert_allclose(recorded.message(REWARDS, k).data, got, rtol=1e-6)
    times = recorded.topics[POSES].times
    assert len(times) == len(was) and list(times) == sorted(times)
    played = playback_of(tmp_path / "x.mcap")
    for k, (poses, goal) in enumerate(was):
        found = np.array(recorded.message(POSES, k).data, np.float32).reshape(-1, 8)
        np.testing.assert_array_equal(found, poses)
        moment = played.moment((times[k] - recorded.first) / 1e9)
        if k + 1 == len(times) or times[k + 1] > times[k]:  # else the next episode has begun
            assert moment.goals is not None
            np.testing.assert_allclose(moment.goals[0, :2], goal)
            np.testing.assert_array_equal(moment.groups[0].poses[0], poses)
    assert len(recorded.topics[GOAL].times) == 3, "as many episodes"
    for name in recorded.topics:
        assert np.diff(recorded.topics[name].times.tolist()).min(initial=1) > 0, (
            f"{name}: one message a stamp"
        )
    period = round(envs.control_period * 1e9)
    assert set(np.diff(times).tolist()) == {1, period}
    assert len(recorded.topics["/lidar"].times) == len(times)
    envs.close()


def test_recording_changes_nothing(tmp_path: Path) -> None:
    def rollout(path: Path | None) -> bytes:
        envs = mvsim_gym.VectorEnv(ENV, num_envs=3, time_limit=2.0)
        if path is not None:
            envs.record(path, env=1)
        envs.reset(seed=5)
        out = []
        for action in actions_for(1, 30, 3):
            observation, reward, *_ = envs.step(action)
            out += [*(observation[key].tobytes() for key in sorted(observation)), reward.tobytes()]
        state = envs.snapshot()
        envs.close()
        return b"".join([*out, state])

    assert rollout(tmp_path / "x.mcap") == rollout(None)
    assert Recorded(tmp_path / "x.mcap").topics[POSES].times, "closed with the envs"


def test_resets_and_snapshots_of_an_env(tmp_path: Path) -> None:
    env = mvsim_gym.Env(ENV, time_limit=1.0)
    with env.record(tmp_path / "x.mcap"):
        for seed in (1, 2):
            env.reset(seed=seed)
            for _ in range(5):
                env.step(np.array([1, 0], np.float32))
        state = env.snapshot()
        env.reset(seed=3)
        env.restore(state)
    assert len(Recorded(tmp_path / "x.mcap").topics[POSES].times) == 2 * 6 + 2
    env.close()


@pytest.mark.unsanitized  # imports PyTorch
def test_stable_baselines(tmp_path: Path) -> None:
    sb3 = pytest.importorskip("mvsim_gym.sb3", reason="needs the extra sb3")
    venv = sb3.MVSimVecEnv(ENV, num_envs=2, time_limit=1.0)
    with venv.record(tmp_path / "y.mcap", env=1):
        venv.reset()
        for _ in range(5):
            venv.step(np.zeros((2, 2), np.float32))
    assert len(Recorded(tmp_path / "y.mcap").topics[POSES].times) == 6
    venv.close()


def test_each_episode_is_shown_in_its_own_world(tmp_path: Path) -> None:
    (tmp_path / "w.world.xml").write_text(
        """<mvsim_world><walls><shape><pt>-9 -9</pt><pt>9 -9</pt><pt>9 9</pt><pt>-9 9</pt></shape></walls>
        <variable name="size" value="$f{1+rand()}"/>
        <block name="box"><init_pose>3 3 0</init_pose><static>true</static>
        <shape><pt>0 0</pt><pt>${size} 0</pt><pt>${size} 1</pt></shape></block>
        <vehicle name="r"><init_pose>0 0 0</init_pose><dynamics class="differential">
        <controller class="twist_ideal"/></dynamics></vehicle></mvsim_world>"""
    )
    (tmp_path / "t.env.xml").write_text(
        """<mvsim_env id="t" world="w.world.xml" variants="4" control_period="0.1" time_limit="0.5">
        <agent vehicle="r"><action class="twist" vx="-1 1" omega="-2 2"/><observe class="velocity"/></agent>
        <reset><spawn pose="0 0 0"/></reset><reward class="time" weight="-1"/></mvsim_env>"""
    )
    envs = mvsim_gym.VectorEnv(tmp_path / "t.env.xml", num_envs=1)
    with envs.record(tmp_path / "x.mcap"):
        envs.reset(seed=1)
        prints = []
        for _ in range(60):
            prints.append(envs._batch.model(0).fingerprint)  # type: ignore[union-attr]
            envs.step(np.zeros((1, 2), np.float32))
    recorded = Recorded(tmp_path / "x.mcap")
    assert len(set(prints)) > 2
    changes = np.count_nonzero(np.diff(np.array(prints, np.uint64)))
    assert changes <= len(recorded.topics[WORLD].times) <= changes + 3
    played = playback_of(tmp_path / "x.mcap")
    shown = {played.moment(t).groups[0].model.fingerprint for t in np.arange(0, played.duration, 0.1)}
    assert shown == set(prints)
    envs.close()


def test_keywords_and_knobs_are_told(tmp_path: Path) -> None:
    envs = mvsim_gym.VectorEnv(ENV, num_envs=2, obstacles=3)
    with envs.record(tmp_path / "x.mcap", env=1):
        envs.reset(seed=1)
        envs.step(np.zeros((2, 2), np.float32))
        envs.set_knobs({"obstacles": 5})
        envs.reset(seed=2)
        envs.step(np.zeros((2, 2), np.float32))
    played = playback_of(tmp_path / "x.mcap")
    for time, obstacles in ((0.1, 3), (0.3, 5)):
        (group,) = played.moment(time).groups
        movers = [name for kind, name, _ in _core.scene_movers(group.model) if kind == "block"]
        assert len(movers) == obstacles
    envs.close()


def test_variables_of_a_world_are_told(tmp_path: Path) -> None:
    (tmp_path / "w.world.xml").write_text(
        """<mvsim_world><for var="i" from="1" to="${count|2}"><block name="b${i}">
        <init_pose>${i} 3 0</init_pose></block></for></mvsim_world>"""
    )
    world = mvsim_gym.World(tmp_path / "w.world.xml", variables={"count": 4})
    with world.record(tmp_path / "x.mcap"):
        world.step(0.1)
    played = playback_of(tmp_path / "x.mcap")
    assert played.model.fingerprint == world._model.fingerprint
    assert len(_core.scene_movers(played.model)) == 4


def test_mistakes_and_copies(tmp_path: Path) -> None:
    envs = mvsim_gym.VectorEnv(ENV, num_envs=2)
    for env in (-1, 2):
        with pytest.raises(ValueError, match=f"env: found {env}, expected 0 to 1"):
            envs.record(tmp_path / "x.mcap", env=env)
    envs.reset(seed=1)
    with envs.record(tmp_path / "x.mcap"):
        with pytest.raises(ValueError, match="found a recording of one of these envs"):
            envs.record(tmp_path / "y.mcap")
        for twin in (copy.deepcopy(envs), pickle.loads(pickle.dumps(envs))):
            assert twin._recording is None
            twin.step(np.zeros((2, 2), np.float32))
    envs.step(np.zeros((2, 2), np.float32))
    assert len(Recorded(tmp_path / "x.mcap").topics[POSES].times) == 1
    with envs.record(tmp_path / "y.mcap"):
        pass
    envs.close()
    with pytest.raises(Exception, match="closed"):
        envs.record(tmp_path / "z.mcap")


def test_evaluate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("tqdm", reason="the examples need it")
    arguments = ["evaluate", ENV, "--policy", BASELINES, "--episodes", "3"]
    assert main(arguments) == 0
    lines = capsys.readouterr().out
    assert main([*arguments, "--record", str(tmp_path / "x.mcap")]) == 0
    assert capsys.readouterr().out == lines, "the same episodes"
    assert lines.splitlines()[1] == "success      100.0 %"
    assert len(Recorded(tmp_path / "x.mcap").topics[GOAL].times) == 3
    rates = [line for line in evaluate("mvsim/MultiNav-v0", "random", episodes=3) if line.endswith("%")]
    assert sum(float(line.split()[1]) for line in rates) == pytest.approx(100, abs=0.2)
    for wrong, message in ((["--episodes", "0"], "--episodes"), (["--policy", "nobody"], "--policy")):
        assert main([*arguments, *wrong]) == 1
        assert message in capsys.readouterr().err


def test_evaluate_counts_each_seed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Episodes that run in groups, the last one smaller, give the same results as episodes that run alone."""
    pytest.importorskip("tqdm", reason="the examples need it")
    import mvsim_gym.tools.evaluate as module

    lines = []
    for at_once in (1, 3, 100):
        monkeypatch.setattr(module, "_AT_ONCE", at_once)
        lines.append(evaluate(ENV, BASELINES, episodes=8, seed=7))
    assert lines[0] == lines[1] == lines[2]
    env = mvsim_gym.Env(ENV)
    drive = policy_of(BASELINES, ENV, env)  # type: ignore[arg-type]
    returns = []
    for seed in range(7, 15):
        observation, _ = env.reset(seed=seed)
        total, done = 0.0, False
        while not done:
            action = drive({key: value[None] for key, value in observation.items()})[0]
            observation, reward, terminated, truncated, _ = env.step(action)
            total, done = total + reward, terminated or truncated
        returns.append(total)
    env.close()
    assert float(lines[0][-1].split()[-1]) == pytest.approx(np.mean(returns), abs=0.006)


@pytest.mark.parametrize("env", [ENV, "mvsim/MultiNav-v0"])
def test_random_actions_are_those_of_the_seed_recorded_or_not(tmp_path: Path, env: str) -> None:
    lines = evaluate(env, "random", episodes=4, seed=11)
    assert evaluate(env, "random", episodes=4, seed=11, record=str(tmp_path / "x.mcap")) == lines
    assert evaluate(env, "random", episodes=4, seed=12)[1:] != lines[1:]


def test_an_env_with_relative_paths_is_played_from_any_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "there").mkdir()
    shutil.copy(ROOT / "envs" / "nav_arena.env.xml", tmp_path / "here" / "my.env.xml")
    shutil.copy(ROOT / "worlds" / "nav_arena.world.xml", tmp_path / "here" / "my.world.xml")
    monkeypatch.chdir(tmp_path / "here")
    shutil.copytree(ROOT / "worlds" / "definitions", tmp_path / "here" / "definitions")
    envs = mvsim_gym.VectorEnv("my.env.xml", num_envs=1, world="my.world.xml", obstacles=np.int64(3))
    envs.reset(seed=0)
    with envs.record("x.mcap"):
        envs.step(np.zeros((1, 2), np.float32))
    model = envs._open().model(0)
    monkeypatch.chdir(tmp_path / "there")
    played = Playback(Recorded(tmp_path / "here" / "x.mcap"), finder(None, {}))
    assert played.model.fingerprint == model.fingerprint
    envs.close()


def test_a_view_records_its_first_world(tmp_path: Path) -> None:
    view_envs(
        ENV,
        "random",
        num_envs=3,
        record=str(tmp_path / "x.mcap"),
        host="127.0.0.1",
        port=0,
        steps=4,
        say=io.StringIO(),
    )
    assert len(Recorded(tmp_path / "x.mcap").topics[POSES].times) == 5
