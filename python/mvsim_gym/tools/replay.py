"""Drives a world by a script of commands and writes its states, for instance for a regression test.

The script is a CSV `t_start,vehicle,kind,a,b,c`. A command is applied before the first step that starts at t_start
(or within 1e-6 s before it) and holds until the next one. `KINDS` lists the meaning of a, b and c for each kind. Speeds
are in m/s and rad/s, angles in rad, torques in N m. A negative torque drives forward.
"""

from __future__ import annotations

import csv
import math
import os
from collections.abc import Iterator
from contextlib import ExitStack
from typing import IO, NamedTuple

from mvsim_gym.world import Vehicle, World

KINDS = {
    "twist": ("vx", "omega"),
    "torque": ("left_torque", "right_torque"),
    "ack_raw": ("left_torque", "right_torque", "steer"),
    "drv_raw": ("torque", "steer"),
    "steer": ("vx", "steer"),
    "throttle_brake": ("throttle", "brake", "steer"),
}
"""The quantities that each kind of command sets. A vehicle takes a kind if its controller has these commands."""

_POSE = ["x", "y", "z", "yaw", "pitch", "roll"]
_VEHICLE_COLUMNS = [*_POSE, "vx", "vy", "w", "vx_local", "vy_local", "odo_x", "odo_y", "odo_yaw"]
_VEHICLE_COLUMNS += ["odovel_vx", "odovel_w", "in_collision", "had_collision"]
_WHEEL_COLUMNS = ["omega", "phi", "steer", "torque", "fx", "fy", "fz"]
_BLOCK_COLUMNS = ["x", "y", "yaw", "vx", "vy", "w"]
_HEADER = ["t_start", "vehicle", "kind", "a", "b", "c"]


class Command(NamedTuple):
    start: float
    vehicle: str
    values: tuple[float, ...]
    where: str

    def apply(self, world: World) -> None:
        try:
            world.vehicles[self.vehicle].set_command(*self.values)
        except ValueError as error:
            raise ValueError(f"{self.where}: {error}") from None


def read_commands(path: str | os.PathLike[str], world: World) -> list[Command]:
    """Returns the commands of a script in order of time. Raises ValueError, with the line, if there is an error."""
    with open(path, newline="", encoding="utf-8") as file:
        reader = csv.reader(file, strict=True)
        try:
            commands = list(_commands(reader, os.fspath(path), world))
        except csv.Error as error:
            raise ValueError(f"{os.fspath(path)}:{reader.line_num}: {error}") from None
        except UnicodeDecodeError:
            raise ValueError(f"{os.fspath(path)}: expected a text file in UTF-8") from None
    return sorted(commands, key=lambda command: command.start)


def _commands(reader: Iterator[list[str]], path: str, world: World) -> Iterator[Command]:
    seen_header = False
    for row in reader:
        where = f"{path}:{reader.line_num}"  # type: ignore[attr-defined]
        if not row:
            continue
        if not seen_header:
            seen_header = True
            if [cell.strip() for cell in row] != _HEADER:
                raise ValueError(
                    f"{where}: found the header '{','.join(row)}', expected '{','.join(_HEADER)}'"
                )
            continue
        yield _command(row, where, world)
    if not seen_header:
        raise ValueError(f"{path}:1: found nothing, expected the header '{','.join(_HEADER)}'")


def _command(row: list[str], where: str, world: World) -> Command:
    if not 5 <= len(row) <= 6:
        raise ValueError(f"{where}: found {len(row)} cells, expected 5 or 6: {','.join(_HEADER)}")
    vehicle, kind = row[1].strip(), row[2].strip()
    if vehicle not in world.vehicles:
        raise ValueError(
            f"{where}: found the vehicle '{vehicle}', the world has: {', '.join(world.vehicles)}"
        )
    if kind not in KINDS:
        raise ValueError(f"{where}: found the kind '{kind}', supported are: {', '.join(KINDS)}")
    controller = world.vehicles[vehicle].controller
    if world.vehicles[vehicle].command_names != KINDS[kind]:
        raise ValueError(
            f"{where}: found the kind '{kind}', the controller '{controller}' of '{vehicle}' takes no {kind}"
        )
    size = len(KINDS[kind])
    for cell in row[3 + size :]:
        if cell.strip():
            raise ValueError(f"{where}: found c = '{cell}', expected nothing for a command '{kind}'")
    row += [""] * (len(_HEADER) - len(row))
    start, *values = (_number(row[i], _HEADER[i], where) for i in (0, *range(3, 3 + size)))
    return Command(start, vehicle, tuple(values), where)


def _number(text: str, name: str, where: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ValueError(f"{where}: found {name} = '{text}', expected a finite number")
    return value


class _States:
    """Writes one row a step: time, all vehicles, all movable blocks."""

    def __init__(self, world: World, file: IO[str]) -> None:
        self._world = world
        self._blocks = [block for block in world.blocks.values() if not block.is_static]
        self._writer = csv.writer(file, lineterminator="\n")
        self._writer.writerow(self._header())
        self._step = 0

    def write(self) -> None:
        row: list[float] = [self._step, self._world.time]
        for vehicle in self._world.vehicles.values():
            row += self._of_vehicle(vehicle)
        for block in self._blocks:
            pose = block.pose
            row += [pose.x, pose.y, pose.yaw, *block.world_twist]
        self._writer.writerow(row)
        self._step += 1

    def _header(self) -> list[str]:
        names = ["step", "t"]
        for vehicle in self._world.vehicles.values():
            names += [f"{vehicle.name}.{column}" for column in _VEHICLE_COLUMNS]
            for i in range(len(vehicle.wheels)):
                names += [f"{vehicle.name}.wheel{i}.{column}" for column in _WHEEL_COLUMNS]
        for block in self._blocks:
            names += [f"{block.name}.{column}" for column in _BLOCK_COLUMNS]
        return names

    def _of_vehicle(self, vehicle: Vehicle) -> list[float]:
        body, odometry, estimate = vehicle.twist, vehicle.odometry, vehicle.odometry_twist
        row = [*vehicle.pose, *vehicle.world_twist, body.vx, body.vy]
        row += [odometry.x, odometry.y, odometry.yaw, estimate.vx, estimate.omega]
        row += [int(vehicle.in_collision), int(vehicle.had_collision)]
        for w in vehicle.wheels:
            row += [w.spin, w.angle, w.steer, w.torque, *w.force, w.load]
        return row


class _Scans:
    """Writes every ray of every new scan. Scans are numbered in the order in which they come."""

    def __init__(self, world: World, file: IO[str]) -> None:
        self._writer = csv.writer(file, lineterminator="\n")
        self._writer.writerow(["scan", "t", "vehicle", "sensor", "ray", "angle", "range", "valid"])
        sensors = [(v, s) for v in world.vehicles.values() for s in v.sensors.values()]
        self._sensors = [(v, s) for v, s in sensors if s.angles is not None]
        self._last = [-1.0] * len(self._sensors)
        self._count = 0

    def write(self) -> None:
        """Writes the scans that are new since the last call."""
        for i, (vehicle, sensor) in enumerate(self._sensors):
            reading = sensor.read()
            if reading is None or reading.time == self._last[i]:
                continue
            self._last[i] = reading.time
            rays = zip(reading.angles, reading.ranges, reading.valid, strict=True)
            for ray, (angle, distance, valid) in enumerate(rays):
                self._writer.writerow(
                    [self._count, reading.time, vehicle.name, sensor.name, ray, angle, distance, int(valid)]
                )
            self._count += 1


def replay(
    world: World,
    commands: list[Command],
    duration: float,
    output: str | os.PathLike[str],
    scans: str | os.PathLike[str] | None = None,
) -> None:
    """Runs `world` under `commands`; writes one row a step. Row 0 is the state before the first step."""
    if not (math.isfinite(duration) and duration >= 0):
        raise ValueError(f"duration: found {duration}, expected seconds >= 0")
    with ExitStack() as stack:
        writers: list[_States | _Scans] = [
            _States(world, stack.enter_context(open(output, "w", newline="", encoding="utf-8")))
        ]
        if scans is not None:
            writers.append(_Scans(world, stack.enter_context(open(scans, "w", newline="", encoding="utf-8"))))
        waiting = list(reversed(commands))
        while True:
            for writer in writers:
                writer.write()
            left = duration - world.time
            if left <= 1e-3 * world.timestep:
                return
            while waiting and world.time >= waiting[-1].start - 1e-6:
                waiting.pop().apply(world)
            # ignores a remainder that comes from rounding
            world.step(None if left > (1 - 1e-3) * world.timestep else left)
