"""Cameras, depth cameras and 3D lidars: against ray casting in NumPy, analytic projections, and the facts of sensors.

The facts are those of MVSim's sensors that users rely on: frames, clip planes, rings, misses, labels.
"""

from __future__ import annotations

import copy
from pathlib import Path

import gymnasium
import numpy as np
import numpy.typing as npt
import pytest

import mvsim_gym
from mvsim_gym.world import CameraReading, Lidar3dReading, World

FLOOR = """<element class="horizontal_plane"><x_min>-50</x_min><x_max>50</x_max><y_min>-50</y_min><y_max>50</y_max>
</element>"""
ROBOT = """<vehicle name="r"><init_pose>{pose}</init_pose><dynamics class="differential">
<l_wheel mass="1" diameter="0.2" width="0.05"/><r_wheel mass="1" diameter="0.2" width="0.05"/>
<chassis mass="5" zmin="0.05" zmax="0.15"/><controller class="twist_ideal"/></dynamics>{sensors}</vehicle>"""
DEPTH = """<sensor class="rgbd_camera" name="cam"><pose_3d>{pose}</pose_3d>
<depth_noise_sigma>{sigma}</depth_noise_sigma>
<depth_ncols>64</depth_ncols><depth_nrows>48</depth_nrows><depth_cx>32</depth_cx><depth_cy>24</depth_cy>
<depth_fx>40</depth_fx><depth_fy>40</depth_fy><depth_clip_max>{far}</depth_clip_max>
<rgb_ncols>64</rgb_ncols><rgb_nrows>48</rgb_nrows><rgb_cx>32</rgb_cx><rgb_cy>24</rgb_cy>
<rgb_fx>40</rgb_fx><rgb_fy>40</rgb_fy>{more}</sensor>"""
LIDAR = """<sensor class="lidar3d" name="lidar"><pose_3d>{pose}</pose_3d><range_std_noise>{sigma}</range_std_noise>
<vert_nrays>16</vert_nrays><vert_fov_degrees>30</vert_fov_degrees><horz_nrays>{columns}</horz_nrays>
<min_range>0.1</min_range><max_range>40</max_range><ignore_parent_body>true</ignore_parent_body>{more}</sensor>"""


def depth_camera(pose: str = "0 0 0.5 0 0 0", sigma: float = 0, far: float = 15, more: str = "") -> str:
    return DEPTH.format(pose=pose, sigma=sigma, far=far, more=more)


def lidar3d(pose: str = "0 0 0.5 0 0 0", sigma: float = 0, columns: int = 180, more: str = "") -> str:
    return LIDAR.format(pose=pose, sigma=sigma, columns=columns, more=more)


def block(name: str, pose: str, x: float, y: float, low: float, high: float, color: str = "#808080") -> str:
    corners = "".join(f"<pt>{a * x / 2} {b * y / 2}</pt>" for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1)))
    return (
        f'<block name="{name}"><static>true</static><init_pose>{pose}</init_pose><zmin>{low}</zmin><zmax>{high}</zmax>'
        f"<color>{color}</color><shape>{corners}</shape></block>"
    )


def world_of(folder: Path, sensors: str, more: str = "", pose: str = "0 0 0", seed: int = 0) -> World:
    path = folder / "w.world.xml"
    path.write_text(
        f"<mvsim_world>{more}{ROBOT.format(pose=pose, sensors=sensors)}</mvsim_world>", encoding="utf-8"
    )
    return World(path, seed=seed)


def camera_reading(world: World) -> CameraReading:
    reading = world.vehicles["r"].sensors["cam"].read(fresh=True)
    assert isinstance(reading, CameraReading)
    return reading


def lidar_reading(world: World) -> Lidar3dReading:
    reading = world.vehicles["r"].sensors["lidar"].read(fresh=True)
    assert isinstance(reading, Lidar3dReading)
    return reading


class Boxes:
    """Upright boxes, some of them turned, over a floor: rays against them by slabs, with NumPy alone."""

    def __init__(self, seed: int, count: int) -> None:
        random = np.random.default_rng(seed)
        self.center = random.uniform(-12, 12, (count, 2))
        self.center = self.center[np.hypot(*self.center.T) > 2.5]
        n = len(self.center)
        self.yaw = random.uniform(-180, 180, n)
        self.size = random.uniform(0.3, 2, (n, 2))
        self.low = random.uniform(0, 0.6, n)
        self.high = self.low + random.uniform(0.3, 2, n)

    def xml(self) -> str:
        return FLOOR + "".join(
            block(
                f"b{i}", f"{c[0]!r} {c[1]!r} {float(self.yaw[i])!r}", *self.size[i], self.low[i], self.high[i]
            )
            for i, c in enumerate(self.center.tolist())
        )

    def cast(
        self, origin: npt.NDArray[np.float64], rays: npt.NDArray[np.float64]
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
        """Distances in lengths of the rays (n, 3), infinite without a hit, and labels: 1 the floor, 2... the boxes."""
        with np.errstate(divide="ignore", invalid="ignore"):
            best = np.where(rays[:, 2] < 0, -origin[2] / rays[:, 2], np.inf)
            label = np.where(np.isfinite(best), 1, 0)
            for i in range(len(self.yaw)):
                c, s = np.cos(np.radians(self.yaw[i])), np.sin(np.radians(self.yaw[i]))
                turn = np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]])
                o = turn @ (origin - [*self.center[i], 0])
                d = rays @ turn.T
                half = self.size[i] / 2
                low = np.array([-half[0], -half[1], self.low[i]])
                high = np.array([half[0], half[1], self.high[i]])
                one, two = (low - o) / d, (high - o) / d
                enter = np.minimum(one, two).max(1)
                leave = np.maximum(one, two).min(1)
                nearer = (enter <= leave) & (enter > 0) & (enter < best)
                best[nearer], label[nearer] = enter[nearer], i + 2
        return best, label


def compare_off_edges(found: npt.NDArray[np.float32], exact: npt.NDArray[np.float64], far: float) -> None:
    """Equal to 1e-4 m but for pixels whose neighbours see something else: there a ray may fall on either side."""
    exact = np.where(exact < far, exact, 0)
    wrong = np.abs(found - exact) > 1e-4 + 1e-6 * exact
    assert wrong.mean() < 2e-3
    rows, columns = np.nonzero(wrong)
    for r, c in zip(rows, columns, strict=True):
        near = exact[max(r - 1, 0) : r + 2, max(c - 1, 0) : c + 2]
        assert np.ptp(near) > 0.01, (r, c, found[r, c], exact[r, c])


@pytest.mark.parametrize("seed", range(6))
def test_depth_and_labels_are_those_of_exact_ray_casting(tmp_path: Path, seed: int) -> None:
    boxes = Boxes(seed, 40)
    pose = "0.1 -0.2 0.9 20 8 -5" if seed % 2 else "0 0 0.9 0 0 0"
    world = world_of(tmp_path, depth_camera(pose, far=30), boxes.xml(), pose="1 0.5 30")
    reading = camera_reading(world)
    assert reading.depth is not None
    matrix, mount = reading.intrinsics["depth"], reading.T_vehicle_camera["depth"]
    assert (reading.intrinsics["image" if reading.image is not None else "depth"] == reading.K).all()
    vehicle = np.eye(4)
    yaw = np.radians(30)
    vehicle[:2] = [[np.cos(yaw), -np.sin(yaw), 0, 1], [np.sin(yaw), np.cos(yaw), 0, 0.5]]
    camera = vehicle @ mount
    columns, rows = np.meshgrid(np.arange(64), np.arange(48))
    local = np.stack(
        [(columns - matrix[0, 2]) / matrix[0, 0], (rows - matrix[1, 2]) / matrix[1, 1], np.ones_like(rows)],
        -1,
    )
    distance, label = boxes.cast(camera[:3, 3], local.reshape(-1, 3) @ camera[:3, :3].T)
    robot = reading.labels == len(boxes.yaw) + 2
    expected = np.where(robot, reading.depth, distance.reshape(48, 64))
    compare_off_edges(reading.depth, expected, 30)
    same = reading.labels == label.reshape(48, 64)
    assert (same | robot).mean() > 0.99
    assert reading.depth.min() >= 0 and (reading.depth > 0).any()


@pytest.mark.parametrize("pitch", [0, 3])  # drawn from the plane, and by rays
@pytest.mark.parametrize("seed", range(3))
def test_a_3d_lidar_is_exact_ray_casting(tmp_path: Path, seed: int, pitch: int) -> None:
    boxes = Boxes(10 + seed, 60)
    world = world_of(tmp_path, lidar3d(f"0.1 0 0.7 10 {pitch} 0"), boxes.xml())
    reading = lidar_reading(world)
    mount = np.radians([10, pitch, 0])
    cy, sy, cp, sp = np.cos(mount[0]), np.sin(mount[0]), np.cos(mount[1]), np.sin(mount[1])
    turn = np.array([[cy * cp, -sy, cy * sp], [sy * cp, cy, sy * sp], [-sp, 0, cp]])
    e, a = np.meshgrid(reading.elevations, reading.azimuths, indexing="ij")
    local = np.stack([np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), np.sin(e)], -1)
    distance, _ = boxes.cast(np.array([0.1, 0, 0.7]), local.reshape(-1, 3) @ turn.T)
    compare_off_edges(reading.range_image, distance.reshape(e.shape), 40)


def test_rings_and_columns(tmp_path: Path) -> None:
    """Facts 18 and 19: 16 rings over 30 degrees are -15, -13, ... 15; a list in any order is sorted."""
    reading = lidar_reading(world_of(tmp_path, lidar3d()))
    np.testing.assert_allclose(np.degrees(reading.elevations), np.arange(-15, 16, 2), atol=1e-12)
    np.testing.assert_allclose(np.degrees(reading.azimuths), np.arange(-180, 180, 2), atol=1e-12)
    angles = "<vert_nrays>3</vert_nrays><vertical_ray_angles>5 -3 1</vertical_ray_angles>"
    reading = lidar_reading(world_of(tmp_path, lidar3d(more=angles)))
    np.testing.assert_allclose(np.degrees(reading.elevations), [-3, 1, 5], atol=1e-12)


def test_a_lidar_over_a_flat_floor(tmp_path: Path) -> None:
    """Facts 21 and 22: rings below the horizon hit the floor at h / tan, others nothing; misses are no points."""
    floor = FLOOR.replace("50", "5000")
    reading = lidar_reading(world_of(tmp_path, lidar3d(), floor))
    down = reading.elevations < 0
    assert not reading.range_image[~down].any()
    expected = 0.5 / np.sin(-reading.elevations[down])
    expected[expected > 40] = 0
    np.testing.assert_allclose(reading.range_image[down], np.tile(expected[:, None], 180), rtol=1e-6)
    points = reading.points()
    assert len(points) == np.count_nonzero(reading.range_image)
    np.testing.assert_allclose(points["z"], -0.5, atol=1e-5)
    assert not points["t"].any() and set(points["ring"]) <= set(range(8))
    assert reading.intensity is not None and reading.intensity.max() <= 1
    without = lidar_reading(
        world_of(tmp_path, lidar3d(more="<generate_intensity>false</generate_intensity>"), floor)
    )
    assert without.intensity is None and (without.points()["intensity"] == 1).all()


def test_depth_is_along_the_axis_and_zero_beyond_the_clip_planes(tmp_path: Path) -> None:
    """Facts 26 and 27: a wall at 2 m has depth 2 in all pixels; beyond depth_clip_max, and in the open, it is 0."""
    wall = block("wall", "3 0 0", 2, 60, -30, 30)
    reading = camera_reading(world_of(tmp_path, depth_camera(), wall))
    assert reading.depth is not None
    seen = reading.labels == 1
    np.testing.assert_allclose(reading.depth[seen], 2, atol=1e-6)
    assert seen.mean() > 0.9
    near = camera_reading(world_of(tmp_path, depth_camera(far=1.9), wall))
    assert near.depth is not None and not near.depth[seen].any()


def test_what_lies_left_is_left_and_the_sky_is_above(tmp_path: Path) -> None:
    """Fact 28, with the camera's optical frame; the picture of an RGB camera that stands upright."""
    camera = """<sensor class="camera" name="cam"><pose_3d>0.2 0 0.5 -90 0 -90</pose_3d>
    <ncols>64</ncols><nrows>48</nrows><cx>32</cx><cy>24</cy><fx>40</fx><fy>40</fy></sensor>"""
    world = world_of(tmp_path, camera, FLOOR + block("box", "4 1.5 0", 1, 1, 0, 1, "#ff0000"))
    reading = camera_reading(world)
    assert reading.image is not None and reading.depth is None
    box = reading.labels == world.labels.index("box")
    assert box[:, :32].any() and not box[:, 32:].any()
    red = reading.image[box].mean(0)
    assert red[0] > 2 * red[1]
    assert (reading.labels[0] == 0).all() and (reading.labels[-1] != 0).all()
    sky = reading.image[0].mean(0)
    assert sky[2] > sky[0]
    matrix, mount = reading.intrinsics["image"], reading.T_vehicle_camera["image"]
    assert (matrix == reading.K).all()
    right, top = ((np.linalg.inv(mount) @ corner)[:3] for corner in ([4.5, 1, 1, 1], [3.5, 1, 1, 1]))
    rows, columns = np.nonzero(box)
    assert abs(columns.max() - (matrix @ right)[0] / right[2]) <= 1
    assert abs(rows.min() - (matrix @ top)[1] / top[2]) <= 1


def test_a_surface_is_darker_in_the_shade(tmp_path: Path) -> None:
    roof = block("roof", "4 0 0", 3, 3, 2, 2.1)
    below = camera_reading(world_of(tmp_path, depth_camera("0 0 1 0 15 0"), FLOOR + roof))
    open_sky = camera_reading(world_of(tmp_path, depth_camera("0 0 1 0 15 0"), FLOOR))
    assert below.image is not None and open_sky.image is not None
    floor = (below.labels == 1) & (open_sky.labels == 1)
    ratio = below.image[floor].mean(1) / open_sky.image[floor].mean(1)
    assert ratio.min() < 0.9 and np.isclose(ratio, 1, atol=0.02).any()


def test_noise_of_depth_and_of_ranges(tmp_path: Path) -> None:
    wall = block("wall", "5 0 0", 2, 100, -50, 50)
    world = world_of(tmp_path, depth_camera(sigma=0.02) + lidar3d(sigma=0.05), wall)
    depths, ranges = [], []
    exact = lidar_reading(world_of(tmp_path, lidar3d(), wall)).range_image
    for _ in range(30):
        depth = camera_reading(world).depth
        assert depth is not None
        depths.append(depth[depth > 0] - 4)
        image = lidar_reading(world).range_image
        both = (image > 0) & (exact > 0)
        ranges.append(image[both] - exact[both])
    for errors, sigma in ((np.concatenate(depths), 0.02), (np.concatenate(ranges), 0.05)):
        assert len(errors) > 10_000
        assert errors.std() == pytest.approx(sigma, rel=0.03)
        assert abs(errors.mean()) < 5 * sigma / np.sqrt(len(errors))


def test_readings_are_due_and_are_drawn_as_they_were(tmp_path: Path) -> None:
    world = world_of(tmp_path, depth_camera(sigma=0.01), Boxes(3, 30).xml())
    camera = world.vehicles["r"].sensors["cam"]
    assert camera.read() is None
    world.vehicles["r"].set_twist(0.5, 0.5)
    world.step(0.11)
    reading = camera.read()
    assert reading.time == pytest.approx(0.105)
    world.step(0.05)
    again = camera.read()
    for one, two in zip(reading[:3], again[:3], strict=True):
        np.testing.assert_array_equal(one, two)
    state = world.snapshot()
    assert len(state) < 64_000
    world.step(0.1)
    assert (camera.read().depth != reading.depth).any()
    world.restore(state)
    np.testing.assert_array_equal(camera.read().depth, reading.depth)
    np.testing.assert_array_equal(
        copy.deepcopy(world).vehicles["r"].sensors["cam"].read().image, reading.image
    )


def test_a_sensor_stands_in_the_world(tmp_path: Path) -> None:
    path = tmp_path / "w.world.xml"
    camera = depth_camera("-3 0 0.5 0 0 0").replace('"cam"', '"tower"')
    path.write_text(f"<mvsim_world>{FLOOR}{camera}{ROBOT.format(pose='0 0 0', sensors='')}</mvsim_world>")
    world = World(path)
    reading = world.sensors["tower"].read(fresh=True)
    assert (reading.labels == world.labels.index("r")).any()
    world.step(0.2)
    assert world.sensors["tower"].read().time == pytest.approx(0.105)
    assert "tower" not in world.vehicles["r"].sensors


def test_a_robot_sees_itself_unless_the_lidar_ignores_it(tmp_path: Path) -> None:
    low = "0 0 0.5 0 60 0"
    seen = camera_reading(world_of(tmp_path, depth_camera(low), FLOOR))
    assert (seen.labels == 2).any()
    sees = lidar3d("0 0 0.17 0 0 0").replace("<ignore_parent_body>true", "<ignore_parent_body>false")
    assert (lidar_reading(world_of(tmp_path, sees, FLOOR)).labels == 2).any()
    assert not (lidar_reading(world_of(tmp_path, lidar3d("0 0 0.17 0 0 0"), FLOOR)).labels == 2).any()


def test_a_camera_within_its_robot_looks_out(tmp_path: Path) -> None:
    reading = camera_reading(
        world_of(tmp_path, depth_camera("0 0 0.1 0 0 0"), block("wall", "3 0 0", 2, 60, -30, 30))
    )
    assert (reading.labels == 1).all()


def test_what_is_behind_glass_shines_through(tmp_path: Path) -> None:
    glass, wall = (
        block(name, f"{x} 0 0", 0.2, 60, -30, 30, color)
        for name, x, color in (("glass", 2, "#ff000080"), ("wall", 5, "#00ff00"))
    )
    alone = camera_reading(world_of(tmp_path, depth_camera(), wall))
    both = camera_reading(world_of(tmp_path, depth_camera(), glass + wall))
    assert alone.image is not None and both.image is not None and both.depth is not None
    assert both.labels[24, 32] == 1 and both.depth[24, 32] == pytest.approx(1.9)  # as if it were opaque
    red, green, blue = both.image[24, 32]
    assert alone.image[24, 32, 0] == 0 and red > 80 and blue == 0
    assert 0.3 < green / alone.image[24, 32, 1] < 0.6  # half of it, in the shade of the glass


PLATE = "solid plate\n{}endsolid plate\n".format(
    "".join(
        "facet normal -1 0 0\nouter loop\n"
        + "".join(f"vertex 0.5 {y} {z}\n" for y, z in corners)
        + "endloop\nendfacet\n"
        for corners in (((1, -1), (-1, -1), (-1, 1)), ((1, -1), (-1, 1), (1, 1)))
    )
)


def test_a_camera_sees_the_devices_of_others_and_not_its_own(tmp_path: Path) -> None:
    (tmp_path / "plate.stl").write_text(PLATE)
    device = "<visual><model_uri>plate.stl</model_uri></visual>"
    own = camera_reading(world_of(tmp_path, depth_camera(more=device)))
    assert own.labels[24, 32] == 0
    imu = f'<sensor class="imu"><pose_3d>0 0 0.5 0 0 0</pose_3d>{device}</sensor>'
    world = world_of(tmp_path, depth_camera() + imu)
    assert world.labels[camera_reading(world).labels[24, 32]] == "r"
    world = world_of(tmp_path, depth_camera(), imu)
    assert world.labels[camera_reading(world).labels[24, 32]] == "sensor"


ENV = """<mvsim_env id="t" world="w.world.xml" control_period="0.1" time_limit="5">
<agent vehicle="r"><action class="twist" vx="-1 1" omega="-2 2"/><observe class="image" history="2"/>
<observe class="depth" max="8"/><observe class="labels"/><observe class="range_image"/></agent>
<reset><spawn pose="0 0 0"/></reset><reward class="time" weight="-1"/></mvsim_env>"""


def env_file(folder: Path) -> str:
    world_of(folder, depth_camera(sigma=0.01) + lidar3d(sigma=0.01, columns=60), Boxes(5, 30).xml())
    (folder / "t.env.xml").write_text(ENV)
    return str(folder / "t.env.xml")


def test_an_environment_observes_images(tmp_path: Path) -> None:
    env = mvsim_gym.Env(env_file(tmp_path))
    spaces = env.observation_space
    assert isinstance(spaces, gymnasium.spaces.Dict)
    assert {k: (s.shape, s.dtype) for k, s in spaces.items()} == {
        "image": ((2, 48, 64, 3), np.uint8),
        "depth": ((48, 64), np.float32),
        "labels": ((48, 64), np.uint16),
        "range_image": ((16, 60), np.float32),
    }
    observation, _ = env.reset(seed=1)
    assert spaces.contains(observation)
    assert observation["depth"].max() == 8 and observation["depth"].min() > 0
    assert observation["range_image"].max() == 40
    moved, *_ = env.step(np.array([1, 0.5], np.float32))
    assert (moved["image"][1] != observation["image"][1]).any()
    np.testing.assert_array_equal(moved["image"][0], observation["image"][1])


def played(path: Path, num_envs: int = 1, threads: int = 1, backend: str = "auto") -> list[bytes]:
    """Returns the observations of the first env of a batch."""
    envs = mvsim_gym.VectorEnv(path, num_envs=num_envs, num_threads=threads, camera_backend=backend)
    actions = np.random.default_rng(0).uniform(-1, 1, (4, 5, 2)).astype(np.float32)
    observation, _ = envs.reset(seed=list(range(7, 7 + num_envs)))
    out = [b"".join(observation[k][0].tobytes() for k in sorted(observation))]
    for step in actions:
        observation, *_ = envs.step(step[:num_envs])
        out.append(b"".join(observation[k][0].tobytes() for k in sorted(observation)))
    envs.close()
    return out


def test_images_have_the_same_bytes_for_any_number_of_envs_and_threads(tmp_path: Path) -> None:
    path = env_file(tmp_path)
    assert played(path) == played(path, 3) == played(path, 3, 2)
