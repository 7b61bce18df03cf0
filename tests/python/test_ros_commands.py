"""Commands of ROS 2: types that drive, limits that clip, and publishers that are named."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import DATA

import mvsim_gym

pytest.importorskip("cyclonedds", reason="needs the extra ros")
pytest.importorskip("rosbags", reason="needs the extra ros")

import ros_peer as ros
from ros_running import Running

from mvsim_gym._notices import _say
from mvsim_gym.ros.commands import Commands
from mvsim_gym.ros.messages import STORE

pytestmark = pytest.mark.unsanitized
YARD = DATA / "yard.world.xml"
WORLD = """<mvsim_world><simul_timestep>{step}</simul_timestep>
  <vehicle name="r"><init_pose>0 0 0</init_pose><dynamics class="{dynamics}">{wheels}
    <controller class="{controller}"/></dynamics></vehicle></mvsim_world>"""
CAR = """<rl_wheel pos="0 0.9"/><rr_wheel pos="0 -0.9"/><fl_wheel/><fr_wheel/><f_wheels_x>1.3</f_wheels_x>"""
WHEELBASE, MAX_STEER = 1.3, math.radians(30)


@pytest.fixture
def vehicle(tmp_path: Path) -> Callable[..., tuple[mvsim_gym.World, Any]]:
    """Makes a world with one vehicle of a controller."""
    _say.cache_clear()

    def make(controller: str, dynamics: str = "differential", step: float = 0.01) -> tuple[Any, Any]:
        wheels = CAR if "ackermann" in dynamics else ""
        text = WORLD.format(controller=controller, dynamics=dynamics, wheels=wheels, step=step)
        (tmp_path / "c.world.xml").write_text(text)
        world = mvsim_gym.World(tmp_path / "c.world.xml")
        return world, world.vehicles["r"]

    return make


def encoded(kind: str, **fields: Any) -> bytes:
    made = STORE.types[kind](**fields)
    return bytes(STORE.serialize_cdr(made, kind))


def twist(vx: float, omega: float) -> bytes:
    vector, kind = STORE.types["geometry_msgs/msg/Vector3"], "geometry_msgs/msg/Twist"
    return encoded(kind, linear=vector(x=vx, y=0.0, z=0.0), angular=vector(x=0.0, y=0.0, z=omega))


def drive(speed: float, steer: float) -> bytes:
    kind = "ackermann_msgs/msg/AckermannDrive"
    made = STORE.types[kind](
        steering_angle=steer, steering_angle_velocity=0.0, speed=speed, acceleration=0.0, jerk=0.0
    )
    header = STORE.types["std_msgs/msg/Header"](
        stamp=STORE.types["builtin_interfaces/msg/Time"](sec=0, nanosec=0), frame_id=""
    )
    return encoded(f"{kind}Stamped", header=header, drive=made)


@pytest.mark.parametrize("kind", [ros.Twist, ros.TwistStamped])
def test_both_types_of_twists_drive(run: Callable[..., Running], kind: Any) -> None:
    runs = run(YARD, clock=True)
    robot, publish = runs.world.vehicles["r1"], runs.peer.publisher("/r1/cmd_vel", kind)
    command = ros.Twist(ros.Vector3(x=0.3), ros.Vector3(z=0.5))
    if kind is ros.TwistStamped:
        command = kind(ros.Header(ros.Time(0, 0), ""), command)

    def again() -> None:
        publish(command)
        runs.step()

    runs.peer.wait(lambda: robot.twist.vx > 0.25 and robot.twist.omega > 0.4, again)


def test_a_car_takes_ackermann_drives(run: Callable[..., Running]) -> None:
    text = WORLD.format(controller="front_steer_pid", dynamics="ackermann", wheels=CAR, step=0.01)
    runs = run(text, clock=True)
    car, publish = runs.world.vehicles["r"], runs.peer.publisher("/ackermann_cmd", ros.AckermannDriveStamped)
    command = ros.AckermannDriveStamped(
        ros.Header(ros.Time(0, 0), ""), ros.AckermannDrive(speed=0.8, steering_angle=0.2)
    )

    def again() -> None:
        publish(command)
        runs.step()

    runs.peer.wait(lambda: car.twist.vx > 0.1 and car.twist.omega > 0.01, again)
    assert steer_of(car) == pytest.approx(0.2)


def steer_of(car: Any) -> float:
    """The angle of a wheel in the middle of the front axle: cot is the mean of both."""
    cots = [1 / math.tan(wheel.steer) for wheel in car.wheels[2:]]
    return math.atan(2 / sum(cots))


@pytest.mark.parametrize(("vx", "omega"), [(1.0, 0.2), (1.0, -0.3), (-1.0, 0.2), (2.0, 0.0)])
@pytest.mark.parametrize("controller", ["front_steer_pid", "twist_front_steer_pid"])
def test_a_twist_steers_a_car_by_its_geometry(
    vehicle: Callable[..., Any], controller: str, vx: float, omega: float
) -> None:
    world, car = vehicle(controller, "ackermann")
    Commands(car).receive(twist(vx, omega))
    world.step(0.05)
    if omega:
        assert steer_of(car) == pytest.approx(math.atan(WHEELBASE * omega / vx), rel=1e-6)
    else:
        assert [wheel.steer for wheel in car.wheels] == [0] * 4
    world.step(0.5)
    assert car.twist.vx * vx > 0


@pytest.mark.parametrize(("speed", "steer"), [(1.0, 0.3), (-1.0, 0.3), (1.0, -0.1), (1.0, 0.0)])
@pytest.mark.parametrize("controller", ["front_steer_pid", "twist_front_steer_pid"])
def test_an_ackermann_drive_steers_a_car(
    vehicle: Callable[..., Any], controller: str, speed: float, steer: float
) -> None:
    world, car = vehicle(controller, "ackermann")
    Commands(car).receive_ackermann(drive(speed, steer))
    world.step(0.05)
    expected = math.copysign(steer, steer)
    if steer:
        assert steer_of(car) == pytest.approx(expected, rel=1e-6)
    else:
        assert [wheel.steer for wheel in car.wheels] == [0] * 4


def test_a_car_that_no_drive_reaches_stops_and_keeps_its_steering(vehicle: Callable[..., Any]) -> None:
    world, car = vehicle("front_steer_pid", "ackermann")
    commands = Commands(car)
    commands.receive_ackermann(drive(1, 0.3))
    commands.watch(0)
    world.step(2)
    commands.watch(1.5)
    world.step(10)
    assert abs(car.twist.vx) < 0.05 and steer_of(car) == pytest.approx(0.3, rel=1e-6)


@pytest.mark.parametrize("far", [1e4, 1e9, 1e18, 1e300, -1e300])
@pytest.mark.parametrize(
    ("dynamics", "controller"),
    [
        ("differential", "twist_ideal"),
        ("differential", "twist_pid"),
        ("ackermann", "twist_ideal"),
        ("ackermann", "twist_front_steer_pid"),
        ("ackermann", "front_steer_pid"),
        ("ackermann_drivetrain", "front_steer_pid"),
    ],
)
def test_no_command_ends_a_world(
    vehicle: Callable[..., Any],
    caplog: pytest.LogCaptureFixture,
    dynamics: str,
    controller: str,
    far: float,
) -> None:
    world, robot = vehicle(controller, dynamics)
    commands = Commands(robot)
    for data in (twist(far, far), twist(far, 0), twist(0, far), twist(1, far)):
        with caplog.at_level(logging.WARNING, "mvsim_gym"):
            commands.receive(data)
        world.step(0.2)
    if abs(far) > 1e4:
        assert "is clipped to that" in caplog.text
    if robot._simulation.max_steer(0) is not None:
        commands.receive_ackermann(drive(max(min(far, 1e38), -1e38), 1e38))
        world.step(0.2)
    assert all(math.isfinite(value) for value in (*robot.pose, *robot.twist))


@pytest.mark.parametrize("step", [0.001, 0.01, 0.1])
def test_an_ideal_vehicle_moves_as_the_clipped_command_says(vehicle: Callable[..., Any], step: float) -> None:
    """So twist and pose agree, also where a step moves no body farther than 2 m."""
    world, robot = vehicle("twist_ideal", step=step)
    Commands(robot).receive(twist(1e9, 0))
    world.step(10 * step)
    began = robot.pose.x
    world.step(10 * step)
    assert (robot.pose.x - began) / (10 * step) == pytest.approx(robot.twist.vx, rel=0.02)
    assert robot.twist.vx == pytest.approx(min(1e4, 2 / step), rel=1e-6)


@pytest.mark.parametrize("far", [1e5, 1e18, 1e300, -1e300])
@pytest.mark.parametrize("controller", ["twist_ideal", "twist_pid"])
def test_the_api_clips_too(
    vehicle: Callable[..., Any], caplog: pytest.LogCaptureFixture, controller: str, far: float
) -> None:
    world, robot = vehicle(controller)
    with caplog.at_level(logging.WARNING, "mvsim_gym"):
        robot.set_twist(far, 0)
        robot.set_command(far, far)
        robot.set_twist(far, far)
    world.step(0.5)
    assert len(caplog.messages) == 2 and "beyond 10000 (vx) is clipped" in caplog.text
    for value in (math.nan, math.inf):
        with pytest.raises(ValueError, match="finite"):
            robot.set_twist(value, 0)


@pytest.mark.parametrize(("vx", "omega"), [(math.nan, 0), (0, math.inf), (-math.inf, math.nan)])
@pytest.mark.parametrize("controller", ["twist_ideal", "front_steer_pid"])
def test_a_command_that_is_not_finite_has_no_effect(
    vehicle: Callable[..., Any],
    caplog: pytest.LogCaptureFixture,
    controller: str,
    vx: float,
    omega: float,
) -> None:
    world, robot = vehicle(controller, "ackermann")
    commands = Commands(robot)
    with caplog.at_level(logging.WARNING, "mvsim_gym"):
        commands.receive(twist(vx, omega))
        commands.receive_ackermann(drive(vx, omega))
    world.step(0.1)
    assert caplog.messages == ["ros: a command of 'r' has no effect: a value is not finite"]
    assert robot.twist.vx == pytest.approx(0, abs=1e-9)


def test_publishers_without_effect_are_named_once(
    run: Callable[..., Running], caplog: pytest.LogCaptureFixture
) -> None:
    runs = run(YARD)
    peer = runs.peer
    keep = [
        peer.publisher("/r1/cmd_vel", ros.Bool),
        peer.publisher("/r2/cmd_vel", ros.Twist, reliable=False),
        peer.publisher("/r1/cmd_vel", ros.TwistStamped),
        peer.publisher("/elsewhere", ros.Bool),
    ]
    with caplog.at_level(logging.WARNING, "mvsim_gym"):
        peer.wait(lambda: len(caplog.messages) >= 2, runs.transport.look_for_unmatched)
        for _ in range(20):
            runs.transport.look_for_unmatched()
    first, second = sorted(caplog.messages)
    assert "a publisher of /r1/cmd_vel has no effect: its type (std_msgs::msg::dds_::Bool_)" in first
    assert "a publisher of /r2/cmd_vel has no effect" in second and "quality of service" in second
    assert len(keep) == 4


@pytest.mark.parametrize(("vx", "reached"), [(1.5, 0.4), (-1.5, -0.2)])
def test_limits_of_the_vehicle_file_cut_a_command_with_a_notice(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, vx: float, reached: float
) -> None:
    _say.cache_clear()
    (tmp_path / "a.world.xml").write_text(
        '<mvsim_world><vehicle name="limited"><dynamics class="differential"><chassis mass="5"/>'
        '<controller class="twist_ideal"/></dynamics>'
        '<limits><linear max_velocity="0.4" min_velocity="-0.2"/></limits>'
        "<init_pose>0 0 0</init_pose></vehicle></mvsim_world>"
    )
    world = mvsim_gym.World(tmp_path / "a.world.xml")
    robot = world.vehicles["limited"]
    assert robot.command_limits("vx") == (-0.2, 0.4)
    with caplog.at_level(logging.WARNING, "mvsim_gym"):
        Commands(robot).receive(twist(0.3, 0))
        assert not caplog.records
        Commands(robot).receive(twist(vx, 0))
    world.step(0.1)
    assert robot.twist.vx == pytest.approx(reached, rel=1e-6)
    assert "beyond its <limits>, -0.2 to 0.4 m/s, is cut to them" in caplog.text
