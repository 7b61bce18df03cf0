"""Race tracks by keyword, imported from a map, and the suite that drives laps of each."""

from __future__ import annotations

import shutil
import struct
import sys
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import ROOT

import mvsim_gym
from mvsim_gym.robots.elements import ImportRobotError
from mvsim_gym.robots.track import import_track
from mvsim_gym.tools.cli import main
from mvsim_gym.tools.suite import evaluate_suite, suite_of

sys.path.append(str(ROOT / "examples"))
from racing_line import curvature, normals, racing_line, resampled, room
from track_variants import mirrored, scaled

RACE, TRACKS = "mvsim/Race-v0", ROOT / "worlds" / "tracks"
AT_START = {"line_up": {"along": "0 0.001", "lateral": 0, "yaw": 0, "speed": "0 0"}}


def off(corners: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """Distance of positions [n, 2] from a closed line: by brute force."""
    steps = np.roll(corners, -1, axis=0) - corners
    part = np.clip(((positions[:, None] - corners) * steps).sum(2) / (steps**2).sum(1), 0, 1)
    return np.linalg.norm(positions[:, None] - corners - part[..., None] * steps, axis=2).min(axis=1)


def png(pixels: np.ndarray) -> bytes:
    """Grey levels [rows, columns] as a PNG file."""

    def chunk(name: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))

    rows = b"".join(b"\0" + row.tobytes() for row in pixels.astype(np.uint8))
    head = struct.pack(">IIBBBBB", pixels.shape[1], pixels.shape[0], 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        [chunk(b"IHDR", head), chunk(b"IDAT", zlib.compress(rows)), chunk(b"IEND", b"")]
    )


def draw_ring(folder: Path, radius: float) -> None:
    """A map of a ring that is 2 m wide, and its middle line."""
    y, x = np.mgrid[0:160, 0:160]
    away = np.hypot(0.1 * (x + 0.5) - 8, 0.1 * (y + 0.5) - 8)
    (folder / "ring.png").write_bytes(png(np.where(np.abs(away - radius) < 1, 255, 0)))
    (folder / "ring.yaml").write_text(
        "image: ring.png\nresolution: 0.1\norigin: [-8, -8, 0]\nnegate: 0\n"
        "occupied_thresh: 0.65\nfree_thresh: 0.2\n"
    )
    angles = np.linspace(0, 2 * np.pi, 120, endpoint=False)
    rows = [f"{radius * np.cos(a):.4f},{radius * np.sin(a):.4f},1.0,1.0" for a in angles]
    (folder / "ring_centerline.csv").write_text("\n".join(rows) + "\n")


@pytest.fixture
def ring(tmp_path: Path) -> Path:
    """A map of a ring with a radius of 6 m and 2 m wide, and its middle line."""
    draw_ring(tmp_path, 6)
    return tmp_path


def test_a_track_of_another_folder_is_driven_alike(tmp_path: Path) -> None:
    for ending in (".csv", ".track.xml"):
        shutil.copy(TRACKS / f"bean{ending}", tmp_path / f"mine{ending}")

    def ten_steps(**keywords: str) -> list[bytes]:
        envs = mvsim_gym.VectorEnv(RACE, num_envs=3, **keywords)
        out = [envs.reset(seed=5)[0]["scan"].tobytes()]
        for _ in range(10):
            observation, reward, *_ = envs.step(np.full((3, 2), 0.1, np.float32))
            out += [observation["centreline"].tobytes(), reward.tobytes()]
        envs.close()
        return out

    assert ten_steps(track="bean") == ten_steps(tracks=str(tmp_path), track="mine", roots=str(tmp_path))


def test_each_world_of_several_tracks_has_its_own_line(tmp_path: Path) -> None:
    """A list of folders: each episode picks one, and its points and progress are those of that track."""
    names, lines = ("wide", "narrow"), []
    for name, radius in zip(names, (6.0, 4.0), strict=True):
        (tmp_path / name).mkdir()
        draw_ring(tmp_path / name, radius)
        line = tmp_path / name / "ring_centerline.csv"
        made = tmp_path / name / "lap.track.xml"
        command = ["import", str(tmp_path / name / "ring.yaml"), "--centreline", str(line), "-o", str(made)]
        assert main(command) == 0
        lines.append(np.loadtxt(line, delimiter=",")[:, :2])
    envs = mvsim_gym.VectorEnv(
        RACE,
        num_envs=32,
        tracks=[tmp_path / name for name in names],
        track="lap",
        roots=tmp_path,
        reset={"line_up": {"lateral": 0, "yaw": 0, "speed": "1 1"}},
    )
    seen = []
    for seed in range(2):
        observation, _ = envs.reset(seed=100 * seed)
        pose = envs.read("vehicle:car1/pose")
        x, y = np.moveaxis(observation["centreline"].reshape(32, -1, 2), 2, 0)
        cos, sin = np.cos(pose[:, 2:]), np.sin(pose[:, 2:])
        points = np.stack([pose[:, :1] + cos * x - sin * y, pose[:, 1:2] + sin * x + cos * y], axis=2)
        far = np.stack([off(line, points.reshape(-1, 2)).reshape(32, -1).max(axis=1) for line in lines])
        assert (far.min(axis=0) < 0.02).all() and (far.max(axis=0) > 0.1).all()
        seen.append(far.argmin(axis=0))
        _, reward, terminated, _, _ = envs.step(np.tile(np.float32([-0.8, 0]), (32, 1)))
        assert not terminated.any() and (reward > 0.02).all()  # a metre a second along the line
    envs.close()
    assert {0, 1} == set(seen[0]) == set(seen[1]) and (seen[0] != seen[1]).any()


def test_a_track_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(mvsim_gym.WorldFileError, match=r"nothing\.track\.xml"):
        mvsim_gym.VectorEnv(RACE, num_envs=1, tracks=tmp_path, track="nothing", roots=tmp_path)


def test_a_map_with_its_middle_line_becomes_a_track(ring: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = ring / "made" / "ring.track.xml"
    command = [
        "import",
        str(ring / "ring.yaml"),
        "--centreline",
        str(ring / "ring_centerline.csv"),
        "-o",
        str(out),
    ]
    assert main(command) == 0
    assert "16 m x 16 m" in capsys.readouterr().out
    assert sorted(path.name for path in out.parent.iterdir()) == [
        "ring.csv",
        "ring.map.png",
        "ring.map.yaml",
        "ring.track.xml",
    ]
    envs = mvsim_gym.VectorEnv(
        RACE, num_envs=2, tracks=out.parent, track="ring", roots=out.parent, reset=AT_START
    )
    observation, _ = envs.reset(seed=1)
    np.testing.assert_allclose(envs.read("vehicle:car1/pose")[:, :2], [[6, 0]] * 2, atol=5e-3)
    scan = observation["scan"][:, :20]
    assert 0.8 < scan.min() < 1.1 and scan.max() < 9  # walls a metre to both sides
    envs.close()


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        (
            "image: ring.png",
            "image: ../ring.png",
            "image: found '../ring.png', expected a PNG file beside it",
        ),
        ("origin: [-8, -8, 0]", "origin: [-8, -8]", "origin: found .* expected three numbers"),
        ("resolution: 0.1", "resolution: fine", "resolution: found 'fine', expected a number"),
    ],
)
def test_mistakes_of_a_map_are_named(ring: Path, old: str, new: str, error: str) -> None:
    path = ring / "ring.yaml"
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(ImportRobotError, match=error):
        import_track(path, ring / "ring_centerline.csv", name="ring")


@pytest.mark.parametrize(
    ("more", "error"),
    [
        ([], "--centreline: found none"),
        (["--centreline", "{}/ring_centerline.csv", "--mass", "3"], "a track does not have this option"),
        (["--centreline", "{}/none.csv"], "no such file"),
    ],
)
def test_mistakes_of_the_command_are_named(
    ring: Path, capsys: pytest.CaptureFixture[str], more: list[str], error: str
) -> None:
    more = [text.format(ring) for text in more]
    assert main(["import", str(ring / "ring.yaml"), *more, "-o", str(ring / "x.track.xml")]) == 1
    assert error in capsys.readouterr().err
    assert not (ring / "x.track.xml").exists()


def test_the_suite_of_a_folder_of_tracks_is_ten_laps_of_each(tmp_path: Path) -> None:
    parts = suite_of(RACE, str(TRACKS))
    assert [part.name for part in parts] == ["bean", "bends", "loop"]
    assert [(part.seed, part.episodes) for part in parts] == [(1_000_000 + 10 * i, 10) for i in range(3)]
    lines = evaluate_suite(RACE, "random", worlds=str(TRACKS), output=str(tmp_path / "laps.json"))
    assert "30 held-out episodes" in lines[0]
    assert [row.split()[0] for row in lines[-3:]] == ["bean", "bends", "loop"]
    with pytest.raises(ValueError, match=r"found no \*\.track\.xml"):
        suite_of(RACE, str(tmp_path))


def test_the_benchmark_car_has_its_measures() -> None:
    world = mvsim_gym.World(ROOT / "worlds" / "race.world.xml", variables={"benchmark_car": 1})
    car = world.vehicles["car1"]
    outline = np.asarray(car.outline)
    np.testing.assert_allclose(np.ptp(outline, axis=0), [0.58, 0.31], atol=1e-6)
    mounts = np.asarray(car.wheel_mounts)[:, :2]
    assert np.ptp(mounts[:, 0]) == pytest.approx(0.3302, abs=1e-4)


def test_a_racing_line_bends_less_and_keeps_off_the_sides() -> None:
    """A square with round corners: the line cuts them."""
    angles = np.linspace(0, 2 * np.pi, 400, endpoint=False)
    radius = 10 / (np.abs(np.cos(angles)) ** 6 + np.abs(np.sin(angles)) ** 6) ** (1 / 6)
    middle = radius[:, None] * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    points, widths = resampled(middle, np.full((400, 2), 1.0), 0.25)
    found = racing_line(points, widths, 0.3, 0.25)
    assert np.abs(curvature(found)).max() < 0.7 * np.abs(curvature(points)).max()
    assert off(points, found).max() < 0.75
    assert room(points + 0.5 * normals(points), points, widths) == pytest.approx(
        np.tile([1.5, 0.5], (len(points), 1)), abs=0.05
    )


def test_variants_of_a_track_keep_walls_where_the_line_says() -> None:
    """A map of 4 x 6 cells with one wall: its place from the line's point is turned round, then halved."""
    meta = {"resolution": 0.5, "origin": [-1.0, 2.0, 0.0]}
    pixels = np.full((4, 6), 255, np.uint8)
    pixels[0, 5] = 0  # the upper right corner, at x 1.5 to 2 and y 3.5 to 4
    line = np.array([[0.0, 3.0, 0.2, 0.7]])

    def from_the_line(meta: dict[str, Any], pixels: np.ndarray, line: np.ndarray) -> np.ndarray:
        row, column = np.argwhere(pixels == 0)[0]
        up = len(pixels) - row - 0.5
        corner = np.array(meta["origin"][:2]) + meta["resolution"] * np.array([column + 0.5, up])
        return corner - line[0, :2]

    assert from_the_line(meta, pixels, line) == pytest.approx([1.75, 0.75])
    other = mirrored(meta, pixels, line)
    assert from_the_line(*other) == pytest.approx([1.75, -0.75])
    assert other[2][0, 2:] == pytest.approx([0.7, 0.2])
    small, shorter = scaled(meta, line, 0.5)
    assert from_the_line(small, pixels, shorter) == pytest.approx([0.875, 0.375])
    assert shorter[0, 2:] == pytest.approx([0.1, 0.35])
    with pytest.raises(ValueError, match=r"turned by 0\.5"):
        mirrored({**meta, "origin": [0, 0, 0.5]}, pixels, line)
