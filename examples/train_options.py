"""The command line of train_ppo.py; with --resume the options of the run that goes on."""

from __future__ import annotations

import argparse
import dataclasses
import os
import pathlib
import pickle
import sys
from collections.abc import Sequence
from typing import Any

import checkpoints
from evaluation import FINAL_SEEDS, HELD_OUT_SEEDS
from report import file_name
from run_folder import CHECKPOINT

from mvsim_gym.tools.options import add_settings, search_working_folder, settings

# Options that define a run, so that a resumed run takes none of them.
_OF_A_NEW_RUN = {
    "env",
    "recipe",
    "steps",
    "seed",
    "num_envs",
    "out",
    "settings",
    "roots",
    "resources",
    "strict",
}


@dataclasses.dataclass
class Options:
    """`settings` are keywords of the environment, `resume` is the folder of a run that goes on."""

    env: str = "mvsim/NavArena-v0"
    recipe: pathlib.Path | None = None  # the environment's own
    steps: int | None = None  # what the recipe says, as num_envs
    seed: int = 0
    num_envs: int | None = None
    threads: int = 0
    episodes: int = len(HELD_OUT_SEEDS)
    settings: dict[str, Any] = dataclasses.field(default_factory=dict)
    record: pathlib.Path | None = None
    out: pathlib.Path | None = None
    resume: pathlib.Path | None = None
    checkpoint_every: float = 30.0
    no_baselines: bool = False
    no_video: bool = False

    @property
    def folder(self) -> pathlib.Path:
        """Where a new run is to lie."""
        return self.out or pathlib.Path("runs") / f"{file_name(self.env)}-seed{self.seed}"

    def kept(self) -> dict[str, Any]:
        """Returns the options that a checkpoint keeps, with absolute paths of files."""
        own = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        for name in ("out", "resume", "record", "recipe"):
            del own[name]
        return {**own, "env": os.path.abspath(self.env) if os.path.isfile(self.env) else self.env}


def options_of(arguments: Sequence[str], doc: str | None) -> tuple[Options, checkpoints.State | None]:
    """The options, and the checkpoint of a run that goes on. Exits where they say nothing."""
    parser = _parser(doc)
    parsed = parser.parse_args(arguments)
    given = {
        name: value
        for name, value in vars(parsed).items()
        if value is not None and value is not False and value != []
    }
    state, kept = None, {}
    if parsed.resume is not None:
        wrong = sorted(_OF_A_NEW_RUN & given.keys())
        if wrong:
            name = "set" if wrong[0] == "settings" else wrong[0].replace("_", "-")
            parser.error(f"--{name}: a run that goes on has its own, expected --resume without it")
        try:
            state = checkpoints.load(parsed.resume)
            kept = {name: value for name, value in state["options"].items() if name != "recipe"}
        except FileNotFoundError:
            sys.exit(
                f"--resume {parsed.resume}: there is no {CHECKPOINT}, the first of which is written at step 0"
            )
        except (OSError, EOFError, RuntimeError, pickle.UnpicklingError, KeyError, TypeError) as error:
            text = str(error).partition("\n")[0]
            sys.exit(f"--resume {parsed.resume}: {CHECKPOINT} is no checkpoint of a run ({text})")
    try:
        own = settings(parsed)
    except ValueError as error:
        sys.exit(str(error))
    for name in ("settings", "roots", "resources", "strict"):
        given.pop(name, None)
    options = Options(**{**kept, **given, **({"settings": own} if own else {})})
    if options.record and not options.record.absolute().parent.is_dir():
        parser.error(f"--record {options.record}: there is no folder {options.record.parent}")
    if options.episodes > len(FINAL_SEEDS):
        parser.error(
            f"--episodes {options.episodes}: at most {len(FINAL_SEEDS)}, the number of held-out seeds"
        )
    search_working_folder(options.env)
    return options, state


def _parser(doc: str | None) -> argparse.ArgumentParser:
    """Its defaults are those of `Options`."""
    parser = argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawDescriptionHelpFormatter, argument_default=None
    )
    parser.add_argument(
        "--env",
        help="id (ns/Name-v0, module:ns/Name-v0) or path of an environment file (default mvsim/NavArena-v0)",
    )
    parser.add_argument(
        "--recipe",
        type=pathlib.Path,
        metavar="FILE.yaml",
        help="how PPO learns, as in examples/recipes (default: the file of the environment there)",
    )
    parser.add_argument("--steps", type=count, help="environment steps (default: what the environment needs)")
    parser.add_argument("--seed", type=int, help="default 0")
    parser.add_argument("--num-envs", type=count, help="of the rollouts (default: those of the recipe)")
    parser.add_argument(
        "--threads", type=int, help="of the environments (default: as many as there are processors)"
    )
    parser.add_argument(
        "--episodes",
        type=count,
        help=f"of the final evaluation (default {len(HELD_OUT_SEEDS)}, at most {len(FINAL_SEEDS):,})",
    )
    parser.add_argument(
        "--record",
        type=pathlib.Path,
        metavar="FILE.mcap",
        help="record PPO's episodes of the final evaluation, for mvsim-gym play",
    )
    parser.add_argument(
        "--out",
        type=pathlib.Path,
        help="output folder (default runs/<env>-seed<seed>); with -2 where it has a run",
    )
    parser.add_argument(
        "--resume", type=pathlib.Path, metavar="RUN", help="folder of a run that goes on from its checkpoint"
    )
    parser.add_argument(
        "--checkpoint-every", type=seconds, metavar="SECONDS", help="time between checkpoints (default 30)"
    )
    parser.add_argument("--no-baselines", action="store_true", help="leave the scripted baselines out")
    parser.add_argument("--no-video", action="store_true", help="leave the film of an episode out")
    add_settings(parser)
    return parser


def count(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"found {value}, expected at least 1")
    return value


def seconds(text: str) -> float:
    value = float(text)
    if not value >= 0:
        raise argparse.ArgumentTypeError(f"found {text}, expected at least 0")
    return value
