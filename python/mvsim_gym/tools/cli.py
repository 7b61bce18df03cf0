"""The command line `mvsim-gym`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from mvsim_gym import __version__
from mvsim_gym.tools.cli_comms import add_comms
from mvsim_gym.tools.cli_loading import add_loading, add_settings, loading, settings
from mvsim_gym.tools.cli_ros import add_ros
from mvsim_gym.tools.cli_workbench import add_workbench
from mvsim_gym.tools.import_robot import add_import
from mvsim_gym.tools.settings import search_working_folder
from mvsim_gym.tools.terminal import plain_output


def _replay(arguments: argparse.Namespace) -> None:
    from mvsim_gym.tools.replay import read_commands, replay
    from mvsim_gym.world import World

    files = [arguments.world, arguments.commands, arguments.output, arguments.scans]
    real = [os.path.realpath(file) for file in files if file is not None]
    if len(set(real)) < len(real):
        raise ValueError("WORLD, COMMANDS, OUT and SCANS must be different files")
    world = World(arguments.world, seed=arguments.seed, **loading(arguments))
    commands = read_commands(arguments.commands, world)
    replay(world, commands, arguments.duration, arguments.output, arguments.scans)


def _validate(arguments: argparse.Namespace) -> int:
    from mvsim_gym.tools.validate import validate

    reports = [validate(world, **loading(arguments)) for world in arguments.worlds]
    for report in reports:
        print("\n".join(report.lines()))
    return 1 if any(report.errors for report in reports) else 0


def _show(arguments: argparse.Namespace) -> None:
    from mvsim_gym.tools.show import show
    from mvsim_gym.world import World

    world = World(arguments.world, **loading(arguments))
    if arguments.time > 0:
        world.step(arguments.time)
    show(world, arguments.output)


def _fetch(arguments: argparse.Namespace) -> None:
    from mvsim_gym.tools.fetch import fetch_world

    given = loading(arguments)
    for world in arguments.worlds:
        for url, state in fetch_world(world, given["roots"], given["resources"], check=arguments.check):
            print(f"{state:10}  {url}", flush=True)


def _list(arguments: argparse.Namespace) -> None:
    from mvsim_gym.registration import CUSTOM_ID, listing

    environments = {**listing(), CUSTOM_ID: "any environment file: env=PATH"}
    width = max(map(len, environments))
    for id, path in environments.items():
        print(f"{id:{width}}  {path}")


def _parameters(arguments: argparse.Namespace) -> None:
    from mvsim_gym.tools.parameters import parameters_of, table_of

    found = parameters_of(arguments.env, **settings(arguments))
    print("\n".join(table_of(found, arguments.pattern)))


def _doctor(arguments: argparse.Namespace) -> None:
    from mvsim_gym.tools.doctor import report

    lines, problems = report()
    print("\n".join(lines))
    print("\n".join(f"problem: {problem}" for problem in problems) or "nothing is wrong")


def _tire_plots(arguments: argparse.Namespace) -> None:
    from mvsim_gym.tools.tire_plots import draw_all

    for path in draw_all(arguments.out):
        print(path)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="mvsim-gym",
        description="Ground robots for reinforcement learning: worlds, environments, this machine.",
    )
    parser.add_argument("--version", action="version", version=f"mvsim-gym v{__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    replay = commands.add_parser(
        "replay",
        help="drive a world by a script of commands and write what happened",
        description="Runs WORLD under the script COMMANDS (CSV: t_start,vehicle,kind,a,b,c; kinds of command as "
        "docs/python.md lists them) and writes one row a step, row 0 being the initial state.",
    )
    replay.add_argument("world", metavar="WORLD", help="a world file")
    replay.add_argument("commands", metavar="COMMANDS", help="a script of commands, CSV")
    replay.add_argument("--duration", type=float, required=True, metavar="SECONDS", help="simulated time")
    replay.add_argument("-o", "--output", required=True, metavar="OUT", help="file for the states, CSV")
    replay.add_argument("--scans", metavar="SCANS", help="file for the lidar scans, CSV")
    replay.add_argument("--seed", type=int, default=0, help="of noise (default 0)")
    add_loading(replay)
    replay.set_defaults(run=_replay)
    validate = commands.add_parser(
        "validate",
        help="check world files: errors, warnings, what is in them",
        description="Loads each WORLD and prints its errors and warnings, with lines, and a summary. The exit code is 0"
        " if all of them load, 1 if one does not, 2 for wrong arguments.",
    )
    validate.add_argument("worlds", metavar="WORLD", nargs="+", help="world files")
    add_loading(validate)
    validate.set_defaults(run=_validate)
    show = commands.add_parser("show", help="draw a world from above and in perspective, with names")
    show.add_argument("world", metavar="WORLD", help="a world file")
    show.add_argument("-o", "--output", required=True, metavar="PICTURE", help="file for the picture, PNG")
    show.add_argument("--time", type=float, default=0, metavar="SECONDS", help="simulated before (default 0)")
    add_loading(show)
    show.set_defaults(run=_show)
    fetch = commands.add_parser(
        "fetch",
        help="download what world files name by URL into the cache",
        description="Downloads the files that each WORLD names by http(s) URL and no --resources has into"
        " $MVSIM_CACHE (default ~/.cache/mvsim-storage), with their SHA-256 beside them. Nothing else in this package"
        " downloads anything.",
    )
    fetch.add_argument("worlds", metavar="WORLD", nargs="+", help="world files")
    fetch.add_argument("--check", action="store_true", help="download again, and refuse what has changed")
    add_loading(fetch)
    fetch.set_defaults(run=_fetch)
    commands.add_parser("list", help="show the environments and their files").set_defaults(run=_list)
    parameters = commands.add_parser(
        "parameters",
        help="list what an environment can randomise",
        description="Lists every parameter that <randomize of=...> (or the keyword randomize) can draw in ENV: path, "
        "nominal value, range and unit.",
    )
    parameters.add_argument("env", metavar="ENV", help="an id or an environment file")
    parameters.add_argument(
        "pattern", metavar="PATTERN", nargs="?", default="*", help="only these, e.g. 'vehicle:*/friction/*'"
    )
    add_settings(parameters)
    parameters.set_defaults(run=_parameters)
    commands.add_parser(
        "doctor", help="show devices, renderer, versions, SIMD level, threads, and what is wrong"
    ).set_defaults(run=_doctor)
    tire_plots = commands.add_parser(
        "tire-plots", help="draw force over slip of every tire model and surface"
    )
    tire_plots.add_argument("--out", required=True, metavar="DIR", help="folder for the pictures (PNG)")
    tire_plots.set_defaults(run=_tire_plots)
    add_import(commands)
    add_workbench(commands)
    add_comms(commands)
    add_ros(commands)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; 0 if it went well, 1 with one line on stderr if not (`validate` tells on stdout), 2 for wrong
    arguments."""
    with plain_output():
        return _run(_parser().parse_args(arguments))


def _run(parsed: argparse.Namespace) -> int:
    try:
        search_working_folder(getattr(parsed, "env", getattr(parsed, "target", "")))
        code = parsed.run(parsed)
        sys.stdout.flush()
    except BrokenPipeError:  # whoever reads has enough, as `| head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (ValueError, TypeError, ImportError, OSError) as error:
        print(f"mvsim-gym {parsed.command}: {' '.join(str(error).split())}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return int(code or 0)
