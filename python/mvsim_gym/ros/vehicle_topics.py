"""What a vehicle tells: its state, its outline, the readings of its sensors. Frames have no prefix (REP 105)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from functools import cache

import numpy as np
import numpy.typing as npt

from mvsim_gym import _core
from mvsim_gym._notices import notice
from mvsim_gym.parts import Pose, Sensor, Vehicle
from mvsim_gym.ros.messages import Message, Messages, word
from mvsim_gym.ros.sensor_messages import Stream, streams_of
from mvsim_gym.ros.sources import Sampled, Scheduled
from mvsim_gym.ros.topics import HISTORY, STATES, Qos, Sink, Topic

__all__ = ["VehicleTopics", "prefixes"]

_NOWHERE = Pose(0, 0, 0, 0, 0, 0)
_LOCALIZATION = ("amcl_pose", "particlecloud")


def prefixes(vehicles: Collection[str], *, always: bool = False) -> dict[str, str]:
    """What stands before the topics of each vehicle, by name: nothing of a single one, `/NAME` of several."""
    return {name: f"/{word(name)}" if always or len(vehicles) > 1 else "" for name in vehicles}


class VehicleTopics:
    """Writes what one vehicle tells.

    Args:
        who: what is written, in a notice of a sensor that is left out.
        prefix: stands before its topics.
        localization: with the topics of a localization that is never wrong, and the frame `map`.
        odometry_frame: with the transform from `odom` to `base_link`.
        derived: with what follows from other topics: the points of depth images.
        history: messages kept of readings.
        source: when readings of a sensor are new.
    """

    def __init__(
        self,
        sink: Sink,
        simulation: _core.Simulation,
        vehicle: Vehicle,
        prefix: str,
        who: str,
        *,
        localization: bool = True,
        odometry_frame: bool = True,
        derived: bool = True,
        history: int = HISTORY,
        source: type[Sampled] | type[Scheduled] = Scheduled,
    ) -> None:
        self._sink, self._simulation, self._vehicle, self._prefix = sink, simulation, vehicle, prefix
        self._localization, self._odometry_frame = localization, odometry_frame
        self._touched = False
        self._sources: list[tuple[Sampled | Scheduled, list[Stream]]] = []
        self._names: set[str] = set()  # of topics that are this vehicle's
        for topic in STATES.values():
            if localization or topic.name not in _LOCALIZATION:
                self._offer(topic._replace(name=f"{prefix}/{topic.name}"))
        for sensor in vehicle.sensors.values():
            streams = [stream for stream in streams_of(sensor) if derived or not stream.is_derived]
            if not streams:
                notice(
                    [
                        f"{who}: readings of the sensor '{sensor.name}' of '{vehicle.name}' are left out: no message"
                        f" is known for the class '{sensor._model.class_name}'"
                    ]
                )
                continue
            own = [s for s in streams if self._offer(Topic(f"{prefix}/{s.topic}", s.kind, Qos(history)))]
            self._sources.append((source(sensor), own))

    def write_description(self, now: int) -> None:
        """What never changes."""
        messages = Messages(now)
        edges = [("base_link", "base_footprint", _NOWHERE)]
        self._write("tf_static", lambda: messages.transforms(edges), now)
        self._write("chassis_polygon", lambda: messages.polygon(self._vehicle._model.outline), now)

    def write_state(self, now: int) -> None:
        """Where it is, and whether it has touched something since the last time."""
        vehicle, messages = self._vehicle, Messages(now)
        pose, odometry, touched = vehicle.pose, vehicle.odometry, self._touched
        self._touched = False
        self._write("odom", lambda: messages.odometry(odometry, vehicle.odometry_twist), now)
        self._write("base_pose_ground_truth", lambda: messages.odometry(pose, vehicle.twist), now)
        edges = [("map", "odom", _NOWHERE)] * self._localization
        edges += [("odom", "base_link", odometry)] * self._odometry_frame
        if edges:
            self._write("tf", lambda: messages.transforms(edges), now)
        if self._localization:
            self._write("amcl_pose", lambda: messages.pose_with_covariance(pose, "odom"), now)
            self._write("particlecloud", lambda: messages.pose_array([pose], "map"), now)
        self._write("collision", lambda: messages.boolean(touched), now)
        self._write("chassis_markers", lambda: messages.outlines(list(self._lines())), now)

    def write_readings(self, stamp: Callable[[float], int]) -> None:
        """The readings that have come since the last call; called after every step.

        Args:
            stamp: ns of a message that tells of that simulated second.
        """
        self._touched |= self._vehicle.in_collision
        for source, streams in self._sources:
            moment = source.moment()
            if moment is not None:
                self._write_reading(source.sensor, streams, stamp(moment))

    def _write_reading(self, sensor: Sensor, streams: list[Stream], now: int) -> None:
        messages, reading = Messages(now), cache(sensor.read)  # a picture is drawn when somebody wants it
        for stream in streams:
            name = f"{self._prefix}/{stream.topic}"
            if self._sink.wants(name):
                self._sink.write(name, stream.make(messages, reading()), now)
        frames = {stream.frame: stream.pose for stream in streams}
        edges = [("base_link", frame, pose) for frame, pose in frames.items()]
        self._write("tf", lambda: messages.transforms(edges), now)

    def forget_readings(self) -> None:
        """The count of readings begins anew."""
        for source, _ in self._sources:
            source.forget()

    def _offer(self, topic: Topic) -> bool:
        if taken := self._sink.offer(topic):
            self._names.add(topic.name)
        return taken

    def _write(self, topic: str, make: Callable[[], Message], now: int) -> None:
        name = f"{self._prefix}/{topic}"
        if name in self._names and self._sink.wants(name):
            self._sink.write(name, make(), now)

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
