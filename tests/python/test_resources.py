"""Where the URLs of worlds are found, and `strict`: keywords of World and of environments."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import gymnasium as gym
import pytest

from mvsim_gym import World, WorldFileError

URL = "https://host/maps/room.pgm"
ROOM = "P2 20 20 255 " + "255 " * 400


@pytest.fixture
def world(tmp_path: Path) -> str:
    (tmp_path / "maps").mkdir()
    (tmp_path / "maps" / "room.pgm").write_text(ROOM)
    path = tmp_path / "own" / "worlds" / "w.world.xml"
    path.parent.mkdir(parents=True)
    path.write_text(
        '<mvsim_world><include file="definitions/turtlebot3_burger.vehicle.xml"/>'
        '<vehicle name="robot" class="turtlebot3_burger"><init_pose>0 0 0</init_pose>'
        '<include file="definitions/lidar2d.sensor.xml" sensor_name="lidar"/></vehicle>'
        f'<element class="occupancy_grid"><file>{URL}</file></element></mvsim_world>'
    )
    return str(path)


def test_keyword_and_environment_variable(
    world: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MVSIM_CACHE", str(tmp_path / "none"))
    with pytest.raises(WorldFileError, match="mvsim-gym fetch"):
        World(world)
    loaded = World(world, resources={"https://host/": tmp_path})
    assert copy.deepcopy(loaded).timestep == pickle.loads(pickle.dumps(loaded)).timestep
    monkeypatch.setenv("MVSIM_RESOURCES", f"https://other/=/tmp\nhttps://host/maps/={tmp_path}/maps;")
    World(world)
    monkeypatch.setenv("MVSIM_RESOURCES", "https://host/maps")
    with pytest.raises(ValueError, match="expected prefix=folder"):
        World(world)


def test_keywords_that_name_nothing(world: str, tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="resources: found"):
        World(world, resources=str(tmp_path))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="is not a folder"):
        World(world, resources={"https://host/": tmp_path / "absent"})
    with pytest.raises(ValueError, match="expected the start of a URL"):
        World(world, resources={"host": tmp_path})
    with pytest.raises(TypeError, match="strict: found"):
        World(world, strict=1)  # type: ignore[arg-type]


def test_environments_take_them(world: str, tmp_path: Path) -> None:
    warned = world.replace("w.world.xml", "warned.world.xml")
    Path(warned).write_text(Path(world).read_text().replace("<include", "<gui/><include", 1))
    env = gym.make("mvsim/NavMap-v0", world=world, resources={"https://host/": tmp_path}, roots=tmp_path)
    with pytest.raises(WorldFileError, match="strict refuses"):
        gym.make(
            "mvsim/NavMap-v0",
            world=warned,
            strict=True,
            resources={"https://host/": tmp_path},
            roots=tmp_path,
        )
    env.close()


def test_strict_makes_a_warning_an_error(tmp_path: Path) -> None:
    path = tmp_path / "w.world.xml"
    path.write_text("<mvsim_world><joystick_enabled>true</joystick_enabled></mvsim_world>")
    assert len(World(str(path)).warnings) == 1
    with pytest.raises(
        WorldFileError, match=r"strict refuses a warning: .*w.world.xml:1:14: <joystick_enabled>"
    ):
        World(str(path), strict=True)
    path.write_text("<mvsim_world/>")
    World(str(path), strict=True)


def test_errors_show_the_chain_of_includes(tmp_path: Path) -> None:
    (tmp_path / "b.xml").write_text("<gravity>x</gravity>")
    (tmp_path / "a.xml").write_text('\n<include file="b.xml"/>')
    path = tmp_path / "w.world.xml"
    path.write_text('<mvsim_world>\n\n <include file="a.xml"/></mvsim_world>')
    with pytest.raises(
        WorldFileError, match=r"b.xml:1:1: .*, included at .*a.xml:2:1, included at .*w.world.xml:3:2"
    ):
        World(str(path))
