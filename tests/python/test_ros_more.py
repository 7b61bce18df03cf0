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

from mvsim_gym import _core
from mvsim_gym.ros import graph

pytestmark = pytest.mark.unsanitized
YARD = DATA / "yard.world.xml"


def test_a_node_tells_its_name_and_its_endpoints(run: Callable[..., Running]) -> None:
    runs = run(YARD)
    runs.peer.listen(graph.TOPIC, ros.ParticipantEntitiesInfo, late=True, plain=True)
    heard = runs.peer.heard[graph.TOPIC]
    runs.peer.wait(lambda: heard, runs.step)
    (node,) = heard[-1].node_entities_info_seq
    assert (node.node_namespace, node.node_name) == ("/", "mvsim")
    # 9 states of 2 vehicles, a scan; and two types of commands for each
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
