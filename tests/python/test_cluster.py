"""Training on a cluster of two nodes goes on when an env runner is killed."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT


@pytest.mark.slow
@pytest.mark.learners
@pytest.mark.unsanitized
def test_two_nodes_train_on_without_a_runner(tmp_path: Path) -> None:
    pytest.importorskip("ray")
    command = [sys.executable, str(ROOT / "examples" / "train_cluster.py"), "--steps", "20000"]
    errors = tmp_path / "errors"  # no pipe, which might fill up while nobody reads it
    with errors.open("w") as file:
        run = subprocess.Popen(
            [*command, "--num-envs", "32", "--episodes", "50"],
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
    assert "50 held-out episodes" in out and re.search(r"\| PPO \| +[\d.]+ % \|", out)
