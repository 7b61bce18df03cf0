"""Import of SDF worlds: blocks where the shapes of the models stand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from test_robots import ROBOTS, needs_robots

from mvsim_gym import World
from mvsim_gym.robots import ImportRobotError, import_world
from mvsim_gym.tools.cli import main

GAZEBO = ROBOTS / "turtlebot3_sdf" / "turtlebot3_gazebo"
BOX = "<geometry><box><size>2 1 0.5</size></box></geometry>"
ROBOT = (
    '<vehicle name="r"><init_pose>0 0 0</init_pose><dynamics class="differential"/><sensor class="laser" name="l">\
<pose>0 0 0</pose><fov_degrees>90</fov_degrees><nrays>3</nrays><range_std_noise>0</range_std_noise>\
<angle_std_noise_deg>0</angle_std_noise_deg></sensor></vehicle>'
)


def world_text(models: str) -> str:
    return f"<sdf version='1.7'><world name='w'>{models}</world></sdf>"


def model(
    shape: str, pose: str = "5 0 0.25 0 0 0", extra: str = "<static>true</static>", name: str = "m"
) -> str:
    link = f"<link name='l'><collision name='c'>{shape}</collision></link>"
    return f"<model name='{name}'>{extra}<pose>{pose}</pose>{link}</model>"


def ranges(folder: Path, text: str) -> np.ndarray:
    """Returns the ranges of a lidar at the origin at -45, 0 and 45 degrees."""
    source = folder / "a.sdf"
    source.write_text(text)
    target = folder / "a.world.xml"
    target.write_text(import_world(source).xml.replace("</mvsim_world>", ROBOT + "</mvsim_world>"))
    world = World(target)
    world.step()
    return np.asarray(world.vehicles["r"].sensors["l"].read(fresh=True).ranges)


@pytest.mark.parametrize(
    ("shape", "distance"),
    [
        (BOX, 4.0),
        ("<geometry><cylinder><radius>0.5</radius><length>1</length></cylinder></geometry>", 4.5),
        ("<pose>0.5 0 0 0 0 1.5707963267948966</pose>" + BOX, 5.0),
    ],
)
def test_shapes_stand_where_the_file_says(tmp_path: Path, shape: str, distance: float) -> None:
    found = ranges(tmp_path, world_text(model(shape)))
    assert found[1] == pytest.approx(distance, abs=0.01 * distance)
    assert found[0] == found[2] == 80


def test_poses_of_model_link_and_shape_are_chained(tmp_path: Path) -> None:
    """A model turned by a quarter: its link 3 m along its own x axis stands 3 m along the world's y axis."""
    inner = f"<link name='l'><pose>3 0 0.25 0 0 0</pose><collision name='c'>{BOX}</collision></link>"
    text = world_text(
        f"<model name='m'><static>1</static><pose>4 0 0 0 0 1.5707963267948966</pose>{inner}</model>"
    )
    source = tmp_path / "a.sdf"
    source.write_text(text)
    assert "<init_pose>4 3 0</init_pose><zmin>0</zmin> <zmax>0.5</zmax>" in import_world(source).xml


def test_what_moves_has_its_mass(tmp_path: Path) -> None:
    source = tmp_path / "a.sdf"
    source.write_text(
        world_text(
            model(BOX, extra="").replace(
                "<link name='l'>", "<link name='l'><inertial><mass>7</mass></inertial>"
            )
        )
    )
    found = import_world(source)
    assert "<mass>7</mass>" in found.xml and "static" not in found.xml


def test_robots_and_missing_models_are_rows_of_the_table(tmp_path: Path) -> None:
    robot = model(
        BOX, extra="<joint name='j' type='revolute'><parent>l</parent><child>l</child></joint>", name="bot"
    )
    include = (
        "<include><uri>model://chair</uri></include><include><uri>https://x.org/Ground Plane</uri></include>"
    )
    source = tmp_path / "a.world"
    source.write_text(world_text(model(BOX) + robot + include))
    found = import_world(source)
    assert found.blocks == 1
    lines = "\n".join(found.table())
    assert (
        "is a robot" in lines and "'model://chair' is not there" in lines and "flat ground and a sun" in lines
    )
    with pytest.raises(ImportRobotError, match=r"a\.world:\d+: <.*> has no effect"):
        import_world(source, strict=True)


def test_models_that_include_each_other_end(tmp_path: Path) -> None:
    folder = tmp_path / "loop"
    folder.mkdir()
    inner = "<model name='m'><include><uri>model://loop</uri></include></model>"
    (folder / "model.sdf").write_text(f"<sdf version='1.7'>{inner}</sdf>")
    source = tmp_path / "a.sdf"
    source.write_text(world_text("<include><uri>model://loop</uri></include>"))
    with pytest.raises(ImportRobotError, match="nested deeper"):
        import_world(source, packages={"loop": folder})


@needs_robots
def test_the_world_of_the_turtlebot3(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nine pillars of 0.15 m, 1.1 m apart, within walls that are meshes."""
    out = tmp_path / "a.world.xml"
    package = f"turtlebot3_world={GAZEBO / 'models/turtlebot3_world'}"
    assert (
        main(["import", str(GAZEBO / "worlds/turtlebot3_world.world"), "--package", package, "-o", str(out)])
        == 0
    )
    assert "41 blocks" in capsys.readouterr().out
    poses = [block.pose for block in World(out).blocks.values()]
    near = {(round(pose.x, 2), round(pose.y, 2)) for pose in poses}
    assert {(x, y) for x in (-1.1, 0, 1.1) for y in (-1.1, 0, 1.1)} <= near
