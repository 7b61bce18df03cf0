"""The command of `mvsim-gym` that makes a world a node of ROS 2."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from mvsim_gym.tools.cli_loading import add_running, doors, loading

Commands = Any  # argparse's type for them has no public name


def add_ros(commands: Commands) -> None:
    """Adds it to the command line."""
    parser = commands.add_parser(
        "ros",
        help="simulate a world in real time as a node of ROS 2",
        description="Simulates WORLD in real time, publishes what vehicles and their sensors do on topics of ROS 2, and"
        " drives by cmd_vel. It needs no ROS installation, and uses rclpy where that can be imported. Without"
        " --interface it tells and answers nobody but this machine, unless ROS_AUTOMATIC_DISCOVERY_RANGE or"
        " ROS_LOCALHOST_ONLY says otherwise; but DDS has no password, and opens its UDP ports (7400 and up) on all"
        " addresses, so only a firewall keeps packets out. In a terminal"
        " keys drive as they do for `launch`; Ctrl-C and ESC end it.",
    )
    add_running(parser)
    _add_network(parser)
    _add_topics(parser)
    parser.add_argument("--record", metavar="FILE.mcap", help="record it, too")
    parser.add_argument("--view", action="store_true", help="show it in a browser of this machine, too")
    parser.add_argument(
        "--hub",
        type=int,
        metavar="PORT",
        help="a hub for MVSim's clients on this port of this machine, too; 0 takes any (MVSim's is 23700)",
    )
    parser.set_defaults(run=_ros)


def _add_network(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--via",
        choices=("rclpy", "cyclonedds"),
        help="the way to the network (default: rclpy where it can be imported, else cyclonedds)",
    )
    parser.add_argument(
        "--domain", type=int, metavar="N", help="0 to 232 (default: ROS_DOMAIN_ID, without it 0)"
    )
    parser.add_argument(
        "--interface",
        metavar="NAME",
        help="'local': nobody but this machine is told or answered; 'any': as the middleware chooses; or an interface,"
        " by name or address",
    )


def _add_topics(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--clock", action="store_true", help="publish /clock, and stamp with simulated time (use_sim_time)"
    )
    parser.add_argument(
        "--period",
        type=float,
        default=0.02,
        metavar="SECONDS",
        help="simulated time between poses (default 0.02)",
    )
    parser.add_argument("--namespace", default="", metavar="/NAME", help="stands before all topics")
    parser.add_argument(
        "--vehicle-namespace", action="store_true", help="topics below /VEHICLE also of a single vehicle"
    )
    localization = parser.add_mutually_exclusive_group()
    localization.add_argument(
        "--localization",
        choices=("truth", "identity"),
        default="truth",
        help="the transform from map to odom: the one that puts base_link where the vehicle is (truth, the default), or"
        " the identity, as of MVSim",
    )
    localization.add_argument(
        "--no-localization",
        action="store_const",
        const=False,
        dest="localization",
        help="no amcl_pose, no particlecloud, no transform from map to odom",
    )
    parser.add_argument(
        "--no-odometry-frame", action="store_true", help="no transform from odom to base_link"
    )
    parser.add_argument(
        "--one-tree",
        action="store_true",
        help="transforms of all vehicles on /tf and /tf_static; their frames are called VEHICLE/base_link",
    )
    parser.add_argument(
        "--no-return",
        choices=("inf", "max"),
        default="inf",
        help="what a ray of a scan is that hit nothing: infinite (the default), or the longest range, as of MVSim",
    )
    parser.add_argument(
        "--log-topics",
        action="store_true",
        help="the columns of the CSV files as topics log/..., of every step",
    )
    parser.add_argument(
        "--history", type=int, default=50, metavar="N", help="messages kept for slow receivers (default 50)"
    )


def _ros(arguments: argparse.Namespace) -> None:
    from functools import partial

    from mvsim_gym.ros import network_of
    from mvsim_gym.tools.launch import launch
    from mvsim_gym.tools.ros import node_of

    node = partial(
        node_of,
        network=network_of(arguments.domain, arguments.interface),
        way=arguments.via,
        clock=arguments.clock,
        period=arguments.period,
        namespace=arguments.namespace.rstrip("/"),
        vehicle_namespace=arguments.vehicle_namespace,
        localization=arguments.localization,
        odometry_frame=not arguments.no_odometry_frame,
        history=arguments.history,
        log_topics=arguments.log_topics,
        one_tree=arguments.one_tree,
        no_return=arguments.no_return,
    )
    launch(
        arguments.world,
        factor=arguments.realtime_factor,
        duration=arguments.duration,
        record=arguments.record,
        nodes=[node],
        keys=sys.stdin if sys.stdin.isatty() and sys.stderr.isatty() else None,
        hub=None if arguments.hub is None else ("127.0.0.1", arguments.hub),
        view=("127.0.0.1", arguments.view_port) if arguments.view else None,
        doors=doors(arguments),
        seed=arguments.seed,
        **loading(arguments),
    )
