"""Episodes replayed through messages of ROS 2: float32 ranges and angles, quaternions, stamps of their own."""

from __future__ import annotations

import numpy as np
import pytest
from deploy_replay import recorded

from mvsim_gym.deploy import Pipeline
from mvsim_gym.deploy.driver import Driver

pytest.importorskip("rosbags", reason="needs the extra ros")

from mvsim_gym.parts import Pose, Twist
from mvsim_gym.readings import Reading
from mvsim_gym.ros.messages import STORE, Messages
from mvsim_gym.ros.robot_readings import RobotReadings

NAMES = {name: f"/{name}" for name in ("scan", "odom", "pose", "tf", "tf_static", "goal", "imu", "fix")}


@pytest.mark.parametrize("env_id", ["mvsim/NavArena-v0", "mvsim/NavMap-v0"])
def test_messages_change_an_observation_by_less_than_a_hundred_thousandth_of_its_range(env_id: str) -> None:
    pipeline = Pipeline(env_id)
    driver = Driver(pipeline, lambda _: np.zeros(2, np.float32))
    now, goals = [0.0], []
    readings = RobotReadings(driver, NAMES, lambda: now[0], "pose", lambda x, y: goals.append((x, y)))
    taking = {topic.name: (topic.kind, take) for topic, take in readings.topics()}

    def send(name: str, message: object) -> None:
        kind, take = taking[name]
        take(bytes(STORE.serialize_cdr(message, kind)))

    (lidar,) = pipeline.sensors.values()
    for k, moment in enumerate(recorded(env_id, pipeline, 3, 30)):
        now[0] = k * pipeline.control_period
        make, r = Messages(10**9 + round(1e9 * now[0])), moment.readings
        if k == 0:
            send("/goal", make.place(*r["goal"], "map"))
            pipeline.goal(*goals[0])
        place = Pose(*r["pose"][:2], 0, r["pose"][2], 0, 0)
        send("/pose", make.pose_with_covariance(place, "map"))
        send("/odom", make.truth(place, Twist(*r["twist"]), "odom"))
        raw = moment.raw["scan"]
        hit = raw < lidar.high
        send("/scan", make.scan(Reading(raw, hit, lidar.angles, now[0]), lidar.high, 0.1, "laser"))
        observation = pipeline.observe(now[0])
        for spec in pipeline.observation_specs:
            most = 1e-5 * (spec.high - spec.low)
            assert (np.abs(observation[spec.key] - moment.observation[spec.key]) <= most).all(), (spec.key, k)
        if moment.action is not None:
            pipeline.command(moment.action)
    assert readings.refused == 0 and k == 30


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
