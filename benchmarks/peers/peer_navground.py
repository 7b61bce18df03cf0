"""navground: two-wheel kinematic agents, one or sixteen in a world, 360-ray lidars among 200 line walls, two
processes."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from navground import core, sim

import scene
from measure import report, runs_in_two_processes


def maker(starts: list[scene.Pose]) -> Callable[[int], Callable[[], int]]:
    """Returns the maker of worlds with a robot at each of `starts`."""

    def make(worker: int) -> Callable[[], int]:
        """A world of its own in this process, and the function that steps all its robots."""
        world = sim.World()
        for w in scene.walls() + scene.border():
            world.add_wall(sim.Wall(*w.ends()))
        agents, lidars = [], []
        for _ in starts:
            kinematics = core.kinematics.TwoWheelsDifferentialDriveKinematics(scene.MAX_SPEED, scene.TRACK)
            behavior = core.behaviors.DummyBehavior(kinematics, scene.ROBOT_RADIUS)
            agent = sim.Agent(scene.ROBOT_RADIUS, behavior, kinematics)
            world.add_agent(agent)
            lidar = sim.load_state_estimation(
                f"{{type: Lidar, resolution: {scene.RAYS}, range: {scene.MAX_RANGE},"
                f" start_angle: {-math.pi}, field_of_view: {2 * math.pi}}}"
            )
            state = core.SensingState()
            lidar.prepare_state(state)
            agents.append(agent)
            lidars.append((lidar, agent, state))

        def begin() -> None:
            for agent, (x, y, yaw) in zip(agents, starts, strict=True):
                agent.pose = core.Pose2((x, y), yaw)

        def scans() -> list[np.ndarray]:
            for lidar, agent, state in lidars:
                lidar.update(agent, world, state)
            return [np.asarray(lidar.read_ranges(state)) for lidar, _, state in lidars]

        begin()
        world.actuate(1e-6)  # the lidars look for others where the last update has seen them
        if len(starts) > 1:
            scene.check_scans(
                starts, [list(ranges) for ranges in scans()], scene.walls() + scene.border(), -math.pi
            )
        rng = np.random.default_rng(worker)
        count = 0

        def advance() -> int:
            nonlocal count
            count += 1
            if count % scene.EPISODE == 0:
                begin()
            for agent in agents:
                v = float(rng.uniform(-scene.MAX_SPEED, scene.MAX_SPEED))
                turn = float(rng.uniform(-scene.MAX_TURN, scene.MAX_TURN))
                agent.last_cmd = core.Twist2((v, 0.0), turn, core.Frame.relative)
            for _ in range(scene.SUBSTEPS):
                world.actuate(scene.CONTROL_PERIOD / scene.SUBSTEPS)
            ranges = scans()
            if count == 50:
                assert math.dist(agents[0].position, starts[0][:2]) > 1e-3
                assert len(ranges[0]) == scene.RAYS and np.mean(ranges[0] < scene.MAX_RANGE - 0.01) > 0.5
            return len(starts)

        return advance

    return make


if __name__ == "__main__":
    out = "tire physics (kinematic), walls without thickness, task logic, the pipe of a SubprocVecEnv"
    report(
        "peer_navground",
        "navground",
        runs_in_two_processes(maker([(0.0, 0.0, 0.0)])),
        "1 two-wheel agent, 10 updates of 10 ms with wall collisions, 360-ray lidar among 204 line walls,"
        " 2 processes of 1 env",
        out,
    )
    report(
        "agents_16_navground",
        "navground",
        runs_in_two_processes(maker(scene.starts())),
        "16 two-wheel agents a world, 10 updates of 10 ms with collisions, 360-ray lidars that see walls and agents,"
        " 2 processes of 1 world",
        out,
        unit="agent steps/s",
    )
