"""Further cameras of `render`: sensors of the world, depths, and any place."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from conftest import actions_for, equal

from mvsim_gym import VectorEnv

DEPTH, VISUAL = "mvsim/DepthNavigation-v0", "mvsim/VisualNavigation-v0"


def test_the_camera_of_the_robot() -> None:
    """The picture is what the policy sees."""
    env = gym.make(VISUAL, render_mode="rgb_array", camera="robot/camera")
    observation, _ = env.reset(seed=0)
    for action in actions_for(0, 4, 1)[:, 0]:
        picture = env.render()
        assert isinstance(picture, np.ndarray)
        equal(picture, observation["image"])
        observation = env.step(action)[0]
    env.close()


@pytest.mark.parametrize("camera", ["above", "robot/camera"])
def test_depth(camera: str) -> None:
    """Metres, but for the noise of the sensor; 0 is nothing, which the observation has as the farthest."""
    env = gym.make(DEPTH, render_mode="depth_array", camera=camera)
    observation, _ = env.reset(seed=0)
    depth = env.render()
    assert isinstance(depth, np.ndarray) and depth.dtype == np.float32 and depth.shape == (48, 64)
    seen = depth > 0
    assert (
        seen.any()
        and (env.unwrapped.observation_space["depth"].high[~seen] == observation["depth"][~seen]).all()
    )  # type: ignore[index]
    assert np.abs(depth - observation["depth"])[seen].max() < 0.1  # 1 cm of noise in either
    equal(env.render(), depth)
    assert "depth_array" in env.metadata["render_modes"]
    env.close()


def test_looking_with_a_sensor_changes_nothing() -> None:
    seen, unseen = gym.make(DEPTH, render_mode="depth_array"), gym.make(DEPTH)
    equal(seen.reset(seed=2), unseen.reset(seed=2))
    for action in actions_for(3, 4, 1)[:, 0]:
        seen.render()
        equal(seen.step(action), unseen.step(action))
    for env in (seen, unseen):
        env.close()


def test_many() -> None:
    envs = VectorEnv(VISUAL, num_envs=3, render_mode="rgb_array", camera="robot/camera")
    observation, _ = envs.reset(seed=0)
    pictures = envs.render()
    assert pictures is not None
    equal(np.stack(pictures), observation["image"])
    envs.close()


def test_a_camera_that_stands_anywhere() -> None:
    place = ((-2.5, -2.5, 2.0), (0.0, 0.0, 0.0))
    first, other = (
        gym.make(DEPTH, render_mode="rgb_array", camera=camera, width=60, height=40)
        for camera in (place, "above")
    )
    pictures = []
    for env in (first, other):
        env.reset(seed=0)
        pictures.append(env.render())
        env.close()
    assert pictures[0].shape == (40, 60, 3) and pictures[0].std() > 5  # type: ignore[union-attr]
    assert (pictures[0] != pictures[1]).any()


@pytest.mark.parametrize(
    ("env_id", "keywords", "expected"),
    [
        ("mvsim/NavArena-v0", {"render_mode": "depth_array"}, "'depth_array'.*no depth camera"),
        (
            DEPTH,
            {"camera": "robot/camera"},
            r"'robot/camera', expected a camera of the world \(it has none\)",
        ),
        (VISUAL, {"camera": "robot/eye"}, r"'robot/eye', expected a camera of the world \('robot/camera'\)"),
        (
            VISUAL,
            {"render_mode": "depth_array", "camera": "robot/camera"},
            "'depth_array'|expected a depth camera",
        ),
        (
            DEPTH,
            {"render_mode": "depth_array", "camera": "behind"},
            r"expected a depth camera.*'robot/camera'",
        ),
        (DEPTH, {"camera": ((0, 0, 1), (0, 0, 1))}, "two different points"),
        (DEPTH, {"camera": ((0, 0), (0, 1))}, "two points"),
        (DEPTH, {"camera": "below"}, "'below', expected 'above'"),
    ],
)
def test_impossible_cameras(env_id: str, keywords: dict[str, Any], expected: str) -> None:
    with pytest.raises(ValueError, match=expected):
        VectorEnv(env_id, **keywords)


def test_no_depth_where_there_is_no_depth_camera() -> None:
    env = gym.make("mvsim/NavArena-v0")
    assert env.metadata["render_modes"] == ["rgb_array"]
    env.close()
