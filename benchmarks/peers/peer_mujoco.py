"""MuJoCo: a differential-drive robot on a plane, ten substeps, 360 rays of `mj_multiRay`, two threads."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor

import mujoco
import numpy as np

import scene
from measure import WORKERS, report, runs_in_one_process

ENVS = 64


def mjcf() -> str:
    walls = "".join(
        f'<geom type="box" group="1" pos="{w.x:.4f} {w.y:.4f} 0.2" euler="0 0 {w.yaw:.5f}"'
        f' size="{w.length / 2:.4f} {scene.THICKNESS / 2} 0.2"/>'
        for w in scene.walls() + scene.border()
    )
    r, half = scene.WHEEL_RADIUS, scene.TRACK / 2
    wheels = "".join(
        f'<body name="{side}" pos="0 {y} {r}"><joint name="{side}" type="hinge" axis="0 1 0"'
        f' damping="0.001" armature="0.0001"/><geom type="cylinder" euler="{math.pi / 2:.6f} 0 0"'
        f' size="{r} 0.009" mass="0.03" friction="0.9"/></body>'
        for side, y in (("left", half), ("right", -half))
    )
    return f"""<mujoco><compiler angle="radian"/>
<option timestep="{scene.CONTROL_PERIOD / scene.SUBSTEPS}" integrator="implicitfast"/>
<worldbody><geom type="plane" size="20 20 1"/>{walls}
<body name="robot"><freejoint/><geom type="cylinder" pos="-0.03 0 0.1" size="0.08 0.06" mass="0.9"/>
<geom type="sphere" pos="-0.08 0 0.015" size="0.015" mass="0.02" friction="0.01"/>{wheels}</body></worldbody>
<actuator><velocity joint="left" kv="0.02"/><velocity joint="right" kv="0.02"/></actuator></mujoco>"""


class Robot:
    """One env: its data, its random twists, its scan."""

    def __init__(self, model: mujoco.MjModel, seed: int) -> None:
        self.model, self.data = model, mujoco.MjData(model)
        self.rng = np.random.default_rng(seed)
        self.ranges = np.empty(scene.RAYS)
        self.geoms = np.empty(scene.RAYS, np.int32)
        angles = 2 * np.pi * np.arange(scene.RAYS) / scene.RAYS
        self.rays = np.stack([np.cos(angles), np.sin(angles), np.zeros(scene.RAYS)])
        self.body = model.body("robot").id
        self.walls_only = np.array([0, 1, 0, 0, 0, 0], np.uint8)
        self.count = 0

    def step(self) -> None:
        self.count += 1
        if self.count % scene.EPISODE == 0:
            mujoco.mj_resetData(self.model, self.data)
        v = self.rng.uniform(-scene.MAX_SPEED, scene.MAX_SPEED)
        turn = 0.5 * scene.TRACK * self.rng.uniform(-scene.MAX_TURN, scene.MAX_TURN)
        self.data.ctrl[:] = (v - turn) / scene.WHEEL_RADIUS, (v + turn) / scene.WHEEL_RADIUS
        mujoco.mj_step(self.model, self.data, scene.SUBSTEPS)
        origin = self.data.xpos[self.body] + (0.0, 0.0, 0.2)
        directions = (self.data.xmat[self.body].reshape(3, 3) @ self.rays).T.ravel()
        mujoco.mj_multiRay(
            self.model,
            self.data,
            origin,
            directions,
            self.walls_only,
            True,
            self.body,
            self.geoms,
            self.ranges,
            None,
            scene.RAYS,
            scene.MAX_RANGE,
        )


def main() -> None:
    model = mujoco.MjModel.from_xml_string(mjcf())
    robots = [Robot(model, seed) for seed in range(ENVS)]
    chunks = [robots[i * ENVS // WORKERS : (i + 1) * ENVS // WORKERS] for i in range(WORKERS)]

    def step_all(chunk: list[Robot]) -> None:
        for robot in chunk:
            robot.step()

    with ThreadPoolExecutor(WORKERS) as pool:

        def advance() -> int:
            list(pool.map(step_all, chunks))
            return ENVS

        runs = runs_in_one_process(advance)
    moved = max(float(np.hypot(*r.data.qpos[:2])) for r in robots)
    hits = float(np.mean([(r.ranges >= 0).mean() for r in robots]))
    unstable = max(int(r.data.warning.number.sum()) for r in robots)
    assert moved > 0.01 and hits > 0.5 and unstable == 0, (moved, hits, unstable)
    report(
        "peer_mujoco",
        "mujoco",
        runs,
        "1 robot with wheel contacts, 10 substeps of 10 ms, 360 rays of mj_multiRay among 204 boxes, N=64,"
        " 2 threads",
        "task logic (reward, goal, observation scaling); boxes in place of the 400x400 grid",
    )


if __name__ == "__main__":
    main()
