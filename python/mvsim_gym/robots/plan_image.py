"""Reads what a PNG map says about itself, and writes the yaml file of map_server for it."""

from __future__ import annotations

import math
import struct
import zlib
from dataclasses import dataclass

from mvsim_gym.robots.elements import Fate, ImportRobotError
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


def map_yaml(image: str, options: MapOptions, origin: tuple[float, float, float]) -> str:
    """Returns the text of a map_server yaml file. `origin` is the pose of the lower left corner: m, m, rad."""
    values = ", ".join(number(value) for value in origin)
    return "\n".join(
        [
            f"image: {image}",
            f"mode: {options.mode}",
            f"resolution: {number(options.resolution)}",
            f"origin: [{values}]",
            f"negate: {int(options.negate)}",
            f"occupied_thresh: {number(options.occupied_thresh)}",
            f"free_thresh: {number(options.free_thresh)}",
            "",
        ]
    )
