"""Import of floor plans: walls and maps stand where the plan has them, and nothing is dropped silently."""

from __future__ import annotations

import math
import random
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mvsim_gym import World
from mvsim_gym.robots import ImportedPlan, ImportRobotError, import_plan
from mvsim_gym.robots.plan_lines import flattened
from mvsim_gym.tools.cli import main

pytest.importorskip("svgelements", reason="the extra robots is not installed")
ezdxf: Any = pytest.importorskip("ezdxf", reason="the extra robots is not installed")

THICKNESS = 0.1
ROBOT = (
    '<vehicle name="r"><init_pose>0 0 0</init_pose><dynamics class="differential"/><sensor class="laser" name="l">\
<pose>0 0 0</pose><fov_degrees>180</fov_degrees><nrays>3</nrays><range_std_noise>0</range_std_noise>\
<angle_std_noise_deg>0</angle_std_noise_deg></sensor></vehicle>'
)


def svg(shapes: str, head: str = 'width="100cm" height="80cm" viewBox="0 0 1000 800"') -> str:
    return f'<svg xmlns="http://www.w3.org/2000/svg" {head}>{shapes}</svg>'


def imported(folder: Path, text: str, **options: Any) -> ImportedPlan:
    source = folder / "a.svg"
    source.write_text(text)
    return import_plan(source, **options)


def ranges(folder: Path, made: ImportedPlan) -> np.ndarray:
    """Returns the ranges of a lidar at the origin to the right, ahead and to the left."""
    for name, data in made.files.items():
        (folder / name).write_bytes(data)
    target = folder / "a.world.xml"
    target.write_text(made.xml.replace("</mvsim_world>", ROBOT + "</mvsim_world>"))
    world = World(target)
    world.step()
    assert not world.warnings
    return np.asarray(world.vehicles["r"].sensors["l"].read(fresh=True).ranges)


def ends(made: ImportedPlan) -> np.ndarray:
    """Returns the ends of the walls, (n, 2, 2)."""
    words = made.xml.split("<shape>")[1].split("</shape>")[0].replace("<pt>", " ").replace("</pt>", " ")
    return np.array(words.split(), dtype=float).reshape(-1, 2, 2)


def png(pixels: np.ndarray, extra: bytes = b"") -> bytes:
    def chunk(name: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))

    height, width = pixels.shape
    rows = b"".join(b"\0" + row.tobytes() for row in pixels.astype(np.uint8))
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + extra + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def test_lines_of_an_svg_are_walls(tmp_path: Path) -> None:
    """A page of 1 m x 0.8 m at 1:10, its middle at the origin: the walls stand half a thickness before their lines."""
    shapes = '<rect x="100" y="100" width="800" height="600"/>'
    made = imported(tmp_path, svg(shapes), scale=10, origin=(-5, -4, 0), strict=True)
    assert made.walls == 4 and made.size == pytest.approx((8, 6))
    assert ranges(tmp_path, made) == pytest.approx([3 - 0.05, 4 - 0.05, 3 - 0.05], abs=1e-6)


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ('<line x1="0" y1="800" x2="1000" y2="800"/>', [[[0, 0], [10, 0]]]),
        ('<polyline points="0,800 1000,800 1000,0"/>', [[[0, 0], [10, 0]], [[10, 0], [10, 8]]]),
        (
            '<polygon points="0 800 1000 800 1000 0"/>',
            [[[0, 0], [10, 0]], [[10, 0], [10, 8]], [[10, 8], [0, 0]]],
        ),
        ('<path d="M0 800h1e3m-1000-800 L500 0"/>', [[[0, 0], [10, 0]], [[0, 8], [5, 8]]]),
        ('<g transform="translate(0 800) scale(2)"><path d="M0 0 0-100"/></g>', [[[0, 0], [0, 2]]]),
        (
            '<line id="a" x2="0" y1="800" y2="700"/><use href="#a" x="300"/>',
            [[[0, 0], [0, 1]], [[3, 0], [3, 1]]],
        ),
        ('<path d="M0 800A 0 5 0 0 1 100 800"/>', [[[0, 0], [1, 0]]]),
    ],
)
def test_shapes_of_svg(tmp_path: Path, shape: str, expected: list[Any]) -> None:
    made = imported(tmp_path, svg(shape), scale=10)
    assert ends(made) == pytest.approx(np.array(expected, dtype=float), abs=1e-9)


@pytest.mark.parametrize(
    "shape",
    [
        '<circle cx="500" cy="400" r="300"/>',
        '<path d="M200 400a300 300 0 0 1 600 0 300 300 0 01-600 0z"/>',
        '<ellipse transform="translate(500 400) rotate(30)" rx="300" ry="300"/>',
    ],
)
def test_round_shapes_are_within_the_tolerance(tmp_path: Path, shape: str) -> None:
    """Corners and middles of the chords of a circle of 3 m differ from the radius by at most the tolerance."""
    made = imported(tmp_path, svg(shape), scale=10, origin=(-5, -4, 0), tolerance=0.01)
    points = ends(made)
    for radii in (np.hypot(*points[:, 0].T), np.hypot(*points.mean(axis=1).T)):
        assert np.abs(radii - 3).max() < 0.01
    assert made.walls < 120 and "chords within 0.01 m" in "\n".join(made.table())
    assert ranges(tmp_path, made) == pytest.approx([2.95, 2.95, 2.95], abs=0.011)


@pytest.mark.parametrize("degree", [2, 3])
def test_chords_of_curves_are_within_the_tolerance(degree: int) -> None:
    random = np.random.default_rng(degree)
    for _ in range(20):
        control = random.uniform(-5, 5, (degree + 1, 2))
        points = flattened(control, 0.01)
        t = np.linspace(0, 1, 4 * (len(points) - 1) + 1)[:, None]
        curve = sum(
            math.comb(degree, i) * t**i * (1 - t) ** (degree - i) * control[i] for i in range(degree + 1)
        )
        u = (np.arange(len(t)) % 4 / 4)[:, None][:-1]
        k = np.arange(len(t) - 1) // 4
        chords = points[k] * (1 - u) + points[k + 1] * u
        assert np.hypot(*(curve[:-1] - chords).T).max() < 0.01


def test_layers_and_what_is_not_shown(tmp_path: Path) -> None:
    """Inkscape's layers are groups with a label. A hidden one is used if it is named."""
    line = '<line x1="0" y1="0" x2="100" y2="0"/>'
    shapes = (
        "<sodipodi:namedview/><title>plan</title><style>.a{}</style><text>Kitchen</text>"
        f'<g inkscape:label="walls">{line}{line}</g><g inkscape:label="chairs" style="display: none">{line}</g>'
        f'<g id="doors">{line}<image href="/etc/passwd"/></g>'
    )
    assert imported(tmp_path, svg(shapes)).walls == 3
    assert imported(tmp_path, svg(shapes), layers=["chairs"]).walls == 1
    made = imported(tmp_path, svg(shapes), layers=["walls"])
    lines = "\n".join(made.table())
    assert made.walls == 2
    assert "style sheets are not read" in lines and "its layer is not chosen" in lines
    assert len(made.rows) == 13  # each element once
    lines = "\n".join(imported(tmp_path, svg(shapes)).table())
    assert "text is no wall" in lines and "pictures are no walls" in lines and "not displayed" in lines
    with pytest.raises(ImportRobotError, match=r"a\.svg:1: <\w+> has no effect"):
        imported(tmp_path, svg(shapes), strict=True)
    with pytest.raises(
        ValueError, match="found 'wall', expected one of: chairs, doors, walls, nearest: 'walls'"
    ):
        imported(tmp_path, svg(shapes), layers=["wall"])


LINE = '<line x2="5"/>'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (svg(LINE, ""), "expected --unit"),
        (svg(LINE, 'width="10cm" height="10cm" viewBox="0 0 10 20"'), "by width and .* by height"),
        (svg(LINE, 'viewBox="0 0 0 1"'), "expected a size above 0"),
        (svg('<path d="M0 0 L 5 5 junk"/>'), "found 'junk' at 11, expected path data"),
        (svg('<path d="M0 0 L 5"/>'), "expected path data"),
        (svg('<path d="M0 0 L 1e999 5"/>'), "expected path data"),
        (svg('<g transform="spin(3)"><line x2="3"/></g>'), "found 'spin"),
        (svg('<g transform="rotate(3deg)"><line x2="3"/></g>'), "found 'rotate"),
        (svg('<line x2="5mm"/>'), "expected units of the drawing"),
        (svg('<line x2="1e8"/>'), "from the world's origin"),
        (svg('<rect width="-1" height="2"/>'), "size below 0"),
        (svg('<polygon points="1 2 3"/>'), "expected pairs"),
        (svg(""), "found no lines"),
        (svg('<g id="a"><use href="#a"/></g>'), "nested deeper"),
        ('<!DOCTYPE svg [<!ENTITY a "b">]>' + svg(LINE), "document type declaration"),
        ("<html/>", "expected <svg>"),
        (svg(f'{"<g>" * 60}<line x2="5"/>{"</g>" * 60}'), "nested deeper"),
    ],
)  # fmt: skip
def test_damaged_drawings(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ImportRobotError, match=message):
        imported(tmp_path, text)


def test_copies_of_copies_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mvsim_gym.robots.plan_svg._MAX_COPIES", 500)
    groups = "".join(f'<g id="a{i + 1}">' + f'<use href="#a{i}"/>' * 10 + "</g>" for i in range(9))
    with pytest.raises(ImportRobotError, match="more than 500 copies"):
        imported(tmp_path, svg(f'<g id="a0"><line x2="5"/></g>{groups}'))


def test_a_document_type_without_declarations_is_accepted(tmp_path: Path) -> None:
    head = (
        '<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">'
    )
    assert imported(tmp_path, head + svg(LINE)).walls == 1


def dxf(folder: Path, fill: Callable[[Any, Any], None], unit: int = 6) -> Path:
    document = ezdxf.new(units=unit)
    fill(document, document.modelspace())
    document.saveas(folder / "a.dxf")
    return folder / "a.dxf"


def test_a_room_in_a_dxf(tmp_path: Path) -> None:
    """A room of 8 m x 6 m in millimetres, with a bulge of a half circle ahead, turned by a quarter."""

    def fill(_: Any, space: Any) -> None:
        corners = [(-4000, -3000, 0), (4000, -3000, 1), (4000, 3000, 0), (-4000, 3000, 0)]
        space.add_lwpolyline(corners, format="xyb", close=True)

    source = dxf(tmp_path, fill, unit=4)
    made = import_plan(source)
    assert made.size == pytest.approx((11, 6), abs=0.01)
    assert ranges(tmp_path, made) == pytest.approx([2.95, 6.95, 2.95], abs=0.006)
    turned = import_plan(source, origin=(2, 0, math.pi / 2))
    assert ranges(tmp_path, turned) == pytest.approx([3.95, 4.95, 4 + math.sqrt(2.95**2 - 4)], abs=0.006)
    assert turned.size == pytest.approx((6, 11), abs=0.01)
    assert import_plan(source, unit="m", scale=0.002).size == pytest.approx((22, 12), abs=0.02)


def test_entities_of_dxf(tmp_path: Path) -> None:
    """Lines, circles, arcs, ellipses, splines and blocks are walls; the others are rows with their lines."""

    def fill(document: Any, space: Any) -> None:
        document.layers.add("walls")
        document.layers.add("hidden").off()
        block = document.blocks.new("door")
        block.add_line((0, 0), (1, 0))
        space.add_blockref("door", (5, 0), dxfattribs={"layer": "walls", "rotation": 90, "yscale": 2})
        space.add_circle((0, 0), 3, dxfattribs={"layer": "round"})
        space.add_arc((0, 0), 3, 0, 90, dxfattribs={"layer": "round"})
        space.add_ellipse((0, 0), (3, 0), 1.0, dxfattribs={"layer": "round"})
        space.add_spline([(0, 3), (1, 4), (2, 3)], dxfattribs={"layer": "spline"})
        space.add_line((0, 0, 2), (1, 0, 2), dxfattribs={"layer": "high"})
        space.add_line((0, 0), (1, 0), dxfattribs={"layer": "hidden"})
        space.add_text("Kitchen")
        space.add_blockref("nowhere", (0, 0))
        document.layout("Layout1").add_line((0, 0), (1, 0))

    source = dxf(tmp_path, fill)
    made = import_plan(source)
    text = "\n".join(made.table())
    for part in (
        "seen from above",
        "is off",
        "TEXT",
        "'nowhere' is not in this file",
        "on the sheet 'Layout1'",
    ):
        assert part in text, part
    listed = source.read_text().splitlines()
    for _, place, tag, _ in made.rows:
        if tag in ("TEXT", "CIRCLE", "SPLINE"):
            assert listed[int(place.split(":")[1])].strip() == tag
    assert ends(import_plan(source, layers=["walls"])) == pytest.approx(
        np.array([[[5, 0], [5, 1]]], dtype=float), abs=1e-9
    )
    points = ends(import_plan(source, layers=["ROUND"], tolerance=0.01))
    assert np.abs(np.hypot(*points.mean(axis=1).T) - 3).max() < 0.01
    assert import_plan(source, layers=["hidden"]).walls == 1
    with pytest.raises(ImportRobotError, match=r"a\.dxf:\d+: <\w+> has no effect"):
        import_plan(source, strict=True)


def test_dxf_without_a_unit_or_handles(tmp_path: Path) -> None:
    """A file as the first releases wrote it: no header, no handles."""
    source = tmp_path / "a.dxf"
    line = "0\nLINE\n8\n0\n10\n0\n20\n0\n11\n1\n21\n0\n"
    source.write_text(f"0\nSECTION\n2\nENTITIES\n{line}0\nPOINT\n10\n0\n20\n0\n0\nENDSEC\n0\nEOF\n")
    with pytest.raises(ImportRobotError, match=r"found the unit 'none' .*expected --unit"):
        import_plan(source)
    made = import_plan(source, unit="ft")
    assert made.size == pytest.approx((0.3048, 0))
    assert any("a.dxf:17" in line and "POINT" in line for line in made.table())


def test_attacks_in_dxf_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def bomb(document: Any, space: Any) -> None:
        document.blocks.new("b0").add_line((0, 0), (1, 0))
        for i in range(8):
            block = document.blocks.new(f"b{i + 1}")
            for _ in range(10):
                block.add_blockref(f"b{i}", (0, 0))
        space.add_blockref("b8", (0, 0))

    def loop(document: Any, space: Any) -> None:
        document.blocks.new("a").add_blockref("a", (0, 0))
        space.add_blockref("a", (0, 0))

    def array(document: Any, space: Any) -> None:
        document.blocks.new("a").add_line((0, 0), (1, 0))
        found = space.add_blockref("a", (0, 0))
        found.dxf.row_count, found.dxf.row_spacing = 30000, 1
        found.dxf.column_count, found.dxf.column_spacing = 30000, 1

    for fill, message in ((loop, "nested deeper"), (array, "more than 20000 copies")):
        with pytest.raises(ImportRobotError, match=message):
            import_plan(dxf(tmp_path, fill))
    source = dxf(tmp_path, lambda _, space: space.add_circle((0, 0), 1e12))
    with pytest.raises(ImportRobotError, match="found a curve of 1e\\+12 m"):
        import_plan(source)
    source = dxf(tmp_path, bomb)
    monkeypatch.setattr("mvsim_gym.robots.plan_dxf._MAX_COPIES", 500)
    with pytest.raises(ImportRobotError, match="more than 500 copies"):
        import_plan(source)
    for data in (
        b"AutoCAD Binary DXF\r\n\x1a\0",
        b"hello",
        b"",
        b"0\nSECTION\n2\nENTITIES\n0\nLINE\n10\nx\n",
    ):
        source.write_bytes(data)
        with pytest.raises(ImportRobotError, match="expected a"):
            import_plan(source)


def test_mutants_end_with_a_message(tmp_path: Path) -> None:
    """Changed bytes give a plan or an ImportRobotError."""
    chance = random.Random(1)
    drawing = dxf(tmp_path, lambda _, space: space.add_lwpolyline([(0, 0, 1), (1, 0, 0)], format="xyb"))
    text = drawing.read_bytes()
    start = text.rindex(b"ENTITIES")
    shapes = svg(
        '<g transform="rotate(3)"><path d="M0 0 Q 1 2 3 4 A5 5 0 0 1 9 9z"/><rect width="3" height="4"/></g>'
    )
    picture = png(np.zeros((3, 4)))
    for name, source, first, count in (
        ("m.svg", shapes.encode(), 0, 300),
        ("m.png", picture, 0, 100),
        ("m.dxf", text, start, 30),
    ):
        path = tmp_path / name
        for _ in range(count):
            data = bytearray(source)
            for _ in range(chance.randrange(1, 4)):
                data[chance.randrange(first, len(data))] = chance.choice(b"0123456789.-eE,MLA<>/\"' \n\xff")
            path.write_bytes(data)
            try:
                import_plan(path, unit="" if name != "m.svg" else "cm", resolution=0.05)
            except ImportRobotError as error:
                assert str(error).startswith(name)


def test_a_map(tmp_path: Path) -> None:
    """A picture of 80 x 60 pixels of 5 cm with dark edges: the inner side of a pixel of the edge is hit."""
    pixels = np.full((60, 80), 254)
    pixels[0], pixels[-1], pixels[:, -1], pixels[:, 0] = 0, 0, 0, 0
    source = tmp_path / "a.png"
    source.write_bytes(png(pixels))
    made = import_plan(source, resolution=0.05, origin=(-1, -1.5, 0), strict=True)
    assert ranges(tmp_path, made) == pytest.approx([1.45, 2.95, 1.45], abs=1e-6)
    grey = np.where(pixels == 0, 100, 254)
    source.write_bytes(png(grey))
    made = import_plan(source, resolution=0.05, origin=(-1, -1.5, 0), occupied_thresh=0.5)
    assert ranges(tmp_path, made)[1] == pytest.approx(2.95, abs=1e-6)
    source.write_bytes(png(254 - pixels))
    made = import_plan(source, resolution=0.05, origin=(-1, -1.5, 0), negate=True)
    assert ranges(tmp_path, made)[1] == pytest.approx(2.95, abs=1e-6)


def test_damaged_maps(tmp_path: Path) -> None:
    source = tmp_path / "a.png"
    good = png(np.zeros((3, 4)))
    size = struct.pack(">I", 9) + b"pHYs" + struct.pack(">IIB", 1, 1, 1)
    physical = size + struct.pack(">I", zlib.crc32(size[4:]))
    huge = bytearray(good[8 + 8 : 8 + 8 + 13])
    huge[:8] = struct.pack(">II", 1 << 20, 1 << 20)
    head = good[:16] + bytes(huge) + struct.pack(">I", zlib.crc32(b"IHDR" + huge))
    for data, message in (
        (b"hello", "no PNG signature"),
        (good[:-4], "ends before"),
        (good[:20] + b"x" + good[21:], "checksum"),
        (head + good[33:], "expected 1 to"),
    ):
        source.write_bytes(data)
        with pytest.raises(ImportRobotError, match=message):
            import_plan(source, resolution=0.05)
    source.write_bytes(png(np.zeros((3, 4)), physical) + b"more")
    text = "\n".join(import_plan(source, resolution=0.05).table())
    assert "is that of --resolution" in text and "bytes after the picture" in text
    with pytest.raises(ImportRobotError, match="pHYs"):
        import_plan(source, resolution=0.05, strict=True)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, out = tmp_path / "plan.png", tmp_path / "my.world.xml"
    source.write_bytes(png(np.zeros((20, 40))))
    command = ["import", str(source), "--resolution", "0.05", "--origin", "-1", "0", "0", "-o", str(out)]
    assert main(command) == 0
    assert "a map, 2 m x 1 m, lower left corner at (-1, 0) m" in capsys.readouterr().out
    World(out).step()
    assert (tmp_path / "my.map.yaml").exists() and (tmp_path / "my.map.png").exists()
    out.unlink()
    assert main(command) == 1 and "my.map.yaml is there already" in capsys.readouterr().err
    assert main([*command, "--force"]) == 0
    drawing = tmp_path / "plan.svg"
    drawing.write_text(svg('<line x2="5"/>'))
    command = ["import", str(drawing), "-o", str(tmp_path / "b.world.xml")]
    assert main([*command, "--negate"]) == 1 and "--negate: found a drawing" in capsys.readouterr().err
    assert main([*command, "--check"]) == 1 and "--check: found a plan" in capsys.readouterr().err
    assert main([*command, "--unit", "km", "--scale", "0"]) == 1 and "--scale" in capsys.readouterr().err
    assert main([*command, "--thickness", "0.2", "--unit", "m"]) == 0
    assert "1 walls, 5 m x 0 m" in capsys.readouterr().out
