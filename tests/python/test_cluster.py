"""Training on a cluster of two nodes goes on when an env runner is killed."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT

import mvsim_gym


def _check_model(run: Path) -> None:
    """It is loaded without the run, and does as well as the run said."""
    import torch
    from ray.rllib.core.columns import Columns
    from ray.rllib.core.rl_module.rl_module import RLModule

    sys.path.append(str(ROOT / "examples"))
    from evaluation import FINAL_SEEDS, evaluate

    told = json.loads((run / "metrics.json").read_text())
    module = RLModule.from_checkpoint(str(run / "model"))
    envs = mvsim_gym.VectorEnv(told["env"], num_envs=1, **told["keywords"])
    flat = mvsim_gym.rllib.FlatObservation(envs.single_observation_space)
    envs.close()

    @torch.no_grad()
    def act(observation: dict[str, np.ndarray]) -> np.ndarray:
        out = module.forward_inference({Columns.OBS: torch.from_numpy(flat(observation))})
        return np.clip(out[Columns.ACTION_DIST_INPUTS][:, :2].numpy(), -1, 1)

    row = evaluate(told["env"], act, FINAL_SEEDS[:50], **told["keywords"])
    assert (row["success"], row["episodes"]) == (told["success"], 50)
    assert sorted(path.name for path in run.iterdir()) == ["metrics.json", "model"]


@pytest.mark.slow
@pytest.mark.learners
@pytest.mark.unsanitized
def test_two_nodes_train_on_without_a_runner(tmp_path: Path) -> None:
    pytest.importorskip("ray")
    command = [sys.executable, str(ROOT / "examples" / "train_cluster.py"), "--steps", "20000"]
    errors = tmp_path / "errors"  # no pipe: it might fill up before it is read
    with errors.open("w") as file:
        run = subprocess.Popen(
            [*command, "--num-envs", "32", "--episodes", "50", "--out", str(tmp_path / "run")],
            stdout=subprocess.PIPE,
            stderr=file,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )
    assert run.stdout
    try:
        runners = [run.stdout.readline() for _ in range(2)]
        found = [
            re.match(r"env runner (\d): node (\w+), process (\d+), 32 envs, 1 threads", r) for r in runners
        ]
        assert found[0] and found[1], [*runners, errors.read_text()[-4000:]]
        assert found[0][2] != found[1][2]  # one on each node
        first = run.stdout.readline()
        assert "steps/s" in first
        os.kill(int(found[1][3]), signal.SIGKILL)
        out, _ = run.communicate(timeout=300)
    finally:
        run.kill()
    assert run.returncode == 0, errors.read_text()[-4000:]
    done = [int(n.replace(",", "")) for n in re.findall(r"([\d,]+) steps ", first + out)]
    assert done == sorted(done) and done[-1] >= 20_000
    _check_model(tmp_path / "run")
    assert "50 held-out episodes" in out and re.search(r"\| PPO \| +[\d.]+ % \|", out)
