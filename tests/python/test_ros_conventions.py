"""Conventions of ROS 2 that messages keep: REP 103 (axes and units), 105 (frames), 117 (rays without a return), 118
(depth images), 145 (IMU), and covariances. Recordings hold the same messages, so most is read from one."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mvsim_gym

pytest.importorskip("mcap", reason="needs the extra record")
pytest.importorskip("rosbags", reason="needs the extra record")
pytest.importorskip("mcap_ros2.decoder", reason="needs mcap-ros2-support")

from test_recording import messages_of, yaw_of
from test_recording_views import rotation_of

from mvsim_gym.part_states import Pose
from mvsim_gym.ros.messages import Messages
from mvsim_gym.ros.sensor_messages import streams_of
from mvsim_gym.ros.transforms import correction

ROOM = """<mvsim_world>
  <simul_timestep>0.01</simul_timestep>
  <element class="occupancy_grid"><file>room.png</file><resolution>0.05</resolution>
    <centerpixel_x>0</centerpixel_x><centerpixel_y>0</centerpixel_y></element>
  VEHICLES
</mvsim_world>"""
ROBOT = """<vehicle name="{name}"><init_pose>{pose}</init_pose>
    <dynamics class="differential">
      <l_wheel pos="0 0.15" mass="0.5" width="0.04" diameter="0.2"/>
      <r_wheel pos="0 -0.15" mass="0.5" width="0.04" diameter="0.2"/>
      <chassis mass="5" zmin="0.05" zmax="0.3"/><controller class="twist_ideal"/>
    </dynamics>
    <odometry x_multiplier="{scale}" y_multiplier="{scale}" yaw_multiplier="{turn}"/>
    <sensor class="laser" name="laser"><pose>0.1 0.05 30</pose> <height>0.2</height> <fov_degrees>300</fov_degrees>
      <nrays>61</nrays> <max_range>20</max_range> <sensor_period>0.07</sensor_period>
      <range_std_noise>0</range_std_noise><angle_std_noise_deg>0</angle_std_noise_deg></sensor>
  </vehicle>"""
Transforms = dict[tuple[str, str], list[tuple[int, Any]]]


@pytest.fixture
def room(tmp_path: Path) -> Any:
    """Makes worlds of a closed room of 8 m by 6 m."""
    from PIL import Image

    pixels = np.full((120, 160), 255, np.uint8)
    pixels[:2] = pixels[-2:] = 0
    pixels[:, :2] = pixels[:, -2:] = 0
    pixels[40:50, 100:110] = 0
    Image.fromarray(pixels).save(tmp_path / "room.png")

    def make(*vehicles: str) -> mvsim_gym.World:
        path = tmp_path / "room.world.xml"
        path.write_text(ROOM.replace("VEHICLES", "".join(vehicles)))
        return mvsim_gym.World(path)

    return make


def stamp_of(message: Any) -> int:
    return int(message.header.stamp.sec * 10**9 + message.header.stamp.nanosec)


def transforms_of(messages: list[tuple[int, Any]]) -> Transforms:
    """By frame and child: stamps and transforms."""
    found: Transforms = {}
    for _, message in messages:
        for edge in message.transforms:
            key = edge.header.frame_id, edge.child_frame_id
            found.setdefault(key, []).append((stamp_of(edge), edge.transform))
    return found


def matrix_of(transform: Any) -> np.ndarray:
    q, place = transform.rotation, transform.translation
    made = np.eye(4)
    made[:3, :3] = rotation_of(q.x, q.y, q.z, q.w)
    made[:3, 3] = place.x, place.y, place.z
    return made


def at(edges: list[tuple[int, Any]], stamp: int) -> np.ndarray:
    """The transform of exactly that moment."""
    (found,) = [transform for time, transform in edges if time == stamp]
    return matrix_of(found)


def hits_of(scan: Any, pose: np.ndarray) -> np.ndarray:
    """Points in the map, of the sensor's pose there."""
    ranges = np.array(scan.ranges)
    angles = scan.angle_min + scan.angle_increment * np.arange(len(ranges))
    hit = np.isfinite(ranges)
    points = np.stack([ranges * np.cos(angles), ranges * np.sin(angles), 0 * ranges, 0 * ranges + 1], axis=1)
    return (points[hit] @ pose.T)[:, :2]


def share_on_walls(points: np.ndarray, grid: Any) -> float:
    """The share of points in an occupied cell, or within half a cell of one."""
    info = grid.info
    cells = np.reshape(grid.data, (info.height, info.width)) == 100
    origin = info.origin.position.x, info.origin.position.y
    near = np.zeros(len(points), bool)
    for dx in (-0.3, 0, 0.3):
        for dy in (-0.3, 0, 0.3):
            column, row = np.floor((points - origin) / info.resolution + (dx, dy)).astype(int).T
            near |= cells[np.clip(row, 0, info.height - 1), np.clip(column, 0, info.width - 1)]
    return float(near.mean())


@pytest.mark.parametrize("pose", ["2 1 90", "4 3 0", "6.5 4.5 -170"])
@pytest.mark.parametrize(("scale", "turn"), [(1.0, 1.0), (1.3, 0.5), (0.8, 1.9)])
def test_scans_laid_by_tf_hit_the_map(
    room: Any, tmp_path: Path, pose: str, scale: float, turn: float
) -> None:
    world = room(ROBOT.format(name="r1", pose=pose, scale=scale, turn=turn))
    robot = world.vehicles["r1"]
    with world.record(tmp_path / "x.mcap", period=0.5):  # also between two poses of the file
        for vx, omega in ((0, 1.5), (0.1, 0.3), (0, -2), (-0.2, 0)):
            robot.set_twist(vx, omega)
            world.step(1.1)
    found = messages_of(tmp_path / "x.mcap")
    edges = transforms_of(found["/tf"])
    ((_, grid),) = found["/simul_map"]
    shares = []
    for _, scan in found["/laser"]:
        now = stamp_of(scan)
        chain = at(edges["map", "odom"], now) @ at(edges["odom", "base_link"], now)
        shares.append(share_on_walls(hits_of(scan, chain @ at(edges["base_link", "laser"], now)), grid))
    assert len(shares) > 50 and min(shares) > 0.98


def test_tf_and_amcl_pose_are_the_true_pose(room: Any, tmp_path: Path) -> None:
    world = room(ROBOT.format(name="r1", pose="2 1 90", scale=1.1, turn=0.7))
    robot = world.vehicles["r1"]
    robot.set_twist(0.1, 1)
    expected = {0: robot.pose}
    with world.record(tmp_path / "x.mcap"):
        for _ in range(50):
            world.step(0.02)
            expected[round(world.time * 1e9)] = robot.pose
    found = messages_of(tmp_path / "x.mcap")
    edges = transforms_of(found["/tf"])
    assert [time for time, _ in edges["map", "odom"]] == [time for time, _ in edges["odom", "base_link"]]
    for now, pose in expected.items():
        chain = at(edges["map", "odom"], now) @ at(edges["odom", "base_link"], now)
        assert chain[:3, 3] == pytest.approx(pose[:3], abs=1e-9)
        assert math.remainder(math.atan2(chain[1, 0], chain[0, 0]) - pose.yaw, math.tau) == pytest.approx(0)
    for _, message in found["/amcl_pose"]:
        pose = expected[stamp_of(message)]
        assert message.header.frame_id == "map" and message.pose.pose.position.x == pose.x
        assert set(message.pose.covariance) == {0}
    truth = found["/base_pose_ground_truth"][-1][1]
    assert truth.header.frame_id == "map" and truth.pose.pose.position.x == robot.pose.x
    assert set(truth.pose.covariance) == set(truth.twist.covariance) == {0}
    times = [time for time, _ in found["/tf"]]
    assert len(times) == len(set(times)), "one message a moment"


def test_the_correction_holds_on_slopes() -> None:
    random = np.random.default_rng(1)
    for _ in range(50):
        truth = Pose(*random.uniform(-3, 3, 4), *random.uniform(-1.4, 1.4, 2))
        odometry = Pose(*random.uniform(-3, 3, 2), 0, random.uniform(-9, 9), 0, 0)
        (edge,) = Messages(0).transforms([("map", "odom", correction(truth, odometry))]).transforms
        (body,) = Messages(0).transforms([("odom", "base_link", odometry)]).transforms
        (right,) = Messages(0).transforms([("map", "base_link", truth)]).transforms
        assert matrix_of(edge.transform) @ matrix_of(body.transform) == pytest.approx(
            matrix_of(right.transform), abs=1e-12
        )


def test_two_robots_in_a_recording_are_two_branches(room: Any, tmp_path: Path) -> None:
    robots = (ROBOT.format(name=f"r{k}", pose=f"{2 * k} 2 0", scale=1, turn=1) for k in (1, 2))
    world = room(*robots)
    with world.record(tmp_path / "x.mcap"):
        world.step(0.2)
    found = messages_of(tmp_path / "x.mcap")
    parents: dict[str, set[str]] = {}
    for topic in ("/r1/tf", "/r2/tf", "/r1/tf_static", "/r2/tf_static"):
        for frame, child in transforms_of(found[topic]):
            parents.setdefault(child, set()).add(frame)
    for name in ("r1", "r2"):
        assert parents[f"{name}/odom"] == {"map"} and parents[f"{name}/base_link"] == {f"{name}/odom"}
        assert parents[f"{name}/laser"] == parents[f"{name}/base_footprint"] == {f"{name}/base_link"}
        assert found[f"/{name}/laser"][0][1].header.frame_id == f"{name}/laser"
        odometry = found[f"/{name}/odom"][0][1]
        assert (odometry.header.frame_id, odometry.child_frame_id) == (f"{name}/odom", f"{name}/base_link")
        marker = found[f"/{name}/chassis_markers"][0][1].markers[0]
        assert marker.header.frame_id == f"{name}/base_link"
    assert all(len(frames) == 1 for frames in parents.values()), "a tree"


SENSORS = """<mvsim_world version="1.0">
  <vehicle name="r1"><init_pose>0 0 0</init_pose><dynamics class="differential"/><odometry x_multiplier="{scale}"
    y_multiplier="1" yaw_multiplier="1"/>{sensors}</vehicle>
  <block name="far"><static>true</static><init_pose>{far} 0 0</init_pose><zmax>20</zmax>
    <shape><pt>0 -20</pt><pt>0 20</pt><pt>1 20</pt><pt>1 -20</pt></shape></block>
</mvsim_world>"""


def world_of(folder: Path, sensors: str, far: float = 100, scale: float = 1) -> mvsim_gym.World:
    (folder / "s.world.xml").write_text(SENSORS.format(sensors=sensors, far=far, scale=scale))
    return mvsim_gym.World(folder / "s.world.xml")


def message_of(sensor: Any, **options: Any) -> Any:
    return streams_of(sensor, **options)[0].make(Messages(0), sensor.read(fresh=True))


LASER = """<sensor class="laser" name="l"><pose>0.6 0 0</pose><height>0.3</height><fov_degrees>180</fov_degrees>
  <nrays>5</nrays>  <max_range>5</max_range><sensor_period>0.25</sensor_period>
  <range_std_noise>0</range_std_noise><angle_std_noise_deg>0</angle_std_noise_deg></sensor>"""


def test_rays_without_a_return_and_below_the_minimum_are_infinite(tmp_path: Path) -> None:
    """REP 117."""
    scan = message_of(world_of(tmp_path, LASER, far=3).vehicles["r1"].sensors["l"])
    assert scan.ranges[2] == pytest.approx(2.4) and list(scan.ranges[[0, 4]]) == [np.inf] * 2
    assert (scan.scan_time, scan.time_increment) == (0.25, 0)
    near = world_of(tmp_path, LASER, far=0.61).vehicles["r1"].sensors["l"]
    scan = message_of(near)
    assert scan.range_min > 0.01 and scan.ranges[2] == -np.inf
    assert list(scan.ranges[[0, 4]]) == [np.inf] * 2
    scan = message_of(near, finite=True)
    assert scan.ranges[2] == pytest.approx(0.01) and list(scan.ranges[[0, 4]]) == [5, 5]


@pytest.mark.parametrize("distance", [64.9, 65.536, 70, 100])
def test_depths_that_a_pixel_cannot_hold_are_no_measurement(tmp_path: Path, distance: float) -> None:
    """REP 118: 0 of 16UC1 is invalid."""
    camera = """<sensor class="rgbd_camera" name="c"><pose_3d>0 0 0.5 0 0 0</pose_3d><sense_rgb>false</sense_rgb>
      <depth_ncols>4</depth_ncols><depth_nrows>3</depth_nrows><depth_cx>2</depth_cx><depth_cy>1.5</depth_cy>
      <depth_fx>50</depth_fx><depth_fy>50</depth_fy><depth_noise_sigma>0</depth_noise_sigma>
      <depth_clip_max>200</depth_clip_max></sensor>"""
    sensor = world_of(tmp_path, camera, far=distance).vehicles["r1"].sensors["c"]
    image = message_of(sensor)
    depths = np.frombuffer(image.data.tobytes(), "<u2")
    true = sensor.read(fresh=True).depth.ravel()
    assert image.encoding == "16UC1" and true[:8] == pytest.approx(distance, abs=1e-3)
    assert list(depths) == [round(float(d) * 1000) if d < 65.5355 else 0 for d in true] and true[8] == 0


IMU = """<sensor class="imu" name="i"><pose_3d>0 0 0.2 90 0 0</pose_3d>
  <angular_velocity_white_noise_std_noise>{gyro}</angular_velocity_white_noise_std_noise>
  <linear_acceleration_white_noise_std_noise>{push}</linear_acceleration_white_noise_std_noise>
  <orientation_std_noise>{tilt}</orientation_std_noise><measure_orientation>{measures}</measure_orientation></sensor>"""


@pytest.mark.parametrize(("gyro", "push", "tilt"), [(2e-4, 0.017, 0.005), (0.3, 1.5, 0.02), (0, 0, 0)])
def test_covariances_of_an_imu_are_those_of_its_noise(
    tmp_path: Path, gyro: float, push: float, tilt: float
) -> None:
    text = IMU.format(gyro=gyro, push=push, tilt=tilt, measures="true")
    world = world_of(tmp_path, text)
    message = message_of(world.vehicles["r1"].sensors["i"])
    for name, deviation in (("angular_velocity", gyro), ("linear_acceleration", push), ("orientation", tilt)):
        covariance = np.reshape(getattr(message, f"{name}_covariance"), (3, 3))
        assert covariance == pytest.approx(deviation**2 * np.eye(3), rel=1e-12, abs=0)
    world.set_parameter("vehicle:r1/sensor:i/angular_velocity_white_noise_std_noise", 0.5)
    message = message_of(world.vehicles["r1"].sensors["i"])
    assert message.angular_velocity_covariance[0] == 0.25, "as it is now"


def test_an_imu_at_rest_feels_gravity_upward_and_says_what_it_does_not_measure(tmp_path: Path) -> None:
    """REP 145: proper acceleration in the sensor's frame, orientation to east, north, up."""
    still = IMU.format(gyro=0, push=0, tilt=0, measures="false")
    robot = world_of(tmp_path, still).vehicles["r1"]
    message = message_of(robot.sensors["i"])
    push = message.linear_acceleration
    assert (push.x, push.y, push.z) == pytest.approx((0, 0, 9.81), abs=0.01)
    assert list(message.orientation_covariance) == [-1, *[0] * 8]
    robot = world_of(tmp_path, still.replace("false", "true")).vehicles["r1"]
    message = message_of(robot.sensors["i"])
    assert yaw_of(message.orientation) == pytest.approx(math.pi / 2), (
        "it looks to the left of the vehicle, north"
    )
    assert message.header.frame_id == "i"


def test_points_of_a_3d_lidar_are_aligned_and_have_a_time(tmp_path: Path) -> None:
    lidar = """<sensor class="lidar3d" name="v"><pose_3d>0 0 0.8 0 0 0</pose_3d><vert_nrays>4</vert_nrays>
      <vert_fov_degrees>20</vert_fov_degrees><horz_nrays>30</horz_nrays><max_range>40</max_range></sensor>"""
    cloud = message_of(world_of(tmp_path, lidar, far=3).vehicles["r1"].sensors["v"])
    sizes = {4: 2, 7: 4}  # of sensor_msgs/PointField
    fields = {field.name: (field.offset, sizes[field.datatype]) for field in cloud.fields}
    assert list(fields) == ["x", "y", "z", "intensity", "ring", "t"]
    assert all(offset % size == 0 for offset, size in fields.values()) and cloud.point_step % 4 == 0
    assert cloud.row_step == cloud.point_step * cloud.width == len(cloud.data) > 0
    rows = np.frombuffer(cloud.data.tobytes(), np.uint8).reshape(cloud.width, cloud.point_step)
    times = rows[:, fields["t"][0] : fields["t"][0] + 4].copy().view("<f4")
    assert (times == 0).all(), "all rays are of one instant"


def test_axes_are_forward_left_up(room: Any, tmp_path: Path) -> None:
    """REP 103: x forward, y to the left, angles counter-clockwise; images in optical frames."""
    left = '<sensor class="camera" name="c"><ncols>8</ncols><nrows>6</nrows></sensor></vehicle>'
    world = room(ROBOT.format(name="r1", pose="3 3 0", scale=1, turn=1).replace("</vehicle>", left))
    world.vehicles["r1"].set_twist(0.2, 0.5)
    with world.record(tmp_path / "x.mcap"):
        world.step(0.3)
    found = messages_of(tmp_path / "x.mcap")
    odometry = found["/odom"][-1][1]
    assert odometry.twist.twist.linear.x > 0 and odometry.twist.twist.angular.z > 0
    assert yaw_of(odometry.pose.pose.orientation) > 0 and odometry.pose.pose.position.y > 0
    scan = found["/laser"][0][1]
    assert scan.angle_increment > 0
    ((_, eye),) = transforms_of(found["/tf"])["base_link", "c"][:1]
    right, down, forward = matrix_of(eye)[:3, :3].T
    assert forward == pytest.approx([1, 0, 0], abs=1e-9) and right == pytest.approx([0, -1, 0], abs=1e-9)
    assert down == pytest.approx([0, 0, -1], abs=1e-9)


@pytest.mark.parametrize(("scale", "turn"), [(1.0, 1.0), (1.2, 0.6), (0.7, 1.5)])
def test_covariances_of_odometry_bound_its_error(
    room: Any, tmp_path: Path, scale: float, turn: float
) -> None:
    """They are zero where the odometry is right. Quantities that it does not measure have a huge variance."""
    world = room(ROBOT.format(name="r1", pose="3 3 0", scale=scale, turn=turn))
    robot = world.vehicles["r1"]
    poses = {0: robot.pose}
    with world.record(tmp_path / "x.mcap"):
        for vx, omega in ((0.5, 0.8), (0.0, 2.0), (0.3, -1.0)):
            robot.set_twist(vx, omega)
            for _ in range(30):
                world.step(0.02)
                poses[round(world.time * 1e9)] = robot.pose
    messages = [message for _, message in messages_of(tmp_path / "x.mcap")["/odom"]]
    for message in messages:
        covariance = np.reshape(message.pose.covariance, (6, 6))
        assert np.array_equal(covariance, np.diag(np.diag(covariance)))
        assert set(np.diag(covariance)[2:5]) == {1e6} and message.twist.covariance[0] == -1
        place, pose = message.pose.pose.position, poses[stamp_of(message)]
        error = math.hypot(place.x - (pose.x - 3), place.y - (pose.y - 3))
        assert error <= math.sqrt(covariance[0, 0]) + 1e-6 and covariance[0, 0] == covariance[1, 1]
        wrong = math.remainder(yaw_of(message.pose.pose.orientation) - pose.yaw, math.tau)
        assert abs(wrong) <= math.sqrt(covariance[5, 5]) + 1e-6
    last = np.diag(np.reshape(messages[-1].pose.covariance, (6, 6)))
    if scale == 1:
        assert max(last[0], last[5]) < 1e-20
    else:
        assert 0.01 < last[0] < 1 and 0.1 < last[5] < 4
