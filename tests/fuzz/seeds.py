"""Writes what the libFuzzer targets begin with: a folder of inputs for each, and dictionaries of words.

Usage: python tests/fuzz/seeds.py FOLDER. What a target has found there before stays.
"""

from __future__ import annotations

import gzip
import io
import re
import struct
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "tests" / "data"
MESHES = sorted(path for path in (DATA / "meshes").iterdir() if path.suffix not in (".mtl", ".png"))
CUT = b"\n%%%\n"  # between the parts of an input


def world_of(body: str) -> bytes:
    return f"<mvsim_world>{body}</mvsim_world>".encode()


def expressions() -> Iterator[bytes]:
    for text in (
        "if(x > 2 and n <= 3, max(1, 2^n % 5), clamp(0, x, 1))",
        "1 ? deg2rad(180)/M_PI : rand() + unifrnd(2, 3)",
        "not(0) nand (1.5e-3 xor -n) | sum(1, avg(2, hypot(3, 4)))",
    ):
        yield text.encode()


def worlds() -> Iterator[bytes]:
    yield from (path.read_bytes() for path in sorted((ROOT / "worlds").glob("*.world.xml")))
    yield from (path.read_bytes() for path in sorted(DATA.glob("*.world.xml")))
    robot = '<vehicle name="r" class="{0}"><init_pose>0 0 0</init_pose></vehicle>'
    for path in sorted((ROOT / "worlds" / "definitions").glob("*.vehicle.xml")):
        name = re.search(r'vehicle:class name="(\w+)"', path.read_text())
        if name:
            yield world_of(path.read_text() + robot.format(name[1]))
    for mesh in MESHES:
        visual = f"<visual><model_uri>{mesh.name}</model_uri></visual><shape_from_visual/>"
        yield world_of(f"<block><init_pose>1 0 0</init_pose>{visual}</block>")
    elements = (
        '<element class="occupancy_grid"><file>m.yaml</file></element>',
        '<element class="elevation_map"><elevation_image>m.pgm</elevation_image>'
        "<texture_image>paint.png</texture_image></element>",
        '<element class="elevation_map"><dem_xyzrgb_file>d.txt</dem_xyzrgb_file></element>',
        '<element class="vertical_plane"><x1>4</x1><door width="1"/><window/></element>',
        '<element class="horizontal_plane"><animation type="keyframes"><time_pose>0 0 0 0</time_pose>'
        "<time_pose>2 1 0 90</time_pose></animation></element>",
        "<walls><shape><pt>0 0</pt><pt>4 0</pt><pt>4 0</pt><pt>4 3</pt></shape></walls>",
        '<actor><init_pose>0 0 0</init_pose><path><waypoint pause="1">5 0 0</waypoint></path></actor>',
        '<block name="a"><init_pose>1 0 0</init_pose></block><block name="b"><init_pose>3 0 0</init_pose></block>'
        '<joint type="revolute" body_a="a" body_b="b" anchor_a="1 0" anchor_b="-1 0"/>',
        "<georeference><latitude>36.8</latitude><longitude>-2.3</longitude></georeference>",
    )
    yield from map(world_of, elements)
    yield CUT.join(
        [
            world_of('<variable name="n" value="2"/><include file="a.xml" x="$f{n*2}"/>'),
            b'<for var="i" from="0" to="${x|3}"><include file="b.xml" k="${i}"/></for>',
            b'<if condition="$f{${k} > 1}"><block><init_pose>$f{${k}*3} ${n|0} 0</init_pose></block></if>',
        ]
    )


def images() -> Iterator[bytes]:
    yield (DATA / "meshes" / "paint.png").read_bytes()
    yield b"P2 # grey\n3 2 255\n0 1 2 3 4 255\n"
    yield b"P5 2 2 65535\n" + bytes(8)
    try:
        from PIL import Image
    except ImportError:
        return
    picture = Image.radial_gradient("L").resize((24, 16))
    for mode, kind, options in (
        ("RGB", "JPEG", {}),
        ("RGB", "JPEG", {"progressive": True}),
        ("L", "JPEG", {"optimize": True}),
        ("CMYK", "JPEG", {}),
        ("P", "PNG", {}),
        ("1", "PNG", {}),
        ("LA", "PNG", {}),
        ("I;16", "PNG", {}),
    ):
        out = io.BytesIO()
        picture.convert("I" if mode == "I;16" else mode).convert(mode).save(out, kind, **options)
        yield out.getvalue()


def gridmaps() -> Iterator[bytes]:
    name = b"COccupancyGridMap2D"
    grid = bytes([0x80 | len(name)]) + name + bytes([6, 8]) + struct.pack("<II", 3, 2)
    grid += struct.pack("<5f", -1, 2, -1, 1, 1) + bytes([127, 0, 129, 5, 6, 7])
    yield grid
    yield gzip.compress(grid, mtime=0)


def yamls() -> Iterator[bytes]:
    yield from (path.read_bytes() for path in sorted((ROOT / "worlds" / "maps").glob("*.yaml")))
    yield b"image: 'a b.pgm'\nresolution: 0.05\norigin: [1, -2.5, 0.1]\nnegate: 1\nmode: scale\nfree_thresh: 0.1\n"


def points() -> Iterator[bytes]:
    yield b"1 2\n3,4\n# a line\n-1e3\t+5\n"
    yield b"0 0 1 255 0 0\n3 3 2 0 255 0\n"


def zips() -> Iterator[bytes]:
    for packing in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", packing) as file:
            file.writestr(zipfile.ZipInfo("a"), "some content, some content, some content")
            file.writestr(zipfile.ZipInfo("folder/b"), "other")
        yield out.getvalue()


def meshes() -> Iterator[bytes]:
    yield from (path.read_bytes() for path in MESHES)


def environments() -> Iterator[bytes]:
    for path in sorted((ROOT / "envs").glob("*.env.xml")):
        yield path.read_bytes()
        yield (
            path.read_bytes()
            + CUT
            + b"time_limit=5\nreward/goal/weight=3\nreward/collision\nobserve/last_action=\n"
        )


def snapshots() -> Iterator[bytes]:
    yield bytes([8, 0, 255, 40, 0, 1])
    yield bytes(range(60))


TARGETS = {
    "expression": expressions,
    "world": worlds,
    "image": images,
    "gridmap": gridmaps,
    "map_yaml": yamls,
    "points": points,
    "zip": zips,
    "mesh": meshes,
    "env": environments,
    "snapshot": snapshots,
}


def dictionary(page: str) -> str:
    """The words that a page of the documentation marks as such."""
    words = sorted(set(re.findall(r"`([\w:/|<>=.${}]{2,40})`", (ROOT / "docs" / page).read_text())))
    return "".join(f'"{word}"\n' for word in words)


def main() -> None:
    folder = Path(sys.argv[1])
    for name, inputs in TARGETS.items():
        target = folder / name
        target.mkdir(parents=True, exist_ok=True)
        for i, data in enumerate(inputs()):
            (target / f"seed_{i:03}").write_bytes(data)
    (folder / "world.dict").write_text(dictionary("world-files.md"))
    (folder / "env.dict").write_text(dictionary("env-files.md"))


if __name__ == "__main__":
    main()
