"""Keywords of environments on the command line: `--set`, `--roots`, modules of the working folder."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

import mvsim_gym
from mvsim_gym.tools.cli import main
from mvsim_gym.tools.options import combined, settings_of
from mvsim_gym.tools.parameters import parameters_of
from mvsim_gym.tools.view import view_envs

ARENA = "mvsim/NavArena-v0"


@pytest.mark.parametrize(
    ("texts", "found"),
    [
        (["time_limit=30"], {"time_limit": 30}),
        (["reward.collision=-20", "reward.time=-0.1"], {"reward": {"collision": -20, "time": -0.1}}),
        (['reward={"collision": -20}', "reward.goal=5"], {"reward": {"collision": -20, "goal": 5}}),
        (["reward={'collision': None}"], {"reward": {"collision": None}}),
        (["randomize=standard"], {"randomize": "standard"}),
        (["observe.scan=false", "observe.near=True"], {"observe": {"scan": False, "near": True}}),
        (["action.vx=0.5 1"], {"action": {"vx": "0.5 1"}}),
        (['map=["a.yaml", "b.yaml"]'], {"map": ["a.yaml", "b.yaml"]}),
        (["obstacles=2", "obstacles=4"], {"obstacles": 4}),
        (["title=a=b"], {"title": "a=b"}),
        ([" gap = 1.5 "], {"gap": 1.5}),
    ],
)
def test_texts_become_keywords(texts: list[str], found: dict[str, Any]) -> None:
    assert settings_of(texts) == found


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("time_limit", "--set: found 'time_limit', expected KEY=VALUE"),
        ("=3", "--set: found '=3', expected KEY=VALUE"),
        ("reward..x=3", "expected KEY=VALUE"),
        ("reward={collision: -20}", "--set reward: found '{collision: -20}', expected JSON"),
        ("x=" + "[" * 100_000, "expected JSON"),
        ("num_envs=3", "found the keyword 'num_envs', which the command chooses"),
        ("env=other.env.xml", "found the keyword 'env', which the command chooses"),
        ("roots=/tmp", "found the keyword 'roots', expected --roots FOLDER"),
    ],
)
def test_texts_that_say_nothing_are_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError) as caught:
        settings_of([text])
    assert message in str(caught.value)


def test_contradictions_are_refused() -> None:
    with pytest.raises(ValueError, match="found reward both with and without parts of its own"):
        settings_of(["reward=false", "reward.collision=-20"])


def test_keywords_of_a_model_and_of_the_caller_are_put_together() -> None:
    of_model = {"observe": {"near": {"max": 0.7}}, "roots": ["/a"], "time_limit": 9}
    own = {"observe": {"near": {"max": 1}, "scan": False}, "roots": ["/b"]}
    assert combined(of_model, own) == {
        "observe": {"near": {"max": 1}, "scan": False},
        "roots": ["/a", "/b"],
        "time_limit": 9,
    }


@pytest.mark.parametrize("text", ["obstacle=2", "time_limit=NaN", "reward.collison=-20", "obstacles=many"])
@pytest.mark.parametrize("command", ["parameters", "evaluate"])
def test_what_the_environment_does_not_have_is_one_line(
    command: str, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command, ARENA, "--set", text]) == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and text.partition("=")[0] in error


def test_parameters_with_settings(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["parameters", ARENA, "block:obstacle*/scale", "--set", "obstacles=3"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1 + 3


def test_parameters_of_several_agents(team_id: str, capsys: pytest.CaptureFixture[str]) -> None:
    """And what is listed can be randomised."""
    assert main(["parameters", team_id]) == 0
    paths = [line.split()[0] for line in capsys.readouterr().out.splitlines()[1:]]
    masses = [path for path in paths if path.endswith("/chassis/mass")]
    assert len(masses) > 1
    rows = len(masses)
    envs = mvsim_gym.VectorEnv(team_id, num_envs=rows, randomize={masses[0]: {"scale": 0.5}})
    envs.reset(seed=1)
    found = {p.path: p.nominal for p in parameters_of(team_id)}
    assert envs.read(masses[0])[0] == pytest.approx(found[masses[0]] / 2)
    envs.close()


def test_evaluate_with_settings(capsys: pytest.CaptureFixture[str]) -> None:
    """Two steps cost 14, so the return is about -14."""
    arguments = ["evaluate", ARENA, "--episodes", "3", "--set", "time_limit=0.4", "--set", "reward.time=-7"]
    assert main(arguments) == 0
    out = capsys.readouterr().out
    assert "timeout      100.0 %" in out
    assert float(out.splitlines()[-1].split()[1]) < -13


def test_film_with_settings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("imageio_ffmpeg", reason="the extra video is not installed")
    arguments = ["film", ARENA, "-o", str(tmp_path / "f.gif"), "--width", "64", "--height", "64"]
    assert main([*arguments, "--set", "time_limit=0.4"]) == 0
    assert "timeout after 0.4 s, 3 frames" in capsys.readouterr().out


def test_a_data_set_keeps_its_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    minari = pytest.importorskip("minari", reason="the extra record is not installed")
    arguments = ["collect", ARENA, "--episodes", "2", "-o", str(tmp_path), "--set", "time_limit=0.4"]
    assert main([*arguments, "--set", "obstacles=2"]) == 0
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    dataset = minari.load_dataset("mvsim/NavArena/random-v0")
    assert [len(episode) for episode in dataset.iterate_episodes()] == [2, 2]
    env = dataset.recover_environment()
    assert env.spec is not None and env.spec.kwargs["obstacles"] == 2
    env.close()


def test_view_with_settings() -> None:
    pytest.importorskip("viser", reason="the extra view is not installed")
    said = io.StringIO()
    settings = {"robots": 3, "time_limit": 1}
    view_envs("mvsim/MultiNav-v0", "random", host="127.0.0.1", port=0, steps=1, say=said, settings=settings)
    assert said.getvalue().startswith("view: http")


def test_a_team_of_another_size_is_evaluated(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", "mvsim/MultiNav-v0", "--episodes", "2", "--set", "robots=3"]) == 0
    assert "2 episodes of 3 agents" in capsys.readouterr().out


def test_a_world_has_no_keywords(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["view", str(ROOT / "worlds" / "ice_drive.world.xml"), "--set", "time_limit=3"]) == 1
    assert "--set: found a world, expected an environment" in capsys.readouterr().err


@pytest.fixture
def far_task(tmp_path: Path) -> Path:
    """An environment whose world includes a file from a folder that it may not read."""
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "box.xml").write_text('<block name="box"><init_pose>9 9 0</init_pose></block>')
    task = tmp_path / "task"
    (task / "envs").mkdir(parents=True)
    (task / "worlds").mkdir()
    world = (ROOT / "worlds" / "ice_drive.world.xml").read_text()
    far = f'<include file="{tmp_path}/parts/box.xml"/></mvsim_world>'
    (task / "worlds" / "ice_drive.world.xml").write_text(world.replace("</mvsim_world>", far))
    (task / "envs" / "far.env.xml").write_text((ROOT / "envs" / "ice_drive.env.xml").read_text())
    return task / "envs" / "far.env.xml"


def test_folders_that_a_world_may_read(far_task: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An error for a file outside of the roots says how to add one, and the option adds it."""
    assert main(["parameters", str(far_task), "*mass"]) == 1
    assert "is outside of the folders" in (error := capsys.readouterr().err)
    assert "roots= or --roots adds a folder" in error
    assert main(["parameters", str(far_task), "*mass", "--roots", str(far_task.parents[2] / "parts")]) == 0
    assert main(
        ["evaluate", str(far_task), "--episodes", "1", "--roots", str(far_task.parents[2]), "--set", "time_limit=1"]
    ) == 0  # fmt: skip


@pytest.mark.unsanitized
def test_training_takes_settings_and_folders(far_task: Path) -> None:
    """They go before the recipe, while it learns and in its evaluations, and are kept with the model."""
    pytest.importorskip("stable_baselines3", reason="the extra sb3 is not installed")
    sys.path.append(str(ROOT / "examples"))
    from task import Task
    from train_options import options_of
    from train_ppo import recipe_for

    arguments = [
        "--env",
        str(far_task),
        "--roots",
        str(far_task.parents[2] / "parts"),
        "--set",
        "time_limit=3",
    ]
    options, _ = options_of([*arguments, "--set", "reward.time=-1"], "")
    recipe = recipe_for(options)
    assert Task(options.env, recipe.keywords).agents == 1
    options, _ = options_of(["--env", "mvsim/IceDrive-v0", "--set", "reward.time=-1", "--steps", "50"], "")
    recipe = recipe_for(options)
    assert recipe.learning_keywords["reward"] == {"time": -1} and recipe.steps == 50
    assert recipe.keywords["reward"] == {"time": -1} and "near_goal" in recipe.keywords["observe"]


def test_modules_of_the_working_folder_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [place for place in sys.path if place not in ("", str(tmp_path))])
    Path("my_few_tasks.py").write_text(
        f"import mvsim_gym\nmvsim_gym.register('mine/FewBlocks-v0', '{ARENA}', obstacles=2)\n"
    )
    assert main(["parameters", "my_few_tasks:mine/FewBlocks-v0", "block:obstacle*/scale"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1 + 2
    assert main(["parameters", "my_few_tasks:mine/Other-v0"]) == 1
    assert str(tmp_path / "my_few_tasks.py") in capsys.readouterr().err
