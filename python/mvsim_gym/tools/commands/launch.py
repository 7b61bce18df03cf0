"""`mvsim-gym launch`."""

from __future__ import annotations

import argparse
import importlib.util
import sys
from typing import Any

from mvsim_gym.tools.options import add_flag, add_hub, add_list, add_record, add_running, add_value, pairs

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
    text = "publish the poses of others in the frame of NAME as /NAME/relative_poses"
    add_list(parser, "--relative-poses", "NAME=OTHER,...", text)
    add_list(parser, "--rename", "TOPIC=NEW", "publish a topic under another name")


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
    relative = pairs("--relative-poses", relative_poses, "NAME=OTHER,...")
    topics = {
        "relative": {name: others.split(",") for name, others in relative.items()},
        "rename": pairs("--rename", rename, "TOPIC=NEW"),
    }
    launch(
        world,
        keys=sys.stdin if in_terminal else None,
        hub=None if no_hub else (host, port),
        topics=topics,
        view=view,
        **options,
    )
