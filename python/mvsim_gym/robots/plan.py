"""Converts a floor plan to a world file: a PNG map to an occupancy grid with the yaml file of map_server, lines of an
SVG or DXF drawing to walls."""

from __future__ import annotations

import math
import re
import struct
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from mvsim_gym.robots.elements import Fate, ImportRobotError, near, read_limited
from mvsim_gym.robots.importer import Report, Row, refuse_ignored
from mvsim_gym.robots.plan_lines import Placement, Walls
from mvsim_gym.robots.sensor_files import number

_MAX_BYTES = 64 << 20
_MAX_PIXELS = 1 << 26
_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_USED = {"IHDR", "PLTE", "IDAT", "IEND"}
_TEXTS = {"tEXt", "zTXt", "iTXt", "tIME", "eXIf", "bKGD", "hIST"}
_COLOURS = {"gAMA", "cHRM", "sRGB", "iCCP", "sBIT", "cICP", "mDCV", "cLLI"}
_TYPES = {0: "grey", 2: "colours", 3: "a palette", 4: "grey with alpha", 6: "colours with alpha"}


@dataclass
class MapOptions:
    """Keys of a map of map_server."""

    resolution: float = 0.0
    """length of a pixel, m"""
    occupied_thresh: float = 0.65
    free_thresh: float = 0.196
    negate: bool = False
    mode: str = "trinary"

    def check(self) -> None:
        """Raises ValueError if a value cannot be used."""
        if not (math.isfinite(self.resolution) and 1e-4 <= self.resolution <= 1000):
            raise ValueError(f"--resolution: found {self.resolution:g}, expected 0.0001 to 1000 m a pixel")
        if not 0 <= self.free_thresh <= self.occupied_thresh <= 1:
            raise ValueError(
                f"--free-thresh: found {self.free_thresh:g} and --occupied-thresh {self.occupied_thresh:g},"
                " expected 0 to 1, the first one below the other"
            )
        if self.mode not in ("trinary", "scale", "raw"):
            raise ValueError(f"--mode: found '{self.mode}', expected trinary, scale or raw")


def read_png(data: bytes, shown: str) -> tuple[int, int, list[tuple[Fate, str, str, str]]]:
    """Returns width and height of a PNG file in pixels, and a row for each of its chunks.

    Raises:
        ImportRobotError: the file is damaged or too large.
    """
    if len(data) > _MAX_BYTES:
        raise ImportRobotError(f"{shown}: larger than {_MAX_BYTES >> 20} MiB")
    if not data.startswith(_SIGNATURE):
        raise ImportRobotError(f"{shown}: found no PNG signature, expected a PNG file")
    rows: list[tuple[Fate, str, str, str]] = []
    position, width, height, name = len(_SIGNATURE), 0, 0, ""
    while name != "IEND":
        place = f"{shown}: byte {position}"
        if position + 12 > len(data):
            raise ImportRobotError(f"{place}: the file ends before its last chunk")
        length = struct.unpack_from(">I", data, position)[0]
        name = data[position + 4 : position + 8].decode("latin-1")
        body = data[position + 8 : position + 8 + length]
        if position + 12 + length > len(data):
            raise ImportRobotError(f"{place}: the file ends before its last chunk")
        if not name.isascii() or not name.isalpha():
            raise ImportRobotError(f"{place}: found the chunk {name!r}, expected four letters")
        (checksum,) = struct.unpack_from(">I", data, position + 8 + length)
        if zlib.crc32(data[position + 4 : position + 8 + length]) != checksum:
            raise ImportRobotError(f"{place}: the checksum of the chunk '{name}' is wrong")
        if (name == "IHDR") != (position == len(_SIGNATURE)) or (name == "IHDR" and length != 13):
            raise ImportRobotError(f"{place}: found the chunk '{name}', expected one IHDR, and first")
        position += 12 + length
        if name == "IHDR":
            width, height, _, kind = struct.unpack_from(">IIBB", body)
            if not (width > 0 and height > 0 and width * height <= _MAX_PIXELS):
                raise ImportRobotError(
                    f"{place}: found {width} x {height} pixels, expected 1 to {_MAX_PIXELS} in all"
                )
            rows.append((Fate.USED, place, name, f"{width} x {height} pixels, {_TYPES.get(kind, 'unknown')}"))
        elif name in _USED or name in _TEXTS:
            rows.append((Fate.USED, place, name, "" if name in _USED else "describes the picture"))
        elif name == "tRNS":
            rows.append((Fate.USED, place, name, "pixels that are not opaque are unknown"))
        elif name == "pHYs":
            rows.append((Fate.IGNORED, place, name, "the size of a pixel is that of --resolution"))
        elif name in _COLOURS:
            rows.append((Fate.IGNORED, place, name, "grey levels count as they are stored"))
        else:
            rows.append((Fate.IGNORED, place, name, "it is not known to this import"))
    if position < len(data):
        rows.append((Fate.IGNORED, f"{shown}: byte {position}", "end", "bytes after the picture"))
    return width, height, rows


def map_files(
    stem: str, picture: bytes, options: MapOptions, origin: tuple[float, float, float]
) -> dict[str, bytes]:
    """Returns the yaml file of map_server and the picture, by name. `origin` is the pose of the lower left corner: m,
    m, rad."""
    yaml = f"""image: {stem}.map.png
mode: {options.mode}
resolution: {number(options.resolution)}
origin: [{", ".join(number(value) for value in origin)}]
negate: {int(options.negate)}
occupied_thresh: {number(options.occupied_thresh)}
free_thresh: {number(options.free_thresh)}
"""
    return {f"{stem}.map.yaml": yaml.encode(), f"{stem}.map.png": picture}


@dataclass
class ImportedPlan(Report):
    xml: str
    """the text of the world file"""
    walls: int
    """count of walls; 0 for a map"""
    size: tuple[float, float]
    """extent along x and y, m"""
    corner: tuple[float, float]
    """least x and y, m"""
    files: dict[str, bytes] = field(default_factory=dict)
    """files that the world file needs beside it, by name"""
    rows: list[Row] = field(default_factory=list)
    """use, place, element and reason, a row for each element"""

    def summary(self) -> Iterator[str]:
        what = f"{self.walls} walls" if self.walls else "a map"
        (width, depth), (x, y) = self.size, self.corner
        yield f"{what}, {width:.6g} m x {depth:.6g} m, lower left corner at ({x:.6g}, {y:.6g}) m"


def is_plan(path: str | Path) -> bool:
    return Path(path).suffix.lower() in (".png", ".svg", ".dxf")


def import_plan(
    path: str | Path,
    *,
    name: str = "plan",
    resolution: float | None = None,
    origin: Sequence[float] = (0.0, 0.0, 0.0),
    occupied_thresh: float = 0.65,
    free_thresh: float = 0.196,
    negate: bool = False,
    mode: str = "trinary",
    layers: Sequence[str] = (),
    unit: str = "",
    scale: float = 1.0,
    thickness: float = 0.1,
    height: float = 2.0,
    tolerance: float = 0.005,
    strict: bool = False,
) -> ImportedPlan:
    """Reads a floor plan and makes a world file of it. Nothing outside of the file is read.

    A PNG file becomes an occupancy grid, with a yaml file of map_server and a copy of the picture. The lines, curves
    and outlines of an SVG or DXF drawing become walls, whose middle is the line.

    Args:
        path: `*.png`, `*.svg` or `*.dxf`.
        name: stem of the files that a map needs beside the world file.
        resolution: length of a pixel of a PNG file, m.
        origin: x, y (m) and yaw (rad) in the world of the lower left corner of a PNG or SVG file, or of the origin of a
            DXF drawing.
        occupied_thresh: darkness from 0 to 1 above which a pixel is occupied.
        free_thresh: darkness below which a pixel is free.
        negate: whether bright pixels are occupied.
        mode: `trinary`, `scale` or `raw`, as map_server has them.
        layers: layers to use, which are labels or ids of groups in SVG; empty: all that are visible.
        unit: length of one unit of a drawing: mm, cm, dm, m, km, in, ft or yd; empty: as the file says.
        scale: factor of the lengths of a drawing; 50 for one of 1:50.
        thickness: of walls, m.
        height: of walls, m.
        tolerance: largest distance between a curve and its chords, m.
        strict: whether an element without effect is an error.

    Raises:
        ImportRobotError: the file is damaged, exceeds a limit, or has no unit; the message has file, line and reason.
        ValueError: an option is out of its range.
        OSError: a file cannot be read.
    """
    file = Path(path)
    if len(origin) != 3:
        raise ValueError(f"--origin: found {len(origin)} numbers, expected x, y and yaw")
    placement = Placement(unit, scale, (float(origin[0]), float(origin[1]), float(origin[2])))
    placement.check()
    for option, value, low, high in (
        ("thickness", thickness, 0.004, 100.0),
        ("height", height, 0.001, 1000.0),
        ("tolerance", tolerance, 1e-4, 1.0),
    ):
        if not (math.isfinite(value) and low <= value <= high):
            raise ValueError(f"--{option}: found {value:g}, expected {low:g} to {high:g} m")
    data = read_limited(file, _MAX_BYTES)
    if file.suffix.lower() == ".png":
        if resolution is None:
            raise ValueError("--resolution: found none, expected the length of a pixel in m")
        options = MapOptions(resolution, occupied_thresh, free_thresh, negate, mode)
        options.check()
        made = _map(data, file.name, name, options, placement.origin)
    elif is_plan(file):
        made = _drawing(file, data, Walls(placement, tolerance), list(layers), thickness, height, strict)
    else:
        raise ValueError(f"{file}: found '{file.suffix}', expected .png, .svg or .dxf")
    if strict and made.files:
        refuse_ignored(made.rows)
    return made


def _map(
    data: bytes, shown: str, name: str, options: MapOptions, origin: tuple[float, float, float]
) -> ImportedPlan:
    width, height, rows = read_png(data, shown)
    stem = re.sub(r"[^A-Za-z0-9_-]+", "_", name).strip("_") or "plan"
    files = map_files(stem, data, options, origin)
    lines = [f'  <element class="occupancy_grid"><file>{stem}.map.yaml</file></element>']
    size = (width * options.resolution, height * options.resolution)
    return ImportedPlan(_world(shown, lines), 0, size, origin[:2], files, rows)


def _drawing(
    file: Path,
    data: bytes,
    walls: Walls,
    layers: list[str],
    thickness: float,
    height: float,
    strict: bool,
) -> ImportedPlan:
    if file.suffix.lower() == ".svg":
        from mvsim_gym.robots.plan_svg import read_svg

        found = read_svg(data, file.name, walls, layers)
    else:
        from mvsim_gym.robots.plan_dxf import read_dxf

        found = read_dxf(file, data, file.name, walls, layers)
    known = {layer.lower() for layer in found} if file.suffix.lower() == ".dxf" else set(found)
    for layer in layers:
        if (layer.lower() if file.suffix.lower() == ".dxf" else layer) not in known:
            listed = ", ".join(sorted(set(found))[:12]) or "none"
            raise ValueError(f"--layer: found '{layer}', expected one of: {listed}{near(found, layer)}")
    if strict:
        refuse_ignored(walls.rows)
    if not walls.pieces:
        raise ImportRobotError(f"{file.name}: found no lines on the chosen layers, expected some")
    points = np.concatenate(walls.pieces)
    low, high = points.min(axis=0), points.max(axis=0)
    return ImportedPlan(
        _world(file.name, walls.xml(thickness, height)),
        len(walls.pieces),
        (float(high[0] - low[0]), float(high[1] - low[1])),
        (float(low[0]), float(low[1])),
        {},
        [*walls.rows, *walls.unchosen],
    )


def _world(shown: str, lines: list[str]) -> str:
    plain = re.sub(r"[^ -~]", "?", shown).replace("--", "- -")
    head = ['<mvsim_world version="1.0">', f"  <!-- Made by 'mvsim-gym import' from {plain}. -->"]
    return "\n".join([*head, *lines, "</mvsim_world>", ""])
