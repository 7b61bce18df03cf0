"""Topics: names, types and qualities of service, as of MVSim's ROS 2 node. Recordings use them too. The time of
messages: their stamps, which are simulated time or that plus an offset to wall time, and a schedule for periodic
messages."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple, Protocol

from mvsim_gym._notices import notice
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


_BEHIND = 5 * 10**9  # ns behind wall time after which a notice is given
_STANDING = 1.0  # s of wall time without a step after which the world counts as paused


class Stamps:
    """Computes the stamp of a simulated time.

    Without `/clock`, a stamp is simulated time plus an offset: wall time at the start. So the difference of two stamps
    is simulated time, even if the world runs at another speed, and speeds that are computed from stamped poses are
    right. The offset is set anew after a reset of the world and after a pause of more than a second of wall time.

    Args:
        simulated: simulated time at present, s.
        has_clock: stamps are simulated time.
        now: a monotonic clock of wall time, s.
        wall: wall time, ns since 1970.
    """

    def __init__(
        self, simulated: float, has_clock: bool, now: Callable[[], float], wall: Callable[[], int]
    ) -> None:
        self._has_clock, self._now, self._wall = has_clock, now, wall
        self._time = simulated  # simulated time at the last call of `advance`, s
        self._advanced_at = now()  # wall time at that call, s
        self._anchor = 0 if has_clock else wall() - round(simulated * 1e9)
        self._last = -math.inf  # the latest stamp, ns

    def at(self, simulated: float) -> int:
        """The stamp of a simulated time (s), ns."""
        return round(simulated * 1e9) + self._anchor

    def advance(self, simulated: float) -> int:
        """The present stamp, ns; to be called with the simulated time after each step and after a reset."""
        now = self._now()
        if not self._has_clock:
            halted = (now - self._advanced_at) - (simulated - self._time)
            if simulated < self._time:
                self._anchor = self._wall() - round(simulated * 1e9)
                self._anchor += max(0, int(self._last) + 1 - self.at(simulated))  # stamps never go back
            elif halted > _STANDING:
                self._anchor += round(halted * 1e9)
            elif self._wall() - self.at(simulated) > _BEHIND:
                notice(
                    [
                        "ros: the world runs slower than wall time, so its stamps fall behind: use --clock for stamps"
                        " of simulated time"
                    ]
                )
        self._time, self._advanced_at = simulated, now
        self._last = self.at(simulated)
        return self.at(simulated)


class Schedule:
    """Tells when periodic work is due, also if calls come at other times than the multiples of its period.

    Work is due at the first call, and then at the first call at or after each multiple of the period. The mean rate is
    kept even if the period is no multiple of the time step. Sensors follow the same rule. Several multiples between two
    calls are due once.
    """

    _ROUNDING = 1e-6  # s, rounding error of sums of time steps

    def __init__(self, period: float) -> None:
        self._period = period
        self._due: float | None = None

    def is_due(self, now: float) -> bool:
        """Returns whether work is due at `now` (s), and if so moves on to the next multiple. `now` must not
        decrease."""
        if self._due is None:
            self._due = now
        late = now - self._due + self._ROUNDING
        if late < 0:
            return False
        self._due += (math.floor(late / self._period) + 1) * self._period
        return True

    def restart(self) -> None:
        """Makes the next call due at any time, for use after the clock has jumped."""
        self._due = None
