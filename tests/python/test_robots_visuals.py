"""Looks of imported robots: meshes, shapes and colours of their descriptions, and pictures of them."""

# ruff: noqa: E501 (lines of XML)
from __future__ import annotations

import json
import random
import shutil
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import DATA, lasting
from test_robots import CLEARPATH, ROBOTS, imported, needs_robots, robot_text

from mvsim_gym import World
from mvsim_gym.robots import ImportedRobot, ImportRobotError, import_robot
from mvsim_gym.robots.elements import Fate
from mvsim_gym.tools.cli import main

BOX = np.array([[x, y, z] for x in (0, 2) for y in (0, 1) for z in (0, 0.5)])
"""corners of tests/data/meshes/box.*"""


def triangles(data: bytes) -> dict[str, np.ndarray]:
    """Returns the triangles of a GLB file by the names of their materials, with z up."""
    assert data[:4] == b"glTF" and struct.unpack("<I", data[8:12])[0] == len(data)
    length = struct.unpack("<I", data[12:16])[0]
    document, body = json.loads(data[20 : 20 + length]), data[20 + length + 8 :]
    found = {}
    for primitive in document["meshes"][0]["primitives"]:
        view = document["bufferViews"][
            document["accessors"][primitive["attributes"]["POSITION"]]["bufferView"]
        ]
        raw = np.frombuffer(body[view["byteOffset"] :][: view["byteLength"]], "<f4").reshape(-1, 3, 3)
        found[document["materials"][primitive["material"]]["name"]] = np.stack(
            [raw[..., 0], -raw[..., 2], raw[..., 1]], axis=2
        )
    return found


def drawn(robot: ImportedRobot, part: str = "chassis") -> dict[str, np.ndarray]:
    return triangles(robot.files[f"mine.{part}.glb"])


def with_visual(visual: str, **options: Any) -> str:
    """A robot of which a link without a body has one visual, 0.5 m before the base and 0.12 m above the ground's lift."""
    part = f"""<link name="top"><visual>{visual}</visual></link><joint name="t" type="fixed"><parent link="base_link"/>
      <child link="top"/><origin xyz="0.5 0 0.02"/></joint>"""
    return robot_text(part, **options)


def meshes_in(folder: Path) -> None:
    for path in (DATA / "meshes").iterdir():
        shutil.copy(path, folder)


def reasons(robot: ImportedRobot, fate: Fate, tag: str) -> list[str]:
    return [row[3] for row in robot.rows if row[0] is fate and row[2] == tag]


def corners(parts: np.ndarray) -> np.ndarray:
    return np.unique(np.round(parts.reshape(-1, 3), 5), axis=0)


def volume(parts: np.ndarray) -> float:
    """The volume of a closed mesh; negative if its triangles show their backs."""
    return float(np.einsum("ij,ij->", parts[:, 0], np.cross(parts[:, 1], parts[:, 2])) / 6)


@pytest.mark.parametrize(
    ("scale", "factor"), [("1 1 1", (1, 1, 1)), ("0.5 2 1", (0.5, 2, 1)), ("1 -1 1", (1, -1, 1))]
)
@pytest.mark.parametrize("kind", ["stl", "obj", "dae"])
def test_a_mesh_stands_where_its_origins_say(
    tmp_path: Path, kind: str, scale: str, factor: tuple[float, ...]
) -> None:
    """A quarter turn about z, 0.1 m up, on a link 0.5 m before the base, whose wheels touch the ground at z = -0.08."""
    meshes_in(tmp_path)
    text = with_visual(
        f'<origin xyz="0 0 0.1" rpy="0 0 1.5707963267948966"/><geometry><mesh filename="box.{kind}" scale="{scale}"/></geometry>'
    )
    robot = imported(tmp_path, text)
    placed = BOX * factor
    up = 0.1 + 0.02 + 0.08 + (1.0 if kind == "dae" else 0.0)  # its scene has the box 1 m up
    expected = np.stack([0.5 - placed[:, 1], placed[:, 0], placed[:, 2] + up], axis=1)
    everything = np.concatenate(list(drawn(robot).values()))
    assert corners(everything) == pytest.approx(corners(expected), abs=1e-5)
    assert len(everything) == 12 and volume(everything) == pytest.approx(
        abs(float(np.prod(factor))), rel=1e-5
    )


def test_colours_of_meshes_win_over_those_of_the_description(tmp_path: Path) -> None:
    """As in RViz; a texture is one colour, and the table says so."""
    meshes_in(tmp_path)
    green = '<material name="g"><color rgba="0 1 0 1"/></material>'
    robot = imported(tmp_path, with_visual(f'<geometry><mesh filename="box.obj"/></geometry>{green}'))
    assert {name: len(parts) for name, parts in drawn(robot).items()} == {"#ff0000": 10, "#333333": 2}
    assert "a mesh with a texture is drawn in one colour" in reasons(robot, Fate.APPROXIMATED, "mesh")
    robot = imported(tmp_path, with_visual(f'<geometry><mesh filename="box.stl"/></geometry>{green}'))
    assert list(drawn(robot)) == ["#00ff00"]
    dae = (tmp_path / "box.dae").read_text()
    (tmp_path / "box.dae").write_text(
        dae.replace('<texture texture="sampler" texcoord="uv"/>', "<color>0 0 1 1</color>")
    )
    robot = imported(tmp_path, with_visual(f'<geometry><mesh filename="box.dae"/></geometry>{green}'))
    assert "#0000ff" in drawn(robot) and not reasons(robot, Fate.APPROXIMATED, "mesh")


@pytest.mark.parametrize(
    ("shape", "size", "full"),
    [
        ('<box size="0.2 0.4 0.6"/>', (0.2, 0.4, 0.6), 0.2 * 0.4 * 0.6),
        ('<cylinder radius="0.1" length="0.6"/>', (0.2, 0.2, 0.6), np.pi * 0.01 * 0.6),
        ('<sphere radius="0.1"/>', (0.2, 0.2, 0.2), np.pi * 4e-3 / 3),
    ],
)
def test_plain_shapes_are_drawn(tmp_path: Path, shape: str, size: tuple[float, ...], full: float) -> None:
    robot = imported(tmp_path, with_visual(f"<geometry>{shape}</geometry>"))
    (parts,) = drawn(robot).values()
    assert np.ptp(parts.reshape(-1, 3), axis=0) == pytest.approx(size, rel=1e-5)
    assert volume(parts) == pytest.approx(full, rel=0.03)
    assert parts.reshape(-1, 3).mean(axis=0)[0] == pytest.approx(0.5, abs=0.02)


def test_what_the_outline_shows_needs_no_file(tmp_path: Path) -> None:
    """A box as large as the outline, and cylinders as large as the wheels, of which only the colours are written."""
    look = '<visual><geometry><box size="0.6 0.4 0.2"/></geometry><material name="m"><color rgba="1 0 0 1"/></material></visual>'
    round_look = '<visual><origin rpy="1.5707963 0 0"/><geometry><cylinder radius="0.1" length="0.05"/></geometry><material name="b"><color rgba="0 0 1 1"/></material></visual>'
    text = robot_text().replace("</collision>", f"</collision>{look}", 1)
    text = text.replace('<link name="left_wheel">', f'<link name="left_wheel">{round_look}')
    robot = imported(tmp_path, text)
    assert not robot.files and "<visual>" not in robot.xml
    assert 'color="#ff0000"' in robot.xml and robot.xml.count('diameter="0.2" color="#0000ff"') == 1


def test_wheels_turn_with_their_meshes(tmp_path: Path) -> None:
    """A bar on a wheel is drawn in the wheel's frame, so it spins; equal wheels share a file."""
    bar = '<visual><geometry><box size="0.02 0.06 0.18"/></geometry><material name="r"><color rgba="1 0 0 1"/></material></visual>'
    grey = '<visual><geometry><box size="0.6 0.4 0.2"/></geometry><material name="g"><color rgba="0.5 0.5 0.5 1"/></material></visual>'
    text = robot_text().replace("</collision>", f"</collision>{grey}", 1)
    for side in ("left", "right"):
        text = text.replace(f'<link name="{side}_wheel">', f'<link name="{side}_wheel">{bar}')
    robot = imported(tmp_path, text, tune=True)
    assert list(robot.files) == ["mine.l_wheel.glb"] and robot.xml.count("mine.l_wheel.glb") == 2
    assert np.abs(drawn(robot, "l_wheel")["#ff0000"]).max(axis=(0, 1)) == pytest.approx([0.01, 0.03, 0.09])
    world = loaded(tmp_path, robot)
    side_view = ((0.0, 1.0, 0.1), (0.0, 0.25, 0.1))
    before = reds(world.draw(120, 120, camera=side_view))
    assert np.ptp(np.nonzero(before)[0]) > 2 * np.ptp(np.nonzero(before)[1])
    quarter = 0.1 * np.pi / 2  # m, of a wheel with a radius of 0.1 m
    world.vehicles["r"].set_twist(quarter, 0.0)
    world.step(1.0)
    x = world.vehicles["r"].pose.x
    after = reds(world.draw(120, 120, camera=((x, 1.0, 0.1), (x, 0.25, 0.1))))
    assert np.ptp(np.nonzero(after)[1]) > 2 * np.ptp(np.nonzero(after)[0])


def reds(picture: np.ndarray) -> np.ndarray:
    red, green, blue = (picture[..., k].astype(int) for k in range(3))
    return (red > 60) & (red > 2 * green) & (red > 2 * blue)


def loaded(folder: Path, robot: ImportedRobot, parts: str = "", **variables: str) -> World:
    """A world beside which the files of a robot lie in a folder of their own."""
    home = folder / "robot"
    home.mkdir(exist_ok=True)
    (home / "mine.vehicle.xml").write_text(robot.xml)
    for name, data in robot.files.items():
        (home / name).write_bytes(data)
    path = folder / "a.world.xml"
    given = "".join(f' {name}="{value}"' for name, value in variables.items())
    path.write_text(
        f'<mvsim_world version="1.0"><include file="robot/mine.vehicle.xml"{given}/>'
        f'<vehicle name="r" class="{robot.name}"><init_pose>0 0 0</init_pose></vehicle>{parts}</mvsim_world>'
    )
    return World(path)


def test_a_world_draws_the_mesh_or_the_outline(tmp_path: Path) -> None:
    """The red box reaches from x = 0.5 to 2.5 m; without visuals it is not there."""
    meshes_in(tmp_path)
    grey = '<visual><geometry><box size="0.1 0.1 0.1"/></geometry><material name="g"><color rgba="0.5 0.5 0.5 1"/></material></visual>'
    text = with_visual('<geometry><mesh filename="box.obj"/></geometry>')
    robot = imported(tmp_path, text.replace("</collision>", f"</collision>{grey}", 1))
    view = ((2.5, -4.0, 0.4), (2.0, 0.0, 0.35))
    assert reds(loaded(tmp_path, robot).draw(100, 100, camera=view)).sum() > 300
    plain = loaded(tmp_path, robot, visuals="false")
    assert not reds(plain.draw(100, 100, camera=view)).any() and not plain.warnings


def test_a_camera_sees_out_of_its_own_housing(tmp_path: Path) -> None:
    """The back of the housing's front side is not drawn. Another robot's housing is seen from outside."""
    camera = """<gazebo reference="top"><sensor name="eye" type="depth_camera"><camera><horizontal_fov>1</horizontal_fov>
      <image><width>16</width><height>16</height></image><clip><near>0.02</near><far>9</far></clip></camera></sensor></gazebo>"""
    text = with_visual('<geometry><box size="0.2 0.2 0.2"/></geometry>').replace(
        "</robot>", camera + "</robot>"
    )
    wall = "<block><static>true</static><init_pose>3.5 0 0</init_pose><zmax>3</zmax><shape><pt>0 -2</pt> <pt>0.1 -2</pt> <pt>0.1 2</pt> <pt>0 2</pt></shape></block>"
    world = loaded(tmp_path, imported(tmp_path, text), wall)
    world.step(0.2)
    depth = world.vehicles["r"].sensors["eye"].read().depth
    assert depth[2:7, 4:12] == pytest.approx(np.full((5, 8), 3.0), abs=0.02)


def test_a_mesh_that_is_not_there_leaves_the_collision_shape_of_its_link(tmp_path: Path) -> None:
    meshes_in(tmp_path)
    lost = '<visual><geometry><mesh filename="lost.stl"/></geometry><material name="b"><color rgba="0 0 1 1"/></material></visual>'
    text = with_visual('<geometry><mesh filename="box.stl"/></geometry>').replace(
        "</collision>", f"</collision>{lost}", 1
    )
    robot = imported(tmp_path, text)
    found = drawn(robot)
    assert np.ptp(found["#0000ff"].reshape(-1, 3), axis=0) == pytest.approx([0.6, 0.4, 0.2])
    (reason,) = reasons(robot, Fate.IGNORED, "mesh")
    assert "'lost.stl' is not there" in reason and reason.endswith(
        "the collision shapes of its link are drawn"
    )
    with pytest.raises(ImportRobotError, match=r"<mesh> has no effect: the mesh 'lost.stl'"):
        imported(tmp_path, text, strict=True)
    alone = imported(tmp_path, robot_text().replace("</collision>", f"</collision>{lost}", 1))
    assert not alone.files and "collision shapes" not in reasons(alone, Fate.IGNORED, "mesh")[0]
    plain = imported(tmp_path, text, visuals=False)
    assert not plain.files and "it is drawn as the outline, with a cylinder for each wheel" in reasons(
        plain, Fate.APPROXIMATED, "mesh"
    )


def test_a_chassis_of_which_nothing_is_there_is_its_outline(tmp_path: Path) -> None:
    """The shapes of the base are lost meshes. A small ball is there, and the outline of the wheels stands for the rest."""
    lost = '<geometry><mesh filename="lost.stl"/></geometry>'
    text = with_visual('<geometry><sphere radius="0.03"/></geometry>')
    box = '<collision><geometry><box size="0.6 0.4 0.2"/></geometry></collision>'
    assert box in text
    robot = imported(tmp_path, text.replace(box, f"<visual>{lost}</visual><collision>{lost}</collision>"))
    everything = np.concatenate(list(drawn(robot).values())).reshape(-1, 3)
    low, high = robot.base.outline.min(axis=0), robot.base.outline.max(axis=0)
    assert (everything[:, :2].min(axis=0) <= low + 1e-5).all() and everything[:, 1].max() == pytest.approx(
        high[1]
    )
    assert any(
        reason.endswith("the outline of the chassis is drawn")
        for reason in reasons(robot, Fate.IGNORED, "mesh")
    )


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("a.stl", b"solid a\nvertex 1 2 x\n", "damaged"),
        ("a.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n", "a face names a corner that is not there"),
        ("a.dae", b"<COLLADA>", "no element found"),
        ("a.dae", b'<!DOCTYPE a [<!ENTITY b "c">]><COLLADA/>', "document type declaration"),
        ("a.fbx", b"", "found a mesh of the kind 'fbx'"),
        ("../secret.stl", b"", "outside of the folders"),
    ],
)
def test_meshes_that_cannot_be_read_are_rows(tmp_path: Path, name: str, data: bytes, reason: str) -> None:
    (tmp_path / "secret.stl").write_bytes(b"")
    home = tmp_path / "home"
    home.mkdir()
    if not name.startswith(".."):
        (home / name).write_bytes(data)
    robot = imported(home, with_visual(f'<geometry><mesh filename="{name}"/></geometry>'))
    (row,) = [row for row in robot.rows if row[2] == "mesh"]
    assert (
        row[0] is Fate.IGNORED
        and reason in row[3]
        and row[1].startswith("mine.urdf.xacro:")
        and not robot.files
    )


def stl(parts: np.ndarray) -> bytes:
    rows = np.zeros(len(parts), dtype=[("n", "<f4", 3), ("v", "<f4", (3, 3)), ("a", "<u2")])
    rows["v"] = parts
    return bytes(80) + struct.pack("<I", len(parts)) + rows.tobytes()


def test_many_triangles_become_fewer(tmp_path: Path) -> None:
    """A sphere of 320,000 triangles: at most 30,000 of the same size are left, and the table says so."""
    turns, tilts = np.meshgrid(np.linspace(0, 2 * np.pi, 401), np.linspace(-np.pi / 2, np.pi / 2, 401))
    grid = np.stack([np.cos(tilts) * np.cos(turns), np.cos(tilts) * np.sin(turns), np.sin(tilts)], axis=-1)
    a, b, c, d = grid[:-1, :-1], grid[:-1, 1:], grid[1:, 1:], grid[1:, :-1]
    whole = np.concatenate([np.stack(own, axis=2).reshape(-1, 3, 3) for own in ((a, b, c), (a, c, d))])
    (tmp_path / "ball.stl").write_bytes(stl(whole))
    robot = imported(
        tmp_path, with_visual('<geometry><mesh filename="ball.stl" scale="0.1 0.1 0.1"/></geometry>')
    )
    (parts,) = drawn(robot).values()
    assert 5_000 < len(parts) <= 30_000
    assert volume(parts) == pytest.approx(4e-3 * np.pi / 3, rel=0.02)
    assert any(
        "a mesh of 320000 triangles is drawn with" in reason
        for reason in reasons(robot, Fate.APPROXIMATED, "mesh")
    )
    many = "".join(
        f'<link name="b{i}"><visual><geometry><mesh filename="ball.stl"/></geometry></visual></link><joint name="j{i}" type="fixed"><parent link="base_link"/><child link="b{i}"/></joint>'
        for i in range(40)
    )
    robot = imported(tmp_path, robot_text(many))
    assert sum(len(own) for data in robot.files.values() for own in triangles(data).values()) <= 200_000
    assert "it is not drawn: a robot has at most 200000 triangles" in reasons(robot, Fate.IGNORED, "mesh")


def test_visuals_of_sdf(tmp_path: Path) -> None:
    """Colour and transparency; an invisible shape has a row."""
    meshes_in(tmp_path)
    look = """<visual name="v"><pose>0 0 0.3 0 0 0</pose><transparency>0.5</transparency><geometry><mesh><uri>box.stl</uri>
      <scale>0.1 0.1 0.1</scale></mesh></geometry><material><diffuse>1 0 0 1</diffuse></material></visual>
      <visual name="w"><geometry><box><size>1 1 1</size></box></geometry><material><diffuse>1 0 0 0</diffuse></material></visual>"""
    base = f'<link name="base_link"><collision name="c"><geometry><box><size>0.6 0.4 0.2</size></box></geometry></collision><inertial><mass>8</mass></inertial>{look}</link>'
    wheels = ""
    for side, y in (("left", 0.25), ("right", -0.25)):
        wheels += f"""<link name="{side}"><pose>0 {y} 0 0 0 0</pose><inertial><mass>0.5</mass></inertial><collision name="c"><pose>0 0 0 1.5707963 0 0</pose>
          <geometry><cylinder><radius>0.12</radius><length>0.05</length></cylinder></geometry></collision></link>
          <joint name="{side}_j" type="revolute"><parent>base_link</parent><child>{side}</child><axis><xyz>0 1 0</xyz></axis></joint>"""
    path = tmp_path / "mine.sdf"
    path.write_text(f'<sdf version="1.7"><model name="mine">{base}{wheels}</model></sdf>')
    robot = import_robot(path, tune=False)
    found = drawn(robot)
    assert list(found) == ["#ff000080"]
    assert found["#ff000080"].reshape(-1, 3).min(axis=0) == pytest.approx([0, 0, 0.3 + 0.12], abs=1e-6)
    assert reasons(robot, Fate.IGNORED, "box") == ["it is invisible"]
    assert not loaded(tmp_path, robot).warnings


def test_joints_that_do_not_move_here_are_named(tmp_path: Path) -> None:
    arm = """<link name="arm"><visual><geometry><box size="0.1 0.1 0.5"/></geometry></visual></link><joint name="shoulder" type="revolute">
      <parent link="base_link"/><child link="arm"/><axis xyz="0 1 0"/><limit lower="-1" upper="1"/></joint>"""
    robot = imported(tmp_path, robot_text(arm))
    assert "it does not move: its links are drawn where they stand at zero" in reasons(
        robot, Fate.APPROXIMATED, "joint"
    )


@needs_robots
def test_the_jackal_looks_like_its_maker_draws_it() -> None:
    """Triangles of the base, the fenders and the wheels of its STL files, and the small shapes of sensors."""
    folder = ROBOTS / "jackal/jackal_description"
    robot = import_robot(folder / "urdf/jackal.urdf.xacro", tune=False)
    assert set(robot.files) == {"jackal.chassis.glb", "jackal.lf_wheel.glb"}

    def count(name: str) -> int:
        return struct.unpack("<I", (folder / f"meshes/{name}.stl").read_bytes()[80:84])[0]

    assert sum(map(len, triangles(robot.files["jackal.lf_wheel.glb"]).values())) == count("jackal-wheel")
    chassis = triangles(robot.files["jackal.chassis.glb"])
    assert len(chassis["#cccc00"]) == count("jackal-fenders")
    everything = np.concatenate(list(chassis.values())).reshape(-1, 3)
    assert np.ptp(everything[:, 0]) == pytest.approx(0.508, abs=0.02)  # of the data sheet, over the fenders
    with_mesh = import_robot(
        CLEARPATH / "a200/a200.urdf.xacro",
        packages={"clearpath_platform_description": CLEARPATH.parent},
        tune=False,
    )
    assert not with_mesh.files and any(
        "base_link.dae' is not there" in reason for reason in reasons(with_mesh, Fate.IGNORED, "mesh")
    )


def test_the_command_writes_meshes_and_shows_frames(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib", reason="the extra plot is not installed")
    meshes_in(tmp_path)
    imu = '<gazebo reference="base_link"><sensor name="imu" type="imu"/></gazebo>'
    path, out = tmp_path / "mine.urdf", tmp_path / "out"
    path.write_text(
        with_visual('<geometry><mesh filename="box.stl" scale="0.1 0.1 0.1"/></geometry>').replace(
            "</robot>", imu + "</robot>"
        )
    )
    out.mkdir()
    vehicle = str(out / "robot.vehicle.xml")
    assert main(["import", str(path), "-o", vehicle, "--check"]) == 0
    assert sorted(item.name for item in out.iterdir()) == ["mine.chassis.glb", "robot.vehicle.xml"]
    assert "mine.chassis.glb" in capsys.readouterr().out
    assert main(["show", vehicle, "-o", str(tmp_path / "a.png")]) == 0
    assert (tmp_path / "a.png").stat().st_size > 20_000
    assert main(["show", vehicle, "-o", str(tmp_path / "a.png"), "--time", "1"]) == 1
    assert "expected a world file" in capsys.readouterr().err
    assert main(["import", str(path), "-o", vehicle, "--force", "--no-visuals"]) == 0
    assert "<visual>" not in Path(vehicle).read_text()
    assert main(["import", str(DATA / "yard.world.xml"), "-o", vehicle, "--no-visuals"]) == 1


def changed(data: bytes, draw: random.Random) -> bytes:
    """A few bytes that are others, lost or doubled."""
    for _ in range(draw.randint(1, 4)):
        at, size = draw.randrange(len(data) + 1), draw.randrange(1, 9)
        put = draw.choice(
            [
                b"",
                bytes([draw.randrange(256)]),
                b"-1",
                b"1e39",
                b"nan",
                b"999999999",
                data[at : at + size] * 2,
            ]
        )
        data = data[:at] + put + data[at + size :]
    return data


def survives(folder: Path, count: int, seed: int) -> int:
    """Returns how many of the damaged meshes were drawn."""
    draw, found = random.Random(seed), 0
    meshes_in(folder)
    sources = {kind: (DATA / f"meshes/box.{kind}").read_bytes() for kind in ("stl", "obj", "dae")}
    sources["mtl"] = (DATA / "meshes/box.mtl").read_bytes()
    sources["binary"] = (DATA / "meshes/box_binary.stl").read_bytes()
    for _ in range(count):
        kind = draw.choice(list(sources))
        name = {"binary": "box.stl", "mtl": "box.obj"}.get(kind, f"box.{kind}")
        target = folder / ("box.mtl" if kind == "mtl" else name)
        before = target.read_bytes()
        target.write_bytes(changed(sources[kind], draw))
        robot = imported(folder, with_visual(f'<geometry><mesh filename="{name}"/></geometry>'))
        found += bool(robot.files)
        for data in robot.files.values():
            assert all(np.isfinite(own).all() for own in triangles(data).values())
        target.write_bytes(before)
    return found


def test_damaged_meshes_are_drawn_or_named(tmp_path: Path) -> None:
    assert 20 < survives(tmp_path, 150, 3) < 150


@pytest.mark.slow
def test_two_thousand_damaged_meshes(tmp_path: Path) -> None:
    count = lasting(2_000, 300)
    assert count // 10 < survives(tmp_path, count, 29) < count
