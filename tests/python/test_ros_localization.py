"""Errors of the localization of `mvsim-gym ros`: jumps, drift and latency, in transforms and poses."""

from __future__ import annotations

import math
from collections import deque
from typing import Any

import numpy as np
import pytest
from conftest import DATA

pytest.importorskip("rosbags", reason="needs the extra ros")

from ros_bus import Bus

import mvsim_gym
from mvsim_gym.part_states import Pose
from mvsim_gym.ros import RosNode
from mvsim_gym.ros.localization_error import EstimatedPose, LocalizationErrors
from mvsim_gym.ros.messages import STORE
from mvsim_gym.ros.transforms import correction

YARD = DATA / "yard.world.xml"
HERE = Pose(1.0, 2.0, 0.5, 0.3, 0.1, -0.2)
ODOMETRY = Pose(0.4, -0.2, 0.0, 1.1, 0.0, 0.0)


def estimate(text: str, seed: int = 0, number: int = 0) -> EstimatedPose:
    return EstimatedPose(LocalizationErrors.parsed(text, seed), number)


class Heard:
    """A world of two robots, one of which drives, its node, and what it publishes."""

    def __init__(self, seed: int = 3, **options: Any) -> None:
        self.world = mvsim_gym.World(YARD, seed=5)
        bus, self.wall = Bus(), 0.0
        self.node = RosNode(self.world, bus.node(), clock=True, now=lambda: self.wall, seed=seed, **options)
        self.kinds = {
            "amcl_pose": "geometry_msgs/msg/PoseWithCovarianceStamped",
            "tf": "tf2_msgs/msg/TFMessage",
        }
        self.waiting: dict[str, deque[bytes]] = {name: deque() for name in self.kinds}
        for name, kind in self.kinds.items():
            bus.receivers[f"/r1/{name}", kind] = [self.waiting[name]]
        self.poses: dict[int, Any] = {}
        self.edges: dict[int, dict[str, Any]] = {}
        self.states: dict[int, tuple[Pose, Pose]] = {}

    def run(self, steps: int) -> None:
        for _ in range(steps):
            robot = self.world.vehicles["r1"]
            robot.set_twist(0.5, 0.4)
            self.world.step()
            self.states[round(self.world.time * 1e9)] = robot.pose, robot.odometry
            self.wall += self.world.timestep
            self.node.update()
        for name, kind in self.kinds.items():
            while self.waiting[name]:
                message: Any = STORE.deserialize_cdr(self.waiting[name].popleft(), kind)
                if name == "amcl_pose":
                    self.poses[stamp_of(message)] = message.pose
                else:
                    for edge in message.transforms:
                        self.edges.setdefault(stamp_of(edge), {})[edge.child_frame_id] = edge.transform


def stamp_of(message: Any) -> int:
    return int(message.header.stamp.sec * 10**9 + message.header.stamp.nanosec)


def place(translation: Any, rotation: Any) -> tuple[float, float, float]:
    return translation.x, translation.y, 2 * math.atan2(rotation.z, rotation.w)


def composed(a: tuple[float, float, float], b: tuple[float, float, float]) -> tuple[float, float, float]:
    c, s = math.cos(a[2]), math.sin(a[2])
    return a[0] + c * b[0] - s * b[1], a[1] + s * b[0] + c * b[1], a[2] + b[2]


def same(a: tuple[float, float, float], b: tuple[float, float, float]) -> bool:
    return math.dist(a[:2], b[:2]) < 1e-9 and abs(math.remainder(a[2] - b[2], math.tau)) < 1e-9


def test_transforms_and_amcl_pose_have_the_same_errors() -> None:
    heard = Heard(localization_error="jump_rate=2 jump_sigma=0.3 jump_sigma_yaw=10 latency=0.1")
    heard.run(400)
    assert len(heard.poses) > 100
    errors = []
    for stamp, found in heard.poses.items():
        seen = place(found.pose.position, found.pose.orientation)
        edges = heard.edges[stamp]
        chain = [place(edges[child].translation, edges[child].rotation) for child in ("odom", "base_link")]
        assert same(composed(chain[0], chain[1]), seen)
        truth, odometry = heard.states[stamp]
        assert same(chain[1], (odometry.x, odometry.y, odometry.yaw))
        errors.append(math.dist(seen[:2], truth[:2]))
        assert found.covariance.reshape(6, 6).diagonal() == pytest.approx(
            [0.09, 0.09, 0, 0, 0, math.radians(10) ** 2]
        )
    assert 0.1 < np.mean(errors) < 1 and len({round(error, 6) for error in errors}) > 50
    jumps = [heard.edges[stamp]["odom"].translation.x for stamp in heard.poses]
    assert len(set(jumps)) > 2


def test_without_errors_it_is_the_truth() -> None:
    heard = Heard()
    heard.run(100)
    for stamp, found in heard.poses.items():
        truth, _ = heard.states[stamp]
        assert (found.pose.position.x, found.pose.position.y) == truth[:2]
        assert not found.covariance.any()


def test_without_jumps_it_is_dead_reckoning_from_the_start() -> None:
    heard = Heard(localization_error="drift=0.1")
    robot = heard.world.vehicles["r1"]
    multipliers = robot.odometry_multipliers
    assert multipliers != mvsim_gym.World(YARD, seed=5).vehicles["r1"].odometry_multipliers
    assert multipliers != heard.world.vehicles["r2"].odometry_multipliers
    heard.run(400)
    frames = [edges["odom"] for edges in heard.edges.values() if "odom" in edges]
    first = place(frames[0].translation, frames[0].rotation)
    assert all(same(place(each.translation, each.rotation), first) for each in frames)
    truth, _ = heard.states[max(heard.poses)]
    last = heard.poses[max(heard.poses)].pose.position
    assert math.dist((last.x, last.y), truth[:2]) > 0.01


def test_a_reset_draws_anew_and_a_seed_repeats() -> None:
    found = []
    for seed in (3, 3, 4):
        heard = Heard(seed, localization_error="jump_sigma=0.2 drift=0.1")
        heard.run(20)
        first = heard.world.vehicles["r1"].odometry_multipliers
        before = heard.poses[max(heard.poses)].pose.position.x
        heard.world.reset(seed=5)
        heard.poses.clear()
        heard.run(20)
        again = heard.world.vehicles["r1"].odometry_multipliers
        after = heard.poses[max(heard.poses)].pose.position.x
        assert first != again and before != after
        found.append((first, again, before, after))
    assert found[0] == found[1] and all(a != b for a, b in zip(found[0], found[2], strict=True))


def test_an_error_at_a_jump_has_its_standard_deviations() -> None:
    errors = []
    for seed in range(2000):
        own = estimate("jump_sigma=0.2 jump_sigma_yaw=20", seed)
        found = own.at(0.0, HERE, ODOMETRY)
        assert (found.z, found.pitch, found.roll) == (HERE.z, HERE.pitch, HERE.roll)
        errors.append((found.x - HERE.x, found.y - HERE.y, math.remainder(found.yaw - HERE.yaw, math.tau)))
    assert np.std(errors, axis=0) == pytest.approx([0.2, 0.2, math.radians(20)], rel=0.06)
    assert np.mean(errors, axis=0) == pytest.approx([0, 0, 0], abs=0.03)
    assert np.corrcoef(np.transpose(errors)) == pytest.approx(np.eye(3), abs=0.08)


@pytest.mark.parametrize("period", [0.02, 0.2])
def test_jumps_have_their_rate_at_any_period(period: float) -> None:
    own = estimate("jump_rate=2 jump_sigma=0.1", 1)
    found = []
    for k in range(round(500 / period)):
        own.update(k * period, HERE, ODOMETRY)
        found.append(own.at(k * period, HERE, ODOMETRY).x)
    # two jumps of one period are one
    expected = 500 / period * (1 - math.exp(-2 * period))
    assert np.count_nonzero(np.diff(found)) == pytest.approx(expected, abs=4 * math.sqrt(expected))


def test_a_latency_shows_the_pose_of_before() -> None:
    own = estimate("latency=0.25")
    seen = {}
    for k in range(200):
        pose = Pose(0.02 * k, -0.01 * k, 0.0, 0.05 * k, 0.0, 0.0)
        own.update(0.02 * k, pose, pose)
        seen[k] = own.at(0.02 * k, pose, pose)
    for k in range(200):
        then = max(k - 12.5, 0)
        assert seen[k][:2] == pytest.approx((0.02 * then, -0.01 * then), abs=1e-12)
        assert math.remainder(seen[k].yaw - 0.05 * then, math.tau) == pytest.approx(0, abs=1e-12)


def test_the_error_keeps_its_place_between_jumps() -> None:
    own = estimate("jump_sigma=0.3 jump_sigma_yaw=30", 7)
    first = own.at(0.0, HERE, ODOMETRY)
    fixed = correction(first._replace(pitch=0.0, roll=0.0, z=0.0), ODOMETRY)
    for k in range(1, 20):
        odometry = Pose(0.4 + 0.1 * k, -0.2, 0.0, 1.1 + 0.05 * k, 0.0, 0.0)
        own.update(0.1 * k, HERE, odometry)
        found = own.at(0.1 * k, HERE, odometry)
        expected = composed((fixed.x, fixed.y, fixed.yaw), (odometry.x, odometry.y, odometry.yaw))
        assert same((found.x, found.y, found.yaw), expected)


def test_a_distribution_is_drawn_for_each_robot_and_episode() -> None:
    drawn = [estimate("jump_sigma=uniform(0, 0.1)", 5, number).sigma for number in range(50)]
    assert min(drawn) >= 0 and max(drawn) < 0.1 and len(set(drawn)) == 50
    own = estimate("jump_sigma=uniform(0, 0.1)", 5)
    before = own.sigma
    own.begin()
    assert own.sigma != before


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("jump", "found 'jump', expected NAME=VALUE, once each, of drift, jump_rate"),
        ("jumps=1", "found 'jumps=1', expected NAME=VALUE"),
        ("drift=0.1 drift=0.2", "found 'drift=0.2', expected NAME=VALUE, once each"),
        ("drift=uniform(0, 1)", "drift: found a distribution, expected a number"),
        ("drift=2", "drift: found '2', expected a number from 0 to 1"),
        ("latency=-1", "latency: found '-1', expected a number from 0 to 60"),
        ("jump_rate=nan", "jump_rate: found 'nan'"),
        ("jump_sigma=uniform(2, 1)", r"jump_sigma: found 'uniform\(2, 1\)'"),
        ("jump_sigma=uniform(0, 1", r"found 'jump_sigma=uniform\(0, 1'"),
    ],
)
def test_errors_that_cannot_be_are_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=f"^localization_error: {message}"):
        RosNode(mvsim_gym.World(YARD), Bus().node(), localization_error=text)


@pytest.mark.parametrize("localization", ["identity", False])
def test_errors_need_a_localization(localization: Any) -> None:
    with pytest.raises(
        ValueError, match="localization_error: found errors, expected them with the localization"
    ):
        RosNode(
            mvsim_gym.World(YARD), Bus().node(), localization=localization, localization_error="drift=0.1"
        )
