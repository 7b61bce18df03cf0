"""PyBullet's TinyRenderer among the boxes of `view_scene`, in two processes of one env. It draws colours, depth and
labels at once."""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Callable

import numpy as np

import view_scene as scene
from measure import report, runs_in_two_processes

with contextlib.redirect_stdout(open(os.devnull, "w")):
    import pybullet as p

LEAVES_OUT = "physics: the camera is put where it looks"


def build() -> None:
    p.connect(p.DIRECT)
    half = scene.HALF_FIELD
    floor = p.createVisualShape(p.GEOM_BOX, halfExtents=[half, half, 0.01], rgbaColor=[0.6, 0.65, 0.6, 1])
    p.createMultiBody(0, -1, floor, [0, 0, -0.01])
    for b in scene.boxes():
        shape = p.createVisualShape(
            p.GEOM_BOX, halfExtents=[b.length / 2, b.width / 2, b.height / 2], rgbaColor=[*b.rgb(), 1]
        )
        turn = p.getQuaternionFromEuler([0, 0, math.radians(b.yaw)])
        p.createMultiBody(0, -1, shape, [*b.centre(), b.height / 2], turn)


def make(width: int, height: int) -> Callable[[int], Callable[[], int]]:
    def make_worker(worker: int) -> Callable[[], int]:
        build()
        vertical = 2 * math.degrees(math.atan(height / width))  # 90 degrees wide
        projection = p.computeProjectionMatrixFOV(vertical, width / height, scene.NEAR, scene.FAR)
        robot = scene.Wanderer(worker)
        count = 0

        def advance() -> int:
            nonlocal count
            x, y, yaw = robot.advance()
            eye = [x, y, scene.EYE_Z]
            view = p.computeViewMatrix(eye, [x + math.cos(yaw), y + math.sin(yaw), scene.EYE_Z], [0, 0, 1])
            _, _, image, depth, _ = p.getCameraImage(
                width, height, view, projection, shadow=0, renderer=p.ER_TINY_RENDERER
            )
            count += 1
            if count == 20:
                check(np.reshape(image, (height, width, 4)), np.reshape(depth, (height, width)))
            return 1

        return advance

    return make_worker


def check(image: np.ndarray, depth: np.ndarray) -> None:
    seen, colors = float((depth < 1).mean()), len(np.unique(image.reshape(-1, 4), axis=0))
    assert seen > 0.3, f"{seen:.0%} of the picture shows something"
    assert colors > 10, f"{colors} colours"


if __name__ == "__main__":
    for name, width, height in (("peer_pybullet_rgbd64", 64, 64), ("peer_pybullet_rgb320", 320, 240)):
        work = (
            f"depth, image and labels of {width} x {height} among {scene.BOXES} boxes, 2 processes of 1 env"
        )
        runs = runs_in_two_processes(make(width, height))
        report(name, "pybullet", runs, work, LEAVES_OUT, "frames/s")
