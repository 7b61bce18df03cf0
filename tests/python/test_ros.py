"""A world as a node of ROS 2: a participant with definitions of its own hears what the API says, and drives."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from conftest import DATA

import mvsim_gym

pytest.importorskip("cyclonedds", reason="needs the extra ros")
pytest.importorskip("rosbags", reason="needs the extra ros")

import ros_peer as ros
from ros_running import Running
from test_recording import SENSORS, yaw_of

from mvsim_gym._notices import _say
from mvsim_gym.ros import Network, RosNode, open_transport

pytestmark = pytest.mark.unsanitized
YARD = DATA / "yard.world.xml"


def test_states_are_those_of_the_api(run: Callable[..., Running]) -> None:
    runs = run(SENSORS, clock=True)
    world, robot, peer = runs.world, runs.world.vehicles["r1"], runs.peer
    robot.set_twist(0.5, 0.4)
    expected: dict[int, Any] = {}

    def step() -> None:
        runs.step()
        now = round(world.time * 1e9)
        expected[now] = robot.pose, robot.twist, robot.odometry, robot.odometry_twist

    kinds = {"/odom": ros.Odometry, "/base_pose_ground_truth": ros.Odometry, "/tf": ros.TFMessage}
    for topic, kind in kinds.items():
        peer.listen(topic, kind)
    peer.listen("/clock", ros.Clock)
    peer.listen("/amcl_pose", ros.PoseWithCovarianceStamped)
    peer.listen("/particlecloud", ros.PoseArray)
    peer.wait(lambda: all(len(heard) >= 20 for heard in peer.heard.values()), step)
    for topic, k in (("/base_pose_ground_truth", 0), ("/odom", 2)):
        for message in peer.heard[topic]:
            where, speed = expected[message.header.stamp.ns][k : k + 2]
            frame = "odom" if topic == "/odom" else "map"
            assert (message.header.frame_id, message.child_frame_id) == (frame, "base_link")
            place, twist = message.pose.pose.position, message.twist.twist
            assert (place.x, place.y, place.z) == where[:3]
            assert yaw_of(message.pose.pose.orientation) == pytest.approx(where.yaw, abs=1e-12)
            assert (twist.linear.x, twist.linear.y, twist.angular.z) == tuple(speed)
        stamps = [message.header.stamp.ns for message in peer.heard[topic]]
        assert set(np.diff(stamps)) == {20 * 10**6}
    assert set(np.diff([message.clock.ns for message in peer.heard["/clock"]])) == {10**7}
    for message in peer.heard["/amcl_pose"]:
        assert message.pose.pose.position.x == expected[message.header.stamp.ns][0].x
    for message in peer.heard["/particlecloud"]:
        assert message.header.frame_id == "map" and len(message.poses) == 1
    edges = [edge for message in peer.heard["/tf"] for edge in message.transforms]
    for edge in edges:
        if edge.child_frame_id == "base_link":
            assert edge.transform.translation.x == expected[edge.header.stamp.ns][2].x
    assert {(e.header.frame_id, e.child_frame_id) for e in edges} >= {("map", "odom"), ("odom", "base_link")}


def test_readings_are_those_of_the_api(run: Callable[..., Running]) -> None:
    runs = run(SENSORS, clock=True)
    robot, peer = runs.world.vehicles["r1"], runs.peer
    robot.set_twist(0.5, 0.4)
    seen: dict[str, dict[int, Any]] = {name: {} for name in robot.sensors}

    def step() -> None:
        runs.step()
        for name, sensor in robot.sensors.items():
            if (reading := sensor.read()) is not None:
                seen[name][round(reading.time * 1e9)] = reading

    topics = {"/front_laser": ros.LaserScan, "/imu1": ros.Imu, "/gps1": ros.NavSatFix, "/tf": ros.TFMessage}
    for topic, kind in topics.items():
        peer.listen(topic, kind)
    peer.wait(lambda: all(len(heard) >= 3 for heard in peer.heard.values()), step)
    for scan in peer.heard["/front_laser"]:
        reading = seen["front laser"][scan.header.stamp.ns]
        assert scan.header.frame_id == "front_laser"
        assert np.array_equal(np.array(scan.ranges)[reading.valid], reading.ranges[reading.valid])
        assert scan.range_max == 5 and (np.array(scan.ranges)[~reading.valid] == np.inf).all()
        assert not reading.valid.all() and reading.valid.any() and list(scan.intensities) == []
        assert (scan.angle_min, scan.angle_max) == pytest.approx((-math.pi / 2, math.pi / 2))
    for message in peer.heard["/imu1"]:
        reading = seen["imu1"][message.header.stamp.ns]
        turn, push = message.angular_velocity, message.linear_acceleration
        assert (turn.x, turn.y, turn.z) == tuple(reading.angular_velocity)
        assert (push.x, push.y, push.z) == tuple(reading.linear_acceleration)
    for message in peer.heard["/gps1"]:
        reading = seen["gps1"][message.header.stamp.ns]
        assert (message.latitude, message.longitude, message.altitude) == reading[:3]
        assert list(message.position_covariance) == list(reading.covariance.ravel())
    mounts = {e.child_frame_id: e for message in peer.heard["/tf"] for e in message.transforms}
    place = mounts["front_laser"].transform.translation
    assert (place.x, place.y, place.z) == pytest.approx((0.1, 0, 0.2))
    assert mounts["front_laser"].header.frame_id == "base_link"


# As the packages of ROS 2 Jazzy have them (share/*/msg/*.json).
HASHES = {
    "/r1/laser1": (
        "sensor_msgs::msg::dds_::LaserScan_",
        "64c191398013af96509d518dac71d5164f9382553fce5c1f8cca5be7924bd828",
    ),
    "/r2/odom": (
        "nav_msgs::msg::dds_::Odometry_",
        "3cc97dc7fb7502f8714462c526d369e35b603cfc34d946e3f2eda2766dfec6e0",
    ),
    "/r2/collision": (
        "std_msgs::msg::dds_::Bool_",
        "feb91e995ff9ebd09c0cb3d2aed18b11077585839fb5db80193b62d74528f6c9",
    ),
}
STATES = {
    *("odom", "base_pose_ground_truth", "collision", "tf", "tf_static", "chassis_markers"),
    *("chassis_polygon", "amcl_pose", "particlecloud"),
}


def test_names_types_and_hashes_are_those_of_ros(run: Callable[..., Running]) -> None:
    runs = run(YARD)
    names = {f"/{robot}/{topic}" for robot in ("r1", "r2") for topic in STATES} | {"/r1/laser1"}
    assert set(runs.node.topics) == names
    runs.peer.wait(lambda: len(runs.peer.endpoints()) == len(names) + 1)
    found = {topic: said for topic, *said in runs.peer.endpoints()}
    assert set(found) == {f"rt{name}" for name in names} | {"ros_discovery_info"}
    for topic, (kind, digest) in HASHES.items():
        assert found[f"rt{topic}"] == [kind, f"typehash=RIHS01_{digest};"]
    taken = runs.peer.endpoints(subscriptions=True)
    assert {(topic, kind) for topic, kind, _ in taken if topic.startswith("rt/")} == {
        (f"rt/{robot}/cmd_vel", f"geometry_msgs::msg::dds_::{kind}_")
        for robot in ("r1", "r2")
        for kind in ("Twist", "TwistStamped")
    }


def test_a_single_vehicle_has_no_prefix(run: Callable[..., Running]) -> None:
    runs = run(SENSORS)
    assert set(runs.node.topics) == {f"/{name}" for name in STATES | {"front_laser", "imu1", "gps1"}}
    runs.peer.wait(lambda: any(e[0] == "rt/cmd_vel" for e in runs.peer.endpoints(subscriptions=True)))


def test_options_change_names(run: Callable[..., Running]) -> None:
    runs = run(
        SENSORS,
        clock=True,
        namespace="/fleet",
        vehicle_namespace=True,
        localization=False,
        odometry_frame=False,
    )
    assert {name for name in runs.node.topics if "/fleet/r1/" in name} == {
        *(f"/fleet/r1/{name}" for name in STATES - {"amcl_pose", "particlecloud"}),
        *(f"/fleet/r1/{name}" for name in ("front_laser", "imu1", "gps1")),
    }
    assert set(runs.node.topics) - {name for name in runs.node.topics if "/fleet/r1/" in name} == {"/clock"}
    (tf,) = runs.hear({"/fleet/r1/tf": ros.TFMessage}, 20)
    edges = {(e.header.frame_id, e.child_frame_id) for message in tf for e in message.transforms}
    assert edges == {("base_link", name) for name in ("front_laser", "imu1", "gps1")}


def test_twists_drive_and_silence_stops(run: Callable[..., Running]) -> None:
    runs = run(YARD, clock=True)
    robot = runs.world.vehicles["r1"]
    drive = runs.peer.driver("/r1/cmd_vel")

    def again() -> None:
        drive(0.3, 0.5)
        runs.step()

    def is_driven() -> bool:
        return robot.twist.vx > 0.25 and robot.twist.omega > 0.4

    runs.peer.wait(is_driven, again)
    drive(0.3, -0.5)  # the last: when it has come nothing is under way
    runs.peer.wait(lambda: robot.twist.omega < 0.2, runs.step)
    for _ in range(50):
        runs.step()
    assert robot.twist.omega < -0.4 and robot.twist.vx > 0.25
    for _ in range(300):
        runs.step()
    assert abs(robot.twist.vx) < 0.03 and abs(robot.twist.omega) < 0.03
    robot.set_twist(0.2, 0)  # a stop is commanded once: others may drive
    for _ in range(300):
        runs.step()
    assert robot.twist.vx == pytest.approx(0.2, abs=0.02)
    runs.peer.wait(is_driven, again)


def test_commands_without_effect_are_told(
    run: Callable[..., Running], caplog: pytest.LogCaptureFixture
) -> None:
    runs = run(YARD)
    robot = runs.world.vehicles["r1"]
    for topic, speed in (("/r2/cmd_vel", 0.5), ("/r1/cmd_vel", math.nan), ("/r1/cmd_vel", math.inf)):
        caplog.clear()
        _say.cache_clear()
        drive = runs.peer.driver(topic)
        with caplog.at_level(logging.WARNING, "mvsim_gym"):
            runs.peer.wait(lambda: caplog.messages, lambda: (drive(speed, 0), runs.step()))  # noqa: B023
        (text,) = caplog.messages
        why = "takes no twist" if topic == "/r2/cmd_vel" else "not finite"
        assert f"'{topic[1:3]}' has no effect" in text and why in text
    assert robot.twist.vx == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize(
    "data", [b"", b"\0", b"\0\1\0\0", b"\0\1\0\0" + 40 * b"\1", 3 * b"\xff", 1000 * b"\7"]
)
def test_bytes_that_are_no_twist(data: bytes) -> None:
    from mvsim_gym.ros.commands import Commands

    world = mvsim_gym.World(YARD)
    Commands(world.vehicles["r1"]).receive(data)
    world.step(0.5)
    assert world.vehicles["r1"].twist.vx == pytest.approx(0, abs=1e-6)


def test_one_node_a_domain_in_a_process(run: Callable[..., Running]) -> None:
    runs = run(YARD)
    with pytest.raises(
        ValueError, match=f"domain {ros.DOMAIN} cannot be joined: this process is in it already"
    ):
        open_transport(Network(ros.DOMAIN), "cyclonedds")
    runs.hear({"/r1/collision": ros.Bool})
    del runs.peer
    runs.node.close()
    for _ in range(2):  # a node that cannot be leaves the domain
        with pytest.raises(ValueError, match="period: found 0"):
            RosNode(runs.world, open_transport(Network(ros.DOMAIN), "cyclonedds"), period=0)


def test_a_collision_is_told_once(run: Callable[..., Running]) -> None:
    runs = run(YARD)
    runs.peer.listen("/r1/collision", ros.Bool)
    told = runs.peer.heard["/r1/collision"]
    runs.peer.wait(lambda: told, runs.step)
    robot = runs.world.vehicles["r1"]
    robot.set_twist(1, 0)
    runs.peer.wait(lambda: told[-1].data, runs.step)
    robot.set_twist(-0.5, 0)
    runs.peer.wait(lambda: not told[-1].data, runs.step)
    assert not told[0].data


START = 17 * 10**17  # ns since 1970


def test_stamps_without_a_clock_are_of_the_wall(run: Callable[..., Running]) -> None:
    runs = run(YARD, wall=lambda: START)
    assert "/clock" not in runs.node.topics
    runs.world.vehicles["r1"].set_twist(0.5, 0)
    odometry, scans = runs.hear({"/r1/odom": ros.Odometry, "/r1/laser1": ros.LaserScan}, 12)
    for message in (*odometry, *scans):
        assert 0 < message.header.stamp.ns - START <= round(runs.world.time * 1e9)
    assert set(np.diff([message.header.stamp.ns for message in odometry])) == {20 * 10**6}


def test_a_reset_goes_on(run: Callable[..., Running]) -> None:
    runs = run(YARD, clock=True)
    (scans,) = runs.hear({"/r1/laser1": ros.LaserScan}, 3)
    late = scans[-1].header.stamp.ns
    runs.world.reset(seed=1)
    runs.peer.wait(lambda: scans[-1].header.stamp.ns < late, runs.step)
