"""Parking: where boxes and goals stand, what the goal demands, and HER on it."""

from __future__ import annotations

import sys

import gymnasium as gym
import numpy as np
import pytest
from conftest import ROOT

import mvsim_gym

sys.path.append(str(ROOT / "examples"))
import parking_policies as curves
from baselines import policies
from evaluation import evaluate

PARKING = "mvsim/Parking-v0"
# The bays of HighwayEnv's lot: nose first is outwards.
BAYS = {(x, y): np.copysign(np.pi / 2, y) for x in range(-26, 27, 4) for y in (-14, 14)}


def test_boxes_and_goal_stand_in_different_bays() -> None:
    envs = mvsim_gym.VectorEnv(PARKING, num_envs=200, boxes=27)
    envs.reset(seed=2)
    goals = envs.read("goal")
    assert {(x, y) for x, y in goals.tolist()} == set(BAYS)
    yaws = np.array([BAYS[(x, y)] for x, y in goals.tolist()])
    np.testing.assert_allclose(envs.read("goal_yaw"), yaws, atol=1e-12)
    poses = np.stack([envs.read(f"block:box{i}/pose") for i in range(1, 28)], axis=1)
    for boxes, goal in zip(poses, goals, strict=True):
        places = [*boxes[:, :2].round(6).tolist(), goal.tolist()]
        assert {(x, y) for x, y in places} == set(BAYS)
    envs.close()


def test_the_script_parks_among_few_and_many_boxes() -> None:
    for boxes in (0, 27):
        found = evaluate(PARKING, policies(PARKING)["Reeds and Shepp"], range(7, 27), boxes=boxes)
        assert found["success"] >= 0.9, boxes


def test_curves_lead_where_they_should() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.uniform(-5, 5, (2, 200))
    turn = rng.uniform(-np.pi, np.pi, 200)
    lengths, bends = curves.reeds_shepp(x, y, turn)
    pose = np.zeros((200, 12, 3))
    for piece in range(3):
        pose = curves.advanced(pose, lengths[..., piece], bends[:, piece])
    known = ~np.isnan(pose[..., 0])
    assert known.any(axis=1).all()
    wanted = np.broadcast_to(np.stack([x, y], axis=1)[:, None], (200, 12, 2))
    np.testing.assert_allclose(pose[known][:, :2], wanted[known], atol=1e-9)
    off = pose[..., 2] - turn[:, None]
    np.testing.assert_allclose(np.cos(off[known]), 1, atol=1e-9)


def test_heading_and_speed_count() -> None:
    """In the bay the wrong way round, askew or fast is no success."""
    env = gym.make(PARKING, boxes=0, action={"vx": "-2 2"})
    goal = [2.0, 14.0]
    for turn, moves, wins in ((0.0, 0.0, True), (0.12, 0.0, False), (np.pi, 0.0, False), (0.0, 1.0, False)):
        env.reset(seed=1, options={"pose": (0, 0, 0), "goal": goal})
        simulator = env.unwrapped
        simulator.write("vehicle:truck/pose", [2, 14 - 0.2 * moves, np.pi / 2 + turn])  # type: ignore[attr-defined]
        simulator.write("vehicle:truck/twist", [moves, 0, 0])  # type: ignore[attr-defined]
        *_, info = env.step(np.array([0.5 * moves, 0], np.float32))
        assert bool(info.get("success", False)) == wins, (turn, moves)
    env.close()


def test_her_rewards_the_pose() -> None:
    pytest.importorskip("stable_baselines3")
    from mvsim_gym.sb3 import MVSimVecEnv

    envs = MVSimVecEnv(PARKING, 4, goal_radius=0.3, goal_angle=0.1, goal_speed=0.3)
    envs.seed(1)
    seen = envs.reset()
    assert isinstance(seen, dict) and {key: rows.shape for key, rows in seen.items()} == {
        "observation": (4, 24 + 2 + 2 + 2),
        "achieved_goal": (4, 5),
        "desired_goal": (4, 5),
    }
    pose, goal, yaw = (envs.read(name) for name in ("vehicle:truck/pose", "goal", "goal_yaw"))
    np.testing.assert_allclose(seen["achieved_goal"][:, 2], np.cos(pose[:, 2]), atol=1e-6)
    np.testing.assert_allclose(
        seen["desired_goal"],
        np.column_stack([goal, np.cos(yaw), np.sin(yaw), np.zeros(4)]),
        atol=1e-6,
    )
    wanted = np.array([1, 2, 0, 1, 0])
    states = wanted + np.array(
        [[0.2, 0.2, 0.09, 0, 0.29], [0.3, 0.1, 0, 0, 0], [0, 0, 0.11, 0, 0], [0, 0, 0, 0, 0.4]]
    )
    states[:, 2:4] /= np.linalg.norm(states[:, 2:4], axis=1, keepdims=True)
    (rewards,) = envs.env_method("compute_reward", states, np.tile(wanted, (4, 1)), (), indices=[0])
    assert rewards.tolist() == [1, 0, 0, 0]
    # where the environment says success, the reward is 1, and nowhere else
    parked = np.column_stack([goal, yaw])
    envs.write("vehicle:truck/pose", np.where(np.arange(4)[:, None] < 2, parked, pose))
    _, rewards, dones, infos = envs.step(np.zeros((4, 2), np.float32))
    assert rewards.tolist() == dones.tolist() == [1, 1, 0, 0]
    assert all(infos[i]["is_success"] for i in (0, 1))
    envs.close()


def test_her_learns_from_replays() -> None:
    """HerReplayBuffer relabels by `compute_reward`: some of what it samples is rewarded, though nothing was reached."""
    pytest.importorskip("stable_baselines3")
    from stable_baselines3 import SAC, HerReplayBuffer

    from mvsim_gym.sb3 import MVSimVecEnv

    envs = MVSimVecEnv(PARKING, 8, goal_radius=0.3, goal_angle=0.1, goal_speed=0.3, time_limit=4)
    model = SAC(
        "MultiInputPolicy",
        envs,
        replay_buffer_class=HerReplayBuffer,
        learning_starts=240,
        policy_kwargs={"net_arch": [16]},
        seed=0,
    )
    model.learn(400)
    assert model.replay_buffer is not None
    assert float(model.replay_buffer.sample(256).rewards.mean()) > 0
    envs.close()


def test_mistakes_with_a_goal_that_has_no_heading() -> None:
    pytest.importorskip("stable_baselines3")
    from mvsim_gym.sb3 import MVSimVecEnv

    with pytest.raises(ValueError, match="goal_angle: the goal of the environment has no heading"):
        MVSimVecEnv("mvsim/NavArena-v0", 1, goal_radius=0.3, goal_angle=0.1)
    with pytest.raises(ValueError, match="goal_speed: found it without goal_radius"):
        MVSimVecEnv("mvsim/NavArena-v0", 1, goal_speed=0.1)
    with pytest.raises(ValueError, match="'goal_yaw', which this environment does not have"):
        mvsim_gym.VectorEnv("mvsim/NavArena-v0", num_envs=1).read("goal_yaw")
