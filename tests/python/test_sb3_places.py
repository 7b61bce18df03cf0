"""PlaceExtractor: what a policy is shown of a satellite receiver, odometry and an inertial unit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from saved_policy import SMALL, learns_and_is_loaded

sb3 = pytest.importorskip("stable_baselines3")
torch = pytest.importorskip("torch")

import mvsim_gym  # noqa: E402
from mvsim_gym.sb3 import (  # noqa: E402
    FlatObservation,
    MVSimVecEnv,
    PlaceExtractor,
    PrivilegedCriticPolicy,
)

pytestmark = pytest.mark.unsanitized
ROUTE, ROW = "mvsim/GnssRoute-v0", "mvsim/RowFollow-v0"
OCTAVES = 6
WAVES = 4 * OCTAVES + 1  # features of a place


def flat_of(env: str, **keywords: Any) -> FlatObservation:
    envs = mvsim_gym.VectorEnv(env, num_envs=1, **keywords)
    flat = FlatObservation(envs.single_observation_space)
    envs.close()
    return flat


def extractor(env: str, **keywords: Any) -> PlaceExtractor:
    flat = flat_of(env, **keywords)
    return PlaceExtractor(flat.space, flat.columns, ranges_of(flat), OCTAVES)


def ranges_of(flat: FlatObservation) -> dict[str, float]:
    return {name: float(flat.highs[part.start]) for name, part in flat.columns.items()}


def seen_by(network: PlaceExtractor, flat: FlatObservation, observation: dict[str, np.ndarray]) -> np.ndarray:
    with torch.no_grad():
        out = network(torch.as_tensor(flat(observation)))
    assert out.shape[1] == network.features_dim
    return np.asarray(out)


@pytest.mark.parametrize("yaw", [-170.0, -30.0, 0.0, 90.0, 179.0])
def test_the_yaw_is_shown_by_its_sine_and_cosine(yaw: float) -> None:
    envs = mvsim_gym.VectorEnv(ROW, num_envs=1)
    observation, _ = envs.reset(seed=3, options={"pose": [[-2, 0, np.deg2rad(yaw)]]})
    flat = FlatObservation(envs.single_observation_space)
    envs.close()
    features = seen_by(extractor(ROW), flat, observation)[0]
    expected = [np.sin(np.deg2rad(yaw)), np.cos(np.deg2rad(yaw))]
    np.testing.assert_allclose(features[-2:], expected, atol=0.05)  # the unit has noise


def test_a_quaternion_and_its_negative_are_the_same() -> None:
    flat, network = flat_of(ROW), extractor(ROW)
    vector = torch.rand(3, flat.highs.size)
    turned = vector.clone()
    turned[:, flat.columns["imu"].stop - 4 : flat.columns["imu"].stop] *= -1
    assert torch.equal(network(vector), network(turned))


def observed(rng: np.random.Generator) -> tuple[dict[str, np.ndarray], np.ndarray, float]:
    """Returns an observation of GnssRoute that is free of noise, made of a path, and the place and the yaw now."""
    places = np.array([40, 20]) + np.cumsum(rng.normal(0, 3, (20, 2)), axis=0)
    yaws, start = rng.uniform(-3, 3, 20), rng.uniform(-3, 3)
    c, s = np.cos(-start), np.sin(-start)  # the odometry begins in a frame of its own
    driven = (places - places[0]) @ np.array([[c, s], [-s, c]])
    flags = np.ones(20)
    flags[[3, 4, 11]] = 0
    gnss = np.column_stack([places * flags[:, None], np.zeros(20), flags])
    odometry = np.column_stack([driven, np.cos(yaws - start), np.sin(yaws - start)])
    half = yaws[-1] / 2
    imu = np.concatenate([np.zeros(6), [np.cos(half), 0, 0, np.sin(half)]])
    rows = {"gnss": gnss.ravel(), "imu": imu, "odometry": odometry.ravel(), "velocity": np.zeros(2)}
    return {key: row[None].astype(np.float32) for key, row in rows.items()}, places[-1], yaws[-1]


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_fixes_are_carried_to_the_present(seed: int) -> None:
    """Without noise each fix, carried along the way driven since, is the place of today; so is every mean of them."""
    rng = np.random.default_rng(seed)
    observation, place, yaw = observed(rng)
    flat, network = flat_of(ROUTE), extractor(ROUTE)
    with torch.no_grad():
        network.weights.copy_(torch.as_tensor(rng.normal(0, 1, 20)))
    features = seen_by(network, flat, observation)[0]
    phase = np.pi * place[:, None] / 150 * 2.0 ** np.arange(OCTAVES)
    expected = [np.sin(yaw), np.cos(yaw), *np.sin(phase).ravel(), *np.cos(phase).ravel(), 17 / 20]
    np.testing.assert_allclose(features[-WAVES - 2 :], expected, atol=1e-3)


def test_weights_of_frames_are_learned() -> None:
    observation, *_ = observed(np.random.default_rng(5))
    observation["gnss"][0, 4 * 19] += 10  # the last fix is wrong
    flat, network = flat_of(ROUTE), extractor(ROUTE)
    network(torch.as_tensor(flat(observation)))[:, -WAVES:].sum().backward()
    assert network.weights.grad is not None
    slopes = network.weights.grad.numpy()
    assert abs(slopes[19]) > 1e-3 and (slopes[[3, 4, 11]] == 0).all()  # frames without a fix have no say


def test_without_a_fix_the_place_is_a_constant() -> None:
    observation, *_ = observed(np.random.default_rng(5))
    observation["gnss"][:] = 0
    features = seen_by(extractor(ROUTE), flat_of(ROUTE), observation)[0]
    np.testing.assert_allclose(features[-WAVES:], [0] * 2 * OCTAVES + [1] * 2 * OCTAVES + [0], atol=1e-6)


def test_one_fix_needs_no_odometry() -> None:
    now = {"gnss": {"history": None, "stride": None}, "odometry": False, "imu": False}
    network = extractor(ROUTE, observe=now)
    assert network.features_dim == 2 + WAVES
    vector = torch.zeros(1, 6)
    vector[0, :2], vector[0, 3] = torch.tensor([0.25, -0.5]), 1
    phase = np.pi * np.array([[0.25], [-0.5]]) * 2.0 ** np.arange(OCTAVES)
    waves = network(vector).detach().numpy()[0, 2:-1]
    np.testing.assert_allclose(waves, [*np.sin(phase).ravel(), *np.cos(phase).ravel()], atol=1e-5)


@pytest.mark.parametrize(
    ("env", "observe", "found"),
    [
        (ROUTE, {"odometry": False}, "found 20 frames, expected as many of 'odometry'"),
        (ROUTE, {"odometry": {"history": 5}}, "found 20 frames, expected as many of 'odometry'"),
        (ROUTE, {"imu": False}, "and an 'imu'"),
        (ROW, {"imu": {"history": 2}}, "imu: found 20 values, expected 10"),
        (ROW, {"imu": False}, "expected the observation 'gnss' or 'imu'"),
    ],
)
def test_what_it_cannot_see_is_refused(env: str, observe: dict[str, Any], found: str) -> None:
    with pytest.raises(ValueError, match=found):
        extractor(env, observe=observe)


def test_a_policy_with_it_learns_and_is_loaded(tmp_path: Path) -> None:
    flat = flat_of(ROUTE)
    network = {
        "features_extractor_class": PlaceExtractor,
        "features_extractor_kwargs": {"columns": flat.columns, "ranges": ranges_of(flat)},
    }
    envs = MVSimVecEnv(ROUTE, num_envs=2)
    learns_and_is_loaded(sb3.PPO("MlpPolicy", envs, policy_kwargs=network, **SMALL), envs, tmp_path)
    envs.close()


def test_the_actor_does_not_see_what_only_the_critic_observes(tmp_path: Path) -> None:
    keywords: dict[str, Any] = {"observe": {"row_error": {}}}
    flat = flat_of(ROW, **keywords)
    network = {
        "features_extractor_class": PlaceExtractor,
        "features_extractor_kwargs": {"columns": flat.columns, "ranges": ranges_of(flat)},
        "critic_only": [flat.columns["row_error"]],
    }
    envs = MVSimVecEnv(ROW, num_envs=2, **keywords)
    model = sb3.PPO(PrivilegedCriticPolicy, envs, policy_kwargs=network, **SMALL)
    learns_and_is_loaded(model, envs, tmp_path)
    envs.close()

    same = torch.rand(1, flat.highs.size).repeat(2, 1)
    other = same.clone()
    other[:, flat.columns["row_error"]] += 0.5
    scan = same.clone()
    scan[:, flat.columns["scan"]] += 0.5

    def means(vector: torch.Tensor) -> torch.Tensor:
        return model.policy.get_distribution(vector).distribution.mean

    with torch.no_grad():
        assert torch.equal(means(same), means(other))
        assert not torch.equal(means(same), means(scan))
        assert not torch.equal(model.policy.predict_values(same), model.policy.predict_values(other))
        # every way of the training to the actor, too
        torch.manual_seed(0)
        action = model.policy(same)[0]
        torch.manual_seed(0)
        assert torch.equal(action, model.policy(other)[0])
        chances = [model.policy.evaluate_actions(vector, action)[1] for vector in (same, other)]
        assert torch.equal(*chances)
