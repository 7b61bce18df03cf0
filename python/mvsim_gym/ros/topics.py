"""Topics of a vehicle: names, types and qualities of service, as of MVSim's ROS 2 node. Recordings use them too."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from mvsim_gym.ros.messages import Message

HISTORY = 50
"""Number of messages that a topic of continuous data keeps."""


class Qos(NamedTuple):
    """Quality of service: the number of messages kept, and the policies of durability and reliability."""

    depth: int = HISTORY
    latched: bool = False
    """True: late subscribers get the last messages (transient local)"""
    reliable: bool = True
    """False: best effort, the only policy that matches the publishers of many sensor drivers"""


class Topic(NamedTuple):
    """A topic. Its name is without the prefix of a vehicle."""

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
"""Topics of the state of a vehicle, by name."""
COMMAND = Topic("cmd_vel", "geometry_msgs/msg/Twist", Qos(10))
STAMPED_COMMAND = COMMAND._replace(kind="geometry_msgs/msg/TwistStamped")
ACKERMANN_COMMAND = Topic("ackermann_cmd", "ackermann_msgs/msg/AckermannDriveStamped", Qos(10))
CLOCK = Topic("/clock", "rosgraph_msgs/msg/Clock", Qos(10))


class Sink(Protocol):
    """The destination of messages: a file, or the network."""

    def offer(self, topic: Topic) -> bool:
        """Announces a topic before its first message. False, with a notice: another topic has this name."""

    def wants(self, topic: str) -> bool:
        """Whether a message of this topic would have a receiver. If not, the message is not made."""

    def write(self, topic: str, message: Message, nanoseconds: int) -> None:
        """Writes a message with its time."""
