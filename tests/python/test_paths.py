"""Environments along a path: the path itself, and what makes each of them hard."""

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
DRIFT, ROUTE, SLICK = "mvsim/Drift-v0", "mvsim/GnssRoute-v0", "mvsim/Slick-v0"


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


def test_slippery_patches_are_harder_and_elsewhere_in_each_episode() -> None:
    policy = policies(SLICK)["as on dry ground"]
    slips = ("0.8, 0.8", "0.1, 0.2", "0.05, 0.1")
    rates = [evaluate(SLICK, policy, range(60), slip=slip)["success"] for slip in slips]
    assert rates[0] > 0.95 and rates[0] > rates[1] + 0.15 > rates[2] + 0.3, rates
    envs = mvsim_gym.VectorEnv(SLICK, num_envs=20)
    envs.reset(seed=0)
    for parameter in ("x", "y", "size_x", "friction_mu"):
        assert len(np.unique(envs.read(f"region:slick1/{parameter}"))) == 20
    envs.close()


def test_the_drifter_slips_and_the_other_does_not() -> None:
    """Slip is worth more than what it costs in offset and lost laps."""
    slips, returns = {}, {}
    for name in ("drifts", "keeps the line"):
        envs = mvsim_gym.VectorEnv(DRIFT, num_envs=64, autoreset_mode="SameStep")
        observation, _ = envs.reset(seed=7)
        policy, ended = policies(DRIFT)[name], np.zeros(64, bool)
        slip, total = np.zeros(64), np.zeros(64)
        for _ in range(400):
            observation, reward, terminated, truncated, info = envs.step(policy(observation))
            total += np.where(ended, 0, reward)
            first = (terminated | truncated) & ~ended
            if first.any():
                slip[first] = info["final_info"]["reward/sideslip"][first]
            ended |= first
        slips[name], returns[name] = slip.mean(), total.mean()
        envs.close()
    assert slips["drifts"] > 20 and slips["drifts"] > 3 * slips["keeps the line"], slips
    assert returns["drifts"] > returns["keeps the line"] + 5, returns


def test_no_constant_command_laps_the_oval() -> None:
    """On an oval of shorter straights a constant command completes laps, which is why these are 2 m long."""
    commands = np.array([[v, s] for v in np.linspace(-0.4, 1, 6) for s in np.linspace(0.1, 1, 8)], np.float32)
    actions = np.repeat(commands, 6, axis=0)
    envs = mvsim_gym.VectorEnv(DRIFT, num_envs=len(actions), autoreset_mode="SameStep")
    envs.reset(seed=11)
    won = np.zeros(len(actions))
    for _ in range(400):
        *_, info = envs.step(actions)
        if "final_info" in info:
            won = np.maximum(won, info["final_info"]["success"])
    assert won.reshape(len(commands), 6).mean(axis=1).max() <= 0.34
    assert won.mean() < 0.02
