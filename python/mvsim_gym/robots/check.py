"""Drives an imported robot through a straight, a turn, a spin and a stop, and compares commanded and reached speeds."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mvsim_gym.parts import Vehicle
from mvsim_gym.robots.importer import ImportedRobot
from mvsim_gym.robots.vehicle_file import max_steer
from mvsim_gym.world import World

_SECONDS = 6.0  # duration of each manoeuvre; the last two seconds are averaged
_BAND = 0.05  # largest relative error that passes
# m/s and rad/s by which the speeds of a robot that drives steadily may swing in any case
_STEADY = (0.01, 0.02)


@dataclass(frozen=True)
class Manoeuvre:
    """Commanded and reached speeds of a manoeuvre; m/s, rad/s."""

    name: str
    vx: float
    omega: float
    reached_vx: float
    reached_omega: float
    settling: float
    """time until the speed stays within 5 percent, s"""
    swing_vx: float = 0.0
    """by how much the speed differs at most from its mean in the last two seconds"""
    swing_omega: float = 0.0

    @property
    def passed(self) -> bool:
        """Whether both speeds are within 5 percent, on average and at all times."""
        return _close(self.reached_vx, self.vx) and _close(self.reached_omega, self.omega) and not self.swings

    @property
    def swings(self) -> bool:
        """Whether a speed swings about its mean by more than 5 percent."""
        parts = ((self.swing_vx, self.vx), (self.swing_omega, self.omega))
        return any(
            swing > max(_BAND * abs(asked), least)
            for (swing, asked), least in zip(parts, _STEADY, strict=True)
        )

    def line(self) -> str:
        verdict = "good" if self.passed else "off by more than 5 %"
        if self.swings:
            verdict = f"swings by {self.swing_vx:.3f} m/s and {self.swing_omega:.3f} rad/s"
        return (
            f"{self.name:9} speed {self.vx:.3f} -> {self.reached_vx:.3f} m/s, turn rate {self.omega:.3f} ->"
            f" {self.reached_omega:.3f} rad/s, settles in {self.settling:.2f} s: {verdict}"
        )


def _close(reached: float, asked: float) -> bool:
    return abs(reached - asked) <= max(_BAND * abs(asked), 0.005)


def drive_check(robot: ImportedRobot, step: float = 0.005) -> tuple[list[Manoeuvre], list[str]]:
    """Returns the manoeuvres, and the lines of a report that ends with the stopping distance.

    Args:
        robot: a result of `import_robot` with gains.
        step: physics step, s.
    """
    base = robot.base
    speed = min(1.0, 10 * base.wheels[0].radius, robot.facts.first("linear.x.max_velocity") or math.inf)
    if base.dynamics.startswith("ackermann"):
        rate = speed * math.tan(0.5 * max_steer(base, robot.facts)) / base.wheelbase
        asked = [("straight", speed, 0.0), ("turn", speed, rate)]
    else:
        rate = min(speed / base.track, robot.facts.first("angular.z.max_velocity") or math.inf)
        asked = [("straight", speed, 0.0), ("turn", speed / 2, rate / 2), ("spin", 0.0, rate)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "check.world.xml"
        path.write_text(_world(robot, step), encoding="utf-8")
        found = [_drive(path, name, vx, omega, step) for name, vx, omega in asked]
        lines = [item.line() for item in found]
        lines.append(_stop(path, speed, step))
    return found, lines


def _world(robot: ImportedRobot, step: float) -> str:
    return (
        (
            f'<mvsim_world version="1.0"><simul_timestep>{step:g}</simul_timestep>{robot.xml}'
            f'<vehicle name="robot" class="{robot.name}"><init_pose>0 0 0</init_pose></vehicle></mvsim_world>'
        )
        .replace("${default_sensors|true}", "false")
        .replace("${visuals|true}", "false")
    )


def _steps(world: World, robot: Vehicle, step: float, seconds: float) -> Iterator[tuple[float, float]]:
    for _ in range(round(seconds / step)):
        world.step(step)
        yield robot.twist.vx, robot.twist.omega


def _drive(path: Path, name: str, vx: float, omega: float, step: float) -> Manoeuvre:
    world = World(path)
    robot = world.vehicles["robot"]
    robot.set_twist(vx, omega)
    rows = list(_steps(world, robot, step, _SECONDS))
    last = rows[-round(2.0 / step) :]
    mean = [sum(row[k] for row in last) / len(last) for k in (0, 1)]
    off = [i for i, row in enumerate(rows) if not (_close(row[0], mean[0]) and _close(row[1], mean[1]))]
    swing = [max(abs(row[k] - mean[k]) for row in last) for k in (0, 1)]
    settling = step * (off[-1] + 1 if off else 0)
    return Manoeuvre(name, vx, omega, mean[0], mean[1], settling, swing[0], swing[1])


def _stop(path: Path, speed: float, step: float) -> str:
    world = World(path)
    robot = world.vehicles["robot"]
    robot.set_twist(speed, 0.0)
    list(_steps(world, robot, step, _SECONDS))
    start = robot.pose
    robot.set_twist(0.0, 0.0)
    rows = list(_steps(world, robot, step, _SECONDS))
    end = robot.pose
    moving = [i for i, row in enumerate(rows) if abs(row[0]) > 0.01 * speed]
    distance = math.hypot(end.x - start.x, end.y - start.y)
    seconds = step * (moving[-1] + 1 if moving else 0)
    return f"{'stop':9} from {speed:.3f} m/s in {seconds:.2f} s and {distance:.3f} m"
