"""Services and parameters of `mvsim-gym drive`: start, stop and pause, limits and ages."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from conftest import ROOT

pytest.importorskip("rosbags", reason="needs the extra ros")

from ros_bus import Loop

from mvsim_gym.ros.messages import STORE, Messages
from mvsim_gym.ros.services import Service, _value_of

TRIGGER, SET_BOOL = "std_srvs/srv/Trigger", "std_srvs/srv/SetBool"
BEGIN, GOAL = (-2.6, -2.2, 0.0), (2.6, -2.1)
Do = Callable[["Drive"], None]


def forward(seen: Any) -> np.ndarray:
    return np.array([1.0, 0.0], np.float32)


class Drive:
    """A drive in this process, and what is asked of it by time."""

    def __init__(self, does: dict[float, Do], **options: Any) -> None:
        self._does = sorted(does.items())
        self.speeds: list[tuple[float, float]] = []  # time and speed of the robot
        self.loop = Loop(
            "mvsim/NavArena-v0",
            ROOT / "worlds" / "nav_arena.world.xml",
            forward,
            BEGIN,
            GOAL,
            self._each,
            **options,
        )
        self.driver = self.loop.driver

    def _each(self, loop: Loop) -> None:
        self.speeds.append((loop.now, loop.vehicle.twist.vx))
        while self._does and loop.now >= self._does[0][0]:
            self._does.pop(0)[1](self)

    def ask(self, name: str, kind: str, **fields: Any) -> None:
        service = Service(f"/drive/{name}", kind)
        request = STORE.types[service.request](**fields)
        self.loop.bus.requests[service.name].append(bytes(STORE.serialize_cdr(request, service.request)))

    def told(self, name: str, kind: str) -> list[Any]:
        found = self.loop.bus.replies.get(f"/drive/{name}", [])
        return [STORE.deserialize_cdr(data, Service("", kind).reply) for data in found if data is not None]

    def speed_at(self, time: float) -> float:
        return min(self.speeds, key=lambda each: abs(each[0] - time))[1]


def trigger(name: str) -> Do:
    return lambda drive: drive.ask(name, TRIGGER)


def pause(whether: bool) -> Do:
    return lambda drive: drive.ask("pause", SET_BOOL, data=whether)


def test_a_pause_keeps_the_goal_and_a_stop_drops_it() -> None:
    goals: dict[str, Any] = {}

    def note(name: str) -> Do:
        return lambda drive: goals.update({name: drive.driver.goal})

    drive = Drive(
        {
            2.0: pause(True),
            3.0: note("paused"),
            3.1: pause(False),
            5.0: trigger("stop"),
            6.0: note("stopped"),
            6.1: trigger("start"),
            7.5: note("started"),
        }
    )
    drive.loop.drive.run(8.0)
    moving = [drive.speed_at(time) > 0.15 for time in (2.0, 3.0, 5.0, 6.0, 8.0)]
    assert moving == [True, False, True, False, True]
    assert drive.speed_at(2.15) < 0.1, "it stands before the control period ends"
    assert goals == {"paused": GOAL, "stopped": None, "started": GOAL}
    assert [each.message for each in drive.told("pause", SET_BOOL)] == ["paused", "goes on"]
    assert [each.message for each in drive.told("stop", TRIGGER)] == ["stopped"]
    (started,) = drive.told("start", TRIGGER)
    assert started.success and started.message == "started"
    assert drive.driver.stops["paused"] >= 4 and drive.driver.stops["stopped"] >= 4


def test_calls_out_of_order_are_refused() -> None:
    drive = Drive(
        {
            0.5: trigger("start"),
            0.6: pause(False),
            0.7: trigger("stop"),
            0.8: trigger("stop"),
            0.9: pause(True),
            1.0: pause(False),
        }
    )
    drive.loop.drive.run(1.5)
    assert [(each.success, each.message) for each in drive.told("start", TRIGGER)] == [
        (False, "it was started already")
    ]
    assert [(each.success, each.message) for each in drive.told("stop", TRIGGER)] == [
        (True, "stopped"),
        (False, "it was stopped already"),
    ]
    assert [(each.success, each.message) for each in drive.told("pause", SET_BOOL)] == [
        (False, "it had not paused"),
        (False, "it has stopped: call start"),
        (False, "it has stopped: call start"),
    ]


def test_one_that_begins_stopped_takes_no_goal_and_waits_for_the_start(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def send_goal(drive: Drive) -> None:
        message = Messages(1).place(*GOAL, "map")
        kind = "geometry_msgs/msg/PoseStamped"
        for waiting in drive.loop.bus.receivers["/goal_pose", kind]:
            waiting.append(bytes(STORE.serialize_cdr(message, kind)))

    drive = Drive({1.0: send_goal, 2.0: trigger("start")}, stopped=True)
    drive.loop.drive.run(3.5)
    assert "it has stopped: call its service start" in caplog.text
    assert drive.speed_at(2.0) == pytest.approx(0, abs=1e-3) and drive.speed_at(3.5) > 0.15
    assert drive.driver.stops["stopped"] >= 9


def test_a_request_of_other_bytes_gets_a_notice_and_no_reply(caplog: pytest.LogCaptureFixture) -> None:
    def send_junk(drive: Drive) -> None:
        drive.loop.bus.requests["/drive/pause"].append(b"\0\1\0\0")

    drive = Drive({0.3: send_junk})
    drive.loop.drive.run(0.8)
    assert "a request of '/drive/pause' has no effect" in caplog.text
    assert drive.loop.bus.replies["/drive/pause"] == [None]


SERVICES = {
    "list_parameters": "ListParameters",
    "get_parameters": "GetParameters",
    "get_parameter_types": "GetParameterTypes",
    "describe_parameters": "DescribeParameters",
    "set_parameters": "SetParameters",
    "set_parameters_atomically": "SetParametersAtomically",
}


class Asked:
    """The parameters of a drive that does not run."""

    def __init__(self) -> None:
        self.drive = Drive({})

    def ask(self, name: str, **fields: Any) -> Any:
        kind = f"rcl_interfaces/srv/{SERVICES[name]}"
        self.drive.ask(name, kind, **fields)
        self.drive.loop.drive._transport.work()
        return self.drive.told(name, kind)[-1]

    def get(self, *names: str) -> list[Any]:
        fields = [None, "bool_value", "integer_value", "double_value", "string_value"]
        values = self.ask("get_parameters", names=list(names)).values
        return [None if value.type == 0 else getattr(value, str(fields[value.type])) for value in values]

    def set(self, name: str = "set_parameters", **values: Any) -> list[Any]:
        made = STORE.types["rcl_interfaces/msg/Parameter"]
        wanted = [made(name=key.replace("__", "."), value=_value_of(value)) for key, value in values.items()]
        reply = self.ask(name, parameters=wanted)
        return list(reply.results) if name == "set_parameters" else [reply.result]


def test_parameters_are_listed_and_described() -> None:
    asked = Asked()
    names = asked.ask("list_parameters", prefixes=[], depth=0).result.names
    assert {"rate", "max_speed", "box", "max_tf_age", "max_age.lidar", "max_age.pose", "frame"} <= set(names)
    assert "max_age.goal" not in names
    below = asked.ask("list_parameters", prefixes=["max_age"], depth=1).result
    assert set(below.names) == {name for name in names if name.startswith("max_age.")}
    assert below.prefixes == ["max_age"]
    assert "max_age.lidar" not in asked.ask("list_parameters", prefixes=[], depth=1).result.names
    assert asked.get("rate", "max_speed", "box", "max_tf_age", "max_age.lidar", "frame", "none") == [
        pytest.approx(5.0),
        0.22,
        True,
        1.0,
        pytest.approx(0.4),
        "map",
        None,
    ]
    types = asked.ask("get_parameter_types", names=["box", "rate", "frame", "none"]).types
    assert list(types) == [1, 3, 4, 0]
    rate, speed = asked.ask("describe_parameters", names=["rate", "max_speed"]).descriptors
    assert rate.read_only and not speed.read_only and "m/s" in speed.description


def test_parameters_are_set_or_refused_with_a_reason() -> None:
    asked = Asked()
    results = asked.set(max_speed=0.1, box=False, max_age__lidar=1.5, max_tf_age=2, max_turn=1.0)
    assert all(each.successful for each in results), [each.reason for each in results]
    limits = asked.drive.driver.limits
    assert (limits.speed, limits.box, limits.turn) == (0.1, False, 1.0)
    assert asked.drive.driver.pipeline.max_ages["lidar"] == 1.5
    assert asked.get("max_speed", "max_tf_age", "max_age.lidar") == [0.1, 2.0, 1.5]
    for name, value, reason in (
        ("max_speed", -1.0, "found -1.0, expected a number above 0"),
        ("max_speed", math.nan, "found nan"),
        ("max_speed", "fast", "found a value of type str, expected float"),
        ("box", 1, "found a value of type int, expected bool"),
        ("max_age__lidar", 0.0, "expected seconds above 0"),
        ("max_tf_age", -1.0, "expected seconds of at least 0"),
        ("rate", 10.0, "it cannot be changed"),
        ("max_sped", 1.0, "found the parameter 'max_sped', expected one of rate, max_speed"),
    ):
        (result,) = asked.set(**{name: value})
        assert not result.successful and reason in result.reason, (name, result.reason)
    assert asked.get("max_speed", "max_tf_age", "max_age.lidar", "box") == [0.1, 2.0, 1.5, False]
    (result,) = asked.set("set_parameters_atomically", max_speed=0.15, max_turn=-1.0)
    assert not result.successful and asked.get("max_speed") == [0.1], "all or none"
    (result,) = asked.set("set_parameters_atomically", max_speed=0.15, max_turn=2.0)
    assert result.successful and asked.get("max_speed", "max_turn") == [0.15, 2.0]


def test_a_lower_limit_slows_the_robot_while_it_drives() -> None:
    def slow(drive: Drive) -> None:
        wanted = STORE.types["rcl_interfaces/msg/Parameter"](name="max_speed", value=_value_of(0.1))
        drive.ask("set_parameters", "rcl_interfaces/srv/SetParameters", parameters=[wanted])

    drive = Drive({2.0: slow})
    drive.loop.drive.run(3.5)
    assert drive.speed_at(2.0) > 0.19 and drive.speed_at(3.5) == pytest.approx(0.1, abs=0.01)
