"""`mvsim-gym import`: makes a vehicle file of a robot description, or a world file of an SDF world."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import Any

from mvsim_gym.tools.options import add_output

HELP = "make a vehicle file of a URDF, xacro or SDF robot, or a world file of an SDF world"
DESCRIPTION = (
    "Reads ROBOT (*.urdf, *.xacro, *.sdf) and writes a vehicle file, or a world file if it is an SDF"
    " file with a <world>. A table lists for each element"
    " whether it is used, approximated (how) or ignored (why). No code in the description is run."
)


def add(parser: argparse.ArgumentParser) -> None:
    """Adds its arguments."""
    parser.add_argument("robot", metavar="ROBOT", help="the description")
    add_output(parser, "FILE", "the vehicle file to write")
    parser.add_argument(
        "--package",
        action="append",
        default=[],
        metavar="NAME=FOLDER",
        help="the folder of a ROS package or Gazebo model; those beside the description are found without it",
    )
    parser.add_argument(
        "--arg",
        action="append",
        default=[],
        metavar="NAME:=VALUE",
        help="a value for xacro's $(arg), $(optenv) or $(env)",
    )
    parser.add_argument("--controllers", metavar="YAML", help="parameters of ros2_control, or plain ones")
    parser.add_argument("--name", default="", help="name of the vehicle class (default: name of the robot)")
    parser.add_argument(
        "--frame", default="", metavar="LINK", help="the vehicle's reference (default base_link)"
    )
    parser.add_argument("--model", default="", help="the model, if an SDF file has several")
    parser.add_argument(
        "--mass", type=float, metavar="KG", help="mass of the robot, if the description states none"
    )
    parser.add_argument("--strict", action="store_true", help="an element without effect is an error")
    parser.add_argument(
        "--all", dest="everything", action="store_true", help="also list the elements that are used"
    )
    parser.add_argument("--force", action="store_true", help="overwrite an existing file")
    parser.add_argument(
        "--check", action="store_true", help="drive it, and compare expected and reached speeds"
    )


def _pairs(option: str, texts: Sequence[str], between: str, second: str) -> dict[str, str]:
    found = {}
    for text in texts:
        name, middle, value = text.partition(between)
        if not middle or not name:
            raise ValueError(f"{option}: found '{text}', expected NAME{between}{second}")
        found[name] = value
    return found


def run(
    robot: str, output: str, package: list[str], everything: bool, force: bool, strict: bool, **options: Any
) -> int:
    """Writes the file, and prints a table with the state of each element."""
    from mvsim_gym.robots.importer import import_robot
    from mvsim_gym.robots.world_file import import_world, is_world

    if os.path.lexists(output) and not force:
        raise FileExistsError(f"{output} is there already, expected a new name or --force")

    def write(made: Any) -> None:
        print("\n".join(made.summary()))
        print("\n".join(made.table(everything)))
        with open(output, "w" if force else "x", encoding="utf-8") as stream:
            stream.write(made.xml)
        print(f"written: {output}")

    packages = _pairs("--package", package, "=", "FOLDER")
    if is_world(robot):
        for option in ("arg", "controllers", "frame", "model", "mass", "check"):
            if options[option]:
                raise ValueError(
                    f"--{option}: found a world, expected a robot: worlds do not have this option"
                )
        write(import_world(robot, packages=packages, name=options["name"], strict=strict))
        return 0
    check, texts = options.pop("check"), _pairs("--arg", options.pop("arg"), ":=", "VALUE")
    made = import_robot(robot, packages=packages, arguments=texts, strict=strict, **options)
    write(made)
    if not check:
        return 0
    from mvsim_gym.robots.check import drive_check

    found, lines = drive_check(made)
    print("\n".join(lines))
    sys.stdout.flush()
    return 0 if all(item.passed for item in found) else 1
