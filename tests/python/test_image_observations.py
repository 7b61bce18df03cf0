"""Pictures in the observations of environments: points, other sizes, histories and snapshots, arrays in place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import numpy.typing as npt
import pytest
from test_cameras import Boxes, depth_camera, lidar3d, world_of

import mvsim_gym

ENV = """<mvsim_env world="w.world.xml" control_period="0.1" time_limit="3"><agent vehicle="r">
<action class="twist" vx="-1 1" omega="-1 1"/>{observe}</agent>
<reset><spawn clearance="0.4" area="-3 3 -3 3"/></reset></mvsim_env>"""


def env_file(folder: Path, observe: str, sigma: float = 0.0) -> str:
    sensors = depth_camera(sigma=sigma) + lidar3d("0 0 0.5 20 3 0", sigma=sigma, columns=90)
    world_of(folder, sensors, Boxes(8, 40).xml())
    path = folder / "pictures.env.xml"
    path.write_text(ENV.format(observe=observe), encoding="utf-8")
    return str(path)


def test_points_are_those_of_the_reading(tmp_path: Path) -> None:
    observe = """<observe class="points"/><observe class="points" name="far" sensor="cam" max="6"/>
    <observe class="range_image"/><observe class="depth"/>"""
    env = mvsim_gym.Env(env_file(tmp_path, observe))
    space = env.observation_space
    assert isinstance(space, gym.spaces.Dict)
    assert space["points"].shape == (3, 16, 90) and space["far"].shape == (3, 48, 64)
    for seed in range(3):
        observation, _ = env.reset(seed=seed)
        assert space.contains(observation)
        ranges = observation["range_image"].astype(np.float64)
        hit = ranges < 40
        elevation = np.radians(np.linspace(-15, 15, 16))[:, None]
        azimuth = np.radians(np.arange(-180, 180, 4))
        expected = (
            hit
            * ranges
            * np.stack(
                [
                    np.cos(elevation) * np.cos(azimuth),
                    np.cos(elevation) * np.sin(azimuth),
                    np.sin(elevation) + 0 * azimuth,
                ]
            )
        )
        np.testing.assert_allclose(observation["points"], expected, atol=1e-5)
        assert hit.any() and not hit.all()
        # of a depth camera: x forward, y left, z up, in the frame of its depth
        depth = observation["depth"].astype(np.float64)
        near = depth <= 6
        rows, columns = np.indices(depth.shape)
        expected = near * np.stack([depth, -(columns - 32) * depth / 40, -(rows - 24) * depth / 40])
        np.testing.assert_allclose(observation["far"], expected, atol=1e-5)
        assert near.any() and not near.all()


@pytest.mark.parametrize(("first", "last", "sectors"), [(0, 47, 64), (20, 25, 10), (47, 47, 1)])
def test_scans_of_a_depth_camera_are_its_nearest_depths(
    tmp_path: Path, first: int, last: int, sectors: int
) -> None:
    """In the plane of its axis, from right to left as a lidar turns."""
    rows = f'rows="{first} {last}"'
    observe = f"""<observe class="depth" max="6"/>
    <observe class="scan" sensor="cam" {rows} sectors="{sectors}" max="6" history="2"/>"""
    envs = mvsim_gym.VectorEnv(env_file(tmp_path, observe), num_envs=4)
    observation, _ = envs.reset(seed=1)
    before = None
    for _ in range(3):
        ranges = observation["depth"][:, first : last + 1] * np.hypot(1, (np.arange(64) - 32) / 40)
        nearest = np.minimum(ranges.min(axis=1), 6)[:, ::-1]
        shares = [64 * s // sectors for s in range(sectors)]
        latest = np.minimum.reduceat(nearest, shares, axis=1)
        oldest = latest if before is None else before
        np.testing.assert_allclose(observation["scan"], np.hstack([oldest, latest]), rtol=1e-6)
        before = latest
        observation = envs.step(np.full((4, 2), 0.7, np.float32))[0]
    assert (latest < 6).any()
    envs.close()


def test_scans_of_a_3d_lidar_are_its_nearest_returns(tmp_path: Path) -> None:
    observe = """<observe class="range_image"/>
    <observe class="scan" sensor="lidar" rows="3 9" sectors="30"/>"""
    env = mvsim_gym.Env(env_file(tmp_path, observe))
    observation, _ = env.reset(seed=2)
    flat = observation["range_image"][3:10] * np.cos(np.radians(np.linspace(-15, 15, 16)))[3:10, None]
    nearest = np.where(observation["range_image"][3:10] < 40, flat, 40).min(axis=0)
    np.testing.assert_allclose(observation["scan"], nearest.reshape(30, 3).min(axis=1), rtol=1e-6)
    assert (observation["scan"] < 40).any()


def mean_of_areas(image: npt.NDArray[np.uint8], rows: int, columns: int) -> npt.NDArray[np.float64]:
    """Exact: the picture as a function that is constant over each pixel, integrated."""
    summed = np.pad(image.astype(np.float64).cumsum(0).cumsum(1), ((1, 0), (1, 0), (0, 0)))
    at = [np.linspace(0, n, m + 1) for n, m in zip(image.shape, (rows, columns), strict=False)]
    low = [np.minimum(a.astype(int), n - 1) for a, n in zip(at, image.shape, strict=False)]
    part = [(a - i)[:, None] for a, i in zip(at, low, strict=True)]
    down = summed[low[0]] * (1 - part[0][..., None]) + summed[low[0] + 1] * part[0][..., None]
    both = down[:, low[1]] * (1 - part[1]) + down[:, low[1] + 1] * part[1]
    area = image.shape[0] * image.shape[1] / (rows * columns)
    return np.diff(np.diff(both, axis=0), axis=1) / area


@pytest.mark.parametrize(("rows", "columns"), [(24, 32), (48, 64), (84, 84), (7, 11), (1, 64), (96, 20)])
def test_images_in_other_sizes(tmp_path: Path, rows: int, columns: int) -> None:
    """Colours are means of areas; distances and labels are those of the pixels in their middles, never between two."""
    size = f'rows="{rows}" columns="{columns}"'
    observe = "".join(
        f'<observe class="{kind}"/><observe class="{kind}" name="small_{kind}" {size}/>'
        for kind in ("image", "depth", "labels", "range_image")
    )
    env = mvsim_gym.Env(env_file(tmp_path, observe))
    space = env.observation_space
    assert isinstance(space, gym.spaces.Dict)
    assert space["small_image"].shape == (rows, columns, 3) and space["small_labels"].dtype == np.uint16
    observation, _ = env.reset(seed=5)
    assert space.contains(observation)
    image = observation["small_image"].astype(np.float64)
    assert np.abs(image - mean_of_areas(observation["image"], rows, columns)).max() <= 0.5 + 1e-6
    for kind in ("depth", "labels", "range_image"):
        whole = observation[kind]
        places = [
            ((2 * np.arange(m) + 1) * n) // (2 * m) for n, m in zip(whole.shape, (rows, columns), strict=True)
        ]
        np.testing.assert_array_equal(observation[f"small_{kind}"], whole[np.ix_(*places)])


@pytest.mark.parametrize(
    ("observe", "expected"),
    [
        ('<observe class="image" rows="0"/>', "rows"),
        ('<observe class="image" columns="1e9"/>', "columns"),
        ('<observe class="points" rows="3"/>', "rows"),
        ('<observe class="points" sensor="cam" max="-1"/>', "max"),
        ('<observe class="points" sensor="none"/>', "none"),
        ('<observe class="points" far="3"/>', "far"),
        ('<observe class="scan" sensor="cam" rows="3 48"/>', "rows"),
        ('<observe class="scan" sensor="cam" rows="3.5 4"/>', "found '3.5 4', expected two whole numbers"),
        ('<observe class="scan" sensor="cam" sectors="65"/>', "sectors"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, observe: str, expected: str) -> None:
    with pytest.raises(mvsim_gym.WorldFileError, match=expected) as error:
        mvsim_gym.Env(env_file(tmp_path, observe))
    assert "pictures.env.xml:" in str(error.value)


OBSERVE = """<observe class="image" history="3"/><observe class="depth" stride="2" history="4" timing="sensor"/>
<observe class="labels"/><observe class="range_image" history="2"/><observe class="points" history="2"/>
<observe class="scan" sensor="cam" history="3"/>"""


def bytes_of(observation: dict[str, Any]) -> dict[str, bytes]:
    return {key: value.tobytes() for key, value in observation.items()}


@pytest.mark.parametrize("late", [{}, {"randomize": {"vehicle:r/sensor:*/delay": {"value": 0.2}}}])
def test_snapshots_of_histories_are_small_and_draw_the_same_again(
    tmp_path: Path, late: dict[str, Any]
) -> None:
    """Seventeen frames, of some 150 kB: a snapshot keeps what draws them again, held and delayed ones too."""
    path = env_file(tmp_path, OBSERVE, sigma=0.02)
    env = mvsim_gym.Env(path, **late)
    env.reset(seed=2)
    for step in range(7):
        env.step(np.array([np.sin(step), 0.6], np.float32))
    state = env.snapshot()
    assert len(state) < 64_000
    assert sum(map(len, bytes_of(env.observation_space.sample()).values())) > 120_000
    actions = [np.array([0.5, np.cos(step)], np.float32) for step in range(5)]
    first = [bytes_of(env.step(action)[0]) for action in actions]
    other = mvsim_gym.Env(path, **late)
    for each in (env, other):
        each.reset(seed=9)
        each.restore(state)
        assert [bytes_of(each.step(action)[0]) for action in actions] == first


def test_arrays_that_are_not_copied_are_written_in_place(tmp_path: Path) -> None:
    path = env_file(tmp_path, OBSERVE, sigma=0.02)
    copies, views = (mvsim_gym.VectorEnv(path, num_envs=3, copy=copy) for copy in (True, False))
    one, _ = copies.reset(seed=4)
    two, _ = views.reset(seed=4)
    places = {key: value.ctypes.data for key, value in two.items()}
    for step in range(4):
        assert bytes_of(one) == bytes_of(two)
        action = np.full((3, 2), np.sin(step), np.float32)
        (one, *_), (two, *_) = copies.step(action), views.step(action)
        assert {key: value.ctypes.data for key, value in two.items()} == places
    kept = one["image"].copy()
    before = one
    copies.step(np.ones((3, 2), np.float32))
    np.testing.assert_array_equal(before["image"], kept)
