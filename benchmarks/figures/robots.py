"""Robots of users: how long an import takes, and what the tags of a drive cost."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import mvsim_gym
from figure import ROOT, WORLDS, Row, Settings, figure
from figures.throughput import stepper

_DELAY = "<command_delay>0.02</command_delay>"
_MOTOR = (
    '<motor stall_torque="0.02" no_load_speed="1000" gear_ratio="20" efficiency="0.8" rotor_inertia="1e-7"/>'
)
_LIMITS = """<limits><linear max_velocity="1" max_acceleration="2" max_jerk="20"/>
  <angular max_velocity="3" max_acceleration="6" max_jerk="60"/></limits>"""
_KINEMATICS = '<kinematics wheel_separation_multiplier="{}" left_wheel_radius_multiplier="0.99"/>'
_SERVO = '<servo rate="300" time_constant="0.05"/>'
_INERTIAL = ' inertia="0.02" com_x="0.005" com_y="0">'
_PUSH, _FRICTION = "<KP>0.1</KP><KI>4</KI><KD>0</KD><max_torque>0.3</max_torque>", "<mu>0.8</mu>"
_SHAPE = "<shape><pt>-0.2 -0.1</pt><pt>-0.2 0.1</pt><pt>0.2 0.1</pt><pt>0.2 -0.1</pt></shape></chassis>"
_CHASSIS = '<chassis mass="3" zmin="0.05" zmax="0.19"'
_WHEEL = 'mass="0.1" width="0.03" diameter="0.066"/>'

_FOUR = "".join(
    f'<{side}{end}_wheel pos="{x} {y}" {_WHEEL}'
    for side, y in (("l", 0.1), ("r", -0.1))
    for end, x in (("f", 0.1), ("r", -0.1))
)
_CAR = "".join(f'<r{side}_wheel pos="-0.1 {y}" {_WHEEL}' for side, y in (("l", 0.1), ("r", -0.1)))
_CAR += "".join(f"<f{side}_wheel {_WHEEL}" for side in "lr") + "<f_wheels_x>0.1</f_wheels_x>"
_CAR += "<f_wheels_d>0.2</f_wheels_d>"
_BY_CLASS = {
    # wheels, controller, tags of the class alone, and the friction that goes with them
    "differential": (
        f'<l_wheel pos="0 0.1" {_WHEEL}<r_wheel pos="0 -0.1" {_WHEEL}',
        "twist_pid",
        _KINEMATICS.format(1.02),
        ("default", _FRICTION),
    ),
    "differential_4_wheels": (
        _FOUR,
        "twist_pid",
        _KINEMATICS.format(2) + "<coupled_sides>true</coupled_sides>",
        ("skid", f"{_FRICTION}<icr_expansion>2</icr_expansion>"),
    ),
    "ackermann": (_CAR, "twist_front_steer_pid", _SERVO, ("default", _FRICTION)),
}
_SPEEDS = [(0.2, 0.5), (0.1, -1.0), (-0.2, 1.5), (0.15, 0.0)]


def _vehicle(dynamics: str, tagged: bool) -> str:
    wheels, controller, own, friction = _BY_CLASS[dynamics]
    kind, values = friction if tagged else ("default", _FRICTION)
    drive = _LIMITS + _MOTOR + _DELAY + own if tagged else ""
    return (
        f'<vehicle:class name="bench_robot"><dynamics class="{dynamics}">{wheels}'
        f"{_CHASSIS}{_INERTIAL if tagged else '>'}{_SHAPE}"
        f'<controller class="{controller}">{_PUSH}</controller></dynamics>'
        f'<friction class="{kind}">{values}<C_damping>0.001</C_damping></friction>{drive}</vehicle:class>'
    )


def _world(folder: Path, dynamics: str, tagged: bool, source: str) -> Path:
    """A world of the benchmarks with another robot."""
    path = folder / f"{dynamics}_{tagged}_{source}"
    text = (
        (WORLDS / source)
        .read_text()
        .replace('<include file="robot.vehicle.xml"/>', _vehicle(dynamics, tagged))
    )
    path.write_text(text.replace("task_a.png", str(WORLDS / "task_a.png")))
    return path


def _alone(world_path: Path) -> Callable[[], int]:
    world = mvsim_gym.World(str(world_path), seed=0)
    robot = world.vehicles["robot"]
    count = 0

    def advance() -> int:
        nonlocal count
        robot.set_twist(*_SPEEDS[count % len(_SPEEDS)])
        world.step(1.0)
        count += 1
        return 100

    return advance


def _over(tagged: Callable[[], int], plain: Callable[[], int], settings: Settings) -> list[float]:
    """Processor time of a step with the tags over that without, in turns of a sixteenth of a second. A run is the
    median of its turns."""
    runs = []
    for _ in range(settings.runs):
        ratios = []
        for _ in range(2 if settings.quick else 12):
            spent = []
            for advance in (tagged, plain):
                steps, began = 0, time.process_time()
                while (elapsed := time.process_time() - began) < settings.seconds / 32:
                    steps += advance()
                spent.append(elapsed / steps)
            ratios.append(spent[0] / spent[1])
        runs.append(statistics.median(ratios))
    return runs


@figure("drive_tags")
def drive_tags(settings: Settings) -> list[Row]:
    """`drive_tags_CLASS` of a world of one robot without sensors, `drive_tags_env_CLASS` of task A."""
    work = "inertia, com_x, limits with jerk, motor, command_delay"
    more = {
        "differential": "kinematics",
        "differential_4_wheels": "kinematics, coupled_sides, friction skid against default",
        "ackermann": "servo",
    }
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for dynamics in _BY_CLASS:
            config = {"tags": f"{work}, {more[dynamics]}", "measured": "processor time, in turns"}
            pair = [
                _alone(_world(folder, dynamics, tagged, "physics_only.world.xml")) for tagged in (True, False)
            ]
            rows.append(Row(f"drive_tags_{dynamics}", "1", config, _over(*pair, settings)))
            worlds = [str(_world(folder, dynamics, tagged, "task_a.world.xml")) for tagged in (True, False)]
            roots = [str(folder), str(WORLDS)]
            pair = [stepper(64, 1, world=world, roots=roots) for world in worlds]
            rows.append(Row(f"drive_tags_env_{dynamics}", "1", config, _over(*pair, settings)))
    return rows


@figure("import_robot_ms")
def import_robot_ms(settings: Settings) -> Row:
    """A URDF with a YAML of its controller, and the search for gains."""
    from mvsim_gym.robots import import_robot

    folder = ROOT / "tests" / "data" / "robots"
    runs = []
    for _ in range(2 * settings.runs + 1):
        began = time.perf_counter()
        import_robot(folder / "turtlebot4.urdf", controllers=folder / "turtlebot4.yaml")
        runs.append(1e3 * (time.perf_counter() - began))
    return Row("import_robot_ms", "ms", {"file": "turtlebot4.urdf", "gains": "searched"}, runs)
