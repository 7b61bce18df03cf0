"""`mvsim-gym view`."""

from __future__ import annotations

import argparse
from typing import Any

from mvsim_gym.tools.options import add_listening, add_policy, add_record, add_seed, add_settings, add_value

HELP = "show a world or an environment in a browser"
DESCRIPTION = (
    "Shows WORLD, driven by keys of the browser, or an environment, driven by a policy, in real time."
    " Needs the extra 'view'. Ctrl-C ends it."
)


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("target", metavar="WORLD|ENV_ID", help="a world file, or an environment's id or file")
    add_value(
        parser,
        "--num-envs",
        "N",
        "number of worlds; of agents, if a world has several (default: one world)",
        type=int,
    )
    add_policy(parser)
    add_seed(parser, "seed of the first env, or of a world's noise")
    add_record(parser, "record the world; of environments the first one")
    add_listening(parser)
    add_settings(parser)


def run(target: str, policy: str, num_envs: int | None, host: str, port: int, **options: Any) -> None:
    """Shows a world or environments until it is ended."""
    from mvsim_gym.tools.view import is_world, view_envs

    if not is_world(target):
        view_envs(target, policy, num_envs=num_envs, host=host, port=port, **options)
        return
    settings = options.pop("settings")
    if settings.keys() - {"roots", "resources", "strict"}:
        raise ValueError("--set: found a world, expected an environment, whose keywords it sets")
    from mvsim_gym.tools.launch import launch

    launch(target, view=(host, port), **options, **settings)
