"""Episodes replayed through messages of ROS 2: float32 ranges and angles, quaternions, stamps of their own."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from conftest import lasting
from deploy_replay import Moment, recorded
from test_deploy_parity import pipeline_of

from mvsim_gym.deploy import Pipeline
from mvsim_gym.deploy.driver import Driver
from mvsim_gym.deploy.wgs84 import enu_of
from mvsim_gym.registration import listing

pytest.importorskip("rosbags", reason="needs the extra ros")

from mvsim_gym.parts import Pose, Twist
from mvsim_gym.readings import GnssReading, ImuReading, Reading
from mvsim_gym.ros.messages import STORE, ImuNoise, Messages
from mvsim_gym.ros.robot_readings import RobotReadings

NAMES = {name: f"/{name}" for name in ("scan", "odom", "pose", "tf", "tf_static", "goal", "imu", "fix")}
NOISE = ImuNoise(0.0, 0.0, 0.0)


class Talker:
    """Gives the readings of a moment to a pipeline as messages of ROS 2. Readings without a message come directly."""

    def __init__(self, env_id: str) -> None:
        self.pipeline = pipeline_of(env_id)
        self.now = 0.0
        names = {name: f"/{name}" for name in (*NAMES, "image", "depth", "points")}
        driver = Driver.__new__(Driver)  # a driver of torques there is none
        driver.pipeline, driver.set_pose = self.pipeline, self._set_pose  # type: ignore[method-assign]
        driver.see = lambda points: None  # type: ignore[method-assign]
        self.readings = RobotReadings(driver, names, lambda: self.now, "pose", self.pipeline.goal)
        self._taking = {topic.name: (topic.kind, take) for topic, take in self.readings.topics()}

    def _set_pose(self, x: float, y: float, yaw: float, stamp: float) -> None:
        self.pipeline.pose(x, y, yaw, stamp)

    def send(self, name: str, message: object) -> None:
        kind, take = self._taking[f"/{name}"]
        take(bytes(STORE.serialize_cdr(message, kind)))

    def give(self, moment: Moment, *, is_first: bool) -> None:
        make, r = Messages(10**9 + round(1e9 * self.now)), moment.readings
        if is_first and "goal" in r:
            self.send("goal", make.place(*r["goal"], "map"))
        x, y, yaw = r["pose"]
        self.send("pose", make.pose_with_covariance(Pose(x, y, 0, yaw, 0, 0), "map"))
        x, y, yaw = r["odometry"]
        self.send("odom", make.truth(Pose(x, y, 0, yaw, 0, 0), Twist(*r["twist"]), "odom"))
        z, pitch, roll = r["attitude"]
        self.pipeline.attitude(pitch, roll, self.now, z=z)
        if len(r["wheel_steer"]) == 4:
            self.pipeline.steer(*r["wheel_steer"][2:4], self.now)
        for source in self.pipeline._core.sources:
            if source.needs == ["given"]:
                self.pipeline.value(source.key, moment.observation[source.key], self.now)
            elif source.sensor:
                self._sense(make, source.class_name, source.sensor, moment.raw[source.key])

    def _sense(self, make: Messages, kind: str, name: str, raw: Any) -> None:
        sensor = self.pipeline.sensors[name]
        if kind == "scan":
            reading = Reading(raw, raw < sensor.high, sensor.angles, self.now)
            self.send("scan", make.scan(reading, sensor.high, 0.1, "laser"))
        elif kind == "image":
            self.send("image", make.image(raw[..., ::-1], "bgr8", "eye"))
        elif kind == "depth":
            self.send("depth", make.image(raw, "32FC1", "eye"))
        elif kind == "range_image":
            view = sensor.views["range_image"]
            e, a = np.meshgrid(view["elevations"], view["azimuths"], indexing="ij")
            points = np.empty(raw.size, [("x", "<f4"), ("y", "<f4"), ("z", "<f4")])
            points["x"] = (raw * np.cos(e) * np.cos(a)).ravel()
            points["y"], points["z"] = (raw * np.cos(e) * np.sin(a)).ravel(), (raw * np.sin(e)).ravel()
            self.send("points", make.cloud(points[raw.ravel() > 0], "lidar"))
        elif kind == "imu":
            orientation = raw[6:] if len(raw) > 6 else None
            self.send("imu", make.imu(ImuReading(raw[:3], raw[3:6], orientation, self.now), NOISE, "imu"))
        elif kind == "gnss":
            place = geodetic_of(raw[:3], self.pipeline._core.reference) if raw[3] else None
            found = None if place is None else GnssReading(*place, raw[:3], np.zeros((3, 3)), self.now)
            self.send("fix", make.fix(found, "gnss"))


def geodetic_of(enu: Any, reference: Any) -> tuple[float, ...]:
    """The place on the earth whose metres east, north and up these are, by iteration."""
    place = np.array(reference[:3], float)
    scale = np.array([1 / 111_000, 1 / (111_000 * math.cos(math.radians(place[0]))), 1])
    for _ in range(50):
        east, north, up = np.array(enu, float) - enu_of(tuple(place), tuple(reference[:3]))
        place += scale * (north, east, up)
    return tuple(place)


def differing(env_id: str, seeds: range, steps: int) -> tuple[int, int]:
    """How many values of the observations there are, and how many differ by more than 1e-5 of their range. Those
    of scans below 0.02 m do not count: they are no readings in a LaserScan."""
    talker = Talker(env_id)
    pipeline = talker.pipeline
    bounds = {spec.key: 1e-5 * (spec.high.astype(float) - spec.low) for spec in pipeline.observation_specs}
    scans = {source.key for source in pipeline._core.sources if source.class_name == "scan"}
    count = apart = 0
    for seed in seeds:
        pipeline.begin()
        began = talker.now + 1.0
        for k, moment in enumerate(recorded(env_id, pipeline, seed, steps)):
            talker.now = began + k * pipeline.control_period
            talker.give(moment, is_first=k == 0)
            observation = pipeline.observe(talker.now)
            for key, most in bounds.items():
                difference = np.abs(observation[key].astype(float) - moment.observation[key])
                is_short = (moment.observation[key] < 0.02) & (key in scans)
                count, apart = count + difference.size, apart + int(((difference > most) & ~is_short).sum())
            if moment.action is not None:
                pipeline.command(moment.action)
    assert talker.readings.refused == 0
    return count, apart


@pytest.mark.parametrize("env_id", sorted(listing()))
def test_messages_change_an_observation_by_less_than_a_hundred_thousandth_of_its_range(env_id: str) -> None:
    count, apart = differing(env_id, range(3, 4), 30)
    assert count and apart == 0


@pytest.mark.slow
@pytest.mark.parametrize("env_id", sorted(listing()))
def test_messages_of_whole_episodes_change_hardly_anything(env_id: str) -> None:
    is_seen = {"image", "depth", "range_image"} & {
        source.class_name for source in pipeline_of(env_id)._core.sources
    }
    count, apart = differing(env_id, range(lasting(100, 2)), 30 if is_seen else 1000)
    assert count and apart == 0


def test_a_message_that_is_repeated_or_damaged_is_no_new_reading() -> None:
    pipeline = Pipeline("mvsim/NavArena-v0")
    driver = Driver(pipeline, lambda _: np.zeros(2, np.float32))
    now = [0.0]
    readings = RobotReadings(driver, NAMES, lambda: now[0], "odom", lambda x, y: None)
    kind, take = next((t.kind, take) for t, take in readings.topics() if t.name == "/odom")
    pose = Pose(0, 0, 0, 0, 0, 0)
    data = bytes(STORE.serialize_cdr(Messages(5 * 10**9).truth(pose, Twist(0, 0, 0), "odom"), kind))
    take(data)
    now[0] = 1.0
    take(data)
    assert pipeline.state(1.0)["velocity"].status == "old"
    take(b"\x00\x01\x00\x00damaged")
    assert readings.refused == 1
    # a clock that was set back by hours goes on from there
    take(bytes(STORE.serialize_cdr(Messages(10**6).truth(pose, Twist(0, 0, 0), "odom"), kind)))
    assert pipeline.state(1.0)["velocity"].status == "fresh"


def test_images_of_another_camera_are_rectified_by_its_camera_info() -> None:
    """A camera of twice the width and height sees the same: each pixel is that of the same ray."""
    pipeline = Pipeline("mvsim/DepthNavigation-v0")
    ((name, sensor),) = ((n, s) for n, s in pipeline.sensors.items() if "depth" in s.views)
    fx, fy, cx, cy = sensor.views["depth"]["intrinsics"]
    height, width = pipeline._core.image_size(pipeline._sensors[name], "depth")
    driver = Driver(pipeline, lambda _: np.zeros(2, np.float32))
    names = {**NAMES, "depth": "/eye/depth", "image": "/eye/image", "points": "/points"}
    readings = RobotReadings(driver, names, lambda: 0.0, "pose", lambda x, y: None)
    taking = {topic.name: (topic.kind, take) for topic, take in readings.topics()}
    given: list[tuple[float, ...] | None] = []
    pipeline.depth = lambda *_, intrinsics, **more: given.append(intrinsics)  # type: ignore[method-assign]

    def send(topic: str, message: object) -> None:
        kind, take = taking[topic]
        take(bytes(STORE.serialize_cdr(message, kind)))

    pixels = np.full((2 * height, 2 * width), 1.5, np.float32)
    send("/eye/depth", Messages(1).image(pixels, "32FC1", "eye"))
    k = np.array([[2 * fx, 0, 2 * cx], [0, 2 * fy, 2 * cy], [0, 0, 1]])
    info = Messages(2).camera_info(k, 2 * width, 2 * height, "eye")
    send("/eye/camera_info", info)
    send("/eye/depth", Messages(3).image(pixels, "32FC1", "eye"))
    assert given == [None, pytest.approx((2 * fx, 2 * fy, 2 * cx, 2 * cy))] and readings.refused == 0
    del pipeline.depth  # type: ignore[method-assign]
    send("/eye/depth", Messages(4).image(pixels, "32FC1", "eye"))
    assert readings.refused == 0 and pipeline.state(0.0)[name].status == "fresh"
    info.d, info.header.stamp.sec = np.array([0.1, 0, 0, 0, 0]), 1
    send("/eye/camera_info", info)
    assert readings.refused == 1
