"""Recurrent policies: their state is exported, kept from call to call, and reset at the begin of an episode."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch", reason="needs the extra export")
pytest.importorskip("onnx", reason="needs the extra export")
pytest.importorskip("onnxruntime", reason="needs the extra deploy")

import torch

from mvsim_gym import VectorEnv
from mvsim_gym.deploy import Pipeline, load_policy
from mvsim_gym.deploy.driver import Driver
from mvsim_gym.deploy.export import export_policy
from mvsim_gym.tools.cli import main
from mvsim_gym.tools.evaluate import episodes_of
from mvsim_gym.tools.policy import begin_episodes, policy_of

NAV = "mvsim/NavArena-v0"
pytestmark = [pytest.mark.unsanitized, pytest.mark.filterwarnings("default")]


class Slower(torch.nn.Module):
    """Its speed is 1/2, 1/4, 1/8... from the begin of an episode on. It turns by the sum of goal directions so far."""

    state_shapes = ((1,), (2, 1))

    def forward(
        self, seen: dict[str, torch.Tensor], states: tuple[torch.Tensor, ...]
    ) -> tuple[torch.Tensor, tuple[torch.Tensor, ...]]:
        halvings, sums = states
        after = sums + 0.01 * seen["goal"][:, 1:3, None]
        speed = 0.5 ** (halvings + 1)
        return torch.cat([speed, after[:, 1]], dim=1), (halvings + 1, after)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("recurrent") / "policy"
    contract = export_policy(Slower(), NAV, place)
    assert contract["states"] == [{"key": "state_0", "shape": [1]}, {"key": "state_1", "shape": [2, 1]}]
    assert contract["policy"]["largest_difference"] < 1e-5
    return place


def seen_by(rows: int) -> dict[str, np.ndarray]:
    return VectorEnv(NAV, num_envs=rows).reset(seed=0)[0]


def test_the_state_goes_on_and_begins_anew_by_rows(folder: Path) -> None:
    policy, seen = load_policy(folder), seen_by(3)
    assert policy.is_recurrent
    speeds = [policy(seen)[:, 0].tolist() for _ in range(3)]
    assert speeds == [[0.5] * 3, [0.25] * 3, [0.125] * 3]
    policy.begin(np.array([False, True, False]))
    assert policy(seen)[:, 0].tolist() == [0.0625, 0.5, 0.0625]
    np.testing.assert_allclose(policy(seen)[:, 1] / seen["goal"][:, 2], [0.05, 0.02, 0.05], rtol=1e-4)
    policy.begin()
    assert policy({key: value[0] for key, value in seen.items()}).shape == (2,)
    with pytest.raises(ValueError, match=r"found 3 observations, expected 1 as since begin\(\)"):
        policy(seen)


def test_each_episode_of_an_evaluation_begins_anew(folder: Path) -> None:
    envs = VectorEnv(NAV, num_envs=4, autoreset_mode="Disabled", copy=True, time_limit=1.0)
    policy = policy_of(str(folder), NAV, envs)
    alone = [
        next(iter(episodes_of(envs, policy, 7 + k, 1)))[1] for k in (0, 1, 2, 3)
    ]  # a state of an earlier episode would slow the robot
    together = [total for _, total in episodes_of(envs, policy, 7, 4)]
    assert together == alone and len(set(alone)) == 4


@pytest.mark.parametrize("mode", ["evaluate", "film", "collect"])
def test_commands_take_it(
    folder: Path, mode: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if mode == "collect":
        h5py = pytest.importorskip("h5py", reason="needs the extra record")
    if mode == "film":
        pytest.importorskip("imageio_ffmpeg", reason="needs the extra video")
    more = {
        "evaluate": ["--episodes", "3"],
        "film": ["-o", str(tmp_path / "film.mp4"), "--width", "64", "--height", "64", "--episodes", "2"],
        "collect": ["--episodes", "2", "-o", str(tmp_path / "data")],
    }[mode]
    assert main([mode, NAV, "--policy", str(folder), "--set", "time_limit=1", *more]) == 0
    assert capsys.readouterr().out
    if mode == "collect":
        (file,) = (tmp_path / "data").rglob("*.hdf5")
        with h5py.File(file) as data:
            for episode in ("episode_0", "episode_1"):
                assert data[episode]["actions"][:3, 0].tolist() == [0.5, 0.25, 0.125]


class Fresh:
    """Readings of a robot that stands, in any period."""

    def __init__(self, policy: Any) -> None:
        self.pipeline = Pipeline(NAV)
        self.driver = Driver(self.pipeline, policy)
        self.now = 0.0

    def step(self, *, scan: bool = True) -> Any:
        self.now += 0.2
        if scan:
            self.pipeline.scan("lidar", np.full(360, 3.0), -np.pi, np.pi / 180, self.now)
        self.driver.set_pose(0.0, 0.0, 0.0, self.now)
        self.pipeline.velocity(0.0, 0.0, self.now)
        return self.driver.step(self.now)


def test_a_drive_begins_it_anew_with_each_goal_and_after_a_pause_and_keeps_it_in_a_stop(folder: Path) -> None:
    robot = Fresh(load_policy(folder))
    robot.driver.set_goal(3.0, 0.0)
    assert [robot.step().action[0] for _ in range(2)] == [0.5, 0.25]
    stops = [robot.step(scan=False).stop for _ in range(3)]
    assert stops[-1].startswith("readings")
    driven = stops.count("")
    assert robot.step().action[0] == 0.5 ** (3 + driven), "a stop keeps the state"
    robot.driver.set_goal(0.0, 3.0)
    assert [robot.step().action[0] for _ in range(2)] == [0.5, 0.25]
    robot.driver.pause()
    assert robot.step().stop == "paused"
    robot.driver.go_on()
    assert robot.step().action[0] == 0.5


class Counting(torch.nn.Module):
    """Drives to its goal, and turns by the number of its calls since the begin."""

    state_shapes = ((1,),)

    def forward(
        self, seen: dict[str, torch.Tensor], states: tuple[torch.Tensor, ...]
    ) -> tuple[torch.Tensor, tuple[torch.Tensor, ...]]:
        ahead = torch.where(seen["goal"][:, 1:2] > 0, 1.0, -1.0)
        return torch.cat([ahead, 0.01 * states[0]], dim=1), (states[0] + 1,)


@pytest.mark.parametrize("pauses", [{}, {4: True, 6: False}])
def test_a_replay_has_the_state_of_the_drive(tmp_path: Path, pauses: dict[int, bool]) -> None:
    """The drive stops for missing readings, arrives, gets another goal, and is paused."""
    pytest.importorskip("rosbags", reason="needs the extra ros")
    pytest.importorskip("mcap", reason="needs the extra record")
    from test_deploy_recordings import KEYWORDS, drive

    from mvsim_gym.tools.drive_episodes import replay_drive

    export_policy(Counting(), NAV, tmp_path / "policy", settings=KEYWORDS)
    drive(tmp_path / "drive.mcap", pauses, load_policy(tmp_path / "policy"))
    found = replay_drive(
        str(tmp_path / "policy"), str(tmp_path / "drive.mcap"), settings={}, say=lambda text: None
    )
    turns = found.recorded[:, 1]
    assert len(turns) > 10 and np.ptp(turns) > 0 and (np.diff(turns) < 0).any()
    assert found.differences.max() < 1e-6


def test_rows_of_a_view_begin_anew(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that are reset by themselves, in place of a step."""
    pytest.importorskip("viser", reason="needs the extra view")
    from mvsim_gym.tools import view

    speeds: list[list[float]] = []

    def watched(*arguments: Any) -> Any:
        policy = policy_of(*arguments)

        class Watched:
            begin = policy.begin  # type: ignore[attr-defined]

            def __call__(self, seen: Any) -> Any:
                actions = policy(seen)
                speeds.append(actions[:, 0].tolist())
                return actions

        return Watched()

    monkeypatch.setattr(view, "policy_of", watched)
    view.view_envs(
        NAV, str(folder), num_envs=2, host="127.0.0.1", port=0, steps=14, settings={"time_limit": 1}
    )
    each = [0.5**k for k in range(1, 7)]  # five steps, and the one in whose place it is reset
    assert speeds == [[speed] * 2 for speed in (each + each + each)[:14]]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"states": []}, "found the inputs"),
        ({"states": [{"key": "state_0", "shape": [1]}]}, "found the inputs"),
        (
            {"states": [{"key": "goal", "shape": [1]}]},
            r"states: found the keys \['goal'\], expected different ones",
        ),
        ({"states": [{"key": "state_0", "shape": [0]}]}, r"states: found the shape \(0,\)"),
        ({"states": {"state_0": [1]}}, "states: expected a list"),
        (
            {"states": [{"key": "state_0", "shape": [1]}, {"key": "state_1", "shape": [3, 1]}]},
            "found the inputs",
        ),
    ],
)
def test_states_that_are_not_those_of_the_network_are_refused(
    folder: Path, tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    contract = json.loads((folder / "contract.json").read_text())
    (tmp_path / "contract.json").write_text(json.dumps({**contract, **change}))
    (tmp_path / "policy.onnx").write_bytes((folder / "policy.onnx").read_bytes())
    with pytest.raises(ValueError, match=message):
        load_policy(tmp_path)


def test_a_policy_without_a_state_is_not_recurrent(tmp_path: Path) -> None:
    def towards(seen: dict[str, torch.Tensor]) -> torch.Tensor:
        return seen["goal"][:, 1:3]

    export_policy(towards, NAV, tmp_path / "policy")
    policy, seen = load_policy(tmp_path / "policy"), seen_by(3)
    assert not policy.is_recurrent and "states" not in policy.contract.whole
    policy.begin()
    first = policy(seen)
    begin_episodes(policy, np.array([True, False, False]))
    assert np.array_equal(policy(seen), first)
    assert policy({key: value[:2] for key, value in seen.items()}).shape == (2, 2)


class TestRecurrentPPO:
    """RecurrentPPO of sb3-contrib."""

    @pytest.mark.parametrize(
        "options",
        [
            {},
            {"n_lstm_layers": 2, "lstm_hidden_size": 16, "shared_lstm": True, "enable_critic_lstm": False},
            {"share_features_extractor": False, "lstm_hidden_size": 8},
        ],
    )
    def test_the_export_acts_as_the_model(self, options: dict[str, Any], tmp_path: Path) -> None:
        contrib: Any = pytest.importorskip("sb3_contrib", reason="needs sb3-contrib")
        from mvsim_gym.sb3 import MVSimVecEnv

        envs = MVSimVecEnv(NAV, 2)
        model = contrib.RecurrentPPO(
            "MlpLstmPolicy", envs, n_steps=8, batch_size=16, device="cpu", seed=0, policy_kwargs=options
        )
        with torch.no_grad():  # else the actions hardly depend on the state
            model.policy.action_net.weight *= 30
        model.save(tmp_path / "model.zip")
        assert (
            main(["export", str(tmp_path / "model.zip"), "--env", NAV, "-o", str(tmp_path / "policy")]) == 0
        )
        exported = load_policy(tmp_path / "policy")
        layers, size = options.get("n_lstm_layers", 1), options.get("lstm_hidden_size", 256)
        assert [state.shape for state in exported.contract.states] == [(layers, size)] * 2
        named = VectorEnv(NAV, num_envs=3, copy=True)
        original = policy_of(str(tmp_path / "model.zip"), NAV, named)
        observations, _ = named.reset(seed=3)
        differing = 0
        for k in range(12):
            if k in (5, 8):
                rows = np.array([k == 5, True, False])
                begin_episodes(exported, rows)
                begin_episodes(original, rows)
            found, wanted = exported(observations), original(observations)
            np.testing.assert_allclose(found, wanted, atol=1e-5)
            fresh = load_policy(tmp_path / "policy")
            differing += np.abs(fresh(observations) - found)[2].max() > 1e-3
            observations, *_ = named.step(found)
        assert differing > 5, "the state matters"

    def test_evaluations_of_model_and_export_are_alike(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        contrib: Any = pytest.importorskip("sb3_contrib", reason="needs sb3-contrib")
        from mvsim_gym.sb3 import MVSimVecEnv

        model = contrib.RecurrentPPO(
            "MlpLstmPolicy", MVSimVecEnv(NAV, 2), n_steps=8, batch_size=16, device="cpu", seed=0
        )
        model.learn(32)
        model.save(tmp_path / "model.zip")
        assert (
            main(["export", str(tmp_path / "model.zip"), "--env", NAV, "-o", str(tmp_path / "policy")]) == 0
        )
        capsys.readouterr()
        said = []
        for name in ("policy", "model.zip"):
            options = ["--episodes", "4", "--set", "time_limit=3"]
            assert main(["evaluate", NAV, "--policy", str(tmp_path / name), *options]) == 0
            said.append(capsys.readouterr().out.splitlines()[1:])
        assert said[0] == said[1]
