"""GNSS receivers from Python: readings of a World and observations of an environment."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import mvsim_gym

WORLD = """<mvsim_world><simul_timestep>0.005</simul_timestep>
<georeference><latitude>36.8407</latitude><longitude>-2.4075</longitude><height>120</height></georeference>
<element class="property_region"><property_name>gps_no_coverage</property_name><value_bool>true</value_bool>
<x_min>50</x_min><x_max>60</x_max></element>
<vehicle name="r"><init_pose>{x} 0 0</init_pose><dynamics class="differential">
<l_wheel mass="1" diameter="0.2" width="0.05"/><r_wheel mass="1" diameter="0.2" width="0.05"/>
<controller class="twist_ideal"/></dynamics>
<sensor class="gnss" name="gps"><sensor_period>0.2</sensor_period></sensor></vehicle></mvsim_world>"""

ENV = """<mvsim_env id="t" world="w.world.xml" control_period="0.1" time_limit="5">
<agent vehicle="r"><action class="twist" vx="-1 1" omega="-2 2"/><observe class="gnss" {attributes}/></agent>
<reset><spawn pose="{x} 0 0"/></reset><reward class="time" weight="-1"/></mvsim_env>"""


def write(folder: Path, x: float = 10, attributes: str = "") -> str:
    (folder / "w.world.xml").write_text(WORLD.format(x=x))
    (folder / "t.env.xml").write_text(ENV.format(attributes=attributes, x=x))
    return str(folder / "t.env.xml")


def test_a_reading_has_names(tmp_path: Path) -> None:
    write(tmp_path)
    world = mvsim_gym.World(tmp_path / "w.world.xml", seed=0)
    gps = world.vehicles["r"].sensors["gps"]
    assert gps.read() is None
    world.step(0.5)
    reading = gps.read()
    assert isinstance(reading, mvsim_gym.world.GnssReading)
    assert reading.latitude == pytest.approx(36.8407, abs=1e-4)
    assert reading.longitude == pytest.approx(-2.4075, abs=2e-4)
    assert reading.altitude == pytest.approx(120, abs=20)
    assert reading.enu == pytest.approx([10, 0, 0], abs=20)
    np.testing.assert_array_equal(reading.covariance, np.diag([4, 4, 16]))
    assert 0.3 < reading.time <= 0.5


def test_without_coverage_there_is_no_reading(tmp_path: Path) -> None:
    write(tmp_path, x=55)
    world = mvsim_gym.World(tmp_path / "w.world.xml", seed=0)
    world.step(1.0)
    gps = world.vehicles["r"].sensors["gps"]
    assert gps.read() is None and gps.read(fresh=True) is None


@pytest.mark.parametrize("timing", ["control", "sensor"])
def test_an_environment_observes_metres_and_the_fix(tmp_path: Path, timing: str) -> None:
    env = mvsim_gym.Env(write(tmp_path, attributes=f'timing="{timing}" max="20"'))
    space = env.observation_space["gnss"]
    assert space.high.tolist() == [20, 20, 100, 1] and space.low.tolist() == [-20, -20, -100, 0]
    observation, _ = env.reset(seed=0)
    assert observation["gnss"][3] == (timing == "control")
    for _ in range(5):
        observation, *_ = env.step(np.zeros(2, np.float32))
    assert observation["gnss"][3] == 1
    assert observation["gnss"][:3] == pytest.approx([10, 0, 0], abs=20)


def test_an_observation_without_a_fix_is_zero(tmp_path: Path) -> None:
    env = mvsim_gym.Env(write(tmp_path, x=55))
    assert env.reset(seed=0)[0]["gnss"].tolist() == [0, 0, 0, 0]
