"""irsim-x: the batch mode of its C++ core, 64 kinematic robots with lidars of 360 beams among 204 boxes. One process:
two, with one thread of OpenMP each, are no quicker."""

from __future__ import annotations

import json
import math
import os
import tempfile
from collections.abc import Callable

import numpy as np
from irsim.env.batch_env_base import BatchEnvBase

import scene
from measure import report, runs_in_one_process

ROBOTS = 64


def world(folder: str) -> str:
    """Writes the file of the robot (JSON is YAML) and returns its path."""
    lidar = {
        "name": "lidar2d",
        "number": scene.RAYS,
        "range_max": scene.MAX_RANGE,
        "angle_range": 2 * math.pi * (scene.RAYS - 1) / scene.RAYS,  # both ends are beams
    }
    robot = {
        "kinematics": {"name": "diff"},
        "shape": {"name": "rectangle", "length": 0.137, "width": 0.137},
        "vel_min": [-scene.MAX_SPEED, -scene.MAX_TURN, 0],
        "vel_max": [scene.MAX_SPEED, scene.MAX_TURN, 0],
        "state": [0, 0, 0],
        "sensors": [lidar],
    }
    path = os.path.join(folder, "world.yaml")
    with open(path, "w") as file:
        json.dump({"world": {"step_time": scene.CONTROL_PERIOD}, "robot": robot}, file)
    return path


def corners(wall: scene.Wall) -> list[list[float]]:
    along = (0.5 * wall.length * math.cos(wall.yaw), 0.5 * wall.length * math.sin(wall.yaw))
    across = (-0.5 * scene.THICKNESS * math.sin(wall.yaw), 0.5 * scene.THICKNESS * math.cos(wall.yaw))
    signs = ((-1, -1), (1, -1), (1, 1), (-1, 1))
    return [[wall.x + a * along[0] + b * across[0], wall.y + a * along[1] + b * across[1]] for a, b in signs]


def make() -> Callable[[], int]:
    """A batch of robots, and the function that steps all of them."""
    with tempfile.TemporaryDirectory() as folder:
        env = BatchEnvBase(world(folder), batch_size=ROBOTS)
    walls = scene.walls() + scene.border()
    for wall in walls:
        env.batch_cpp.add_polygon_obstacle(corners(wall))
    rng = np.random.default_rng(0)
    limits = np.array([scene.MAX_SPEED, scene.MAX_TURN, 0], dtype=np.float32)
    centre = np.zeros((ROBOTS, 3), dtype=np.float32)
    count = 0

    env.set_poses(centre)
    scan = env.get_lidar_scan()[0]
    for ray in range(0, scene.RAYS, 30):
        expected = scene.true_range([(0.0, 0.0, 0.0)], 0, float(env.angle_list[ray]), walls)
        assert abs(float(scan[ray]) - expected) < 0.1, (ray, float(scan[ray]), expected)

    def advance() -> int:
        nonlocal count
        count += 1
        if count % scene.EPISODE == 0:
            env.set_poses(centre)
        env.step(limits * rng.uniform(-1, 1, (ROBOTS, 3)).astype(np.float32))
        scans = env.get_lidar_scan()
        if count == 10:
            assert np.abs(env.get_robot_state()[:, :2]).max() > 1e-3
            assert scans.shape == (ROBOTS, scene.RAYS)
        return ROBOTS

    return advance


if __name__ == "__main__":
    report(
        "peer_irsim_x",
        "irsim-x",
        runs_in_one_process(make()),
        f"1 kinematic robot a world, lidar of 360 beams among 204 boxes, a batch of {ROBOTS} in C++, OpenMP",
        "tire physics (kinematic), substeps (one of 100 ms), task logic (reward, goal, resets by env)",
    )
