"""Definitions that the importer made are those of their facts, and turn as their makers' robots do."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from conftest import DATA, ROOT
from test_robots import ROBOTS

from mvsim_gym import World
from mvsim_gym.robots import import_robot

pytest.importorskip("yaml", reason="the extra robots is not installed")

CLEARPATH = ROBOTS / "clearpath"
SOURCES = {
    "turtlebot4": (DATA / "robots/turtlebot4.urdf", DATA / "robots/turtlebot4.yaml"),
    "rosbot": (DATA / "robots/rosbot.urdf", DATA / "robots/rosbot.yaml"),
    "scout_mini": (DATA / "robots/scout_mini.urdf", DATA / "robots/scout_mini.yaml"),
    "husky": (
        CLEARPATH / "clearpath_platform_description/urdf/a200/a200.urdf.xacro",
        CLEARPATH / "clearpath_control/config/a200/control.yaml",
    ),
    "jackal-urdf": (
        ROBOTS / "jackal/jackal_description/urdf/jackal.urdf.xacro",
        ROBOTS / "jackal/jackal_control/config/control.yaml",
    ),
}


def without_gains(text: str) -> str:
    """Returns a vehicle file without its first comment and its controller, whose gains a simulation finds."""
    return re.sub(r" *<controller.*?</controller>\n", "", text.split("-->\n", 1)[1], flags=re.S)


@pytest.mark.parametrize("name", SOURCES)
def test_definitions_are_what_the_importer_makes(name: str) -> None:
    description, controllers = SOURCES[name]
    if not description.exists():
        pytest.skip("no robot descriptions beside the project")
    made = import_robot(description, controllers=controllers, name=name, tune=False, visuals=False)
    shipped = (ROOT / "worlds/definitions" / f"{name}.vehicle.xml").read_text()
    body = without_gains(made.xml)
    if name == "husky":  # its file has the centre of mass at the side; the definition says so
        body = body.replace('com_y="-0.085"', 'com_y="0"')
    assert body == without_gains(shipped)


@pytest.mark.parametrize("step", [0.001, 0.002, 0.005, 0.01, 0.02])
@pytest.mark.parametrize("controller", ["twist_ideal", "twist_pid"])
@pytest.mark.parametrize("name", SOURCES)
def test_they_turn_as_commanded(tmp_path: Path, name: str, controller: str, step: float) -> None:
    """The yaw rate is within 10 % of the command and the speed within 5 %, of skid-steered robots as well."""
    path = tmp_path / "a.world.xml"
    path.write_text(
        f"<mvsim_world><simul_timestep>{step}</simul_timestep>"
        f'<include file="../definitions/{name}.vehicle.xml" controller="{controller}"/>'
        f'<vehicle name="r" class="{name}"><init_pose>0 0 0</init_pose></vehicle></mvsim_world>'
    )
    world = World(path)
    robot = world.vehicles["r"]
    robot.set_twist(0.3, 0.6)
    world.step(4)
    assert robot.twist.vx == pytest.approx(0.3, rel=0.05)
    assert robot.twist.omega == pytest.approx(0.6, rel=0.1)
    assert step > 0.01 or not world.warnings  # a lidar of 62 Hz is read at 50 Hz
