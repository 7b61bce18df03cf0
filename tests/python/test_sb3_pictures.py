"""Pictures for policies of Stable-Baselines3: order of channels, scales, and the small network that looks at them."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from conftest import actions_for
from saved_policy import SMALL, learns_and_is_loaded

sb3 = pytest.importorskip("stable_baselines3")
import torch  # noqa: E402

from mvsim_gym.sb3 import FlatObservation, MVSimVecEnv, PictureExtractor  # noqa: E402

DEPTH = "mvsim/DepthNavigation-v0"
NETWORK = {"features_extractor_class": PictureExtractor, "normalize_images": False, "net_arch": [64]}


def box(shape: tuple[int, ...], dtype: Any, high: float) -> gym.spaces.Box:
    return gym.spaces.Box(0, high, shape, dtype)


def test_order_of_channels() -> None:
    space = gym.spaces.Dict(
        {
            "image": box((3, 4, 3), np.uint8, 255),
            "images": box((2, 3, 4, 3), np.uint8, 255),
            "depth": box((3, 4), np.float32, 5),
            "depths": box((2, 3, 4), np.float32, 5),
            "labels": box((3, 4), np.uint16, 9),
            "speed": gym.spaces.Box(np.array([-2, 0], np.float32), np.array([2, 4], np.float32)),
        }
    )
    space.seed(0)
    flat = FlatObservation(space)
    rows = [space.sample() for _ in range(5)]
    many = {key: np.stack([row[key] for row in rows]) for key in space.spaces}
    found = flat(many)
    assert found.keys() == {*flat.pictures, "vector"} == set(flat.space.spaces)  # type: ignore[union-attr]
    for i, row in enumerate(rows):
        single = flat(row)
        assert single in flat.space
        for key in found:
            np.testing.assert_array_equal(single[key], found[key][i])
        for r, c in np.ndindex(3, 4):
            np.testing.assert_array_equal(single["image"][:, r, c], row["image"][r, c])
            np.testing.assert_array_equal(single["images"][:, r, c], row["images"][:, r, c].ravel())
            np.testing.assert_array_equal(single["labels"][:, r, c], [row["labels"][r, c]])
            np.testing.assert_allclose(single["depth"][:, r, c], [row["depth"][r, c] / 5], rtol=1e-6)
            np.testing.assert_allclose(single["depths"][:, r, c], row["depths"][:, r, c] / 5, rtol=1e-6)
        np.testing.assert_allclose(
            single["vector"], [row["speed"][0] / 2, row["speed"][1] / 2 - 1], rtol=1e-5, atol=1e-6
        )
    single["image"][:] = 0  # a copy
    assert rows[-1]["image"].any()


def test_keys_of_pictures() -> None:
    with pytest.raises(ValueError, match="picture with the key 'vector'"):
        FlatObservation(gym.spaces.Dict({"vector": box((3, 4), np.float32, 1)}))
    only = FlatObservation(gym.spaces.Dict({"depth": box((3, 4), np.float32, 1)}))
    assert set(only(only_depth := {"depth": np.ones((3, 4), np.float32)})) == set(only_depth)


@pytest.mark.parametrize(
    ("channels", "height", "width"),
    [(1, 48, 64), (3, 64, 64), (4, 84, 84), (1, 23, 1000), (1, 8, 120), (3, 16, 23), (2, 22, 64), (1, 1, 40)],
)
def test_network(channels: int, height: int, width: int) -> None:
    space = gym.spaces.Dict(
        {"eye": box((channels, height, width), np.uint8, 255), "vector": gym.spaces.Box(-1, 1, (5,))}
    )
    extractor = PictureExtractor(space)
    space.seed(0)
    seen = {key: torch.as_tensor(np.stack([rows] * 2)) for key, rows in space.sample().items()}
    features = extractor(seen)
    assert features.shape == (2, extractor.features_dim) == (2, 53)
    assert (features[:, -5:] == seen["vector"]).all()
    seen["eye"][1] = 255 - seen["eye"][1]
    assert (extractor(seen)[0, :48] != extractor(seen)[1, :48]).any()


def test_network_refuses_what_is_too_small() -> None:
    with pytest.raises(ValueError, match=r"'eye' of 16 x 64 pixels, expected at least 23 columns"):
        PictureExtractor(gym.spaces.Dict({"eye": box((1, 64, 16), np.uint8, 255)}))


@pytest.mark.parametrize("env_id", [DEPTH, "mvsim/Greenhouse-v0", "mvsim/VisualNavigation-v0"])
def test_ppo_with_a_small_network(env_id: str, tmp_path: Path) -> None:
    """Below 40,000 parameters; it learns, is saved, and plays on."""
    envs = MVSimVecEnv(env_id, 2)
    model = sb3.PPO("MultiInputPolicy", envs, policy_kwargs=NETWORK, **SMALL)
    assert sum(weights.numel() for weights in model.policy.parameters()) < 40_000
    convolution = next(iter(model.policy.features_extractor.networks.values()))[0].weight
    before = convolution.detach().clone()
    learns_and_is_loaded(model, envs, tmp_path)
    assert (convolution != before).any()


def test_policies_of_stable_baselines3_take_the_pictures() -> None:
    """Its own network (for pictures of at least 36 pixels a side), as it is told in docs/python-learners.md."""
    keywords = {"normalize_images": False, "net_arch": [8]}
    model = sb3.PPO("MultiInputPolicy", MVSimVecEnv(DEPTH, 2), policy_kwargs=keywords, **SMALL)
    extractors = model.policy.features_extractor.extractors
    assert type(extractors["depth"]).__name__ == "NatureCNN"


def test_goals_need_vectors() -> None:
    with pytest.raises(ValueError, match="goal_radius: found the observation 'depth', a picture"):
        MVSimVecEnv(DEPTH, 1, goal_radius=0.25)


def test_pickled_with_pictures() -> None:
    envs = MVSimVecEnv(DEPTH, 2)
    envs.seed(0)
    envs.reset()
    other = pickle.loads(pickle.dumps(envs))
    for action in actions_for(0, 3, 2):
        ours, theirs = envs.step(action)[0], other.step(action)[0]
        assert isinstance(ours, dict) and all(ours[k].tobytes() == theirs[k].tobytes() for k in ours)


def test_without_copies() -> None:
    """`copy=False` of the vector environment: the same arrays at every step, with the pictures of that step."""
    plain, fast = (gym.make_vec(DEPTH, num_envs=2, copy=copy) for copy in (True, False))
    first, kept = plain.reset(seed=0)[0], fast.reset(seed=0)[0]
    assert (first["depth"] == kept["depth"]).all()
    for action in actions_for(1, 5, 2):
        seen, now = plain.step(action)[0], fast.step(action)[0]
        assert now["depth"] is kept["depth"] and (seen["depth"] == kept["depth"]).all()
    assert (first["depth"] != kept["depth"]).any()
    for envs in (plain, fast):
        envs.close()
