"""The examples do what their tables and messages say."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import IDS, ROOT
from signalled import hearing_ctrl_c

import mvsim_gym
from mvsim_gym.registration import listing
from mvsim_gym.sb3 import PrivilegedCriticPolicy

sys.path.append(str(ROOT / "examples"))
import baselines
from baselines import policies
from evaluation import FINAL_SEEDS, HELD_OUT_SEEDS, evaluate, failures, table
from learned import median_run, summary
from networks import network_for
from progress import CHECK_SEEDS, surely
from recipes import FOLDER, Recipe, merged, read_recipe, recipe_of, recipes
from report import file_name
from robot import TEAMS, Robot
from task import Task, agents_of
from team_evaluation import evaluate_team, team_table
from train_options import Options
from train_ppo import recipe_for

pytestmark = pytest.mark.unsanitized


def standing(env_id: str) -> np.ndarray:
    return Robot(env_id).as_actions(np.zeros((1, 2)))


@pytest.mark.parametrize(("success", "episodes"), [(0.91, 2000), (0.5, 40), (1.0, 400), (0.0, 7)])
def test_what_a_check_makes_sure_of(success: float, episodes: int) -> None:
    """Wilson's bound by its definition: a rate that low would show `success` 1.645 deviations above itself."""
    low = surely(success, episodes)
    assert (success - low) ** 2 == pytest.approx(1.645**2 * low * (1 - low) / episodes, abs=1e-12)
    assert low <= success


def test_many_episodes_do_not_excuse_a_worse_policy() -> None:
    assert surely(1, 400) > surely(0.91, 2000)
    assert surely(0.999, 2000) > surely(1, 100)


def test_success_and_failures_add_up(env_id: str) -> None:
    """Every episode counts once, whatever ended it."""
    policy = next(iter(policies(env_id).values()))
    row = evaluate(env_id, policy, range(12), time_limit=8)
    assert row["success"] + sum(row["failures"].values()) == pytest.approx(1)
    assert "timeout" in row["failures"] and "goal" not in row["failures"] and "spl" not in row
    text = table({"a": row}).splitlines()
    assert text[0].startswith("| policy | success | ") and text[0].count("|") == text[2].count("|")


def test_the_yardstick_of_a_team_brings_most_to_their_goals(team_id: str) -> None:
    policy = next(iter(policies(team_id).values()))
    row = evaluate_team(team_id, policy, range(12), TEAMS[team_id])
    assert row["success"] > 0.8 and row["all"] > 0.4 and row["makespan"] < 30
    assert row["success"] + row["collision"] + row["timeout"] == pytest.approx(1)
    assert team_table({"a": row}).count("%") == 4


def test_an_episode_that_fails_in_two_ways_counts_once() -> None:
    ends = {
        "success": np.array([1, 0, 0, 0, 0]),
        "timeout": np.array([0, 0, 0, 1, 0]),
        "diverged": np.array([0, 0, 0, 0, 1]),
        "terminated/arrived": np.array([1, 1, 0, 0, 0]),
        "terminated/collision": np.array([0, 1, 1, 0, 0]),
        "terminated/stuck": np.array([0, 0, 1, 0, 0]),
    }
    assert failures(ends) == {"collision": 0.4, "stuck": 0, "timeout": 0.2, "diverged": 0.2}


def test_an_evaluation_is_that_of_its_seeds(monkeypatch: pytest.MonkeyPatch) -> None:
    """More seeds than envs, and envs that wait for others at the end: the same episodes as all at once."""
    seeds = range(50, 61)
    policy = next(iter(policies("mvsim/IceDrive-v0").values()))
    at_once = evaluate("mvsim/IceDrive-v0", policy, seeds, spl=True)
    monkeypatch.setattr("evaluation.AT_ONCE", 3)
    by_three = evaluate("mvsim/IceDrive-v0", policy, seeds, spl=True)
    assert by_three.keys() == at_once.keys()
    assert by_three["failures"] == at_once["failures"]
    for key in ("success", "time", "spl", "return"):
        assert by_three[key] == pytest.approx(at_once[key], rel=1e-9)


def test_nobody_won_is_no_time() -> None:
    still = standing(IDS[0])
    row = evaluate(IDS[0], lambda o: np.tile(still, (len(o["goal"]), 1)), range(3), time_limit=1)
    assert row["time"] is None and row["failures"]["timeout"] == 1
    assert "NaN" not in json.dumps(row) and "| - |" in table({"standing": row})


@pytest.mark.parametrize("env", ["mvsim/IceDrive-v0", "mvsim/MultiNav-v0"])
def test_the_figures_of_an_environment_join_those_of_others(
    env: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As docs/baselines.md has them; what was learned stays when the scripts are measured again."""
    path = tmp_path / "results.json"
    before = {"my/Other-v0": {"learned": None, "policies": {}}, env: {"learned": {"success": 0.5}}}
    path.write_text(json.dumps(before))
    monkeypatch.setattr(sys, "argv", ["baselines.py", "--env", env, "--episodes", "4", "--json", str(path)])
    baselines.main()
    after = json.loads(path.read_text())
    assert after["my/Other-v0"] == before["my/Other-v0"] and after[env]["learned"] == {"success": 0.5}
    rows = after[env]["policies"]
    assert [*policies(env), "random", "stands still"] == list(rows)
    assert all(row["episodes"] == 4 and 0 < row["length"] <= 40 for row in rows.values())
    idle = rows["stands still"]
    assert idle["success"] == idle["spl"] == 0 and idle["return"] < 0 and idle["length"] == pytest.approx(40)
    first = next(iter(rows.values()))
    assert first["return"] > 0 and 0 < first["spl"] <= first["success"]
    assert "| stands still |" in capsys.readouterr().out


@pytest.mark.parametrize("env", recipes())
def test_a_recipe_fits_its_environment(env: str) -> None:
    """It is evaluated on the environment's own task, but for observations, which are those that it learns with, and for
    actions, which may be a part of the environment's."""
    from mvsim_gym.sb3 import MVSimVecEnv

    recipe, agents = recipe_of(env), TEAMS.get(env, 1)
    assert set(recipe.keywords) <= {"observe", "action"} and agents_of(env, recipe.keywords) == agents
    assert recipe.num_envs % agents == 0
    assert recipe.n_steps * recipe.num_envs % recipe.batch_size == 0
    respawn = {"on_end": "respawn"} if agents > 1 else {}
    seen = MVSimVecEnv(env, num_envs=agents, **recipe.keywords, **respawn)
    learns = MVSimVecEnv(env, num_envs=agents, **merged(recipe.keywords, recipe.learning_keywords))
    assert learns.observation_space == seen.observation_space
    own = MVSimVecEnv(env, num_envs=agents, **respawn)
    low, high = (
        [np.asarray(envs.get_attr(name)[0]) for envs in (own, seen)] for name in ("action_low", "action_high")
    )
    assert (low[0] <= low[1]).all() and (low[1] < high[1]).all() and (high[1] <= high[0]).all()
    own.close()
    seen.close()
    learns.close()


def test_every_environment_has_a_recipe() -> None:
    assert set(recipes()) == set(listing())
    assert recipe_of("mvsim/NavArena-v0").steps == 1_500_000 and recipe_of("my/NavArena-v0") == Recipe()


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("step: 5", "found 'step', did you mean 'steps'?"),
        ("steps: 1e6", "steps: found '1e6', expected int"),
        ("net: 64", "net: found 64, expected tuple"),
        ("check_every: true", "check_every: found True, expected int"),
        ("- steps", "expected keys and values"),
    ],
)
def test_mistakes_of_a_recipe_are_named(tmp_path: Path, text: str, error: str) -> None:
    (tmp_path / "my.yaml").write_text(text)
    with pytest.raises(ValueError, match=re.escape(error)):
        read_recipe(tmp_path / "my.yaml")


def test_the_recipe_of_public_tracks_learns_with_less_grip_than_it_is_tested_with() -> None:
    recipe = read_recipe(FOLDER / "tracks" / "Race-v0.yaml")
    start = {"reset": {"line_up": {"lateral": 0, "yaw": 0, "along": "0 0.001", "speed": "3 3"}}}
    ways = []
    for keywords in (recipe.keywords, merged(recipe.keywords, recipe.learning_keywords)):
        envs = mvsim_gym.VectorEnv("mvsim/Race-v0", num_envs=32, **merged(keywords, start))
        envs.reset(seed=5)
        begin = envs.read("vehicle:car1/pose")
        for _ in range(10):
            envs.step(np.ones((32, 2), np.float32))
        ways.append(np.linalg.norm((envs.read("vehicle:car1/pose") - begin)[:, :2], axis=1))
        envs.close()
    assert np.ptp(ways[0]) < 0.01 and np.ptp(ways[1]) > 0.05
    assert ways[1].mean() < ways[0].mean()


def test_a_run_takes_a_recipe_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "my.yaml"
    path.write_text("steps: 300\nlearning_keywords: {reward: {collision: -3}}")
    recipe = recipe_for(Options(recipe=path, num_envs=2, settings={"obstacles": 2}))
    expected = {"reward": {"collision": -3}, "obstacles": 2}
    assert (recipe.steps, recipe.num_envs, recipe.learning_keywords) == (300, 2, expected)
    for text, error in [
        ("step: 5", "did you mean 'steps'"),
        ("steps: [", "line 1, column 9"),
        (None, "No such"),
    ]:
        path.unlink(missing_ok=True)
        if text is not None:
            path.write_text(text)
        with pytest.raises(SystemExit, match=error):
            recipe_for(Options(recipe=path))


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"octaves": 0}, "critic_only: expected a recipe of vectors with octaves"),
        ({"rings": (1, 2)}, "critic_only: expected a recipe of vectors with octaves"),
        ({"critic_only": ("pose",)}, "critic_only: found 'pose', expected one of"),
        ({"activation": "Relu"}, "activation: found 'Relu'"),
    ],
)
def test_mistakes_of_a_network_are_named(changes: dict[str, Any], error: str) -> None:
    recipe = recipe_of("mvsim/RowFollow-v0")
    flat = Task("mvsim/RowFollow-v0", recipe.keywords).flat()
    assert network_for(flat, recipe)[0] is PrivilegedCriticPolicy
    with pytest.raises(ValueError, match=error):
        network_for(flat, replace(recipe, **changes))


def test_keywords_are_merged_by_families_of_terms() -> None:
    first, second = {"reward": {"goal": 1, "turn": 2}, "gap": 1}, {"reward": {"turn": 3}, "time_limit": 9}
    assert merged(first, second) == {"reward": {"goal": 1, "turn": 3}, "gap": 1, "time_limit": 9}
    assert first == {"reward": {"goal": 1, "turn": 2}, "gap": 1}


def test_lists_of_seeds_have_nothing_in_common() -> None:
    assert not set(FINAL_SEEDS) & set(CHECK_SEEDS)
    assert FINAL_SEEDS[:500] == HELD_OUT_SEEDS and len(FINAL_SEEDS) == 5000 and len(CHECK_SEEDS) == 2000


def test_a_task_of_several_agents_is_evaluated_like_one_of_one() -> None:
    task = Task("mvsim/MultiNav-v0", {"robots": 3}, num_threads=1)
    assert task.agents == 3
    row = task.evaluate(policies("mvsim/MultiNav-v0")["keep right"], range(4), spl=True)
    assert row["success"] + sum(row["failures"].values()) == pytest.approx(1)
    assert 0 <= row["all"] <= row["success"] and table({"a": row}).count("%") == 3


def test_of_several_runs_the_one_in_the_middle_stands() -> None:
    def run(seed: int, success: float, to_95: int | None) -> dict[str, object]:
        return {
            "seed": seed,
            "success": success,
            "time": 10.0 + seed,
            "steps": 1000,
            "steps_to_95": to_95,
            "processor_seconds": 10.0 * seed,
        }

    runs = [run(0, 0.9, 30), run(1, 1.0, 10), run(2, 0.95, 20)]
    assert median_run(runs) == 2 and median_run(runs[:2]) == 0
    row = summary(runs)
    assert (row["success"], row["time"], row["successes"]) == (0.95, 12.0, [0.9, 1.0, 0.95])
    assert (row["steps_to_95"], row["processor_seconds"]) == (20, 10)
    assert summary([*runs, run(3, 0.2, None)])["steps_to_95"] is None


def test_the_mean_of_the_policy_is_evaluated_and_the_policy_goes_on(tmp_path: Path) -> None:
    """Weights after the updates 1, 2, 3 whose mean is 2 while few are known."""
    import torch
    from progress import Progress

    progress = Progress(Task("mvsim/NavArena-v0"), Recipe(averaging=0.9), tmp_path, 4, 1, False)
    policy = torch.nn.Linear(1, 1, bias=False)
    progress.model = type("Model", (), {"policy": policy})()
    for progress.rollouts in range(3):
        torch.nn.init.constant_(policy.weight, progress.rollouts + 1)
        progress.take_mean()
    with progress.averaged():
        assert policy.weight.item() == pytest.approx(2)
    assert policy.weight.item() == 3


@pytest.mark.parametrize("episodes", ["0", "501"])
def test_episodes_without_seeds_are_refused(
    episodes: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["baselines.py", "--episodes", episodes])
    with pytest.raises(SystemExit):
        baselines.main()
    assert f"--episodes {episodes}: expected 1 to 500" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("env", "name"),
    [
        ("mvsim/NavArena-v0", "NavArena-v0"),
        ("my_package.sub:my/Task-v0", "Task-v0"),
        ("Task-v0", "Task-v0"),
        ("../somewhere/my task.env.xml", "my-task"),
        ("/x/y.xml", "y"),
        ("..", "env"),
        ("a/../", "env"),
        (":", "env"),
    ],
)
def test_outputs_are_named_safely(env: str, name: str) -> None:
    assert file_name(env) == name


def train(*arguments: str, **keywords: object) -> subprocess.Popen[str]:
    command = [sys.executable, str(ROOT / "examples" / "train_ppo.py"), "--no-video", "--no-baselines"]
    with hearing_ctrl_c():
        return subprocess.Popen(
            [*command, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
            **keywords,
        )


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_run_that_is_stopped_leaves_its_models(number: signal.Signals, tmp_path: Path) -> None:
    from stable_baselines3 import PPO

    run = train("--steps", "100000000", "--out", str(tmp_path))
    for _ in range(600):
        if (tmp_path / "last.zip").exists() or run.poll() is not None:
            break
        time.sleep(0.2)
    time.sleep(3)
    run.send_signal(number)
    try:
        out, err = run.communicate(timeout=60)
    finally:
        run.kill()
    assert run.returncode == 128 + number, err
    assert f"{tmp_path}/model.zip is the best policy so far" in out
    for name in ("model.zip", "last.zip"):
        assert PPO.load(tmp_path / name, device="cpu").num_timesteps >= 0
    metrics = json.loads((tmp_path / "metrics.json").read_text())
    assert metrics["interrupted"] and metrics["history"][0]["steps"] == 0
    assert (tmp_path / "learning_curve.png").exists()
    assert not list(tmp_path.glob(".*"))


@pytest.mark.slow
def test_training_takes_the_path_of_an_environment_file(tmp_path: Path) -> None:
    file = tmp_path / "my task.env.xml"
    text = (ROOT / "envs" / "ice_drive.env.xml").read_text()
    (tmp_path / "worlds").mkdir()
    file.write_text(text.replace("../worlds/ice_drive", "worlds/ice_drive"))
    world = (ROOT / "worlds" / "ice_drive.world.xml").read_text()
    (tmp_path / "worlds" / "ice_drive.world.xml").write_text(world)
    run = train("--env", file.name, "--steps", "10000", "--num-envs", "16", "--episodes", "5", cwd=tmp_path)
    out, err = run.communicate(timeout=300)
    assert run.returncode == 0, err
    assert "about " in out and "| PPO |" in out
    metrics = json.loads((tmp_path / "runs" / "my-task-seed0" / "metrics.json").read_text())
    assert metrics["success"] + sum(metrics["failures"].values()) == pytest.approx(1)


@pytest.mark.slow
@pytest.mark.parametrize("env", sorted(TEAMS))
def test_training_takes_environments_of_several_agents(env: str, tmp_path: Path) -> None:
    run = train(
        "--env", env, "--steps", "3000", "--num-envs", "16", "--episodes", "4", "--out", str(tmp_path)
    )
    out, err = run.communicate(timeout=300)
    assert run.returncode == 0, err
    assert "| PPO |" in out and "| policy | all arrive |" in out
    metrics = json.loads((tmp_path / "metrics.json").read_text())
    assert metrics["success"] + sum(metrics["failures"].values()) == pytest.approx(1)
    assert (tmp_path / "model.zip").exists()


@pytest.mark.slow
def test_a_rollout_that_splits_a_world_is_refused() -> None:
    run = train("--env", "mvsim/MultiNav-v0", "--num-envs", "6")
    _, err = run.communicate(timeout=120)
    assert run.returncode == 1 and "--num-envs: found 6, expected a multiple of 4" in err


@pytest.mark.slow
def test_ppo_in_one_file_learns(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "examples" / "ppo.py"), "--steps", "8000", "--num-envs", "32"]
    command += ["--env", "mvsim/IceDrive-v0", "--episodes", "8", "--out", str(tmp_path / "policy.pt")]
    done = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"}, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert "8,192 steps" in done.stdout and "| PPO |" in done.stdout and "counts as" not in done.stderr
    assert (tmp_path / "policy.pt").stat().st_size > 10_000


@pytest.mark.slow
def test_a_mistake_in_env_is_one_line() -> None:
    run = train("--env", "mvsim/NavArna-v0")
    _, err = run.communicate(timeout=120)
    assert run.returncode == 1 and "did you mean 'mvsim/NavArena-v0'" in err and "Traceback" not in err
