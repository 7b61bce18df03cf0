"""Import of robot descriptions: real ones against the facts of their makers, and small ones for each rule."""

# ruff: noqa: E501 (lines of XML)
from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

from mvsim_gym import World
from mvsim_gym.robots import ImportedRobot, ImportRobotError, import_robot
from mvsim_gym.robots.check import drive_check
from mvsim_gym.robots.elements import Fate
from mvsim_gym.tools.cli import main

ROBOTS = ROOT.parent / "shared" / "robots"
CLEARPATH = ROBOTS / "clearpath" / "clearpath_platform_description" / "urdf"
needs_robots = pytest.mark.skipif(not ROBOTS.is_dir(), reason="no robot descriptions beside the project")

FACTS = [
    # file, controllers, dynamics, mass, radius, track, wheelbase: README of the descriptions
    (
        "turtlebot3/turtlebot3_description/urdf/turtlebot3_burger.urdf",
        "",
        "differential",
        1.0017,
        0.033,
        0.16,
        0.0,
    ),
    (
        "turtlebot3_sdf/turtlebot3_gazebo/models/turtlebot3_burger/model.sdf",
        "",
        "differential",
        1.1447,
        0.033,
        0.16,
        0.0,
    ),
    (
        "jackal/jackal_description/urdf/jackal.urdf.xacro",
        "jackal/jackal_control/config/control.yaml",
        "differential_4_wheels",
        16.523 + 4 * 0.477 + 0.001,
        0.098,
        0.37559,
        0.262,
    ),
    (
        "clearpath/clearpath_platform_description/urdf/a200/a200.urdf.xacro",
        "clearpath/clearpath_control/config/a200/control.yaml",
        "differential_4_wheels",
        46.034 + 4 * 2.637,
        0.1651,
        0.555,
        0.512,
    ),
    ("f1tenth/racecar.xacro", "f1tenth/params.yaml", "ackermann", 3.47, 0.0508, 0.2413, 0.3302),
]

WHEEL = """
<link name="{side}_wheel"><collision><origin rpy="1.5707963 0 0"/><geometry><cylinder radius="0.1" length="0.05"/></geometry>
</collision><inertial><mass value="0.5"/><inertia ixx="0.001" ixy="0" ixz="0" iyy="0.002" iyz="0" izz="0.001"/></inertial></link>
<joint name="{side}_joint" type="continuous"><parent link="base_link"/><child link="{side}_wheel"/>
<origin xyz="{x} {y} 0.02"/><axis xyz="0 1 0"/></joint>"""
BODY = """<link name="base_link"><collision><geometry><box size="0.6 0.4 0.2"/></geometry></collision>
<inertial><mass value="8"/><inertia ixx="0.1" ixy="0" ixz="0" iyy="0.2" iyz="0" izz="0.3"/></inertial></link>"""


def wheel(side: str, y: float, x: float = 0.0) -> str:
    return WHEEL.format(side=side, y=y, x=x)


def robot_text(extra: str = "", wheels: str = "") -> str:
    wheels = wheels or wheel("left", 0.25) + wheel("right", -0.25)
    return f'<robot name="mine" xmlns:xacro="http://ros.org/wiki/xacro">{BODY}{wheels}{extra}</robot>'


def imported(tmp_path: Path, text: str, **options: Any) -> ImportedRobot:
    path = tmp_path / "mine.urdf.xacro"
    path.write_text(text)
    return import_robot(path, **{"tune": False, **options})


def fault(tmp_path: Path, text: str, **options: Any) -> str:
    with pytest.raises(ImportRobotError) as found:
        imported(tmp_path, text, **options)
    return str(found.value)


def loaded(tmp_path: Path, robot: ImportedRobot) -> World:
    path = tmp_path / "a.world.xml"
    body = f'<vehicle name="r" class="{robot.name}"><init_pose>0 0 0</init_pose></vehicle>'
    place = "<georeference><latitude>1</latitude><longitude>2</longitude></georeference>"
    path.write_text(f'<mvsim_world version="1.0">{place}{robot.xml}{body}</mvsim_world>')
    return World(path)


@needs_robots
@pytest.mark.parametrize(("file", "yaml", "dynamics", "mass", "radius", "track", "base"), FACTS)
def test_real_robots_have_the_numbers_of_their_makers(
    tmp_path: Path, file: str, yaml: str, dynamics: str, mass: float, radius: float, track: float, base: float
) -> None:
    robot = import_robot(ROBOTS / file, controllers=ROBOTS / yaml if yaml else None)
    assert robot.base.dynamics == dynamics
    assert robot.base.total_mass == pytest.approx(mass, rel=0.01)
    assert {round(item.radius, 6) for item in robot.base.wheels} == {radius}
    assert robot.base.track == pytest.approx(track, abs=1e-3)
    assert robot.base.wheelbase == pytest.approx(base, abs=1e-3)
    found, lines = drive_check(robot)
    assert all(item.passed for item in found), lines


@needs_robots
@pytest.mark.parametrize("name", ["do100", "do150", "r100"])
def test_bases_with_rollers_are_refused(name: str) -> None:
    with pytest.raises(ImportRobotError, match=r"wheel\.urdf\.xacro:\d+: the wheel '.*' has rollers"):
        import_robot(CLEARPATH / name / f"{name}.urdf.xacro")


@needs_robots
def test_sensors_of_a_real_robot(tmp_path: Path) -> None:
    """The Burger of Gazebo: a lidar that turns 360 degrees at 5 Hz, and an IMU at 200 Hz."""
    robot = import_robot(ROBOTS / "turtlebot3_sdf/turtlebot3_gazebo/models/turtlebot3_burger/model.sdf")
    world = loaded(tmp_path, robot)
    sensors = world.vehicles["r"].sensors
    assert set(sensors) == {"hls_lfcd_lds", "tb3_imu"}
    assert "<pose_3d>-0.032 0 0.181" in robot.xml and "<nrays>360</nrays>" in robot.xml
    assert (
        "<sensor_period>0.2</sensor_period>" in robot.xml
        and "<sensor_period>0.005</sensor_period>" in robot.xml
    )


def test_composite_mass_centre_and_inertia(tmp_path: Path) -> None:
    """Two bodies of 8 and 2 kg, 0.5 m apart: the parallel axis theorem by hand."""
    part = """<link name="top"><inertial><origin xyz="0.1 0 0"/><mass value="2"/>
      <inertia ixx="0" ixy="0" ixz="0" iyy="0" iyz="0" izz="0.05"/></inertial></link>
      <joint name="t" type="fixed"><parent link="base_link"/><child link="top"/><origin xyz="0.4 0 0.1"/></joint>"""
    base = imported(tmp_path, robot_text(part)).base
    assert base.mass == 10 and base.total_mass == 11
    assert base.centre == pytest.approx([0.1, 0, 0.08 + 0.02])
    assert base.inertia_z == pytest.approx(0.3 + 8 * 0.1**2 + 0.05 + 2 * 0.4**2)
    assert f'inertia="{0.75:.9g}" com_x="0.1" com_y="0"' in imported(tmp_path, robot_text(part)).xml


@needs_robots
def test_a_car_has_the_inertia_of_its_parameter_file() -> None:
    """Published for the whole car: 0.04712 kg m2, 0.17145 m before the rear axle, 3.47 kg."""
    base = import_robot(
        ROBOTS / "f1tenth/racecar.xacro", controllers=ROBOTS / "f1tenth/params.yaml", tune=False
    ).base
    parts = [(base.mass, base.centre[0], 0.0, base.inertia_z)]
    for item in base.wheels:
        own = item.mass * ((2 * item.radius) ** 2 + item.width**2) / 12
        parts.append((item.mass, item.centre[0], item.centre[1], own))
    mass = sum(part[0] for part in parts)
    x = sum(part[0] * part[1] for part in parts) / mass
    inertia = sum(own + m * ((px - x) ** 2 + py**2) for m, px, py, own in parts)
    assert (mass, x, inertia) == pytest.approx((3.47, 0.17145, 0.04712))


@pytest.mark.parametrize("axis", ["0 1 0", "0 -1 0", "0 2 0"])
def test_an_axle_may_point_either_way(tmp_path: Path, axis: str) -> None:
    text = robot_text().replace('<axis xyz="0 1 0"/>', f'<axis xyz="{axis}"/>', 1)
    robot = imported(tmp_path, text)
    assert robot.base.dynamics == "differential" and robot.base.track == 0.5
    assert 'l_wheel pos="0 0.25" mass="0.5" inertia="0.002" width="0.05" diameter="0.2"' in robot.xml


def test_casters_are_told_from_wheels(tmp_path: Path) -> None:
    """A wheel below a joint that swivels without a stop, and a wheel that no motor turns, only add their mass."""
    swivel = """<link name="fork"/><joint name="swivel" type="continuous"><parent link="base_link"/><child link="fork"/>
      <origin xyz="0.2 0 0.02"/><axis xyz="0 0 1"/></joint>"""
    caster = (
        WHEEL.format(side="caster", x=0, y=0)
        .replace('parent link="base_link"', 'parent link="fork"')
        .replace("0.02", "0")
    )
    robot = imported(tmp_path, robot_text(swivel + caster))
    assert robot.base.dynamics == "differential" and robot.base.casters == ["caster_wheel"]
    assert robot.base.mass == 8.5
    rows = [reason for fate, _, tag, reason in robot.rows if tag == "joint" and fate is Fate.APPROXIMATED]
    assert any("caster" in reason for reason in rows)


def test_a_car_steers_by_its_joints(tmp_path: Path) -> None:
    parts = ""
    for side, y in (("left", 0.25), ("right", -0.25)):
        parts += f"""<link name="{side}_hub"/><joint name="{side}_steer" type="revolute"><parent link="base_link"/>
          <child link="{side}_hub"/><origin xyz="0.5 {y} 0.02"/><axis xyz="0 0 1"/><limit lower="-0.6" upper="0.5"/></joint>"""
        front = WHEEL.format(side=f"front_{side}", x=0, y=0).replace("0.02", "0")
        parts += front.replace('parent link="base_link"', f'parent link="{side}_hub"')
    robot = imported(tmp_path, robot_text(parts))
    assert robot.base.dynamics == "ackermann" and robot.base.wheelbase == 0.5
    assert f"<max_steer_ang_deg>{math.degrees(0.5):.9g}</max_steer_ang_deg>" in robot.xml
    loaded(tmp_path, robot)


def test_controllers_and_description_that_disagree_are_both_named(tmp_path: Path) -> None:
    path = tmp_path / "control.yaml"
    path.write_text(
        "drive:\n  ros__parameters:\n    wheel_separation: 0.6\n    wheel_radius: 0.1\n    left_wheel_names: [left_joint]\n    right_wheel_names: [right_joint]\n"
    )
    robot = imported(tmp_path, robot_text(), controllers=path)
    lines = [line for line in robot.table() if "separation" in line]
    assert len(lines) == 1 and "0.6 m there, 0.5 m by the joints" in lines[0] and "control.yaml" in lines[0]


def test_every_element_has_a_row(tmp_path: Path) -> None:
    text = robot_text('<gazebo reference="base_link"><strange depth="3"><inner/></strange></gazebo>')
    robot = imported(tmp_path, text)
    assert len(robot.rows) >= text.count("<") - text.count("</") - 1
    line = next(line for line in robot.table() if "<strange>" in line)
    assert line.startswith("ignored") and "mine.urdf.xacro:" in line
    assert "<strange> has no effect" in fault(tmp_path, text, strict=True)


def test_xacro_of_real_files(tmp_path: Path) -> None:
    """Macros with blocks and defaults, properties with expressions, conditions, arguments, YAML, math."""
    (tmp_path / "size.yaml").write_text("wheel: {radius: 0.1, mass: 0.5}\n")
    text = """<robot name="mine" xmlns:xacro="http://ros.org/wiki/xacro">
      <xacro:arg name="track" default="0.5"/>
      <xacro:property name="size" value="${xacro.load_yaml('size.yaml')}"/>
      <xacro:property name="half" value="${float(xacro.arg('track')) / 2}"/>
      <xacro:macro name="wheel" params="side mass:=${size['wheel']['mass']} *origin">
        <link name="${side}_wheel"><collision><origin rpy="${pi/2} 0 0"/><geometry>
          <cylinder radius="${size.wheel.radius}" length="0.05"/></geometry></collision>
          <inertial><mass value="${mass}"/></inertial></link>
        <joint name="${side}_joint" type="continuous"><parent link="base_link"/><child link="${side}_wheel"/>
          <xacro:insert_block name="origin"/><axis xyz="0 1 0"/></joint>
      </xacro:macro>
      <xacro:if value="${half > 0.2 and 'a' in ['a', 'b']}">BODY</xacro:if>
      <xacro:wheel side="left"><origin xyz="0 ${half} 0"/></xacro:wheel>
      <xacro:wheel side="right" mass="0.7"><origin xyz="0 ${-half} 0"/></xacro:wheel>
      <xacro:unless value="$(optenv SENSOR 1)"><link name="never"/></xacro:unless>
    </robot>""".replace("BODY", BODY)
    robot = imported(tmp_path, text)
    assert robot.base.track == 0.5 and robot.base.total_mass == pytest.approx(8 + 0.5 + 0.7)
    assert imported(tmp_path, text, arguments={"track": "0.48"}).base.track == 0.48
    with_sensor = fault(tmp_path, text, arguments={"SENSOR": "0"})
    assert "2 links without a parent" in with_sensor


ATTACKS = [
    ("${__import__('os').system('touch {out}')}", "there is no property '__import__'"),
    ("${open('/etc/passwd').read()}", "there is no property 'open'"),
    ("$(eval open('/etc/passwd').read())", "there is no property 'open'"),
    ("${().__class__.__base__.__subclasses__()}", "found '.__class__'"),
    ("${'{0.__class__}'.format(1)}", "found '.format'"),
    ("${(lambda: 1)()}", "found Lambda"),
    ("${[x for x in range(3)]}", "found ListComp"),
    ("${9**9**9**9}", "'**'"),
    ("${'a' * 10**9}", "more than"),
    ("${round(1, -10**9)}", "round to"),
    ("${list(range(10**12))}", "range of"),
    ("$(find ../../etc)", "the package '../../etc' is not known"),
    ("$(env HOME)", "$(env HOME) is not given"),
    ("$(anon x)", "found '$(anon x)'"),
    ("${" + "(" * 5000 + "}", "an expression of"),
]


@pytest.mark.parametrize(("attack", "message"), ATTACKS)
def test_nothing_is_run(tmp_path: Path, attack: str, message: str) -> None:
    out = tmp_path / "touched"
    text = robot_text(f'<link name="{attack.replace("{out}", str(out))}"/>'.replace("<", "<", 1))
    assert message in fault(tmp_path, text)
    assert not out.exists()


def test_a_fault_in_a_property_has_its_place_once(tmp_path: Path) -> None:
    text = robot_text('<xacro:property name="size" value="${leng}"/><link name="${size}"/>')
    message = fault(tmp_path, text)
    assert "there is no property 'leng'" in message
    assert message.count(".xacro:") == 1 and "ImportRobotError" not in message


@pytest.mark.parametrize("name", ["/etc/passwd", "../secret.xml", "link.xml"])
def test_files_outside_of_the_packages_are_not_opened(tmp_path: Path, name: str) -> None:
    (tmp_path / "secret.xml").write_text("<robot><link name='secret'/></robot>")
    home = tmp_path / "home"
    home.mkdir()
    (home / "link.xml").symlink_to(tmp_path / "secret.xml")
    path = home / "mine.xacro"
    path.write_text(robot_text(f'<xacro:include filename="{name}"/>'))
    with pytest.raises(ImportRobotError, match="outside of the folders"):
        import_robot(path, tune=False)


def test_folders_beside_a_package_are_closed(tmp_path: Path) -> None:
    """A package beside that of the description is known; a folder that is none, such as one with keys, is not."""
    for name in ("mine", "other", "keys"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "part.xml").write_text(f"<robot><link name='{name}'/></robot>")
    for name in ("mine", "other"):
        (tmp_path / name / "package.xml").write_text("<package/>")
    path = tmp_path / "mine" / "mine.xacro"
    path.write_text(robot_text('<xacro:include filename="$(find other)/part.xml"/>'))
    with pytest.raises(ImportRobotError, match="found 2 links without a parent"):  # it was read
        import_robot(path, tune=False)
    path.write_text(robot_text('<xacro:include filename="$(find keys)/part.xml"/>'))
    assert any("'keys' is not known" in line for line in import_robot(path, tune=False).table())


@pytest.mark.parametrize("pattern", ["/*/*/*.xml", "../*/part.xml", "*/part.xml", "/etc/pass*", "../*.xml"])
def test_patterns_search_one_folder_of_a_package(tmp_path: Path, pattern: str) -> None:
    message = fault(tmp_path, robot_text(f'<xacro:include filename="{pattern}"/>'))
    assert "expected a pattern in the name" in message or "outside of the folders" in message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('<!DOCTYPE r [<!ENTITY a "x">]><robot name="r">&a;</robot>', "document type declaration"),
        ("<robot>" * 300, "nested deeper than"),
        ("<robot><link name='a'>", "no element found"),
        ("", "no element found"),
        ("<robot name='r'/>", "found no <link>"),
        (robot_text('<xacro:macro name="m"><xacro:m/></xacro:macro><xacro:m/>'), "nested deeper than"),
        (robot_text('<xacro:property name="a" value="${a}"/><link name="${a}"/>'), "depends on itself"),
        (robot_text('<xacro:include filename="mine.urdf.xacro"/>'), "nested deeper than"),
        (robot_text('<link name="base_link"/>'), "a second link 'base_link'"),
        (robot_text().replace('value="8"', 'value="nan"'), "expected finite numbers"),
        (robot_text().replace('value="8"', 'value="-8"'), "expected 0 or more"),
        (robot_text().replace('link="left_wheel"', 'link="lefd_wheel"', 1), "nearest: 'left_wheel'"),
        (robot_text("<xacro:wheel2/>"), "there is no such macro"),
        (robot_text(wheels=wheel("left", 0.25)), "found 1 wheels on the left and 0 on the right"),
        (robot_text(wheels=" "), "found no wheels"),
    ],
)
def test_mistakes_are_named_with_their_line(tmp_path: Path, text: str, message: str) -> None:
    found = fault(tmp_path, text)
    assert message in found and "mine.urdf.xacro" in found


def test_doublings_stay_within_the_budget(tmp_path: Path) -> None:
    """Each property is twice the one before: 2^40 characters, were they made."""
    chain = "".join(f'<xacro:property name="p{i}" value="${{p{i - 1}}}${{p{i - 1}}}"/>' for i in range(1, 40))
    text = robot_text(f'<xacro:property name="p0" value="xx"/>{chain}<link name="${{p39}}"/>')
    assert "more than" in fault(tmp_path, text)


def test_yaml_aliases_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "bomb.yaml"
    path.write_text("a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n")
    assert "found an alias" in fault(tmp_path, robot_text(), controllers=path)


def test_the_command_writes_a_file_that_loads(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, out = tmp_path / "mine.urdf", tmp_path / "mine.vehicle.xml"
    path.write_text(robot_text())
    assert main(["import", str(path), "-o", str(out), "--check"]) == 0
    text = capsys.readouterr().out
    assert "differential, frame base_link" in text and "straight" in text and "good" in text
    assert main(["import", str(path), "-o", str(out)]) == 1
    assert "is there already" in capsys.readouterr().err
    before = out.read_bytes()
    assert main(["import", str(path), "-o", str(out), "--force"]) == 0
    assert out.read_bytes() == before


@pytest.mark.parametrize(
    ("sensor", "expected"),
    [
        (
            '<sensor name="s" type="ray"><update_rate>10</update_rate><ray><scan><horizontal><samples>271</samples>'
            "<min_angle>-1</min_angle><max_angle>2</max_angle></horizontal></scan><range><max>25</max></range></ray></sensor>",
            (
                'class="laser"',
                f"{math.degrees(0.5):.9g} 0 0</pose_3d>",
                "<max_range>25</max_range>",
                "<nrays>271</nrays>",
            ),
        ),
        (
            '<sensor name="s" type="camera"><camera><horizontal_fov>1.5707963267948966</horizontal_fov><image><width>200</width>'
            "<height>100</height></image></camera></sensor>",
            ('class="camera"', "<pose_3d>0 0 0.08 -90 0 -90</pose_3d>", "<fx>100</fx>", "<cx>100</cx>"),
        ),
        (
            '<sensor name="s" type="imu"><update_rate>50</update_rate><imu><angular_velocity><x><noise type="gaussian">'
            "<stddev>0.003</stddev></noise></x></angular_velocity></imu></sensor>",
            ('class="imu"', "white_noise_std_noise>0.003<", "<sensor_period>0.02</sensor_period>"),
        ),
        (
            '<sensor name="s" type="gpu_lidar"><lidar><scan><horizontal><samples>360</samples><min_angle>-3.14159</min_angle>'
            "<max_angle>3.14159</max_angle></horizontal><vertical><samples>3</samples><min_angle>-0.1</min_angle>"
            "<max_angle>0.1</max_angle></vertical></scan></lidar></sensor>",
            ('class="lidar3d"', "<vert_nrays>3</vert_nrays>", "<horz_nrays>360</horz_nrays>"),
        ),
        ('<sensor name="s" type="navsat"/>', ('class="gnss"',)),
        ('<sensor name="s" type="depth_camera"/>', ('class="rgbd_camera"', "<sense_rgb>false</sense_rgb>")),
    ],
)
def test_sensors_of_gazebo(tmp_path: Path, sensor: str, expected: tuple[str, ...]) -> None:
    robot = imported(tmp_path, robot_text(f'<gazebo reference="base_link">{sensor}</gazebo>'))
    for part in expected:
        assert part in robot.xml
    assert list(loaded(tmp_path, robot).vehicles["r"].sensors) == ["s"]


def test_loops_of_joints_are_refused(tmp_path: Path) -> None:
    link = "<link name='{0}'><inertial><mass>1</mass></inertial></link>"
    joint = "<joint name='{0}{1}' type='fixed'><parent>{0}</parent><child>{1}</child></joint>"
    for ends in (("ab", "bc", "cb"), ("bc", "cb"), ("ab", "ac", "cb")):
        text = "".join(link.format(name) for name in "abc") + "".join(joint.format(*pair) for pair in ends)
        path = tmp_path / "a.sdf"
        path.write_text(f"<sdf version='1.7'><model name='m'>{text}</model></sdf>")
        with pytest.raises(ImportRobotError, match=r"a\.sdf:1: .*(two parents|loop of joints)"):
            import_robot(path, tune=False)


def test_plugins_of_other_drives_are_refused(tmp_path: Path) -> None:
    plugin = '<gazebo><plugin name="p" filename="libgazebo_ros_planar_move.so"/></gazebo>'
    assert "found a drive that moves sideways" in fault(tmp_path, robot_text(plugin))


DIFF_DRIVE = """
diff_drive_controller:
  ros__parameters:
    left_wheel_names: [left_joint]
    right_wheel_names: [right_joint]
    wheel_separation: 0.5
    wheel_separation_multiplier: 1.25
    left_wheel_radius_multiplier: 0.98
    right_wheel_radius_multiplier: 1.0
    linear.x.has_velocity_limits: true
    linear.x.has_acceleration_limits: true
    linear.x.has_jerk_limits: false
    linear.x.max_velocity: 1.5
    linear.x.min_velocity: -0.5
    linear.x.max_acceleration: 2.0
    linear.x.min_acceleration: -3.0
    linear.x.max_jerk: 7.0
    angular.z.max_velocity: 2.5
    angular.z.max_deceleration: -4.0
    angular.z.max_jerk: 0.0
"""


def test_limits_and_multipliers_of_a_controller_file(tmp_path: Path) -> None:
    """Each number of the file is one of the vehicle, with the rules of old and new controllers."""
    yaml = tmp_path / "control.yaml"
    yaml.write_text(DIFF_DRIVE)
    robot = imported(tmp_path, robot_text(), controllers=yaml)
    world = loaded(tmp_path, robot)
    expected = {
        "limits/linear/max_velocity": 1.5,
        "limits/linear/min_velocity": -0.5,
        "limits/linear/max_acceleration": 2,
        "limits/linear/max_deceleration": -3,
        "limits/linear/max_acceleration_reverse": -3,
        "limits/linear/max_deceleration_reverse": 2,
        "limits/angular/max_velocity": 2.5,
        "limits/angular/min_velocity": -2.5,
        "limits/angular/max_deceleration": -4,
        "kinematics/wheel_separation_multiplier": 1.25,
        "kinematics/left_wheel_radius_multiplier": 0.98,
        "kinematics/right_wheel_radius_multiplier": 1,
    }
    for name, value in expected.items():
        assert world.parameter(f"vehicle:r/{name}") == pytest.approx(value), name
    reasons = [row[3] for row in robot.rows if row[0] is Fate.IGNORED and row[2] == "max_jerk"]
    assert reasons == ["7: has_jerk_limits is false", "0: no limit"]
    assert "max_jerk" not in robot.xml and '<friction class="default">' in robot.xml


def test_a_skid_steered_robot_turns_by_the_track_of_its_controller(tmp_path: Path) -> None:
    """The maker's multiplier is the apparent track of its tires, and what its controller believes."""
    yaml = tmp_path / "control.yaml"
    yaml.write_text("wheel_separation_multiplier: 1.6\n")
    four = "".join(
        wheel(f"{side}{x}", y, x) for side, y in (("left", 0.25), ("right", -0.25)) for x in (-0.2, 0.2)
    )
    robot = imported(tmp_path, robot_text(wheels=four), controllers=yaml)
    assert "<icr_expansion>1.6</icr_expansion>" in robot.xml
    assert '<kinematics wheel_separation_multiplier="1.6"/>' in robot.xml
    assert any("apparent track is 1.6 times" in row[3] for row in robot.rows)
    plain = imported(tmp_path, robot_text(wheels=four))
    assert '<friction class="skid">' in plain.xml and "icr_expansion" not in plain.xml
    assert any("1.64 times the track" in row[3] for row in plain.rows)
