"""Topics of a world: poses at a steady rate of wall time, and readings of sensors as they come."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from mvsim_gym._notices import notice
from mvsim_gym.comms import messages
from mvsim_gym.comms.errors import CommsError
from mvsim_gym.comms.observation import encode_observation, observation_of, scan_of
from mvsim_gym.comms.poses import pose_message, relative
from mvsim_gym.parts import Block, Publication, Sensor, Vehicle
from mvsim_gym.world import World

_POSE_PERIOD = 0.1  # s of wall time, unless the world names another
_MAX_TOPICS = 200  # each needs a port, and a process has a limited number of sockets
_NO_TAG = Publication("", _POSE_PERIOD, "", ())
Body = Vehicle | Block


class WorldTopic(ABC):
    def __init__(self, name: str, kind: Any) -> None:
        self.name, self.kind = name, kind

    @abstractmethod
    def is_due(self, now: float) -> bool:
        """Whether there is a message that was not there at the last call; `now` is in s of wall time."""

    @abstractmethod
    def messages(self) -> Iterator[Any]:
        """Yields the messages that are due."""


class _Poses(WorldTopic):
    """The poses of bodies, in the world's frame or in that of another body."""

    def __init__(
        self,
        name: str,
        bodies: Sequence[Body],
        frame: Body | None = None,
        period: float = _POSE_PERIOD,
    ) -> None:
        super().__init__(name, messages.TimeStampedPose)
        self._bodies, self._frame, self._period = bodies, frame, period
        self._next = 0.0

    def is_due(self, now: float) -> bool:
        if now < self._next:
            return False
        # keeps the mean rate if calls are late; no burst follows a pause
        is_late = now - self._next < self._period
        self._next = self._next + self._period if is_late else now + self._period / 2
        return True

    def messages(self) -> Iterator[Any]:
        for body in self._bodies:
            pose = body.pose
            message = messages.TimeStampedPose(unixTimestamp=time.time(), objectId=body.name)
            if self._frame is not None:
                pose = relative(self._frame.pose, pose)
                message.relativeToObjectId = self._frame.name
            message.pose.CopyFrom(pose_message(pose))
            yield message


class _Readings(WorldTopic):
    def __init__(self, name: str, source: str, sensor: Sensor, kind: Any = None) -> None:
        super().__init__(name, kind or messages.GenericObservation)
        self._source, self._sensor = source, sensor
        self._seen = sensor.count

    def is_due(self, now: float) -> bool:
        count = self._sensor.count
        is_new = count != self._seen
        self._seen = count
        return is_new and count > 0

    def messages(self) -> Iterator[Any]:
        sensor = self._sensor
        is_scan = sensor.form == "scan"
        yield messages.GenericObservation(
            unixTimestamp=sensor.time,
            sourceObjectId=self._source,
            mrptSerializedObservation=(
                scan_of(sensor, sensor.read()) if is_scan else encode_observation(observation_of(sensor))
            ),
        )


class _Scans(_Readings):
    def __init__(self, name: str, source: str, sensor: Sensor) -> None:
        super().__init__(name, source, sensor, messages.ObservationLidar2D)

    def messages(self) -> Iterator[Any]:
        reading, mount = self._sensor.read(), self._sensor.mount
        yield messages.ObservationLidar2D(
            unixTimestamp=reading.time,
            sourceObjectId=self._source,
            scanRanges=reading.ranges.tolist(),
            validRanges=reading.valid.tolist(),
            aperture=float(reading.angles[-1] - reading.angles[0]),
            ccw=True,
            maxRange=self._sensor.max_range,
            sensorPose=messages.Pose(**mount._asdict()),
        )


def topics_of(
    world: World, relative: Mapping[str, Sequence[str]], rename: Mapping[str, str]
) -> list[WorldTopic]:
    """Returns the topics of a world: /NAME/pose of each body that can move, /VEHICLE/SENSOR and, for lidars,
    /VEHICLE/SENSOR_scan. <publish> tags change names and rates, and add topics.

    Args:
        relative: names of vehicles or blocks by the name of another. Their poses in its frame are published as
            /NAME/relative_poses.
        rename: new names of topics, by their default names.

    Raises:
        CommsError: a name in `relative` or `rename` does not exist.
    """
    topics = [
        *_poses_of(world, world.vehicles.values()),
        *_relative_poses_asked_for(world, relative),
        *_readings_of(world),
        *_poses_of(world, world.blocks.values()),
    ]
    names = [topic.name for topic in topics]
    for name in rename:
        if name not in names:
            raise CommsError(f"rename: there is no topic '{name}'; there are: {', '.join(names) or 'none'}")
    kept: dict[str, WorldTopic] = {}
    for topic in topics:
        topic.name = rename.get(topic.name, topic.name)
        if topic.name in kept:
            notice([f"topics: one '{topic.name}' is left out, since another has this name"])
        else:
            kept[topic.name] = topic
    if len(kept) > _MAX_TOPICS:
        notice([f"topics: found {len(kept)}, expected at most {_MAX_TOPICS}: the last ones are left out"])
    return list(kept.values())[:_MAX_TOPICS]


def _poses_of(world: World, bodies: Iterable[Body]) -> Iterator[WorldTopic]:
    """The poses of bodies that can move or have their own topic, and the relative poses that the tags ask for."""
    everything = _bodies(world)
    for body in bodies:
        tag = body.publication or _NO_TAG
        if tag.topic or not (isinstance(body, Block) and body.is_static):
            yield _Poses(tag.topic or f"/{body.name}/pose", [body], period=tag.period)
        seen = [everything[name] for name in tag.relative_objects if name in everything]
        if seen:
            yield _Poses(tag.relative_topic, seen, body, tag.period)


def _relative_poses_asked_for(world: World, relative: Mapping[str, Sequence[str]]) -> Iterator[WorldTopic]:
    bodies = _bodies(world)
    for name, others in relative.items():
        for each in (name, *others):
            if each not in bodies:
                raise CommsError(f"relative poses: there is no vehicle or block '{each}'")
        yield _Poses(f"/{name}/relative_poses", [bodies[other] for other in others], bodies[name])


def _bodies(world: World) -> dict[str, Body]:
    return {**world.blocks, **world.vehicles}


def _readings_of(world: World) -> Iterator[WorldTopic]:
    standing = [("", sensor) for sensor in world.sensors.values()]
    mounted = [(v.name, sensor) for v in world.vehicles.values() for sensor in v.sensors.values()]
    for source, sensor in (*mounted, *standing):
        name = sensor.publish_topic or (f"/{source}/{sensor.name}" if source else f"/{sensor.name}")
        yield _Readings(name, source, sensor)
        if sensor.form == "scan":
            yield _Scans(f"{name}_scan", source, sensor)
