"""Real robots of the folder beside the project: each imports or is refused for a reason, drives as asked, and has its
sensors where its files put them."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest
from test_robots import ROBOTS, loaded

from mvsim_gym.robots import ImportRobotError, import_robot
from mvsim_gym.robots.check import drive_check

CLEARPATH = "clearpath/clearpath_platform_description/urdf/{0}/{0}.urdf.xacro"
CONTROL = "clearpath/clearpath_control/config/{0}/control.yaml"
JACKAL = ("jackal/jackal_description/urdf/jackal.urdf.xacro", "jackal/jackal_control/config/control.yaml")
TURTLEBOT = "turtlebot3/turtlebot3_description/urdf/turtlebot3_{}.urdf"
GAZEBO = "turtlebot3_sdf/turtlebot3_gazebo/{}"

pytestmark = pytest.mark.skipif(not ROBOTS.is_dir(), reason="no robot descriptions beside the project")

DRIVING = {
    **{name: (CLEARPATH.format(name), CONTROL.format(name)) for name in ("a200", "j100", "w200")},
    **{name: (CLEARPATH.format(name), CONTROL.format(name)) for name in ("dd100", "dd150")},
    **{name: (TURTLEBOT.format(name), "") for name in ("burger", "waffle", "waffle_pi")},
    **{
        f"gazebo_{name}": (GAZEBO.format(f"urdf/turtlebot3_{name}.urdf"), "")
        for name in ("burger", "burger_cam", "waffle", "waffle_pi")
    },
    **{
        f"sdf_{name}": (GAZEBO.format(f"models/turtlebot3_{name}/model.sdf"), "")
        for name in ("burger", "waffle_pi")
    },
    "jackal": JACKAL,
    "racecar": ("f1tenth/racecar.xacro", "f1tenth/params.yaml"),
}
REFUSED = {
    "do100": (CLEARPATH.format("do100"), CONTROL.format("do100"), "found a mecanum drive"),
    "do150": (CLEARPATH.format("do150"), CONTROL.format("do150"), "found a mecanum drive"),
    "r100": (CLEARPATH.format("r100"), CONTROL.format("r100"), "found a mecanum drive"),
    "part": (
        TURTLEBOT.format("burger").replace("turtlebot3_burger", "common_properties"),
        "",
        "found no <link>",
    ),
    "world": (GAZEBO.format("models/turtlebot3_world/model.sdf"), "", "found no wheels"),
}

# Poses by hand from the files: x y z of the sensor (m, above the ground, x and y from base_link), and yaw, pitch, roll
# (degrees). A scan of 0 to 6.28 rad looks backward in its middle.
SCAN = math.degrees(3.14)
UST10 = {"JACKAL_LASER": "1", "JACKAL_LASER_MODEL": "ust10"}
UTM30 = {
    "JACKAL_LASER": "1",
    "JACKAL_LASER_MODEL": "utm30",
    "JACKAL_LASER_OFFSET": "0.01 0.02 0.03",
    "JACKAL_LASER_RPY": "0 0.1 0.3",
}
REAR = {"JACKAL_LASER_SECONDARY": "1", "JACKAL_LASER_SECONDARY_MODEL": "ust10"}
POSES = [
    # radius 0.049 less wheel_z_offset 0.0345
    ("dd100", {}, "imu_0", (0, 0, 0.049 - 0.0345), (0, 0, 0)),
    ("dd150", {}, "imu_0", (0, 0, 0.049 - 0.0345), (0, 0, 0)),
    # radius 0.098 less wheel_vertical_offset 0.0345; the GNSS antenna on the top
    ("j100", {}, "imu_0", (0, 0, 0.098 - 0.0345), (0, 0, 0)),
    ("j100", {}, "gps_0", (-0.180, 0.126, 0.098 - 0.0345 + 0.1815), (0, 0, 0)),
    # radius 0.3 and axle_z_offset -0.012977
    ("w200", {}, "imu_0", (0, 0, 0.3 + 0.012977), (0, 0, 0)),
    # mid_mount 0.184, front_mount 0.120, laser 0.0474 above its mount; 0.055 of the UTM-30
    ("jackal", UST10, "front_laser", (0.120, 0, 0.0635 + 0.184 + 0.0474), (0, 0, 0)),
    ("jackal", REAR, "rear_laser", (-0.120, 0, 0.0635 + 0.184 + 0.0474), (180, 0, 0)),
    (
        "jackal",
        UTM30,
        "front_laser",
        (
            0.130 + 0.055 * math.sin(0.1) * math.cos(0.3),
            0.020 + 0.055 * math.sin(0.1) * math.sin(0.3),
            0.0635 + 0.184 + 0.030 + 0.055 * math.cos(0.1),
        ),
        (math.degrees(0.3), math.degrees(0.1), 0),
    ),
    # wheels at 0.023 with a radius of 0.033: the frame is 0.010 above the ground. The joints of the IMU do not move
    # its link, which is at the origin.
    ("sdf_burger", {}, "hls_lfcd_lds", (-0.032, 0, 0.171 + 0.010), (SCAN, 0, 0)),
    ("sdf_burger", {}, "tb3_imu", (0, 0, 0.010), (0, 0, 0)),
    ("sdf_waffle_pi", {}, "hls_lfcd_lds", (-0.064, 0, 0.121 + 0.010), (SCAN, 0, 0)),
    ("sdf_waffle_pi", {}, "tb3_imu", (0, 0, 0.010), (0, 0, 0)),
    # cameras look along their z axis
    ("sdf_waffle_pi", {}, "camera", (0.076, 0, 0.093 + 0.010), (-90, 0, -90)),
]


def files(name: str) -> tuple[Path, Path | None]:
    description, controllers = DRIVING[name]
    return ROBOTS / description, ROBOTS / controllers if controllers else None


def axes(yaw: float, pitch: float, roll: float) -> np.ndarray:
    """Returns Rz(yaw) Ry(pitch) Rx(roll) of angles in degrees."""
    out = np.eye(3)
    for angle, i, j in ((yaw, 0, 1), (pitch, 2, 0), (roll, 1, 2)):
        turn = np.eye(3)
        cos, sin = math.cos(math.radians(angle)), math.sin(math.radians(angle))
        turn[i, i], turn[j, j], turn[i, j], turn[j, i] = cos, cos, -sin, sin
        out = out @ turn
    return out


def test_every_description_of_the_folder_is_in_a_list() -> None:
    known = {ROBOTS / item[0] for item in (*DRIVING.values(), *REFUSED.values())}
    found = [
        path
        for pattern in ("*.urdf", "racecar.xacro", "jackal.urdf.xacro", "model.sdf")
        for path in ROBOTS.rglob(pattern)
    ]
    found += [
        path for path in (ROBOTS / "clearpath").rglob("*.urdf.xacro") if path.parent.name == path.name[:-11]
    ]
    # files that other files include, or of which accessories are made
    parts = {"custom_example.urdf", "empty.urdf"}
    here = {path for path in found if path.name not in parts}
    same = {path for path in here if path.name == "common_properties.urdf"}
    assert here - same - known == set()
    assert len(here) >= 20


@pytest.mark.parametrize("name", DRIVING)
def test_each_robot_drives_its_check(name: str) -> None:
    description, controllers = files(name)
    found, lines = drive_check(import_robot(description, controllers=controllers, visuals=False))
    assert all(item.passed for item in found), lines


@pytest.mark.parametrize("name", REFUSED)
def test_other_descriptions_are_refused_with_their_reason(name: str) -> None:
    description, controllers, reason = REFUSED[name]
    with pytest.raises(ImportRobotError, match=reason):
        import_robot(ROBOTS / description, controllers=ROBOTS / controllers if controllers else None)


@pytest.mark.parametrize(("name", "arguments", "sensor", "place", "angles"), POSES)
def test_sensors_are_where_the_files_put_them(
    tmp_path: Path,
    name: str,
    arguments: dict[str, str],
    sensor: str,
    place: tuple[float, float, float],
    angles: tuple[float, float, float],
) -> None:
    description, controllers = files(name)
    robot = import_robot(description, controllers=controllers, arguments=arguments, visuals=False, tune=False)
    assert sensor in loaded(tmp_path, robot).vehicles["r"].sensors
    found = re.search(rf'name="{sensor}">\s*<pose_3d>(.*?)</pose_3d>', robot.xml)
    assert found
    pose = [float(value) for value in found[1].split()]
    assert np.allclose(pose[:3], place, rtol=0, atol=1e-3)
    turn = axes(*angles).T @ axes(*pose[3:])
    assert math.degrees(math.acos(min(1.0, (np.trace(turn) - 1) / 2))) < 0.1
