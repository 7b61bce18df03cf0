"""`mvsim-gym evaluate`."""

from __future__ import annotations

import argparse
from typing import Any

from mvsim_gym.tools.options import add_env, add_episodes, add_flag, add_record, add_value

HELP = "run episodes and print how they ended"
DESCRIPTION = (
    "Runs episodes of an environment and prints the rates of success and of each way to fail, the mean"
    " time of successes (s) and the mean return. With --suite the episodes are a fixed list; --compare gives the"
    " difference of two policies in it."
)

_EPISODES, _SEED = 100, 1_000_000  # defaults


def add(parser: argparse.ArgumentParser) -> None:
    add_env(parser, seed=_SEED, optional=True)
    add_episodes(parser, _EPISODES)
    add_record(parser, "record all episodes, which then run one after another")
    add_flag(parser, "--suite", "run the fixed list of held-out episodes of the environment")
    add_value(
        parser,
        "--worlds",
        "FOLDER",
        "with --suite of mvsim/Barn-v0: a folder of other worlds with index.csv; of mvsim/Race-v0: a folder of"
        " tracks, of which each is driven 10 times",
    )
    parser.add_argument("-o", "--output", metavar="FILE.json", help="with --suite: a file for all episodes")
    parser.add_argument(
        "--compare",
        nargs=2,
        metavar=("A.json", "B.json"),
        help="print how B differs from A, two files of --suite; excludes all other options",
    )


def run(
    env_id: str,
    *,
    suite: bool,
    compare: list[str] | None,
    worlds: str | None,
    output: str | None,
    **options: Any,
) -> None:
    if compare is not None:
        if env_id or suite:
            raise ValueError("--compare: found an environment or --suite beside it, expected two files only")
        from mvsim_gym.tools.suite import compare as compared

        lines = compared(*compare)
    elif not env_id:
        raise ValueError(
            "ENV_ID: found none, expected an id or an environment file (or --compare A.json B.json)"
        )
    elif suite:
        lines = _suite(env_id, worlds, output, **options)
    elif worlds is not None or output is not None:
        raise ValueError("--worlds and --output: found one without --suite, expected both beside it")
    else:
        from mvsim_gym.tools.evaluate import evaluate

        lines = evaluate(env_id, **options)
    for line in lines:
        print(line)


def _suite(
    env_id: str,
    worlds: str | None,
    output: str | None,
    *,
    policy: str,
    settings: dict[str, Any],
    episodes: int,
    seed: int,
    record: str | None,
) -> list[str]:
    from mvsim_gym.tools.suite import evaluate_suite

    if (episodes, seed, record) != (_EPISODES, _SEED, None):
        raise ValueError(
            "--suite: found --episodes, --seed or --record, expected none of them, as its episodes are fixed"
        )
    return evaluate_suite(env_id, policy, worlds=worlds, output=output, settings=settings)
