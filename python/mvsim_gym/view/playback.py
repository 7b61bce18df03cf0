"""The view of a recording, with a slider for its time. At any of its times the recording is a moment of a view: poses,
points of lidars and images of cameras."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from mvsim_gym import _core
from mvsim_gym._drawing import arrows_of
from mvsim_gym._rotation import moved
from mvsim_gym.recording.mcap_reading import Recorded
from mvsim_gym.recording.scene_topics import GOAL, POSES, WHEELS, WORLD
from mvsim_gym.ros.messages import word
from mvsim_gym.ros.vehicle_topics import prefixes
from mvsim_gym.view.doors import Doors
from mvsim_gym.view.moment import Group, Moment
from mvsim_gym.view.view import View
from mvsim_gym.view.world_view import grey_of

_ABOVE = 0.01  # m, height of ropes above the bodies that they hold
_LIFT = 0.02  # m, height of arrows above their chassis


def placed(points: npt.NDArray[np.float64], pose: Poses) -> npt.NDArray[np.float32]:
    """Transforms points (n, 3) from a frame to the world; its pose is x, y, z and the quaternion w, x, y, z."""
    w, axis = float(pose[3]), pose[4:7].astype(np.float64)
    twice = 2 * np.cross(axis, points)
    return (points + w * twice + np.cross(axis, twice) + pose[:3]).astype(np.float32)


def _scanned(scan: Any) -> npt.NDArray[np.float64]:
    ranges = np.asarray(scan.ranges, np.float64)
    angles = scan.angle_min + scan.angle_increment * np.arange(len(ranges))
    hit = np.isfinite(ranges) & (ranges < scan.range_max)
    ranges, angles = ranges[hit], angles[hit]
    return np.stack([ranges * np.cos(angles), ranges * np.sin(angles), 0 * ranges], axis=1)


def _cloud(message: Any) -> npt.NDArray[np.float64]:
    kinds = {4: "<u2", 7: "<f4"}  # by type number of sensor_msgs/PointField
    dtype = np.dtype(
        {
            "names": [field.name for field in message.fields],
            "formats": [kinds[field.datatype] for field in message.fields],
            "offsets": [field.offset for field in message.fields],
            "itemsize": message.point_step,
        }
    )
    cloud = np.frombuffer(np.asarray(message.data).tobytes(), dtype)
    return np.stack([cloud[axis].astype(np.float64) for axis in "xyz"], axis=1)


READERS: dict[str, Callable[[Any], npt.NDArray[np.float64]]] = {"scan": _scanned, "rings": _cloud}
"""Functions that return the points (n, 3) of a message in the sensor's frame, by the form of the sensor's readings."""
SUFFIXES = {"rings": "_points"}
"""Suffixes that topics add to the sensor's name, by the form of the sensor's readings."""


def joints_of(model: _core.Model, poses: Poses) -> npt.NDArray[np.float32]:
    """Returns both ends of ropes and hitches, (2 n, 3) m, above the bodies that they hold, as in a running world.

    Args:
        poses: (frames, 8).
    """
    ends = []
    for tie in _core.scene_ties(model):
        pair = []
        for frame, x, y, _ in tie:
            _, _, _, w, i, j, k, _ = poses[frame].astype(np.float64)
            yaw = np.arctan2(2 * (w * k + i * j), 1 - 2 * (j * j + k * k))  # joints are planar
            c, s = np.cos(yaw), np.sin(yaw)
            pair.append([poses[frame, 0] + c * x - s * y, poses[frame, 1] + s * x + c * y])
        z = _ABOVE + max(poses[frame, 2] + top for frame, _, _, top in tie)
        ends += [[*place, z] for place in pair]
    return np.array(ends, np.float32).reshape(-1, 3)


def forces_of(model: _core.Model, poses: Poses, wheels: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Returns arrows (n, 2, 3) of the friction of wheels, above their vehicles.

    Args:
        poses: (frames, 8).
        wheels: (wheels of all vehicles, 3), friction along x and y of the vehicle and load, N.
    """
    frames = [frame for kind, _, frame in _core.scene_movers(model) if kind == "vehicle"]
    found, first = [], 0
    for vehicle, frame in zip(model.vehicles, frames, strict=True):
        own = wheels[first : first + len(vehicle.wheels)]
        first += len(vehicle.wheels)
        lift = np.array([0, 0, vehicle.z_max + _LIFT])
        found += [
            placed(ends, poses[frame]) + lift for ends in arrows_of(vehicle.outline, vehicle.wheels, own)
        ]
    return np.array(found, np.float64).reshape(-1, 2, 3)


Poses = npt.NDArray[np.float32]
_GAP = 0.6  # s; longest gap between poses that is interpolated
_JUMP = 1.0  # m; a body that moves farther between two poses was placed there
_GOAL_RADIUS = 0.3  # m, if the recording has none
_IMAGE = "sensor_msgs/msg/Image"
_NO_FORCES = np.zeros((0, 2, 3))


class Playback:
    """Makes moments of a recording.

    Args:
        model_of: finds the world that a message of `WORLD` names; may raise ValueError.

    Raises:
        ValueError: the recording has no poses or no world.
    """

    def __init__(self, recorded: Recorded, model_of: Callable[[Mapping[str, Any]], _core.Model]) -> None:
        for topic in (POSES, WORLD):
            if topic not in recorded.topics:
                raise ValueError(
                    f"found no topic {topic}, expected a recording of mvsim_gym (mvsim-gym plot draws others)"
                )
        self._recorded = recorded
        self._worlds: list[tuple[_core.Model, Mapping[str, Any]]] = []
        for i in range(len(recorded.topics[WORLD].times)):
            text = str(getattr(recorded.message(WORLD, i), "data", ""))
            try:
                metadata = json.loads(text)
                self._worlds.append((model_of(metadata), metadata))
            except (KeyError, TypeError, AttributeError, RecursionError, json.JSONDecodeError):
                raise ValueError(
                    f"found {text[:200]!r} in {WORLD}, expected the metadata of a world"
                ) from None
        self._images = [name for name, topic in recorded.topics.items() if topic.kind == _IMAGE]
        self._clouds: dict[
            str, tuple[int, Poses]
        ] = {}  # by topic: index of the message, and its points in the world
        self._seen: dict[str, int] = {}  # index of the last image, by topic

    @property
    def model(self) -> _core.Model:
        return self._worlds[0][0]

    @property
    def duration(self) -> float:
        """Time from the first message to the last, s."""
        return (self._recorded.last - self._recorded.first) / 1e9

    @property
    def has_pictures(self) -> bool:
        return bool(self._images)

    def after(self, seconds: float) -> float:
        """The time of the next recorded poses, s; the end if there are none."""
        times = self._recorded.topics[POSES].times
        index = self._recorded.index(POSES, self._nanoseconds(seconds)) + 1
        return (times[index] - self._recorded.first) / 1e9 if index < len(times) else self.duration

    @property
    def has_forces(self) -> bool:
        return WHEELS in self._recorded.topics

    def moment(
        self, seconds: float, *, vehicle: str = "", pictures: bool = True, forces: bool = False
    ) -> Moment:
        """Returns the state at a time after the first message, s. Images that were shown last are left out.

        Args:
            vehicle: name of the chosen vehicle; an unknown name stands for the first one.

        Raises:
            ValueError: the recorded data are invalid.
        """
        try:
            return self._moment(seconds, vehicle, pictures, forces)
        except Exception as error:  # the file may come from a stranger and hold any bytes
            raise ValueError(f"at {seconds:.2f} s: {error}") from None

    def _moment(self, seconds: float, vehicle: str, pictures: bool, forces: bool) -> Moment:
        time, recorded = self._nanoseconds(seconds), self._recorded
        model, metadata = self._worlds[max(recorded.index(WORLD, time), 0)]
        poses = self._poses(time)
        if len(poses) != metadata["frames"]:
            raise ValueError(f"found {len(poses)} poses, expected {metadata['frames']}")
        goal = recorded.latest(GOAL, time)
        radius = metadata.get("goal_radius", _GOAL_RADIUS)
        of_vehicles = prefixes([v.name for v in model.vehicles])
        before = list(of_vehicles.values())
        touches = [recorded.latest(f"{prefix}/collision", time) for prefix in before]
        return Moment(
            seconds,
            [Group(model, np.zeros(1, np.int32), poses[None])],
            goals=None if goal is None else np.array([[goal.pose.position.x, goal.pose.position.y, radius]]),
            hits=self._hits(model, before, time),
            joints=joints_of(model, poses),
            forces=self._forces(model, poses, time) if forces else _NO_FORCES,
            contacts=np.array([touch is not None and touch.data for touch in touches], np.bool_),
            pictures=self._pictures(time) if pictures else {},
            vehicle=vehicle,
            values=self._speeds(of_vehicles.get(vehicle, before[0] if before else None), time),
            text=f"{seconds:.2f} s of {self.duration:.2f} s",
        )

    def _nanoseconds(self, seconds: float) -> int:
        return self._recorded.first + round(seconds * 1e9)

    def _poses(self, time: int) -> Poses:
        """Returns the poses (frames, 8), linearly interpolated between two recorded ones."""
        times = self._recorded.topics[POSES].times
        index = max(self._recorded.index(POSES, time), 0)
        before = self._recorded_poses(index)
        if time <= times[index] or index + 1 == len(times) or times[index + 1] - times[index] > _GAP * 1e9:
            return before
        after = self._recorded_poses(index + 1)
        if before.shape != after.shape:
            return before
        share = np.float32((time - times[index]) / (times[index + 1] - times[index]))
        return between(before, after, share)

    def _recorded_poses(self, index: int) -> Poses:
        data = np.array(self._recorded.message(POSES, index).data, np.float32)
        return data[: len(data) // 8 * 8].reshape(-1, 8)

    def _hits(self, model: _core.Model, before: list[str], time: int) -> npt.NDArray[np.float32]:
        """Returns the points (n, 3) that the latest scans of 2D and 3D lidars hit."""
        points = [np.zeros((0, 3), np.float32)]
        frames = [frame for kind, _, frame in _core.scene_movers(model) if kind == "vehicle"]
        for sensor in model.sensors:
            read = READERS.get(sensor.form)
            if read is None:
                continue
            prefix = "" if sensor.is_standalone else before[sensor.vehicle]
            topic = f"{prefix}/{word(sensor.name)}{SUFFIXES.get(sensor.form, '')}"
            index = self._recorded.index(topic, time)
            if index < 0:
                continue
            if self._clouds.get(topic, (-1, None))[0] != index:
                seen = moved(read(self._recorded.message(topic, index)), sensor.mount)
                if sensor.is_standalone:
                    self._clouds[topic] = index, seen.astype(np.float32)
                else:
                    base = self._poses(self._recorded.topics[topic].times[index])[frames[sensor.vehicle]]
                    self._clouds[topic] = index, placed(seen, base)
            points.append(self._clouds[topic][1])
        return np.concatenate(points)

    def _forces(self, model: _core.Model, poses: Poses, time: int) -> npt.NDArray[np.float64]:
        message = self._recorded.latest(WHEELS, time)
        if message is None:
            return _NO_FORCES
        return forces_of(model, poses, np.array(message.data, np.float64).reshape(-1, 3))

    def _pictures(self, time: int) -> dict[str, npt.NDArray[np.uint8]]:
        found = {}
        for topic in self._images:
            index = self._recorded.index(topic, time)
            if index >= 0 and self._seen.get(topic) != index:
                self._seen[topic] = index
                found[topic.strip("/").removesuffix("/image_raw")] = _picture_of(
                    self._recorded.message(topic, index)
                )
        return found

    def _speeds(self, prefix: str | None, time: int) -> dict[str, float]:
        """Returns the true speeds of a vehicle, as a World's view plots them."""
        if prefix is None:
            return {}
        truth = self._recorded.latest(f"{prefix}/base_pose_ground_truth", time)
        if truth is None:
            return {}
        twist = truth.twist.twist
        return {"speed vx": twist.linear.x, "speed vy": twist.linear.y, "speed omega": twist.angular.z}


def between(before: Poses, after: Poses, share: np.float32) -> Poses:
    """Returns poses (frames, 8) between two times, at `share` of the way. A body that jumped keeps its first pose."""
    turns = np.where(np.sum(before[:, 3:7] * after[:, 3:7], axis=1, keepdims=True) < 0, -1, 1)
    ends = after.copy()
    ends[:, 3:7] *= turns
    poses = (1 - share) * before + share * ends
    poses[:, 3:7] /= np.linalg.norm(poses[:, 3:7], axis=1, keepdims=True)
    jumped = np.linalg.norm(after[:, :3] - before[:, :3], axis=1) > _JUMP
    poses[jumped] = before[jumped]
    return poses.astype(np.float32)


def _picture_of(image: Any) -> npt.NDArray[np.uint8]:
    """Returns an image (height, width, 3); depths become greys."""
    data = np.asarray(image.data, np.uint8)
    if image.encoding == "16UC1":
        return grey_of(data.view("<u2").reshape(image.height, image.width).astype(np.float32))
    return np.ascontiguousarray(data.reshape(image.height, image.width, 3)[..., ::-1])


_SLIDER_PERIOD = 0.25  # s of wall time between updates of the slider
_HANDS_OFF = 1.0  # s of wall time without updates after the user moved the slider


class PlayedView(View):
    """The view of `mvsim-gym play`. Time passes while a browser is connected. The owner calls `advance` often."""

    def __init__(
        self,
        playback: Playback,
        host: str,
        port: int,
        doors: Doors | None = None,
        *,
        speed: float = 1.0,
    ) -> None:
        super().__init__(
            playback.model,
            [],
            host,
            port,
            doors=doors,
            speed=speed,
            resets=False,
            ends=True,
            vehicles=[vehicle.name for vehicle in playback.model.vehicles],
            cameras=playback.has_pictures,
            marks=("forces",) if playback.has_forces else (),
        )
        self._playback = playback
        self.at = 0.0
        """Time of the recording, s."""
        self.ended = False
        """Whether the button "End" was pressed."""
        self.sought: float | None = None
        """Time that was set by the slider, s; None after it was applied."""
        self._now = time.monotonic()
        self._shown: tuple[float, str] | None = None
        self._slider_due = 0.0
        self._slider: Any = self._server.gui.add_slider(
            "Time", min=0.0, max=max(playback.duration, 0.01), step=0.01, initial_value=0.0, order=0.5
        )
        self._slider.on_update(self._seek)

    def _seek(self, event: Any) -> None:
        if event.client is not None:  # otherwise this process moved the slider
            self._slider_due = time.monotonic() + _HANDS_OFF
            self.sought = float(event.target.value)

    def advance(self) -> None:
        """Carries out commands, and shows the present time of the recording."""
        self._stepper = threading.get_ident()
        now = time.monotonic()
        passed, self._now = now - self._now, now
        if self.is_watched and not self.controls.paused:
            self.at = min(self.at + self.controls.speed * passed, self._playback.duration)
        if self.sought is not None:
            self.at, self.sought = min(max(self.sought, 0.0), self._playback.duration), None
        while self.controls.wishes:
            wish = self.controls.wishes.popleft()
            if wish == "step":
                self.at = self._playback.after(self.at)
            elif wish == "end":
                self.ended = True
        wanted = self.at, self.controls.vehicle
        if wanted != self._shown and self._wants_moment():
            self._shown = wanted
            self._feed.put(self.moment())
        if now >= self._slider_due and self._slider.value != (value := round(self.at, 2)):
            self._slider_due = now + _SLIDER_PERIOD
            self._slider.value = value

    def moment(self) -> Moment:
        return self._playback.moment(
            self.at,
            vehicle=self.controls.vehicle,
            pictures=self.controls.pictures,
            forces=self._shows("forces"),
        )
