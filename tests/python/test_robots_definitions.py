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
    "f1tenth-urdf": (DATA / "robots/f1tenth.urdf", DATA / "robots/f1tenth.yaml"),
    "husky": (
        CLEARPATH / "clearpath_platform_description/urdf/a200/a200.urdf.xacro",
        CLEARPATH / "clearpath_control/config/a200/control.yaml",
    ),
    "jackal-urdf": (
        ROBOTS / "jackal/jackal_description/urdf/jackal.urdf.xacro",
        ROBOTS / "jackal/jackal_control/config/control.yaml",
    ),
}
DRIVEN = [
    (name, controller)
    for name in SOURCES
    for controller in (("twist_front_steer_pid",) if name == "f1tenth-urdf" else ("twist_ideal", "twist_pid"))
]


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


def world_of(folder: Path, name: str, controller: str, step: float) -> World:
    path = folder / "a.world.xml"
    path.write_text(
        f"<mvsim_world><simul_timestep>{step}</simul_timestep>"
        f'<include file="../definitions/{name}.vehicle.xml" controller="{controller}"/>'
        f'<vehicle name="r" class="{name}"><init_pose>0 0 0</init_pose></vehicle></mvsim_world>'
    )
    return World(path)


@pytest.mark.parametrize("step", [0.001, 0.002, 0.005, 0.01, 0.02])
@pytest.mark.parametrize(("name", "controller"), DRIVEN)
def test_they_turn_as_commanded(tmp_path: Path, name: str, controller: str, step: float) -> None:
    """The yaw rate stays within 10 % of the command and the speed within 5 %, of skid-steered robots as well."""
    world = world_of(tmp_path, name, controller, step)
    robot = world.vehicles["r"]
    vx, omega = (0.5, 0.5) if name == "f1tenth-urdf" else (0.3, 0.6)
    robot.set_twist(vx, omega)
    world.step(4)
    for _ in range(20):
        world.step(step)
        assert robot.twist.vx == pytest.approx(vx, rel=0.05)
        assert robot.twist.omega == pytest.approx(omega, rel=0.1)
    assert step > 0.01 or not world.warnings  # a lidar of 62 Hz is read at 50 Hz


@pytest.mark.parametrize("controller", ["twist_ideal", "twist_pid"])
@pytest.mark.parametrize(
    ("name", "limit"), [("turtlebot4", 1.9), ("scout_mini", 2.523), ("husky", 1.0), ("jackal-urdf", 4.0)]
)
def test_they_turn_no_faster_than_their_makers_say(
    tmp_path: Path, name: str, controller: str, limit: float
) -> None:
    world = world_of(tmp_path, name, controller, 0.005)
    robot = world.vehicles["r"]
    for side in (1, -1):
        robot.set_twist(0, 9 * side)
        world.step(8)
        assert robot.twist.omega == pytest.approx(limit * side, rel=0.02)


def test_the_car_has_its_published_figures(tmp_path: Path) -> None:
    """f1tenth_gym: mass, yaw inertia and centre of mass of the whole car, limits of speed and steering."""
    car = world_of(tmp_path, "f1tenth-urdf", "twist_front_steer_pid", 0.005).vehicles["r"]
    parts = [(item, 0.18533) for item in car.wheel_mounts]
    text = (ROOT / "worlds/definitions/f1tenth-urdf.vehicle.xml").read_text()
    found = re.search(r'<chassis mass="(.*?)".*inertia="(.*?)" com_x="(.*?)"', text)
    assert found
    mass, inertia, x = (float(value) for value in found.groups())
    total = mass + sum(part for _, part in parts)
    centre = (mass * x + sum(part * item[0] for item, part in parts)) / total
    own = 0.18533 * (0.1016**2 + 0.0381**2) / 12
    whole = inertia + mass * (x - centre) ** 2
    whole += sum(own + part * ((item[0] - centre) ** 2 + item[1] ** 2) for item, part in parts)
    assert (total, centre, whole) == pytest.approx((3.74, 0.17145, 0.04712), rel=1e-3)
    assert "<max_velocity>20</max_velocity> <min_velocity>-5</min_velocity>" in text
    assert (
        "<max_steer_ang_deg>24.001" in text and '<servo rate="183.346' in text and "<mu>1.0489</mu>" in text
    )
