"""Neighbours as input of Stable-Baselines3's policies."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from gymnasium import spaces
from saved_policy import SMALL, learns_and_is_loaded

torch = pytest.importorskip("torch")
sb3 = pytest.importorskip("stable_baselines3")
import mvsim_gym  # noqa: E402
from mvsim_gym.sb3 import FlatObservation, MVSimVecEnv, NeighbourExtractor  # noqa: E402

pytestmark = pytest.mark.unsanitized
ENV = "mvsim/Crowd-v0"


def extractor() -> tuple[NeighbourExtractor, slice]:
    envs = mvsim_gym.VectorEnv(ENV, num_envs=1)
    flat = FlatObservation(envs.single_observation_space)
    envs.close()
    assert isinstance(flat.space, spaces.Box)
    return NeighbourExtractor(flat.space, flat.columns["neighbours"], features=16), flat.columns["neighbours"]


def test_columns_are_where_the_observations_stand() -> None:
    envs = mvsim_gym.VectorEnv(ENV, num_envs=2)
    flat = FlatObservation(envs.single_observation_space)
    observation, _ = envs.reset(seed=3)
    seen = flat(observation)
    for key, columns in flat.columns.items():
        low, high = (getattr(envs.single_observation_space[key], bound) for bound in ("low", "high"))
        np.testing.assert_allclose(
            seen[:, columns], 2 * (observation[key] - low) / (high - low) - 1, atol=1e-5
        )
    envs.close()


def test_the_order_of_neighbours_does_not_matter() -> None:
    network, columns = extractor()
    envs = MVSimVecEnv(ENV, num_envs=8)
    envs.seed(1)
    seen = torch.as_tensor(envs.reset())
    other = seen.clone()
    other[:, columns] = other[:, columns].unflatten(1, (5, 6)).flip(1).flatten(1)
    assert not torch.equal(seen, other)
    torch.testing.assert_close(network(seen), network(other))
    envs.close()


def test_a_place_without_a_neighbour_says_nothing() -> None:
    network, columns = extractor()
    seen = torch.zeros(2, 35)
    people = seen[:, columns].unflatten(1, (5, 6))
    people[..., -1] = -1.0  # empty slots
    people[1, :, :5] = 0.5
    seen[:, columns] = people.flatten(1)
    features = network(seen)
    assert features.shape == (2, 5 + 16)
    torch.testing.assert_close(features[0], features[1])
    people[1, 3, -1] = 1.0
    seen[:, columns] = people.flatten(1)
    assert not torch.equal(network(seen)[1], features[1])


def test_columns_that_are_no_neighbours_are_refused() -> None:
    space = spaces.Box(-1.0, 1.0, (12,), np.float32)
    for columns in (slice(0, 5), slice(3, 3)):
        with pytest.raises(ValueError, match=r"columns: found . values, expected 6 of each neighbour"):
            NeighbourExtractor(space, columns)


def test_a_policy_with_it_learns_and_is_loaded(tmp_path: Path) -> None:
    network = {
        "features_extractor_class": NeighbourExtractor,
        "features_extractor_kwargs": {"columns": extractor()[1]},
    }
    envs = MVSimVecEnv(ENV, num_envs=2)
    learns_and_is_loaded(sb3.PPO("MlpPolicy", envs, policy_kwargs=network, **SMALL), envs, tmp_path)
    envs.close()
