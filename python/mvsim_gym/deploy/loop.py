"""A control loop of a robot without ROS."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from mvsim_gym.deploy.driver import Driver, Step
from mvsim_gym.deploy.limits import Limits
from mvsim_gym.deploy.pipeline import Pipeline
from mvsim_gym.deploy.watchdog import Watchdog

_GRACE = 0.05  # s after the period until the watchdog stops a loop that hangs


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
    watchdog = Watchdog(lambda: sent(0.0, 0.0), period + _GRACE)
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
