"""A world as a node of ROS 2, beside what vehicles and their sensors tell: its name, logs, sensors that stand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import DATA

pytest.importorskip("cyclonedds", reason="needs the extra ros")
pytest.importorskip("rosbags", reason="needs the extra ros")

import ros_peer as ros
from ros_running import Running
from test_play_marks import ROBOT, TOWER
from test_recording import SENSORS

import mvsim_gym
from mvsim_gym import _core
from mvsim_gym.ros import Network, RosNode, open_transport
from mvsim_gym.ros.cyclone_transport import GRAPH_TOPIC, config_of

pytestmark = pytest.mark.unsanitized
YARD = DATA / "yard.world.xml"


def test_a_node_tells_its_name_and_its_endpoints(run: Callable[..., Running]) -> None:
    runs = run(YARD)
    runs.peer.listen(GRAPH_TOPIC, ros.ParticipantEntitiesInfo, late=True, plain=True)
    heard = runs.peer.heard[GRAPH_TOPIC]
    runs.peer.wait(lambda: heard, runs.step)
    (node,) = heard[-1].node_entities_info_seq
    assert (node.node_namespace, node.node_name) == ("/", "mvsim")
    # writers: 9 topics of the state of each of the 2 vehicles, and a scan; readers: 2 types of commands for each
    assert len(node.writer_gid_seq) == 19 and len(node.reader_gid_seq) == 4
    ends = [bytes(gid.data) for gid in (*node.writer_gid_seq, *node.reader_gid_seq)]
    assert len(set(ends)) == 23 and {end[:12] for end in ends} == {bytes(heard[-1].gid.data)[:12]}


def test_columns_of_logs_are_topics(run: Callable[..., Running], tmp_path: Path) -> None:
    runs = run(YARD, clock=True, log_topics=True)
    runs.world.vehicles["r1"].set_twist(0.5, 0.3)
    names = [name.removeprefix("/r1/log/") for name in runs.node.topics if name.startswith("/r1/log/")]
    columns = _core.StepLog(runs.world._simulation).columns(0)
    assert len(columns) == 3 and len(columns[0]) == 13
    assert names == [
        f"{table}/{column}"
        for table, own in zip(("pose", "wheel_1", "wheel_2"), columns, strict=True)
        for column in own
    ]
    expected: dict[int, tuple[float, float]] = {}

    def step() -> None:
        began = runs.world.time
        runs.step()
        robot = runs.world.vehicles["r1"]
        expected[round(began * 1e9)] = robot.pose.x, robot.wheels[1].torque

    topics = ["/r1/log/pose/Timestamp", "/r1/log/pose/q0x", "/r1/log/wheel_2/torque"]
    for topic in topics:
        runs.peer.listen(topic, ros.Float64)
    times, places, torques = (runs.peer.heard[topic] for topic in topics)
    runs.peer.wait(lambda: min(map(len, (times, places, torques))) >= 30, step)
    steps = [round(message.data * 1e9) for message in times[-20:]]
    assert np.diff(steps) == pytest.approx(runs.world.timestep * 1e9), "each step"
    assert [(p.data, t.data) for p, t in zip(places[-20:], torques[-20:], strict=True)] == [
        expected[time] for time in steps
    ]
    before = len(times)
    runs.world.reset()
    runs.wait(0)
    runs.peer.wait(lambda: len(times) > before, runs.step)
    assert times[before].data == 0, "the last step before the reset is not told again"


def test_logs_are_no_topics_unasked(run: Callable[..., Running]) -> None:
    assert not [name for name in run(YARD).node.topics if "/log/" in name]


@pytest.mark.parametrize("robots", [0, 1, 2])
def test_sensors_that_stand_in_the_world_are_told(run: Callable[..., Running], robots: int) -> None:
    vehicles = "".join(ROBOT.format(name=f"r{k}", pose=f"-3 {2 * k} 0") for k in range(robots))
    runs = run(TOWER.replace("ROBOTS", vehicles), clock=True)
    scans, frames = runs.hear({"/tower": ros.LaserScan, "/tf": ros.TFMessage}, 4)
    edges = [edge for message in frames for edge in message.transforms if edge.child_frame_id == "tower"]
    runs.peer.wait(lambda: any(e.child_frame_id == "tower" for m in frames for e in m.transforms), runs.step)
    edges = [edge for message in frames for edge in message.transforms if edge.child_frame_id == "tower"]
    assert edges[0].header.frame_id == "map" and edges[0].transform.translation.x == 1
    reading: Any = runs.world.sensors["tower"].read()
    assert scans[-1].header.frame_id == "tower"
    assert list(scans[-1].ranges) == np.where(reading.valid, reading.ranges, np.inf).tolist()


def test_an_identity_from_map_to_odom_is_told_ahead(run: Callable[..., Running]) -> None:
    runs = run(YARD, clock=True, localization="identity")
    (frames,) = runs.hear({"/r1/tf": ros.TFMessage}, 5)
    for message in frames:
        stamps = {(e.header.frame_id, e.child_frame_id): e.header.stamp.ns for e in message.transforms}
        if ("map", "odom") in stamps:
            assert stamps["map", "odom"] - stamps["odom", "base_link"] == 50_000_000
    edges = [e for message in frames for e in message.transforms if e.child_frame_id == "odom"]
    assert edges and {e.transform.rotation.w for e in edges} == {1}


def test_one_tree_holds_all_vehicles(run: Callable[..., Running]) -> None:
    runs = run(YARD, clock=True, one_tree=True)
    assert {name for name in runs.node.topics if name.split("/")[-1].startswith("tf")} == {
        "/tf",
        "/tf_static",
    }
    frames, scans, odometry = runs.hear(
        {"/tf": ros.TFMessage, "/r1/laser1": ros.LaserScan, "/r2/odom": ros.Odometry}, 6
    )
    (static,) = runs.hear({"/tf_static": ros.TFMessage}, late=True)
    parents: dict[str, set[str]] = {}
    for message in (*frames, static[-1]):
        for edge in message.transforms:
            parents.setdefault(edge.child_frame_id, set()).add(edge.header.frame_id)
    expected = {"r1/laser1": {"r1/base_link"}}
    for name in ("r1", "r2"):
        expected |= {f"{name}/odom": {"map"}, f"{name}/base_link": {f"{name}/odom"}}
        expected[f"{name}/base_footprint"] = {f"{name}/base_link"}
    assert parents == expected
    assert scans[0].header.frame_id == "r1/laser1"
    assert (odometry[0].header.frame_id, odometry[0].child_frame_id) == ("r2/odom", "r2/base_link")
    stamps = [{edge.header.stamp.ns for edge in message.transforms} for message in frames]
    assert all(len(each) == 1 for each in stamps) and len({min(each) for each in stamps}) == len(stamps)


def test_mvsims_way_of_localization_and_ranges(run: Callable[..., Running]) -> None:
    runs = run(SENSORS, clock=True, localization="identity", no_return="max")
    topics = {"/front_laser": ros.LaserScan, "/base_pose_ground_truth": ros.Odometry}
    scans, truth = runs.hear(topics, 2)
    (poses,) = runs.hear({"/amcl_pose": ros.PoseWithCovarianceStamped}, late=True)
    assert np.isfinite(scans[0].ranges).all() and max(scans[0].ranges) == scans[0].range_max
    assert {message.header.frame_id for message in (*truth, *poses)} == {"odom"}


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"localization": "amcl"}, "localization: found 'amcl', expected truth or identity"),
        ({"no_return": "nan"}, "no_return: found 'nan', expected inf or max"),
    ],
)
def test_options_that_cannot_be_are_refused(options: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        RosNode(mvsim_gym.World(YARD), open_transport(Network(ros.DOMAIN), "cyclonedds"), **options)


def test_datagrams_are_large_on_the_loopback_alone() -> None:
    """Elsewhere each would be cut into dozens of packets, and be lost with any of them."""
    assert "<MaxMessageSize>65500B</MaxMessageSize>" in config_of("local")
    assert "MaxMessageSize" not in config_of("any") + config_of("eth0") + config_of("10.0.0.1")
