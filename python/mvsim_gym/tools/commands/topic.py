"""`mvsim-gym topic`."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from mvsim_gym.tools.options import add_flag, add_subcommands, add_value

HELP = "list topics, print their messages, measure their rate"


def add(parser: argparse.ArgumentParser) -> None:
    commands: dict[str, tuple[str, Callable[..., None]]] = {
        "list": ("list the topics and their publishers", _list),
        "echo": ("print the messages of a topic until Ctrl-C", _echo),
        "hz": ("measure the rate of a topic", _hz),
    }
    made = add_subcommands(parser, commands)
    add_flag(made["list"], "--details", "with types and endpoints, as YAML")
    for name in ("echo", "hz"):
        made[name].add_argument("topic", metavar="TOPIC", help="e.g. /r1/pose")
    made["echo"].add_argument("-n", "--count", type=int, metavar="N", help="end after N messages")
    add_value(made["hz"], "--seconds", "S", "time of the measurement (default 5)", default=5.0, type=float)


def _list(details: bool, **where: Any) -> None:
    from mvsim_gym.tools.topics import joined, topic_lines

    with joined(**where) as client:
        for line in topic_lines(client, details=details):
            print(line)


def _echo(topic: str, count: int | None, **where: Any) -> None:
    from mvsim_gym.tools.topics import echo, joined

    with joined(**where) as client:
        for text in echo(client, topic, count):
            print(text, flush=True)


def _hz(topic: str, seconds: float, **where: Any) -> None:
    from mvsim_gym.tools.topics import joined, rate_lines, received_times

    with joined(**where) as client:
        times = received_times(client, topic, seconds)
    print("\n".join(rate_lines(times, seconds)))
