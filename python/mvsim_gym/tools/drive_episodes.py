"""Episodes of recordings of drives (`mvsim-gym drive --record`), by the pipeline that drove, and such a recording given
to a policy again (`mvsim-gym drive --replay`)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mvsim_gym._notices import extra, notice
from mvsim_gym.deploy import PolicyFile, load_policy
from mvsim_gym.deploy.driver import Driver
from mvsim_gym.deploy.freshness import StaleReadingError
from mvsim_gym.deploy.pipeline import Pipeline
from mvsim_gym.recording.mcap_reading import Damaged, open_mcap, pieces_of, record_at
from mvsim_gym.ros.drive_node import SETTINGS, STATUS
from mvsim_gym.ros.messages import STORE
from mvsim_gym.ros.robot_readings import RobotReadings

with extra("a recording", "record"):
    from mcap.records import Channel

Array = npt.NDArray[Any]
_ANY_AGE = 1e9  # s: the drive checked ages itself
_ARRIVED = "arrived"
_AFTER_OBSERVATION = ("failure", "observation")  # reasons for a stop


class DriveEpisode(NamedTuple):
    """A stretch of a drive in which the policy drove without a stop to one goal."""

    observations: dict[str, Array]
    """(n + 1, *shape) by key"""
    actions: Array
    """of the policy, (n, size)"""
    arrived: bool
    limited: int
    """number of steps whose command a limit changed"""
    begins: bool
    """False: it goes on after a stop, and a recurrent policy has kept its state"""
    before: tuple[dict[str, Array], ...]
    """observations that the policy got since the begin, or since the episode before, and that are in none"""


class _Entry(NamedTuple):
    topic: str
    kind: str
    time: int
    data: bytes


class DriveLog:
    """A recording of a drive.

    Args:
        path: an MCAP file of `mvsim-gym drive --record`, which may end early.
        dry: takes dry runs too, whose commands the robot did not get.

    Raises:
        OSError: the file cannot be read.
        ValueError: it is no recording of a drive, or one of a dry run.
    """

    def __init__(self, path: str, *, dry: bool = False) -> None:
        self._path = path
        self.settings: dict[str, Any] = {}
        """options of the drive: names of topics, localization, env, keywords, agent"""
        self._periods: list[dict[str, Any]] = []
        for entry in self._entries(say=True):
            if entry.topic == SETTINGS.name and not self.settings:
                self.settings = self._json(entry)
            elif entry.topic == STATUS.name:
                self._periods.append(self._json(entry))
        missing = [key for key in ("names", "localization", "keywords", "agent") if key not in self.settings]
        if missing or not all("action" in period for period in self._periods):
            raise ValueError(f"'{path}' is no recording of `mvsim-gym drive --record`")
        if self.settings.get("dry") and not dry:
            raise ValueError(f"'{path}': found a dry run, expected a drive whose commands were sent")

    def episodes(self, env: str, keywords: Mapping[str, Any]) -> Iterator[DriveEpisode]:
        """Yields the episodes in order, with the observations that the policy had.

        An episode ends at its goal, or where the robot was stopped or got another goal. In the latter case its last
        step is left out, because its result was not observed.

        Args:
            env: the environment of the policy, an id or a file.
            keywords: of the environment.
        """
        yield from _Replay(self, env, keywords).episodes(self._entries(say=False), self._periods)

    def _entries(self, *, say: bool) -> Iterator[_Entry]:
        """Yields the messages in the order of the file, up to a damaged place."""
        topics: dict[int, tuple[str, str]] = {}
        kinds: dict[int, str] = {}
        with open_mcap(self._path) as file:
            try:
                for piece in pieces_of(file):
                    for record in piece.records:
                        if isinstance(record, tuple):
                            channel, time, place = record
                            if channel in topics:
                                yield _Entry(*topics[channel], time, record_at(piece.data, place).data)
                        elif isinstance(record, Channel):
                            topics[record.id] = record.topic, kinds.get(record.schema_id, "")
                        else:
                            kinds[record.id] = record.name
            except Damaged as error:
                if say:
                    notice([f"'{self._path}' ends early: {error}"])

    def _json(self, entry: _Entry) -> dict[str, Any]:
        try:
            message: Any = STORE.deserialize_cdr(entry.data, entry.kind)
            found = json.loads(message.data)
            if isinstance(found, dict):
                return found
        except Exception as error:  # decoding arbitrary bytes may raise anything
            raise ValueError(f"'{self._path}': a message of {entry.topic} is no JSON ({error!r})") from None
        raise ValueError(f"'{self._path}': a message of {entry.topic} is no JSON object")


class _Replay:
    """Gives the recorded messages to a pipeline, period by period."""

    def __init__(self, log: DriveLog, env: str, keywords: Mapping[str, Any]) -> None:
        settings = log.settings
        agent = int(settings["agent"])
        sources = Pipeline(env, agent=agent, **keywords).sources
        ages = {name: {"max_age": _ANY_AGE} for name in sources if name != "goal"}
        self._pipeline = Pipeline(env, agent=agent, sensors=ages, **keywords)
        self._driver = Driver(self._pipeline, lambda observation: np.zeros(0))
        self._now = 0.0
        self._readings = RobotReadings(
            self._driver,
            settings["names"],
            lambda: self._now,
            settings["localization"],
            self._take_goal,
            frame=settings.get("frame", "map"),
            tf_limit=float(settings.get("tf_limit", _ANY_AGE)),  # earlier recordings had no limit
        )
        self._receive = {topic.name: receive for topic, receive in self._readings.topics()}
        self._goal: tuple[float, float] | None = None
        self._episode: int | None = None
        self._steer = 0.0  # rad, last command
        self._observations: list[dict[str, Array]] = []
        self._actions: list[Array] = []
        self._limits = self._limited = 0  # changed commands: of the drive so far, of the episode
        self._done: list[DriveEpisode] = []
        self._begins, self._before = True, list[dict[str, Array]]()

    def episodes(self, entries: Iterator[_Entry], periods: list[dict[str, Any]]) -> Iterator[DriveEpisode]:
        """Yields the episodes of the messages; `periods` are the contents of the statuses among them."""
        number = 0
        if periods:
            self._follow(periods[0])
        for entry in entries:
            self._now = entry.time * 1e-9
            if entry.topic == STATUS.name:
                self._take_period(periods[number])
                number += 1
                if number < len(periods):
                    self._follow(periods[number])
            elif entry.topic == SETTINGS.name:
                self._take_settings(entry)
            elif entry.topic in self._receive:
                self._receive[entry.topic](entry.data)
            yield from self._done
            self._done.clear()
        self._end(arrived=False)
        yield from self._done

    def _take_goal(self, x: float, y: float) -> None:
        self._end(arrived=False)
        self._begins, self._before = True, []
        self._goal = (x, y)
        self._driver.set_goal(x, y)

    def _take_settings(self, entry: _Entry) -> None:
        """Takes a limit that was changed during the drive."""
        message: Any = STORE.deserialize_cdr(entry.data, entry.kind)
        limit = json.loads(message.data).get("tf_limit")
        if limit is not None:
            self._readings.set_tf_limit(float(limit))

    def _follow(self, following: Mapping[str, Any]) -> None:
        """Sets the goal of the next period, which the drive set right after this one, or begins a new episode with the
        same one, as the drive did after a pause."""
        goal = following["goal"]
        episode = following.get("episode")  # earlier recordings do not count episodes
        is_new, self._episode = episode != self._episode, episode
        if goal is not None and (tuple(goal) != self._goal or is_new):
            self._take_goal(float(goal[0]), float(goal[1]))
        elif is_new:
            self._end(arrived=False)
            self._begins, self._before = True, []
            self._pipeline.begin()

    def _take_period(self, period: Mapping[str, Any]) -> None:
        limits = sum(period["limited"].values())
        changed, self._limits = limits > self._limits, limits
        if "steer" in self._pipeline.sources:  # of the command before, as in the drive
            self._pipeline.steer(self._steer, self._steer, self._now)
        self._steer = float(period["turn"])
        if period["reason"]:
            self._end(arrived=period["reason"] == _ARRIVED)
            self._observe_of_stop(period)
            return
        action = np.asarray(period["action"], np.float32)
        try:
            self._observations.append(self._pipeline.observe(self._now))
        except StaleReadingError:  # a message before it is in a damaged place
            self._end(arrived=False)
            return
        self._pipeline.command(action)  # for the observation of the last action
        self._actions.append(action)
        self._limited += changed

    def _observe_of_stop(self, period: Mapping[str, Any]) -> None:
        """Advances histories, and sets the last action, where the drive stopped after its observation."""
        if period["action"] is None and period["reason"].split(":")[0] not in _AFTER_OBSERVATION:
            return
        with suppress(StaleReadingError):
            self._pipeline.observe(self._now)
            if period["action"] is not None:
                self._pipeline.command(np.asarray(period["action"], np.float32))

    def _end(self, *, arrived: bool) -> None:
        if arrived:
            self._goal = None
            if self._actions:
                try:
                    self._observations.append(self._pipeline.observe(self._now))
                except StaleReadingError:
                    arrived = False
        count = len(self._observations) - 1
        if count > 0:
            keys = self._observations[0]
            seen = {key: np.stack([each[key] for each in self._observations]) for key in keys}
            actions = np.stack(self._actions[:count])
            before = tuple(self._before)
            self._done.append(DriveEpisode(seen, actions, arrived, self._limited, self._begins, before))
            self._begins, self._before = False, []
        if self._observations and not arrived:
            self._before.append(self._observations[-1])
        self._observations, self._actions, self._limited = [], [], 0


class Replayed(NamedTuple):
    """The commands of one policy beside those of a recorded drive."""

    names: list[str]
    """of the parts of a command"""
    recorded: npt.NDArray[np.float64]
    """(n, size) commands that the recorded policy gave, before limits; m/s, rad/s, rad"""
    replayed: npt.NDArray[np.float64]
    """(n, size) commands that this policy gives for the same readings"""

    @property
    def differences(self) -> npt.NDArray[np.float64]:
        """(n, size), absolute"""
        return np.abs(self.replayed - self.recorded)


def replay_drive(
    policy: str, path: str, *, settings: Mapping[str, Any], say: Callable[[str], None] = print
) -> Replayed:
    """Gives the recorded messages of a drive to the pipeline of a policy, and the observations to the policy.

    Each period has the readings, the goal and the last action of the recording, so differences do not add up. A dry run
    is replayed too. Periods in which the robot was stopped have no command and are left out.

    Args:
        policy: a folder of `mvsim-gym export`.
        path: an MCAP file of `mvsim-gym drive --record`.
        settings: keywords of the environment, which override those of the policy.
        say: receives a line for each episode and one for all.

    Raises:
        OSError: a file cannot be read.
        ValueError: no recording of a drive, no period in which the policy drove, or a recording of another kind of
            action.
    """
    loaded = load_policy(policy)
    keywords = {**loaded.keywords, **settings}
    pipeline = Pipeline(loaded.env, agent=loaded.contract.agent, **keywords)
    names, units = pipeline.command_names, pipeline.command_units
    log = DriveLog(path, dry=True)
    parts: list[tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]] = []
    for number, episode in enumerate(log.episodes(loaded.env, keywords)):
        if episode.actions.shape[1] != len(pipeline.action_names):
            raise ValueError(
                f"'{path}': found actions of {episode.actions.shape[1]} numbers, expected those of the policy:"
                f" {', '.join(pipeline.action_names)}"
            )
        both = tuple(_commands(pipeline, actions) for actions in (episode.actions, _acted(loaded, episode)))
        parts.append((both[0], both[1]))
        end = "at its goal" if episode.arrived else "stopped"
        say(
            f"episode {number + 1}: {len(both[0])} periods, {end}, {_told(Replayed(names, *parts[-1]), units)}"
        )
    if not parts:
        raise ValueError(f"'{path}': found no period in which the policy drove")
    found = Replayed(
        names, np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])
    )
    say(f"all: {len(found.recorded)} periods, {_told(found, units)}")
    return found


def _acted(policy: PolicyFile, episode: DriveEpisode) -> npt.NDArray[Any]:
    """Returns the actions of a policy in an episode. A recurrent one gets all that it got in the drive, in turn."""
    count = len(episode.actions)
    if not policy.is_recurrent:
        return policy({key: values[:count] for key, values in episode.observations.items()})
    if episode.begins:
        policy.begin()
    for seen in episode.before:
        policy(seen)
    return np.stack(
        [policy({key: each[k] for key, each in episode.observations.items()}) for k in range(count)]
    )


def _commands(pipeline: Pipeline, actions: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    return np.array([list(pipeline.command(action).values()) for action in actions], np.float64)


def _told(found: Replayed, units: list[str]) -> str:
    rows = zip(found.names, units, found.differences.max(axis=0), found.differences.mean(axis=0), strict=True)
    return "differences: " + ", ".join(
        f"{name} at most {most:.2g} {unit}, mean {mean:.2g} {unit}" for name, unit, most, mean in rows
    )
