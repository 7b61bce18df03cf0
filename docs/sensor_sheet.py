"""One picture of each sensor in each of five worlds, on one sheet: what docs/pictures.py saves as sensors.png."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw

import mvsim_gym
from mvsim_gym.readings import Reading

Picture = npt.NDArray[np.uint8]

WORLDS = Path(__file__).resolve().parent.parent / "worlds"
# World, twist that its first vehicle drives with (m/s, rad/s), and height of its eyes (m).
SHOWN = {
    "visual_navigation": (0.2, 0.3, 0.25),
    "nav_map": (0.8, 0.2, 0.6),
    "terrain_goal": (0.8, 0.2, 0.7),
    "race": (1.5, 0.5, 0.4),
    "greenhouse": (0.9, 0.1, 0.85),
}
COLUMNS = (
    *("camera", "rgbd_camera: depth", "labels", "lidar3d: ranges", "lidar3d: points"),
    *("laser", "laser, raytrace_3d", "imu", "gnss"),
)
WIDTH, HEIGHT, GAP = 160, 120, 4
FAR = 12.0  # m that depths and ranges are drawn up to
GEOREFERENCE = "<georeference><latitude>36.89</latitude><longitude>-2.41</longitude></georeference>"
RIG = """
  <sensor class="camera" name="rgb"><pose_3d>0 0 {z} -90 0 -90</pose_3d><ncols>160</ncols><nrows>120</nrows>
    <cx>79.5</cx><cy>59.5</cy><fx>90</fx><fy>90</fy></sensor>
  <sensor class="rgbd_camera" name="rgbd"><pose_3d>0 0 {z} 0 0 0</pose_3d><sense_rgb>false</sense_rgb>
    <depth_ncols>160</depth_ncols><depth_nrows>120</depth_nrows><depth_cx>79.5</depth_cx><depth_cy>59.5</depth_cy>
    <depth_fx>90</depth_fx><depth_fy>90</depth_fy><depth_clip_max>30</depth_clip_max></sensor>
  <sensor class="lidar3d" name="turn"><pose_3d>0 0 {z} 0 0 0</pose_3d><vert_nrays>32</vert_nrays>
    <vert_fov_degrees>50</vert_fov_degrees><horz_nrays>160</horz_nrays><ignore_parent_body>true</ignore_parent_body></sensor>
  <sensor class="laser" name="plane"><pose_3d>0 0 {z} 0 0 0</pose_3d><fov_degrees>360</fov_degrees><nrays>720</nrays>
    <max_range>12</max_range></sensor>
  <sensor class="laser" name="leaning"><pose_3d>0 0 {z} 0 4 0</pose_3d><fov_degrees>360</fov_degrees><nrays>720</nrays>
    <max_range>12</max_range><raytrace_3d>true</raytrace_3d><ignore_parent_body>true</ignore_parent_body></sensor>
  <sensor class="imu" name="inertia"><sensor_period>0.02</sensor_period></sensor>
  <sensor class="gnss" name="satellites"><sensor_period>0.1</sensor_period>
    <horizontal_std_noise>0.05</horizontal_std_noise></sensor>
"""


def sheet() -> Picture:
    """A row for each world, a column for each sensor."""
    size = (len(COLUMNS) * (WIDTH + GAP) + GAP, len(SHOWN) * (HEIGHT + GAP + 12) + 14)
    page = Image.new("RGB", size, "white")
    pen = ImageDraw.Draw(page)
    for k, name in enumerate(COLUMNS):
        pen.text((GAP + k * (WIDTH + GAP), 1), name, fill="black")
    for row, (name, (speed, turn, z)) in enumerate(SHOWN.items()):
        y = 14 + row * (HEIGHT + GAP + 12)
        for k, picture in enumerate(_pictures(name, speed, turn, z)):
            page.paste(Image.fromarray(picture).resize((WIDTH, HEIGHT)), (GAP + k * (WIDTH + GAP), y))
        pen.text((GAP, y + HEIGHT), f"{name}.world.xml", fill="black")
    return np.asarray(page)


def _pictures(name: str, speed: float, turn: float, z: float) -> list[Picture]:
    with tempfile.TemporaryDirectory() as folder:
        worlds = shutil.copytree(WORLDS, Path(folder) / "worlds")
        path = worlds / f"{name}.world.xml"
        text = path.read_text().replace("</vehicle>", RIG.format(z=z) + "</vehicle>", 1)
        place = "" if "<georeference>" in text else GEOREFERENCE
        path.write_text(text.replace("</mvsim_world>", place + "</mvsim_world>"))
        world = mvsim_gym.World(path, seed=2)
    vehicle = next(iter(world.vehicles.values()))
    inertia: list[Any] = []
    places: list[Any] = []
    for _ in range(150):
        _drive(vehicle, speed, turn)
        world.step(0.02)
        for sensor, out in (("inertia", inertia), ("satellites", places)):
            if reading := vehicle.sensors[sensor].read():
                out.append(reading)
    read = {k: vehicle.sensors[k].read(fresh=True) for k in ("rgb", "rgbd", "turn", "plane", "leaning")}
    rates = np.array([[*r.angular_velocity[2:], *r.linear_acceleration[:2]] for r in inertia])
    return [
        read["rgb"].image,
        _far(read["rgbd"].depth),
        _named(read["rgbd"].labels),
        _far(np.repeat(read["turn"].range_image[::-1, ::-1], 3, axis=0)),
        _cloud(read["turn"].points()),
        _scan(read["plane"]),
        _scan(read["leaning"]),
        _curves(rates / np.maximum(np.abs(rates).max(axis=0), 1e-6)),
        _track(np.array([r.enu[:2] for r in places])),
    ]


def _drive(vehicle: Any, speed: float, turn: float) -> None:
    if not vehicle.takes_twist:
        vehicle.set_command(speed, 0.1 * turn)
    else:
        vehicle.set_twist(speed, turn)


def _far(depth: npt.NDArray[np.float32]) -> Picture:
    """Near is bright, nothing is dark blue."""
    near = 1 - np.clip(depth / FAR, 0, 1) ** 0.5
    picture = (60 + 195 * near[..., None] * np.array([1, 0.85, 0.5])).astype(np.uint8)
    picture[depth == 0] = (20, 24, 60)
    return picture


def _named(labels: npt.NDArray[np.uint16]) -> Picture:
    palette = np.random.default_rng(3).integers(60, 256, (65536, 3), dtype=np.uint8)
    palette[0] = (20, 24, 60)
    return palette[labels]


def _canvas() -> tuple[Image.Image, ImageDraw.ImageDraw]:
    image = Image.new("RGB", (2 * WIDTH, 2 * HEIGHT), (245, 245, 245))
    return image, ImageDraw.Draw(image)


def _scan(reading: Reading) -> Picture:
    """From above, forward is up; the robot is the dot."""
    image, pen = _canvas()
    scale = HEIGHT / max(1.0, float(reading.ranges[reading.valid].max(initial=1.0)))
    for angle, distance, hit in zip(reading.angles, reading.ranges, reading.valid, strict=True):
        x, y = WIDTH - scale * distance * np.sin(angle), HEIGHT - scale * distance * np.cos(angle)
        if hit:
            pen.ellipse((x - 2, y - 2, x + 2, y + 2), fill=(200, 40, 40))
    pen.ellipse((WIDTH - 5, HEIGHT - 5, WIDTH + 5, HEIGHT + 5), fill=(40, 60, 160))
    return np.asarray(image)


def _cloud(points: npt.NDArray[Any]) -> Picture:
    """From above as _scan, the higher the lighter."""
    image, pen = _canvas()
    level = np.hypot(points["x"], points["y"])
    near = points[level < FAR]
    scale = HEIGHT / FAR
    for x, y, z in zip(near["x"], near["y"], near["z"], strict=True):
        shade = int(np.clip(110 + 120 * z, 0, 215))
        place = WIDTH - scale * y, HEIGHT - scale * x
        pen.ellipse((place[0] - 1, place[1] - 1, place[0] + 1, place[1] + 1), fill=(shade, shade, 150))
    pen.ellipse((WIDTH - 5, HEIGHT - 5, WIDTH + 5, HEIGHT + 5), fill=(40, 60, 160))
    return np.asarray(image)


def _curves(values: npt.NDArray[np.float64]) -> Picture:
    """Each column over time, from -1 to 1: turning speed, acceleration forward and to the left."""
    image, pen = _canvas()
    x = np.linspace(0, 2 * WIDTH, len(values))
    for column, color in zip(values.T, ("#1f6fb2", "#e67e22", "#7e57c2"), strict=True):
        pen.line(list(zip(x, HEIGHT - 0.9 * HEIGHT * column, strict=True)), fill=color, width=2)
    return np.asarray(image)


def _track(points: npt.NDArray[np.float64]) -> Picture:
    """East to the right, north up."""
    image, pen = _canvas()
    middle = (points.min(axis=0) + points.max(axis=0)) / 2
    scale = 1.6 * HEIGHT / max(0.5, float(np.ptp(points, axis=0).max()))
    for east, north in (points - middle) * scale:
        x, y = WIDTH + east, HEIGHT - north
        pen.ellipse((x - 3, y - 3, x + 3, y + 3), fill=(0, 110, 60))
    return np.asarray(image)
