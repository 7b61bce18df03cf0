"""Hindsight experience replay of examples/train_her.py."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import ROOT
from gymnasium import spaces

import mvsim_gym
from mvsim_gym.sb3 import MVSimVecEnv

pytest.importorskip("stable_baselines3", reason="the extra sb3 is not installed")
sys.path.append(str(ROOT / "examples"))
import torch
import train_her

pytestmark = pytest.mark.unsanitized


@pytest.mark.parametrize("id", list(train_her.LIMITS))
def test_the_limits_are_those_of_the_environment(id: str) -> None:
    """The reward is 1 exactly where the environment says that an episode succeeded."""
    model = train_her.learner(id, 0, 4)
    envs = MVSimVecEnv(id, num_envs=20, **train_her.LIMITS[id])
    envs.seed(0)
    seen: Any = envs.reset()
    ends = 0
    for _ in range(320):
        seen, rewards, dones, infos = envs.step(model.predict(seen)[0])
        for i in dones.nonzero()[0]:
            ends += 1
            assert infos[i]["is_success"] == (rewards[i] > 0)
        assert not rewards[~dones].any()
    assert ends > 5
    envs.close()


def test_the_network_sees_the_goal_from_the_robot() -> None:
    id, seeds = "mvsim/Parking-v0", list(range(5, 9))
    envs = MVSimVecEnv(id, num_envs=4, **train_her.LIMITS[id])
    envs.seed(seeds[0])
    seen: Any = envs.reset()
    space = envs.observation_space
    assert isinstance(space, spaces.Dict)
    layers = train_her.GoalAhead(space)
    shown = layers({key: torch.as_tensor(rows) for key, rows in seen.items()}).numpy()
    batch = mvsim_gym.VectorEnv(id, num_envs=4)
    distance, *bearing = batch.reset(seed=seeds)[0]["goal"].T  # bearing: cosine, sine
    heading = batch.reset(seed=seeds)[0]["goal_heading"]
    ahead = np.stack(bearing, axis=1) * distance[:, None]
    rest = seen["observation"].shape[1] - 2
    assert shown.shape == (4, layers.features_dim)
    np.testing.assert_allclose(shown[:, rest : rest + 2] * train_her.FAR, ahead, atol=1e-4)
    np.testing.assert_allclose(shown[:, rest + 4 : rest + 6], heading, atol=1e-5)
    envs.close()
    batch.close()


def test_what_comes_after_a_goal_in_hindsight_does_not_count() -> None:
    """Goals in hindsight give rewards without an end of the episode; the replay ends there."""
    model = train_her.learner("mvsim/NavArena-v0", 0, 4)
    model.learn(3_000)
    assert model.replay_buffer
    drawn = model.replay_buffer.sample(2_000)
    won = drawn.rewards > 0
    assert won.any() and not won.all() and (drawn.dones[won] == 1).all()


def test_a_run_leaves_its_policy_and_metrics(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "examples" / "train_her.py"), "--env", "mvsim/NavArena-v0"]
    options = ["--num-envs", "4", "--steps", "4400", "--check-every", "2200", "--out", str(tmp_path)]
    ran = subprocess.run([*command, *options], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    metrics = json.loads((tmp_path / "metrics.json").read_text())
    assert metrics["episodes"] == 500 and metrics["steps"] == 4400 and 0 <= metrics["success"] <= 1
    assert (tmp_path / "model.zip").exists() and "of 500 held-out episodes" in ran.stdout
