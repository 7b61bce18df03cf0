"""Services, parameters and diagnostics of a node that drives: start, stop, pause, limits and ages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from mvsim_gym.deploy.driver import Driver
from mvsim_gym.deploy.limits import Limits
from mvsim_gym.ros.messages import STORE, Message, Messages
from mvsim_gym.ros.robot_readings import RobotReadings
from mvsim_gym.ros.services import Handler, Parameter, Service
from mvsim_gym.ros.topics import Qos, Topic

_TRIGGER, _SET_BOOL = "std_srvs/srv/Trigger", "std_srvs/srv/SetBool"
_LIMITS = {
    "speed": "largest speed forward, m/s",
    "reverse": "largest speed backward, m/s",
    "turn": "largest turn rate, rad/s",
    "acceleration": "largest acceleration, m/s2; braking is never limited",
    "turn_acceleration": "largest turn acceleration, rad/s2",
    "brake": "guaranteed deceleration, m/s2",
    "reaction": "delay before the robot brakes, s",
    "margin": "distance around the footprint, m",
}


class LifeCycle:
    """Whether a driver drives, has paused or has stopped, and the services that change it.

    Args:
        driver: is paused, stopped and started.
        begin: sets the first goal after a start.
        halt: sends the command to stand at once.
    """

    def __init__(self, driver: Driver, begin: Callable[[], None], halt: Callable[[], None]) -> None:
        self._driver, self._begin, self._halt = driver, begin, halt

    def services(self, node: str) -> Iterator[tuple[Service, Handler]]:
        """Yields the services of a node, by its full name, and what answers each."""
        yield Service(f"{node}/start", _TRIGGER), lambda request: _told(self._start())
        yield Service(f"{node}/stop", _TRIGGER), lambda request: _told(self._stop())
        yield (
            Service(f"{node}/pause", _SET_BOOL),
            lambda request: _told(self._pause() if request.data else self._go_on()),
        )

    def _start(self) -> tuple[bool, str]:
        if not self._driver.is_stopped:
            return self._go_on() if self._driver.is_paused else (False, "it was started already")
        self._driver.start()
        self._begin()
        return True, "started" if self._driver.goal else "started, waits for a goal"

    def _stop(self) -> tuple[bool, str]:
        if self._driver.is_stopped:
            return False, "it was stopped already"
        self._driver.stop()
        self._halt()
        return True, "stopped"

    def _pause(self) -> tuple[bool, str]:
        if self._driver.is_stopped:
            return False, "it has stopped: call start"
        self._driver.pause()
        self._halt()
        return True, "paused"

    def _go_on(self) -> tuple[bool, str]:
        if self._driver.is_stopped:
            return False, "it has stopped: call start"
        if not self._driver.is_paused:
            return False, "it had not paused"
        self._driver.go_on()
        return True, "goes on"


def _told(result: tuple[bool, str]) -> Mapping[str, Any]:
    return {"success": result[0], "message": result[1]}


def drive_parameters(
    driver: Driver, readings: RobotReadings, facts: Mapping[str, bool | float | str]
) -> dict[str, Parameter]:
    """Returns the parameters of a node that drives, by name.

    Args:
        facts: values that cannot be changed.
    """
    found = {
        "rate": Parameter(
            "control periods a second, of the environment, Hz", lambda: 1 / driver.pipeline.control_period
        )
    }
    for name, about in _LIMITS.items():
        put = partial(_set_limit, driver, name)
        found[f"max_{name}"] = Parameter(about, partial(_limit, driver, name), put)
    found["box"] = Parameter(
        "whether to brake for obstacles in the scan",
        lambda: driver.limits.box,
        partial(_set_limit, driver, "box"),
    )
    found["max_tf_age"] = Parameter(
        "longest time that the newest transform holds, s", lambda: readings.tf_limit, readings.set_tf_limit
    )
    ages = driver.pipeline.max_ages
    for source in ages:
        found[f"max_age.{source}"] = Parameter(
            "longest age of a reading, s",
            partial(_age, driver, source),
            partial(driver.pipeline.set_max_age, source),
        )
    for name, value in facts.items():
        found[name] = Parameter("an option of the start", partial(_same, value))
    return found


def _age(driver: Driver, source: str) -> float:
    return float(driver.pipeline.max_ages[source])


def _same(value: bool | float | str) -> bool | float | str:
    return value


def _limit(driver: Driver, name: str) -> float:
    return float(getattr(driver.limits, name))


def _set_limit(driver: Driver, name: str, value: float | bool) -> None:
    fields: dict[str, Any] = {**driver.limits._asdict(), name: value}
    driver.limits = Limits(**fields).checked()


DIAGNOSTICS = Topic("/diagnostics", "diagnostic_msgs/msg/DiagnosticArray", Qos(10))
OK, WARN, ERROR = 0, 1, 2
"""Levels of diagnostic_msgs/DiagnosticStatus."""


def diagnostics(
    nanoseconds: int, name: str, level: int, message: str, values: Mapping[str, object]
) -> Message:
    """Returns a diagnostic_msgs/DiagnosticArray with one status.

    Args:
        nanoseconds: its stamp.
        name: of the node.
        message: one line for people.
        values: further facts by name.
    """

    def made(kind: str, **fields: Any) -> Any:
        return STORE.types[f"diagnostic_msgs/msg/{kind}"](**fields)

    pairs = [made("KeyValue", key=key, value=str(value)) for key, value in values.items()]
    status = made("DiagnosticStatus", level=level, name=name, message=message, hardware_id="", values=pairs)
    return made("DiagnosticArray", header=Messages(nanoseconds).header(""), status=[status])
