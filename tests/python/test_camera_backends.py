"""Cameras drawn by OpenGL against cameras drawn by rays: two ways to the same picture.

Rays fall on either side of an edge by rounding, and rasters round corners to parts of a pixel: pixels at edges may
differ. Mesa draws in software here; what it draws is read from the same shaders that a GPU runs.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from matplotlib import image
from test_camera_images import wall_mesh
from test_cameras import ROBOT, Boxes, block, depth_camera

from mvsim_gym.world import CameraReading, World

Bools = npt.NDArray[np.bool_]

LIGHTS = "<lights><light_azimuth>{}</light_azimuth><light_elevation>{}</light_elevation></lights>"
TERRAIN = """<element class="elevation_map"><elevation_data_matrix>{}</elevation_data_matrix>
<resolution>0.7</resolution><texture_image>paint.png</texture_image><texture_extension_x>3</texture_extension_x>
<texture_extension_y>2</texture_extension_y></element>"""
WALL = """<element class="vertical_plane"><x0>{}</x0><y0>{}</y0><x1>{}</x1><y1>{}</y1>
<height>1.7</height>{}</element>"""
PAINT = "<texture>paint.png</texture><texture_size_x>1.3</texture_size_x><texture_size_y>0.8</texture_size_y>"


def cylinder(name: str, pose: str, radius: float, height: float) -> str:
    turn = np.linspace(0, 2 * np.pi, 14, endpoint=False)
    points = "".join(f"<pt>{radius * np.cos(a)} {radius * np.sin(a)}</pt>" for a in turn)
    return (
        f'<block name="{name}"><init_pose>{pose}</init_pose><zmin>0</zmin><zmax>{height}</zmax>'
        f"<color>#c08040</color><shape>{points}</shape></block>"
    )


def scene(folder: Path, seed: int) -> str:
    """Boxes and cylinders; by turns meshes of few and of many triangles, terrain, painted walls, and glass."""
    random = np.random.default_rng(seed)
    parts = [Boxes(seed, 25).xml()]
    for i in range(12):
        far, turn = random.uniform(1.5, 7), random.uniform(-np.pi, np.pi)
        parts.append(
            cylinder(
                f"c{i}",
                f"{far * np.cos(turn)} {far * np.sin(turn)} 0",
                random.uniform(0.1, 0.6),
                random.uniform(0.3, 1.5),
            )
        )
    if seed % 2:
        parts.append(wall_mesh(folder / "wall.stl", 20 if seed % 4 == 1 else 2, "NONE"))
    if seed % 5 == 1:
        heights = random.uniform(0.05, 0.9, (20, 20))
        parts.append(TERRAIN.format("[" + ";".join(" ".join(map(str, row)) for row in heights) + "]"))
    if seed % 3 == 0:
        parts.append(WALL.format(-5, 2.5, 6, 3.5, PAINT) + WALL.format(4, -6, 5, 4, ""))
    if seed % 7 == 2:
        parts.append(block("glass", "1.5 0.2 20", 0.1, 1.5, 0, 1.1, "#40a0ff70"))
    parts.append(LIGHTS.format(*random.uniform([-180, 25], [180, 80])))
    return "".join(parts)


def paint(folder: Path) -> None:
    random = np.random.default_rng(1)
    coarse = random.integers(40, 255, (16, 32, 3)).repeat(8, 0).repeat(8, 1)
    pixels = np.clip(coarse + random.integers(-30, 30, coarse.shape), 0, 255).astype(np.uint8)
    image.imsave(folder / "paint.png", pixels)


def write_world(folder: Path, sensors: str, more: str, pose: str = "0 0 0") -> Path:
    path = folder / "w.world.xml"
    path.write_text(f"<mvsim_world>{more}{ROBOT.format(pose=pose, sensors=sensors)}</mvsim_world>")
    return path


def seen(path: Path, backend: str) -> CameraReading:
    reading = World(path, camera_backend=backend).vehicles["r"].sensors["cam"].read(fresh=True)
    assert isinstance(reading, CameraReading)
    return reading


def around(flags: Bools) -> Bools:
    """Returns flags that also cover the neighbours of flagged pixels."""
    padded = np.pad(flags, 1)
    rows, columns = flags.shape
    return np.logical_or.reduce([padded[r : r + rows, c : c + columns] for r in range(3) for c in range(3)])


def differs(values: npt.NDArray[np.float64], share: float = 0) -> Bools:
    """Pixels that differ from the one on the right or below, and that one, by more than this share of them."""
    out = np.zeros(values.shape, bool)
    for axis in (0, 1):
        step = np.abs(np.diff(values, axis=axis)) > share * np.minimum(*_pairs(values, axis))
        for side in ((0, 1), (1, 0)):
            width = [(0, 0), (0, 0)]
            width[axis] = side
            out |= np.pad(step, width)
    return out


def _pairs(values: npt.NDArray[np.float64], axis: int) -> tuple[npt.NDArray[np.float64], ...]:
    first, second = [slice(None)] * 2, [slice(None)] * 2
    first[axis], second[axis] = slice(0, -1), slice(1, None)
    return values[tuple(first)], values[tuple(second)]


def edges(reading: CameraReading, shadeless: CameraReading) -> Bools:
    """Returns the edges of labels, depths and shadows."""
    assert reading.depth is not None and reading.image is not None and shadeless.image is not None
    shade = np.abs(reading.image.astype(float) - shadeless.image).max(-1) > 2
    return around(
        differs(reading.labels.astype(float))
        | differs(reading.depth.astype(float), 0.1)
        | differs(shade.astype(float))
    )


@pytest.mark.parametrize("seed", range(50))
def test_opengl_shows_what_rays_see(tmp_path: Path, seed: int) -> None:
    random = np.random.default_rng(1000 + seed)
    paint(tmp_path)
    tilt = "0 0" if seed % 3 == 1 else f"{random.uniform(-10, 25)} {random.uniform(-20, 20)}"
    sensor = depth_camera(f"0.1 0 {random.uniform(0.9, 1.6)} {random.uniform(-180, 180)} {tilt}", far=30)
    more = scene(tmp_path, seed)
    path = write_world(tmp_path, sensor, more)
    found, wanted = seen(path, "egl"), seen(path, "rays")
    dark = "<lights><enable_shadows>false</enable_shadows></lights>"
    shadeless = seen(write_world(tmp_path, sensor, more + dark), "rays")
    assert found.depth is not None and wanted.depth is not None
    assert found.image is not None and wanted.image is not None

    same = found.labels == wanted.labels
    assert same.mean() >= 0.995
    assert len(np.unique(wanted.labels)) > 1
    far = np.abs(found.depth - wanted.depth) > 1e-3
    assert (far & same).mean() <= 1e-3  # equal labels on either side of an edge of one thing
    off_edges = ~edges(wanted, shadeless)
    assert off_edges.mean() > 0.2
    wrong = np.abs(found.image.astype(int) - wanted.image).max(-1) > 2
    assert wrong[off_edges].mean() <= 0.01
