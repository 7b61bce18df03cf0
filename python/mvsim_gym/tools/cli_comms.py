"""The commands of `mvsim-gym` that talk to nodes."""

from __future__ import annotations

import argparse
from typing import Any

Commands = Any  # argparse's type for them has no public name
_PORT = 23700  # mvsim_gym.comms.PORT, without its import


def add_comms(commands: Commands) -> None:
    """Adds them to the command line."""
    server = commands.add_parser(
        "server",
        help="run a hub alone, for nodes of MVSim or of yours",
        description="Runs a hub until Ctrl-C. `mvsim-gym launch` has one of its own.",
    )
    add_hub(server)
    server.set_defaults(run=_server)
    node = commands.add_parser("node", help="what nodes a hub knows").add_subparsers(
        dest="subcommand", required=True, metavar="list"
    )
    _add(node, "list", _list_nodes, "list the nodes")
    topic = commands.add_parser("topic", help="list topics, print their messages, measure their rate")
    topics = topic.add_subparsers(dest="subcommand", required=True, metavar="list|echo|hz")
    _add(topics, "list", _list_topics, "list the topics and who publishes them").add_argument(
        "--details", action="store_true", help="with types and endpoints, as YAML"
    )
    echo = _add(topics, "echo", _echo, "print the messages of a topic until Ctrl-C")
    echo.add_argument("topic", metavar="TOPIC", help="e.g. /r1/pose")
    echo.add_argument("-n", "--count", type=int, metavar="N", help="end after so many")
    hz = _add(topics, "hz", _hz, "measure the rate of a topic")
    hz.add_argument("topic", metavar="TOPIC", help="e.g. /r1/pose")
    hz.add_argument("--seconds", type=float, default=5.0, metavar="S", help="for how long (default 5)")


def add_hub(parser: argparse.ArgumentParser) -> None:
    """Adds the options of where the hub is."""
    parser.add_argument(
        "--host", default="127.0.0.1", metavar="ADDRESS", help="where the hub listens (default 127.0.0.1)"
    )
    parser.add_argument(
        "-p", "--port", type=int, default=_PORT, metavar="PORT", help=f"of the hub (default {_PORT})"
    )


def add_topics(parser: argparse.ArgumentParser) -> None:
    """Adds the options of what a world publishes, and where."""
    add_hub(parser)
    parser.add_argument("--no-hub", action="store_true", help="no topics and services: nothing listens")
    parser.add_argument(
        "--relative-poses",
        action="append",
        default=[],
        metavar="NAME=OTHER,...",
        help="publish the poses of others in the frame of NAME as /NAME/relative_poses",
    )
    parser.add_argument(
        "--rename",
        action="append",
        default=[],
        metavar="TOPIC=NEW",
        help="publish a topic under another name",
    )


def topics_wanted(arguments: argparse.Namespace) -> dict[str, Any]:
    """Keywords of a WorldNode, of these options.

    Raises:
        ValueError: one has no = or nothing at one side of it.
    """
    relative = [_pair("--relative-poses", text, "NAME=OTHER,...") for text in arguments.relative_poses]
    rename = [_pair("--rename", text, "TOPIC=NEW") for text in arguments.rename]
    return {"relative": {name: others.split(",") for name, others in relative}, "rename": dict(rename)}


def _pair(option: str, text: str, expected: str) -> tuple[str, str]:
    name, _, value = text.partition("=")
    if not (name and value):
        raise ValueError(f"{option}: found '{text}', expected {expected}")
    return name, value


def _add(commands: Commands, name: str, run: Any, text: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(
        name, help=text, description=text[0].upper() + text[1:]
    )
    add_hub(parser)
    parser.set_defaults(run=run)
    return parser


def _server(arguments: argparse.Namespace) -> None:
    from mvsim_gym.tools.topics import serve

    serve(arguments.host, arguments.port)


def _list_nodes(arguments: argparse.Namespace) -> None:
    from mvsim_gym.tools.topics import joined, node_lines

    with joined(arguments.host, arguments.port) as client:
        print("\n".join(node_lines(client)))


def _list_topics(arguments: argparse.Namespace) -> None:
    from mvsim_gym.tools.topics import joined, topic_lines

    with joined(arguments.host, arguments.port) as client:
        for line in topic_lines(client, details=arguments.details):
            print(line)


def _echo(arguments: argparse.Namespace) -> None:
    from mvsim_gym.tools.topics import echo, joined

    with joined(arguments.host, arguments.port) as client:
        for text in echo(client, arguments.topic, arguments.count):
            print(text, flush=True)


def _hz(arguments: argparse.Namespace) -> None:
    from mvsim_gym.tools.topics import joined, rate_lines, received_times

    with joined(arguments.host, arguments.port) as client:
        times = received_times(client, arguments.topic, arguments.seconds)
    print("\n".join(rate_lines(times, arguments.seconds)))
