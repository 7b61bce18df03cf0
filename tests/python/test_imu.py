"""IMUs from Python: readings of a World and observations of an environment."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import mvsim_gym

WORLD = """<mvsim_world><simul_timestep>0.005</simul_timestep>
<vehicle name="r"><init_pose>0 0 90</init_pose><dynamics class="differential">
<l_wheel mass="1" diameter="0.2" width="0.05"/><r_wheel mass="1" diameter="0.2" width="0.05"/>
<controller class="twist_ideal"/></dynamics>
<sensor class="laser" name="lidar"><nrays>5</nrays></sensor>
<sensor class="imu" name="imu"><sensor_period>0.01</sensor_period>
<measure_orientation>{orientation}</measure_orientation></sensor></vehicle></mvsim_world>"""

ENV = """<mvsim_env id="t" world="w.world.xml" control_period="0.1" time_limit="5">
<agent vehicle="r"><action class="twist" vx="-1 1" omega="-2 2"/><observe class="imu" {attributes}/></agent>
<reset><spawn pose="0 0 90"/></reset><reward class="time" weight="-1"/></mvsim_env>"""


def write(folder: Path, attributes: str = "", orientation: str = "true") -> str:
    (folder / "w.world.xml").write_text(WORLD.format(orientation=orientation))
    (folder / "t.env.xml").write_text(ENV.format(attributes=attributes))
    return str(folder / "t.env.xml")


def test_a_reading_has_names(tmp_path: Path) -> None:
    write(tmp_path)
    world = mvsim_gym.World(tmp_path / "w.world.xml", seed=0)
    robot = world.vehicles["r"]
    imu = robot.sensors["imu"]
    assert imu.read() is None and imu.values() is None and imu.angles is None
    robot.set_twist(0.5, 0.4)
    world.step(1.0)
    reading = imu.read()
    assert isinstance(reading, mvsim_gym.world.ImuReading)
    assert reading.angular_velocity == pytest.approx([0, 0, 0.4], abs=0.002)
    assert reading.linear_acceleration == pytest.approx([0, 0.2, 9.81], abs=0.1)
    half = robot.pose.yaw / 2
    assert reading.orientation == pytest.approx([np.cos(half), 0, 0, np.sin(half)], abs=0.02)
    assert 0.985 <= reading.time <= 1.0
    fresh = imu.read(fresh=True)
    assert fresh.time == world.time and (fresh.angular_velocity != reading.angular_velocity).any()


def test_without_orientation_there_is_none(tmp_path: Path) -> None:
    write(tmp_path, orientation="false")
    world = mvsim_gym.World(tmp_path / "w.world.xml", seed=0)
    assert world.vehicles["r"].sensors["imu"].read(fresh=True).orientation is None


@pytest.mark.parametrize("timing", ["control", "sensor"])
def test_an_environment_observes_it_within_bounds(tmp_path: Path, timing: str) -> None:
    env = mvsim_gym.Env(write(tmp_path, f'timing="{timing}" max_acceleration="9"'))
    space = env.observation_space["imu"]
    assert space.dtype == np.float32
    assert space.high.tolist() == [10, 10, 10, 9, 9, 9, 1, 1, 1, 1] and (space.low == -space.high).all()
    observation, _ = env.reset(seed=0)
    assert (observation["imu"][3:6] != 0).any() == (timing == "control")
    for _ in range(10):
        observation, *_ = env.step(np.array([0.5, 0.2], np.float32))
    value = observation["imu"]
    assert value[2] == pytest.approx(0.4, abs=0.01) and value[5] == 9  # clipped
    assert np.linalg.norm(value[6:]) == pytest.approx(1)


def test_a_vector_and_a_single_env_read_the_same(tmp_path: Path) -> None:
    path = write(tmp_path, 'history="3"')
    one, many = mvsim_gym.Env(path), mvsim_gym.VectorEnv(path, num_envs=4, num_threads=2)
    seen, (all_seen, _) = one.reset(seed=7)[0], many.reset(seed=[5, 6, 7, 8])
    for _ in range(5):
        np.testing.assert_array_equal(seen["imu"], all_seen["imu"][2])
        action = np.array([0.3, -0.5], np.float32)
        seen, all_seen = one.step(action)[0], many.step(np.tile(action, (4, 1)))[0]


def test_a_snapshot_keeps_its_bias_and_noise(tmp_path: Path) -> None:
    write(tmp_path)
    text = (tmp_path / "w.world.xml").read_text()
    walk = "<angular_velocity_random_walk_std_noise>1</angular_velocity_random_walk_std_noise>"
    (tmp_path / "w.world.xml").write_text(text.replace("<measure_", walk + "<measure_"))
    world = mvsim_gym.World(tmp_path / "w.world.xml", seed=0)
    world.step(0.5)
    state = world.snapshot()
    world.step(0.5)
    expected = world.vehicles["r"].sensors["imu"].values()
    world.restore(state)
    world.step(0.5)
    np.testing.assert_array_equal(world.vehicles["r"].sensors["imu"].values(), expected)


def test_another_sensor_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(
        mvsim_gym.WorldFileError, match="found a sensor of class 'laser', expected a sensor of class 'imu'"
    ):
        mvsim_gym.Env(write(tmp_path, 'sensor="lidar"'))
