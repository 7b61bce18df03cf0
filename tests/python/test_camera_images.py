"""Images drawn together are those drawn alone, and what is traced is what a raster finds.

Small things are compared with all rays, large meshes are found by a tree: the same wall must look alike as either.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from test_cameras import (
    ENV,
    FLOOR,
    Boxes,
    block,
    camera_reading,
    depth_camera,
    lidar3d,
    lidar_reading,
    world_of,
)

import mvsim_gym

Images = dict[str, npt.NDArray[Any]]


def played(folder: Path, observed: list[str], sensors: str, more: str) -> Images:
    """The last observations of a few steps of two envs."""
    world_of(folder, sensors, more)
    head, rest = ENV.split("<observe", 1)
    tail = rest[rest.index("</agent>") :]
    path = folder / "t.env.xml"
    path.write_text(head + "".join(f'<observe class="{name}"/>' for name in observed) + tail)
    envs = mvsim_gym.VectorEnv(path, num_envs=2, num_threads=1)
    observation, _ = envs.reset(seed=[1, 2])
    for _ in range(3):
        observation, *_ = envs.step(np.full((2, 2), 0.5, np.float32))
    images = observation if isinstance(observation, dict) else {observed[0]: observation}
    out = {name: image.copy() for name, image in images.items()}
    envs.close()
    return out


@pytest.mark.parametrize("seed", range(3))
def test_images_of_a_sensor_do_not_depend_on_what_is_drawn_with_them(tmp_path: Path, seed: int) -> None:
    """With other clip planes for depth than for colour, and a pane of glass nearer than the former."""
    planes = "<depth_clip_min>0.9</depth_clip_min><depth_clip_max>6</depth_clip_max>"
    boxes = Boxes(seed, 60)
    more = boxes.xml() + block("glass", "0.8 0 0", 0.1, 1, 0.2, 0.9, "#ff000080")
    sensors = depth_camera("0.1 0 0.6 0 20 0", more=planes)
    together = played(tmp_path, ["image", "labels", "depth"], sensors, more)
    behind = together["depth"][together["labels"] == len(boxes.yaw) + 2]
    assert behind.size > 100 and behind.min() > 0.9
    for name, image in together.items():
        np.testing.assert_array_equal(played(tmp_path, [name], sensors, more)[name], image)
    for name, image in played(tmp_path, ["depth", "image"], sensors, more).items():
        np.testing.assert_array_equal(image, together[name])


def wall_mesh(path: Path, cells: int, cull: str = "NONE") -> str:
    """A closed box of 0.2 x 2 x 1 m about (0, 0, 0.5) in so many squares a side, as STL in text."""
    facets = []
    for axis in range(3):
        for side in (-1, 1):
            for i in range(cells):
                for j in range(cells):
                    corners = []
                    for a, b in ((i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1))[::side]:
                        corner = np.zeros(3)
                        corner[axis] = side
                        corner[(axis + 1) % 3] = 2 * a / cells - 1
                        corner[(axis + 2) % 3] = 2 * b / cells - 1
                        corners.append(corner * [0.1, 1, 0.5] + [0, 0, 0.5])
                    normal = np.eye(3)[axis] * side
                    facets += [(normal, corners[:3]), (normal, [corners[0], *corners[2:]])]
    text = "".join(
        f"facet normal {n[0]} {n[1]} {n[2]}\nouter loop\n"
        + "".join(f"vertex {float(c[0])!r} {float(c[1])!r} {float(c[2])!r}\n" for c in corners)
        + "endloop\nendfacet\n"
        for n, corners in facets
    )
    path.write_text(f"solid wall\n{text}endsolid wall\n")
    return (
        '<block name="wall"><static>true</static><init_pose>3 0.3 20</init_pose><color>#808080</color>'
        f"<visual><model_uri>{path.name}</model_uri>"
        f"<model_cull_faces>{cull}</model_cull_faces></visual><shape_from_visual/></block>"
    )


@pytest.mark.parametrize("cull", ["NONE", "BACK", "FRONT"])
def test_a_fine_mesh_looks_as_a_coarse_one(tmp_path: Path, cull: str) -> None:
    """12 triangles are compared with all rays, 2,400 lie in a tree: beside other things, before and behind them."""
    sensors = depth_camera("0 0 0.9 0 10 0") + lidar3d("0 0 0.7 0 2 0")
    others = FLOOR + block("near", "2 -0.6 10", 0.3, 0.4, 0, 0.8) + block("far", "5 0 0", 0.5, 6, 0, 2)
    worlds = [
        world_of(tmp_path, sensors, others + wall_mesh(tmp_path / f"wall{cells}.stl", cells, cull))
        for cells in (1, 20)
    ]
    coarse, fine = (camera_reading(world) for world in worlds)
    assert (coarse.labels == worlds[0].labels.index("wall")).sum() > 300
    same = coarse.labels == fine.labels
    assert same.mean() > 0.995
    assert coarse.depth is not None and fine.depth is not None
    np.testing.assert_allclose(fine.depth[same], coarse.depth[same], atol=1e-4)
    assert coarse.image is not None and fine.image is not None
    off = np.abs(coarse.image.astype(int) - fine.image).max(-1) > 2  # shadows of either among them
    assert off[same].mean() < 0.01
    beams, traced = (lidar_reading(world) for world in worlds)
    same = beams.labels == traced.labels
    assert same.mean() > 0.995
    np.testing.assert_allclose(traced.range_image[same], beams.range_image[same], atol=1e-4)
