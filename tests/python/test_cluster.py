"""Training on a cluster of two nodes goes on when an env runner is killed."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys

import pytest
from conftest import ROOT


@pytest.mark.slow
@pytest.mark.learners
@pytest.mark.unsanitized
def test_two_nodes_train_on_without_a_runner() -> None:
    pytest.importorskip("ray")
    command = [sys.executable, str(ROOT / "examples" / "train_cluster.py"), "--steps", "20000"]
    run = subprocess.Popen(
        [*command, "--num-envs", "32"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert run.stdout
    try:
        runners = [run.stdout.readline() for _ in range(2)]
        found = [
            re.match(r"env runner (\d): node (\w+), process (\d+), 32 envs, 1 threads", r) for r in runners
        ]
        assert found[0] and found[1], [*runners, run.communicate(timeout=60)[1][-4000:]]
        assert found[0][2] != found[1][2]  # one on each node
        first = run.stdout.readline()
        assert "steps/s" in first
        os.kill(int(found[1][3]), signal.SIGKILL)
        out, err = run.communicate(timeout=240)
    finally:
        run.kill()
    assert run.returncode == 0, err[-4000:]
    done = [int(n.replace(",", "")) for n in re.findall(r"([\d,]+) steps ", first + out)]
    assert done == sorted(done) and done[-1] >= 20_000
