"""Recordings: ROS 2 messages that independent readers give back with the values of the API."""

from __future__ import annotations

import copy
import math
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import DATA

import mvsim_gym
from mvsim_gym.tools.cli import main

pytest.importorskip("mcap", reason="needs the extra record")
pytest.importorskip("rosbags", reason="needs the extra record")
ros2 = pytest.importorskip("mcap_ros2.decoder", reason="needs mcap-ros2-support")

from mcap.reader import make_reader  # noqa: E402 (after the skips)
from rosbags.highlevel import AnyReader  # noqa: E402

YARD = DATA / "yard.world.xml"
SENSORS = """<mvsim_world>
  <simul_timestep>0.01</simul_timestep>
  <georeference><latitude>36.8</latitude><longitude>-2.4</longitude><height>10</height></georeference>
  <vehicle name="r1">
    <init_pose>1 2 30</init_pose>
    <dynamics class="differential">
      <l_wheel pos="0 0.15" mass="0.5" width="0.04" diameter="0.2"/>
      <r_wheel pos="0 -0.15" mass="0.5" width="0.04" diameter="0.2"/>
      <chassis mass="5" zmin="0.05" zmax="0.3"/>
      <controller class="twist_pid"><KP>3</KP><KI>3</KI><max_torque>2</max_torque></controller>
    </dynamics>
    <sensor class="laser" name="front laser">
      <pose>0.1 0 45</pose> <height>0.2</height> <fov_degrees>180</fov_degrees> <nrays>19</nrays>
      <max_range>5</max_range> <sensor_period>0.1</sensor_period>
    </sensor>
    <sensor class="imu" name="imu1"><sensor_period>0.05</sensor_period></sensor>
    <sensor class="gnss" name="gps1"><sensor_period>0.2</sensor_period></sensor>
  </vehicle>
  <block name="post">
    <static>true</static> <geometry type="cylinder" radius="0.3" length="1"/> <init_pose>3 3 0</init_pose>
  </block>
</mvsim_world>"""


def messages_of(path: Path) -> dict[str, list[tuple[int, Any]]]:
    """Returns the messages that MCAP's own readers find: by topic, time and decoded message."""
    found: dict[str, list[tuple[int, Any]]] = {}
    with open(path, "rb") as file:
        reader = make_reader(file, decoder_factories=[ros2.DecoderFactory()])
        for _, channel, message, decoded in reader.iter_decoded_messages():
            found.setdefault(channel.topic, []).append((message.log_time, decoded))
    return found


def yaw_of(q: Any) -> float:
    return math.atan2(2 * (q.w * q.z + q.x * q.y), 1 - 2 * (q.y**2 + q.z**2))


@pytest.fixture
def sensors(tmp_path: Path) -> mvsim_gym.World:
    (tmp_path / "sensors.world.xml").write_text(SENSORS)
    return mvsim_gym.World(tmp_path / "sensors.world.xml", seed=5)


def test_states_are_those_of_the_api(tmp_path: Path, sensors: mvsim_gym.World) -> None:
    world, robot = sensors, sensors.vehicles["r1"]
    robot.set_twist(0.5, 0.4)
    expected = [(robot.pose, robot.twist, robot.odometry, robot.odometry_twist)]
    with world.record(tmp_path / "x.mcap"):
        for _ in range(25):
            world.step(0.02)
            expected.append((robot.pose, robot.twist, robot.odometry, robot.odometry_twist))
    found = messages_of(tmp_path / "x.mcap")
    clocks = [(time, message.clock.sec * 10**9 + message.clock.nanosec) for time, message in found["/clock"]]
    assert [time for time, _ in clocks] == [round(0.01 * k * 1e9) for k in range(51)], "each step"
    assert all(time == clock for time, clock in clocks)
    truth, odometry, poses = found["/base_pose_ground_truth"], found["/odom"], found["/amcl_pose"]
    assert len(truth) == len(odometry) == len(expected)
    edges = [edge for _, message in found["/tf"] for edge in message.transforms]
    base = {
        edge.header.stamp.sec * 10**9 + edge.header.stamp.nanosec: edge
        for edge in edges
        if (edge.header.frame_id, edge.child_frame_id) == ("odom", "base_link")
    }
    for k, (pose, twist, estimate, estimated_twist) in enumerate(expected):
        for (time, message), where, speed in (
            (truth[k], pose, twist),
            (odometry[k], estimate, estimated_twist),
        ):
            assert time == round(0.02 * k * 1e9)
            assert message.header.stamp.sec * 10**9 + message.header.stamp.nanosec == time
            frame = "odom" if message is odometry[k][1] else "map"
            assert (message.header.frame_id, message.child_frame_id) == (frame, "base_link")
            place, velocity = message.pose.pose.position, message.twist.twist
            assert (place.x, place.y, place.z) == where[:3]
            assert yaw_of(message.pose.pose.orientation) == pytest.approx(where.yaw, abs=1e-12)
            assert (velocity.linear.x, velocity.linear.y, velocity.angular.z) == tuple(speed)
        assert poses[k][1].pose.pose.position.x == pose.x
        assert base[time].transform.translation.x == estimate.x
    static = found["/tf_static"][0][1].transforms[0]
    assert (static.header.frame_id, static.child_frame_id) == ("base_link", "base_footprint")
    assert {(e.header.frame_id, e.child_frame_id) for e in edges} == {
        ("map", "odom"),
        ("odom", "base_link"),
        *(("base_link", name) for name in ("front_laser", "imu1", "gps1")),
    }
    markers = found["/chassis_markers"][-1][1].markers
    assert [m.ns for m in markers] == [
        "mvsim.chassis_shape",
        "mvsim.chassis_shape.wheel0",
        "mvsim.chassis_shape.wheel1",
    ]
    assert np.mean([p.y for p in markers[1].points[:4]]) == pytest.approx(0.15)


def test_readings_are_those_of_the_api(tmp_path: Path, sensors: mvsim_gym.World) -> None:
    world, robot = sensors, sensors.vehicles["r1"]
    robot.set_twist(0.5, 0.4)
    seen: dict[str, dict[int, Any]] = {name: {} for name in robot.sensors}
    with world.record(tmp_path / "x.mcap"):
        for _ in range(100):
            world.step()
            for name, sensor in robot.sensors.items():
                if (reading := sensor.read()) is not None:
                    seen[name][round(reading.time * 1e9)] = reading
    found = messages_of(tmp_path / "x.mcap")
    for topic, name in (("/front_laser", "front laser"), ("/imu1", "imu1"), ("/gps1", "gps1")):
        assert [time for time, _ in found[topic]] == list(seen[name])
        assert {message.header.frame_id for _, message in found[topic]} == {topic[1:]}
    for time, scan in found["/front_laser"]:
        reading = seen["front laser"][time]
        assert np.array_equal(np.array(scan.ranges)[reading.valid], reading.ranges[reading.valid])
        assert scan.scan_time == pytest.approx(0.1) and scan.time_increment == 0
        assert scan.range_max == 5 and (np.array(scan.ranges)[~reading.valid] == np.inf).all()
        assert not reading.valid.all() and reading.valid.any()
        angles = scan.angle_min + scan.angle_increment * np.arange(len(scan.ranges))
        assert angles == pytest.approx(reading.angles, abs=1e-6)
    for time, message in found["/imu1"]:
        reading = seen["imu1"][time]
        turn, push = message.angular_velocity, message.linear_acceleration
        assert (turn.x, turn.y, turn.z, push.x, push.y, push.z) == (
            *reading.angular_velocity,
            *reading.linear_acceleration,
        )
        assert np.reshape(message.linear_acceleration_covariance, (3, 3)) == pytest.approx(
            0.017**2 * np.eye(3)
        )
        if reading.orientation is None:
            assert message.orientation_covariance[0] == -1
        else:
            q = message.orientation
            assert (q.w, q.x, q.y, q.z) == tuple(reading.orientation)
    for time, message in found["/gps1"]:
        reading = seen["gps1"][time]
        assert (message.latitude, message.longitude, message.altitude) == reading[:3]
        assert message.position_covariance_type == 2
        assert np.array_equal(message.position_covariance, reading.covariance.ravel())
    mounts = [
        edge
        for _, message in found["/tf"]
        for edge in message.transforms
        if edge.child_frame_id == "front_laser"
    ]
    place = mounts[0].transform.translation
    assert (place.x, place.y, place.z) == pytest.approx((0.1, 0, 0.2))
    assert yaw_of(mounts[0].transform.rotation) == pytest.approx(math.pi / 4)


def test_recorded_commands_drive_the_same_way_again(tmp_path: Path, sensors: mvsim_gym.World) -> None:
    robot = sensors.vehicles["r1"]
    rng = np.random.default_rng(3)
    given, poses = {}, []
    with sensors.record(tmp_path / "x.mcap", period=0.05):
        for k in range(200):
            if k % 7 == 0:
                vx, omega = rng.uniform(-1, 1, 2)
                robot.set_twist(vx, omega)
                given[round(sensors.time * 1e9)] = (vx, omega)
            sensors.step()
            poses.append(robot.pose)
    read = {t: (m.linear.x, m.angular.z) for t, m in messages_of(tmp_path / "x.mcap")["/cmd_vel"]}
    assert {t: read[t] for t in given} == given
    assert len(read) > len(given)  # also once a period
    assert "/ackermann_cmd" not in messages_of(tmp_path / "x.mcap")
    world = mvsim_gym.World(tmp_path / "sensors.world.xml", seed=5)
    twin, again = world.vehicles["r1"], []
    for _ in range(200):
        if command := read.get(round(world.time * 1e9)):
            twin.set_twist(*command)
        world.step()
        again.append(twin.pose)
    assert again == poses


def test_a_car_has_its_steering_angle_recorded(tmp_path: Path) -> None:
    file = tmp_path / "w.world.xml"
    file.write_text(
        '<mvsim_world><vehicle name="c"><init_pose>0 0 0</init_pose><dynamics class="ackermann">'
        '<controller class="front_steer_pid"/></dynamics></vehicle></mvsim_world>'
    )
    world = mvsim_gym.World(file)
    car = world.vehicles["c"]
    with world.record(tmp_path / "x.mcap"):
        car.set_command(-1.5, 0.2)
        assert car.command == (-1.5, 0.2) and car.command_names == ("vx", "steer")
        world.step()
        car.set_command(0, 0.1)
        world.step()
    messages = messages_of(tmp_path / "x.mcap")
    (_, first), (_, second) = messages["/ackermann_cmd"]
    assert (first.drive.speed, first.drive.steering_angle) == pytest.approx((-1.5, 0.2))
    assert (second.drive.speed, second.drive.steering_angle) == pytest.approx((0, 0.1))
    (_, twist), _ = messages["/cmd_vel"]
    assert car.wheelbase is not None
    assert (twist.linear.x, twist.angular.z) == pytest.approx((-1.5, -1.5 * math.tan(0.2) / car.wheelbase))


def test_states_keep_their_mean_rate(tmp_path: Path, sensors: mvsim_gym.World) -> None:
    with sensors.record(tmp_path / "x.mcap", period=0.025):  # 2.5 steps
        sensors.step(10)
    stamps = [stamp for stamp, _ in messages_of(tmp_path / "x.mcap")["/odom"]]
    assert len(stamps) == 401 and len(set(stamps)) == 401


def test_rosbags_reads_it_too(tmp_path: Path) -> None:
    """And the index finds messages of one topic and a span of time."""
    world = mvsim_gym.World(YARD)
    with world.record(tmp_path / "x.mcap", period=0.1):
        world.vehicles["r1"].set_twist(0.5, 0)
        world.step(2.5)
    found = messages_of(tmp_path / "x.mcap")
    with AnyReader([tmp_path / "x.mcap"]) as reader:
        counts = {c.topic: c.msgcount for c in reader.connections}
        assert counts == {topic: len(messages) for topic, messages in found.items()}
        kinds = {c.topic: c.msgtype for c in reader.connections}
        assert (
            kinds["/r1/laser1"] == "sensor_msgs/msg/LaserScan"
            and kinds["/r2/odom"] == "nav_msgs/msg/Odometry"
        )
        some = [c for c in reader.connections if c.topic == "/r1/laser1"]
        scans = [
            (time, reader.deserialize(raw, c.msgtype))
            for c, time, raw in reader.messages(some, start=10**9, stop=2 * 10**9)
        ]
        durability = {
            c.topic: [q.durability.name for q in c.ext.offered_qos_profiles] for c in reader.connections
        }  # type: ignore[union-attr]
        assert durability["/r1/tf_static"] == ["TRANSIENT_LOCAL"] and durability["/r1/odom"] == []
    expected = [(time, m) for time, m in found["/r1/laser1"] if 10**9 <= time < 2 * 10**9]
    assert len(scans) == len(expected) == 10
    for (time, scan), (same_time, same) in zip(scans, expected, strict=True):
        assert time == same_time and np.array_equal(scan.ranges, np.array(same.ranges, np.float32))


def test_recording_changes_nothing(tmp_path: Path) -> None:
    worlds = [mvsim_gym.World(YARD, seed=3) for _ in range(2)]
    for world in worlds:
        world.vehicles["r1"].set_twist(0.5, 0.1)
    with worlds[1].record(tmp_path / "x.mcap"):
        for world in worlds:
            for duration in (0.0333, 1.0, 0.00001, 0.0101):
                world.step(duration)
            world.step()
    assert worlds[0].snapshot() == worlds[1].snapshot()


def test_a_collision_is_told_once(tmp_path: Path) -> None:
    world = mvsim_gym.World(YARD)
    with world.record(tmp_path / "x.mcap", period=0.5):
        world.vehicles["r1"].set_twist(1, 0)
        world.step(2.5)
        world.reset(seed=0)
        world.step(1)
    told = [message.data for _, message in messages_of(tmp_path / "x.mcap")["/r1/collision"]]
    assert not told[0] and any(told) and not told[-1]


def test_a_reset_goes_on_with_later_stamps(tmp_path: Path) -> None:
    world = mvsim_gym.World(YARD)
    with world.record(tmp_path / "x.mcap"):
        world.step(1)
        state = world.snapshot()
        world.reset(seed=1)
        world.step(0.5)
        world.restore(state)
        world.step(0.5)
    found = messages_of(tmp_path / "x.mcap")
    times = [time for time, _ in found["/r1/odom"]]
    assert times == sorted(set(times)) and times[-1] == 2 * 10**9 + 2
    assert len(found["/r1/laser1"]) == 9 + 4 + 5


def test_one_recording_at_a_time(tmp_path: Path) -> None:
    world = mvsim_gym.World(YARD)
    recording = world.record(tmp_path / "x.mcap")
    with pytest.raises(ValueError, match="found a recording of this world"):
        world.record(tmp_path / "y.mcap")
    twin = copy.deepcopy(world)
    twin.step(1)  # a copy records nothing
    recording.close()
    recording.close()
    assert recording.closed
    world.step(1)
    with world.record(tmp_path / "y.mcap"):
        pass
    assert len(messages_of(tmp_path / "x.mcap")["/r1/odom"]) == 1
    with pytest.raises(OSError, match="absent"):
        world.record(tmp_path / "absent" / "x.mcap")
    with pytest.raises(ValueError, match="period"):
        world.record(tmp_path / "z.mcap", period=0)


def test_of_two_topics_of_one_name_one_is_left_out(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "x.world.xml").write_text("""<mvsim_world version="1.0">
      <vehicle name="r1"><init_pose>0 0 0</init_pose><dynamics class="differential"/>
        <friction class="default"/>
        <sensor class="laser" name="odom"><sensor_period>0.1</sensor_period></sensor>
      </vehicle></mvsim_world>""")
    world = mvsim_gym.World(tmp_path / "x.world.xml")
    with world.record(tmp_path / "x.mcap"):
        world.step(0.5)
    found = messages_of(tmp_path / "x.mcap")
    assert {type(message).__name__ for _, message in found["/odom"]} == {"Odometry"}
    assert "one topic '/odom' is left out" in caplog.text


def test_maps_are_recorded(tmp_path: Path) -> None:
    world = mvsim_gym.World(DATA / "oracle" / "lidar_gridmap" / "world.xml")
    with world.record(tmp_path / "x.mcap"):
        pass
    ((time, grid),) = messages_of(tmp_path / "x.mcap")["/simul_map"]
    assert (time, grid.info.width, grid.info.height, len(grid.data)) == (0, 80, 60, 4800)
    assert np.count_nonzero(np.array(grid.data) == 100) == 725 and set(grid.data) == {0, 100}


WRITER = f"""
import sys, time
import mvsim_gym
world = mvsim_gym.World({str(YARD)!r})
recording = world.record(sys.argv[1])
while True:
    world.step(0.05)
    print(time.monotonic(), world.time, flush=True)
    time.sleep(0.02)
    if len(sys.argv) > 2 and world.time > 0.5:
        break
"""


def lines_of(path: Path, *more: str) -> Iterator[tuple[subprocess.Popen[str], float, float]]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path), *more], stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stdout is not None
        try:
            for line in process.stdout:
                wall, time = map(float, line.split())
                yield process, wall, time
        except BaseException:  # also if the caller stops iterating
            process.kill()
            raise


def test_a_killed_process_loses_a_second_at_most(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.mcap"
    rows = []
    for process, wall, time in lines_of(path):
        rows.append((wall, time))
        if time > 2.5:
            process.send_signal(signal.SIGKILL)
            break
    with pytest.raises(Exception, match=r".*"):  # each reader refuses it in its own way
        messages_of(path)
    assert main(["repair", str(path), "-o", str(tmp_path / "y.mcap")]) == 0
    assert capsys.readouterr().out.startswith("repaired: ")
    before = path.read_bytes()
    assert main(["repair", str(path)]) == 0 and path.read_bytes() != before
    assert list(tmp_path.glob("*.part")) == []
    last = messages_of(path)["/r1/odom"][-1][0] / 1e9
    assert last == messages_of(tmp_path / "y.mcap")["/r1/odom"][-1][0] / 1e9
    safe = max(time for wall, time in rows if wall <= rows[-1][0] - 1)
    assert last >= safe > 0 and rows[-1][1] - last <= 1
    capsys.readouterr()
    whole = path.read_bytes()
    assert main(["repair", str(path)]) == 0 and path.read_bytes() == whole
    assert capsys.readouterr().out.startswith("was finished: ")


def test_a_process_that_ends_finishes_its_file(tmp_path: Path) -> None:
    times = [time for _, _, time in lines_of(tmp_path / "x.mcap", "ends")]
    last = messages_of(tmp_path / "x.mcap")["/r1/odom"][-1][0] / 1e9
    assert times[-1] - 0.02 < last <= times[-1]


def test_repair_takes_what_is_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    world = mvsim_gym.World(YARD)
    with world.record(tmp_path / "x.mcap", period=0.1):
        world.step(5)
    whole = (tmp_path / "x.mcap").read_bytes()
    random = np.random.default_rng(0)
    cut = tmp_path / "cut.mcap"
    lengths = set()
    for _ in range(20):
        damaged = bytearray(whole[: random.integers(60, len(whole))])
        for _ in range(random.integers(0, 3)):
            damaged[random.integers(60, len(damaged))] ^= 1 << random.integers(8)
        cut.write_bytes(damaged)
        assert main(["repair", str(cut)]) == 0
        found = messages_of(cut)
        lengths.add(sum(map(len, found.values())))
    assert len(lengths) > 3
    for content, message in ((b"", "is no MCAP file"), (b"abc" * 100, "is no MCAP file")):
        cut.write_bytes(content)
        capsys.readouterr()
        assert main(["repair", str(cut)]) == 1
        assert message in capsys.readouterr().err and cut.read_bytes() == content
    assert main(["repair", str(tmp_path / "absent.mcap")]) == 1


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in [n for n in sys.modules if n.startswith("mvsim_gym.recording")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(ImportError, match=r"pip install 'mvsim_gym\[record\]'"):
        mvsim_gym.World(YARD).record(tmp_path / "x.mcap")
