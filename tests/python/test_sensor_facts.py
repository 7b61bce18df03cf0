"""The facts of MVSim's sensors that users rely on: where each is tested, and those that need all of a world."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from conftest import ROOT
from test_camera_egl import drawn_without
from test_cameras import FLOOR, ROBOT, block, camera_reading, lidar_reading, world_of

from mvsim_gym.world import World

FACTS = {
    1: "facts_test.cpp::AClassIsNamedAndKnown",
    2: "facts_test.cpp::UnknownTagsAreWarnedOf",
    3: "facts_test.cpp::ThePeriodIsATenthOfASecondUnlessSaid",
    4: "facts_test.cpp::StampsAre0105And0205And0305",
    5: "facts_test.cpp::APeriodBetweenStepsKeepsItsMeanRate",
    6: "facts_test.cpp::APeriodBelowTheStepGivesOneReadingAStepFromTheSecondOn",
    7: "facts_test.cpp::UnnamedSensorsAreCountedByVehicle",
    8: "laser_test.cpp::RaysGoFromRightToLeft",
    9: "laser_test.cpp::WithoutObstaclesAllRangesAreTheLongestAndInvalid",
    10: "laser_test.cpp::AFaceFiveMetresAheadIsAtFiveMetres",
    11: "test_laser_3d.py::test_it_sees_the_heights_of_things",
    12: "laser_test.cpp::OwnBodyIsNotSeenAndOthersAre",
    13: "laser_test.cpp::WithBodiesVisibleFalseOnlyMapsAreSeen",
    14: "laser_test.cpp::RangesToAMapAreExactAndUnknownCellsStopRays",
    15: "laser_test.cpp::RangesToAMapAreExactAndUnknownCellsStopRays",
    16: "laser_test.cpp::NoiseOfTheAngleLeavesBlocksAlone",
    17: "laser_test.cpp::WindowsBlockAndDoorsDoNot",
    18: "test_cameras.py::test_rings_and_columns",
    19: "test_cameras.py::test_rings_and_columns",
    20: "definitions_test.cpp::TheirValuesAreChecked",
    21: "test_cameras.py::test_a_lidar_over_a_flat_floor",
    22: "test_cameras.py::test_a_lidar_over_a_flat_floor",
    23: "definitions_test.cpp::RotationSetsTheColumns",
    24: "definitions_test.cpp::RotationSetsTheColumns",
    25: "test_sensor_facts.py::test_rings_of_the_lidars_that_are_sold",
    26: "test_cameras.py::test_depth_is_along_the_axis_and_zero_beyond_the_clip_planes",
    27: "test_cameras.py::test_depth_is_along_the_axis_and_zero_beyond_the_clip_planes",
    28: "test_cameras.py::test_what_lies_left_is_left_and_the_sky_is_above",
    29: "test_sensor_facts.py::test_a_camera_sees_no_marks_of_viewers",
    30: "imu_test.cpp::AtRestItFeelsGravityAlone",
    31: "imu_test.cpp::OnASlopeItFeelsGravityAlongIt",
    32: "imu_test.cpp::InALeftTurnItFeelsAPullToTheLeft",
    33: "imu_test.cpp::WhiteNoiseHasItsDeviation",
    34: "imu_test.cpp::TheBiasWalksAlikeAtEveryPeriod",
    35: "gnss_test.cpp::AtTheOriginItReportsTheReference",
    36: "gnss_test.cpp::AlongXIsEastUnlessTheWorldIsTurned",
    37: "gnss_test.cpp::InsideARegionWithoutCoverageThereIsNoFix",
    38: "gnss_test.cpp::WithoutAPlaceOnTheEarthThereAreNoReadingsAndOneWarning",
    39: "test_gnss.py::test_a_reading_has_names",
    40: "gnss_test.cpp::WorldsInUtmCoordinatesCountFromTheReference",
    41: "test_sensor_facts.py::test_a_laser_that_stands_in_the_world_is_where_its_pose_says",
    42: "test_comms_topics.py::test_a_lidar_has_two_topics",
}

# Definition, parameters: rings from below (degrees), columns, and the ranges that it sees (m).
HELIOS_26 = [-16, -14.5, -13, -12.5, -11, -9.5, -8, *np.arange(-7, 3.6, 0.5), 6, 8, 10]
HELIOS_70 = [*np.linspace(-55.02, -8, 17), *np.linspace(-6.667, 6.667, 11), 8.754, 10.841, 12.929, 15]
SOLD = {
    "velodyne-vlp16": ("", np.arange(-15, 16, 2), 1808, 0.01, 80),
    "velodyne-vlp16, 1200 rpm": ("sensor_rpm='1200'", np.arange(-15, 16, 2), 904, 0.01, 80),
    "ouster-os1": ("", np.linspace(-11.25, 11.25, 128), 1024, 0.5, 90),
    "helios-32-FOV-26": ("", HELIOS_26, 1808, 0.2, 110),
    "helios-32-FOV-31": ("", np.arange(-16, 16), 1808, 0.2, 110),
    "helios-32-FOV-70": ("", HELIOS_70, 1808, 0.2, 110),
    "helios-32-FOV-70, 5 Hz": ("sensor_rate='5'", HELIOS_70, 3616, 0.2, 110),
    "hesai-xt32": ("", np.arange(-16, 16), 2000, 0.05, 120),
}


@pytest.mark.parametrize(("fact", "where"), FACTS.items())
def test_a_fact_is_tested(fact: int, where: str) -> None:
    file, _, name = where.partition("::")
    if file.endswith(".cpp"):
        text = (ROOT / "tests" / "cpp" / "sensor" / file).read_text()
        assert re.search(rf"^TEST\(\w+, {name}\)", text, re.M), fact
    else:
        assert f"\ndef {name}(" in (ROOT / "tests" / "python" / file).read_text(), fact
    assert list(FACTS) == list(range(1, 43))


@pytest.mark.parametrize("name", SOLD)
def test_rings_of_the_lidars_that_are_sold(tmp_path: Path, name: str) -> None:
    """The definition of each product has its angles, columns and ranges, in its image and in its point cloud."""
    more, rings, columns, least, most = SOLD[name]
    include = f"<include file='definitions/{name.partition(',')[0]}.sensor.xml' sensor_std_noise='0' {more} "
    include += "sensor_name='lidar' sensor_x='0' sensor_z='1' generate_intensity='true'/>"
    # on both sides of the near limit behind, and of the far limit ahead
    tiny = 0.1 * least, 0.3 * least, 1 - 0.2 * least, 1 + 0.2 * least
    things = (
        block("near", f"{-1.3 * least} 0 0", *tiny)
        + block("nearer", f"0 {-0.8 * least} 90", *tiny)
        + block("ahead", f"{most - 4} 3 0", 1, 2, 0, 40)
        + block("beyond", f"{most + 4} -3 0", 1, 2, 0, 40)
    ).replace("<static>true</static>", "<static>true</static><intangible>true</intangible>")
    world = world_of(tmp_path, include, FLOOR.replace("50", "500") + things, pose="0 0 0")
    reading = lidar_reading(world)
    assert reading.range_image.shape == (len(rings), columns) and reading.range_image.dtype == np.float32
    np.testing.assert_allclose(np.degrees(reading.elevations), rings, atol=6e-4)
    np.testing.assert_allclose(
        reading.azimuths, -np.pi + 2 * np.pi * np.arange(columns) / columns, atol=1e-12
    )
    seen = set(np.unique(reading.labels).tolist())
    names = world.labels
    assert {names.index("near"), names.index("ahead")} <= seen
    assert names.index("beyond") not in seen and names.index("nearer") not in seen
    hit = reading.range_image > 0
    assert reading.range_image[hit].min() >= least and reading.range_image.max() <= most
    cloud = reading.points()
    assert cloud.dtype.names == ("x", "y", "z", "intensity", "ring", "t")
    assert len(cloud) == hit.sum() == np.count_nonzero(reading.labels)
    distance = np.sqrt(sum(cloud[axis].astype(np.float64) ** 2 for axis in "xyz"))
    np.testing.assert_allclose(distance, reading.range_image.T[hit.T], rtol=1e-6)
    np.testing.assert_array_equal(cloud["ring"], np.nonzero(hit.T)[1])  # rings from below inside of a column
    assert ((cloud["intensity"] >= 0) & (cloud["intensity"] <= 1)).all() and cloud["intensity"].max() > 0.1
    assert not cloud["t"].any()


def test_a_camera_sees_no_marks_of_viewers(tmp_path: Path) -> None:
    """Neither the grid on the ground, nor what a lidar shows of itself."""
    camera = """<sensor class="camera" name="cam"><pose_3d>0 0 1 -90 0 -100</pose_3d><ncols>80</ncols><nrows>60</nrows>
    <cx>40</cx><cy>30</cy><fx>50</fx><fy>50</fy></sensor>"""
    laser = """<sensor class="laser" name="l"><viz_visiblePlane>{0}</viz_visiblePlane>
    <viz_visibleLines>{0}</viz_visibleLines><viz_visiblePoints>{0}</viz_visiblePoints></sensor>"""
    grid = '<element class="ground_grid"><interval>1</interval></element>'
    things = FLOOR + block("b", "4 0 0", 1, 1, 0, 1)
    bare = camera_reading(world_of(tmp_path, camera + laser.format("false"), things))
    shown = camera_reading(world_of(tmp_path, camera + laser.format("true"), grid + things))
    assert bare.image is not None and shown.image is not None
    np.testing.assert_array_equal(bare.image, shown.image)


def test_a_laser_that_stands_in_the_world_is_where_its_pose_says(tmp_path: Path) -> None:
    """It stays there while vehicles move. test_comms_topics.py has the tests of its topics."""
    sensor = """<sensor class="laser" name="post"><pose>3 1 90</pose><range_std_noise>0</range_std_noise>
    <publish><publish_topic>/post</publish_topic></publish></sensor>"""
    path = tmp_path / "w.world.xml"
    robot = ROBOT.format(pose="-5 0 0", sensors="")
    path.write_text(f"<mvsim_world>{sensor}{block('b', '3 6 0', 1, 1, 0, 1)}{robot}</mvsim_world>")
    world = World(path)
    world.vehicles["r"].set_twist(1, 0.3)
    for _ in range(3):
        world.step(0.1)
        assert world.sensors["post"].read(fresh=True).ranges[90] == pytest.approx(4.5, abs=1e-4)
    assert world.sensors["post"].publish_topic == "/post"


def corners_of(size: list[float], pose: tuple[float, float, float, float]) -> npt.NDArray[np.float64]:
    """Returns the corners of an upright box, (8, 3): `pose` is x, y, z of its middle and yaw (rad)."""
    corners = np.stack(np.meshgrid(*([-0.5, 0.5],) * 3), -1).reshape(-1, 3) * size
    c, s = np.cos(pose[3]), np.sin(pose[3])
    return corners @ np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]]) + pose[:3]


STATES = """
import numpy as np, mvsim_gym
env = mvsim_gym.Env("mvsim/NavArena-v0")
env.reset(seed=0)
for _ in range(5):
    env.step(np.zeros(2, np.float32))
print("state")
print("laser" if env.step(np.zeros(2, np.float32))[0]["scan"].shape == (36,) else "")
for name, keywords in (("DepthNavigation", {}), ("Greenhouse", {}), ("DepthNavigation", {"camera_backend": "egl"})):
    try:
        mvsim_gym.VectorEnv(f"mvsim/{name}-v0", num_envs=2, **keywords).reset(seed=0)
        print("drawn")
    except Exception as error:
        print(error)
print("loaded:", *(l for l in ("libEGL", "libembree") if l in open("/proc/self/maps").read()))
"""


def cross(a: npt.NDArray[np.float64], b: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    return np.asarray(a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0])


def hull_of(points: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Corners of the convex hull, in turn (Andrew's monotone chain)."""
    chain: list[npt.NDArray[np.float64]] = []
    for way in (1, -1):
        start = len(chain)
        for point in sorted(points.tolist())[::way]:
            here = np.array(point)
            while len(chain) > start + 1 and cross(chain[-1] - chain[-2], here - chain[-1]) <= 0:
                chain.pop()
            chain.append(here)
        chain.pop()
    return np.array(chain)


@pytest.mark.parametrize("seed", range(8))
def test_a_box_covers_the_pixels_between_its_projected_corners(tmp_path: Path, seed: int) -> None:
    """u = fx X / Z + cx, v = fy Y / Z + cy, of a camera that leans, with an axis beside the middle and pixels that are
    no squares: a pixel shows the box where its centre, of whole coordinates, lies in the hull of the projected corners,
    to 0.01 pixels. So corners are seen within half a pixel of where they are."""
    random = np.random.default_rng(seed)
    fx, fy = random.uniform(60, 140, 2).tolist()
    cx, cy = random.uniform(60, 100), random.uniform(40, 80)
    angles = random.uniform(-8, 8, 3) + np.array([-90, 0, -90])
    pose = " ".join(f"{value:.12g}" for value in [*random.uniform(-0.3, 0.3, 2), 0.8, *angles])
    camera = f"""<sensor class="camera" name="cam"><pose_3d>{pose}</pose_3d><ncols>160</ncols><nrows>120</nrows>
    <cx>{cx!r}</cx><cy>{cy!r}</cy><fx>{fx!r}</fx><fy>{fy!r}</fy></sensor>"""
    size = random.uniform(0.3, 0.9, 3).tolist()
    x, y, yaw = random.uniform(3, 5), random.uniform(-0.6, 0.6), random.uniform(-180, 180)
    low = random.uniform(0.2, 0.9)
    world = world_of(
        tmp_path, camera, block("b", f"{x!r} {y!r} {yaw!r}", size[0], size[1], low, low + size[2])
    )
    reading = camera_reading(world)
    optical = np.linalg.inv(reading.T_vehicle_camera["image"])
    corners = corners_of(size, (x, y, low + size[2] / 2, np.radians(yaw)))
    seen = (optical[:3, :3] @ corners.T).T + optical[:3, 3]
    hull = hull_of(np.stack([fx * seen[:, 0] / seen[:, 2] + cx, fy * seen[:, 1] / seen[:, 2] + cy], 1))
    side = np.roll(hull, -1, 0) - hull
    rows, columns = np.indices((120, 160))
    to_pixel = np.stack([columns, rows], -1)[..., None, :] - hull
    within = (cross(side, to_pixel) / np.hypot(*side.T)).min(-1)  # pixels inside of the nearest side
    shown = reading.labels == world.labels.index("b")
    assert shown[within > 0.01].all() and not shown[within < -0.01].any()
    assert shown.sum() > 50


def test_without_both_libraries_states_and_lidars_work() -> None:
    """A camera or a 3D lidar gives one line with the remedy, for every camera backend."""
    lines = drawn_without("lib[Ee][Gm][Lb]*.so.*", Path(), "", STATES).splitlines()
    assert lines[:2] == ["state", "laser"] and lines[-1].strip() == "loaded:"
    for line, package in zip(lines[2:-1], ("libembree", "libembree", "libegl1"), strict=True):
        assert f"apt-get install {package}" in line


def test_the_registry_says_what_python_makes_of_a_reading(tmp_path: Path) -> None:
    classes = ("camera", "gnss", "imu", "laser", "lidar3d", "rgbd_camera")
    sensors = "".join(f'<sensor class="{name}" name="{name}"/>' for name in classes)
    path = tmp_path / "w.world.xml"
    path.write_text(f"<mvsim_world>{sensors}</mvsim_world>", encoding="utf-8")
    found = {s.name: (s.kind, s.form, s.is_camera) for s in World(path)._model.sensors}
    assert found == {
        "camera": ("view", "camera", True),
        "gnss": ("state", "fix", False),
        "imu": ("state", "imu", False),
        "laser": ("ray", "scan", False),
        "lidar3d": ("view", "rings", False),
        "rgbd_camera": ("view", "rgbd", True),
    }


@pytest.mark.parametrize(
    "place", ["readings.py", "_state.py", "parts.py", "sensors.py", "ros", "comms", "view"]
)
def test_python_names_no_class_of_sensors(place: str) -> None:
    home = ROOT / "python" / "mvsim_gym" / place
    for file in [home] if home.is_file() else sorted(home.rglob("*.py")):
        named = re.findall(r'"(laser|lidar3d|rgbd_camera|gnss)"', file.read_text(encoding="utf-8"))
        # the bytes of MRPT's scan say no class of sensors, so the reader names the one of MVSim
        assert named == (["laser"] if file.name == "observation.py" else []), file
