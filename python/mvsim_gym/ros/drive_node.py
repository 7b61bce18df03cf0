"""A node that drives a robot over ROS 2 by a policy, and stops it in the end."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from mvsim_gym._notices import notice
from mvsim_gym.deploy.driver import GRACE, Driver, Step, Watchdog
from mvsim_gym.ros.drive_services import (
    DIAGNOSTICS,
    ERROR,
    OK,
    WARN,
    LifeCycle,
    diagnostics,
    drive_parameters,
)
from mvsim_gym.ros.messages import STORE, Messages
from mvsim_gym.ros.robot_readings import RobotReadings
from mvsim_gym.ros.services import ParameterServer, answering
from mvsim_gym.ros.topics import ACKERMANN_COMMAND, COMMAND, STAMPED_COMMAND, Qos, Topic
from mvsim_gym.ros.transport import NodeName, Publisher, Transport

NODE = "drive"
"""The name of the node, which begins the names of its own topics, services and parameters."""
_STATUS_EVERY = 0.2  # s
_DIAGNOSTICS_EVERY = 1.0  # s
_WAITING = ("idle", "arrived", "paused", "stopped")  # reasons for a stop that are no fault
_WORK_EVERY = 0.002  # s between checks for messages
_LAST_STOPS = 5  # zero commands at the end

STATUS = Topic("/drive/status", "std_msgs/msg/String", Qos(10, latched=True))
SETTINGS = Topic("/drive/settings", "std_msgs/msg/String", Qos(1, latched=True))
"""Recorded first, and not published: the options of the drive."""
_OBSERVATION = Topic("/drive/observation", "std_msgs/msg/Float32MultiArray", Qos(10))
COMMANDS = {
    "twist": COMMAND,
    "stamped": STAMPED_COMMAND,
    "ackermann": ACKERMANN_COMMAND,
}

Record = Callable[[str, str, bytes, int], None]
"""Takes the topic, the type, an encoded message and its time, ns."""


class DriveOptions(NamedTuple):
    """Options of a `DriveNode`."""

    names: dict[str, str]
    """names of topics, as in `RobotReadings`, and `cmd`"""
    kind: str = "twist"
    """message of commands: twist, stamped or ackermann"""
    localization: str = "tf"
    frame: str = "map"
    """frame of goals and poses"""
    tf_limit: float = 1.0
    """largest age of a transform, s"""
    dry: bool = False
    """True: commands are reported, but not sent"""
    goals: tuple[tuple[float, float], ...] = ()
    """goals, which are driven to one after another"""
    namespace: str = ""
    """of the node, e.g. `/fleet`"""
    stopped: bool = False
    """True: it stands until the service `start` is called"""
    about: Mapping[str, Any] = MappingProxyType({})
    """further facts for the recording: environment, keywords, agent"""


class DriveNode:
    """Drives at the control rate of the environment. `run` returns after `end`, or when all goals are reached. Each way
    to end, also an error, stops the robot. Its services `start`, `stop` and `pause` work in between, and its parameters
    are limits and ages.

    Args:
        driver: decides on commands.
        transport: the connection to the network; the node closes it.
        options: names of topics, kind of commands, goals.
        record: receives every message that was received or sent.
        say: receives lines for the user.
        clock: a steady clock, s.
        sleep: waits for so many s of the clock.
    """

    def __init__(
        self,
        driver: Driver,
        transport: Transport,
        options: DriveOptions,
        *,
        record: Record | None = None,
        say: Callable[[str], None] = print,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        if options.kind == "ackermann" and not driver.steers:
            raise ValueError(
                "--kind: found 'ackermann', but the policy commands a turn rate, expected twist or stamped"
            )
        if options.kind != "ackermann" and driver.steers:
            raise ValueError(f"--kind: found '{options.kind}', but the policy steers, expected ackermann")
        self._driver, self._transport, self._options = driver, transport, options
        self._record, self._say = record, say
        self._clock, self._sleep = clock, sleep
        self._lock = threading.Lock()
        self._ended = False
        self._steer = 0.0  # rad, last command
        self._goals: list[tuple[float, float]] = []
        self.reached = 0
        """Number of goals that were reached."""
        self._period = driver.pipeline.control_period
        self._status_at = self._diagnosed_at = -float("inf")
        self._reason: str | None = None
        try:
            self._readings = RobotReadings(
                driver,
                options.names,
                clock,
                options.localization,
                self._take_goal,
                frame=options.frame,
                tf_limit=options.tf_limit,
            )
            for topic, receive in self._readings.topics():
                transport.subscribe(topic, self._recorded(topic, receive))
            self._command = COMMANDS[options.kind]._replace(name=options.names["cmd"])
            self._out: Publisher | None = None if options.dry else transport.publisher(self._command)
            self._status = transport.publisher(self._own(STATUS))
            self._seen = transport.publisher(self._own(_OBSERVATION))
            self._diagnostics = self._publisher_of_diagnostics()
            self._serve()
        except BaseException:
            transport.close()
            raise
        self._record_settings()
        if options.stopped:
            driver.stop()
        else:
            self._begin_goals()

    def _own(self, topic: Topic) -> Topic:
        return topic._replace(name=f"{self._options.namespace}{topic.name}")

    def _serve(self) -> None:
        """Offers the services. Those whose types the ROS installation lacks are left out with a notice."""
        name = NodeName(NODE, self._options.namespace).full
        life = LifeCycle(self._driver, self._begin_goals, self._stop_robot)
        facts: dict[str, bool | float | str] = {
            "frame": self._options.frame,
            "localization": self._options.localization,
            "dry": self._options.dry,
            "use_sim_time": False,
            **{key: value for key, value in self._options.about.items() if isinstance(value, str)},
        }
        known = drive_parameters(self._driver, self._readings, facts)
        parameters = ParameterServer(known, self._record_settings)
        for service, handle in (*life.services(name), *parameters.services(name)):
            try:
                self._transport.serve(service, answering(service, handle))
            except ImportError as error:
                notice([f"drive: the service '{service.name}' is left out: {error}"])

    def _begin_goals(self) -> None:
        """Sets the first of the given goals, if there are any."""
        self._goals, self.reached = list(self._options.goals), 0
        if self._goals:
            self._driver.set_goal(*self._goals.pop(0))

    def _record_settings(self) -> None:
        options = self._options
        settings = {
            "names": options.names,
            "localization": options.localization,
            "frame": options.frame,
            "tf_limit": self._readings.tf_limit,
            "dry": options.dry,
            **options.about,
        }
        self._record_text(SETTINGS, settings, time.time_ns())

    def _record_text(self, topic: Topic, content: Mapping[str, Any], nanoseconds: int) -> None:
        if self._record is not None:
            data = bytes(STORE.serialize_cdr(Messages.value("String", json.dumps(content)), topic.kind))
            self._record(topic.name, topic.kind, data, nanoseconds)

    def _publisher_of_diagnostics(self) -> Publisher | None:
        """Returns None with a notice if the ROS installation lacks the message."""
        try:
            return self._transport.publisher(DIAGNOSTICS)
        except ImportError as error:
            notice([f"drive: the topic '{DIAGNOSTICS.name}' is left out: {error}"])
            return None

    def _take_goal(self, x: float, y: float) -> None:
        if self._driver.is_stopped:
            raise ValueError("it has stopped: call its service start")
        self._driver.set_goal(x, y)

    def _recorded(self, topic: Topic, receive: Callable[[bytes], None]) -> Callable[[bytes], None]:
        if self._record is None:
            return receive
        record = self._record

        def record_and_receive(data: bytes) -> None:
            record(topic.name, topic.kind, data, time.time_ns())
            receive(data)

        return record_and_receive

    def end(self) -> None:
        """Makes `run` return. Any thread or signal handler may call it, so it takes no lock: a second signal could come
        while the handler of the first one holds it."""
        self._ended = True

    @property
    def driver(self) -> Driver:
        return self._driver

    def run(self, duration: float | None = None) -> None:
        """Drives until `end` is called, `duration` seconds have passed, or the last goal is reached."""
        watchdog = Watchdog(self._stop_robot, self._period + GRACE, clock=self._clock)
        began = due = self._clock()
        try:
            while not self._ended and (duration is None or self._clock() - began < duration):
                self._transport.work()
                now = self._clock()
                if now < due:
                    self._sleep(min(_WORK_EVERY, due - now))
                    continue
                # no message tells the steering angle: it is that of the last command
                if "steer" in self._driver.pipeline.sources:
                    self._driver.pipeline.steer(self._steer, self._steer, now)
                step = self._driver.step(now)
                if watchdog.is_late:
                    step = step._replace(
                        speed=0.0, turn=0.0, stop=step.stop or "overrun: the period took too long"
                    )
                self._send(step.speed, step.turn)
                self._steer = step.turn
                watchdog.fed()
                self._report(step, now)
                if step.stop == "arrived" and not self._next_goal():
                    break
                due = max(due + self._period, self._clock() - self._period)
        finally:
            watchdog.close()
            for _ in range(_LAST_STOPS):
                with suppress(Exception):  # e.g. of a recording on a full disk; the next stop must be sent
                    self._stop_robot()
                self._sleep(0.01)

    def close(self) -> None:
        """Leaves the network."""
        self._transport.close()

    def _next_goal(self) -> bool:
        """Sets the next goal. Returns False if the last of the given goals was reached."""
        self.reached += 1
        if self._goals:
            self._driver.set_goal(*self._goals.pop(0))
            return True
        return not self._options.goals

    def _stop_robot(self) -> None:
        self._send(0.0, 0.0)

    def _send(self, speed: float, turn: float) -> None:
        now = time.time_ns()
        make = Messages(now)
        message: Any
        if self._options.kind == "ackermann":
            message = make.drive(speed, turn)
        elif self._options.kind == "stamped":
            message = make.stamped_twist(speed, turn)
        else:
            message = make.twist(speed, turn)
        data = bytes(STORE.serialize_cdr(message, self._command.kind))
        if self._out is not None:
            with self._lock:  # not while it records, which a disk may delay
                self._out.publish(data)
        if self._record is not None:
            self._record(self._command.name, self._command.kind, data, now)

    def _report(self, step: Step, now: float) -> None:
        """Publishes the status when it changes and every 0.2 s, and each observation that has a subscriber. A recording
        has the status and the action of every period."""
        changed = step.stop != self._reason
        if changed:
            self._say(f"stop: {step.stop}" if step.stop else "drives")
            self._reason = step.stop
        if self._record is not None:
            action = None if step.action is None else step.action.tolist()
            self._record_text(STATUS, {**self._status_of(step, now), "action": action}, time.time_ns())
        if changed or now - self._status_at >= _STATUS_EVERY:
            self._status_at = now
            self._publish(
                self._status, STATUS, Messages.value("String", json.dumps(self._status_of(step, now)))
            )
        if self._diagnostics is not None and (changed or now - self._diagnosed_at >= _DIAGNOSTICS_EVERY):
            self._diagnosed_at = now
            self._publish(self._diagnostics, DIAGNOSTICS, self._diagnosis(step, now))
        if step.observation is not None and self._seen.has_listeners:
            flat = np.concatenate([v.ravel() for v in step.observation.values()]).astype(np.float32)
            self._publish(self._seen, _OBSERVATION, Messages.table(flat, ["observation"]))

    def _diagnosis(self, step: Step, now: float) -> Any:
        """OK: it drives, or waits for a goal. WARN: a limit changes its command. ERROR: something is wrong, so it
        stands."""
        if step.stop:
            level = OK if step.stop.split(":")[0] in _WAITING else ERROR
            told = step.stop
        else:
            level, told = (WARN, f"limited: {', '.join(step.limited)}") if step.limited else (OK, "drives")
        status = self._status_of(step, now)
        readings = {
            f"reading {name}": f"{found[0]}, {found[1]} s" for name, found in status["readings"].items()
        }
        counts = {
            **{f"stops: {name}": count for name, count in status["stops"].items()},
            **{f"limited: {name}": count for name, count in status["limited"].items()},
            "messages refused": self._readings.refused,
            "goals reached": self.reached,
        }
        speeds = {"speed, m/s": f"{step.speed:.3f}", "turn, rad/s or rad": f"{step.turn:.3f}"}
        facts = {**readings, **speeds, **counts}
        return diagnostics(time.time_ns(), "mvsim-gym drive", level, told, facts)

    def _status_of(self, step: Step, now: float) -> dict[str, Any]:
        return {
            "state": "stop" if step.stop else "drive",
            "reason": step.stop,
            "dry": self._options.dry,
            "speed": step.speed,
            "turn": step.turn,
            "goal": self._driver.goal,
            "episode": self._driver.episode,
            "reached": self.reached,
            "limited": dict(self._driver.interventions),
            "stops": dict(self._driver.stops),
            "readings": {
                name: [state.status, round(min(state.age, 1e9), 3)]
                for name, state in self._driver.pipeline.state(now).items()
            },
        }

    def _publish(self, publisher: Publisher, topic: Topic, message: Any) -> None:
        publisher.publish(bytes(STORE.serialize_cdr(message, topic.kind)))
