"""A light robot whose tires do not say how much their bearings brake is told a value that suits it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from conftest import ROOT

import mvsim_gym

ROBOT = """<vehicle name="{name}"><init_pose>{x} 0 0</init_pose>
  <dynamics class="differential">
    <l_wheel pos="0 0.08" mass="0.05" width="0.03" diameter="0.066"/>
    <r_wheel pos="0 -0.08" mass="0.05" width="0.03" diameter="0.066"/>
    <chassis mass="{mass}" zmin="0" zmax="0.14"/>
    <controller class="{controller}"/>
  </dynamics>
  {friction}
</vehicle>
"""


def world_of(folder: Path, text: str, **keywords: object) -> mvsim_gym.World:
    path = folder / "a.world.xml"
    path.write_text(f"<mvsim_world><simul_timestep>0.002</simul_timestep>\n{text}</mvsim_world>")
    return mvsim_gym.World(path, **keywords)


def robot(
    friction: str = '<friction class="default"/>',
    name: str = "r",
    x: float = 0,
    mass: float = 1,
    controller: str = "raw",
) -> str:
    return ROBOT.format(friction=friction, name=name, x=x, mass=mass, controller=controller)


def told(world: mvsim_gym.World) -> list[str]:
    return [text for text in world.warnings if "C_damping" in text]


@pytest.mark.parametrize("tire", ["default", "ellipse", "wardiagnemma"])
def test_a_light_robot_is_told_a_value_with_which_it_rolls(tire: str, tmp_path: Path) -> None:
    world = world_of(tmp_path, robot(f'<friction class="{tire}"/>'))
    (text,) = told(world)
    assert re.match(r".*a\.world\.xml:9:3: vehicle 'r' has no <C_damping>", text), text
    found = re.search(r"loses its speed in (\S+) s; C_damping (\S+) lets it roll", text)
    assert found
    # m v' = -C v / R^2 of each wheel, whose own inertia counts as half of its mass
    assert float(found[1]) == pytest.approx((1.1 + 0.05) * 0.033**2 / (2 * 0.01), rel=0.02)
    better = robot(f'<friction class="{tire}"><C_damping>{found[2]}</C_damping><C_rr>0</C_rr></friction>')
    for tags, least, most in (
        (robot(f'<friction class="{tire}"><C_rr>0</C_rr></friction>'), 0, 0.3),
        (better, 0.7, 1),
    ):
        world = world_of(tmp_path, tags)
        world.vehicles["r"].set_command(-0.02, -0.02)
        world.step(0.5)
        before = world.vehicles["r"].twist.vx
        world.vehicles["r"].set_command(0, 0)
        world.step(0.5)
        assert least <= world.vehicles["r"].twist.vx / before <= most
    assert not told(world)


@pytest.mark.parametrize(
    "vehicle",
    [
        robot('<friction class="default"><C_damping>0.01</C_damping></friction>'),
        robot(mass=20),
        robot(controller="twist_ideal"),  # drives whatever the tires do
    ],
)
def test_who_needs_no_other_value_is_told_none(vehicle: str, tmp_path: Path) -> None:
    assert not told(world_of(tmp_path, vehicle))


def test_robots_alike_are_told_once(tmp_path: Path) -> None:
    """Also those without <friction>, which have the tires `default`."""
    many = "".join(robot("", f"r{i}", i) for i in range(5)) + robot("", "s", 9, mass=0.5)
    first, second = told(world_of(tmp_path, many))
    assert "vehicle 'r0'" in first and "vehicle 's'" in second


def test_strict_refuses_it(tmp_path: Path) -> None:
    with pytest.raises(mvsim_gym.WorldFileError, match=r"strict refuses .*has no <C_damping>"):
        world_of(tmp_path, robot(), strict=True)


def test_our_own_vehicles_say_it() -> None:
    for path in sorted((ROOT / "worlds" / "definitions").glob("*.vehicle.xml")):
        assert "<C_damping>" in path.read_text(), path.name
