"""Look of surfaces: faces that are not drawn, textures."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from matplotlib import image

from mvsim_gym import World, WorldFileError


@pytest.mark.parametrize(("cull", "seen"), [("NONE", "ceiling"), ("BACK", "ceiling"), ("FRONT", "floor")])
def test_a_plane_is_drawn_on_the_sides_that_are_not_culled(tmp_path: Path, cull: str, seen: str) -> None:
    path = tmp_path / "w.world.xml"
    path.write_text(
        f"""<mvsim_world>
        <element class="horizontal_plane"><color>#ff0000</color></element>
        <element class="horizontal_plane"><z>3</z><color>#00ff00</color><cull_face>{cull}</cull_face></element>
        </mvsim_world>"""
    )
    world = World(path, seed=0)
    assert not world.warnings
    red, green, _ = world.draw(64, 64, camera="above")[32, 32].astype(int)
    assert (green > red) == (seen == "ceiling")


def test_textures_of_planes_walls_and_ground(tmp_path: Path) -> None:
    # red left of green, above blue left of white
    texture = np.array([[[255, 0, 0], [0, 255, 0]], [[0, 0, 255], [255, 255, 255]]], np.uint8)
    image.imsave(tmp_path / "t.png", texture.repeat(8, 0).repeat(8, 1))
    plane = "<x_min>-2</x_min><x_max>2</x_max><y_min>-2</y_min><y_max>2</y_max>"
    path = tmp_path / "w.world.xml"

    def drawn(element: str, camera: str = "above") -> npt.NDArray[np.int_]:
        path.write_text(f"<mvsim_world>{element}</mvsim_world>")
        world = World(path, seed=0)
        assert not world.warnings
        return world.draw(80, 80, camera=camera).astype(int)

    def quarters(picture: npt.NDArray[np.int_], upper: int = 30, lower: int = 50) -> list[str]:
        names = []
        for row, column in ((upper, 30), (upper, 50), (lower, 30), (lower, 50)):
            r, g, b = picture[row, column]
            low = min(r, g, b)
            names.append("white" if max(r, g, b) < 1.3 * low else "rgb"[int(np.argmax([r, g, b]))])
        return names

    size = "<texture_size_x>4</texture_size_x><texture_size_y>4</texture_size_y>"
    flat = f"<element class='horizontal_plane'>{plane}<texture>t.png</texture>{size}</element>"
    assert quarters(drawn(flat)) == ["r", "g", "b", "white"]
    ground = """<element class='elevation_map'><elevation_data_matrix>[0 0 0; 0 0 0; 0 0 0]
        </elevation_data_matrix><resolution>2</resolution><texture_image>t.png</texture_image>{}</element>"""
    # rows along +x, columns along +y
    assert quarters(drawn(ground.format(""))) == ["g", "white", "r", "b"]
    turned = ground.format("<texture_image_rotate>90</texture_image_rotate>")
    assert quarters(drawn(turned)) == ["white", "b", "g", "r"]
    wall = f"""<element class='vertical_plane'><x0>-2</x0><y0>0</y0><x1>2</x1><y1>0</y1><height>4</height>
        <thickness>2</thickness><texture>t.png</texture>{size}</element>"""
    picture = drawn(wall)
    assert quarters(picture, 53, 62) == ["r", "g", "b", "white"], "its side, upright"
    assert quarters(picture, 25, 40) == ["white", "b", "g", "r"], "its top: four copies meet in the middle"


def test_walls_of_a_large_mesh_are_refused(tmp_path: Path) -> None:
    count = 100_001
    triangle = struct.pack("<12fH", 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0)
    (tmp_path / "m.stl").write_bytes(bytes(80) + struct.pack("<I", count) + triangle * count)
    path = tmp_path / "w.world.xml"
    path.write_text("<mvsim_world><walls><model_uri>m.stl</model_uri></walls></mvsim_world>")
    with pytest.raises(
        WorldFileError, match=r"1:21: <model_uri> of <walls>: found a mesh of 100001 triangles"
    ):
        World(path, seed=0)
