"""Run beside no other node, by an interpreter that has rclpy: starts `mvsim-gym ros` with the arguments given, hears
and drives it as a node of real ROS 2, and prints what it saw as JSON. Every wait has an end."""

import json
import signal
import subprocess
import sys
import time
from importlib.metadata import version

import rclpy
from geometry_msgs.msg import Polygon, Twist, TwistStamped
from nav_msgs.msg import Odometry
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import LaserScan
from std_msgs.msg import Bool
from visualization_msgs.msg import MarkerArray

PATIENCE = 40  # s

mvsim = subprocess.Popen(
    [sys.executable, "-m", "mvsim_gym", "ros", *sys.argv[1:]], stderr=subprocess.PIPE, text=True
)
rclpy.init()
node = rclpy.create_node("oracle", parameter_overrides=[Parameter("use_sim_time", value=True)])
heard: dict[str, list] = {}


def listen(topic: str, kind: type, qos: object = 10) -> None:
    heard[topic] = []
    node.create_subscription(kind, topic, heard[topic].append, qos)


def spin(holds, between=lambda: None) -> bool:
    """Whether it came true in time."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        if holds():
            return True
        between()
        rclpy.spin_once(node, timeout_sec=0.02)
    return False


def speed() -> float:
    return heard["/r1/odom"][-1].twist.twist.linear.x if heard["/r1/odom"] else 0.0


listen("/r1/laser1", LaserScan)
listen("/r1/odom", Odometry)
listen("/r1/collision", Bool)
listen("/r1/chassis_markers", MarkerArray)
listen("/r1/chassis_polygon", Polygon, QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL))
seen = {"heard": spin(lambda: len(heard["/r1/laser1"]) >= 20 and all(heard.values()))}
publisher = node.create_publisher(Twist, "/r1/cmd_vel", 10)
twist = Twist()
twist.linear.x = 0.3
seen["driven"] = spin(lambda: speed() > 0.25, lambda: publisher.publish(twist))
seen["stopped"] = spin(lambda: abs(speed()) < 0.05)
node.destroy_publisher(publisher)
stamped = TwistStamped()
stamped.twist.linear.x = 0.3
publisher = node.create_publisher(TwistStamped, "/r1/cmd_vel", 10)
seen["driven by stamped"] = spin(lambda: speed() > 0.25, lambda: publisher.publish(stamped))
seen["clock"] = node.get_clock().now().nanoseconds / 1e9
seen["topics"] = dict(node.get_topic_names_and_types())


def publishers() -> list[str]:
    return [info.node_name for info in node.get_publishers_info_by_topic("/r1/laser1")]


spin(lambda: "mvsim" in node.get_node_names())
seen["nodes"], seen["publisher"] = node.get_node_names_and_namespaces(), publishers()
seen["rclpy"] = version("ros-rclpy")
hashes = [str(info.topic_type_hash) for info in node.get_publishers_info_by_topic("/r1/laser1")]
seen["hash"] = hashes[0] if hashes else ""
if heard["/r1/laser1"]:
    scans = heard["/r1/laser1"]
    seen["stamps"] = [scan.header.stamp.sec * 10**9 + scan.header.stamp.nanosec for scan in scans]
    seen["frame"], seen["range_max"] = scans[0].header.frame_id, scans[0].range_max
    seen["ranges"] = list(scans[0].ranges)
if heard["/r1/chassis_markers"]:
    seen["markers"] = [marker.ns for marker in heard["/r1/chassis_markers"][0].markers]
node.destroy_node()
rclpy.shutdown()
mvsim.send_signal(signal.SIGTERM)
try:
    _, told = mvsim.communicate(timeout=PATIENCE)
except subprocess.TimeoutExpired:
    mvsim.kill()
    _, told = mvsim.communicate()
seen["code"], seen["told"] = mvsim.returncode, told
print(json.dumps(seen))
