"""Loading: what it may take, how it is stopped, and names of files of every kind."""

from __future__ import annotations

import os
import signal
import struct
import threading
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest
from signalled import hearing_ctrl_c

import mvsim_gym
from mvsim_gym import World, WorldFileError

VEHICLE = "<include file='definitions/turtlebot3_burger.vehicle.xml'/>"
ROBOT = "<vehicle name='r' class='turtlebot3_burger'><init_pose>2 2 0</init_pose></vehicle>"
GRID = "<element class='occupancy_grid'><file>{}</file></element>"


def world_in(folder: Path, body: str, name: str = "w.xml") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(f"<mvsim_world>\n{body}\n</mvsim_world>")
    return path


def env_in(folder: Path, world: str, inside: str = "", agent: str = "") -> Path:
    path = folder / "e.env.xml"
    path.write_text(
        f"""<mvsim_env world="{world}" control_period="0.1" time_limit="5">
        <agent><action class="twist" vx="-0.2 0.2" omega="-1 1"/><observe class="velocity"/>{agent}</agent>
        {inside}</mvsim_env>"""
    )
    return path


def gray_png(width: int, height: int, depth: int, level: int, gamma: bool = True) -> bytes:
    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    sample = struct.pack(">H" if depth == 16 else ">B", level)
    rows = (b"\0" + sample * width) * height
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, 0, 0, 0, 0))
        + (chunk(b"gAMA", struct.pack(">I", 45455)) if gamma else b"")
        + chunk(b"IDAT", zlib.compress(rows))
        + chunk(b"IEND", b"")
    )


def seconds_to_stop(call: Callable[[], Any], after: float) -> float:
    """How long after Ctrl-C the call raises KeyboardInterrupt."""
    sent: list[float] = []

    def interrupt() -> None:
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(after, interrupt)
    with hearing_ctrl_c():
        timer.start()
        try:
            with pytest.raises(KeyboardInterrupt):
                call()
            return time.monotonic() - sent[0]
        finally:
            timer.cancel()


LIMIT = 1.0  # s, of which the work between two looks is a fiftieth; the rest is a busy machine's


def test_ctrl_c_while_a_map_is_decoded(tmp_path: Path) -> None:
    side = 8000
    (tmp_path / "worlds").mkdir()
    rows = [GRID.format(f"m{i}.png") for i in range(6)]
    for i in range(6):
        (tmp_path / "worlds" / f"m{i}.png").write_bytes(gray_png(side, side, 8, 255))
    world = world_in(tmp_path / "worlds", "".join(rows))
    assert seconds_to_stop(lambda: World(world), 0.1) < LIMIT


def test_ctrl_c_while_loops_run(tmp_path: Path) -> None:
    inside = "".join(f"<variable name='v{i}' value='$f{{sqrt(${{i}})*{i}+sin(${{i}})}}'/>" for i in range(6))
    world = world_in(tmp_path, f"<for var='i' from='1' to='28000'>{inside}</for>" * 6)
    assert seconds_to_stop(lambda: World(world), 0.02) < LIMIT


# A reset that would look for a place for hours.
def test_ctrl_c_in_a_reset(tmp_path: Path) -> None:
    blocks = (
        "<for var='i' from='1' to='4000'><block name='b${i}' mass='1'><init_pose>$f{i*3} 100 0</init_pose>"
        "<geometry type='box' lx='1' ly='1' lz='1'/></block></for>"
    )
    world_in(tmp_path / "worlds", VEHICLE + ROBOT + blocks)
    (tmp_path / "envs").mkdir()
    place = "<reset><place blocks='b*' area='0 1 0 1' gap='50'/></reset>"
    env = gym.make("mvsim/Custom-v0", env=env_in(tmp_path / "envs", "../worlds/w.xml", place)).unwrapped
    assert seconds_to_stop(lambda: env.reset(seed=1), 0.2) < LIMIT


def test_memory_limit_of_a_world(tmp_path: Path) -> None:
    (tmp_path / "worlds").mkdir()
    (tmp_path / "worlds" / "m.png").write_bytes(gray_png(4000, 4000, 8, 255))
    world = world_in(tmp_path / "worlds", GRID.format("m.png"))
    World(world, memory_limit=200_000_000)
    with pytest.raises(WorldFileError, match=r"w\.xml:2:1: .* memory_limit, 0\.05 GB"):
        World(world, memory_limit=50_000_000)
    for bad in (0, -1, None, 1e9, True, "1"):
        with pytest.raises(ValueError, match="memory_limit: found"):
            World(world, memory_limit=bad)  # type: ignore[arg-type]


def test_too_many_rays_name_their_line(tmp_path: Path) -> None:
    sensors = "".join(
        f"<sensor class='laser' name='s{i}'>\n<nrays>100000</nrays></sensor>" for i in range(600)
    )
    body = VEHICLE + ROBOT.replace("</vehicle>", sensors + "</vehicle>")
    with pytest.raises(WorldFileError, match=r"w\.xml:\d+:1: <nrays>: .* memory_limit, 2 GB"):
        World(world_in(tmp_path, body))


def test_a_map_of_many_variants_is_decoded_once(tmp_path: Path) -> None:
    (tmp_path / "worlds").mkdir()
    (tmp_path / "envs").mkdir()
    (tmp_path / "worlds" / "m.png").write_bytes(gray_png(3000, 3000, 8, 255))
    world_in(tmp_path / "worlds", GRID.format("m.png") + VEHICLE + ROBOT)
    path = env_in(tmp_path / "envs", "../worlds/w.xml")
    # 39 MB of field a world, were it made for each
    env = mvsim_gym.Env(path, variants=30, memory_limit=200_000_000)
    env.reset(seed=1)
    with pytest.raises(ValueError, match="memory_limit"):
        mvsim_gym.VectorEnv(path, num_envs=500_000, memory_limit=100_000_000)


def test_an_env_whose_world_is_too_large_names_a_line(tmp_path: Path) -> None:
    (tmp_path / "w.xml").write_text("<mvsim_world>" + " " * (9 << 20) + "</mvsim_world>")
    with pytest.raises(WorldFileError, match=r"e\.env\.xml:1:\d+: .* expected at most 8388608") as error:
        mvsim_gym.Env(env_in(tmp_path, "w.xml"))
    assert error.value.line == 1


# 50 % of 65535 is half of the height, whatever gamma the file names.
def test_sixteen_bit_heights(tmp_path: Path) -> None:
    (tmp_path / "worlds").mkdir()
    png = bytearray(gray_png(2, 2, 16, 0))
    rows = b"\0" + struct.pack(">HH", 0, 32768) + b"\0" + struct.pack(">HH", 32768, 65535)
    start = png.index(b"IDAT") - 4
    data = zlib.compress(rows)
    chunk = struct.pack(">I", len(data)) + b"IDAT" + data + struct.pack(">I", zlib.crc32(b"IDAT" + data))
    end = png.index(b"IEND") - 4
    (tmp_path / "worlds" / "h.png").write_bytes(bytes(png[:start]) + chunk + bytes(png[end:]))
    body = (
        "<element class='elevation_map'><elevation_image>h.png</elevation_image><elevation_image_min_z>0"
        "</elevation_image_min_z><elevation_image_max_z>10</elevation_image_max_z><resolution>10</resolution>"
        "<corner_min_x>0</corner_min_x><corner_min_y>0</corner_min_y></element>"
        "<block name='b'><init_pose3d>0 9.999 20 0 0 0</init_pose3d></block>"
    )
    world = World(world_in(tmp_path / "worlds", body))
    assert world.blocks["b"].pose.z == pytest.approx(5.0, abs=2e-3)


def test_names_of_any_bytes(tmp_path: Path) -> None:
    folder = os.fsencode(tmp_path) + b"/a\xff\n\x1b"
    os.makedirs(folder)
    path = os.fsdecode(folder + b"/w.xml")
    Path(path).write_text("<mvsim_world><gravity>x</gravity></mvsim_world>")
    with pytest.raises(WorldFileError, match=r"a\\xff\\n\\x1b/w\.xml:1:\d+: .* 'x'") as error:
        World(path)
    assert error.value.path == path
    Path(path).write_text("<mvsim_world><nonsense/></mvsim_world>")
    world = World(path)
    assert "a\\xff\\n\\x1b/w.xml:1:14: <nonsense>" in world.warnings[0]
    world_in(tmp_path, "<include file='inc.xml'/>", "v.xml")
    (tmp_path / "inc.xml").write_bytes(b"<gravity>\xff${\xff}</gravity>")
    with pytest.raises(WorldFileError, match=r"not UTF-8 text|xff"):
        World(tmp_path / "v.xml")


def test_a_nul_ends_no_path(tmp_path: Path) -> None:
    world = world_in(tmp_path, VEHICLE + ROBOT)
    env = env_in(tmp_path, "w.xml")
    cut = "\0x"
    for call in (
        lambda: World(f"{world}{cut}"),
        lambda: World(world, log_dir=f"{tmp_path}/logs{cut}"),
        lambda: World(world, roots=[f"{tmp_path}{cut}"]),
        lambda: mvsim_gym.Env(f"{env}{cut}"),
        lambda: mvsim_gym.Env(env, world=f"{world}{cut}"),
        lambda: mvsim_gym.Env(env, log_dir=f"{tmp_path}/logs{cut}"),
        lambda: mvsim_gym.VectorEnv(env, log_dir=f"{tmp_path}/logs{cut}"),
    ):
        with pytest.raises(ValueError):
            call()


def test_a_world_too_large_for_its_planning_cells(tmp_path: Path) -> None:
    def env(size: float, cell: float) -> mvsim_gym.Env:
        plane = (
            f"<element class='horizontal_plane'><x_min>0</x_min><x_max>{size}</x_max><y_min>0</y_min>"
            "<y_max>8</y_max></element>"
        )
        world_in(tmp_path, plane + VEHICLE + ROBOT)
        goal = f"<reset><goal geodesic='true' distance='1 4' cell='{cell}' area='0 8 0 8'/></reset>"
        return mvsim_gym.Env(env_in(tmp_path, "w.xml", goal))

    assert not any("plan paths" in text for text in env(20, 0.2).warnings)
    large = env(5000, 0.2)
    assert any("e.env.xml:3:" in w and "<goal>: the world is 5000 x 8 m large" in w for w in large.warnings)
    large.reset(seed=1)
    with pytest.raises(
        WorldFileError, match=r"e\.env\.xml:3:\d+: <goal>: .* expected a smaller world, or cells of"
    ):
        env(5e6, 0.2)
