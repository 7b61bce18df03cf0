"""Environments along paths without tracks: the paths, and what each of them is about."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT

import mvsim_gym

sys.path.append(str(ROOT / "examples"))
from baselines import policies
from evaluation import evaluate

PATHS = ROOT / "worlds" / "paths"
ROUTE = "mvsim/GnssRoute-v0"


def test_the_paths_are_those_of_their_script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(PATHS / "make_paths.py"), run_name="__main__")
    drawn = sorted(path.name for path in tmp_path.iterdir())
    assert drawn == sorted(path.name for path in PATHS.glob("*.csv"))
    for name in drawn:
        assert (tmp_path / name).read_text() == (PATHS / name).read_text(), name


def test_the_gaps_are_a_fifth_of_the_route_and_elsewhere_in_each_world() -> None:
    """A fix every second outside of the gaps, 1.5 m off; none within them."""
    envs = mvsim_gym.VectorEnv(ROUTE, num_envs=32, autoreset_mode="Disabled")
    policy = policies(ROUTE)["mean of fixes"]
    observation, _ = envs.reset(seed=3)
    has_fix, errors, first_loss = [], [], np.full(32, np.nan)
    before = observation["gnss"].reshape(32, 20, 4)[:, -1].copy()
    for step in range(700):
        observation, *_ = envs.step(policy(observation))
        fix = observation["gnss"].reshape(32, 20, 4)[:, -1].copy()
        fresh = (fix != before).any(axis=1) & (fix[:, 3] > 0)
        errors.append((fix[:, :2] - envs.read("vehicle:truck/pose")[:, :2])[fresh])
        has_fix.append(fix[:, 3])
        first_loss[np.isnan(first_loss) & (before[:, 3] > fix[:, 3])] = step
        before = fix
    assert 0.7 < np.mean(has_fix) < 0.9
    found = np.concatenate(errors)
    assert len(found) == pytest.approx(32 * 70 * np.mean(has_fix), rel=0.05)
    assert found.std() == pytest.approx(1.5, rel=0.1)
    assert len(np.unique(first_loss)) > 12
    envs.close()


def test_the_last_fix_alone_does_not_suffice() -> None:
    results = {
        name: evaluate(ROUTE, policy, range(32))["success"] for name, policy in policies(ROUTE).items()
    }
    assert results["mean of fixes"] > results["last fix"] + 0.3, results
