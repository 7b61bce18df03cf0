"""`mvsim-gym import`: a robot description to a vehicle file, an SDF world to a world file."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Sequence
from typing import Any

__all__ = ["add_import"]

Commands = Any  # argparse's type for them has no public name


def add_import(commands: Commands) -> None:
    """Adds the command."""
    parser = commands.add_parser(
        "import",
        help="make a vehicle file of a URDF, xacro or SDF robot, or a world file of an SDF world",
        description="Reads ROBOT (*.urdf, *.xacro, *.sdf) and writes a vehicle file, or a world file where it is an SDF"
        " file with a <world>. A table says for each element"
        " whether it is used, approximated (how) or ignored (why). Nothing in the description is run.",
    )
    parser.add_argument("robot", metavar="ROBOT", help="the description")
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="the vehicle file to write")
    parser.add_argument(
        "--package",
        action="append",
        default=[],
        metavar="NAME=FOLDER",
        help="the folder of a ROS package or Gazebo model; those beside the description are known",
    )
    parser.add_argument(
        "--arg",
        action="append",
        default=[],
        metavar="NAME:=VALUE",
        help="a value of xacro's $(arg), $(optenv) or $(env)",
    )
    parser.add_argument("--controllers", metavar="YAML", help="parameters of ros2_control, or plain ones")
    parser.add_argument("--name", default="", help="of the vehicle class (default: that of the robot)")
    parser.add_argument(
        "--frame", default="", metavar="LINK", help="the vehicle's reference (default base_link)"
    )
    parser.add_argument("--model", default="", help="which model of an SDF file")
    parser.add_argument(
        "--mass", type=float, metavar="KG", help="of the robot, where the description states none"
    )
    parser.add_argument("--strict", action="store_true", help="an element without effect is an error")
    parser.add_argument("--all", action="store_true", help="list the elements that are used, too")
    parser.add_argument("--force", action="store_true", help="write over a file that is there")
    parser.add_argument(
        "--check", action="store_true", help="drive it, and compare expected and reached speeds"
    )
    parser.set_defaults(run=_import)


def _pairs(option: str, texts: Sequence[str], between: str, second: str) -> dict[str, str]:
    found = {}
    for text in texts:
        name, middle, value = text.partition(between)
        if not middle or not name:
            raise ValueError(f"{option}: found '{text}', expected NAME{between}{second}")
        found[name] = value
    return found


def _import(arguments: argparse.Namespace) -> int:
    from mvsim_gym.robots.importer import import_robot
    from mvsim_gym.robots.world_file import import_world, is_world

    if os.path.lexists(arguments.output) and not arguments.force:
        raise FileExistsError(f"{arguments.output} is there already, expected a new name or --force")
    packages = _pairs("--package", arguments.package, "=", "FOLDER")
    if is_world(arguments.robot):
        _refuse_for_worlds(arguments)
        world = import_world(arguments.robot, packages=packages, name=arguments.name, strict=arguments.strict)
        _write(arguments, world.summary(), world.table(arguments.all), world.xml)
        return 0
    robot = import_robot(
        arguments.robot,
        packages=packages,
        arguments=_pairs("--arg", arguments.arg, ":=", "VALUE"),
        controllers=arguments.controllers,
        name=arguments.name,
        frame=arguments.frame,
        model=arguments.model,
        mass=arguments.mass,
        strict=arguments.strict,
    )
    _write(arguments, robot.summary(), robot.table(arguments.all), robot.xml)
    if not arguments.check:
        return 0
    from mvsim_gym.robots.check import drive_check

    found, lines = drive_check(robot)
    print("\n".join(lines))
    sys.stdout.flush()
    return 0 if all(item.passed for item in found) else 1


def _refuse_for_worlds(arguments: argparse.Namespace) -> None:
    for option in ("arg", "controllers", "frame", "model", "mass", "check"):
        if getattr(arguments, option):
            raise ValueError(f"--{option}: found a world, expected a robot, for which this option is")


def _write(arguments: argparse.Namespace, summary: Iterable[str], table: Iterable[str], text: str) -> None:
    print("\n".join(summary))
    print("\n".join(table))
    with open(arguments.output, "w" if arguments.force else "x", encoding="utf-8") as stream:
        stream.write(text)
    print(f"written: {arguments.output}")
