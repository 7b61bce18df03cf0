"""The example of the closed loop: its worlds are those of the episodes, and it counts laps."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT

pytest.importorskip("rosbags", reason="needs the extra ros")

from ros_bus import Bus

import mvsim_gym
from mvsim_gym.tools.policy import agents_of

sys.path.append(str(ROOT / "examples"))
import closed_loop


@pytest.mark.parametrize("env", closed_loop.SETUPS)
def test_worlds_are_those_of_the_episodes(env: str, tmp_path: Path) -> None:
    name, seed = f"mvsim/{env}-v0", 1_000_003
    (episode,) = closed_loop.episodes(env, range(seed, seed + 1), tmp_path)
    envs = mvsim_gym.VectorEnv(name, num_envs=agents_of(name, {}))
    seen, _ = envs.reset(seed=seed)
    world = mvsim_gym.World(episode["world"])
    assert list(episode["starts"]) == list(episode["goals"]) == list(world.vehicles)
    for row, (robot, pose) in enumerate(episode["starts"].items()):
        assert pose == envs.read(f"vehicle:{robot}/pose")[0].tolist()
        goal = episode["goals"][robot]
        if goal is not None:
            away = np.hypot(goal[0] - pose[0], goal[1] - pose[1])
            assert away == pytest.approx(float(seen["goal"][row][0]), abs=1e-5)
        else:
            assert env == "Race"
    blocks = {name: block for name, block in world.blocks.items() if name.startswith("obstacle")}
    if blocks:
        poses = envs.read("block:obstacle*/pose")[0]
        assert len(blocks) == len(poses)
        for block, expected in zip(blocks.values(), poses, strict=True):
            assert block.pose[:2] == pytest.approx(expected[:2], abs=1e-9)
    assert all("/odometry/" in path for path in episode["parameters"]), "nothing else is drawn"
    envs.close()


@pytest.mark.parametrize("way", [1, -1])
def test_a_lap_in_the_direction_of_the_track_ends_the_node_of_a_car(way: int) -> None:
    world = mvsim_gym.World(ROOT / "worlds" / "race.world.xml")
    track = ROOT / "worlds" / "tracks" / "loop.csv"
    points = np.loadtxt(track)
    count = len(points)
    (car,) = world.vehicles.values()
    car.set_pose(*points[0])
    with closed_loop.Laps(world, Bus().node(), track) as node:
        ended = []
        for k in (0, 1, 2, 1, 0, -1, 0, *range(count + 1)):  # to and fro around the first point, then a lap
            car.set_pose(*points[way * k % count])
            node.update()
            ended.append(node.is_ended)
    assert ended[-1] == (way == 1) and not any(ended[:-1])


@pytest.mark.ros
@pytest.mark.parametrize("localization", ["tf", "pose"])
def test_a_goal_is_reached_over_rclpy(tmp_path: Path, localization: str) -> None:
    """Robot and drive are processes of their own. The way to the goal of this seed is free, and the policy straight."""
    pytest.importorskip("rclpy", reason="needs rclpy: ./dev ros")
    pytest.importorskip("onnx", reason="needs the extra export")
    import torch

    from mvsim_gym.deploy.export import export_policy

    def towards(seen: dict[str, torch.Tensor]) -> torch.Tensor:
        c, s = seen["goal"][:, 1:2], seen["goal"][:, 2:3]
        return torch.cat([2 * c - 1, 1.5 * torch.atan2(s, c) / math.pi], dim=1)

    export_policy(towards, "mvsim/NavArena-v0", tmp_path / "policy")
    script = [sys.executable, str(ROOT / "examples" / "closed_loop.py"), str(tmp_path / "policy")]
    options = ["--via", "rclpy", "--goals", "1", "--seed", "1000001", "--domain", str(1 + os.getpid() % 100)]
    pose = ["--", "--localization", localization]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    done = subprocess.run(
        [*script, *options, *pose], capture_output=True, text=True, timeout=300, env=environment
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1].startswith("1 of 1 goals"), done.stdout
