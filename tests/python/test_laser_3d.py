"""The class `laser` with `raytrace_3d`: exact rays in a plane that leans, read as those of a 2D lidar are."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import numpy.typing as npt
import pytest
from test_cameras import FLOOR, Boxes, block, world_of

from mvsim_gym.readings import Reading
from mvsim_gym.world import World

LASER = """<sensor class="laser" name="{name}"><raytrace_3d>true</raytrace_3d><pose_3d>{pose}</pose_3d>
<fov_degrees>{fov}</fov_degrees><nrays>{rays}</nrays><max_range>20</max_range><range_std_noise>{sigma}</range_std_noise>
{more}</sensor>"""
IGNORES = "<ignore_parent_body>true</ignore_parent_body>"


def laser(
    pose: str = "0 0 0.5 0 0 0",
    fov: float = 180,
    rays: int = 181,
    sigma: float = 0,
    more: str = IGNORES,
    name: str = "laser",
) -> str:
    return LASER.format(name=name, pose=pose, fov=fov, rays=rays, sigma=sigma, more=more)


def reading_of(world: World, name: str = "laser") -> Reading:
    reading = world.vehicles["r"].sensors[name].read(fresh=True)
    assert isinstance(reading, Reading)
    return reading


def rotation(yaw: float, pitch: float, roll: float) -> npt.NDArray[np.float64]:
    """Degrees."""
    (cy, cp, cr), (sy, sp, sr) = (f(np.radians([yaw, pitch, roll])) for f in (np.cos, np.sin))
    return (
        np.array([[cy, -sy, 0], [sy, cy, 0], [0, 0, 1]])
        @ np.array([[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]])
        @ np.array([[1, 0, 0], [0, cr, -sr], [0, sr, cr]])
    )


@pytest.mark.parametrize("angles", [(0, 0, 0), (35, 0, 0), (-20, 6, 0), (10, -3, 4)])
@pytest.mark.parametrize(("fov", "rays"), [(180, 181), (360, 720), (270, 1081), (90, 64), (20, 2)])
def test_rays_are_exact(tmp_path: Path, angles: tuple[float, float, float], fov: float, rays: int) -> None:
    """Against slabs in NumPy, 1e-4 m off edges: level ones (drawn from the plane), and ones that lean (by rays)."""
    boxes = Boxes(11, 60)
    pose = f"0.1 -0.05 0.5 {' '.join(map(str, angles))}"
    world = world_of(tmp_path, laser(pose, fov, rays), boxes.xml())
    reading = reading_of(world)
    turn = np.radians(fov) * (np.arange(rays) / (rays - 1) - 0.5)
    np.testing.assert_allclose(reading.angles, turn, atol=1e-12)

    def exact(offset: float) -> npt.NDArray[np.float64]:
        flat = np.stack([np.cos(turn + offset), np.sin(turn + offset), np.zeros(rays)], axis=1)
        far = boxes.cast(np.array([0.1, -0.05, 0.5]), flat @ rotation(*angles).T)[0]
        return np.where(far < 20, far, 20)

    wrong = np.abs(reading.ranges - exact(0)) > 1e-4
    edge = np.abs(exact(1e-5) - exact(-1e-5)) > 1e-2
    assert not (wrong & ~edge).any()
    assert edge.mean() < 0.02
    np.testing.assert_array_equal(reading.valid, reading.ranges < 20)
    assert reading.valid.any()


def test_it_sees_the_heights_of_things(tmp_path: Path) -> None:
    """Things below or above the scan plane are not seen; in 2D both are."""
    for low, high, seen in ((0, 0.4, False), (0.6, 2, False), (0, 1, True)):
        things = block("b", "4 0 0", 1, 1, low, high)
        flat = "<sensor class='laser' name='flat'><range_std_noise>0</range_std_noise></sensor>"
        world = world_of(tmp_path, laser() + flat, things)
        assert reading_of(world).valid[90] == seen
        assert reading_of(world, "flat").valid[90]
        if seen:
            assert abs(reading_of(world).ranges[90] - 3.5) < 1e-4


def test_it_sees_its_own_vehicle_unless_told(tmp_path: Path) -> None:
    """From behind and below the chassis's top, where its hull is 1 m ahead."""
    pose = "-1.5 0 0.1 0 0 0"
    sees = reading_of(world_of(tmp_path, laser(pose, more="")))
    assert sees.valid[90] and sees.ranges[90] < 1.5
    assert not reading_of(world_of(tmp_path, laser(pose))).valid.any()
    # others' bodies stay
    other = block("b", "3 0 0", 1, 1, 0, 1)
    assert reading_of(world_of(tmp_path, laser(pose), other)).valid[90]


def test_ground_is_seen_where_the_plane_leans_into_it(tmp_path: Path) -> None:
    reading = reading_of(world_of(tmp_path, laser("0 0 0.5 0 10 0"), FLOOR))
    assert abs(reading.ranges[90] - 0.5 / np.sin(np.radians(10))) < 1e-4


def test_noise_is_of_the_range_alone(tmp_path: Path) -> None:
    wall = block("wall", "5 0 0", 0.2, 40, 0, 2)
    world = world_of(tmp_path, laser(fov=120, sigma=0.03), wall)
    clean = reading_of(world_of(tmp_path, laser(fov=120), wall)).ranges
    errors = np.stack([reading_of(world).ranges - clean for _ in range(600)])
    assert abs(errors.mean()) < 4 * 0.03 / np.sqrt(errors.size)
    for bearing in (0, 90, 180):  # aslant as straight on
        assert abs(errors[:, bearing].std() / 0.03 - 1) < 0.12
    assert abs(errors.std() / 0.03 - 1) < 0.01
    assert len(np.unique(errors[:, 90])) > 500


def test_noise_that_leaves_the_bounds_is_not_added(tmp_path: Path) -> None:
    wall = block("wall", "19.99 0 0", 0.01, 40, 0, 2)
    world = world_of(tmp_path, laser("0 0 0.5 0 0 0", fov=2, rays=11, sigma=0.5), wall)
    for _ in range(50):
        reading = reading_of(world)
        assert (reading.ranges <= 20).all() and (reading.ranges > 0).all()
        assert (reading.valid == (reading.ranges < 20)).all()


def test_readings_are_due_and_copies_go_on_alike(tmp_path: Path) -> None:
    boxes = Boxes(3, 30)
    world = world_of(tmp_path, laser(sigma=0.01), boxes.xml(), seed=4)
    world.vehicles["r"].set_twist(0.5, 0.4)
    for _ in range(50):
        world.step()
    other = copy.deepcopy(world)
    readings = []
    for each in (world, other):
        for _ in range(40):
            each.step()
        reading = each.vehicles["r"].sensors["laser"].read()
        assert isinstance(reading, Reading)
        readings.append(reading)
    np.testing.assert_array_equal(readings[0].ranges, readings[1].ranges)
    assert readings[0].time == readings[1].time


def env_of(folder: Path, sensors: str, **keywords: Any) -> Any:
    world_of(folder, sensors, Boxes(5, 40).xml())  # writes the file
    path = folder / "laser.env.xml"
    path.write_text(
        """<mvsim_env world="w.world.xml" control_period="0.1" time_limit="2"><agent vehicle="r">
        <action class="twist" vx="-1 1" omega="-1 1"/><observe class="scan" sensor="laser" sectors="36"/>
        <observe class="reading" sensor="laser" history="2"/></agent>
        <reset><spawn clearance="0.5" area="-2 2 -2 2"/></reset></mvsim_env>""",
        encoding="utf-8",
    )
    return gym.make_vec("mvsim/Custom-v0", env=str(path), **keywords)


def test_an_environment_observes_it_as_any_scan(tmp_path: Path) -> None:
    rollouts = []
    for num_envs, threads, backend in ((1, 1, "rays"), (5, 1, "rays"), (5, 2, "auto")):
        envs = env_of(
            tmp_path, laser(sigma=0.01), num_envs=num_envs, num_threads=threads, camera_backend=backend
        )
        observation, _ = envs.reset(seed=7)
        assert observation["scan"].shape == (num_envs, 36) and observation["reading"].shape == (
            num_envs,
            2 * 181,
        )
        frames = []
        for step in range(30):
            observation, *_ = envs.step(np.full((num_envs, 2), np.sin(step), np.float32))
            frames.append(observation["scan"][0].copy())
            nearest = observation["reading"][
                0, 181:
            ].min()  # another reading of the moment, with noise of its own
            assert abs(observation["scan"][0].min() - nearest) < 0.1
        rollouts.append(np.stack(frames))
        envs.close()
    for rollout in rollouts[1:]:
        np.testing.assert_array_equal(rollouts[0], rollout)
    assert np.ptp(rollouts[0], axis=0).max() > 0.1


def test_a_laser_stands_in_the_world(tmp_path: Path) -> None:
    standing = laser("1 2 0.5 90 0 0", name="post", more="")
    world = world_of(tmp_path, "", standing + block("b", "1 5 0", 1, 1, 0, 1))
    reading = world.sensors["post"].read(fresh=True)
    assert isinstance(reading, Reading)
    assert abs(reading.ranges[90] - 2.5) < 1e-4
