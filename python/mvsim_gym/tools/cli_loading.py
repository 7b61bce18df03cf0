"""Options that several commands have."""

from __future__ import annotations

import argparse
import os
from typing import Any

from mvsim_gym._files import parsed_resources
from mvsim_gym.tools.settings import settings_of


def loading(arguments: argparse.Namespace) -> dict[str, Any]:
    """Keywords of a World, of these options."""
    return {
        "roots": arguments.roots,
        "resources": parsed_resources("--resources", ";".join(arguments.resources)),
        "strict": arguments.strict,
    }


def add_loading(parser: argparse.ArgumentParser) -> None:
    """Adds them to a command."""
    parser.add_argument(
        "--roots",
        action="append",
        default=[],
        metavar="FOLDER",
        help="a further folder that the world may read",
    )
    parser.add_argument(
        "--resources",
        action="append",
        default=[],
        metavar="PREFIX=FOLDER",
        help="a folder that stands for the start of URLs",
    )
    parser.add_argument("--strict", action="store_true", help="a warning is an error")


def add_settings(parser: argparse.ArgumentParser) -> None:
    """Options of all commands that make an environment."""
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        dest="settings",
        help="a keyword of the environment, as of gymnasium.make: time_limit=30, reward.collision=-20 (repeatable)",
    )
    add_loading(parser)


def settings(arguments: argparse.Namespace) -> dict[str, Any]:
    """Keywords of an environment, of these options; only those that were given."""
    given = {name: value for name, value in loading(arguments).items() if value}
    if "roots" in given:  # a model keeps them, for other working folders
        given["roots"] = [os.path.abspath(folder) for folder in given["roots"]]
    return {**settings_of(arguments.settings), **given}


def add_listening(parser: argparse.ArgumentParser) -> None:
    """Options of all commands that browsers look at."""
    parser.add_argument(
        "--host", default="127.0.0.1", help="where the view listens (default 127.0.0.1: this machine alone)"
    )
    parser.add_argument("--port", type=int, default=8080, help="of the view, 0 takes any (default 8080)")
    add_doors(parser)


def add_doors(parser: argparse.ArgumentParser) -> None:
    """Options of who may look at a view, and press."""
    parser.add_argument(
        "--no-token",
        action="store_true",
        help="every page may press, also without the token of the printed URL",
    )
    parser.add_argument(
        "--allow-host",
        action="append",
        default=[],
        metavar="NAME[:PORT]",
        help="a further name by which browsers may call the view, of a proxy or a forwarded port",
    )


def doors(arguments: argparse.Namespace) -> dict[str, Any]:
    """Keywords of a view, of these options."""
    return {"token": not arguments.no_token, "allow_hosts": arguments.allow_host}


def add_running(parser: argparse.ArgumentParser) -> None:
    """Options of commands that simulate a world in real time."""
    parser.add_argument("world", metavar="WORLD", help="a world file")
    parser.add_argument(
        "--realtime-factor", type=float, default=1.0, metavar="F", help="simulated seconds in one (default 1)"
    )
    parser.add_argument("--duration", type=float, metavar="SECONDS", help="simulated time (default: no end)")
    parser.add_argument("--seed", type=int, default=0, help="of noise (default 0)")
    parser.add_argument(
        "--view-port", type=int, default=8080, metavar="PORT", help="of the view, 0 takes any (default 8080)"
    )
    add_doors(parser)
    add_loading(parser)
