"""State from outside: what is read and set of a `World`, and its parameters."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import numpy as np
import pytest

import mvsim_gym
from mvsim_gym._state import pack, unpack

CRATES = """<mvsim_world>
  <block name="wall"><static>true</static><init_pose>5 0 0</init_pose>
    <shape><pt>0 -4</pt><pt>0 4</pt><pt>.2 4</pt><pt>.2 -4</pt></shape></block>
  <block name="crate"><mass>5</mass><init_pose>2 2 30</init_pose>
    <geometry type="cylinder" radius="0.3" length="1"/></block>
  <vehicle name="r"><init_pose>0 0 0</init_pose>
    <dynamics class="differential">
      <l_wheel pos="0 0.2" mass="1" width="0.04" diameter="0.2"/>
      <r_wheel pos="0 -0.2" mass="1" width="0.04" diameter="0.2"/>
      <controller class="twist_ideal"/></dynamics></vehicle>
  <vehicle name="other"><init_pose>-3 -3 0</init_pose>
    <dynamics class="differential"><controller class="twist_ideal"/></dynamics></vehicle>
  </mvsim_world>"""


@pytest.fixture
def world(tmp_path: Path) -> mvsim_gym.World:
    path = tmp_path / "crates.world.xml"
    path.write_text(CRATES)
    return mvsim_gym.World(path)


# ---------------------------------------------------------------- worlds


def test_a_vehicle_is_put_and_pushed(world: mvsim_gym.World) -> None:
    robot = world.vehicles["r"]
    world.step(0.1)
    robot.set_pose(1, -2, 0.5)
    assert robot.pose[:2] == pytest.approx((1, -2), abs=1e-6) and robot.pose.yaw == pytest.approx(0.5)
    assert robot.twist == (0, 0, 0)
    robot.set_twist_state(2, 0, 0.5)
    assert robot.twist == pytest.approx((2, 0, 0.5), abs=1e-6)
    wheels = world.wheels("r")
    assert wheels.spin == pytest.approx([(2 - 0.5 * 0.2) / 0.1, (2 + 0.5 * 0.2) / 0.1], abs=1e-4)
    assert wheels.slip_ratio == pytest.approx([0, 0], abs=1e-6), "its wheels roll"
    assert np.hypot(*robot.acceleration) < 20, "nothing has pushed it so far"


def test_acceleration_is_that_of_the_body(world: mvsim_gym.World) -> None:
    robot = world.vehicles["r"]
    robot.set_pose(0, 0, 1.2)
    robot.set_twist(1, 0)
    before = robot.twist.vx
    world.step()
    assert robot.acceleration[0] == pytest.approx((robot.twist.vx - before) / world.timestep, rel=1e-3)


def test_a_block_is_put_pushed_and_resized(world: mvsim_gym.World) -> None:
    crate = world.blocks["crate"]
    crate.set_pose(-1, 1, 0)
    crate.set_twist_state(0.5)
    crate.set_scale(0.5)
    assert crate.pose[:2] == pytest.approx((-1, 1)) and crate.twist.vx == pytest.approx(0.5)
    assert crate.scale == 0.5
    world.step(0.1)
    assert crate.pose.x > -1
    for refused in (lambda: world.blocks["wall"].set_pose(0, 0), lambda: world.blocks["wall"].set_scale(2)):
        with pytest.raises(ValueError, match="'wall' is part of the model's static geometry"):
            refused()
    with pytest.raises(ValueError, match="block 'wall' is static"):
        world.blocks["wall"].set_twist_state(1)


def test_collisions_are_forgotten(world: mvsim_gym.World) -> None:
    robot = world.vehicles["r"]
    robot.set_pose(4.6, 0)
    robot.set_twist(2, 0)
    world.step(0.5)
    assert robot.had_collision
    robot.set_pose(0, 0)
    robot.reset_collision()
    assert not robot.had_collision and not robot.in_collision
    assert not world.vehicles["other"].had_collision


def test_parameters_of_a_world(world: mvsim_gym.World) -> None:
    world.set_parameter("vehicle:*/friction/mu", 0.3)
    assert world.parameter("vehicle:other/friction/mu") == 0.3
    with pytest.raises(ValueError, match="did you mean 'vehicle:r/friction/mu'"):
        world.set_parameter("vehicle:r/friction/mo", 0.3)
    with pytest.raises(ValueError, match="vehicle:r/friction/mu: found -1, expected a value"):
        world.set_parameter("vehicle:r/friction/mu", -1)
    world.step(0.1)
    world.set_parameter("vehicle:r/friction/mu", 0.4)
    state = world.snapshot()
    twins = [copy.deepcopy(world), pickle.loads(pickle.dumps(world)), copy.deepcopy(world)]
    twins[2].reset_parameters()
    twins[2].restore(state)
    for own in (world, *twins):
        own.reset(seed=3)
        assert own.parameter("vehicle:r/friction/mu") == 0.4
        assert own.parameter("vehicle:other/friction/mu") == 0.3
        own.step(0.1)
        assert own.snapshot() == world.snapshot()
    world.reset_parameters()
    assert world.parameter("vehicle:r/friction/mu") == 0.4  # until the reset
    world.reset()
    assert world.parameter("vehicle:r/friction/mu") == world.parameter("vehicle:other/friction/mu") > 0.4
    plain = world.snapshot()
    world.set_parameter("vehicle:r/friction/mu", 0.2)
    world.restore(plain)
    world.reset()
    assert world.parameter("vehicle:r/friction/mu") > 0.4
    before = world.snapshot()
    for end in (-1, 20):
        with pytest.raises(ValueError, match="snapshot"):
            world.restore(state[:end])
    with pytest.raises(ValueError, match="damaged bytes"):
        world.restore(pack([unpack(state, 2)[0], b"[3]"]))
    with pytest.raises(ValueError, match="did you mean"):
        world.restore(pack([unpack(state, 2)[0], b'{"vehicle:r/friction/m": 0.5}']))
    assert world.snapshot() == before


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e9])
def test_values_of_a_world_are_checked(world: mvsim_gym.World, value: float) -> None:
    robot, crate = world.vehicles["r"], world.blocks["crate"]
    before = world.snapshot()
    for setter in (robot.set_pose, robot.set_twist_state, crate.set_pose, crate.set_twist_state):
        with pytest.raises(ValueError, match="expected a finite"):
            setter(0, value, 0)
    assert world.snapshot() == before
