"""`mvsim-gym import`: makes a vehicle file of a robot description, a world file of an SDF world or a floor plan, or a
race track of a map."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mvsim_gym.tools.options import add_flag, add_list, add_output, add_value, pairs

HELP = "make a vehicle file of a URDF, xacro or SDF robot, or a world file of an SDF world or a floor plan"
DESCRIPTION = (
    "Reads ROBOT (*.urdf, *.xacro, *.sdf) and writes a vehicle file, or a world file if it is an SDF"
    " file with a <world> or a floor plan (*.png, *.svg, *.dxf), or a race track if it is a map (*.yaml). A table"
    " lists for each element whether it is used, approximated (how) or ignored (why). No code in the description is"
    " run."
)


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("robot", metavar="ROBOT", help="the description")
    add_output(parser, "FILE", "the vehicle file to write")
    add_list(
        parser,
        "--package",
        "NAME=FOLDER",
        "the folder of a ROS package or Gazebo model; those beside the description are found without it",
    )
    add_list(parser, "--arg", "NAME:=VALUE", "a value for xacro's $(arg), $(optenv) or $(env)")
    add_value(parser, "--controllers", "YAML", "parameters of ros2_control, or plain ones")
    parser.add_argument("--name", default="", help="name of the vehicle class (default: name of the robot)")
    add_value(parser, "--frame", "LINK", "the vehicle's reference (default base_link)", default="")
    parser.add_argument("--model", default="", help="the model, if an SDF file has several")
    add_value(parser, "--mass", "KG", "mass of the robot, if the description states none", type=float)
    parser.add_argument(
        "--no-visuals",
        dest="visuals",
        action="store_false",
        help="draw the outline in place of the description's visuals",
    )
    add_flag(parser, "--strict", "an element without effect is an error")
    add_flag(parser, "--all", "also list the elements that are used", dest="everything")
    add_flag(parser, "--force", "overwrite an existing file")
    add_flag(parser, "--check", "drive it, and compare expected and reached speeds")
    track = parser.add_argument_group("race tracks")
    add_value(track, "--centreline", "FILE.csv", "the middle line of the track whose map is ROBOT (*.yaml)")
    plan = parser.add_argument_group("floor plans")
    add_value(plan, "--resolution", "M", "length of a pixel of a PNG file", type=float)
    plan.add_argument(
        "--origin",
        type=float,
        nargs=3,
        metavar=("X", "Y", "YAW"),
        help="place in the world (m, m, rad) of the lower left corner, of a DXF drawing of its origin (default 0 0 0)",
    )
    add_value(plan, "--occupied-thresh", "P", "darkness of occupied pixels (default 0.65)", type=float)
    add_value(plan, "--free-thresh", "P", "darkness of free pixels (default 0.196)", type=float)
    plan.add_argument("--negate", action="store_const", const=True, help="bright pixels are occupied")
    add_value(plan, "--mode", "MODE", "trinary, scale or raw (default trinary)")
    plan.add_argument(
        "--layer",
        dest="layers",
        action="append",
        metavar="NAME",
        help="a layer of a drawing to use (default: all that are visible)",
    )
    add_value(plan, "--unit", "UNIT", "length of a unit of a drawing, as mm or ft")
    add_value(plan, "--scale", "N", "N of a drawing of 1:N (default 1)", type=float)
    add_value(plan, "--thickness", "M", "of walls (default 0.1)", type=float)
    add_value(plan, "--height", "M", "of walls (default 2)", type=float)
    add_value(plan, "--tolerance", "M", "distance of chords from a curve (default 0.005)", type=float)


_ROBOT_OPTIONS = ("arg", "controllers", "frame", "model", "mass", "check", "no_visuals")
_MAP_OPTIONS = ("resolution", "occupied_thresh", "free_thresh", "negate", "mode")
_LINE_OPTIONS = ("layers", "unit", "scale", "thickness", "height", "tolerance")


def _refuse(options: dict[str, Any], names: Sequence[str], found: str, expected: str) -> None:
    for name in names:
        if options[name]:
            option = name.removesuffix("s").replace("_", "-")
            raise ValueError(
                f"--{option}: found {found}, expected {expected}: {found} does not have this option"
            )


def run(
    robot: str,
    output: str,
    package: list[str],
    everything: bool,
    force: bool,
    strict: bool,
    visuals: bool,
    **options: Any,
) -> int:
    """Writes the file, and prints a table with the state of each element."""
    from mvsim_gym.robots.importer import import_robot
    from mvsim_gym.robots.plan import import_plan, is_plan
    from mvsim_gym.robots.track import ENDING, import_track, is_track
    from mvsim_gym.robots.world_file import import_world, is_world

    options["no_visuals"] = not visuals
    plan = {key: options.pop(key) for key in (*_MAP_OPTIONS, *_LINE_OPTIONS, "origin")}
    files: dict[str, bytes] = {}

    def write(made: Any) -> None:
        targets = [output, *(str(Path(output).parent / name) for name in files)]
        for target in targets:
            if os.path.lexists(target) and not force:
                raise FileExistsError(f"{target} is there already, expected a new name or --force")
        print("\n".join(made.summary()))
        print("\n".join(made.table(everything)))
        Path(output).parent.mkdir(parents=True, exist_ok=True)
        for target, data in zip(targets, [made.xml.encode(), *files.values()], strict=True):
            with open(target, "wb" if force else "xb") as stream:
                stream.write(data)
        print(f"written: {', '.join(targets)}")

    if os.path.lexists(output) and not force:
        raise FileExistsError(f"{output} is there already, expected a new name or --force")
    line = options.pop("centreline")
    if is_track(robot):
        _refuse({**options, "package": package}, (*_ROBOT_OPTIONS, "package", "name"), "a track", "a robot")
        _refuse(plan, list(plan), "a track", "a plan")
        if line is None:
            raise ValueError("--centreline: found none, expected the middle line of the track")
        if not output.endswith(ENDING):
            raise ValueError(f"--output: found '{output}', expected a name that ends with {ENDING}")
        track = import_track(robot, line, name=_stem(output))
        files = track.files
        write(track)
        return 0
    if line is not None:
        raise ValueError(f"--centreline: found '{line}' without a track, expected the map of one (*.yaml)")
    if is_plan(robot):
        _refuse({**options, "package": package}, (*_ROBOT_OPTIONS, "package", "name"), "a plan", "a robot")
        is_map = robot.lower().endswith(".png")
        other = _LINE_OPTIONS if is_map else _MAP_OPTIONS
        _refuse(plan, other, "a map" if is_map else "a drawing", "a drawing" if is_map else "a map")
        given = {key: value for key, value in plan.items() if value is not None}
        found = import_plan(robot, name=_stem(output), strict=strict, **given)
        files = found.files
        write(found)
        return 0
    _refuse(plan, list(plan), "no plan", "a plan")
    packages = pairs("--package", package, "NAME=FOLDER", has_value=False)
    if is_world(robot):
        _refuse(options, _ROBOT_OPTIONS, "a world", "a robot")
        write(import_world(robot, packages=packages, name=options["name"], strict=strict))
        return 0
    del options["no_visuals"]
    check = options.pop("check")
    texts = pairs("--arg", options.pop("arg"), "NAME:=VALUE", ":=", has_value=False)
    made = import_robot(robot, packages=packages, arguments=texts, strict=strict, visuals=visuals, **options)
    files = made.files
    write(made)
    if not check:
        return 0
    from mvsim_gym.robots.check import drive_check

    checks, lines = drive_check(made)
    print("\n".join(lines))
    sys.stdout.flush()
    return 0 if all(item.passed for item in checks) else 1


def _stem(output: str) -> str:
    """Returns the name of a file up to its first point."""
    return Path(output).name.split(".")[0]
