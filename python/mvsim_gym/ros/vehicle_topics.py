"""What a vehicle tells: its state, its outline, the readings of its sensors. Frames have no prefix (REP 105)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

import numpy as np
import numpy.typing as npt

from mvsim_gym import _core
from mvsim_gym.parts import Pose, Vehicle
from mvsim_gym.ros.messages import Message, Messages, word
from mvsim_gym.ros.reading_topics import ReadingTopics
from mvsim_gym.ros.sources import Sampled, Scheduled
from mvsim_gym.ros.topics import HISTORY, STATES, Sink, Topic

__all__ = ["VehicleTopics", "prefixes"]

_LEAD = 50 * 10**6  # ns
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
        self._names: set[str] = set()  # of topics that are this vehicle's
        for topic in STATES.values():
            if localization or topic.name not in _LOCALIZATION:
                self._offer(topic._replace(name=f"{prefix}/{topic.name}"))
        self._readings = ReadingTopics(
            sink,
            vehicle.sensors.values(),
            prefix,
            "base_link",
            who,
            f"'{vehicle.name}'",
            derived=derived,
            history=history,
            source=source,
            frames=f"{prefix}/tf" in self._names,
        )

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
        if self._localization or self._odometry_frame:
            self._write("tf", lambda: self._frames(now, odometry), now)
        if self._localization:
            self._write("amcl_pose", lambda: messages.pose_with_covariance(pose, "odom"), now)
            self._write("particlecloud", lambda: messages.pose_array([pose], "map"), now)
        self._write("collision", lambda: messages.boolean(touched), now)
        self._write("chassis_markers", lambda: messages.outlines(list(self._lines())), now)

    def _frames(self, now: int, odometry: Pose) -> Message:
        message = Messages(now).transforms([("odom", "base_link", odometry)] * self._odometry_frame)
        if self._localization:  # ahead, as localizations have it: valid until the next one comes
            ahead = Messages(now + _LEAD).transforms([("map", "odom", _NOWHERE)])
            message.transforms = ahead.transforms + message.transforms
        return message

    def write_readings(self, stamp: Callable[[float], int]) -> None:
        """The readings that have come since the last call; called after every step.

        Args:
            stamp: ns of a message that tells of that simulated second.
        """
        self._touched |= self._vehicle.in_collision
        self._readings.write(stamp)

    def forget_readings(self) -> None:
        """The count of readings begins anew."""
        self._readings.forget()

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
