"""`mvsim-gym drive`."""

from __future__ import annotations

import argparse
from typing import Any

from mvsim_gym.tools.options import add_duration, add_flag, add_record, add_settings, add_value

HELP = "drive a robot by an exported policy, over ROS 2"
DESCRIPTION = (
    "Drives a robot by a folder that `mvsim-gym export` wrote: scans, odometry and the like come over ROS 2,"
    " commands go to cmd_vel, by rclpy or, without a ROS installation, by Cyclone DDS. Old readings, a goal that is"
    " reached, a failure, a late loop, Ctrl-C and SIGTERM stop the robot. After kill -9 only --guard or the watchdog"
    " of the robot's own base stops it."
)
_LIMITS = {
    "speed": "m/s forward",
    "reverse": "m/s backward",
    "turn": "rad/s",
    "acceleration": "m/s2",
    "turn_acceleration": "rad/s2",
    "brake": "guaranteed deceleration, m/s2",
    "reaction": "delay before the robot brakes, s",
    "margin": "distance around its footprint, m",
}
_TOPICS = ("scan", "odom", "imu", "image", "depth", "points", "fix", "pose", "tf", "goal", "cmd")


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("policy", metavar="FOLDER", help="a folder that `mvsim-gym export` wrote")
    parser.add_argument(
        "--goal",
        dest="places",
        nargs=2,
        type=float,
        action="append",
        default=[],
        metavar=("X", "Y"),
        help="a goal, m in the map (repeatable: one after another; without one goals come from /goal_pose)",
    )
    add_value(
        parser,
        "--robot",
        "NAME",
        "topics and limits of none, turtlebot3_burger, turtlebot3_waffle, turtlebot4, jackal or f1tenth",
        default="none",
    )
    for name in _TOPICS:
        parser.add_argument(
            "--goals" if name == "goal" else f"--{name}",
            dest=f"topic_{name}",
            metavar="TOPIC",
            help=f"the topic of {name}, instead of the robot's",
        )
    parser.add_argument(
        "--kind", choices=("twist", "stamped", "ackermann"), help="type of commands (default: the robot's)"
    )
    parser.add_argument(
        "--localization",
        choices=("tf", "pose", "odom"),
        default="tf",
        help="source of the robot's pose: transforms of /tf and the odometry (default), /amcl_pose, or the odometry"
        " alone",
    )
    add_value(parser, "--frame", "NAME", "frame of goals and of the pose (default: map)", default="map")
    add_value(
        parser,
        "--max-tf-age",
        "SECONDS",
        "longest time that the newest transform holds after its stamp and its arrival (default 1)",
        default=1.0,
        dest="tf_limit",
        type=float,
    )
    for name, text in _LIMITS.items():
        add_value(parser, f"--max-{name.replace('_', '-')}", "VALUE", text, type=float)
    parser.add_argument(
        "--no-box", dest="box", action="store_false", help="do not brake for obstacles in the scan"
    )
    add_value(parser, "--max-age", "SECONDS", "longest age of a reading (default: two periods)", type=float)
    add_flag(parser, "--dry", "send no command")
    add_flag(parser, "--guard", "a second process stops the robot if this one is killed")
    add_value(
        parser,
        "--replay",
        "FILE.mcap",
        "give a recording of a drive to the policy, and print how its commands differ; nothing is sent",
    )
    add_value(
        parser,
        "--namespace",
        "/NAME",
        "of the node, e.g. /r1 for /r1/drive; also the prefix of topics that no option names",
        default="",
    )
    add_flag(parser, "--stopped", "stand until the service start of the node is called")
    add_value(
        parser,
        "--map",
        "FILE.yaml",
        "plan the waypoints of the policy on this map; short for --set map=FILE.yaml",
    )
    add_record(parser, "record every message that is received or sent")
    add_duration(parser, "duration of the drive (default: no end)", metavar="SECONDS")
    parser.add_argument("--via", dest="way", choices=("rclpy", "cyclonedds"), help="the transport")
    add_value(parser, "--domain", "N", "0 to 232 (default: ROS_DOMAIN_ID, or 0)", type=int)
    add_value(parser, "--interface", "NAME", "as for `mvsim-gym ros`")
    add_settings(parser)


def run(places: list[list[float]], replay: str | None, map: str | None, **options: Any) -> int:
    """Drives; returns 1 if it did not reach all goals."""
    if map is not None:
        options["settings"] = {**options["settings"], "map": map}
    topics = {name: options.pop(f"topic_{name}") for name in _TOPICS}
    limits = {name: options.pop(f"max_{name}") for name in _LIMITS}
    if replay is not None:
        _check_alone({**options, **topics, **limits, "goal": places})
        from mvsim_gym.tools.drive_episodes import replay_drive

        replay_drive(options["policy"], replay, settings=options["settings"])
        return 0
    from mvsim_gym.tools.drive import drive

    return drive(
        goals=[(x, y) for x, y in places],
        topics=topics,
        limits={name: value for name, value in limits.items() if value is not None},
        **options,
    )


def _check_alone(options: dict[str, Any]) -> None:
    """Raises ValueError if an option is given that a replay does not use."""
    own = {"policy", "settings"}
    parser = argparse.ArgumentParser()
    add(parser)
    for name, value in options.items():
        if name not in own and value not in (None, [], parser.get_default(name)):
            raise ValueError(
                f"--replay: found the option '{name}' of a drive beside it, expected --set alone"
            )
