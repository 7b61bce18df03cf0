"""Recordings of cameras and 3D lidars: the pixels and points of the API, in frames that fit them."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import mvsim_gym
from mvsim_gym._rotation import angles_of, quaternion_of

pytest.importorskip("mcap", reason="needs the extra record")
pytest.importorskip("rosbags", reason="needs the extra record")
pytest.importorskip("mcap_ros2.decoder", reason="needs mcap-ros2-support")

from test_recording import messages_of

WORLD = """<mvsim_world>
  <vehicle name="r"><init_pose>1 2 30</init_pose>
    <dynamics class="differential">
      <l_wheel mass="1" diameter="0.2" width="0.05"/><r_wheel mass="1" diameter="0.2" width="0.05"/>
      <chassis mass="5" zmin="0.05" zmax="0.15"/><controller class="twist_ideal"/>
    </dynamics>
    <sensor class="camera" name="cam"><pose_3d>0.2 0 0.5 -80 0 -100</pose_3d>
      <ncols>32</ncols><nrows>24</nrows><cx>16</cx><cy>12</cy><fx>20</fx><fy>21</fy></sensor>
    <sensor class="rgbd_camera" name="eye"><pose_3d>0.1 0 0.5 10 20 0</pose_3d>
      <depth_ncols>16</depth_ncols><depth_nrows>12</depth_nrows><depth_cx>8</depth_cx><depth_cy>6</depth_cy>
      <depth_fx>10</depth_fx><depth_fy>10</depth_fy><rgb_ncols>16</rgb_ncols><rgb_nrows>12</rgb_nrows>
      <rgb_cx>8</rgb_cx><rgb_cy>6</rgb_cy><rgb_fx>10</rgb_fx><rgb_fy>10</rgb_fy></sensor>
    <sensor class="lidar3d" name="lidar"><pose_3d>0 0 0.5 0 0 0</pose_3d><vert_nrays>4</vert_nrays>
      <vert_fov_degrees>30</vert_fov_degrees><horz_nrays>30</horz_nrays><max_range>40</max_range></sensor>
  </vehicle>
  <block name="box"><static>true</static><init_pose>4 4 0</init_pose><zmin>0</zmin><zmax>1</zmax>
    <color>#c03020</color><geometry type="box" lx="2" ly="2" lz="1"/></block>
</mvsim_world>"""


def test_pictures_and_points_are_those_of_the_api(tmp_path: Path) -> None:
    (tmp_path / "views.world.xml").write_text(WORLD)
    world = mvsim_gym.World(tmp_path / "views.world.xml")
    sensors = world.vehicles["r"].sensors
    with world.record(tmp_path / "x.mcap"):
        world.step(0.15)
    readings = {name: sensor.read() for name, sensor in sensors.items()}
    found = messages_of(tmp_path / "x.mcap")
    mounts = {e.child_frame_id: e.transform for _, m in found["/tf"] for e in m.transforms}
    for name, what, encoding in (
        ("cam", "image", "bgr8"),
        ("eye_rgb", "image", "bgr8"),
        ("eye_depth", "depth", "16UC1"),
    ):
        reading = readings[name.partition("_")[0]]
        pixels = getattr(reading, what)
        ((time, message),) = found[f"/{name}/image_raw"]
        assert time == round(reading.time * 1e9) and message.encoding == encoding
        assert message.header.frame_id == name and (message.height, message.width) == pixels.shape[:2]
        data = bytes(message.data)
        assert len(data) == message.step * message.height
        if encoding == "bgr8":
            assert data == pixels[..., ::-1].tobytes() and pixels.std() > 5
        else:
            assert message.step == 2 * message.width
            depths = np.frombuffer(data, "<u2").reshape(pixels.shape) / 1000
            assert depths == pytest.approx(pixels, abs=5.1e-4) and pixels.max() > 1
        ((_, info),) = found[f"/{name}/camera_info"]
        assert np.array_equal(info.k, reading.intrinsics[what].ravel()) and list(info.d) == [0] * 5
        assert np.array_equal(np.reshape(info.p, (3, 4))[:, :3], reading.intrinsics[what])
        place, q = mounts[name].translation, mounts[name].rotation
        frame = reading.T_vehicle_camera[what]
        assert (place.x, place.y, place.z) == pytest.approx(frame[:3, 3])
        assert np.abs(rotation_of(q.x, q.y, q.z, q.w) - frame[:3, :3]).max() < 1e-9
    ((_, cloud),) = found["/lidar_points"]
    points = readings["lidar"].points()
    assert bytes(cloud.data) == points.tobytes() and cloud.width == len(points) > 2
    assert {f.name: f.offset for f in cloud.fields} == {n: f[1] for n, f in points.dtype.fields.items()}
    assert cloud.header.frame_id == "lidar_points" and mounts["lidar_points"].translation.z == 0.5


def rotation_of(x: float, y: float, z: float, w: float) -> np.ndarray:
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


def test_angles_and_quaternions_are_one_rotation() -> None:
    random = np.random.default_rng(0)
    corners = [(a, b, c) for a in (0, 1) for b in (-1, 0, 1) for c in (0, 1)]
    cases = [math.pi / 2 * np.array(corner) for corner in corners]
    cases += [random.uniform((-3, -1.5, -3), (3, 1.5, 3)) for _ in range(100)]
    for yaw, pitch, roll in cases:
        c, s = np.cos, np.sin
        rz = np.array([[c(yaw), -s(yaw), 0], [s(yaw), c(yaw), 0], [0, 0, 1]])
        ry = np.array([[c(pitch), 0, s(pitch)], [0, 1, 0], [-s(pitch), 0, c(pitch)]])
        rx = np.array([[1, 0, 0], [0, c(roll), -s(roll)], [0, s(roll), c(roll)]])
        rotation = rz @ ry @ rx
        assert np.abs(rotation_of(*quaternion_of(yaw, pitch, roll)) - rotation).max() < 1e-12
        again = rotation_of(*quaternion_of(*angles_of(rotation)))
        assert np.abs(again - rotation).max() < 1e-8
