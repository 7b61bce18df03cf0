"""`mvsim-gym launch`."""

from __future__ import annotations

import argparse
import importlib.util
import sys
from typing import Any

from mvsim_gym.tools.options import add_flag, add_hub, add_record, add_running, add_value

HELP = "simulate a world in real time, seen in a browser and driven by keys"
DESCRIPTION = (
    "Simulates WORLD in real time and shows it in a browser. Keys in the browser and in a terminal drive:"
    " 1-9 choose a vehicle in the order of names, w and s change its speed, a and d its turning, the space bar stops; l"
    " switches its CSV files on and off, c and n begin new ones; ESC in the terminal and Ctrl-C end."
)


def add(parser: argparse.ArgumentParser) -> None:
    add_running(parser)
    add_flag(parser, "--headless", "no view, no keys, no status line: for scripts")
    add_value(parser, "--outputs", "DIR", "folder for CSV files and ground truth (default: none)")
    add_record(parser, "record the world; a relative path is below --outputs if that is given")
    add_flag(parser, "--joystick", "the first gamepad drives the chosen vehicle (extra 'joystick')")
    add_hub(parser)
    add_flag(parser, "--no-hub", "no topics and services")
    for flag, metavar, text in (
        (
            "--relative-poses",
            "NAME=OTHER,...",
            "publish the poses of others in the frame of NAME as /NAME/relative_poses",
        ),
        ("--rename", "TOPIC=NEW", "publish a topic under another name"),
    ):
        parser.add_argument(flag, action="append", default=[], metavar=metavar, help=text)


def run(
    world: str,
    headless: bool,
    host: str,
    port: int,
    view_port: int,
    no_hub: bool,
    relative_poses: list[str],
    rename: list[str],
    **options: Any,
) -> None:
    """Simulates the world until it is ended."""
    from mvsim_gym.tools.launch import launch

    in_terminal = not headless and sys.stdin.isatty() and sys.stderr.isatty()
    view = None if headless else (host, view_port)
    if view is not None and importlib.util.find_spec("viser") is None:
        print("no view: pip install 'mvsim_gym[view]'", file=sys.stderr)
        view = None
    launch(
        world,
        keys=sys.stdin if in_terminal else None,
        hub=None if no_hub else (host, port),
        topics=_topics_wanted(relative_poses, rename),
        view=view,
        **options,
    )


def _topics_wanted(relative_poses: list[str], rename: list[str]) -> dict[str, Any]:
    """Returns keywords of a WorldNode. Raises ValueError if a text has no = or is empty at one side of it."""
    relative = [_pair("--relative-poses", text, "NAME=OTHER,...") for text in relative_poses]
    names = [_pair("--rename", text, "TOPIC=NEW") for text in rename]
    return {"relative": {name: others.split(",") for name, others in relative}, "rename": dict(names)}


def _pair(option: str, text: str, expected: str) -> tuple[str, str]:
    name, _, value = text.partition("=")
    if not (name and value):
        raise ValueError(f"{option}: found '{text}', expected {expected}")
    return name, value
