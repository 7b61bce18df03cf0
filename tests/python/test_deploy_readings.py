"""Readings of real robots: other scans, missing and impossible readings, images of other cameras, limits, the loop."""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mvsim_gym.deploy import Limits, Pipeline, StaleReadingError, loop
from mvsim_gym.deploy.driver import Driver
from mvsim_gym.deploy.limits import LimitedCommands
from mvsim_gym.deploy.pictures import color_image, depth_image, range_image
from mvsim_gym.deploy.wgs84 import enu_of

NAV = "mvsim/NavArena-v0"
SQUARE = [[0.1, 0.1], [-0.1, 0.1], [-0.1, -0.1], [0.1, -0.1]]


@pytest.fixture(scope="module")
def nav() -> Pipeline:
    return Pipeline(
        NAV, sensors={"lidar": {"frames": {"turned": (-0.032, 0, math.pi)}, "mount": (-0.032, 0, 0)}}
    )


def ready(pipeline: Pipeline, stamp: float = 0.0) -> None:
    pipeline.begin()
    pipeline.goal(2, 1)
    pipeline.pose(0, 0, 0, stamp)
    pipeline.velocity(0, 0, stamp)


def walls(angles: np.ndarray) -> np.ndarray:
    """A room whose distance is told apart in every direction, m."""
    return 2 + np.cos(angles) + 0.3 * np.sin(3 * angles)


def observed(pipeline: Pipeline, stamp: float = 0.0) -> np.ndarray:
    scan: np.ndarray = pipeline.observe(stamp)["scan"]
    return scan


def test_the_order_the_field_of_view_and_the_frame_of_a_scan_make_no_difference(nav: Pipeline) -> None:
    ready(nav)
    seen = []
    aside = 0.003  # rad: no beam lies on the edge of a cell, where rounding would choose
    for first, step, count, frame in (
        (aside - math.pi, 2 * math.pi / 720, 720, ""),
        (aside, 2 * math.pi / 720, 720, ""),
        (aside + math.pi, -2 * math.pi / 720, 720, ""),
        (aside, 2 * math.pi / 720, 720, "turned"),
    ):
        angles = first + step * np.arange(count) + (math.pi if frame else 0)
        nav.scan("lidar", walls(angles), first, step, 0.0, frame)
        seen.append(observed(nav))
    for other in seen[1:]:
        np.testing.assert_allclose(other, seen[0], atol=1e-6)
    # the minimum of what falls into the sector that looks back, where the room is smallest
    assert seen[0].min() == pytest.approx(walls(np.linspace(-math.pi, math.pi, 721)).min(), abs=0.01)


def test_the_ends_of_a_full_circle_are_two_beams(tmp_path: Path) -> None:
    """The first and the last beam of a lidar of 360 degrees point the same way, and each has its own noise."""
    (tmp_path / "circle.world.xml").write_text(
        """<mvsim_world version="1.0"><vehicle name="robot"><init_pose>0 0 0</init_pose>
        <dynamics class="differential"><l_wheel pos="0 0.1" mass="1" width="0.04" diameter="0.1"/>
        <r_wheel pos="0 -0.1" mass="1" width="0.04" diameter="0.1"/><chassis mass="5"/>
        <controller class="twist_ideal"/></dynamics>
        <sensor class="laser" name="lidar"><fov_degrees>360</fov_degrees><nrays>8</nrays>
        <max_range>5</max_range></sensor></vehicle></mvsim_world>"""
    )
    (tmp_path / "circle.env.xml").write_text(
        """<mvsim_env id="test/Circle-v0" world="circle.world.xml" control_period="0.1" time_limit="10">
        <agent vehicle="robot"><action class="twist" vx="0 1" omega="-1 1"/>
        <observe class="scan" sensor="lidar" sectors="8"/></agent>
        <reward class="time" weight="-1"/></mvsim_env>"""
    )
    pipeline = Pipeline(str(tmp_path / "circle.env.xml"))
    pipeline.begin()
    ranges = np.arange(1, 9) * 0.5
    # in single precision, as messages have them
    pipeline.scan("lidar", ranges, float(np.float32(-math.pi)), float(np.float32(2 * math.pi / 7)), 0.0)
    np.testing.assert_array_equal(observed(pipeline), ranges.astype(np.float32))


def test_a_lidar_that_stands_elsewhere_sees_the_same_points(nav: Pipeline) -> None:
    moved = Pipeline(NAV, sensors={"lidar": {"mount": (0.5, 0.2, 1.0)}})
    ready(moved)
    angles = np.linspace(-math.pi, math.pi, 4000, endpoint=False)
    # a wall at x = 1.5 m of the robot, seen from there
    with np.errstate(divide="ignore"):
        ranges = (1.5 - 0.5) / np.cos(angles + 1.0)
    ranges[(ranges < 0) | (ranges > 10)] = np.inf
    moved.scan("lidar", ranges, angles[0], angles[1] - angles[0], 0.0)
    middle = observed(moved)[17:19]
    np.testing.assert_allclose(middle, 1.5 + 0.032, atol=0.01)


def test_what_is_no_reading_is_told_and_what_nothing_covers_reads_the_largest_range(nav: Pipeline) -> None:
    ready(nav)
    angles = np.linspace(-math.pi / 2, math.pi / 2, 361)
    ranges = np.full(361, 1.0)
    ranges[:10] = np.nan
    ranges[10:20] = 0
    ranges[20:30] = np.inf
    nav.scan("lidar", ranges, angles[0], angles[1] - angles[0], 0.0, range_max=12.0)
    state = nav.state(0.0)["lidar"]
    assert "20 of 361 given ones without a reading" in state.note
    assert state.status == "impossible"  # more than half is not covered
    wide = Pipeline(NAV, sensors={"lidar": {"max_uncovered": 1}})
    ready(wide)
    wide.scan("lidar", ranges, angles[0], angles[1] - angles[0], 0.0, range_max=12.0)
    scan = observed(wide)
    assert scan[0] == scan[-1] == np.float32(3.5) and scan[18] == 1


def test_a_scan_that_cannot_be_is_refused(nav: Pipeline) -> None:
    with pytest.raises(ValueError, match="expected at least one range"):
        nav.scan("lidar", [], 0, 0.1, 0.0)
    with pytest.raises(ValueError, match="an increment in rad that is not 0"):
        nav.scan("lidar", [1, 2], 0, 0, 0.0)
    with pytest.raises(ValueError, match="found 'laser', expected one of"):
        nav.scan("laser", [1, 2], 0, 0.1, 0.0)


def test_readings_that_are_missing_old_or_impossible_make_no_observation(nav: Pipeline) -> None:
    nav.begin()
    nav.goal(1, 1)
    with pytest.raises(StaleReadingError, match="lidar is missing, pose is missing, velocity is missing"):
        nav.observe(0.0)
    ready(nav)
    nav.scan("lidar", np.ones(360), -math.pi, 2 * math.pi / 360, 0.0)
    nav.observe(0.3)
    with pytest.raises(StaleReadingError, match=r"lidar is old \(age 0.500 s, limit 0.4 s\)"):
        nav.observe(0.5)
    with pytest.raises(StaleReadingError, match="is future"):
        nav.observe(-1.0)
    nav.pose(math.nan, 0, 0, 0.1)
    with pytest.raises(StaleReadingError, match=r"pose is impossible \(a value is not finite\)"):
        nav.observe(0.1)
    assert nav.state(0.1)["pose"].status == "impossible" and nav.state(0.1)["lidar"].is_usable


def test_a_held_source_is_used_on(nav: Pipeline) -> None:
    held = Pipeline(NAV, hold=["velocity"])
    ready(held)
    for stamp in (0.0, 5.0):
        held.pose(0, 0, 0, stamp)
        held.scan("lidar", np.ones(360), -math.pi, 2 * math.pi / 360, stamp)
    held.observe(5.0)
    assert held.state(5.0)["velocity"].status == "held"


def test_actions_that_cannot_be_are_refused(nav: Pipeline) -> None:
    with pytest.raises(ValueError, match="not all of them finite"):
        nav.command([0, math.nan])
    with pytest.raises(ValueError, match="found 3 values, expected 2"):
        nav.command([0, 0, 0])
    with pytest.raises(ValueError, match="found 'lidr'"):
        Pipeline(NAV, sensors={"lidr": {}})
    with pytest.raises(ValueError, match="given: found 'scn'"):
        Pipeline(NAV, given=["scn"])


def test_images_are_turned_rectified_or_refused() -> None:
    own = (10.0, 10.0, 3.5, 1.5)
    pixels = np.arange(4 * 8 * 3, dtype=np.uint8).reshape(4, 8, 3)
    np.testing.assert_array_equal(color_image(pixels, "bgr8", (4, 8), own, None)[:, :, ::-1], pixels)
    large = np.repeat(np.repeat(pixels, 2, axis=0), 2, axis=1)
    twice = color_image(large, "rgb8", (4, 8), own, (20.0, 20.0, 7.5, 3.5))
    assert twice.shape == pixels.shape and np.abs(twice.astype(int) - pixels).max() <= 27
    with pytest.raises(ValueError, match="expected 8 x 4, or intrinsics"):
        color_image(large, "rgb8", (4, 8), own, None)
    with pytest.raises(ValueError, match="found the encoding 'yuv422'"):
        color_image(pixels, "yuv422", (4, 8), own, None)
    depth = np.array([[1500, 0], [65535, 20]], np.uint16)
    np.testing.assert_allclose(depth_image(depth, "16UC1", (2, 2), own, None, 10.0), [[1.5, 0], [0, 0.02]])


def test_points_fall_into_the_cells_of_rings_and_columns() -> None:
    elevations, azimuths = np.radians([-10, 0, 10]), np.radians(np.arange(-180, 180, 10))
    image = range_image(
        np.array([[2.0, 0, 0], [1.0, 0, 0.01], [-3, 0, 0], [0, 0, 5], [np.nan, 0, 0]]),
        elevations,
        azimuths,
        0,
        100,
    )
    assert image[1, 18] == pytest.approx(math.hypot(1, 0.01)) and image[1, 0] == 3 and (image > 0).sum() == 2


def test_places_on_the_earth() -> None:
    assert enu_of((51.0, 13.0, 100.0), (51.0, 13.0, 100.0)) == (0, 0, 0)
    east, north, up = enu_of((51.001, 13.001, 110.0), (51.0, 13.0, 100.0))
    # a minute of arc is a nautical mile or so
    assert (
        north == pytest.approx(111.26, abs=0.2)
        and east == pytest.approx(70.2, abs=0.2)
        and up == pytest.approx(10, abs=0.01)
    )


def test_limits_and_the_box_ahead_can_only_brake() -> None:
    commands = LimitedCommands(Limits(speed=1, turn=2, acceleration=1, brake=0.5, reaction=0.2), SQUARE)
    assert commands.limited(5, 0, 0.1) == (pytest.approx(0.1), 0, ("speed",))
    assert commands.limited(0, 9, 0.1)[:2] == (0, 2)
    free = LimitedCommands(Limits(brake=0.5, reaction=0.2, margin=0.05), SQUARE)
    for room in (0.0, 0.05, 0.3, 1.0):
        point = np.array([[0.1 + 0.05 + room, 0.0]])
        speed, _, by = free.limited(9, 0, 0.1, point)
        # v t + v^2 / (2 a) = room
        assert speed * 0.2 + speed**2 / (2 * 0.5) == pytest.approx(room, abs=1e-9) and by == ("box",)
        assert free.limited(-1, 0, 0.1, point)[0] == -1  # what lies ahead does not hinder the way back
    assert free.limited(1, 0, 0.1, np.array([[0.5, 0.3]]))[0] == 1  # beside its way
    with pytest.raises(ValueError, match="limits: brake: found 0"):
        Limits(brake=0).checked()


def test_the_driver_stops_and_says_why(nav: Pipeline) -> None:
    driver = Driver(nav, lambda _: np.zeros(2, np.float32))
    nav.begin()
    assert driver.step(0.0).stop == "idle: no goal"
    driver.set_goal(2, 1)
    assert driver.step(0.2).stop.startswith("readings: no observation: lidar is missing")

    def feed(now: float, x: float = 0.0) -> None:
        driver.set_pose(x, 1, 0, now)
        nav.velocity(0, 0, now)
        nav.scan("lidar", np.full(360, 3.0), -math.pi, 2 * math.pi / 360, now)

    feed(0.4)
    step = driver.step(0.4)
    assert step.stop == "" and step.speed == pytest.approx(0.11)
    feed(1.4)
    assert driver.step(1.4).stop.startswith("overrun")
    feed(1.6, x=1.9)
    assert driver.step(1.6).stop == "arrived" and driver.goal is None
    driver = Driver(nav, lambda _: np.full(2, np.nan))
    driver.set_goal(2, 1)
    feed(2.0)
    assert driver.step(2.0).stop.startswith("failure: ValueError")


def test_the_loop_sends_a_stop_whatever_ends_it_and_while_a_policy_hangs() -> None:
    pipeline = Pipeline(
        NAV, control_period=0.04, sensors={name: {"max_age": 1} for name in ("lidar", "pose", "velocity")}
    )
    sent: list[tuple[float, float, float]] = []
    calls = 0

    def policy(_: Any) -> np.ndarray:
        nonlocal calls
        calls += 1
        if calls == 4:
            time.sleep(0.4)
        return np.array([1, 0], np.float32)

    def read(driver: Driver, now: float) -> None:
        driver.set_pose(0, 0, 0, now)
        driver.pipeline.velocity(0, 0, now)
        driver.pipeline.scan("lidar", np.full(360, 3.0), -math.pi, 2 * math.pi / 360, now)

    steps = []
    for step in loop(pipeline, policy, read, lambda v, w: sent.append((time.monotonic(), v, w)), goal=(2, 1)):
        steps.append(step)
        if len(steps) == 6:
            break
    assert steps[0].speed > 0 and steps[3].stop.startswith("overrun")
    assert sum(v == 0 for _, v, _ in sent) > 3 and sent[-1][1:] == (0, 0)
