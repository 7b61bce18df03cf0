"""MuJoCo's renderer among the boxes of `view_scene`, in two processes of one env: OpenGL through EGL, in software where
there is no GPU."""

from __future__ import annotations

import math
import os

os.environ.setdefault("MUJOCO_GL", "egl")

from collections.abc import Callable

import mujoco
import numpy as np

import view_scene as scene
from measure import report, runs_in_two_processes

LEAVES_OUT = "physics: the camera is put where it looks"


def mjcf(size: int) -> str:
    boxes = "".join(
        f'<geom type="box" pos="{b.centre()[0]:.4f} {b.centre()[1]:.4f} {b.height / 2}" euler="0 0 {b.yaw}"'
        f' size="{b.length / 2} {b.width / 2} {b.height / 2}" rgba="{" ".join(f"{c:.4f}" for c in b.rgb())} 1"/>'
        for b in scene.boxes()
    )
    return f"""<mujoco><compiler angle="degree"/><visual><global offwidth="{size}" offheight="{size}"/>
<quality shadowsize="0" offsamples="0"/><map znear="0.01" zfar="1000"/></visual><statistic extent="1"/>
<worldbody><light directional="true" dir="0.42 -0.38 -0.82" castshadow="false"/>
<geom type="plane" size="{scene.HALF_FIELD} {scene.HALF_FIELD} 1" rgba="0.6 0.65 0.6 1"/>{boxes}
<body name="eye" mocap="true"><camera name="eye" fovy="90" xyaxes="0 -1 0 0 0 1"/></body></worldbody></mujoco>"""


def make(width: int, height: int, kinds: tuple[str, ...]) -> Callable[[int], Callable[[], int]]:
    def make_worker(worker: int) -> Callable[[], int]:
        model = mujoco.MjModel.from_xml_string(mjcf(max(width, height)))
        data = mujoco.MjData(model)
        renderer = mujoco.Renderer(model, height, width)
        renderer.scene.flags[mujoco.mjtRndFlag.mjRND_SHADOW] = False
        robot = scene.Wanderer(worker)
        count = 0

        def advance() -> int:
            nonlocal count
            x, y, yaw = robot.advance()
            data.mocap_pos[0] = x, y, scene.EYE_Z
            data.mocap_quat[0] = math.cos(yaw / 2), 0, 0, math.sin(yaw / 2)
            mujoco.mj_kinematics(model, data)
            mujoco.mj_camlight(model, data)
            renderer.update_scene(data, "eye")
            pictures = {}
            if "image" in kinds:
                pictures["image"] = renderer.render()
            if "depth" in kinds:
                renderer.enable_depth_rendering()
                pictures["depth"] = renderer.render()
                renderer.disable_depth_rendering()
            count += 1
            if count == 20:
                check(pictures)
            return 1

        return advance

    return make_worker


def check(pictures: dict[str, np.ndarray]) -> None:
    if "depth" in pictures:
        near = float((pictures["depth"] < scene.FAR).mean())
        assert near > 0.3, f"{near:.0%} of depth is within {scene.FAR} m"
    if "image" in pictures:
        colors = len(np.unique(pictures["image"].reshape(-1, 3), axis=0))
        assert colors > 10, f"{colors} colours"


ROWS = {
    "peer_mujoco_depth64": (64, 64, ("depth",)),
    "peer_mujoco_rgbd64": (64, 64, ("depth", "image")),
    "peer_mujoco_rgb320": (320, 240, ("image",)),
}

if __name__ == "__main__":
    for name, (width, height, kinds) in ROWS.items():
        work = f"{' and '.join(kinds)} of {width} x {height} among {scene.BOXES} boxes, 2 processes of 1 env"
        runs = runs_in_two_processes(make(width, height, kinds))
        report(name, "mujoco", runs, work, LEAVES_OUT, "frames/s")
