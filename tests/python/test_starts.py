"""How worlds and environments start, and how far a step moves a body: overlaps, heaps, speeds beyond a step."""

from __future__ import annotations

import math
import pickle
import re
from pathlib import Path

import numpy as np
import pytest
from conftest import DATA

import mvsim_gym
from mvsim_gym import World, WorldFileError, _core

YARD = DATA / "yard.world.xml"


def test_a_vehicle_that_starts_in_a_wall_warns_and_strict_refuses(tmp_path: Path) -> None:
    file = tmp_path / "w.world.xml"
    file.write_text(
        YARD.read_text().replace("<init_pose>-1 1.5 0</init_pose>", "<init_pose>2.9 1.5 0</init_pose>")
    )
    told = r"w.world.xml:\d+:\d+: .*<vehicle> 'r2' starts inside of the wall"
    assert [bool(re.search(told, warning)) for warning in World(file).warnings] == [True]
    with pytest.raises(WorldFileError, match=told):
        World(file, strict=True)


OVERLAPS = {
    "vehicles": """<vehicle name="a"><init_pose>0 0 0</init_pose><dynamics class="differential"/></vehicle>
        <vehicle name="b"><init_pose>0.3 0 0</init_pose><dynamics class="differential"/></vehicle>""",
    "crossed": """<vehicle name="a"><init_pose>0 0 0</init_pose><dynamics class="differential">
        <controller class="twist_ideal"/></dynamics></vehicle>
        <vehicle name="b"><init_pose>0 0.2 90</init_pose><dynamics class="differential"/></vehicle>""",
    "blocks": """<block><init_pose>0 0 0</init_pose><geometry type="box" lx="1" ly="1" lz="1"/></block>
        <block><init_pose>0.3 0.2 10</init_pose><geometry type="box" lx="1" ly="1" lz="1"/></block>""",
    "round blocks": """<block><init_pose>0 0 0</init_pose><geometry type="cylinder" radius="0.5" length="1"/></block>
        <block><init_pose>0.3 0.2 10</init_pose><geometry type="cylinder" radius="0.5" length="1"/></block>""",
    "wall": """<walls><shape><pt>-3 0</pt><pt>3 0</pt></shape></walls>
        <vehicle name="a"><init_pose>0 0 30</init_pose><dynamics class="differential"/></vehicle>""",
}


@pytest.mark.parametrize("bodies", OVERLAPS.values(), ids=OVERLAPS)
def test_what_starts_inside_of_something_is_pushed_apart_gently(bodies: str, tmp_path: Path) -> None:
    file = tmp_path / "w.world.xml"
    file.write_text(f"<mvsim_world>{bodies}</mvsim_world>")
    world = World(file)
    assert len(world.warnings) == 1
    assert re.search(r"w.world.xml:\d+:\d+: .* starts inside of", world.warnings[0])
    parts = [*world.vehicles.values(), *(b for b in world.blocks.values() if not b.is_static)]
    for _ in range(400):
        world.step()
        assert max(math.hypot(part.twist.vx, part.twist.vy) for part in parts) < 0.2
    copied = pickle.loads(pickle.dumps(world))
    assert copied.warnings == world.warnings
    for block in world.blocks.values():
        if not block.is_static:
            block.set_scale(0.97)  # Box2D leaves 15 mm of an overlap
    assert _core.check_start(world._simulation) == []


@pytest.mark.parametrize(("step", "vx", "omega"), [(0.1, 30, 0), (0.1, -30, 20), (0.5, 5, -4), (1, 3, 0)])
def test_a_command_beyond_what_a_step_moves_shows_in_the_twist(
    step: float, vx: float, omega: float, tmp_path: Path
) -> None:
    """Box2D moves a body by at most 2 m and a quarter turn in a step."""
    file = tmp_path / "w.world.xml"
    file.write_text(
        f'<mvsim_world><simul_timestep>{step}</simul_timestep><vehicle name="r"><init_pose>0 0 0</init_pose>'
        '<dynamics class="differential"><chassis linear_damping="0" angular_damping="0"/>'
        '<controller class="twist_ideal"/></dynamics></vehicle></mvsim_world>'
    )
    world = World(file)
    assert re.search(
        r"w.world.xml:1:\d+: <vehicle> 'r' has no limit of its speed.*at most 2 m and a quarter turn",
        world.warnings[0],
    )
    with pytest.raises(WorldFileError, match="a quarter turn"):
        World(file, strict=True)
    robot = world.vehicles["r"]
    robot.set_twist(vx, omega)
    world.step(2 * step)
    before = robot.pose
    world.step(step)
    way = math.hypot(robot.pose.x - before.x, robot.pose.y - before.y)
    turned = math.remainder(robot.pose.yaw - before.yaw, 2 * math.pi)
    if omega == 0:  # else the way is an arc
        assert way == pytest.approx(min(abs(vx) * step, 2), rel=1e-4)
    assert abs(robot.twist.vx) * step == pytest.approx(min(abs(vx) * step, 2), rel=1e-4)
    most = min(abs(omega) * step, math.pi / 2)
    assert turned == pytest.approx(robot.twist.omega * step, abs=1e-4)
    assert abs(turned) == pytest.approx(most, abs=1e-4)


@pytest.mark.parametrize("step", [0.1, 0.5])
def test_strict_stops_where_a_step_cannot_move_a_body(step: float, tmp_path: Path) -> None:
    file = tmp_path / "w.world.xml"
    file.write_text(
        f"<mvsim_world><simul_timestep>{step / 100}</simul_timestep>"
        '<vehicle name="r"><init_pose>0 0 0</init_pose><dynamics class="differential">'
        '<controller class="twist_ideal"/></dynamics></vehicle><block name="b"><init_pose>0 9 0</init_pose></block>'
        '<vehicle name="w"><init_pose>0 -9 0</init_pose><dynamics class="differential"/></vehicle>'
        "</mvsim_world>"
    )
    world = World(file, strict=True)
    world.vehicles["r"].set_twist(190 / step, 0)
    world.step(step)
    for part, name in ((world.vehicles["w"], "vehicle 'w'"), (world.blocks["b"], "block 'b'")):
        world.reset(0)
        part.set_twist_state(250 / step)
        with pytest.raises(ValueError, match=f"strict: {name} .* 2 m and a quarter turn"):
            world.step(step)
    world.reset(0)
    world.vehicles["r"].set_twist(250 / step, 0)
    with pytest.raises(ValueError, match="strict: vehicle 'r'"):
        world.step(step)


@pytest.mark.parametrize(
    ("step", "period", "count"), [(0.02, 0.05, 1200), (0.01, 0.025, 2400), (0, 1 / 30, 1800)]
)
@pytest.mark.parametrize("sensor", ["laser", "imu"])
def test_sensors_keep_their_mean_rate(
    sensor: str, step: float, period: float, count: int, tmp_path: Path
) -> None:
    file = tmp_path / "w.world.xml"
    file.write_text(
        f"<mvsim_world><simul_timestep>{step}</simul_timestep>"
        '<vehicle name="r"><init_pose>0 0 0</init_pose><dynamics class="differential"/>'
        f'<sensor class="{sensor}" name="s"><sensor_period>{period}</sensor_period></sensor></vehicle></mvsim_world>'
    )
    world = World(file)
    assert world.warnings == []
    world.step(60 + 1e-6 + world.timestep)
    assert world._simulation.sensor_count(0) == count


def test_a_heap_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "w.world.xml"
    file.write_text(
        '<mvsim_world><for var="i" from="1" to="3000"><block><init_pose>0 0 0</init_pose></block></for></mvsim_world>'
    )
    with pytest.raises(WorldFileError, match=r"w.world.xml:1:\d+: .*more than 20000 pairs of bodies"):
        World(file)


HEAP = "pairs of bodies, or of a body and a cell of a map, inside each other"


def row_of_blocks(count: int, pose: str = "{i} 5 0") -> str:
    pose = pose.replace("{", "$f{")
    return (
        f'<for var="i" from="1" to="{count}"><block name="b${{i}}"><init_pose>{pose}</init_pose>'
        '<geometry type="box" lx="0.9" ly="0.9" lz="1"/></block></for>'
    )


def test_a_heap_that_is_placed_later_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "w.world.xml"
    file.write_text(f"<mvsim_world>{row_of_blocks(400)}</mvsim_world>")
    world = World(file)
    world.step()
    for block in world.blocks.values():
        block.set_pose(0, 0, 0)
    with pytest.raises(WorldFileError, match=rf"w.world.xml:1:\d+: .*more than 20000 {HEAP}"):
        world.step()
    world.reset(0)
    world.step()


def test_cells_of_a_map_count_to_a_heap(tmp_path: Path) -> None:
    (tmp_path / "m.pgm").write_bytes(b"P5 200 200 255\n" + bytes(200 * 200))
    (tmp_path / "m.yaml").write_text(
        "image: m.pgm\nresolution: 0.05\norigin: [0, 0, 0]\nnegate: 0\noccupied_thresh: 0.65\nfree_thresh: 0.2\n"
    )
    bodies = '<element class="occupancy_grid"><file>m.yaml</file></element>'
    file = tmp_path / "w.world.xml"
    for count, is_slow in ((1, False), (20, True)):
        file.write_text(f"<mvsim_world>{bodies}{row_of_blocks(count, '{2+0.03*i} 5 0')}</mvsim_world>")
        (warning,) = [text for text in World(file).warnings if "inside of an occupied cell" in text]
        assert ("the first steps take long" in warning) == is_slow
    file.write_text(f"<mvsim_world>{bodies}{row_of_blocks(100, '{2+0.03*i} 5 0')}</mvsim_world>")
    with pytest.raises(WorldFileError, match=HEAP):
        World(file)


def env_file(
    folder: Path, bodies: str, *, vx: float = 1, omega: float = 1, reset: str = "", step: float = 0.01
) -> Path:
    (folder / "w.world.xml").write_text(
        f"<mvsim_world><simul_timestep>{step}</simul_timestep>"
        '<vehicle name="r"><init_pose>0 0 0</init_pose><dynamics class="differential">'
        f'<controller class="twist_ideal"/></dynamics></vehicle>{bodies}</mvsim_world>'
    )
    file = folder / "e.env.xml"
    file.write_text(
        '<mvsim_env id="t" world="w.world.xml" control_period="0.1" time_limit="10"><agent vehicle="r">'
        f'<action class="twist" vx="{-vx} {vx}" omega="{-omega} {omega}"/><observe class="velocity"/></agent>'
        f'<reset>{reset}</reset><reward class="time"/></mvsim_env>'
    )
    return file


def test_a_heap_in_the_world_of_an_environment(tmp_path: Path) -> None:
    with pytest.raises(WorldFileError, match=rf"w.world.xml:1:\d+: .*more than 20000 {HEAP}"):
        mvsim_gym.Env(env_file(tmp_path, row_of_blocks(400, "5 5 0")))
    file = env_file(tmp_path, row_of_blocks(100, "5 5 0"))
    (warning,) = mvsim_gym.Env(file).warnings
    assert re.search(r"w.world.xml:1:\d+: .*the first steps take long", warning)
    with pytest.raises(ValueError, match=r"strict refuses a warning.*starts inside of"):
        mvsim_gym.Env(file, strict=True)


def test_a_heap_that_a_reset_places(tmp_path: Path) -> None:
    reset = '<place blocks="b*" area="2 3 2 3"/>'
    env = mvsim_gym.Env(env_file(tmp_path, row_of_blocks(400), reset=reset))
    env.reset(seed=0)
    with pytest.raises(ValueError, match=f"more than 20000 {HEAP}"):
        env.step(np.zeros(2, np.float32))
    env.reset(seed=1)


@pytest.mark.parametrize(("vx", "omega"), [(250, 1), (1, 200)])
def test_actions_beyond_what_a_step_moves(vx: float, omega: float, tmp_path: Path) -> None:
    file = env_file(tmp_path, "", vx=vx, omega=omega)
    env = mvsim_gym.Env(file)
    (warning,) = env.warnings
    assert re.search(rf"e.env.xml:1:\d+: <action class=\"twist\">: .*{vx} m/s and {omega} rad/s", warning)
    env.reset(seed=0)
    observation, *_ = env.step(np.ones(2, np.float32))
    assert observation["velocity"][0] == pytest.approx(min(vx, 200), rel=1e-4)
    with pytest.raises(ValueError, match=r"strict refuses a warning: .*e.env.xml"):
        mvsim_gym.Env(file, strict=True)


def test_strict_environments_stop_where_a_step_cannot_move_a_body(tmp_path: Path) -> None:
    env = mvsim_gym.Env(env_file(tmp_path, row_of_blocks(1)), strict=True)
    env.reset(seed=0)
    env.step(np.ones(2, np.float32))
    env.write("block:b1/twist", [250, 0, 0])
    with pytest.raises(ValueError, match=r"strict: block 'b1' is faster than a step of 0.01 s"):
        env.step(np.ones(2, np.float32))


def test_a_longer_step_of_an_environment_cuts_commands_by_its_own_length(tmp_path: Path) -> None:
    file = env_file(tmp_path, "", vx=50)
    file.write_text(file.read_text().replace("control_period", 'substeps="1" control_period'))
    env = mvsim_gym.Env(file)
    assert "a step of 0.1 s" in env.warnings[0]
    env.reset(seed=0)
    for _ in range(3):
        observation, *_ = env.step(np.array([1, 0], np.float32))
    assert observation["velocity"][0] == pytest.approx(20, rel=1e-4)
