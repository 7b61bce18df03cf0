"""`mvsim-gym evaluate`."""

from __future__ import annotations

import argparse
from typing import Any

from mvsim_gym.tools.options import add_env, add_episodes, add_record

HELP = "run episodes and say how they ended"
DESCRIPTION = (
    "Runs episodes of an environment and prints the rates of success and of each way to fail, the mean"
    " time of successes (s) and the mean return."
)


def add(parser: argparse.ArgumentParser) -> None:
    """Adds its arguments."""
    add_env(parser, seed=1_000_000)
    add_episodes(parser, 100)
    add_record(parser, "record all episodes, which run one after another then")


def run(**options: Any) -> None:
    """Prints the rates."""
    from mvsim_gym.tools.evaluate import evaluate

    for line in evaluate(**options):
        print(line)
