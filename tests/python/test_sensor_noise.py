"""Noise of sensors on 1e5 samples each: mean, deviation, independence, and how an IMU drifts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from test_cameras import block, camera_reading, depth_camera, lidar3d, lidar_reading, world_of

from mvsim_gym.world import World

Samples = npt.NDArray[np.float64]
SAMPLES = 100_000


def is_normal(errors: Samples, sigma: float) -> None:
    """Mean, deviation and tails of a normal distribution, each within 4.5 of its own standard errors."""
    n = errors.size
    assert n >= SAMPLES
    assert abs(errors.mean()) < 4.5 * sigma / np.sqrt(n)
    assert abs(errors.std() / sigma - 1) < 4.5 / np.sqrt(2 * n)
    for times, expected in ((1, 0.317311), (2, 0.0455003), (3, 0.0026998)):
        beyond = (np.abs(errors) > times * sigma).mean()
        assert abs(beyond - expected) < 4.5 * np.sqrt(expected / n)


def are_independent(errors: Samples) -> None:
    """Neighbours say nothing of each other."""
    one, two = errors[:-1] / errors.std(), errors[1:] / errors.std()
    assert abs((one * two).mean()) < 4.5 / np.sqrt(len(one))


@pytest.mark.parametrize("more", ["", "<raytrace_3d>true</raytrace_3d>"])
def test_ranges_of_a_laser(tmp_path: Path, more: str) -> None:
    wall = block("wall", "5 0 0", 2, 100, -50, 50)
    laser = f"""<sensor class="laser" name="laser"><pose_3d>0 0 0.5 0 0 0</pose_3d><fov_degrees>120</fov_degrees>
    <nrays>1000</nrays><max_range>50</max_range><range_std_noise>0.04</range_std_noise>{more}</sensor>"""
    world = world_of(tmp_path, laser, wall)
    sensor = world.vehicles["r"].sensors["laser"]
    exact = 4 / np.cos(sensor.read(fresh=True).angles)
    errors = np.concatenate([sensor.read(fresh=True).ranges - exact for _ in range(100)])
    is_normal(errors, 0.04)
    are_independent(errors)


def test_distances_of_pictures(tmp_path: Path) -> None:
    wall = block("wall", "5 0 0", 2, 100, -50, 50)
    world = world_of(tmp_path, depth_camera(sigma=0.02) + lidar3d(sigma=0.05), wall)
    exact = lidar_reading(world_of(tmp_path, lidar3d(), wall)).range_image
    depths, ranges = [], []
    while sum(map(len, ranges)) < SAMPLES:
        depth, image = camera_reading(world).depth, lidar_reading(world).range_image
        assert depth is not None
        depths.append(depth[depth > 0] - np.float64(4))
        near = (exact > 0) & (exact < 35)  # noise takes none of these beyond what is seen
        ranges.append(image[near] - exact[near].astype(np.float64))
    for errors, sigma in ((np.concatenate(depths), 0.02), (np.concatenate(ranges), 0.05)):
        is_normal(errors, sigma)
        are_independent(errors)


def test_places_of_a_gnss_receiver(tmp_path: Path) -> None:
    gnss = """<sensor class="gnss" name="gnss"><sensor_period>0.005</sensor_period>
    <horizontal_std_noise>1.5</horizontal_std_noise><vertical_std_noise>3</vertical_std_noise></sensor>"""
    place = "<georeference><latitude>36.84</latitude><longitude>-2.41</longitude></georeference>"
    world = world_of(tmp_path, gnss, place)
    places = series(world, "gnss", lambda reading: reading.enu)
    np.testing.assert_allclose(
        world.vehicles["r"].sensors["gnss"].read().covariance, np.diag([2.25, 2.25, 9])
    )
    for axis, sigma in ((0, 1.5), (1, 1.5), (2, 3.0)):
        is_normal(places[:, axis], sigma)
        are_independent(places[:, axis])
    assert np.abs(np.corrcoef(places.T) - np.eye(3)).max() < 4.5 / np.sqrt(SAMPLES)


def series(world: World, name: str, of: object) -> Samples:
    """Returns the readings of a sensor of a robot at rest in 1e5 steps."""
    sensor = world.vehicles["r"].sensors[name]
    world.step(0.005)
    out = []
    for _ in range(SAMPLES):
        world.step(0.005)
        out.append(of(sensor.read()))  # type: ignore[operator]
    return np.array(out)


def allan_deviation(rates: Samples, period: float, times: Samples) -> Samples:
    """Returns the Allan deviation of overlapping clusters of so many seconds (IEEE Std 952-1997, annex C)."""
    angle = np.concatenate([[0], np.cumsum(rates) * period])
    out = []
    for time in times:
        m = round(time / period)
        second = angle[2 * m :] - 2 * angle[m:-m] + angle[: -2 * m]
        out.append(np.sqrt((second**2).mean() / 2) / (m * period))
    return np.array(out)


def slope(times: Samples, values: Samples) -> float:
    return float(np.polyfit(np.log(times), np.log(values), 1)[0])


def test_white_noise_of_an_imu(tmp_path: Path) -> None:
    white = 0.02
    imu = f"""<sensor class="imu" name="imu"><sensor_period>0.005</sensor_period>
    <angular_velocity_white_noise_std_noise>{white}</angular_velocity_white_noise_std_noise>
    <linear_acceleration_white_noise_std_noise>{2 * white}</linear_acceleration_white_noise_std_noise></sensor>"""
    world = world_of(tmp_path, imu, seed=1)
    values = series(world, "imu", lambda reading: [*reading.angular_velocity, *reading.linear_acceleration])
    values[:, 5] -= 9.81
    for axis in range(6):
        is_normal(values[:, axis], white if axis < 3 else 2 * white)
        are_independent(values[:, axis])


@pytest.mark.parametrize(("quantity", "truth"), [("angular_velocity", 0.0), ("linear_acceleration", 9.81)])
def test_an_imu_drifts_as_its_parameters_say(tmp_path: Path, quantity: str, truth: float) -> None:
    """White noise of deviation s at rate 1/T has an Allan deviation of s sqrt(T / t): slope -1/2. A bias that walks
    with k has one of k sqrt(t / 3): slope 1/2. Here they cross at 0.3 s, of 500 s."""
    sigma, walk, period = 0.05, 0.02, 0.005
    imu = f"""<sensor class="imu" name="imu"><sensor_period>{period}</sensor_period>
    <{quantity}_white_noise_std_noise>{sigma}</{quantity}_white_noise_std_noise>
    <{quantity}_random_walk_std_noise>{walk}</{quantity}_random_walk_std_noise></sensor>"""
    world = world_of(tmp_path, imu, seed=3)
    errors = series(world, "imu", lambda reading: getattr(reading, quantity)[2]) - truth
    short, long = period * np.array([2, 3, 4, 6, 8, 10]), np.geomspace(3, 20, 8)
    fast, slow = allan_deviation(errors, period, short), allan_deviation(errors, period, long)
    np.testing.assert_allclose(fast, sigma * np.sqrt(period / short), rtol=0.03)
    assert slope(short, fast) == pytest.approx(-0.5, abs=0.02)
    np.testing.assert_allclose(slow, walk * np.sqrt(long / 3), rtol=0.3)  # of 25 clusters and more
    assert slope(long, slow) == pytest.approx(0.5, abs=0.1)
