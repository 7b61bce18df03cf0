"""A fault of any kind while it drives: the robot stands within the distance that docs/deploy-robot.md states.

A node that simulates the robot and the node of `mvsim-gym drive` share a network and a clock of this process."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from conftest import ROOT, lasting

pytest.importorskip("rosbags", reason="needs the extra ros")

from ros_bus import Fault, Loop

from mvsim_gym.deploy.driver import GRACE
from mvsim_gym.deploy.limits import robot_names
from mvsim_gym.ros.commands import TIMEOUT
from mvsim_gym.ros.messages import STORE

NAV = "mvsim/NavArena-v0"
WORLD = ROOT / "worlds" / "nav_arena.world.xml"
PERIOD = 0.2  # s, of control
AGE = 2 * PERIOD  # s, largest of a reading
TF_AGE = 1.0  # s, largest of a transform
LINK = 0.03  # s from a command to its effect: the node's check for commands, and a step of the world
SCAN, ODOM, TF, COMMAND = "/lidar", "/odom", "/tf", "/cmd_vel"
KINDS = {SCAN: "sensor_msgs/msg/LaserScan", ODOM: "nav_msgs/msg/Odometry", TF: "tf2_msgs/msg/TFMessage"}
# how long the robot may go on at its speed, by fault: until a reading is too old, a period, and the grace
REACTIONS = {
    "scans stop": AGE + PERIOD,
    "the last scan is repeated": AGE + 2 * PERIOD,  # the first one is new
    "odometry stops": AGE + PERIOD,
    "the localization stops": TF_AGE + PERIOD,
    "the localization, stamped ahead, stops": TF_AGE + PERIOD,
    "all messages stop": AGE + PERIOD,
    "scans are NaN": 2 * PERIOD,
    "odometry is NaN": PERIOD + 0.02,
    "the odometry's clock jumps": PERIOD + 0.02,
    "all clocks go back": AGE + PERIOD,
    "the policy hangs": PERIOD + 2 * GRACE,
    "the policy raises": PERIOD,
    "the policy says NaN": PERIOD,
    "commands are lost": TIMEOUT,
}


def changed(topic: str, data: bytes, change: Any) -> bytes:
    message: Any = STORE.deserialize_cdr(data, KINDS[topic])
    change(message)
    return bytes(STORE.serialize_cdr(message, KINDS[topic]))


def dropping(*topics: str) -> Fault:
    return lambda topic, data: None if topic in topics else data


def shifting(seconds: float, *topics: str) -> Fault:
    """Stamps that are wrong by so many seconds."""

    def shift(message: Any) -> None:
        for each in getattr(message, "transforms", [message]):
            nanoseconds = each.header.stamp.sec * 10**9 + each.header.stamp.nanosec + round(seconds * 1e9)
            each.header.stamp.sec, each.header.stamp.nanosec = divmod(nanoseconds, 10**9)

    return lambda topic, data: changed(topic, data, shift) if topic in topics else data


def nan_scan(message: Any) -> None:
    message.ranges = np.full(len(message.ranges), np.nan, np.float32)


def nan_odometry(message: Any) -> None:
    message.pose.pose.position.x = message.twist.twist.linear.x = math.nan


class Trial:
    """A drive into the open, and a fault on the way."""

    def __init__(self, kind: str, seed: int) -> None:
        random = np.random.default_rng(seed)
        self._kind = kind
        self._at = 2.5 + random.uniform(0, PERIOD)  # s
        self._last: bytes | None = None
        heading = random.uniform(-0.3, 0.3)
        begin = (-2.6, -2.2 + random.uniform(0, 0.3), heading)
        self.fault_at: tuple[float, tuple[float, float]] | None = None  # speed and place
        self.speeds: list[float] = []  # since the fault, m/s
        self.way = 0.0  # since the fault, m
        self._place = (0.0, 0.0)
        self.loop = Loop(NAV, WORLD, self._act, begin, (2.6, -2.1), self._see)
        if kind == "the localization, stamped ahead, stops":
            self.loop.bus.fault = shifting(0.8, TF)  # as AMCL does from the start

    def run(self) -> None:
        self.loop.drive.run(self._at + 3.0)

    def _see(self, loop: Loop) -> None:
        """Begins the fault in time, and measures the way from there."""
        pose, twist = loop.vehicle.pose, loop.vehicle.twist
        if self.fault_at is None:
            if loop.now >= self._at:
                self.fault_at = abs(twist.vx), (pose.x, pose.y)
                self._place = (pose.x, pose.y)
                loop.bus.fault = self._fault()
            return
        self.way += math.dist(self._place, (pose.x, pose.y))
        self._place = (pose.x, pose.y)
        self.speeds.append(abs(twist.vx))

    def _fault(self) -> Fault:
        faults: Mapping[str, Fault] = {
            "scans stop": dropping(SCAN),
            "the last scan is repeated": self._repeated,
            "odometry stops": dropping(ODOM),
            "the localization stops": dropping(TF),
            "the localization, stamped ahead, stops": dropping(TF),
            "all messages stop": dropping(SCAN, ODOM, TF),
            "scans are NaN": lambda t, data: changed(t, data, nan_scan) if t == SCAN else data,
            "odometry is NaN": lambda t, data: changed(t, data, nan_odometry) if t == ODOM else data,
            "the odometry's clock jumps": shifting(60, ODOM),
            "all clocks go back": shifting(-0.9, SCAN, ODOM, TF),
            "commands are lost": dropping(COMMAND),
        }
        return faults.get(self._kind, lambda topic, data: data)

    def _repeated(self, topic: str, data: bytes) -> bytes:
        if topic != SCAN:
            return data
        self._last = self._last or data
        return self._last

    def _act(self, seen: Mapping[str, np.ndarray]) -> np.ndarray:
        """Turns to the goal and drives."""
        if self.fault_at is not None:
            if self._kind == "the policy hangs":
                self.loop.pass_time(1.5, real=True)
            elif self._kind == "the policy raises":
                raise RuntimeError("no network")
            elif self._kind == "the policy says NaN":
                return np.full(2, np.nan, np.float32)
        _, c, s = seen["goal"]
        return np.array([2 * c - 1, 1.5 * math.atan2(s, c) / math.pi], np.float32)


@pytest.mark.slow
@pytest.mark.parametrize("kind", REACTIONS)
def test_it_stands_within_the_stated_distance(kind: str) -> None:
    for seed in range(lasting(8, 1)):  # 112 trials of all kinds
        stands(kind, seed)


@pytest.mark.parametrize("kind", ["scans stop", "the localization stops", "the policy raises"])
def test_it_stands_after_these_faults(kind: str) -> None:
    stands(kind, 100)


def stands(kind: str, seed: int) -> None:
    trial = Trial(kind, seed)
    trial.run()
    assert trial.fault_at is not None
    speed, _ = trial.fault_at
    assert speed > 0.19, "it drives when the fault begins"
    assert min(trial.speeds) < 0.005, "it stands"
    # counted to the first moment at which it stands: after some faults it may go on
    first = next(k for k, each in enumerate(trial.speeds) if each < 0.005)
    way = sum(trial.speeds[: first + 1]) * trial.loop.world.timestep
    brake = robot_names("turtlebot3_burger").limits.brake
    stated = 0.22 * (REACTIONS[kind] + LINK) + 0.22**2 / (2 * brake)
    assert way <= stated, f"{kind}, seed {seed}: {way:.3f} m, stated are {stated:.3f} m"


def test_diagnostics_tell_that_it_drives_and_what_is_wrong() -> None:
    trial = Trial("scans stop", 3)
    kind = "diagnostic_msgs/msg/DiagnosticArray"
    heard: deque[bytes] = deque()
    trial.loop.bus.receivers["/diagnostics", kind] = [heard]
    trial.run()
    statuses = [STORE.deserialize_cdr(data, kind).status[0] for data in heard]  # type: ignore[attr-defined]
    levels = [status.level for status in statuses]
    assert 0 in levels and levels[-1] == 2 and len(levels) < 20
    driving = statuses[levels.index(0)]
    assert driving.name == "mvsim-gym drive" and driving.message == "drives"
    values = {pair.key: pair.value for pair in statuses[-1].values}
    assert "lidar is old" in statuses[-1].message and values["reading lidar"].startswith("old")
    assert values["goals reached"] == "0" and values["speed, m/s"] == "0.000"
