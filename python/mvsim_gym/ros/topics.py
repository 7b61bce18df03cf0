"""Topics of a vehicle: names, types and qualities of service of MVSim's ROS 2 node. Recordings have them too."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from mvsim_gym.ros.messages import Message

__all__ = [
    "ACKERMANN_COMMAND",
    "CLOCK",
    "COMMAND",
    "HISTORY",
    "STAMPED_COMMAND",
    "STATES",
    "Qos",
    "Sink",
    "Topic",
]

HISTORY = 50
"""messages kept of what comes all the time"""


class Qos(NamedTuple):
    """Quality of service: reliable unless it says otherwise, and the last messages kept."""

    depth: int = HISTORY
    latched: bool = False
    """who comes late gets the last messages (transient local)"""
    reliable: bool = True
    """False: best effort, which alone fits the publishers of many drivers of sensors"""


class Topic(NamedTuple):
    """A topic, its name without what stands before it."""

    name: str
    kind: str
    """e.g. `nav_msgs/msg/Odometry`"""
    qos: Qos = Qos()


STATES = {
    topic.name: topic
    for topic in (
        Topic("odom", "nav_msgs/msg/Odometry"),
        Topic("base_pose_ground_truth", "nav_msgs/msg/Odometry"),
        Topic("collision", "std_msgs/msg/Bool"),
        Topic("tf", "tf2_msgs/msg/TFMessage", Qos(100)),
        Topic("tf_static", "tf2_msgs/msg/TFMessage", Qos(1, latched=True)),
        Topic("chassis_markers", "visualization_msgs/msg/MarkerArray", Qos(5, latched=True)),
        Topic("chassis_polygon", "geometry_msgs/msg/Polygon", Qos(1, latched=True)),
        Topic("amcl_pose", "geometry_msgs/msg/PoseWithCovarianceStamped", Qos(1, latched=True)),
        Topic("particlecloud", "geometry_msgs/msg/PoseArray", Qos(1)),
    )
}
"""What a vehicle tells of itself, by the topic's name."""
COMMAND = Topic("cmd_vel", "geometry_msgs/msg/Twist", Qos(10))
STAMPED_COMMAND = COMMAND._replace(kind="geometry_msgs/msg/TwistStamped")
ACKERMANN_COMMAND = Topic("ackermann_cmd", "ackermann_msgs/msg/AckermannDriveStamped", Qos(10))
CLOCK = Topic("/clock", "rosgraph_msgs/msg/Clock", Qos(10))


class Sink(Protocol):
    """Where messages go: a file, or the network."""

    def offer(self, topic: Topic) -> bool:
        """Tells of a topic, once, before anything is written to it. False, and a notice: another has this name."""

    def wants(self, topic: str) -> bool:
        """Whether a message of this topic would reach somebody: it is not made otherwise."""

    def write(self, topic: str, message: Message, nanoseconds: int) -> None:
        """Takes a message of that moment."""
