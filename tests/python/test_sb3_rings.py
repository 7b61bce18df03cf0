"""RingExtractor: what a policy is shown of a 3D lidar, a satellite receiver and an inertial unit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from saved_policy import SMALL, learns_and_is_loaded

sb3 = pytest.importorskip("stable_baselines3")
torch = pytest.importorskip("torch")

import mvsim_gym  # noqa: E402
from mvsim_gym.sb3 import FlatObservation, MVSimVecEnv, RingExtractor  # noqa: E402

pytestmark = pytest.mark.unsanitized
ENV = "mvsim/Greenhouse-v0"
COLUMNS, VECTOR = 120, 17  # of the lidar; values that are no picture


def flat_of(**keywords: Any) -> FlatObservation:
    envs = mvsim_gym.VectorEnv(ENV, num_envs=1, **keywords)
    flat = FlatObservation(envs.single_observation_space)
    envs.close()
    return flat


def extractor(rings: tuple[int, int] = (1, 4), **keywords: Any) -> RingExtractor:
    flat = flat_of(**keywords)
    return RingExtractor(flat.space, flat.columns, rings, octaves=6)


def features_at(pose: list[float]) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Returns the features and the observation of a robot at rest at x [m], y [m], yaw [degrees]."""
    envs = mvsim_gym.VectorEnv(ENV, num_envs=1)
    observation, _ = envs.reset(seed=3, options={"pose": [[pose[0], pose[1], np.deg2rad(pose[2])]]})
    flat = FlatObservation(envs.single_observation_space)
    envs.close()
    network = RingExtractor(flat.space, flat.columns, (1, 4))
    seen = network({key: torch.as_tensor(rows) for key, rows in flat(observation).items()})
    assert seen.shape == (1, network.features_dim)
    return seen[0].numpy(), observation


def test_the_nearest_returns_are_shown_twice() -> None:
    features, observation = features_at([6, 0, 0])
    nearest = observation["range_image"][0, 1:4].min(axis=0) / 8
    np.testing.assert_allclose(features[:COLUMNS], 2 * nearest - 1, atol=1e-5)
    np.testing.assert_allclose(features[COLUMNS : 2 * COLUMNS], 0.1 / (0.1 + nearest), atol=1e-5)


@pytest.mark.parametrize("yaw", [-170.0, -30.0, 0.0, 90.0, 179.0])
def test_the_yaw_is_shown_by_its_sine_and_cosine(yaw: float) -> None:
    features, _ = features_at([-2, 0, yaw])
    np.testing.assert_allclose(
        features[-2:], [np.sin(np.deg2rad(yaw)), np.cos(np.deg2rad(yaw))], atol=0.05
    )  # the unit has noise


def test_places_are_waves() -> None:
    features, observation = features_at([21, 0.5, 0])
    phase = np.pi * observation["gnss"][0, :2, None] / 30 * 2.0 ** np.arange(6)
    waves = features[2 * COLUMNS + VECTOR - 4 : -2]
    np.testing.assert_allclose(
        waves, np.concatenate([np.sin(phase).ravel(), np.cos(phase).ravel()]), atol=1e-4
    )


def test_without_a_place_and_an_orientation_all_else_is_passed_on() -> None:
    network = extractor(observe={"gnss": False, "imu": False})
    assert network.features_dim == 2 * COLUMNS + VECTOR - 4 - 10
    vector = torch.rand(2, VECTOR - 14)
    seen = network({"range_image": torch.ones(2, 1, 8, COLUMNS), "vector": vector})
    assert torch.equal(seen[:, 2 * COLUMNS :], vector)


@pytest.mark.parametrize(
    ("rings", "keywords", "found"),
    [
        ((4, 4), {}, "rings: found"),
        ((0, 9), {}, "two of 0 to 8"),
        ((1, 4), {"observe": {"range_image": {"history": 2}}}, "without history"),
        ((1, 4), {"observe": {"gnss": {"history": 2}}}, "gnss: found 8 values, expected 4"),
    ],
)
def test_what_it_cannot_see_is_refused(rings: tuple[int, int], keywords: dict[str, Any], found: str) -> None:
    with pytest.raises(ValueError, match=found):
        extractor(rings, **keywords)


def test_a_policy_with_it_learns_and_is_loaded(tmp_path: Path) -> None:
    network = {
        "features_extractor_class": RingExtractor,
        "features_extractor_kwargs": {"columns": flat_of().columns, "rings": (1, 4)},
        "normalize_images": False,
    }
    envs = MVSimVecEnv(ENV, num_envs=2)
    learns_and_is_loaded(sb3.PPO("MultiInputPolicy", envs, policy_kwargs=network, **SMALL), envs, tmp_path)
    envs.close()
