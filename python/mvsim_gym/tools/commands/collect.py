"""`mvsim-gym collect`."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from mvsim_gym.tools.options import add_env, add_episodes, add_flag, add_output, add_value
from mvsim_gym.tools.terminal import control

FORMATS = ("minari", "lerobot")
HELP = "write episodes as a data set of Minari or LeRobot"
DESCRIPTION = (
    "Runs episodes and writes them below DIR. MINARI_DATASETS_PATH=DIR lets Minari find them:"
    " minari.load_dataset(NAME). LeRobot takes NAME and root=DIR/NAME."
)


def add(parser: argparse.ArgumentParser) -> None:
    add_env(parser)
    add_output(parser, "DIR", "folder of data sets")
    add_episodes(parser, optional=True)
    parser.add_argument(
        "--recording",
        dest="recordings",
        nargs="+",
        default=[],
        metavar="FILE.mcap",
        help="recordings of `mvsim-gym drive --record`, whose episodes are taken instead of simulated ones",
    )
    add_value(parser, "--name", "NAME", "the data set's id (default mvsim/ENVIRONMENT/POLICY-v0)")
    parser.add_argument("--format", choices=FORMATS, default="minari", help="format (default minari)")
    add_flag(
        parser,
        "--flatten",
        "observations as one vector, as of flatten=True (default: as the environment has them)",
    )


def run(
    output: str, episodes: int | None, recordings: list[str], policy: str, seed: int, **options: Any
) -> None:
    """Collects episodes and shows the progress on a terminal."""

    def show_progress(done: int) -> None:
        if sys.stderr.isatty():
            control(sys.stderr, "\r")
            of = "" if episodes is None else f" of {episodes}"
            print(f"{done}{of} episodes", end="", file=sys.stderr, flush=True)

    env_id = options.pop("env_id")
    if recordings:
        if episodes is not None or policy != "random" or seed != 0:
            raise ValueError(
                "--recording: found --episodes, --policy or --seed, expected none of them with it"
            )
        from mvsim_gym.tools.collect import collect_drives

        dataset = collect_drives(env_id, recordings, output, on_episode=show_progress, **options)
    else:
        from mvsim_gym.tools.collect import collect

        if episodes is None:
            raise ValueError("expected --episodes N, or --recording FILE.mcap")
        dataset = collect(
            env_id, policy, output, episodes=episodes, seed=seed, on_episode=show_progress, **options
        )
    if sys.stderr.isatty():
        print(file=sys.stderr)
    if options["format"] == "lerobot":
        print(f"{dataset.name}: {dataset.total_episodes} episodes, {dataset.total_steps} steps")
        print(f"LeRobot reads it by LeRobotDataset('{dataset.name}', root='{dataset.path}')")
        return
    print(f"{dataset.spec.dataset_id}: {dataset.total_episodes} episodes, {dataset.total_steps} steps")
    print(f"Minari finds it with MINARI_DATASETS_PATH={output}")
