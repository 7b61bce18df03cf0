"""A recording of a running world: topics, frames and types of MVSim's ROS 2 node, with simulated time as stamps.

One vehicle has the topics /odom, /tf...; of several each has its own below /NAME. Frames have no prefix, as there.
"""

from __future__ import annotations

import os
import re
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from mvsim_gym import __version__, _core
from mvsim_gym._extras import extra
from mvsim_gym._notices import notice
from mvsim_gym._numbers import number
from mvsim_gym.parts import Pose, Vehicle
from mvsim_gym.recording.mcap_file import McapFile
from mvsim_gym.recording.messages import STORE, Messages
from mvsim_gym.recording.scene_topics import SceneTopics
from mvsim_gym.recording.sensor_messages import MESSAGES
from mvsim_gym.recording.sources import Sampled, Scheduled

with extra("a recording", "record"):
    from mcap.records import Channel, Message, Schema

__all__ = ["Recording", "prefixes_of", "word_of"]

_NOWHERE = Pose(0, 0, 0, 0, 0, 0)
# Topics whose last message a late subscriber is to get. rosbag2 says so: keep last 1, reliable, transient local.
_LATCHED = ("tf_static", "chassis_polygon", "chassis_markers", "amcl_pose", "world", "goal_pose")
_FOREVER = "{sec: 9223372036, nsec: 854775807}"
_LATCHED_QOS = (
    "- {history: 1, depth: 1, reliability: 1, durability: 1, liveliness: 1, avoid_ros_namespace_conventions: false,"
    f" deadline: {_FOREVER}, lifespan: {_FOREVER}, liveliness_lease_duration: {_FOREVER}}}"
)


class Recording:
    """Writes what a world does until it is closed, at the latest when the process ends; made by `World.record`.

    What a killed process leaves lacks its last second at most; `mvsim-gym play` shows it as it is, others read it after
    `mvsim-gym repair`.

    Args:
        told: what the world was loaded from, what JSON can say.
    """

    _SOURCE: ClassVar[type[Sampled] | type[Scheduled]] = Scheduled

    def __init__(
        self,
        path: str | os.PathLike[str],
        model: _core.Model,
        simulation: _core.Simulation,
        vehicles: Mapping[str, Vehicle],
        period: float,
        told: Mapping[str, Any],
    ) -> None:
        if not number("period", period) > 0:
            raise ValueError(f"period: found {period}, expected seconds above 0")
        self._model, self._simulation, self._period = model, simulation, float(period)
        file = McapFile(path, f"mvsim_gym {__version__}")
        self._file = file
        self._finalizer = weakref.finalize(self, file.close)
        topics = _Topics(file)
        self._vehicles = [
            _VehicleTopics(topics, simulation, vehicle, prefix, self._SOURCE)
            for vehicle, prefix in zip(vehicles.values(), prefixes_of(vehicles), strict=True)
        ]
        self._scene = SceneTopics(topics.write, told)
        self._offset = 0  # ns from the simulation's clock to the stamps, which never go back
        self._written: float | None = None  # s of the simulation, when states were written
        self._last = 0
        self._write_world()
        for vehicle in self._vehicles:
            vehicle.write_description(self._stamp(simulation.time))
        self.after_step()

    @property
    def closed(self) -> bool:
        """Whether it has been closed."""
        return not self._finalizer.alive

    def close(self) -> None:
        """Finishes the file. A second call does nothing."""
        self._finalizer()

    def __enter__(self) -> Recording:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def after_step(self) -> None:
        """Writes what is new: readings as they come, states at their period."""
        self._write()

    def _write(self) -> None:
        now = self._simulation.time
        self._last = self._stamp(now)
        for vehicle in self._vehicles:
            vehicle.write_readings(self._stamp)
        if self._written is not None and now - self._written < (1 - 1e-6) * self._period:
            return
        self._written = now
        self._scene.write_poses(self._simulation, self._last)
        for vehicle in self._vehicles:
            vehicle.write_state(self._last)

    def after_jump(self) -> None:
        """Goes on after a reset or a restored snapshot, with stamps that follow those before."""
        self._offset += self._last - self._stamp(self._simulation.time)
        self._written = None
        for vehicle in self._vehicles:
            vehicle.forget_readings()
        self._write()

    def _write_world(self) -> None:
        now = max(self._stamp(self._simulation.time), self._last)
        self._scene.write_world(self._model, now, **self._more())

    def _more(self) -> dict[str, Any]:
        """What else is told of the world."""
        return {}

    def _stamp(self, time: float) -> int:
        return round(time * 1e9) + self._offset


class _Topics:
    """Channels of a file, each made with its first message."""

    def __init__(self, file: McapFile) -> None:
        self._file = file
        self._schemas: dict[str, int] = {}
        self._channels: dict[str, int] = {}

    def write(self, topic: str, message: Any, nanoseconds: int) -> None:
        """Appends a message."""
        kind = message.__msgtype__
        if topic not in self._channels:
            self._channels[topic] = self._new_channel(topic, kind)
        data = bytes(STORE.serialize_cdr(message, kind))
        self._file.add(
            Message(
                channel_id=self._channels[topic],
                log_time=nanoseconds,
                publish_time=nanoseconds,
                sequence=0,
                data=data,
            )
        )

    def _new_channel(self, topic: str, kind: str) -> int:
        if kind not in self._schemas:
            self._schemas[kind] = len(self._schemas) + 1
            text, _ = STORE.generate_msgdef(kind, ros_version=2)
            self._file.add(Schema(id=self._schemas[kind], name=kind, encoding="ros2msg", data=text.encode()))
        channel = len(self._channels) + 1
        is_latched = topic.rpartition("/")[2] in _LATCHED
        self._file.add(
            Channel(
                id=channel,
                topic=topic,
                message_encoding="cdr",
                schema_id=self._schemas[kind],
                metadata={"offered_qos_profiles": _LATCHED_QOS} if is_latched else {},
            )
        )
        return channel


class _VehicleTopics:
    """What one vehicle tells."""

    def __init__(
        self,
        topics: _Topics,
        simulation: _core.Simulation,
        vehicle: Vehicle,
        prefix: str,
        source: type[Sampled] | type[Scheduled],
    ) -> None:
        self._topics, self._simulation, self._vehicle, self._prefix = topics, simulation, vehicle, prefix
        self._touched = False
        known = [s for s in vehicle.sensors.values() if s._model.class_name in MESSAGES]
        self._sources = [source(sensor) for sensor in known]
        notice(
            f"recording: readings of the sensor '{s.name}' of '{vehicle.name}' are left out: no message is known for"
            f" the class '{s._model.class_name}'"
            for s in vehicle.sensors.values()
            if s not in known
        )

    def write_description(self, now: int) -> None:
        """What never changes."""
        messages = Messages(now)
        self._write("tf_static", messages.transforms([("base_link", "base_footprint", _NOWHERE)]), now)
        self._write("chassis_polygon", messages.polygon(self._vehicle._model.outline), now)

    def write_state(self, now: int) -> None:
        """Where it is, and whether it has touched something since the last time."""
        vehicle, messages = self._vehicle, Messages(now)
        pose, odometry = vehicle.pose, vehicle.odometry
        self._write("odom", messages.odometry(odometry, vehicle.odometry_twist), now)
        self._write("base_pose_ground_truth", messages.odometry(pose, vehicle.twist), now)
        edges = [("map", "odom", _NOWHERE), ("odom", "base_link", odometry)]
        self._write("tf", messages.transforms(edges), now)
        self._write("amcl_pose", messages.pose_with_covariance(pose, "odom"), now)
        self._write("particlecloud", messages.pose_array([pose], "map"), now)
        self._write("collision", messages.boolean(self._touched), now)
        self._write("chassis_markers", messages.outlines(list(self._lines())), now)
        self._touched = False

    def write_readings(self, stamp: Callable[[float], int]) -> None:
        """The readings that have come since the last call; called after every step."""
        self._touched |= self._vehicle.in_collision
        for source in self._sources:
            moment = source.moment()
            if moment is None:
                continue
            now, sensor = stamp(moment), source.sensor
            sent = list(MESSAGES[sensor._model.class_name](Messages(now), sensor, word_of(sensor.name)))
            for each in sent:
                self._write(each.topic, each.message, now)
            frames = {each.frame: each.pose for each in sent}
            edges = [("base_link", frame, pose) for frame, pose in frames.items()]
            self._write("tf", Messages(now).transforms(edges), now)

    def forget_readings(self) -> None:
        """The count of readings begins anew."""
        for source in self._sources:
            source.forget()

    def _write(self, topic: str, message: Any, now: int) -> None:
        self._topics.write(f"{self._prefix}/{topic}", message, now)

    def _lines(self) -> Iterator[tuple[str, npt.NDArray[np.float64]]]:
        """Outlines of chassis and wheels, in the vehicle's frame."""
        model = self._vehicle._model
        outline = model.outline
        yield "mvsim.chassis_shape", np.column_stack([outline, np.full(len(outline), model.z_min)])
        steers = self._simulation.wheels(self._vehicle._index)[2]
        for k, ((x, y, yaw, width, radius, _), steer) in enumerate(zip(model.wheels, steers, strict=True)):
            corners = np.array([(radius, width), (-radius, width), (-radius, -width), (radius, -width)])
            corners[:, 1] /= 2
            c, s = np.cos(yaw + steer), np.sin(yaw + steer)
            turned = corners @ np.array([[c, s], [-s, c]]) + (x, y)
            yield f"mvsim.chassis_shape.wheel{k}", np.column_stack([turned, np.full(4, radius)])


def prefixes_of(vehicles: Iterable[str]) -> list[str]:
    """What the topics of each vehicle, by name, begin with."""
    names = list(vehicles)
    return [f"/{word_of(name)}" for name in names] if len(names) > 1 else [""] * len(names)


def word_of(name: str) -> str:
    """A name as ROS takes it in topics and frames."""
    return re.sub(r"\W", "_", name, flags=re.ASCII)
