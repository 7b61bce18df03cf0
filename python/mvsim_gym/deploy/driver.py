"""One control period of a robot: observe, infer, command, or stop and say why."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mvsim_gym.deploy.freshness import StaleReadingError
from mvsim_gym.deploy.limits import LimitedCommands, Limits
from mvsim_gym.deploy.pipeline import Pipeline

__all__ = ["Driver", "Step"]

Policy = Callable[[Mapping[str, npt.NDArray[Any]]], npt.ArrayLike]


class Step(NamedTuple):
    """What was done in a control period."""

    time: float
    """s of the caller's clock"""
    observation: dict[str, npt.NDArray[Any]] | None
    """None where there was none"""
    action: npt.NDArray[np.float32] | None
    speed: float
    """m/s that was commanded"""
    turn: float
    """rad/s, or of a car rad of steering"""
    stop: str
    """why the robot is told to stand; "" while it drives"""
    limited: tuple[str, ...]
    """which limits changed the command"""


class Driver:
    """Decides on commands. It sends none and waits for nothing: `step` is called once every control period.

    Args:
        pipeline: takes the readings.
        policy: from an observation to an action in [-1, 1].
        limits: of commands.
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
        self.stops: Counter[str] = Counter()
        """by their first word, how often the robot was told to stand"""

    @property
    def steers(self) -> bool:
        """The second number of its commands is a steering angle."""
        return self.pipeline.command_names[1] == "steer"

    @property
    def interventions(self) -> Counter[str]:
        """By limit, how often a command was changed."""
        return self._limited.interventions

    @property
    def goal(self) -> tuple[float, float] | None:
        """Where it goes; None: nowhere."""
        return self._goal

    def set_goal(self, x: float, y: float) -> None:
        """Begins anew, to that place (m, in the frame of `set_pose`)."""
        self.pipeline.begin()
        self.pipeline.goal(x, y)
        self._goal, self._last = (x, y), None

    def set_pose(self, x: float, y: float, yaw: float, stamp: float) -> None:
        """As of `Pipeline.pose`."""
        self.pipeline.pose(x, y, yaw, stamp)
        self._pose = (x, y)

    def see(self, points: npt.NDArray[Any]) -> None:
        """(n, 2) m in the robot's frame: what the latest scan hit, for the box ahead."""
        self._points = points

    def step(self, now: float) -> Step:
        """The command of this period. It never raises: whatever goes wrong is a stop."""
        late = self._last is not None and now - self._last > self._late
        period = self.pipeline.control_period if self._last is None else max(now - self._last, 0.0)
        self._last = now
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
        except Exception as error:  # a robot stands, whatever the policy does
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
