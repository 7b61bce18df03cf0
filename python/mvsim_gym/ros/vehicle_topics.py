"""Topics of a vehicle: its state, its outline, the readings of its sensors, the columns of its CSV files."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from mvsim_gym import _core
from mvsim_gym.parts import Pose, Vehicle
from mvsim_gym.ros.commands import commanded_drive, commanded_twist
from mvsim_gym.ros.localization_error import EstimatedPose
from mvsim_gym.ros.messages import MAP, Message, Messages, word
from mvsim_gym.ros.reading_topics import ReadingTopics
from mvsim_gym.ros.topics import ACKERMANN_COMMAND, COMMAND, HISTORY, STATES, Qos, Sink, Topic
from mvsim_gym.ros.transforms import FrameTopics, correction

_LEAD = 50 * 10**6  # ns by which an identity transform is stamped ahead
_NOWHERE = Pose(0, 0, 0, 0, 0, 0)
_OF_LOCALIZATION = ("amcl_pose", "particlecloud")
_OF_FRAMES = ("tf", "tf_static")


Localization = Literal["truth", "identity"]
"""The pose of `odom` in `map`. `truth`: `base_link` is at the true pose, as with a perfect localization. `identity`:
the origin, and poses of the localization are in the frame `odom`, as in MVSim."""


def prefixes(vehicles: Collection[str], *, always: bool = False) -> dict[str, str]:
    """Returns the prefix of the topics of each vehicle, by name: empty for a single vehicle, else `/NAME`."""
    return {name: f"/{word(name)}" if always or len(vehicles) > 1 else "" for name in vehicles}


class OdometryError:
    """Bounds of the error that the multipliers of `<odometry>` have caused since the start. Messages use them as
    standard deviations.

    A displacement ds adds the error of its scale, and the shift by the error of the yaw. A turn adds the error of its
    scale. The bounds grow with the distance and never shrink, as the error of wheel odometry does.
    """

    def __init__(self, vehicle: Vehicle) -> None:
        self._vehicle = vehicle
        self.place = 0.0
        """Bound along x and along y, m."""
        self.yaw = 0.0
        """rad"""
        self._last: Pose | None = None

    def update(self, odometry: Pose) -> None:
        """Adds the motion since the last call; at the first call, the motion from the origin of `odom`."""
        last = Pose(0, 0, 0, 0, 0, 0) if self._last is None else self._last
        self._last = odometry
        way = math.hypot(odometry.x - last.x, odometry.y - last.y)
        turn = abs(math.remainder(odometry.yaw - last.yaw, math.tau))
        if way == turn == 0:
            return
        along_x, along_y, turning = self._vehicle.odometry_multipliers
        self.yaw += _share(turning) * turn
        self.place += (max(_share(along_x), _share(along_y)) + self.yaw) * way

    def forget(self) -> None:
        """Resets the bounds, as the odometry begins anew."""
        self.place, self.yaw, self._last = 0.0, 0.0, None


def _share(multiplier: float) -> float:
    """The error of a multiplier as a share of the measured odometry: true value = measured value / multiplier."""
    return abs(1 - 1 / multiplier) if multiplier else 1.0


class VehicleTopics:
    """Writes the topics of one vehicle.

    Args:
        prefix: prefix of its topics.
        writer: name of the writer, for the notice that a sensor is left out.
        frames: takes its transforms.
        tree: prefix of the topics `/tf` and `/tf_static` that get the transforms; None: `prefix`.
        frame_prefix: prefix of the names of its frames.
        localization: the pose of `odom` in `map`; None: write neither that nor the topics of a localization.
        estimate: with the localization `truth`: the pose that takes the place of the true one; None: the true one.
        odometry_frame: write the transform from `odom` to `base_link`.
        commands: write the commands of the vehicle. A node receives commands on these topics instead.
        readings: arguments of `ReadingTopics`: `derived`, `history`, `source`, `finite`.
    """

    def __init__(
        self,
        sink: Sink,
        simulation: _core.Simulation,
        vehicle: Vehicle,
        prefix: str,
        writer: str,
        frames: FrameTopics,
        *,
        tree: str | None = None,
        frame_prefix: str = "",
        localization: Localization | None = "truth",
        estimate: EstimatedPose | None = None,
        odometry_frame: bool = True,
        commands: bool = False,
        **readings: Any,
    ) -> None:
        self._sink, self._simulation, self._vehicle, self._prefix = sink, simulation, vehicle, prefix
        self._localization, self._odometry_frame = localization, odometry_frame
        self._frames, self._frame_prefix = frames, frame_prefix
        self._estimate = estimate
        self._sigmas = (0.0, 0.0) if estimate is None else (estimate.sigma, estimate.sigma_yaw)
        self._tree = prefix if tree is None else tree
        self._error = OdometryError(vehicle)
        self._touched = False
        self._framed: int | None = None  # time of the last transforms, ns
        self._names: set[str] = set()  # names of the topics that the sink took
        frames.offer(self._tree, *_OF_FRAMES)
        for topic in STATES.values():
            is_left_out = localization is None and topic.name in _OF_LOCALIZATION
            if topic.name not in _OF_FRAMES and not is_left_out:
                self._offer(topic._replace(name=f"{prefix}/{topic.name}"))
        if commands and commanded_twist(vehicle) is not None:
            self._offer(COMMAND._replace(name=f"{prefix}/{COMMAND.name}"))
            if vehicle.wheelbase is not None:
                self._offer(ACKERMANN_COMMAND._replace(name=f"{prefix}/{ACKERMANN_COMMAND.name}"))
        self._commanded: tuple[float, ...] = ()  # the last command that was written
        self._readings = ReadingTopics(
            sink,
            vehicle.sensors.values(),
            prefix,
            "base_link",
            writer,
            f"'{vehicle.name}'",
            frames,
            tree=self._tree,
            frame_prefix=frame_prefix,
            **readings,
        )

    def write_description(self, now: int) -> None:
        """Writes the static transform and the outline. The caller flushes static transforms."""
        messages = Messages(now, self._frame_prefix)
        edges = [("base_link", "base_footprint", _NOWHERE)]
        self._frames.add_static(self._tree, messages.transforms(edges))
        self._write("chassis_polygon", lambda: messages.polygon(self._vehicle.outline), now)

    def write_state(self, now: int) -> None:
        """Writes the pose, the odometry and whether the vehicle has touched something since the last call."""
        vehicle, messages, error = self._vehicle, Messages(now, self._frame_prefix), self._error
        pose, odometry, touched = vehicle.pose, vehicle.odometry, self._touched
        self._touched = False
        error.update(odometry)
        true_frame = "odom" if self._localization == "identity" else MAP
        self._write(
            "odom",
            lambda: messages.odometry(odometry, vehicle.odometry_twist, error.place, error.yaw),
            now,
        )
        self._write("base_pose_ground_truth", lambda: messages.truth(pose, vehicle.twist, true_frame), now)
        if self._estimate is not None:
            self._estimate.update(self._simulation.time, pose, odometry)
        estimate = self._estimated(pose, odometry)
        self._write_frames(now, estimate, odometry)
        if self._localization is not None:
            place, yaw = self._sigmas
            self._write(
                "amcl_pose", lambda: messages.pose_with_covariance(estimate, true_frame, place, yaw), now
            )
            self._write("particlecloud", lambda: messages.pose_array([estimate], MAP), now)
        self._write("collision", lambda: messages.boolean(touched), now)
        self._write("chassis_markers", lambda: messages.outlines(list(self._lines())), now)

    def _estimated(self, pose: Pose, odometry: Pose) -> Pose:
        """Returns the pose that the localization gives for the true one."""
        if self._estimate is None:
            return pose
        return self._estimate.at(self._simulation.time, pose, odometry)

    def write_command(self, now: int, *, always: bool) -> None:
        """Writes the command if it is new or if `always`."""
        twist, command = commanded_twist(self._vehicle), self._vehicle.command
        if twist is None or not (always or command != self._commanded):
            return
        self._commanded = command
        self._write(COMMAND.name, lambda: Messages.twist(*twist), now)
        if (drive := commanded_drive(self._vehicle)) is not None:
            messages = Messages(now, self._frame_prefix)
            self._write(ACKERMANN_COMMAND.name, lambda: messages.drive(*drive), now)

    def _write_frames(self, now: int, pose: Pose, odometry: Pose) -> None:
        """Writes the transforms from `map` to `base_link`, once for each time. `pose` is that of the localization."""
        if self._framed == now or not self._frames.wants(self._tree):
            return
        self._framed = now
        if self._localization == "truth":
            self._add_frames(now, "map", "odom", correction(pose, odometry))
        elif self._localization == "identity":
            self._add_frames(now + _LEAD, "map", "odom", _NOWHERE)  # ahead: valid until the next one comes
        if self._odometry_frame:
            self._add_frames(now, "odom", "base_link", odometry)

    def _add_frames(self, stamp: int, frame: str, child: str, pose: Pose) -> None:
        messages = Messages(stamp, self._frame_prefix)
        self._frames.add(self._tree, messages.transforms([(frame, child, pose)]))

    def write_readings(self, stamp: Callable[[float], int]) -> None:
        """Writes the readings since the last call and the transforms of that time; to be called after every step.

        Args:
            stamp: returns the stamp of a simulated time (s), ns.
        """
        self._touched |= self._vehicle.in_collision
        if self._readings.write(stamp):
            now = stamp(self._simulation.time)
            pose, odometry = self._vehicle.pose, self._vehicle.odometry
            self._write_frames(now, self._estimated(pose, odometry), odometry)

    def forget_readings(self) -> None:
        """Restarts the counts of readings, the odometry and the errors of the localization."""
        self._readings.forget()
        self._error.forget()
        if self._estimate is not None:
            self._estimate.begin()
            self._sigmas = (self._estimate.sigma, self._estimate.sigma_yaw)

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
        vehicle, outline = self._vehicle, self._vehicle.outline
        yield "mvsim.chassis_shape", np.column_stack([outline, np.full(len(outline), vehicle.heights[0])])
        steers = vehicle.wheel_states().steer
        for k, (mount, steer) in enumerate(zip(vehicle.wheel_mounts, steers, strict=True)):
            x, y, yaw, width, radius, _ = mount
            corners = np.array([(radius, width), (-radius, width), (-radius, -width), (radius, -width)])
            corners[:, 1] /= 2
            c, s = np.cos(yaw + steer), np.sin(yaw + steer)
            turned = corners @ np.array([[c, s], [-s, c]]) + (x, y)
            yield f"mvsim.chassis_shape.wheel{k}", np.column_stack([turned, np.full(4, radius)])


_KIND = "std_msgs/msg/Float64"


class LogTopics:
    """Topics `log/pose/COLUMN`, `log/wheel_1/COLUMN`, ... of each vehicle.

    Args:
        prefixes: prefixes of the topics of each vehicle, by its index in the world.
        history: number of messages that a topic keeps.
    """

    def __init__(
        self, sink: Sink, simulation: _core.Simulation, prefixes: Mapping[int, str], history: int = HISTORY
    ) -> None:
        self._sink = sink
        self._simulation = simulation
        self._log: _core.StepLog | None = _core.StepLog(simulation)
        self._topics: dict[int, list[list[str]]] = {}  # by vehicle and table
        for vehicle, prefix in prefixes.items():
            tables = self._topics[vehicle] = []
            for k, columns in enumerate(self._log.columns(vehicle)):
                table = "pose" if k == 0 else f"wheel_{k}"
                tables.append([f"{prefix}/log/{table}/{word(column)}" for column in columns])
                for name in tables[-1]:
                    sink.offer(Topic(name, _KIND, Qos(history)))

    def write(self, now: int) -> None:
        """Writes the values of the last step that have a receiver."""
        if self._log is None:
            return
        for vehicle, tables in self._topics.items():
            wanted = [[self._sink.wants(name) for name in names] for names in tables]
            if not any(map(any, wanted)):
                continue
            for names, row, wants in zip(tables, self._log.rows(vehicle), wanted, strict=False):
                for name, value, heard in zip(names, row, wants, strict=True):
                    if heard:
                        self._sink.write(name, Messages.value("Float64", value), now)

    def forget(self) -> None:
        """Begins anew after a reset of the world, which has made no step yet."""
        self._log = _core.StepLog(self._simulation)

    def close(self) -> None:
        self._log = None
