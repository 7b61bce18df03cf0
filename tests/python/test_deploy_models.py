"""Exports of models of Stable-Baselines3 with pictures or with features of their own for the critic, and of models that
were trained in `VecNormalize`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mvsim_gym import VectorEnv
from mvsim_gym.deploy import load_policy
from mvsim_gym.tools.cli import main

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
pytest.importorskip("stable_baselines3")

from stable_baselines3 import A2C, PPO, SAC, TD3
from stable_baselines3.common.vec_env import VecExtractDictObs, VecNormalize

from mvsim_gym.sb3 import MVSimVecEnv, PrivilegedCriticPolicy

NAV, DEPTH, COLOUR = "mvsim/NavArena-v0", "mvsim/DepthNavigation-v0", "mvsim/VisualNavigation-v0"


def learned(kind: Any, policy: Any, envs: Any, path: Path, **network: Any) -> Any:
    """Returns a model that has learnt for a few steps, and saves it."""
    options: dict[str, Any] = (
        {"n_steps": 16} if kind in (PPO, A2C) else {"buffer_size": 100, "learning_starts": 8}
    )
    options |= {"batch_size": 16} if kind is PPO else {}
    model = kind(policy, envs, device="cpu", seed=0, policy_kwargs=network, **options)
    model.learn(64)
    model.save(path)
    return model


def seen_rows(env_id: str) -> dict[str, np.ndarray]:
    """Returns observations of a few steps."""
    envs = VectorEnv(env_id, num_envs=4)
    envs.reset(seed=7)
    for _ in range(5):
        seen = envs.step(np.tile(np.array([0.8, -0.4], np.float32), (4, 1)))[0]
    out = {key: np.array(rows) for key, rows in seen.items()}
    envs.close()
    return out


@pytest.mark.parametrize(
    ("key", "policy"), [(None, "MultiInputPolicy"), ("image", "CnnPolicy"), ("vector", "MlpPolicy")]
)
@pytest.mark.parametrize("kind", [PPO, pytest.param(SAC, marks=pytest.mark.slow)])
def test_models_of_pictures_act_as_their_exports(
    kind: Any, key: str | None, policy: str, tmp_path: Path
) -> None:
    envs: Any = MVSimVecEnv(COLOUR, 2)
    flat = envs._flatten
    model = learned(kind, policy, VecExtractDictObs(envs, key) if key else envs, tmp_path / "model.zip")
    envs.close()
    assert main(["export", str(tmp_path / "model.zip"), "--env", COLOUR, "-o", str(tmp_path / "policy")]) == 0
    seen = seen_rows(COLOUR)
    given = flat(seen)
    expected = model.predict(given[key] if key else given, deterministic=True)[0]
    np.testing.assert_allclose(load_policy(tmp_path / "policy")(seen), expected, atol=1e-5)


@pytest.mark.parametrize("critic_only", [["velocity"], []])
def test_the_export_is_the_actor_of_a_policy_whose_critic_sees_more(
    critic_only: list[str], tmp_path: Path
) -> None:
    envs = MVSimVecEnv(NAV, 2)
    flat = envs._flatten
    hidden = [flat.columns[key] for key in critic_only]
    model = learned(PPO, PrivilegedCriticPolicy, envs, tmp_path / "model.zip", critic_only=hidden)
    envs.close()
    assert main(["export", str(tmp_path / "model.zip"), "--env", NAV, "-o", str(tmp_path / "policy")]) == 0
    seen = seen_rows(NAV)
    policy = load_policy(tmp_path / "policy")
    np.testing.assert_allclose(policy(seen), model.predict(flat(seen), deterministic=True)[0], atol=1e-5)
    other = {**seen, "velocity": seen["velocity"] / 2}
    assert np.array_equal(policy(other), policy(seen)) == bool(critic_only)


@pytest.mark.parametrize(
    ("kind", "env_id", "keys"),
    [
        (PPO, NAV, None),
        (SAC, NAV, None),
        pytest.param(TD3, NAV, None, marks=pytest.mark.slow),
        pytest.param(A2C, DEPTH, ["vector"], marks=pytest.mark.slow),
    ],
)
def test_the_statistics_of_vec_normalize_are_in_the_export(
    kind: Any, env_id: str, keys: list[str] | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    envs: Any = MVSimVecEnv(env_id, 2)
    flat = envs._flatten
    within = VecNormalize(envs, norm_obs_keys=keys)
    policy = "MultiInputPolicy" if keys else "MlpPolicy"
    model = learned(kind, policy, within, tmp_path / "model.zip")
    within.save(str(tmp_path / "statistics.pkl"))
    out = tmp_path / "policy"
    export = ["export", str(tmp_path / "model.zip"), "--env", env_id, "-o", str(out)]
    assert main(export) == 1
    assert "was trained in VecNormalize" in capsys.readouterr().err and not out.exists()
    assert main([*export, "--normalize", str(tmp_path / "statistics.pkl")]) == 0
    seen = seen_rows(env_id)
    expected = model.predict(within.normalize_obs(flat(seen)), deterministic=True)[0]
    np.testing.assert_allclose(load_policy(out)(seen), expected, atol=1e-5)
    assert np.abs(model.predict(flat(seen), deterministic=True)[0] - expected).max() > 1e-4
    envs.close()


def test_statistics_that_do_not_fit_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    nav, depth = MVSimVecEnv(NAV, 2), MVSimVecEnv(DEPTH, 2)
    learned(PPO, "MlpPolicy", VecNormalize(nav, norm_obs=False), tmp_path / "model.zip")
    VecNormalize(depth, norm_obs_keys=["vector"]).save(str(tmp_path / "other.pkl"))
    (tmp_path / "text.pkl").write_text("no pickle")
    out = tmp_path / "policy"
    export = ["export", str(tmp_path / "model.zip"), "--env", NAV, "-o", str(out), "--normalize"]
    assert main([*export, "none"]) == 0
    kept = (out / "contract.json").read_bytes()
    for name, message in (
        ("other.pkl", r"found statistics of vector of the shape \(5,\)"),
        ("text.pkl", "cannot be loaded"),
        ("absent.pkl", "there is no file"),
    ):
        assert main([*export, str(tmp_path / name)]) == 1
        assert re.search(message, capsys.readouterr().err)
    assert (out / "contract.json").read_bytes() == kept  # a failed export leaves the folder as it was
    nav.close()
    depth.close()


def test_a_model_without_its_statistics_is_played_with_a_notice(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    envs = MVSimVecEnv(NAV, 2)
    for kind, within, is_said in ((PPO, VecNormalize(envs), True), (PPO, envs, False), (SAC, envs, False)):
        learned(kind, "MlpPolicy", within, tmp_path / "model.zip")
        assert main(["evaluate", NAV, "--policy", str(tmp_path / "model.zip"), "--episodes", "2"]) == 0
        assert ("was trained in VecNormalize" in caplog.text) is is_said
        caplog.clear()
    envs.close()
