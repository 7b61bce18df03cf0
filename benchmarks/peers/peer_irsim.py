"""ir-sim: kinematic robots, `lidar2d` of 360 beams; one among 20 boxes and in the grid map, sixteen among the boxes;
two processes."""

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


BOXES = 20


def world(folder: str, with_grid: bool, starts: list[scene.Pose]) -> str:
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
                "shape": {"name": "circle", "radius": scene.ROBOT_RADIUS},
                "vel_max": [scene.MAX_SPEED, scene.MAX_TURN],
                "vel_min": [-scene.MAX_SPEED, -scene.MAX_TURN],
                "state": list(start),
                "sensors": [
                    {
                        "name": "lidar2d",
                        "number": scene.RAYS,
                        "range_max": scene.MAX_RANGE,
                        "angle_range": 2 * np.pi,
                    }
                ],
            }
            for start in starts
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
            for w in scene.walls(BOXES)
        ]
    path = os.path.join(folder, "world.yaml")
    with open(path, "w") as file:
        json.dump(config, file)
    return path


def maker(with_grid: bool, starts: list[scene.Pose]) -> Callable[[int], Callable[[], int]]:
    def make(worker: int) -> Callable[[], int]:
        with tempfile.TemporaryDirectory() as folder:
            env = irsim.make(world(folder, with_grid, starts), headless=True, log_level="ERROR", seed=worker)
        rng = np.random.default_rng(worker)
        low, high = [[-scene.MAX_SPEED], [-scene.MAX_TURN]], [[scene.MAX_SPEED], [scene.MAX_TURN]]
        robots = range(len(starts))
        standing = np.zeros((2, 1))
        count = 0

        def scans() -> list[np.ndarray]:
            return [np.asarray(env.get_lidar_scan(i)["ranges"]) for i in robots]

        if len(starts) > 1:
            env.step([standing for _ in robots])
            scene.check_scans(starts, [list(ranges) for ranges in scans()], scene.walls(BOXES), -np.pi)

        def advance() -> int:
            nonlocal count
            count += 1
            if count % scene.EPISODE == 0:
                env.reset()
            env.step([rng.uniform(low, high) for _ in robots])
            ranges = scans()
            if count == 10:
                assert np.hypot(*(env.robot.state[:2, 0] - starts[0][:2])) > 1e-3
                assert ranges[0].shape == (scene.RAYS,) and np.any(ranges[0] < scene.MAX_RANGE)
            return len(starts)

        return advance

    return make


if __name__ == "__main__":
    out = "tire physics (kinematic), substeps (one of 100 ms), task logic, the pipe of a SubprocVecEnv"
    alone = [(0.0, 0.0, 0.0)]
    report(
        "peer_irsim",
        "ir-sim",
        runs_in_two_processes(maker(with_grid=False, starts=alone)),
        f"1 kinematic robot, lidar2d of 360 beams among {BOXES} boxes, 2 processes of 1 env",
        f"{out}, {scene.WALLS - BOXES} of the {scene.WALLS} walls",
    )
    report(
        "peer_irsim_grid",
        "ir-sim",
        runs_in_two_processes(maker(with_grid=True, starts=alone)),
        "1 kinematic robot, lidar2d of 360 beams in the 400x400 grid, 2 processes of 1 env",
        out,
    )
    report(
        "agents_16_irsim",
        "ir-sim",
        runs_in_two_processes(maker(with_grid=False, starts=scene.starts())),
        f"16 kinematic robots a world, lidar2d of 360 beams among {BOXES} boxes and the others, 2 processes of 1 world",
        f"{out}, {scene.WALLS - BOXES} of the {scene.WALLS} walls",
        unit="agent steps/s",
    )
