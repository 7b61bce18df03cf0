"""`mvsim-gym doctor`."""

from __future__ import annotations

HELP = "show devices, renderer, versions, SIMD level, threads, and what is wrong"


def run() -> None:
    from mvsim_gym.tools.doctor import report

    lines, problems = report()
    print("\n".join(lines))
    print("\n".join(f"problem: {problem}" for problem in problems) or "nothing is wrong")
