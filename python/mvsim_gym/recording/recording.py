"""A recording of a running world or environment with the topics, frames and types of MVSim's ROS 2 node, stamped with
simulated time.

A single vehicle has the topics /odom, /tf... Several vehicles have theirs below /NAME, and frames named
NAME/base_link..., because viewers put all transforms of a file in one tree.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from mvsim_gym import __version__, _core
from mvsim_gym._checks import number
from mvsim_gym._notices import notice
from mvsim_gym.parts import Vehicle, standing_sensors, vehicles_of
from mvsim_gym.recording.mcap_file import McapFile
from mvsim_gym.recording.scene_topics import SceneTopics
from mvsim_gym.ros.messages import STORE, Message, Messages
from mvsim_gym.ros.reading_topics import MapTopics, ReadingTopics, Sampled, Scheduled
from mvsim_gym.ros.topics import CLOCK, Schedule, Topic
from mvsim_gym.ros.transforms import FrameTopics
from mvsim_gym.ros.vehicle_topics import VehicleTopics, prefixes

_FOREVER = "{sec: 9223372036, nsec: 854775807}"
# The QoS profile by which rosbag2 marks a latched topic: keep last, reliable, transient local.
_LATCHED_QOS = (
    "- {{history: 1, depth: {depth}, reliability: 1, durability: 1, liveliness: 1,"
    " avoid_ros_namespace_conventions: false, deadline: {forever}, lifespan: {forever},"
    " liveliness_lease_duration: {forever}}}"
)


class Recording:
    """Records a world until it is closed, at the latest when the process ends. `World.record` makes it.

    If the process is killed, at most the last second is missing. `mvsim-gym play` shows such a file; other programs can
    read it after `mvsim-gym repair`.

    Args:
        origin: origin of the world, as values that JSON can express.
        more: further topics to record.
    """

    _SOURCE: ClassVar[type[Sampled] | type[Scheduled]] = Scheduled

    def __init__(
        self,
        path: str | os.PathLike[str],
        model: _core.Model,
        simulation: _core.Simulation,
        vehicles: Mapping[str, Vehicle],
        period: float,
        origin: Mapping[str, Any],
        more: Sequence[Topic] = (),
    ) -> None:
        if not number("period", period) > 0:
            raise ValueError(f"period: found {period}, expected seconds above 0")
        self._model, self._simulation = model, simulation
        self._states = Schedule(float(period))
        file = McapFile(path, f"mvsim_gym {__version__}")
        self._file = file
        topics, before = _Topics(file), prefixes(vehicles)
        self._topics = topics
        for topic in more:
            topics.offer(topic)
        self._finalizer = weakref.finalize(self, topics.close)
        self._parts = tuple(vehicles.values())
        self._frames = FrameTopics(topics)
        self._vehicles = [
            VehicleTopics(
                topics,
                simulation,
                vehicle,
                before[name],
                "recording",
                self._frames,
                frame_prefix=f"{before[name][1:]}/" if before[name] else "",
                derived=False,
                source=self._SOURCE,
                commands=True,
            )
            for name, vehicle in vehicles.items()
        ]
        self._standing = ReadingTopics(
            topics,
            standing_sensors(model, simulation).values(),
            "",
            "map",
            "recording",
            "the world",
            self._frames,
            derived=False,
            source=self._SOURCE,
        )
        self._scene, self._maps = SceneTopics(topics, origin), MapTopics(topics, "")
        self._offset = 0  # ns from simulated time to the stamps, which never decrease
        self._last = 0
        self._step_began: int | None = None  # stamp of the state before; None: no step led to the next
        self._write_world()
        for vehicle in self._vehicles:
            vehicle.write_description(self._stamp(simulation.time))
        self._frames.flush_static(self._stamp(simulation.time))
        self.after_step()
        if topics.error is not None:
            raise topics.error

    @property
    def closed(self) -> bool:
        """Whether it has been closed or ended by an error. It is True in a forked child, because the file belongs to
        the parent."""
        return not self._finalizer.alive or not self._file.is_ours

    @property
    def error(self) -> OSError | None:
        """The error that ended the recording, e.g. a full disk; else None. The file has the messages written before."""
        return self._topics.error

    def close(self) -> None:
        """Finishes the file. A second call does nothing."""
        self._finalizer()

    def __enter__(self) -> Recording:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def after_step(self) -> None:
        """Writes new data: readings as they come, states at their period."""
        self._write()

    def _write(self) -> None:
        now = self._simulation.time
        self._last = self._stamp(now)
        self._write_new(now)
        self._step_began = self._last
        if self._topics.error is not None:
            self.close()

    def _write_new(self, now: float) -> None:
        self._topics.write(CLOCK.name, Messages(self._last).clock(), self._last)
        for vehicle in self._vehicles:
            vehicle.write_readings(self._stamp)
        self._standing.write(self._stamp)
        has_states = self._states.is_due(now)
        if self._step_began is not None:  # a command acts from the beginning of a step
            for vehicle in self._vehicles:
                vehicle.write_command(self._step_began, always=has_states)
        if has_states:
            self._scene.write_poses(self._simulation, self._parts, self._last)
            for vehicle in self._vehicles:
                vehicle.write_state(self._last)
        self._frames.flush(self._last)

    def after_jump(self) -> None:
        """Continues after a reset or a restored snapshot. Later stamps follow the earlier ones."""
        self._jump()
        self._write()

    def _jump(self) -> None:
        self._offset += self._last + 1 - self._stamp(self._simulation.time)  # no stamp is used twice
        self._last += 1
        self._states.restart()
        self._step_began = None
        for vehicle in self._vehicles:
            vehicle.forget_readings()
        self._standing.forget()

    def _write_world(self) -> None:
        now = max(self._stamp(self._simulation.time), self._last)
        self._scene.write_world(self._model, now, **self._further_values())
        self._maps.write(self._model, now)

    def _further_values(self) -> dict[str, Any]:
        """Returns further values for the description of the world."""
        return {}

    def _stamp(self, time: float) -> int:
        return round(time * 1e9) + self._offset


class _Topics:
    """Topics of a file."""

    def __init__(self, file: McapFile) -> None:
        self._file = file
        self._topics: dict[str, Topic] = {}
        self._latest: dict[str, int] = {}  # time of the last message of each, ns
        self.error: OSError | None = None
        """the error that ended the file"""
        self.offer(CLOCK)

    def close(self) -> None:
        """Finishes the file and logs an error."""
        try:
            self._file.close()
        except OSError as error:
            self._fail(error)

    def _fail(self, error: OSError) -> None:
        if self.error is None:
            self.error = error
            notice([f"recording: '{error.filename}' ends here: {error.strerror}; what it has so far is kept"])

    def offer(self, topic: Topic) -> bool:
        """Accepts a topic, whose channel is made with its first message. If two topics have the same name, only the
        first is recorded."""
        if topic.name in self._topics:
            notice([f"recording: one topic '{topic.name}' is left out, since another has this name"])
            return False
        self._topics[topic.name] = topic
        return True

    def wants(self, topic: str) -> bool:
        """Returns True, because every topic is recorded."""
        return True

    def write(self, topic: str, message: Message, nanoseconds: int) -> None:
        """Appends a message. Stamps of a topic are unique: an equal stamp is moved by a nanosecond."""
        if self.error is not None:
            return
        try:
            nanoseconds = max(nanoseconds, self._latest.get(topic, -1) + 1)
            self._latest[topic] = nanoseconds
            kind, qos = message.__msgtype__, self._topics[topic].qos
            latched = {"offered_qos_profiles": _LATCHED_QOS.format(depth=qos.depth, forever=_FOREVER)}
            data = bytes(STORE.serialize_cdr(message, kind))
            self._file.write(topic, kind, data, nanoseconds, metadata=latched if qos.latched else {})
        except OSError as error:
            self._fail(error)


ACTIONS = "/mvsim_gym/actions"
"""Topic of actions: std_msgs/Float32MultiArray (agents, actions) in [-1, 1], of the step that ends at the stamp."""
REWARDS = "/mvsim_gym/rewards"
"""Topic of results: std_msgs/Float32MultiArray (agents, 3) of that step: reward, terminated, truncated."""
_STEP_TOPICS = tuple(Topic(name, "std_msgs/msg/Float32MultiArray") for name in (ACTIONS, REWARDS))


class EnvRecording(Recording):
    """Records an env each control period, until it is closed. `record` of environments makes it.

    It reads a copy of the env's world. So nothing in the env changes, and the sensor readings have noise of their own.

    Args:
        origin: origin of the environment, as values that JSON can express.
    """

    _SOURCE = Sampled

    def __init__(
        self, path: str | os.PathLike[str], batch: _core.Batch, env: int, origin: Mapping[str, Any]
    ) -> None:
        self._batch, self._env = batch, env
        self._moment: tuple[int, float] | None = None  # last time written: episode and s of it
        self._goal: npt.NDArray[np.float64] | None = None
        model, simulation = batch.model(env), _core.env_simulation(batch, env)
        vehicles: Mapping[str, Vehicle] = vehicles_of(model, simulation)
        super().__init__(path, model, simulation, vehicles, batch.control_period / 2, origin, _STEP_TOPICS)

    def after_step(self, actions: npt.NDArray[np.float32] | None = None) -> None:
        """Writes the state of the env if it is new.

        Args:
            actions: (rows, n) in [-1, 1], in the step that led to the state; None after a reset.
        """
        batch, env = self._batch, self._env
        if self.closed or not batch.started(env):
            return
        _core.copy_env(batch, env, self._simulation)
        moment = batch.episode(env), self._simulation.time
        if moment == self._moment:
            return
        before, self._moment = self._moment, moment
        if before is not None and (before[0] != moment[0] or moment[1] < before[1]):
            self._jump()
        else:
            self._last = self._stamp(moment[1])
        if batch.model(env) is not self._model:
            self._model = batch.model(env)
            self._write_world()
        if actions is not None:
            self._write_step(actions)
        self._write()
        goal = _core.env_goals(batch)[env]
        if np.isfinite(goal[0]) and (self._goal is None or not np.array_equal(goal, self._goal)):
            self._goal = goal
            self._scene.write_goal(goal, self._last)

    def _write_step(self, actions: npt.NDArray[np.float32]) -> None:
        """Writes the actions and results of the agents in the step. If the step ended an episode, the poses are those
        of the next one."""
        batch, agents = self._batch, self._batch.num_agents
        rows = slice(self._env * agents, (self._env + 1) * agents)
        given = np.reshape(np.asarray(actions, np.float32), (-1, batch.action_size))[rows]
        got = np.column_stack([batch.rewards[rows], batch.terminated[rows], batch.truncated[rows]])
        write = self._topics.write
        write(ACTIONS, Messages.table(given, ("agent", "action")), self._last)
        write(REWARDS, Messages.table(got.astype(np.float32), ("agent", "reward")), self._last)

    def _further_values(self) -> dict[str, Any]:
        radius = float(_core.env_goals(self._batch)[self._env, 2])
        more: dict[str, Any] = {"knobs": dict(self._batch.knobs(self._env))}
        return {**more, "goal_radius": radius} if np.isfinite(radius) else more
