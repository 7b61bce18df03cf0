"""ir-sim: a kinematic robot, `lidar2d` of 360 beams, among 20 boxes and in the grid map, two processes."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Callable

import numpy as np

import scene
from measure import report, runs_in_two_processes

with contextlib.redirect_stdout(open(os.devnull, "w")):
    import irsim


def world(folder: str, with_grid: bool) -> str:
    """Writes the world file (JSON is YAML) and returns its path."""
    config = {
        "world": {
            "width": scene.FIELD,
            "height": scene.FIELD,
            "offset": [-scene.FIELD / 2, -scene.FIELD / 2],
            "step_time": scene.CONTROL_PERIOD,
            "sample_time": scene.CONTROL_PERIOD,
            "collision_mode": "stop",
        },
        "robot": [
            {
                "kinematics": {"name": "diff"},
                "shape": {"name": "circle", "radius": 0.09},
                "vel_max": [scene.MAX_SPEED, scene.MAX_TURN],
                "vel_min": [-scene.MAX_SPEED, -scene.MAX_TURN],
                "state": [0, 0, 0],
                "sensors": [
                    {
                        "name": "lidar2d",
                        "number": scene.RAYS,
                        "range_max": scene.MAX_RANGE,
                        "angle_range": 2 * np.pi,
                    }
                ],
            }
        ],
    }
    if with_grid:
        png = os.path.join(folder, "grid.png")
        scene.write_png(png)
        config["world"]["obstacle_map"] = png
    else:
        config["obstacle"] = [
            {
                "shape": {"name": "rectangle", "length": w.length, "width": scene.THICKNESS},
                "state": [w.x, w.y, w.yaw],
            }
            for w in scene.walls(20)
        ]
    path = os.path.join(folder, "world.yaml")
    with open(path, "w") as file:
        json.dump(config, file)
    return path


def maker(with_grid: bool) -> Callable[[int], Callable[[], int]]:
    def make(worker: int) -> Callable[[], int]:
        with tempfile.TemporaryDirectory() as folder:
            env = irsim.make(world(folder, with_grid), headless=True, log_level="ERROR", seed=worker)
        rng = np.random.default_rng(worker)
        low, high = [[-scene.MAX_SPEED], [-scene.MAX_TURN]], [[scene.MAX_SPEED], [scene.MAX_TURN]]
        count = 0

        def advance() -> int:
            nonlocal count
            count += 1
            if count % scene.EPISODE == 0:
                env.reset()
            env.step(rng.uniform(low, high))
            ranges = np.asarray(env.get_lidar_scan()["ranges"])
            if count == 10:
                assert np.hypot(*env.robot.state[:2, 0]) > 1e-3
                assert ranges.shape == (scene.RAYS,) and np.any(ranges < scene.MAX_RANGE)
            return 1

        return advance

    return make


if __name__ == "__main__":
    out = "tire physics (kinematic), substeps (one of 100 ms), task logic, the pipe of a SubprocVecEnv"
    report(
        "peer_irsim",
        "ir-sim",
        runs_in_two_processes(maker(with_grid=False)),
        "1 kinematic robot, lidar2d of 360 beams among 20 boxes, 2 processes of 1 env",
        out + ", 180 of the 200 walls",
    )
    report(
        "peer_irsim_grid",
        "ir-sim",
        runs_in_two_processes(maker(with_grid=True)),
        "1 kinematic robot, lidar2d of 360 beams in the 400x400 grid, 2 processes of 1 env",
        out,
    )
