"""Writes what the libFuzzer targets begin with: a folder of inputs for each, and dictionaries of words.

Usage: python tests/fuzz/seeds.py FOLDER. Inputs found by a target before are kept.
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


POSE = "<init_pose>1 2 30</init_pose>"
SEEN = (
    "<lights><enable_shadows>true</enable_shadows><light_azimuth_deg>-25</light_azimuth_deg><light_color>#fff0e0"
    "</light_color><light_elevation>10</light_elevation><light_ambient>0.4</light_ambient></lights><light/>",
    "<gui><cam_distance>35</cam_distance><cam_point_to>1 2</cam_point_to><ortho>false</ortho></gui>",
    "<element class='skybox'><textures>sky%s.png</textures></element>",
    "<element class='skybox'><textures>https://a.b/sky%s.png</textures></element>",
    "<marker type='line_strip'><color>#ff0000</color><points>0 0 0\n1 0 0</points><translation>1 2</translation>"
    "</marker>",
    f"<vehicle name='r'>{POSE}<dynamics class='differential'/><sensor class='laser'><raytrace_3d>true</raytrace_3d>"
    "<visual><model_uri>box.stl</model_uri></visual><publish><publish_topic>/a</publish_topic></publish></sensor>"
    "</vehicle><element class='ground_grid'><interval>2</interval><floating_focus>r</floating_focus></element>",
    "<element class='pointcloud'><file>p.txt</file><points_size>3</points_size><pose_3d>0 0 1 0 0 0</pose_3d>"
    "<visual><model_uri>z.zip/m/box.ply</model_uri></visual></element>",
    "<element class='horizontal_plane'><z>3</z><cull_face>FRONT</cull_face><texture>z.zip/m/paint.png</texture>"
    "<texture_size_x>2</texture_size_x><enable_shadows>false</enable_shadows></element>",
    "<element class='elevation_map'><elevation_data_matrix>[0 1 0; 1 2 1; 0 1 0]</elevation_data_matrix>"
    "<apply_kernel>0 0.2 0\n0.2 0.2 0.2\n0 0.2 0</apply_kernel><texture_image_rotate>90</texture_image_rotate>"
    "<resolution>2</resolution><corner_min_x>-1</corner_min_x></element>",
    f"<actor:class name='c'><visual><model_uri>box.obj</model_uri></visual></actor:class><actor class='c'>{POSE}"
    "<path loop='false'><waypoint animation='run'>5 0 0</waypoint><waypoint pause='1'>5 0 1 2 0 0</waypoint></path>"
    "</actor>",
    "<walls><model_uri>box.obj</model_uri><transformation>[1 0 0 5; 0 1 0 0; 0 0 1 0; 0 0 0 1]</transformation>"
    "<wallHeight>2</wallHeight></walls>",
    *(
        f"<block>{POSE}<geometry type='{kind}' {size}/><visual_scale>2</visual_scale><restitution>0.1</restitution>"
        "</block>"
        for kind, size in (
            ("box", "lx='1' ly='2' lz='0.5'"),
            ("ramp", "lx='2' ly='1' lz='0.5'"),
            ("semi_cylinder_bump", "lx='1' ly='0.2' lz='0.02'"),
            ("cylinder", "radius='0.5' length='2' vertex_count='6'"),
            ("sphere", "radius='0.5'"),
        )
    ),
    f"<block name='a'>{POSE}<zmin>0.2</zmin><zmax>0.4</zmax><shape_from_visual/><visual><model_uri>https://a.b/box.glb"
    "</model_uri><model_scale>2</model_scale><model_roll>90</model_roll></visual><publish><publish_pose_topic>/p"
    "</publish_pose_topic><publish_relative_pose_topic>/q</publish_relative_pose_topic>"
    "<publish_relative_pose_objects>a, b</publish_relative_pose_objects></publish></block>",
    *(
        "<element class='property_region'><property_name>{}</property_name>{}<x_min>-3</x_min></element>".format(
            *row
        )
        for row in (
            ("friction_mu", "<value_double>0.2</value_double>"),
            ("gps_no_coverage", "<value_bool>true</value_bool>"),
            ("surface", "<value_string>ice</value_string>"),
        )
    ),
    *(
        f"<sensor class='{kind}' name='s'><pose_3d>1 0 1 0 0 0</pose_3d><sensor_period>0.01</sensor_period></sensor>"
        for kind in ("camera", "rgbd_camera", "lidar3d", "imu", "gnss", "laser")
    ),
    f"<vehicle class='jackal'>{POSE}</vehicle><vehicle:class name='jackal'><dynamics class='differential'><chassis>"
    "<shape_from_visual/></chassis></dynamics><visual><model_uri>https://absent.b/a.dae</model_uri></visual>"
    "</vehicle:class>",
    f"<vehicle>{POSE}<visual name='v'><model_uri>box.stl</model_uri></visual><dynamics class='ackermann'><fl_wheel "
    "linked_yaw='v' linked_yaw_offset_deg='9'><visual><model_uri>box.dae</model_uri></visual></fl_wheel></dynamics>"
    "</vehicle>",
    "<variable name='x' value='$f{sum(1, avg(2, hypot(3, 4)), clamp(0, 3, 1), trunc(sin(2)), log10(9) atan2(1, 2))}'/>",
)


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
    yield from map(world_of, SEEN)
    for page in sorted((ROOT / "docs").glob("world-*.md")):
        yield from map(world_of, re.findall(r"```xml(?: [\w-]+)?\n(.*?)```", page.read_text(), re.DOTALL))
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
    yield (
        b'\xef\xbb\xbf%YAML 1.2\n--- !map\n"image": >-\n  a.pgm\norigin: &o\n- -1.0\n- 2\n- 0\n'
        b"again: *o\nresolution: 5e-2\n"
    )
    yield "{image: m.pgm, origin: [1, 2, .5], resolution: 1, x: {y: [z]}}".encode("utf-16")


def points() -> Iterator[bytes]:
    yield b"1 2\n3,4\n# a line\n-1e3\t+5\n"
    yield b"0 0 1 255 0 0\n3 3 2 0 255 0\n"
    yield b"# x_m,y_m,w_tr_right_m,w_tr_left_m\r\n0,1,2,2,\r\n1,1,2,2,\r\n"
    yield b"s; X [m]; Y [m]; psi\n0;1;2;3\n1;2;2;3\n0;1;2;3\n"
    yield b"0,0,0\n1,1,0\n2,1,1\n"


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
    yield bytes.fromhex("00fffdfcfbfaf9fe05fd00c6e738cc392b0638392b0607")  # a body of 4e7 m a step


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


def dictionary(pages: str) -> str:
    """The words that some pages of the documentation mark as such."""
    text = "\n".join(page.read_text() for page in sorted((ROOT / "docs").glob(pages)))
    words = sorted(set(re.findall(r"`([\w:/|<>=.${}]{2,40})`", text)))
    return "".join(f'"{word}"\n' for word in words)


def main() -> None:
    folder = Path(sys.argv[1])
    for name, inputs in TARGETS.items():
        target = folder / name
        target.mkdir(parents=True, exist_ok=True)
        for i, data in enumerate(inputs()):
            (target / f"seed_{i:03}").write_bytes(data)
    (folder / "world.dict").write_text(dictionary("world-*.md"))
    (folder / "env.dict").write_text(dictionary("env-*.md"))


if __name__ == "__main__":
    main()
