"""What a recording tells beside the topics of MVSim's ROS 2 node, so that it can be seen again: which world it is of,
and where everything in it is, wheels and blocks included."""

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

__all__ = ["GOAL", "POSES", "WHEELS", "WORLD", "SceneTopics", "fingerprint_of"]

POSES = "/mvsim_gym/poses"
"""std_msgs/Float32MultiArray (frames, 8) of `scene_poses`: x, y, z, the quaternion w, x, y, z, and the scale"""
WHEELS = "/mvsim_gym/wheels"
"""std_msgs/Float32MultiArray (wheels of all vehicles, 3): friction on the chassis, forward and to the left in
the vehicle's frame, and load, N"""
WORLD = "/mvsim_gym/world"
"""std_msgs/String, JSON: what the world was loaded from, its fingerprint and the number of its frames"""
GOAL = "/goal_pose"
"""geometry_msgs/PoseStamped of an environment's first agent"""


_TOPICS = (
    Topic(POSES, "std_msgs/msg/Float32MultiArray"),
    Topic(WHEELS, "std_msgs/msg/Float32MultiArray"),
    Topic(WORLD, "std_msgs/msg/String", Qos(1, latched=True)),
    Topic(GOAL, "geometry_msgs/msg/PoseStamped", Qos(1, latched=True)),
)


class SceneTopics:
    """Writes them.

    Args:
        told: what the world was loaded from, what JSON can say.
    """

    def __init__(self, sink: Sink, told: Mapping[str, Any]) -> None:
        self._write, self._told = sink.write, told
        for topic in _TOPICS:
            sink.offer(topic)

    def write_world(self, model: _core.Model, now: int, **more: Any) -> None:
        """Which world it is from now on."""
        of_model = {"fingerprint": fingerprint_of(model), "frames": _core.scene_frames(model)}
        self._write(WORLD, Messages.text(json.dumps({**self._told, **more, **of_model})), now)

    def write_poses(self, simulation: _core.Simulation, vehicles: Collection[Vehicle], now: int) -> None:
        """Where everything is, and how wheels push."""
        self._write(POSES, Messages.table(_core.scene_poses(simulation), ("frame", "pose")), now)
        if vehicles:
            wheels = [vehicle.wheel_states() for vehicle in vehicles]
            rows = np.concatenate([np.column_stack([w.force_x, w.force_y, w.load]) for w in wheels])
            self._write(WHEELS, Messages.table(rows.astype(np.float32), ("wheel", "force")), now)

    def write_goal(self, goal: npt.NDArray[np.float64], now: int) -> None:
        """Where the first agent is to go: x, y, m."""
        self._write(GOAL, Messages(now).place(float(goal[0]), float(goal[1]), "map"), now)


def fingerprint_of(model: _core.Model) -> str:
    """Of all in a world that decides what happens in it."""
    return f"{model.fingerprint:016x}"
