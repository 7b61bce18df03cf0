"""`mvsim-gym ros`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, TextIO

from mvsim_gym.tools.options import add_flag, add_record, add_running, add_value

if TYPE_CHECKING:
    from mvsim_gym.ros import Network, RosNode
    from mvsim_gym.world import World

HELP = "simulate a world in real time as a node of ROS 2"
DESCRIPTION = (
    "Simulates WORLD in real time, publishes the state of vehicles and their sensors on topics of ROS 2, and"
    " drives by cmd_vel. It needs no ROS installation, and uses rclpy if that can be imported. Without"
    " --interface it only talks to this machine, unless ROS_AUTOMATIC_DISCOVERY_RANGE or"
    " ROS_LOCALHOST_ONLY says otherwise. DDS has no password and opens its UDP ports (7400 and up) on all"
    " addresses, so only a firewall keeps packets out. Keys in a terminal drive as for `launch`; Ctrl-C and"
    " ESC end it."
)
_OF_NODES = (
    *("way", "clock", "period", "vehicle_namespace", "localization", "localization_error", "odometry_frame"),
    *("history", "log_topics", "one_tree", "no_return"),
)


def add(parser: argparse.ArgumentParser) -> None:
    add_running(parser)
    _add_network(parser)
    _add_topics(parser)
    add_record(parser, "record the world")
    add_flag(parser, "--view", "show the world in a browser of this machine")
    add_value(
        parser,
        "--hub",
        "PORT",
        "start a hub for MVSim's clients on this port of this machine; 0 takes a free one (MVSim's is 23700)",
        type=int,
    )


def _add_network(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--via",
        dest="way",
        choices=("rclpy", "cyclonedds"),
        help="the transport (default: rclpy if it can be imported, else cyclonedds)",
    )
    add_value(parser, "--domain", "N", "0 to 232 (default: ROS_DOMAIN_ID, or 0)", type=int)
    add_value(
        parser,
        "--interface",
        "NAME",
        "'local': this machine only; 'any': as the middleware chooses; or the name or address of an interface",
    )


def _add_topics(parser: argparse.ArgumentParser) -> None:
    add_flag(parser, "--clock", "publish /clock, and stamp with simulated time (use_sim_time)")
    add_value(
        parser, "--period", "SECONDS", "simulated time between poses (default 0.02)", default=0.02, type=float
    )
    add_value(parser, "--namespace", "/NAME", "prefix of all topics except /clock", default="")
    add_flag(parser, "--vehicle-namespace", "put /VEHICLE before the topics of a single vehicle too")
    localization = parser.add_mutually_exclusive_group()
    localization.add_argument(
        "--localization",
        choices=("truth", "identity"),
        default="truth",
        help="the transform from map to odom: truth (default) puts base_link at the true pose, identity leaves odom at"
        " the origin, as MVSim does",
    )
    localization.add_argument(
        "--no-localization",
        action="store_const",
        const=False,
        dest="localization",
        help="no amcl_pose, no particlecloud, no transform from map to odom",
    )
    add_value(
        parser,
        "--localization-error",
        "ERRORS",
        "errors of the localization, as <localization> of environments has them: e.g."
        " 'jump_rate=0.2 jump_sigma=0.05 jump_sigma_yaw=2 drift=0.02 latency=uniform(0, 0.3)'",
        default="",
    )
    parser.add_argument(
        "--no-odometry-frame",
        dest="odometry_frame",
        action="store_false",
        help="no transform from odom to base_link",
    )
    add_flag(
        parser,
        "--one-tree",
        "transforms of all vehicles on /tf and /tf_static; their frames are named VEHICLE/base_link",
    )
    parser.add_argument(
        "--no-return",
        choices=("inf", "max"),
        default="inf",
        help="the range of a ray that hit nothing: infinite (default), or the longest range, as in MVSim",
    )
    add_flag(parser, "--log-topics", "publish the columns of the CSV files as topics log/... at every step")
    add_value(parser, "--history", "N", "messages kept for slow receivers (default 50)", default=50, type=int)


def run(
    world: str,
    domain: int | None,
    interface: str | None,
    namespace: str,
    hub: int | None,
    view: bool,
    view_port: int,
    **options: Any,
) -> None:
    """Simulates the world until it is ended."""
    from mvsim_gym.ros import network_of
    from mvsim_gym.tools.launch import launch

    own = {name: options.pop(name) for name in _OF_NODES} | {"seed": options["seed"]}
    network = network_of(domain, interface)
    node = partial(_node_of, network=network, namespace=namespace.rstrip("/"), **own)
    launch(
        world,
        nodes=[node],
        keys=sys.stdin if sys.stdin.isatty() and sys.stderr.isatty() else None,
        hub=None if hub is None else ("127.0.0.1", hub),
        view=("127.0.0.1", view_port) if view else None,
        **options,
    )


@contextmanager
def _node_of(
    world: World, say: TextIO, network: Network, way: str | None, **options: Any
) -> Iterator[RosNode]:
    """Returns a node that publishes a world, and prints where; `options` are keywords of `RosNode`."""
    from mvsim_gym.ros import RosNode, open_transport
    from mvsim_gym.ros.transport import ANY, LOCAL

    transport = open_transport(network, way)
    try:
        with RosNode(world, transport, **options) as node:
            reach = {LOCAL: "this machine alone", ANY: "all that the middleware reaches"}.get(
                network.interface, f"interface {network.interface}"
            )
            print(
                f"ROS 2 by {transport.name}, domain {network.domain}, {reach}: {len(node.topics)} topics",
                file=say,
                flush=True,
            )
            yield node
    finally:
        transport.close()
