"""How long worlds take to load from files that were read before: those of MVSim, a large map, many blocks."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from figure import ROOT, Row, Settings, figure, in_fresh_process

SHARED = Path(os.environ.get("MVSIM_SHARED", ROOT.parent / "shared"))
WORLDS = Path(os.environ.get("MVSIM_WORLDS", SHARED / "mvsim-worlds"))
RESOURCES = {"https://mrpt.github.io/mvsim-models/": str(SHARED / "mvsim-models")}

LOAD = """
import json, time, warnings
from mvsim_gym import World
warnings.simplefilter("ignore")
def load():
    began = time.perf_counter()
    World({path!r}, resources={resources!r})
    return (time.perf_counter() - began) * 1e3
load()
print(json.dumps([load() for _ in range({runs})]))
"""
# memory that a loaded map keeps, MB
KEEPS = """
from mvsim_gym import World
def resident():
    with open("/proc/self/status") as status:
        return [int(line.split()[1]) / 1e3 for line in status if line.startswith("VmRSS")][0]
World({small!r})
before = resident()
world = World({path!r})
print(resident() - before)
"""
GRID = '<mvsim_world><element class="occupancy_grid"><file>map.pgm</file></element></mvsim_world>'
BLOCKS = """<mvsim_world><block:class name="post"><static>true</static>
<geometry type="box" lx="0.4" ly="0.4" lz="1"/></block:class>
<for var="i" from="1" to="200"><for var="j" from="1" to="250">
<block class="post"><init_pose>${i} ${j} 0</init_pose></block></for></for></mvsim_world>"""
SIDE = 4000  # cells of the large map


def _load_ms(name: str, path: Path, work: str, settings: Settings) -> Row:
    code = LOAD.format(path=str(path), resources=RESOURCES if SHARED.is_dir() else {}, runs=settings.runs)
    return Row(name, "ms", {"work": f"{work}, loaded before in the same process"}, in_fresh_process(code))


def _register(path: Path) -> None:
    name = f"load_{path.name.removesuffix('.world.xml')}"

    @figure(name)
    def load(settings: Settings) -> Row:
        return _load_ms(name, path, f"World() of MVSim's {path.name}", settings)


def _register_mvsim() -> None:
    files = sorted(WORLDS.glob("*/*.world.xml"))
    for path in files:
        _register(path)
    if files:
        return

    @figure("load_worlds")
    def skipped(_: Settings) -> list[Row]:
        print(f"load_worlds: skipped, there are no worlds of MVSim in {WORLDS}", file=sys.stderr)
        return []


_register_mvsim()


def _rooms(folder: str) -> Path:
    """A map of walled rooms."""
    row = bytes(0 if x % 100 < 2 else 255 for x in range(SIDE))
    wall = bytes(SIDE)
    (Path(folder) / "map.pgm").write_bytes(
        b"P5 %d %d 255\n" % (SIDE, SIDE) + b"".join(wall if y % 100 < 2 else row for y in range(SIDE))
    )
    path = Path(folder) / "map.world.xml"
    path.write_text(GRID)
    return path


def _in_folder(measure: Callable[[str], Row]) -> Row:
    with tempfile.TemporaryDirectory() as folder:
        return measure(folder)


@figure("load_map_4000")
def load_map(settings: Settings) -> Row:
    work = f"World() of a map of {SIDE} x {SIDE} cells"
    return _in_folder(lambda folder: _load_ms("load_map_4000", _rooms(folder), work, settings))


@figure("load_map_4000_mb")
def load_map_mb(settings: Settings) -> Row:
    def measure(folder: str) -> Row:
        small = Path(folder) / "small.world.xml"
        small.write_text("<mvsim_world/>")
        code = KEEPS.format(path=str(_rooms(folder)), small=str(small))
        config = {"work": f"resident memory that a World() of a map of {SIDE} x {SIDE} cells keeps"}
        return Row("load_map_4000_mb", "MB", config, [in_fresh_process(code) for _ in range(settings.runs)])

    return _in_folder(measure)


@figure("load_blocks_50000")
def load_blocks(settings: Settings) -> Row:
    def measure(folder: str) -> Row:
        path = Path(folder) / "blocks.world.xml"
        path.write_text(BLOCKS)
        return _load_ms("load_blocks_50000", path, "World() of 50,000 static blocks", settings)

    return _in_folder(measure)
