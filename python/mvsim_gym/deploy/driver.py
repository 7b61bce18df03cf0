"""One control period of a robot: observe, infer, and send a command or stop with a reason. A control loop without ROS,
and a thread that stops the robot if a loop hangs."""

from __future__ import annotations

import math
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mvsim_gym.deploy.freshness import StaleReadingError
from mvsim_gym.deploy.limits import LimitedCommands, Limits
from mvsim_gym.deploy.pipeline import Pipeline

GRACE = 0.05
"""Time beyond a control period after which the robot of a blocked loop is stopped; s."""
_PATIENCE = 1.0  # s that the end of a watchdog waits for a call of `stop` that blocks
Policy = Callable[[Mapping[str, npt.NDArray[Any]]], npt.ArrayLike]


class Step(NamedTuple):
    """The result of a control period."""

    time: float
    """time of the caller's clock, s"""
    observation: dict[str, npt.NDArray[Any]] | None
    """None if there was none"""
    action: npt.NDArray[np.float32] | None
    speed: float
    """commanded speed, m/s"""
    turn: float
    """commanded turn rate, rad/s; for a car the steering angle, rad"""
    stop: str
    """reason why the robot is commanded to stand; "" while it drives"""
    limited: tuple[str, ...]
    """names of the limits that changed the command"""


class Driver:
    """Decides on commands. It neither sends nor waits. Call `step` once every control period.

    Args:
        pipeline: takes the readings.
        policy: function from an observation to an action in [-1, 1]. If it has a method `begin`, as `PolicyFile` has,
            that is called at the begin of each episode. A stop in between keeps the state of a recurrent policy.
        limits: limits of the commands.
        late: periods that may pass between two steps before it counts as an overrun.
        footprint: (n, 2) m; by default the outline of the environment's vehicle.
    """

    def __init__(
        self,
        pipeline: Pipeline,
        policy: Policy,
        limits: Limits = Limits(),  # noqa: B008 (it never changes)
        *,
        late: float = 2.0,
        footprint: npt.ArrayLike | None = None,
    ) -> None:
        names = pipeline.command_names
        if names[:1] != ["vx"] or len(names) != 2:
            raise ValueError(
                f"found an environment whose robot is commanded by {', '.join(names)}, expected a speed with a turn"
                " rate or a steering angle"
            )
        self.pipeline, self._policy = pipeline, policy
        self._limited = LimitedCommands(limits, pipeline.vehicle.outline if footprint is None else footprint)
        self._late = late * pipeline.control_period
        self._last: float | None = None
        self._pose: tuple[float, float] | None = None
        self._goal: tuple[float, float] | None = None
        self._points: npt.NDArray[Any] | None = None
        self.is_paused = False
        """whether it stands and keeps its goal; see `pause`"""
        self.is_stopped = False
        """whether it stands without a goal; see `stop`"""
        self.episode = 0
        """number of times that an episode has begun"""
        self.stops: Counter[str] = Counter()
        """number of stops by reason, the first word of the stop text"""

    @property
    def steers(self) -> bool:
        """Whether the second number of its commands is a steering angle."""
        return self.pipeline.command_names[1] == "steer"

    @property
    def interventions(self) -> Counter[str]:
        """Number of changed commands by limit."""
        return self._limited.interventions

    @property
    def limits(self) -> Limits:
        """The limits of the commands, which may be set at any time. ValueError for an invalid value."""
        return self._limited.limits

    @limits.setter
    def limits(self, limits: Limits) -> None:
        self._limited.limits = limits

    @property
    def goal(self) -> tuple[float, float] | None:
        """The goal, x and y in m; None without a goal."""
        return self._goal

    def set_goal(self, x: float, y: float) -> None:
        """Starts an episode with this goal (m, in the frame of `set_pose`)."""
        self.begin()
        self.pipeline.goal(x, y)
        self._goal = (x, y)

    def pause(self) -> None:
        """Makes it stand and keep its goal, until `go_on`."""
        self.is_paused = True

    def go_on(self) -> None:
        """Ends a pause. A new episode with the same goal begins, since histories end with the pause."""
        self.is_paused = False
        self.begin()

    def stop(self) -> None:
        """Makes it stand and drops its goal, until `start`."""
        self.is_stopped, self.is_paused, self._goal = True, False, None

    def start(self) -> None:
        """Ends a stop. A new episode begins."""
        self.is_stopped = False
        self.begin()

    def begin(self) -> None:
        """Begins an episode: histories, and the state of a recurrent policy, begin anew."""
        self.pipeline.begin()
        begin = getattr(self._policy, "begin", None)
        if begin is not None:
            begin()
        self._last = None
        self.episode += 1

    def set_pose(self, x: float, y: float, yaw: float, stamp: float) -> None:
        """Does the same as `Pipeline.pose`."""
        self.pipeline.pose(x, y, yaw, stamp)
        self._pose = (x, y)

    def see(self, points: npt.NDArray[Any]) -> None:
        """Takes the points of the latest scan, (n, 2) m in the robot's frame, for the braking box."""
        self._points = points

    def step(self, now: float) -> Step:
        """Returns the command of this period. It never raises; an error results in a stop."""
        late = self._last is not None and now - self._last > self._late
        period = self.pipeline.control_period if self._last is None else max(now - self._last, 0.0)
        self._last = now
        if self.is_stopped:
            return self._stop(now, "stopped")
        if self.is_paused:
            return self._stop(now, "paused")
        if self.pipeline.has_goal and self._goal is None:
            return self._stop(now, "idle: no goal")
        if self._has_arrived():
            self._goal = None
            return self._stop(now, "arrived")
        if late:
            return self._stop(now, f"overrun: more than {self._late:.3g} s since the last period")
        return self._driven(now, period)

    def _driven(self, now: float, period: float) -> Step:
        observation = None
        try:
            observation = self.pipeline.observe(now)
            if not all(np.isfinite(value).all() for value in observation.values()):
                return self._stop(now, "observation: a value is not finite", observation)
            action = np.asarray(self._policy(observation), np.float32)
            command = list(self.pipeline.command(action).values())
            speed, turn, by = self._limited.limited(command[0], command[1], period, self._points)
        except StaleReadingError as error:
            return self._stop(now, f"readings: {error}", observation)
        except Exception as error:  # an error of the policy must stop the robot
            return self._stop(now, f"failure: {type(error).__name__}: {error}", observation)
        return Step(now, observation, action, speed, turn, "", by)

    def _has_arrived(self) -> bool:
        if self._goal is None or self._pose is None or not self.pipeline.has_goal:
            return False
        return math.dist(self._goal, self._pose) < self.pipeline.goal_radius

    def _stop(self, now: float, why: str, observation: dict[str, Any] | None = None) -> Step:
        self._limited.stopped()
        self.stops[why.split(":")[0]] += 1
        return Step(now, observation, None, 0.0, 0.0, why, ())


class Watchdog:
    """Calls `stop` repeatedly from its own thread while `fed` has not been called for `limit` seconds.

    Args:
        stop: sends the command to stand. It must be safe to call while another thread sends.
        limit: s of the clock.
        every: time between two calls, s.
        clock: a steady clock, s.
    """

    def __init__(
        self,
        stop: Callable[[], None],
        limit: float,
        every: float = 0.02,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stop, self._limit, self._every, self._clock = stop, limit, every, clock
        self._fed = clock()
        self._ended = threading.Event()
        self.barks = 0
        """number of times that the loop was late"""
        self._thread = threading.Thread(target=self._run, name="mvsim-gym watchdog", daemon=True)
        self._thread.start()

    def fed(self) -> None:
        """Tells that the loop runs."""
        self._fed = self._clock()

    @property
    def is_late(self) -> bool:
        """Whether the loop is late, so that the robot has to stop."""
        return self._clock() - self._fed > self._limit

    def close(self) -> None:
        """Ends the thread, and waits a second at most for a `stop` that blocks. A second call does nothing."""
        self._ended.set()
        self._thread.join(_PATIENCE)

    def _run(self) -> None:
        was_late = False
        while not self._ended.wait(self._every):
            late = self.is_late
            if late:
                with suppress(Exception):  # the thread must live on; the loop itself meets a lasting error
                    self._stop()
                self.barks += not was_late
            was_late = late


def loop(
    pipeline: Pipeline,
    policy: Callable[[Any], Any],
    read: Callable[[Driver, float], None],
    send: Callable[[float, float], None],
    *,
    goal: tuple[float, float] | None = None,
    limits: Limits = Limits(),  # noqa: B008 (it never changes)
    duration: float | None = None,
) -> Iterator[Step]:
    """Drives at the environment's rate, on the steady clock. Yields the result of each period.

        for step in loop(pipeline, policy, read, send, goal=(2, 1)):
            print(step.speed, step.turn, step.stop)

    At the end of the loop (by the caller, an exception, or Ctrl-C) a zero command is sent first. If `read` or the
    policy hangs, a thread sends one 50 ms after the period.

    Args:
        read: called before each observation with the driver and the time (`time.monotonic`). It passes readings to
            `driver.pipeline`, poses to `driver.set_pose` and points to `driver.see`.
        send: sends speed (m/s) and turn rate (rad/s; for a car the steering angle, rad). Two threads call it, one at a
            time.
        goal: m, in the frame of the poses.
        duration: s; None: until the caller ends the loop.
    """
    driver = Driver(pipeline, policy, limits)
    if goal is None:
        driver.begin()
    else:
        driver.set_goal(*goal)
    lock = threading.Lock()

    def sent(speed: float, turn: float) -> None:
        with lock:
            send(speed, turn)

    period = pipeline.control_period
    watchdog = Watchdog(lambda: sent(0.0, 0.0), period + GRACE)
    began = due = time.monotonic()
    try:
        while duration is None or time.monotonic() - began < duration:
            now = time.monotonic()
            read(driver, now)
            step = driver.step(now)
            if watchdog.is_late:  # The inferred command is too old to be sent.
                step = step._replace(
                    speed=0.0, turn=0.0, stop=step.stop or "overrun: the period took too long"
                )
            sent(step.speed, step.turn)
            watchdog.fed()
            yield step
            due = max(due + period, time.monotonic() - period)
            time.sleep(max(0.0, due - time.monotonic()))
    finally:
        watchdog.close()
        sent(0.0, 0.0)
