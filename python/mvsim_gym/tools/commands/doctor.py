"""`mvsim-gym doctor`."""

from __future__ import annotations

import argparse

HELP = "show devices, renderer, versions, SIMD level, threads, and what is wrong"


def add(parser: argparse.ArgumentParser) -> None:
    """Adds no arguments."""


def run() -> None:
    """Prints a report."""
    from mvsim_gym.tools.doctor import report

    lines, problems = report()
    print("\n".join(lines))
    print("\n".join(f"problem: {problem}" for problem in problems) or "nothing is wrong")
