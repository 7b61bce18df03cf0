"""Worlds, models and maps of others, in `../shared` or the folder that MVSIM_SHARED names; skipped where absent."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from conftest import ROOT

from mvsim_gym import World
from mvsim_gym.tools.cli import main

SHARED = Path(os.environ.get("MVSIM_SHARED", ROOT.parent / "shared"))
WORLDS = Path(os.environ.get("MVSIM_WORLDS", SHARED / "mvsim-worlds"))
MODELS = SHARED / "mvsim-models"
MAPS = SHARED / "maps"
PREFIX = "https://mrpt.github.io/mvsim-models/"
RESOURCES = {PREFIX: MODELS}

FILES = sorted(WORLDS.glob("*/*.world.xml"))
YAMLS = sorted(path for path in MAPS.glob("**/*.yaml") if "barn" not in path.parts) if MAPS.is_dir() else []
BARN = sorted((MAPS / "barn").glob("world_*.yaml"))[:3]
TOO_LARGE = ("huge_map", "vegas")

needs_worlds = pytest.mark.skipif(not FILES, reason=f"no MVSim worlds in {WORLDS}")
needs_maps = pytest.mark.skipif(not YAMLS, reason=f"no maps in {MAPS}")


@needs_worlds
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name.removesuffix(".world.xml"))
def test_a_world_drives_repeats_and_is_drawn(path: Path) -> None:
    worlds = [World(path, resources=RESOURCES) for _ in range(2)]
    starts = {name: vehicle.pose for name, vehicle in worlds[0].vehicles.items()}
    for world in worlds:
        for vehicle in world.vehicles.values():
            if vehicle.takes_twist:
                vehicle.set_twist(0.5, 0.2)
            else:
                vehicle.set_command(*[-1.0] * len(vehicle.command_names))
        world.step(10)
    states = [world.snapshot() for world in worlds]
    assert states[0] == states[1]
    for name, vehicle in worlds[0].vehicles.items():
        assert np.isfinite(list(vehicle.pose)).all()
        way = np.hypot(vehicle.pose.x - starts[name].x, vehicle.pose.y - starts[name].y)
        assert way > 0.2 or vehicle.had_collision, name
    picture = worlds[0].draw(160, 120)
    assert picture.reshape(-1, 3).std(axis=0).max() > 5  # of several colours


@needs_worlds
def test_validate_tells_of_all(capsys: pytest.CaptureFixture[str]) -> None:
    main(["validate", *map(str, FILES), "--resources", f"{PREFIX}={MODELS}"])
    out = capsys.readouterr().out
    assert out.count("demo_1robot.world.xml: ") == 1
    for path in FILES:
        assert f"{path}: " in out
    assert "  error: " not in out


@needs_worlds
@pytest.mark.unsanitized
@pytest.mark.skipif(shutil.which("strace") is None, reason="no strace")
def test_loading_runs_opens_and_writes_nothing(tmp_path: Path) -> None:
    """T41."""
    script = textwrap.dedent(
        """
        import os
        import sys
        from mvsim_gym import _core
        from mvsim_gym._files import assets
        os.path.exists("/marks-the-beginning")
        for path in sys.argv[3:]:
            try:
                _core.load_model(path, assets(), [], resources=([(sys.argv[1], sys.argv[2])], ""))
            except ValueError:
                pass
        os.path.exists("/marks-the-end")
        """
    )
    log = tmp_path / "calls"
    calls = "execve,execveat,connect,socket,open,openat,creat,unlink,rename,mkdir,stat,newfstatat,statx"
    command = ["strace", "-f", "-qq", "-e", f"trace={calls}", "-o", str(log), sys.executable, "-c", script]
    done = subprocess.run([*command, PREFIX, str(MODELS), *map(str, FILES)], capture_output=True, text=True)
    if done.returncode != 0 and "ptrace" in done.stderr.lower():
        pytest.skip("strace may not trace here")
    assert done.returncode == 0, done.stderr
    text = log.read_text(errors="replace")
    loading = text[text.index("marks-the-beginning") : text.index("marks-the-end")]
    assert loading.count(".world.xml") >= len(FILES)
    for call in (
        "execve",
        "connect(",
        "socket(",
        "creat(",
        "unlink",
        "rename",
        "mkdir",
        "O_WRONLY",
        "O_RDWR",
    ):
        lines = [line for line in loading.splitlines() if call in line and "/dev/null" not in line]
        assert not lines, lines[0]


@needs_maps
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("path", [*YAMLS, *BARN], ids=lambda path: str(path.relative_to(MAPS)))
def test_a_map_loads(path: Path, tmp_path: Path) -> None:
    if any(name in str(path) for name in TOO_LARGE):
        pytest.skip("a large map: by hand")
    world = tmp_path / "w.world.xml"
    world.write_text(
        f'<mvsim_world><element class="occupancy_grid"><file>{path}</file></element></mvsim_world>'
    )
    assert World(world, roots=[path.parent]).timestep == 0.005


# Separator, and the columns of x and y.
TRACKS = {
    "f1tenth_benchmarks/aut_centerline.csv": (",", 0, 1),
    "f1tenth_benchmarks/gbr_centerline.csv": (",", 0, 1),
    "f1tenth_benchmarks/mco_centerline.csv": (",", 0, 1),
    "f1tenth_racetracks/Spielberg/Spielberg_centerline.csv": (",", 0, 1),
    "f1tenth_racetracks/Spielberg/Spielberg_raceline.csv": (";", 1, 2),
    "f1tenth_racetracks/IMS/IMS_centerline.csv": (",", 0, 1),
    "f1tenth_racetracks/IMS/IMS_raceline.csv": (";", 1, 2),
    "f1tenth_racetracks/Oschersleben/Oschersleben_centerline.csv": (",", 0, 1),
    "f1tenth_racetracks/Oschersleben/Oschersleben_raceline.csv": (";", 1, 2),
    "tumftm_racetracks/tracks/Norisring.csv": (",", 0, 1),
    "tumftm_racetracks/tracks/Suzuka.csv": (",", 0, 1),
    "tumftm_racetracks/tracks/IMS.csv": (",", 0, 1),
    "tumftm_racetracks/racelines/Norisring.csv": (",", 0, 1),
}


@needs_maps
@pytest.mark.parametrize(("name", "layout"), TRACKS.items(), ids=TRACKS)
def test_a_race_goes_along_a_line_of_a_track_database(name: str, layout: tuple[str, int, int]) -> None:
    separator, *columns = layout
    corners = np.loadtxt(MAPS / name, delimiter=separator, usecols=columns)
    length = np.linalg.norm(np.roll(corners, -1, axis=0) - corners, axis=1).sum()
    env = gym.make(
        "mvsim/Race-v0",
        centreline=str(MAPS / name),
        observe={"centreline": {"points": 4, "spacing": length / 4}},
        reset={"line_up": {"lateral": 0, "yaw": 0, "speed": [0, 0]}},
    )
    observation, _ = env.reset(seed=1)
    points = observation["centreline"].reshape(4, 2)
    assert np.abs(points[:3]).max() > length / 20
    np.testing.assert_allclose(points[3], 0, atol=2e-3)  # a lap ahead is here
    env.close()


@needs_worlds
def test_walls_of_the_lines_of_mvsim(tmp_path: Path) -> None:
    shutil.copy(WORLDS / "mvsim_tutorial" / "testWalls.dae", tmp_path)
    path = tmp_path / "w.world.xml"
    path.write_text("<mvsim_world><walls><model_uri>testWalls.dae</model_uri></walls></mvsim_world>")
    assert len(World(path).blocks) == 7


ROOMS = ("tb3_sandbox", "depot", "aws_small_house", "pal_office", "small_office", "conestogo")
# Keywords that a map needs: 4 m x 3 m are too narrow for a Jackal.
KEYWORDS: dict[str, dict[str, Any]] = {
    "lse_arena": {
        "robot": "turtlebot3_burger",
        "controller": "twist_ideal",
        "reset": {"spawn": {"clearance": 0.15}, "goal": {"clearance": 0.15, "distance": [1, 4]}},
    }
}


def drive(env: gym.Env[Any, Any], seed: int) -> float:
    """Metres that a robot makes which turns towards the waypoint, then follows it, until an episode ends."""
    observation, _ = env.reset(seed=seed)
    moved = 0.0
    for _ in range(150):
        ahead, left = observation["waypoint"]
        assert 0 < np.hypot(ahead, left) < 2.01  # the shortest path leads on
        turn = np.arctan2(left, ahead)
        speed = 0.5 if abs(turn) < 0.5 else 0.0
        action = np.array([speed, np.clip(2 * turn, -1, 1)], np.float32)
        observation, _, terminated, truncated, _ = env.step(action)
        assert all(np.isfinite(value).all() for value in observation.values())
        moved += abs(float(observation["velocity"][0])) * 0.1
        if terminated or truncated:
            break
    return moved


@needs_maps
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, marks=() if any(room in str(path) for room in ROOMS) else pytest.mark.slow)
        for path in [*YAMLS, *BARN]
    ],
    ids=lambda path: str(path.relative_to(MAPS)),
)
def test_nav_map_runs_on_a_map(path: Path) -> None:
    keywords = next((value for name, value in KEYWORDS.items() if name in str(path)), {})
    env = gym.make("mvsim/NavMap-v0", map=str(path), time_limit=15, **keywords)
    assert sum(drive(env, seed) for seed in range(3)) > 2
    env.close()
