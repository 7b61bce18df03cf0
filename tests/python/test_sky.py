"""Light, shadows and what is behind everything: in pictures for people and in those of cameras, alike."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from matplotlib import image

from mvsim_gym import World
from mvsim_gym.world import CameraReading

SIDE = 64
SIDES = {"Front": (255, 0, 0), "Back": (0, 255, 0), "Down": (0, 0, 255), "Up": (255, 255, 0)}
SIDES |= {"Left": (0, 255, 255), "Right": (255, 0, 255)}
FLOOR = "<element class='horizontal_plane'><color>#808080</color></element>"
POST = """<block><static>true</static><init_pose>{} {} 0</init_pose><zmax>2</zmax><color>#c0c0c0</color>
<shape><pt>-.3 -.3</pt><pt>.3 -.3</pt><pt>.3 .3</pt><pt>-.3 .3</pt></shape></block>"""


def seen_by_both(
    folder: Path, body: str, eye: tuple[float, float, float], yaw: float, pitch: float
) -> list[npt.NDArray[np.int_]]:
    """Returns the images of `draw` and of a camera of the world from one place; yaw and pitch in degrees."""
    focal = SIDE / 2 / np.tan(np.radians(55 / 2))  # the field of view of `draw`
    pixels = f"<ncols>{SIDE}</ncols><nrows>{SIDE}</nrows><cx>{SIDE / 2 - 0.5}</cx><cy>{SIDE / 2 - 0.5}</cy>"
    pose = f"{eye[0]} {eye[1]} {eye[2]} {yaw - 90} 0 {-90 - pitch}"  # of the optical frame
    camera = f"""<sensor class="camera" name="c"><pose_3d>{pose}</pose_3d>
        {pixels}<fx>{focal}</fx><fy>{focal}</fy></sensor>"""
    path = folder / "w.world.xml"
    path.write_text(f"<mvsim_world>{body}{camera}</mvsim_world>")
    world = World(path, seed=0)
    assert not world.warnings
    along = np.array(
        [
            np.cos(np.radians(yaw)) * np.cos(np.radians(pitch)),
            np.sin(np.radians(yaw)) * np.cos(np.radians(pitch)),
            -np.sin(np.radians(pitch)),
        ]
    )
    drawn = world.draw(SIDE, SIDE, camera=(eye, tuple(np.array(eye) + along)))
    reading = world.sensors["c"].read(fresh=True)
    assert isinstance(reading, CameraReading) and reading.image is not None
    return [drawn.astype(int), reading.image.astype(int)]


@pytest.mark.parametrize(
    ("side", "yaw", "pitch"),
    [
        ("Front", 90, 0),
        ("Back", -90, 0),
        ("Left", 0, 0),
        ("Right", 180, 0),
        ("Up", 90, -89),
        ("Down", 90, 89),
    ],
)
def test_each_side_of_a_skybox_is_where_it_belongs(
    tmp_path: Path, side: str, yaw: float, pitch: float
) -> None:
    for name, color in SIDES.items():
        image.imsave(tmp_path / f"sky_{name}.png", np.full((16, 16, 3), color, np.uint8))
    sky = "<element class='skybox'><textures>sky_%s.png</textures></element>"
    far = "<element class='horizontal_plane'><x_min>500</x_min><x_max>501</x_max></element>"
    for picture in seen_by_both(tmp_path, far + sky, (0, 0, 50), yaw, pitch):  # else people see a floor
        assert np.abs(picture[SIDE // 2, SIDE // 2] - SIDES[side]).max() <= 2


def test_a_skybox_stands_upright_and_looks_the_same_to_both(tmp_path: Path) -> None:
    shade = np.linspace(0, 255, 128).astype(np.uint8)
    # red grows to the right, green downwards
    picture = np.stack(
        [np.tile(shade, (128, 1)), np.tile(shade[:, None], (1, 128)), np.zeros((128, 128))], -1
    )
    for name in SIDES:
        image.imsave(tmp_path / f"sky_{name}.png", picture.astype(np.uint8))
    sky = "<element class='skybox'><textures>sky_%s.png</textures></element>"
    drawn, seen = seen_by_both(tmp_path, sky, (0, 0, 50), 90, 0)
    for found in (drawn, seen):
        assert found[32, 60, 0] > found[32, 4, 0] + 50
        assert found[60, 32, 1] > found[4, 32, 1] + 50
    assert np.abs(drawn - seen).max() <= 6
    across = seen_by_both(tmp_path, sky, (0, 0, 50), 45, -40)  # where three sides meet
    assert (np.abs(across[0] - across[1]).max(-1) > 12).mean() < 0.03


@pytest.mark.parametrize(
    ("azimuth", "shade"), [(0, (-1, 0)), (90, (0, -1)), (180, (1, 0)), (-90, (0, 1)), (-450, (0, 1))]
)
def test_a_shadow_falls_away_from_the_light(tmp_path: Path, azimuth: float, shade: tuple[int, int]) -> None:
    lights = f"""<lights><light_azimuth_deg>{azimuth}</light_azimuth_deg>
        <light_elevation_deg>45</light_elevation_deg></lights>"""
    for picture in seen_by_both(tmp_path, lights + FLOOR + POST.format(0, 0), (0, 0, 12), 90, 89.9):
        per_metre = SIDE / 2 / (12 * np.tan(np.radians(55 / 2)))  # +x to the right, +y upwards

        def at(x: float, y: float, picture: npt.NDArray[np.int_] = picture, scale: float = per_metre) -> int:
            return int(picture[round(SIDE / 2 - y * scale), round(SIDE / 2 + x * scale)].sum())

        dark, bright = at(1.2 * shade[0], 1.2 * shade[1]), at(-1.2 * shade[0], -1.2 * shade[1])
        assert dark < 0.85 * bright


def test_colour_and_strength_of_light(tmp_path: Path) -> None:
    def ground(inside: str) -> npt.NDArray[np.int_]:
        both = [
            picture[SIDE // 2 + 8, SIDE // 2]
            for picture in seen_by_both(tmp_path, inside + FLOOR + POST.format(0, 4), (0, 0, 12), 90, 89.9)
        ]
        assert np.abs(both[0] - both[1]).max() <= 3
        return both[1]

    usual = ground("<lights><light_elevation_deg>60</light_elevation_deg></lights>")
    red = ground(
        "<lights><light_elevation_deg>60</light_elevation_deg><light_color>#ff4040</light_color></lights>"
    )
    assert abs(red[0] - usual[0]) <= 1 and red[1] < 0.85 * usual[1]
    dim = ground(
        "<lights><light_elevation_deg>60</light_elevation_deg><light_ambient>0</light_ambient></lights>"
    )
    assert dim.max() < 0.9 * usual.min()
    black = ground("<lights><light_color>#000000</light_color><light_ambient>0</light_ambient></lights>")
    assert black.max() <= 1


def test_shadows_are_switched_off_for_all_or_for_a_plane(tmp_path: Path) -> None:
    roof = """<element class='horizontal_plane'><x_min>-1</x_min><x_max>1</x_max><y_min>-1</y_min><y_max>1</y_max>
        <z>3</z><enable_shadows>{}</enable_shadows></element>"""
    sun = "<light_azimuth_deg>0</light_azimuth_deg><light_elevation_deg>45</light_elevation_deg>"

    def below(lights: str, inside: str) -> list[int]:
        # 3 m beside the roof, which the sun shines past at 45 degrees
        pictures = seen_by_both(
            tmp_path, f"<lights>{sun}{lights}</lights>{FLOOR}{inside}", (-3, 0, 2.5), 90, 89.9
        )
        return [int(picture[SIDE // 2, SIDE // 2].sum()) for picture in pictures]

    shaded, open_ = below("", roof.format("true")), below("", roof.format("false"))
    off = below("<enable_shadows>false</enable_shadows>", roof.format("true"))
    glass = below(
        "", roof.format("true").replace("<z>", "<cull_face>FRONT</cull_face><z>")
    )  # not seen from above
    for dark, bright, without, through in zip(shaded, open_, off, glass, strict=True):
        assert dark < 0.85 * bright
        assert without == bright
        assert through == bright


def test_a_grid_of_the_ground_follows_its_vehicle_in_steps(tmp_path: Path) -> None:
    robot = """<vehicle name="{}"><init_pose>{} 0 0</init_pose><dynamics class="differential"/></vehicle>"""
    grid = """<element class='ground_grid'><interval>2</interval><color>#ff0000</color><line_width>5</line_width>
        <x_min>-1</x_min><x_max>1</x_max><y_min>-1</y_min><y_max>1</y_max>{}</element>"""
    path = tmp_path / "w.world.xml"

    def places(inside: str) -> set[int]:
        """x of the grid's lines that run along y, in whole metres."""
        path.write_text(
            f"<mvsim_world>{FLOOR}{robot.format('b', 5.9)}{robot.format('c', -5.9)}{inside}</mvsim_world>"
        )
        world = World(path, seed=0)
        assert not world.warnings
        picture = world.draw(200, 200, camera=((0.0, 0.0, 16.0), (0.0, 0.0, 0.0))).astype(int)
        per_metre = 100 / (16 * np.tan(np.radians(55 / 2)))
        row = picture[100 - round(0.8 * per_metre)]
        red = np.flatnonzero((row[:, 0] > 150) & (row[:, 1] < 80))
        return {round((column - 99.5) / per_metre) for column in red.tolist()}

    assert places(grid.format("<floating>false</floating>")) == {-1, 1}
    assert places(grid.format("")) == {3, 5}  # b comes first: 5.9 is two whole steps
    assert places(grid.format("<floating_focus>c</floating_focus>")) == {-5, -3}
    path.write_text(f"<mvsim_world>{grid.format('<floating_focus>bb</floating_focus>')}</mvsim_world>")
    assert "<floating_focus>: found 'bb', expected the name of a vehicle" in "".join(
        World(path, seed=0).warnings
    )


def test_a_marker_is_drawn_where_it_lies(tmp_path: Path) -> None:
    path = tmp_path / "w.world.xml"
    path.write_text(
        f"""<mvsim_world>{FLOOR}<marker type="line_strip"><color>#ff0000</color><translation>0 1 0.1</translation>
        <points>-2 0 0
        2 0 0</points></marker></mvsim_world>"""
    )
    world = World(path, seed=0)
    assert not world.warnings
    picture = world.draw(200, 200, camera=((0.0, 0.0, 8.0), (0.0, 0.0, 0.0))).astype(int)
    rows, columns = np.nonzero((picture[..., 0] > 150) & (picture[..., 1] < 80))
    per_metre = 100 / (8 * np.tan(np.radians(55 / 2)))
    assert abs(rows - (100 - per_metre)).max() <= 4
    assert columns.min() == pytest.approx(100 - 2 * per_metre, abs=4)
    assert columns.max() == pytest.approx(100 + 2 * per_metre, abs=4)
