"""PyBullet: a differential-drive robot on a plane, ten substeps, 360 rays of `rayTestBatch`, 2 processes."""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Callable

import numpy as np

import scene
from measure import report, runs_in_two_processes

with contextlib.redirect_stdout(open(os.devnull, "w")):
    import pybullet as p


def add_robot() -> int:
    r, half = scene.WHEEL_RADIUS, scene.TRACK / 2
    chassis = p.createCollisionShape(p.GEOM_CYLINDER, radius=0.08, height=0.12)
    wheel = p.createCollisionShape(p.GEOM_CYLINDER, radius=r, height=0.018)
    caster = p.createCollisionShape(p.GEOM_SPHERE, radius=0.015)
    across = p.getQuaternionFromEuler([math.pi / 2, 0, 0])
    robot = p.createMultiBody(
        0.9,
        chassis,
        basePosition=[0, 0, 0.1],
        linkMasses=[0.03, 0.03, 0.02],
        linkCollisionShapeIndices=[wheel, wheel, caster],
        linkVisualShapeIndices=[-1] * 3,
        linkPositions=[[0.03, half, r - 0.1], [0.03, -half, r - 0.1], [-0.05, 0, 0.015 - 0.1]],
        linkOrientations=[across, across, [0, 0, 0, 1]],
        linkInertialFramePositions=[[0, 0, 0]] * 3,
        linkInertialFrameOrientations=[[0, 0, 0, 1]] * 3,
        linkParentIndices=[0, 0, 0],
        linkJointTypes=[p.JOINT_REVOLUTE, p.JOINT_REVOLUTE, p.JOINT_FIXED],
        linkJointAxis=[[0, 0, 1]] * 3,
    )
    for link, friction in ((0, 0.9), (1, 0.9), (2, 0.01)):
        p.changeDynamics(robot, link, lateralFriction=friction)
    return robot


def make(worker: int) -> Callable[[], int]:
    """A world of its own in this process, and the function that makes one env step in it."""
    p.connect(p.DIRECT)
    p.setGravity(0, 0, -9.81)
    p.setTimeStep(scene.CONTROL_PERIOD / scene.SUBSTEPS)
    p.createMultiBody(0, p.createCollisionShape(p.GEOM_PLANE))
    for w in scene.walls() + scene.border():
        box = p.createCollisionShape(p.GEOM_BOX, halfExtents=[w.length / 2, scene.THICKNESS / 2, 0.2])
        p.createMultiBody(
            0, box, basePosition=[w.x, w.y, 0.2], baseOrientation=p.getQuaternionFromEuler([0, 0, w.yaw])
        )
    robot = add_robot()
    rng = np.random.default_rng(worker)
    angles = 2 * np.pi * np.arange(scene.RAYS) / scene.RAYS
    count = 0

    def advance() -> int:
        nonlocal count
        count += 1
        if count % scene.EPISODE == 0:
            p.resetBasePositionAndOrientation(robot, [0, 0, 0.1], [0, 0, 0, 1])
        v = rng.uniform(-scene.MAX_SPEED, scene.MAX_SPEED)
        turn = 0.5 * scene.TRACK * rng.uniform(-scene.MAX_TURN, scene.MAX_TURN)
        spins = [(v - turn) / scene.WHEEL_RADIUS, (v + turn) / scene.WHEEL_RADIUS]
        p.setJointMotorControlArray(
            robot, [0, 1], p.VELOCITY_CONTROL, targetVelocities=spins, forces=[1.0, 1.0]
        )
        for _ in range(scene.SUBSTEPS):
            p.stepSimulation()
        (x, y, z), q = p.getBasePositionAndOrientation(robot)
        yaw = p.getEulerFromQuaternion(q)[2]
        ends = np.empty((scene.RAYS, 3))
        ends[:, 0] = x + scene.MAX_RANGE * np.cos(angles + yaw)
        ends[:, 1] = y + scene.MAX_RANGE * np.sin(angles + yaw)
        ends[:, 2] = z + 0.1
        starts = np.empty((scene.RAYS, 3))
        starts[:] = x, y, z + 0.1
        hits = p.rayTestBatch(starts, ends, numThreads=1)
        ranges = scene.MAX_RANGE * np.array([hit[2] for hit in hits])
        if count == 50:
            assert math.hypot(x, y) > 1e-3 and 0.02 < z < 0.2, (x, y, z)
            assert np.mean(ranges < scene.MAX_RANGE) > 0.5
        return 1

    return advance


if __name__ == "__main__":
    report(
        "peer_pybullet",
        "pybullet",
        runs_in_two_processes(make),
        "1 robot with wheel contacts, 10 substeps of 10 ms, 360 rays of rayTestBatch among 204 boxes,"
        " 2 processes of 1 env",
        "task logic; the pipe of a SubprocVecEnv; boxes in place of the 400x400 grid",
    )
