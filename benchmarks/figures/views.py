"""Cameras and 3D lidars: frames per second through Python, one an env step; 100 boxes that are part of the Model.

Sensors of the rows `_flat` look level and are drawn from the plane; those of the others lean by a degree and are drawn
by rays.
"""

from __future__ import annotations

import tempfile
from itertools import cycle
from pathlib import Path

import numpy as np

import mvsim_gym
from figure import WORLDS, Row, Settings, figure, rates
from view_scene import BOXES, boxes

NUM_ENVS, WARM_UP = 64, 20
LEVEL, LEANING = 0, 1  # degrees of pitch
BESIDE_PEERS = ("depth64_boxes100", "rgbd64_boxes100", "rgb320_boxes100", "depth64_flat", "rgbd64_flat")
CAMERA = """<sensor class="rgbd_camera" name="camera"><pose_3d>0.1 0 0.4 0 {pitch} 0</pose_3d>
<depth_ncols>{w}</depth_ncols><depth_nrows>{h}</depth_nrows><depth_cx>{cx}</depth_cx><depth_cy>{cy}</depth_cy>
<depth_fx>{cx}</depth_fx><depth_fy>{cx}</depth_fy><rgb_ncols>{w}</rgb_ncols><rgb_nrows>{h}</rgb_nrows>
<rgb_cx>{cx}</rgb_cx><rgb_cy>{cy}</rgb_cy><rgb_fx>{cx}</rgb_fx><rgb_fy>{cx}</rgb_fy>
<depth_noise_sigma>0</depth_noise_sigma></sensor>"""
LIDAR = """<sensor class="lidar3d" name="lidar"><pose_3d>0 0 0.5 0 {pitch} 0</pose_3d><horz_nrays>1808</horz_nrays>
<range_std_noise>{noise}</range_std_noise><generate_intensity>false</generate_intensity>
<ignore_parent_body>true</ignore_parent_body></sensor>"""
ENV = """<mvsim_env id="bench/Views-v0" world="w.world.xml" control_period="0.1" time_limit="1000">
<agent vehicle="r"><action class="twist" vx="-0.5 0.5" omega="-2 2"/>{observe}</agent>
<reset><spawn clearance="0.2"/></reset><reward class="time" weight="-1"/></mvsim_env>"""


def camera(width: int, height: int, pitch: float = LEANING) -> str:
    return CAMERA.format(w=width, h=height, cx=width / 2, cy=height / 2, pitch=pitch)


def lidar(noise: float, pitch: float = LEANING) -> str:
    return LIDAR.format(noise=noise, pitch=pitch)


def world(sensor: str, shadows: bool = True) -> str:
    blocks = "".join(
        f'<block name="b{i}"><static>true</static><init_pose>{b.x} {b.y} {b.yaw}</init_pose><zmin>0</zmin>'
        f"<zmax>{b.height}</zmax><color>#{b.color:06x}</color>"
        f'<geometry type="box" lx="{b.length}" ly="{b.width}" lz="1"/></block>'
        for i, b in enumerate(boxes())
    )
    lights = "" if shadows else "<lights><enable_shadows>false</enable_shadows></lights>"
    return f"""<mvsim_world><simul_timestep>0.02</simul_timestep>{lights}{blocks}
<element class="horizontal_plane"><x_min>-12</x_min><x_max>12</x_max><y_min>-12</y_min><y_max>12</y_max></element>
<vehicle name="r"><init_pose>0 0 0</init_pose><dynamics class="differential">
<l_wheel mass="1" diameter="0.2" width="0.05"/><r_wheel mass="1" diameter="0.2" width="0.05"/>
<controller class="twist_ideal"/></dynamics>{sensor}</vehicle></mvsim_world>"""


def _row(
    name: str,
    unit: str,
    sensor: str,
    observed: list[str],
    settings: Settings,
    shadows: bool = True,
    backend: str = "rays",
) -> Row:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "w.world.xml").write_text(world(sensor, shadows))
        path = Path(folder, "v.env.xml")
        path.write_text(ENV.format(observe="".join(f'<observe class="{o}"/>' for o in observed)))
        env = mvsim_gym.VectorEnv(
            path, num_envs=NUM_ENVS, num_threads=settings.threads, camera_backend=backend
        )
    shaded = shadows or any("<lights> has no effect" in warning for warning in env.warnings)
    env.reset(seed=0)
    # random twists, as in task A: a robot with one twist for ever ends at a box, where Box2D takes most of the time
    twists = cycle(np.random.default_rng(0).uniform(-1, 1, (500, NUM_ENVS, 2)).astype(np.float32))

    def advance() -> int:
        env.step(next(twists))
        return NUM_ENVS

    for _ in range(2 if settings.quick else WARM_UP):
        advance()
    runs = rates(advance, settings)
    env.close()
    config = {
        "work": f"{' and '.join(observed)} of every env step, {BOXES} boxes, random twists",
        "shadows": shaded and "image" in observed,
        "drawn_by": backend,
        "num_envs": NUM_ENVS,
        "num_threads": settings.threads,
    }
    return Row(name, unit, config, runs)


@figure("depth64_boxes100")
def depth64(settings: Settings) -> Row:
    return _row("depth64_boxes100", "frames/s", camera(64, 64), ["depth"], settings)


@figure("rgbd64_boxes100")
def rgbd64_unshaded(settings: Settings) -> Row:
    return _row("rgbd64_boxes100", "frames/s", camera(64, 64), ["depth", "image"], settings, shadows=False)


@figure("rgbd64_shadow")
def rgbd64(settings: Settings) -> Row:
    return _row("rgbd64_shadow", "frames/s", camera(64, 64), ["depth", "image"], settings)


@figure("rgb320_boxes100")
def rgb320_unshaded(settings: Settings) -> Row:
    return _row("rgb320_boxes100", "frames/s", camera(320, 240), ["image"], settings, shadows=False)


@figure("rgb320_shadow")
def rgb320(settings: Settings) -> Row:
    return _row("rgb320_shadow", "frames/s", camera(320, 240), ["image"], settings)


@figure("depth64_boxes100_egl")
def depth64_egl(settings: Settings) -> Row:
    return _row("depth64_boxes100_egl", "frames/s", camera(64, 64), ["depth"], settings, backend="egl")


@figure("rgbd64_boxes100_egl")
def rgbd64_unshaded_egl(settings: Settings) -> Row:
    return _row("rgbd64_boxes100_egl", "frames/s", camera(64, 64), ["depth", "image"], settings, False, "egl")


@figure("rgbd64_shadow_egl")
def rgbd64_egl(settings: Settings) -> Row:
    return _row("rgbd64_shadow_egl", "frames/s", camera(64, 64), ["depth", "image"], settings, backend="egl")


@figure("rgb320_boxes100_egl")
def rgb320_egl(settings: Settings) -> Row:
    return _row("rgb320_boxes100_egl", "frames/s", camera(320, 240), ["image"], settings, False, "egl")


@figure("depth64_flat_egl")
def depth64_flat_egl(settings: Settings) -> Row:
    return _row("depth64_flat_egl", "frames/s", camera(64, 64, LEVEL), ["depth"], settings, backend="egl")


@figure("rgbd64_flat_egl")
def rgbd64_flat_egl(settings: Settings) -> Row:
    sensor = camera(64, 64, LEVEL)
    return _row("rgbd64_flat_egl", "frames/s", sensor, ["depth", "image"], settings, False, "egl")


@figure("vlp16_scans")
def vlp16(settings: Settings) -> Row:
    return _row("vlp16_scans", "scans/s", lidar(0), ["range_image"], settings)


@figure("vlp16_noise")
def vlp16_noise(settings: Settings) -> Row:
    return _row("vlp16_noise", "scans/s", lidar(0.01), ["range_image"], settings)


@figure("depth64_flat")
def depth64_flat(settings: Settings) -> Row:
    return _row("depth64_flat", "frames/s", camera(64, 64, LEVEL), ["depth"], settings)


@figure("rgbd64_flat")
def rgbd64_flat(settings: Settings) -> Row:
    return _row("rgbd64_flat", "frames/s", camera(64, 64, LEVEL), ["depth", "image"], settings, shadows=False)


@figure("rgbd64_flat_shadow")
def rgbd64_flat_shadow(settings: Settings) -> Row:
    return _row("rgbd64_flat_shadow", "frames/s", camera(64, 64, LEVEL), ["depth", "image"], settings)


@figure("vlp16_flat")
def vlp16_flat(settings: Settings) -> Row:
    return _row("vlp16_flat", "scans/s", lidar(0, LEVEL), ["range_image"], settings)


def _jackals(name: str, settings: Settings) -> Row:
    """Simulated seconds a second: the six range images of each tenth are read, with the noise of the definition."""
    period = 0.1
    world = mvsim_gym.World(str(WORLDS / f"{name}.world.xml"), seed=0)
    lidars = [robot.sensors["lidar"] for robot in world.vehicles.values()]
    for robot in world.vehicles.values():
        robot.set_twist(0.4, 0.8)

    def advance() -> int:
        world.step(period)
        for lidar in lidars:
            lidar.values()
        return 1

    config = {
        "work": "6 Jackals in one world, a range image of 32 x 1,808 with noise of each every 0.1 s, 100 boxes",
        "num_threads": 1,
    }
    return Row(name, "x real time", config, [period * r for r in rates(advance, settings)])


@figure("jackals6_lidar3d")
def jackals6_lidar3d(settings: Settings) -> Row:
    return _jackals("jackals6_lidar3d", settings)


@figure("jackals6_flat")
def jackals6_flat(settings: Settings) -> Row:
    return _jackals("jackals6_flat", settings)
