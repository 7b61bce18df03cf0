"""A training run that was killed goes on from its checkpoint to the very same policy."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import ROOT

pytest.importorskip("stable_baselines3", reason="the extra sb3 is not installed")
sys.path.append(str(ROOT / "examples"))
import checkpoints
import torch
from progress import Progress
from recipes import Recipe
from run_folder import CHECKPOINT, hold, new_folder, write_whole
from task import Task
from train_options import Options, options_of
from train_ppo import train, training_metrics

pytestmark = pytest.mark.unsanitized

STEPS = 700  # of rollouts of 64: the last one goes beyond them
RECIPE = Recipe(
    steps=STEPS,
    keywords={"time_limit": 2},
    net=(8,),
    num_envs=4,
    n_steps=16,
    batch_size=32,
    n_epochs=2,
    last_learning_rate=0,
    check_every=300,
    check_episodes=(4, 8),
)


class KilledError(Exception):
    """In place of SIGKILL: nothing is saved any more."""


class Run(Progress):
    """One that is killed in the rollout after a number of them."""

    kill_after = 10**9
    rates: list[float]

    def _on_step(self) -> bool:
        if self.rollouts > self.kill_after:
            raise KilledError
        return super()._on_step()

    def _on_rollout_start(self) -> None:
        super()._on_rollout_start()
        if self.rollouts > 1:
            self.rates.append(self.model.policy.optimizer.param_groups[0]["lr"])


def ran(
    folder: Path,
    state: checkpoints.State | None = None,
    kill_after: int = 10**9,
    env: str = "mvsim/IceDrive-v0",
) -> tuple[Run, dict[str, bytes], bytes]:
    """A run to its end: its progress, weights of the best and the last policy, and what is seen at the end."""
    folder.mkdir(exist_ok=True)
    progress = Run(Task(env, RECIPE.keywords), RECIPE, folder, 4, 1, False, save_every=0)
    progress.kill_after, progress.rates = kill_after, []
    model = train(Options(env=env, seed=3), progress, state)
    weights = {name: value.numpy().tobytes() for name, value in model.policy.state_dict().items()}
    last = {f"last {i}": mean.numpy().tobytes() for i, mean in enumerate(progress.mean)}
    seen = b"" if model._last_obs is None else np.asarray(model._last_obs).tobytes()
    return progress, {**weights, **last}, seen


def facts(progress: Progress) -> list[dict[str, Any]]:
    return [{key: value for key, value in row.items() if key != "seconds"} for row in progress.history]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, dict[str, bytes], bytes]:
    return ran(tmp_path_factory.mktemp("whole"))


@pytest.mark.parametrize("kill_after", [1, 6])
def test_a_run_that_was_killed_ends_as_one_that_was_not(
    kill_after: int, whole: tuple[Run, dict[str, bytes], bytes], tmp_path: Path
) -> None:
    with pytest.raises(KilledError):
        ran(tmp_path / "run", kill_after=kill_after)
    torch.manual_seed(99)
    np.random.seed(99)  # noqa: NPY002
    random.seed(99)
    state = checkpoints.load(tmp_path / "run")
    assert state["model"]["num_timesteps"] == 64 * kill_after
    progress, weights, observations = ran(tmp_path / "run", state)
    assert weights == whole[1] and observations == whole[2]
    assert facts(progress) == facts(whole[0]) and len(progress.history) == 4
    assert (progress.best_steps, progress.next_check) == (whole[0].best_steps, whole[0].next_check)
    metrics = training_metrics(progress, Options())
    assert metrics["steps"] == 704 and metrics["training_seconds"] > state["seconds"][0]


def test_the_learning_rate_falls_to_zero_and_stays_above(whole: tuple[Run, dict[str, bytes], bytes]) -> None:
    progress, _, _ = whole
    assert progress.rates[0] > progress.rates[-1] > 0
    schedule = progress.model.lr_schedule
    assert schedule(1.0) == RECIPE.learning_rate
    assert schedule(0.0) == schedule(1 - 704 / 700) == 0


def test_a_run_that_has_ended_is_only_evaluated(
    whole: tuple[Run, dict[str, bytes], bytes], tmp_path: Path
) -> None:
    state = checkpoints.load(whole[0].folder)
    assert state["trained"]
    progress, weights, _ = ran(whole[0].folder, state)
    assert weights == whole[1] and facts(progress) == facts(whole[0])
    assert training_metrics(progress, Options())["steps"] == 704


def test_a_second_run_takes_a_folder_of_its_own(tmp_path: Path) -> None:
    first = new_folder(tmp_path / "runs" / "A-seed0")
    assert first == tmp_path / "runs" / "A-seed0" == new_folder(first)  # nothing lies there yet
    (first / "last.zip").touch()
    second = new_folder(first)
    (second / "metrics.json").touch()
    assert second.name == "A-seed0-2" and new_folder(first).name == "A-seed0-3"


def test_a_folder_is_held_by_one_process(tmp_path: Path) -> None:
    hold(tmp_path)
    with pytest.raises(BlockingIOError):
        hold(tmp_path)


def test_a_file_is_the_old_one_until_the_new_one_is_whole(tmp_path: Path) -> None:
    file = tmp_path / "a.zip"
    write_whole(file, lambda out: out.write(b"old"))

    def fails(out: Any) -> None:
        out.write(b"ne")
        raise OSError("the disk is full")

    with pytest.raises(OSError):
        write_whole(file, fails)
    assert file.read_bytes() == b"old" and [path.name for path in tmp_path.iterdir()] == ["a.zip"]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ([], "there is no checkpoint.pt"),
        (["--seed", "0"], "--seed: a run that goes on has its own"),
        (["--set", "time_limit=3"], "--set: a run that goes on has its own"),
        (["--checkpoint-every", "-1"], "found -1, expected at least 0"),
    ],
)
def test_mistakes_of_who_goes_on(
    more: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        options_of(["--resume", str(tmp_path), *more], "")
    assert message in f"{caught.value.code} {capsys.readouterr().err}"


@pytest.mark.parametrize("content", [b"", b"nonsense", b"PK\x03\x04 and no more"])
def test_what_is_no_checkpoint_is_one_line(content: bytes, tmp_path: Path) -> None:
    (tmp_path / CHECKPOINT).write_bytes(content)
    with pytest.raises(SystemExit) as caught:
        options_of(["--resume", str(tmp_path)], "")
    assert "checkpoint.pt is no checkpoint of a run" in str(caught.value.code)
    assert "\n" not in str(caught.value.code)


def test_options_of_a_run_are_kept(tmp_path: Path) -> None:
    options, _ = options_of(
        ["--env", "my.env.xml", "--set", "reward.goal=2", "--episodes", "7", "--no-video"], ""
    )
    assert options.settings == {"reward": {"goal": 2}} and options.folder == Path("runs/my-seed0")
    torch.save({"options": {**options.kept(), "recipe": {}}}, tmp_path / CHECKPOINT)
    again, state = options_of(["--resume", str(tmp_path), "--episodes", "9", "--checkpoint-every", "0"], "")
    assert state is not None and (again.env, again.episodes, again.no_video) == ("my.env.xml", 9, True)
    assert again.settings == options.settings and again.checkpoint_every == 0


@pytest.mark.slow
def test_sigkill(tmp_path: Path) -> None:
    """The whole command, killed by the system and started again; another start meanwhile takes another folder."""
    command = [sys.executable, str(ROOT / "examples" / "train_ppo.py"), "--no-video", "--no-baselines"]
    new = ["--steps", "40000", "--num-envs", "16", "--episodes", "5", "--env", "mvsim/IceDrive-v0"]
    new += ["--set", "time_limit=3", "--checkpoint-every", "0", "--seed", "5"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}

    def run(*arguments: str) -> str:
        done = subprocess.run(
            [*command, *arguments], capture_output=True, text=True, cwd=tmp_path, env=environment, timeout=300
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    with subprocess.Popen(
        [*command, *new], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=tmp_path, env=environment
    ) as killed:
        folder = tmp_path / "runs" / "IceDrive-v0-seed5"
        for _ in range(1200):
            if (folder / "checkpoint.pt").exists() and checkpoints.load(folder)["progress"]["rollouts"] > 4:
                break
            assert killed.poll() is None
            time.sleep(0.1)
        killed.send_signal(signal.SIGKILL)
    step = checkpoints.load(folder)["model"]["num_timesteps"]
    assert 0 < step < 40000 and not (folder / "metrics.json").exists()
    assert f"from step {step:,} on" in run("--resume", str(folder))
    assert "into runs/IceDrive-v0-seed5-2" in run(*new)
    resumed, whole = (checkpoints.load(tmp_path / "runs" / f"IceDrive-v0-seed5{end}") for end in ("", "-2"))
    assert resumed["trained"] and whole["trained"]
    for name in ("policy", "optimizer", "progress"):
        assert _bytes(resumed[name]) == _bytes(whole[name]), name
    a, b = (
        json.loads((tmp_path / "runs" / f"IceDrive-v0-seed5{end}" / "metrics.json").read_text())
        for end in ("", "-2")
    )
    for name in ("success", "return", "best_steps", "steps", "keywords"):
        assert a[name] == b[name]
    assert a["keywords"]["time_limit"] == 3


def _bytes(value: Any) -> Any:
    """Equal where all numbers have the same bits; times are left out."""
    if isinstance(value, torch.Tensor):
        return value.numpy().tobytes()
    if isinstance(value, dict):
        return {key: _bytes(item) for key, item in value.items() if key not in ("seconds", "last_check")}
    if isinstance(value, list):
        return [_bytes(item) for item in value]
    return value
