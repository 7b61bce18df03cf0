"""The command line `mvsim-gym`."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence

from mvsim_gym import __version__
from mvsim_gym.tools.options import keywords, search_working_folder
from mvsim_gym.tools.terminal import plain_output

_COMMANDS = {
    **{name: name for name in ("replay", "validate", "show", "fetch", "list", "parameters", "doctor")},
    **{"tire-plots": "tire_plots", "import": "import_robot"},
    **{name: name for name in ("launch", "view", "film", "evaluate", "collect", "play", "repair", "plot")},
    **{name: name for name in ("tune", "compare", "identify", "export", "drive")},
    **{name: name for name in ("server", "node", "topic", "ros")},
}
"""Names of the commands, each a module of `tools/commands/`."""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="mvsim-gym",
        description="Ground robots for reinforcement learning: worlds, environments, this machine.",
    )
    parser.add_argument("--version", action="version", version=f"mvsim-gym v{__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, place in _COMMANDS.items():
        module = importlib.import_module(f"mvsim_gym.tools.commands.{place}")
        own = commands.add_parser(name, help=module.HELP, description=getattr(module, "DESCRIPTION", None))
        if hasattr(module, "add"):
            module.add(own)
        if hasattr(module, "run"):  # otherwise each of its subcommands has one
            own.set_defaults(run=module.run)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code: 0 for success, 1 for an error, 2 for wrong arguments. An error is
    one line on stderr; `validate` writes its errors to stdout."""
    with plain_output():
        return _run(_parser().parse_args(arguments))


def _run(parsed: argparse.Namespace) -> int:
    try:
        search_working_folder(getattr(parsed, "env_id", getattr(parsed, "target", "")))
        code = parsed.run(**keywords(parsed))
        sys.stdout.flush()
    except BrokenPipeError:  # the reader of the output has ended, as `| head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (ValueError, TypeError, ImportError, OSError) as error:
        print(
            f"mvsim-gym {parsed.command}: {_reason(error, getattr(parsed, 'output', None))}", file=sys.stderr
        )
        return 1
    except KeyboardInterrupt:
        return 130
    return int(code or 0)


def _reason(error: Exception, output: str | None) -> str:
    """Returns the text of an error in one line, with the path of the result where the system reports a fault without a
    file, such as a full disk."""
    text = " ".join(str(error).split())
    is_of_system = isinstance(error, OSError) and error.errno is not None and error.filename is None
    return f"{output}: {text}" if is_of_system and output and output not in text else text
