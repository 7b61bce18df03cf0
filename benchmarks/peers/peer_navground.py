"""navground: a two-wheel kinematic agent, a 360-ray lidar among 200 line walls, two processes."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from navground import core, sim

import scene
from measure import report, runs_in_two_processes


def make(worker: int) -> Callable[[], int]:
    """A world of its own in this process, and the function that makes one env step in it."""
    world = sim.World()
    for w in scene.walls() + scene.border():
        world.add_wall(sim.Wall(*w.ends()))
    kinematics = core.kinematics.TwoWheelsDifferentialDriveKinematics(scene.MAX_SPEED, scene.TRACK)
    lidar = sim.load_state_estimation(
        f"{{type: Lidar, resolution: {scene.RAYS}, range: {scene.MAX_RANGE},"
        f" start_angle: {-math.pi}, field_of_view: {2 * math.pi}}}"
    )
    agent = sim.Agent(0.09, core.behaviors.DummyBehavior(kinematics, 0.09), kinematics)
    world.add_agent(agent)
    state = core.SensingState()
    lidar.prepare_state(state)
    rng = np.random.default_rng(worker)
    count = 0

    def advance() -> int:
        nonlocal count
        count += 1
        if count % scene.EPISODE == 0:
            agent.pose = core.Pose2()
        v = float(rng.uniform(-scene.MAX_SPEED, scene.MAX_SPEED))
        turn = float(rng.uniform(-scene.MAX_TURN, scene.MAX_TURN))
        agent.last_cmd = core.Twist2((v, 0.0), turn, core.Frame.relative)
        for _ in range(scene.SUBSTEPS):
            world.actuate(scene.CONTROL_PERIOD / scene.SUBSTEPS)
        lidar.update(agent, world, state)
        ranges = np.asarray(lidar.read_ranges(state))
        if count == 50:
            assert math.hypot(*agent.position) > 1e-3
            assert len(ranges) == scene.RAYS and np.mean(ranges < scene.MAX_RANGE - 0.01) > 0.5
        return 1

    return advance


if __name__ == "__main__":
    report(
        "peer_navground",
        "navground",
        runs_in_two_processes(make),
        "1 two-wheel agent, 10 updates of 10 ms with wall collisions, 360-ray lidar among 204 line walls,"
        " 2 processes of 1 env",
        "tire physics (kinematic), walls without thickness, task logic, the pipe of a SubprocVecEnv",
    )
