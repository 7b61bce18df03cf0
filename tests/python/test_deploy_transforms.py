"""Transforms of `/tf`: interpolated between stamps, never beyond a limit, and the pose and the goal that follow."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rosbags", reason="needs the extra ros")

from mvsim_gym.deploy import Pipeline
from mvsim_gym.deploy.driver import Driver
from mvsim_gym.parts import Pose, Twist
from mvsim_gym.ros.messages import STORE, Messages
from mvsim_gym.ros.robot_readings import RobotReadings
from mvsim_gym.ros.transforms import Pose2, TransformBuffer, TransformError, composed, inverted

S = 10**9
NAMES = {name: f"/{name}" for name in ("scan", "odom", "pose", "tf", "tf_static", "goal", "imu", "fix")}


def matrix(pose: Pose2) -> np.ndarray:
    c, s = math.cos(pose[2]), math.sin(pose[2])
    return np.array([[c, -s, pose[0]], [s, c, pose[1]], [0, 0, 1]])


def test_poses_compose_like_matrices() -> None:
    random = np.random.default_rng(3)
    for _ in range(20):
        a, b = (tuple(random.uniform(-4, 4, 3)) for _ in range(2))
        np.testing.assert_allclose(matrix(composed(a, b)), matrix(a) @ matrix(b), atol=1e-12)
        np.testing.assert_allclose(matrix(inverted(a)), np.linalg.inv(matrix(a)), atol=1e-12)


def test_between_two_stamps_it_is_linear_and_turns_on_the_shorter_arc() -> None:
    buffer = TransformBuffer()
    before, after = (
        (1.0, 2.0, math.radians(170)),
        (3.0, -2.0, math.radians(-160)),
    )  # 30 degrees apart, over 180
    buffer.add("map", "odom", before, 5 * S, 0.0)
    buffer.add("map", "odom", after, 7 * S, 0.0)
    for share in (0.0, 0.25, 0.5, 0.9, 1.0):
        x, y, yaw = buffer.pose("map", "odom", 5 * S + round(share * 2 * S), 0.0)
        assert (x, y) == pytest.approx((1 + 2 * share, 2 - 4 * share))
        assert math.remainder(yaw - math.radians(170 + 30 * share), math.tau) == pytest.approx(0, abs=1e-12)
    # late messages find their place
    buffer.add("map", "odom", (0.0, 0.0, 0.0), 6 * S, 0.0)
    assert buffer.pose("map", "odom", 6 * S + S // 2, 0.0)[:2] == pytest.approx((1.5, -1.0))


def test_a_chain_is_the_product_of_its_edges_in_both_directions() -> None:
    buffer = TransformBuffer()
    a, b = (1.0, 2.0, 0.5), (-0.5, 0.3, -1.0)
    laser, camera = (0.1, 0.0, 0.2), (0.0, 0.2, 0.0)
    buffer.add("map", "odom", a, S, 0.0)
    buffer.add("odom", "base_link", (0.0, 0.0, 0.0), S, 0.0)
    buffer.add("/odom", "/base_link", b, 2 * S, 0.0)
    buffer.add("base_link", "laser", laser, 0, 0.0, static=True)
    buffer.add("base_link", "camera", camera, 0, 0.0, static=True)
    middle = (b[0] / 2, b[1] / 2, b[2] / 2)  # of odom to base_link, at 1.5 s
    for frame, child, expected in (
        ("map", "base_link", matrix(a) @ matrix(middle)),
        ("base_link", "map", np.linalg.inv(matrix(a) @ matrix(middle))),
        ("map", "laser", matrix(a) @ matrix(middle) @ matrix(laser)),
        ("laser", "camera", np.linalg.inv(matrix(laser)) @ matrix(camera)),
        ("odom", "odom", np.eye(3)),
    ):
        found = buffer.pose(frame, child, 3 * S // 2, 0.0)
        np.testing.assert_allclose(matrix(found), expected, atol=1e-12)
    with pytest.raises(TransformError, match="no transform from 'map' to 'wheel' has come"):
        buffer.pose("map", "wheel", S, 0.0)


def test_it_holds_for_its_limit_and_refuses_what_is_older_or_later() -> None:
    buffer = TransformBuffer(0.5)
    buffer.add("map", "odom", (0.0, 0.0, 0.0), 10 * S, 100.0)
    buffer.add("map", "odom", (1.0, 0.0, 0.0), 11 * S, 101.0)
    assert buffer.pose("map", "odom", 11 * S + S // 2, 0.0) == (1.0, 0.0, 0.0)  # held, not extrapolated
    with pytest.raises(TransformError, match=r"from 'map' to 'odom' is 0\.501 s old, limit 0\.5 s"):
        buffer.pose("map", "odom", 11 * S + 501 * 10**6, 0.0)
    with pytest.raises(TransformError, match=r"begin 0\.250 s later"):
        buffer.pose("map", "odom", 10 * S - S // 4, 0.0)
    # without a stamp the time of arrival counts
    assert buffer.pose("map", "odom", None, 101.5) == (1.0, 0.0, 0.0)
    with pytest.raises(TransformError, match=r"2\.000 s old"):
        buffer.pose("map", "odom", None, 103.0)
    # ten seconds are kept
    buffer.add("map", "odom", (2.0, 0.0, 0.0), 22 * S, 112.0)
    with pytest.raises(TransformError, match="later"):
        buffer.pose("map", "odom", 11 * S, 0.0)
    # a clock that was set back begins anew
    buffer.add("map", "odom", (3.0, 0.0, 0.0), 4 * S, 113.0)
    assert buffer.pose("map", "odom", 4 * S, 0.0) == (3.0, 0.0, 0.0)


def test_a_stamp_ahead_makes_no_transform_last_longer() -> None:
    """AMCL stamps ahead. After its end the limit counts from the arrival of the last transform."""
    buffer = TransformBuffer(0.5)
    buffer.add("map", "odom", (0.0, 0.0, 0.0), 10 * S, 100.0)
    buffer.add("map", "odom", (1.0, 0.0, 0.0), 15 * S, 100.1)
    assert buffer.pose("map", "odom", 12 * S + S // 2, 100.6)[0] == pytest.approx(0.5)
    for stamp in (12 * S, 15 * S, 15 * S + S // 4):
        with pytest.raises(TransformError, match=r"from 'map' to 'odom' is 0\.600 s old, limit 0\.5 s"):
            buffer.pose("map", "odom", stamp, 100.7)
    buffer.add("map", "laser", (0.1, 0.0, 0.0), 0, 0.0, static=True)
    assert buffer.pose("map", "laser", 15 * S, 1e6) == (0.1, 0.0, 0.0)


def test_what_is_no_transform_is_refused() -> None:
    buffer = TransformBuffer()
    for frame, child, pose in (
        ("", "odom", (0.0, 0.0, 0.0)),
        ("map", "map", (0.0, 0.0, 0.0)),
        ("map", "odom", (math.nan, 0.0, 0.0)),
    ):
        with pytest.raises(ValueError, match=r"found a transform|not finite"):
            buffer.add(frame, child, pose, 0, 0.0)
    buffer.add("a", "b", (0.0, 0.0, 0.0), S, 0.0)
    buffer.add("b", "a", (0.0, 0.0, 0.0), S, 0.0)
    with pytest.raises(TransformError, match="loop"):
        buffer.pose("a", "b", S, 0.0)
    for limit in (-1.0, math.nan):
        with pytest.raises(ValueError, match="limit of transforms"):
            TransformBuffer(limit)
    for k in range(2000):
        try:
            buffer.add("map", f"frame{k}", (0.0, 0.0, 0.0), 0, 0.0)
        except ValueError as error:
            assert "more than 1000 frames" in str(error) and k < 1000
            break
    else:
        pytest.fail("any number of frames is taken")


class Heard:
    """A robot's messages in this process, by TF, and the poses and goals that follow."""

    def __init__(self) -> None:
        self.pipeline = Pipeline("mvsim/NavArena-v0")
        self.poses: list[tuple[float, ...]] = []
        self.goals: list[tuple[float, float]] = []
        self.now = 0.0
        driver = Driver(self.pipeline, lambda _: np.zeros(2, np.float32))
        driver.set_pose = lambda *pose: self.poses.append(pose[:3])  # type: ignore[method-assign]
        readings = RobotReadings(
            driver, NAMES, lambda: self.now, "tf", lambda x, y: self.goals.append((x, y)), tf_limit=0.5
        )
        self._taking = {topic.name: (topic.kind, take) for topic, take in readings.topics()}

    def send(self, name: str, message: Any) -> None:
        kind, take = self._taking[name]
        take(bytes(STORE.serialize_cdr(message, kind)))

    def send_odometry(self, stamp: float, pose: Pose2) -> None:
        make = Messages(round(stamp * S))
        self.send("/odom", make.truth(Pose(pose[0], pose[1], 0, pose[2], 0, 0), Twist(0, 0, 0), "odom"))

    def send_transform(self, stamp: float, frame: str, child: str, pose: Pose2) -> None:
        edge = frame, child, Pose(pose[0], pose[1], 0, pose[2], 0, 0)
        self.send("/tf", Messages(round(stamp * S)).transforms([edge]))


def test_the_pose_is_the_odometry_in_the_map_at_its_own_stamp() -> None:
    heard = Heard()
    assert next(iter(heard._taking)) == "/tf", "transforms of a time come before the odometry that needs them"
    heard.send_odometry(1.0, (1.0, 0.0, 0.0))
    assert not heard.poses
    assert "no transform from 'map' to 'odom'" in heard.pipeline.state(0.0)["pose"].note
    heard.send_transform(1.0, "map", "odom", (1.0, 1.0, 0.0))
    heard.send_transform(2.0, "map", "odom", (2.0, 1.0, math.pi / 2))
    heard.send_odometry(1.5, (1.0, 0.0, 0.1))
    turn = math.pi / 4
    expected = 1.5 + math.cos(turn), 1.0 + math.sin(turn), turn + 0.1
    assert heard.poses[-1] == pytest.approx(expected, abs=1e-9)
    # the localization ends: it holds for the limit, and then there is no pose
    heard.send_odometry(2.4, (1.0, 0.0, 0.0))
    assert heard.poses[-1] == pytest.approx((2.0, 2.0, math.pi / 2), abs=1e-9) and len(heard.poses) == 2
    heard.send_odometry(2.6, (1.0, 0.0, 0.0))
    state = heard.pipeline.state(0.0)["pose"]
    assert len(heard.poses) == 2 and state.status == "impossible" and "limit 0.5 s" in state.note


def test_a_goal_of_another_frame_is_transformed_or_refused() -> None:
    heard = Heard()
    heard.send("/goal", Messages(S).place(2.0, 1.0, "map"))
    heard.send("/goal", Messages(S).place(2.0, 1.0, "odom"))  # there is no transform yet
    heard.send_transform(1.0, "map", "odom", (1.0, 0.0, math.pi / 2))
    heard.send("/goal", Messages(S).place(2.0, 1.0, "odom"))
    assert heard.goals == [(2.0, 1.0), pytest.approx((0.0, 2.0))]
