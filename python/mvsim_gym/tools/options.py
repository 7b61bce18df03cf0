"""Options that several commands share, each defined once, and the keywords that they stand for. Keywords of
environments are made from texts such as `--set KEY=VALUE`."""

from __future__ import annotations

import argparse
import ast
import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from mvsim_gym._checks import quoted
from mvsim_gym._constructors import all_options
from mvsim_gym._files import parsed_resources
from mvsim_gym.registration import module_of

Arguments: TypeAlias = argparse._ActionsContainer  # noqa: SLF001 (no public base of parsers and groups)
_TAKEN = {"camera_backend", "max_episode_steps", "memory_limit", "spl", "strict_actions"}
"""Keywords of constructors that `--set` takes. The command chooses the others."""
_OPTIONS = {"roots": "--roots FOLDER", "resources": "--resources PREFIX=FOLDER", "strict": "--strict"}
_WORDS = {"True": True, "False": False, "None": None}


def settings_of(texts: Iterable[str], option: str = "--set") -> dict[str, Any]:
    """Returns keywords of an environment from texts KEY=VALUE. Dots lead into dicts: `reward.collision=-20`. A value is
    JSON, True, False, None or a dict or list of Python; everything else is a text.

    Raises:
        ValueError: a text has no key or value, contradicts an earlier one, or names a keyword that the command chooses.
    """
    found: dict[str, Any] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        path = [part.strip() for part in key.split(".")]
        if not equals or not all(path):
            raise ValueError(
                f"{option}: found {quoted(text)}, expected KEY=VALUE, such as time_limit=30 or reward.collision=-20"
            )
        if path[0] in _OPTIONS:
            raise ValueError(f"{option}: found the keyword '{path[0]}', expected {_OPTIONS[path[0]]}")
        if path[0] == "env" or path[0] in all_options().keys() - _TAKEN:
            raise ValueError(
                f"{option}: found the keyword '{path[0]}', which the command chooses, expected one of the environment"
            )
        nested = _value(f"{option} {key.strip()}", value.strip())
        for name in reversed(path):
            nested = {name: nested}
        _check_kinds(option, found, nested, "")
        found = merged(found, nested)
    return found


def merged(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """Returns keywords of both arguments. Two dicts of one keyword are merged; otherwise the second value counts."""
    out = {**first, **second}
    for name in first.keys() & second.keys():
        if isinstance(first[name], Mapping) and isinstance(second[name], Mapping):
            out[name] = merged(first[name], second[name])
    return out


def combined(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the same as `merged`, but with the roots of both."""
    roots = [*first.get("roots", ()), *second.get("roots", ())]
    return {**merged(first, second), **({"roots": roots} if roots else {})}


def search_working_folder(env: str) -> None:
    """Adds the working folder to the end of the import path, so that `module:id` finds its modules."""
    if module_of(env) is not None and os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())


def _value(name: str, text: str) -> Any:
    if text in _WORDS:
        return _WORDS[text]
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        if not text.startswith(("{", "[", '"')):
            return text
    try:
        return ast.literal_eval(text)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        raise ValueError(
            f'{name}: found {quoted(text)}, expected JSON, such as {{"collision": -20}}, or a text'
        ) from None


def _check_kinds(option: str, first: Mapping[str, Any], second: Mapping[str, Any], place: str) -> None:
    """Refuses a keyword that is a dict in one argument and another value in the other."""
    for name in first.keys() & second.keys():
        old, new = (isinstance(values[name], Mapping) for values in (first, second))
        if old and new:
            _check_kinds(option, first[name], second[name], f"{place}{name}.")
        elif old or new:
            raise ValueError(f"{option}: found {place}{name} both with and without parts of its own")


_HUB_PORT = 23700  # mvsim_gym.comms.PORT, without importing it
_POLICY = (
    "the policy: 'random', a folder of `mvsim-gym export` (which contains no code), a model of"
    " Stable-Baselines3 (MODEL.zip; loading it runs code in it), or FILE.py[:NAME] with a function policies(env) as"
    " examples/baselines.py has it (code that runs, too) (default random)"
)


def keywords(arguments: argparse.Namespace) -> dict[str, Any]:
    """Returns the keywords of a command's function, by the names of its options. Options of a world, an environment
    and a view are combined as in `loading`, `settings` and `doors`."""
    given = {k: v for k, v in vars(arguments).items() if k not in ("command", "subcommand", "run")}
    if "settings" in given:
        given["settings"] = settings(arguments)
        for name in loading(arguments):
            del given[name]
    elif "roots" in given:
        given |= loading(arguments)
    if "no_token" in given:
        given["doors"] = doors(arguments)
        del given["no_token"], given["allow_host"]
    return given


def loading(arguments: argparse.Namespace) -> dict[str, Any]:
    """Returns the keywords of a World that the options name."""
    return {
        "roots": arguments.roots,
        "resources": parsed_resources("--resources", ";".join(arguments.resources)),
        "strict": arguments.strict,
    }


def pairs(
    option: str, texts: Iterable[str], expected: str, between: str = "=", *, has_value: bool = True
) -> dict[str, str]:
    """Returns NAME=VALUE texts as a dict; raises ValueError for a text without a name or, if `has_value`, a value."""
    found = {}
    for text in texts:
        name, middle, value = text.partition(between)
        if not name or not (value if has_value else middle):
            raise ValueError(f"{option}: found '{text}', expected {expected}")
        found[name] = value
    return found


def add_list(parser: Arguments, flag: str, metavar: str, text: str, **how: Any) -> None:
    """Adds an option that may be given several times; `text` is its help."""
    parser.add_argument(flag, action="append", default=[], metavar=metavar, help=text, **how)


def add_flag(parser: Arguments, flag: str, text: str, **how: Any) -> None:
    """Adds an option without a value; `text` is its help."""
    parser.add_argument(flag, action="store_true", help=text, **how)


def add_value(parser: Arguments, flag: str, metavar: str, text: str, **how: Any) -> None:
    """Adds an option with a value, a text unless `how` has a type; `text` is its help."""
    parser.add_argument(flag, metavar=metavar, help=text, **how)


def add_loading(parser: argparse.ArgumentParser) -> None:
    add_list(parser, "--roots", "FOLDER", "a further folder that the world may read")
    add_list(parser, "--resources", "PREFIX=FOLDER", "a folder that replaces a prefix of URLs")
    add_flag(parser, "--strict", "a warning is an error")


def add_settings(parser: argparse.ArgumentParser) -> None:
    """Adds the options of commands that make an environment."""
    add_list(
        parser,
        "--set",
        "KEY=VALUE",
        "a keyword of the environment, as of gymnasium.make: time_limit=30, reward.collision=-20 (repeatable)",
        dest="settings",
    )
    add_loading(parser)


def settings(arguments: argparse.Namespace) -> dict[str, Any]:
    """Returns the keywords of an environment that were given by options."""
    given = {name: value for name, value in loading(arguments).items() if value}
    if "roots" in given:  # absolute, since a model keeps them for other working folders
        given["roots"] = [os.path.abspath(folder) for folder in given["roots"]]
    return {**settings_of(arguments.settings), **given}


def add_listening(parser: argparse.ArgumentParser) -> None:
    """Adds the options of commands that serve a view."""
    parser.add_argument(
        "--host", default="127.0.0.1", help="address of the view (default 127.0.0.1: this machine only)"
    )
    add_port(parser, "--port")
    add_doors(parser)


def add_doors(parser: argparse.ArgumentParser) -> None:
    """Adds the options that control the access to a view."""
    add_flag(parser, "--no-token", "every page may control, also without the token of the printed URL")
    text = "a further name under which browsers reach the view, of a proxy or a forwarded port"
    add_list(parser, "--allow-host", "NAME[:PORT]", text)


def doors(arguments: argparse.Namespace) -> dict[str, Any]:
    """Returns the keywords of a view that the options name."""
    return {"token": not arguments.no_token, "allow_hosts": arguments.allow_host}


def add_world(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("world", metavar="WORLD", help="a world file")


def add_worlds(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("worlds", metavar="WORLD", nargs="+", help="world files")


def add_output(parser: argparse.ArgumentParser, metavar: str, text: str, *, required: bool = True) -> None:
    parser.add_argument("-o", "--output", required=required, metavar=metavar, help=text)


def add_record(parser: argparse.ArgumentParser, text: str) -> None:
    add_value(parser, "--record", "FILE.mcap", text)


def add_seed(parser: argparse.ArgumentParser, what: str, default: int = 0, more: str = "") -> None:
    """Adds a seed; `what` is its help."""
    parser.add_argument("--seed", type=int, default=default, help=f"{what} (default {default}){more}")


def add_policy(parser: argparse.ArgumentParser) -> None:
    add_value(parser, "--policy", "P", _POLICY, default="random")


def add_duration(parser: argparse.ArgumentParser, text: str, *flags: str, **how: Any) -> None:
    """Adds the duration of a run, s."""
    parser.add_argument(*flags, "--duration", type=float, help=text, **how)


def add_speed(parser: argparse.ArgumentParser) -> None:
    add_value(parser, "--speed", "FACTOR", "2: twice as fast (default 1)", default=1.0, type=float)


def add_port(parser: argparse.ArgumentParser, flag: str, **how: Any) -> None:
    parser.add_argument(
        flag, type=int, default=8080, help="port of the view; 0 takes a free one (default 8080)", **how
    )


def add_episodes(
    parser: argparse.ArgumentParser, default: int | None = None, *, optional: bool = False
) -> None:
    """Adds the number of episodes, which is required if there is no default, unless it is optional."""
    note = "" if default is None else f" (default {default})"
    parser.add_argument(
        "--episodes",
        type=int,
        default=default,
        required=default is None and not optional,
        metavar="N",
        help=f"number of episodes{note}",
    )


def add_env(parser: argparse.ArgumentParser, seed: int = 0, *, optional: bool = False) -> None:
    """Adds an environment and its policy. If it is optional, an empty text stands for no environment."""
    how: dict[str, Any] = {"nargs": "?", "default": ""} if optional else {}
    parser.add_argument("env_id", metavar="ENV_ID", help="an id or an environment file", **how)
    add_policy(parser)
    add_seed(parser, "seed of the first episode", seed, "; each further one has one more")
    add_settings(parser)


def add_hub(parser: argparse.ArgumentParser) -> None:
    add_value(parser, "--host", "ADDRESS", "address of the hub (default 127.0.0.1)", default="127.0.0.1")
    parser.add_argument(
        "-p",
        "--port",
        type=int,
        default=_HUB_PORT,
        metavar="PORT",
        help=f"port of the hub (default {_HUB_PORT})",
    )


def add_subcommands(
    parser: argparse.ArgumentParser, of_hub: Mapping[str, tuple[str, Callable[..., Any]]]
) -> dict[str, argparse.ArgumentParser]:
    """Adds subcommands that use a hub, each with its help and its function."""
    commands = parser.add_subparsers(dest="subcommand", required=True, metavar="|".join(of_hub))
    made = {}
    for name, (text, run) in of_hub.items():
        made[name] = commands.add_parser(name, help=text, description=text[0].upper() + text[1:])
        add_hub(made[name])
        made[name].set_defaults(run=run)
    return made


def add_running(parser: argparse.ArgumentParser) -> None:
    """Adds the options of commands that simulate a world in real time."""
    add_world(parser)
    add_value(
        parser,
        "--realtime-factor",
        "F",
        "simulated seconds for each second of wall time (default 1)",
        default=1.0,
        dest="factor",
        type=float,
    )
    add_duration(parser, "simulated time (default: no end)", metavar="SECONDS")
    add_seed(parser, "seed of the noise")
    add_port(parser, "--view-port", metavar="PORT")
    add_doors(parser)
    add_loading(parser)
