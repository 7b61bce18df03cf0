"""How well scripted policies do under the levels of randomisation, and at the edges of a single range.

python examples/transfer.py                                          # NavArena, Race and IceDrive, a table
python examples/transfer.py --env mvsim/Race-v0 --episodes 100
python examples/transfer.py --env mvsim/Race-v0 --edge vehicle:car1/action/delay=0,0.08
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from baselines import BASELINES, policies
from evaluation import HELD_OUT_SEEDS, evaluate
from robot import TEAMS

LEVELS = ("none", "standard", "strong")
SHOWN = ("mvsim/NavArena-v0", "mvsim/Race-v0", "mvsim/IceDrive-v0")
Cases = Mapping[str, Mapping[str, Any]]
"""Keywords of the environment by the name of a column."""


def cases_of(edges: list[str]) -> dict[str, dict[str, Any]]:
    """The levels, or each value of each edge, `PATH=VALUE,VALUE`, alone."""
    if not edges:
        return {level: {"randomize": level} for level in LEVELS}
    out: dict[str, dict[str, Any]] = {"nominal": {}}
    for edge in edges:
        path, _, values = edge.partition("=")
        for value in values.split(","):
            name = f"{path.split('/', 1)[-1]} = {value}"
            out[name] = {"randomize": {path: {"value": float(value)}}}
    return out


def successes(env_id: str, cases: Cases, episodes: int) -> dict[str, list[float]]:
    """The rate of success of each scripted policy of an environment, a number a case."""
    return {
        name: [
            evaluate(
                env_id, policy, HELD_OUT_SEEDS[:episodes], title=f"{env_id}, {name}, {case}", **keywords
            )["success"]
            for case, keywords in cases.items()
        ]
        for name, policy in policies(env_id).items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--env", choices=[id for id in BASELINES if id not in TEAMS])
    parser.add_argument("--episodes", type=int, default=200)
    parser.add_argument("--edge", action="append", default=[], metavar="PATH=VALUE,VALUE")
    args = parser.parse_args()
    if not 1 <= args.episodes <= len(HELD_OUT_SEEDS):
        parser.error(f"--episodes {args.episodes}: expected 1 to {len(HELD_OUT_SEEDS)}, the held-out seeds")
    cases = cases_of(args.edge)
    print("| environment | policy | " + " | ".join(cases) + " |\n|---|---|" + "---:|" * len(cases))
    for env_id in [args.env] if args.env else SHOWN:
        for name, rates in successes(env_id, cases, args.episodes).items():
            shown = " | ".join(f"{100 * rate:.1f} %" for rate in rates)
            print(f"| {env_id.removeprefix('mvsim/').removesuffix('-v0')} | {name} | {shown} |", flush=True)


if __name__ == "__main__":
    main()
