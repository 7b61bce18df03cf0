"""Real ROS 2 as the oracle: a node of rclpy hears a world and drives it, over both ways. Run by `./dev ros`."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from conftest import DATA

import mvsim_gym

pytestmark = pytest.mark.ros
pytest.importorskip("rclpy", reason="needs rclpy: ./dev ros")

YARD = DATA / "yard.world.xml"
STATES = {
    "odom": "nav_msgs/msg/Odometry",
    "base_pose_ground_truth": "nav_msgs/msg/Odometry",
    "collision": "std_msgs/msg/Bool",
    "chassis_markers": "visualization_msgs/msg/MarkerArray",
    "chassis_polygon": "geometry_msgs/msg/Polygon",
    "amcl_pose": "geometry_msgs/msg/PoseWithCovarianceStamped",
    "particlecloud": "geometry_msgs/msg/PoseArray",
}


@cache
def namespace() -> tuple[str, ...]:
    """The command that gives a process a network of its own."""
    for command in (("unshare", "--net"), ("unshare", "--map-root-user", "--net")):
        if (
            shutil.which("unshare")
            and subprocess.run([*command, "true"], capture_output=True).returncode == 0
        ):
            return command
    return ()


@pytest.mark.parametrize(
    ("way", "multicast"), [("cyclonedds", "on"), ("cyclonedds", "off"), ("rclpy", "on"), ("rclpy", "off")]
)
def test_a_real_node_hears_and_drives(way: str, multicast: str) -> None:
    if not namespace():
        pytest.skip("no network namespaces here (unshare --net)")
    if shutil.which("ip") is None:
        pytest.skip("needs the command ip (iproute2)")
    oracle = [
        sys.executable,
        str(Path(__file__).with_name("ros_oracle.py")),
        str(YARD),
        "--via",
        way,
        "--clock",
    ]
    script = f'ip link set lo up && ip link set lo multicast {multicast} && exec "$@"'
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("ROS_", "CYCLONEDDS"))}
    environment = {**kept, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    done = subprocess.run(
        [*namespace(), "sh", "-c", script, "sh", *oracle],
        capture_output=True,
        text=True,
        env=environment,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    check(json.loads(done.stdout.splitlines()[-1]), way)


def check(seen: dict[str, Any], way: str) -> None:
    """Messages that the node received equal the state of the world."""
    assert seen["heard"] and seen["driven"] and seen["stopped"] and seen["driven by stamped"], seen
    assert seen["code"] == 0 and f"ROS 2 by {way}, domain 0, this machine alone" in seen["told"]
    assert seen["told"].endswith("ended by signal 15 (SIGTERM)\n")
    topics = {name: kinds for name, kinds in seen["topics"].items() if name.startswith("/r1/")}
    expected = {f"/r1/{name}": [kind] for name, kind in STATES.items()}
    expected["/r1/laser1"] = ["sensor_msgs/msg/LaserScan"]
    expected["/r1/cmd_vel"] = ["geometry_msgs/msg/Twist", "geometry_msgs/msg/TwistStamped"]
    expected |= {f"/r1/{name}": ["tf2_msgs/msg/TFMessage"] for name in ("tf", "tf_static")}
    assert topics == expected
    assert ["mvsim", "/"] in seen["nodes"]
    if way == "rclpy" or seen["rclpy"].startswith("7."):  # Kilted does not say whose a topic is
        assert seen["publisher"] == ["mvsim"]
    assert "64c191398013af96509d518dac71d516" in re.sub("0x|[^0-9a-f]", "", seen["hash"].lower())
    assert seen["stamps"] == sorted(seen["stamps"]) and seen["stamps"][-1] / 1e9 <= seen["clock"] + 1
    assert seen["markers"] == ["mvsim.chassis_shape", *(f"mvsim.chassis_shape.wheel{k}" for k in (0, 1))]
    assert seen["frame"] == "laser1" and seen["range_max"] == 10
    world = mvsim_gym.World(YARD)
    world.step(seen["stamps"][0] / 1e9)
    reading = world.vehicles["r1"].sensors["laser1"].read()
    assert round(reading.time * 1e9) == seen["stamps"][0]
    assert seen["ranges"] == reading.ranges.tolist()  # it stood until it had heard enough


@pytest.mark.parametrize(
    ("distribution", "interface", "before", "after"),
    [
        ("jazzy", "local", {}, {"ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}),
        ("jazzy", "local", {"ROS_LOCALHOST_ONLY": "1"}, {"ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}),
        ("jazzy", "any", {}, {"ROS_AUTOMATIC_DISCOVERY_RANGE": "SUBNET"}),
        (
            "kilted",
            "any",
            {"ROS_AUTOMATIC_DISCOVERY_RANGE": "SYSTEM_DEFAULT"},
            {"ROS_AUTOMATIC_DISCOVERY_RANGE": "SYSTEM_DEFAULT"},
        ),
        ("", "local", {}, {"ROS_LOCALHOST_ONLY": "1", "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}),
        ("", "any", {}, {"ROS_AUTOMATIC_DISCOVERY_RANGE": "SUBNET"}),
        ("humble", "local", {}, {"ROS_LOCALHOST_ONLY": "1"}),
        ("humble", "any", {"ROS_LOCALHOST_ONLY": "0"}, {"ROS_LOCALHOST_ONLY": "0"}),
    ],
)
def test_rclpy_is_told_how_far_to_reach(
    distribution: str,
    interface: str,
    before: dict[str, str],
    after: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from mvsim_gym.ros.rclpy_transport import _set_range

    names = ("ROS_AUTOMATIC_DISCOVERY_RANGE", "ROS_LOCALHOST_ONLY")
    for name in names:
        monkeypatch.setenv(name, before.get(name, ""))  # so that it is undone in the end
        if name not in before:
            monkeypatch.delenv(name)
    monkeypatch.setenv("ROS_DISTRO", distribution)
    _set_range(interface)
    assert {name: os.environ[name] for name in names if name in os.environ} == after


def test_rclpy_names_no_interface() -> None:
    from mvsim_gym.ros import Network, open_transport

    with pytest.raises(ValueError, match="--interface: found 'lo', expected local or any: with rclpy"):
        open_transport(Network(0, "lo"), "rclpy")
