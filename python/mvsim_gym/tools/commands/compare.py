"""`mvsim-gym compare`: the difference between a vehicle file and logs of the real robot."""

from __future__ import annotations

import argparse
from typing import Any

from mvsim_gym.tools.options import add_flag, add_list, add_value, pairs

HELP = "compare a robot with logs of the real one"
DESCRIPTION = (
    "Drives the robot of ROBOT through the commands of each LOG (*.csv, *.csv.gz, *.bag, *.mcap, the folder of a"
    " rosbag2; files of one run as A.csv+B.csv) and prints the difference to the measurements: position after 1, 5"
    " and 10 s, yaw rate, speed."
)


def add(parser: argparse.ArgumentParser) -> None:
    add_robot(parser)


def add_robot(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments that `identify` has too."""
    parser.add_argument("robot", metavar="ROBOT", help="file.vehicle.xml")
    parser.add_argument("logs", metavar="LOG", nargs="*", help="logs of the real robot")
    add_value(
        parser, "--class", "NAME", "the vehicle class of the file (default: the last)", dest="class_name"
    )
    text = "a variable of the vehicle file, e.g. controller=twist_pid"
    add_list(parser, "--var", "NAME=VALUE", text, dest="variables")
    text = "the column of CSV files that holds a quantity, e.g. gyro.omega=yaw_rate*0.01745"
    add_list(parser, "--column", "STREAM.COLUMN=NAME", text, dest="columns")
    text = "the topic that holds a stream, e.g. pose=/vicon/robot"
    add_list(parser, "--topic", "STREAM=TOPIC", text, dest="topics")
    add_flag(parser, "--wheels", "turn the wheels at the measured speeds, for logs without commands")
    add_value(parser, "--window", "S", "time over which poses are compared (10)", default=10.0, type=float)
    add_value(parser, "--step", "S", "a physics step (0.005)", default=0.005, type=float)
    add_value(parser, "--plots", "DIR", "folder for a plot of each stream")


def opened(
    robot: str, class_name: str | None, variables: list[str], wheels: bool, step: float, **_: Any
) -> Any:
    """Opens the robot that the arguments name."""
    from mvsim_gym.identify import Robot

    if not 1e-4 <= step <= 0.1:
        raise ValueError(f"--step: found {step:g}, expected 0.0001 to 0.1 s")
    return Robot(robot, class_name, pairs("--var", variables, "NAME=VALUE"), wheels, step)


def read(logs: list[str], columns: list[str], topics: list[str], may_lack: bool = False) -> list[Any]:
    """Reads the logs that the arguments name."""
    from mvsim_gym.identify import read_log
    from mvsim_gym.identify.read_bag import is_bag

    if not logs and not may_lack:
        raise ValueError("found no LOG, expected one at least")
    map_of_columns = pairs("--column", columns, "STREAM.COLUMN=NAME")
    map_of_topics = pairs("--topic", topics, "STREAM=TOPIC")
    return [
        read_log(path, None if is_bag(path) else map_of_columns, map_of_topics if is_bag(path) else None)
        for path in logs
    ]


def run(
    logs: list[str], columns: list[str], topics: list[str], window: float, plots: str | None, **options: Any
) -> None:
    from mvsim_gym.identify import compare

    with opened(**options) as robot:
        found = compare(robot, read(logs, columns, topics), window=window)
        print("\n".join(found.report()))
        if plots is not None:
            from mvsim_gym.identify.plots import draw

            print("\n".join(f"written: {path}" for path in draw(found.problem, {}, {}, plots)))
