"""Topics of a recording in addition to those of MVSim's ROS 2 node. They name the world and have the poses of
everything in it, including wheels and blocks, so that the recording can be shown."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from mvsim_gym import _core
from mvsim_gym.parts import Vehicle
from mvsim_gym.ros.messages import Messages
from mvsim_gym.ros.topics import Qos, Sink, Topic

POSES = "/mvsim_gym/poses"
"""std_msgs/Float32MultiArray (frames, 8) of `scene_poses`: x, y, z, the quaternion w, x, y, z, and the scale."""
WHEELS = "/mvsim_gym/wheels"
"""std_msgs/Float32MultiArray (wheels of all vehicles, 3): friction on the chassis, forward and to the left in the
vehicle's frame, and load, N."""
WORLD = "/mvsim_gym/world"
"""std_msgs/String, JSON: origin of the world, its fingerprint and the number of its frames."""
GOAL = "/goal_pose"
"""geometry_msgs/PoseStamped: goal of an environment's first agent."""


_TOPICS = (
    Topic(POSES, "std_msgs/msg/Float32MultiArray"),
    Topic(WHEELS, "std_msgs/msg/Float32MultiArray"),
    Topic(WORLD, "std_msgs/msg/String", Qos(1, latched=True)),
    Topic(GOAL, "geometry_msgs/msg/PoseStamped", Qos(1, latched=True)),
)


class SceneTopics:
    """Writes the topics.

    Args:
        origin: origin of the world, as values that JSON can express.
    """

    def __init__(self, sink: Sink, origin: Mapping[str, Any]) -> None:
        self._write, self._origin = sink.write, origin
        for topic in _TOPICS:
            sink.offer(topic)

    def write_world(self, model: _core.Model, now: int, **more: Any) -> None:
        """Writes the description of the world, valid from now on."""
        of_model = {"fingerprint": fingerprint_of(model), "frames": _core.scene_frames(model)}
        self._write(WORLD, Messages.value("String", json.dumps({**self._origin, **more, **of_model})), now)

    def write_poses(self, simulation: _core.Simulation, vehicles: Collection[Vehicle], now: int) -> None:
        """Writes the poses of everything, and the forces of wheels."""
        self._write(POSES, Messages.table(_core.scene_poses(simulation), ("frame", "pose")), now)
        if vehicles:
            wheels = [vehicle.wheel_states() for vehicle in vehicles]
            rows = np.concatenate([np.column_stack([w.force_x, w.force_y, w.load]) for w in wheels])
            self._write(WHEELS, Messages.table(rows.astype(np.float32), ("wheel", "force")), now)

    def write_goal(self, goal: npt.NDArray[np.float64], now: int) -> None:
        """Writes the goal of the first agent: x, y, m."""
        self._write(GOAL, Messages(now).place(float(goal[0]), float(goal[1]), "map"), now)


def fingerprint_of(model: _core.Model) -> str:
    """Returns a hash of everything in a world that affects the simulation."""
    return f"{model.fingerprint:016x}"
