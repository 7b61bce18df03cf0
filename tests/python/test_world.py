"""A world without reinforcement learning."""

from __future__ import annotations

import copy
import math
import pickle
import threading
import time
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from conftest import DATA, ROOT

from mvsim_gym import World, WorldFileError

YARD = DATA / "yard.world.xml"


@pytest.fixture
def world() -> World:
    return World(YARD, seed=0)


def test_twist_is_followed(world: World) -> None:
    robot = world.vehicles["r1"]
    assert robot.pose == (-1, 0, 0, 0, 0, 0) and robot.twist == (0, 0, 0)
    robot.set_twist(0.5, 0.0)
    world.step(1.0)
    assert world.time == pytest.approx(1.0)
    assert robot.twist.vx == pytest.approx(0.5, abs=0.05)
    assert -0.8 < robot.pose.x < -0.4 and abs(robot.pose.y) < 1e-3
    robot.set_twist(0.0, 1.0)
    world.step(1.0)
    assert robot.twist.omega == pytest.approx(1.0, abs=0.1) and robot.pose.yaw > 0.5


def test_odometry_follows_the_truth_from_the_origin(world: World) -> None:
    robot = world.vehicles["r1"]
    robot.set_twist(0.4, 0.5)
    world.step(1.5)
    x, y, _, yaw, _, _ = robot.pose
    # multipliers of 1 make it exact but for the first step, which it skips
    assert robot.odometry == pytest.approx((x + 1, y, 0, yaw, 0, 0), abs=2e-3)
    assert robot.odometry_twist == pytest.approx(robot.twist, abs=0.02)


def test_torque_of_the_raw_controller_has_the_sign_of_the_language(world: World) -> None:
    robot = world.vehicles["r2"]
    assert robot.controller == "raw"
    robot.set_command(-0.5, -0.5)
    world.step(0.5)
    assert robot.twist.vx > 0.1
    left, right = robot.wheels
    assert left.torque == right.torque == 0.5 and left.spin > 0 and left.angle > 0 and left.steer == 0
    assert left.force[0] > 0 and left.load > 0


def test_twists_in_two_frames(world: World) -> None:
    robot = world.vehicles["r1"]
    robot.set_twist(0.3, 0.8)
    world.step(1.0)
    yaw, body, outside = robot.pose.yaw, robot.twist, robot.world_twist
    assert outside.vx == pytest.approx(math.cos(yaw) * body.vx - math.sin(yaw) * body.vy)
    assert outside.vy == pytest.approx(math.sin(yaw) * body.vx + math.cos(yaw) * body.vy)


def test_pushing_the_box(world: World) -> None:
    robot, box = world.vehicles["r1"], world.blocks["box"]
    assert not robot.had_collision
    robot.set_twist(1.0, 0.0)
    while not robot.in_collision:
        world.step()
        assert world.time < 3
    world.step(0.2)
    assert box.pose.x > 0.5 and box.twist.vx > 0.1 and box.world_twist.vx > 0.1
    robot.set_twist(-1.0, 0.0)
    world.step(1.0)
    assert robot.had_collision and not robot.in_collision
    assert world.blocks["post"].is_static and world.blocks["post"].pose[:2] == (0, -2)


def test_lidar(world: World) -> None:
    sensor = world.vehicles["r1"].sensors["laser1"]
    assert sensor.name == "laser1" and sensor.period == 0.1 and sensor.read() is None
    world.step(0.15)
    reading = sensor.read()
    assert reading is not None
    assert reading.ranges.shape == reading.valid.shape == reading.angles.shape == (91,)
    assert reading.ranges.dtype == np.float32 and reading.valid.dtype == np.bool_
    assert 0.1 <= reading.time <= 0.15
    assert reading.angles[0] == pytest.approx(-math.pi / 2) and reading.angles[-1] == pytest.approx(
        math.pi / 2
    )
    # straight ahead the near side of the box: 0.5 - 0.2 - (-1 + 0.1)
    assert reading.ranges[45] == pytest.approx(1.2, abs=0.05) and reading.valid[45]
    kept = reading.ranges.copy()
    world.step(0.3)
    later = sensor.read()
    assert later is not None and later.time > reading.time
    assert (reading.ranges == kept).all() and (later.ranges != kept).any()


def test_a_sensor_keeps_its_period_unless_it_is_read_afresh(world: World) -> None:
    sensor = world.vehicles["r1"].sensors["laser1"]
    now = sensor.read(fresh=True)
    assert now is not None and now.time == 0 and now.ranges.shape == now.valid.shape == now.angles.shape
    assert now.ranges[45] == pytest.approx(1.2, abs=0.05) and now.valid[45] and sensor.read() is None
    world.vehicles["r1"].set_twist(0.5, 0.0)
    times = []
    for _ in range(3):
        world.step(0.1)
        due, now = sensor.read(), sensor.read(fresh=True)
        assert now is not None and now.time == world.time
        times.append(None if due is None else due.time)
        if due is not None:
            assert now.ranges[45] < due.ranges[45]
            again = sensor.read()
            assert again is not None and (again.ranges == due.ranges).all() and again.time == due.time
    # the schedule of the reference: due in the step that begins a period after the last one
    assert times == [None, pytest.approx(0.11), pytest.approx(0.21)]


def test_durations_add_up(world: World) -> None:
    for _ in range(1000):
        world.step(0.00505)
    assert world.time == pytest.approx(5.05, abs=1e-9)
    state = world.snapshot()
    world.step(9e-6)
    assert world.time == pytest.approx(5.05, abs=1e-9)
    world.step(9e-6)
    assert world.time == pytest.approx(5.050018, abs=1e-9)
    world.restore(state)
    world.step(9e-6)
    assert world.time == pytest.approx(5.05, abs=1e-9)


def test_steps(world: World) -> None:
    assert world.timestep == 0.01
    world.step()
    assert world.time == 0.01
    world.step(0.025)
    assert world.time == pytest.approx(0.035)
    world.step(0)
    assert world.time == pytest.approx(0.035)
    for wrong in (-1, math.nan, math.inf):
        with pytest.raises(ValueError, match="duration"):
            world.step(wrong)


def test_seeds() -> None:
    def ranges(world: World) -> bytes:
        world.step(0.15)
        reading = world.vehicles["r1"].sensors["laser1"].read()
        assert reading is not None
        return reading.ranges.tobytes()

    world = World(YARD, seed=3)
    first, second_episode = ranges(world), (world.reset(), ranges(world))[1]
    assert first != second_episode
    world.vehicles["r1"].set_twist(1, 1)
    world.step(2)
    world.reset(seed=3)
    assert world.time == 0 and world.vehicles["r1"].pose.x == -1 and not world.vehicles["r1"].had_collision
    assert ranges(world) == first == ranges(World(YARD, seed=3)) != ranges(World(YARD, seed=4))
    for wrong in (-1, 2**64, 1.5, "1"):
        with pytest.raises(ValueError, match="seed"):
            World(YARD, seed=wrong)  # type: ignore[arg-type]


def test_wrong_commands(world: World) -> None:
    with pytest.raises(ValueError, match=r"raw.*no twist"):
        world.vehicles["r2"].set_twist(1, 0)
    with pytest.raises(ValueError, match="expects 2"):
        world.vehicles["r2"].set_command(1)
    with pytest.raises(ValueError, match="not finite"):
        world.vehicles["r1"].set_twist(math.nan, 0)


def test_wrong_names(world: World) -> None:
    with pytest.raises(KeyError, match=r"r3.*there are: r1, r2"):
        world.vehicles["r3"]
    with pytest.raises(KeyError, match=r"bux.*did you mean 'box'"):
        world.blocks["bux"]
    with pytest.raises(KeyError, match="laser1"):
        world.vehicles["r1"].sensors["camera"]
    assert list(world.vehicles) == ["r1", "r2"] and "box" in world.blocks and len(world.blocks) == 6


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="nowhere"):
        World(tmp_path / "nowhere.world.xml")
    bad = tmp_path / "bad.world.xml"
    bad.write_text("<mvsim_world><gravity>heavy</gravity></mvsim_world>")
    with pytest.raises(WorldFileError, match=r"bad\.world\.xml:1:\d+: .*heavy"):
        World(bad)


def test_reading_stays_below_the_roots(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    project = tmp_path / "project" / "worlds"
    shared.mkdir()
    project.mkdir(parents=True)
    (shared / "part.xml").write_text("<mvsim_world><gravity>1.62</gravity></mvsim_world>")
    path = project / "w.world.xml"
    path.write_text(f'<mvsim_world>\n<include file="{shared}/part.xml"/>\n</mvsim_world>')
    with pytest.raises(WorldFileError, match=r"w.world.xml:2:.*root"):
        World(path)
    World(path, roots=[shared])


@pytest.mark.parametrize(("roots", "error"), [("/nope", ValueError), (["/nope"], ValueError), (3, TypeError)])
def test_wrong_roots(roots: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="roots"):
        World(YARD, roots=roots)


def test_one_root_is_one_folder(tmp_path: Path) -> None:
    """`roots="/data"` is one folder. A string is not read as a sequence of characters, which would allow "/"."""
    (tmp_path / "secret.pgm").write_bytes(b"P5 1 1 255 \xff")
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "other").mkdir()
    file = tmp_path / "a" / "b" / "w.world.xml"
    file.write_text(
        f'<mvsim_world><element class="occupancy_grid"><file>{tmp_path}/secret.pgm</file></element></mvsim_world>'
    )
    with pytest.raises(WorldFileError, match="outside of the folders"):
        World(file, roots=str(tmp_path / "other"))
    World(file, roots=str(tmp_path))


def test_draw(world: World) -> None:
    above = world.draw(120, 90)
    behind = world.draw(120, 90, camera="behind")
    other = world.draw(120, 90, camera="behind", vehicle="r2")
    for image in (above, behind, other):
        assert image.shape == (90, 120, 3) and image.dtype == np.uint8 and image.std() > 5
    assert (above != behind).any() and (behind != other).any()
    assert (world.draw(120, 90) == above).all()
    with pytest.raises(ValueError, match="camera"):
        world.draw(camera="left")
    with pytest.raises(ValueError, match=r"camera: found 'follow', expected one of 'above', 'behind'"):
        world.draw(camera="follow")  # it needs the goal of an environment
    with pytest.raises(KeyError, match="r9"):
        world.draw(camera="behind", vehicle="r9")


def test_parts_tell_their_shapes_and_what_they_are(world: World) -> None:
    robot = world.vehicles["r1"]
    assert (robot.index, world.vehicles["r2"].index, robot.dynamics) == (0, 1, "differential")
    assert robot.outline.tolist() == [[-0.2, -0.12], [0.2, -0.12], [0.2, 0.12], [-0.2, 0.12]]
    assert robot.heights == (0.05, 0.3) and robot.odometry_multipliers == (1, 1, 1)
    assert robot.wheel_mounts == [[0, 0.15, 0, 0.04, 0.1, 0.5], [0, -0.15, 0, 0.04, 0.1, 0.5]]
    sensor = robot.sensors["laser1"]
    assert (sensor.class_name, sensor.form, sensor.max_range, sensor.views) == ("laser", "scan", 10, {})
    assert sensor.mount == (0.1, 0, 0.2, 0, 0, 0) and sensor.parameters["range_std_noise"] == 0.01
    world.step(0.25)
    reading = sensor.read()
    assert sensor.count == 2 and sensor.time == reading.time and sensor.world_time == world.time
    assert world.blocks["wall_0001"].is_wall and not world.blocks["box"].is_wall
    assert world.model.path == str(YARD) and world.simulation.time == world.time


def test_begun_logs_go_on(tmp_path: Path) -> None:
    world = World(YARD, log_dir=tmp_path)
    world.vehicles["r2"].recording = False
    world.step()
    assert world.has_log and not copy.copy(world).has_log and not World(YARD).has_log
    world.begin_log()
    world.step()
    assert world.vehicles["r1"].recording and not world.vehicles["r2"].recording
    assert (tmp_path / "session_2-mvsim_r1_pose.csv").exists()
    assert not (tmp_path / "session_2-mvsim_r2_pose.csv").exists()


def test_two_threads_on_one_world_are_refused(world: World) -> None:
    thread = threading.Thread(target=lambda: world.step(20_000))  # a second of the wall
    thread.start()
    time.sleep(0.02)
    with pytest.raises(ValueError, match="another thread"):
        while thread.is_alive():
            world.step()
    thread.join()
    world.step()


def test_wheels_as_arrays(world: World) -> None:
    robot = world.vehicles["r1"]
    robot.set_twist(0.5, 0.4)
    world.step(0.3)
    wheels = world.wheels("r1")
    assert wheels.names == ("l_wheel", "r_wheel")
    arrays = wheels[1:]
    assert all(a.shape == (2,) and a.dtype == np.float64 for a in arrays)
    for i, wheel in enumerate(robot.wheels):
        assert wheel.force == (wheels.force_x[i], wheels.force_y[i])
        for name in ("spin", "angle", "steer", "torque", "load", "slip_ratio", "slip_angle"):
            assert getattr(wheel, name) == getattr(wheels, name)[i]
    # hubs at +-0.15 m, radius 0.1 m
    vx, vy, omega = robot.twist
    along = vx - omega * np.array([0.15, -0.15])
    rolling = 0.1 * wheels.spin
    reference = np.maximum(np.maximum(np.abs(rolling), np.abs(along)), 0.1)
    assert wheels.slip_ratio == pytest.approx((rolling - along) / reference, abs=1e-12)
    assert wheels.slip_angle == pytest.approx(np.arctan2(vy, np.maximum(np.abs(along), 0.1)), abs=1e-12)
    assert wheels.load == pytest.approx(2.5 * 9.81) and wheels.torque[1] > wheels.torque[0]
    kept = wheels.spin.copy()
    world.step(0.3)
    assert (wheels.spin == kept).all()
    with pytest.raises(KeyError, match=r"r9.*there are: r1, r2"):
        world.wheels("r9")


def test_logs(tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    world = World(YARD, log_dir=folder)
    robot, other = world.vehicles["r1"], world.vehicles["r2"]
    assert robot.recording and other.recording
    other.recording = False
    robot.set_twist(0.4, 0.2)
    world.step(0.5)
    assert sorted(p.name for p in folder.iterdir()) == [
        "mvsim_r1_pose.csv",
        "mvsim_r1_wheel_1.csv",
        "mvsim_r1_wheel_2.csv",
    ]
    pose = np.genfromtxt(folder / "mvsim_r1_pose.csv", delimiter=",", names=True)
    assert len(pose) == 50 and pose["Timestamp"][-1] == pytest.approx(0.49)
    assert pose["q0x"][-1] == pytest.approx(robot.pose.x, rel=1e-5)
    assert pose["dqw"][-1] == pytest.approx(robot.twist.omega, rel=1e-5)
    wheel = np.genfromtxt(folder / "mvsim_r1_wheel_2.csv", delimiter=",", names=True)
    assert wheel["torque"][-1] == pytest.approx(robot.wheels[1].torque, rel=1e-5)
    world.reset()
    world.step()
    assert (folder / "session_2-mvsim_r1_pose.csv").exists()


def test_nothing_is_written_unasked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = YARD.read_text().replace(
        "<init_pose>-1 0 0</init_pose>",
        f"<init_pose>-1 0 0</init_pose><log_path>{tmp_path}/</log_path>"
        "<auto_start_recording>true</auto_start_recording>",
    )
    (tmp_path / "w.world.xml").write_text(text)
    world = World(tmp_path / "w.world.xml")
    assert any("auto_start_recording" in w for w in world.warnings)
    world.step(0.2)
    assert [p.name for p in tmp_path.iterdir()] == ["w.world.xml"]
    robot = world.vehicles["r1"]
    assert not robot.recording
    robot.recording = False
    with pytest.raises(ValueError, match=r"log_dir="):
        robot.recording = True
    with pytest.raises(ValueError, match="log_dir: cannot make the folder"):
        World(YARD, log_dir=tmp_path / "w.world.xml")


def test_logs_of_environments(tmp_path: Path) -> None:
    env = gym.make("mvsim/NavArena-v0", log_dir=tmp_path / "one", time_limit=0.4)
    substeps = round(0.4 / env.unwrapped._batch.model(0).timestep)  # type: ignore[attr-defined]
    for episode in range(2):
        env.reset(seed=5)
        while not env.step(env.action_space.sample())[3]:
            pass
        prefix = "" if episode == 0 else "session_2-"
        rows = (tmp_path / "one" / f"{prefix}mvsim_robot_pose.csv").read_text().splitlines()
        assert len(rows) == 1 + substeps
    env.close()
    envs = gym.make_vec("mvsim/NavArena-v0", num_envs=2, log_dir=tmp_path / "two")
    envs.reset(seed=5)
    envs.step(envs.action_space.sample())
    names = sorted(str(p.relative_to(tmp_path / "two")) for p in (tmp_path / "two").rglob("*_pose.csv"))
    assert names == ["env_0/mvsim_robot_pose.csv", "env_1/mvsim_robot_pose.csv"]
    envs.close()


def test_what_is_no_number_is_said_so(world: World) -> None:
    robot = world.vehicles["r1"]
    for wrong in ("a", "1", [1], 1j):
        with pytest.raises(TypeError, match=r"duration: found .*, expected a number"):
            world.step(wrong)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match=r"omega: found .*, expected a number"):
            robot.set_twist(0.1, wrong)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match=r"command: found .*, expected a number"):
            robot.set_command(wrong, 0)  # type: ignore[arg-type]
    world.step(np.float32(0.01))


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("turtlebot3_burger", "turtlebot3_burger"),
        ("jackal", "jackal"),
        ("jackal-ellipse", "jackal"),
        ("small_robot", "small_robot"),
        ("ackermann", "car_ackermann"),
        ("pickup", "pickup"),
        ("agricobiot2", "agricobiot2"),
        ("scania_truck", "scania_trailer"),
    ],
)
def test_stock_vehicles_by_the_paths_of_the_tutorials(tmp_path: Path, file: str, name: str) -> None:
    (tmp_path / "w.world.xml").write_text(
        f'<mvsim_world><include file="../definitions/{file}.vehicle.xml"/>'
        f'<vehicle name="r1" class="{name}"><init_pose>0 0 0</init_pose></vehicle></mvsim_world>'
    )
    world = World(tmp_path / "w.world.xml")
    world.step(0.1)
    assert world.warnings == [] and world.vehicles["r1"].twist.vx == pytest.approx(0, abs=1e-3)


def test_variables_of_the_world_file() -> None:
    path = ROOT / "worlds" / "nav_arena.world.xml"
    with pytest.raises(
        WorldFileError, match=r"nothing in this world uses the variable 'obstacels'.*'obstacles'"
    ):
        World(path, variables={"obstacels": 3})
    world = World(path, variables={"obstacles": 3})
    assert sum(name.startswith("obstacle") for name in world.blocks) == 3
    twin = pickle.loads(pickle.dumps(world))
    assert list(twin.blocks) == list(world.blocks)
