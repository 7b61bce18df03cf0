"""The commands of `mvsim-gym` to look, drive, record and measure."""

from __future__ import annotations

import argparse
import importlib.util
import sys
from typing import Any

from mvsim_gym.tools.cli_comms import add_topics, topics_wanted
from mvsim_gym.tools.cli_loading import (
    add_listening,
    add_loading,
    add_running,
    add_settings,
    doors,
    loading,
    settings,
)
from mvsim_gym.tools.terminal import control

Commands = Any  # argparse's type for them has no public name


def add_workbench(commands: Commands) -> None:
    """Adds them to the command line."""
    _add_launch(commands)
    _add_view(commands)
    _add_film(commands)
    _add_evaluate(commands)
    _add_collect(commands)
    _add_play(commands)
    _add_repair(commands)
    _add_plot(commands)
    _add_tune(commands)


_POLICY_HELP = (
    "who drives: 'random', a model of Stable-Baselines3 (MODEL.zip), or FILE.py[:NAME] with a function policies(env)"
    " as examples/baselines.py has it (default random)"
)


def _add_env(parser: argparse.ArgumentParser, seed: int = 0) -> None:
    parser.add_argument("env", metavar="ENV_ID", help="an id or an environment file")
    parser.add_argument("--policy", default="random", metavar="P", help=_POLICY_HELP)
    parser.add_argument(
        "--seed", type=int, default=seed, help=f"of the first episode (default {seed}), then one more each"
    )
    add_settings(parser)


def _add_film(commands: Commands) -> None:
    parser = commands.add_parser("film", help="film episodes of an environment, MP4 or GIF")
    _add_env(parser)
    parser.add_argument("-o", "--output", required=True, metavar="FILM", help="file.mp4 or file.gif")
    parser.add_argument("--episodes", type=int, default=1, metavar="N", help="how many (default 1)")
    parser.add_argument(
        "--speed", type=float, default=1.0, metavar="FACTOR", help="2: twice as fast (default 1)"
    )
    parser.add_argument(
        "--camera", choices=("follow", "above", "behind"), help="default follow, of several agents above"
    )
    parser.add_argument("--width", type=int, default=640, metavar="PIXELS", help="default 640")
    parser.add_argument("--height", type=int, default=640, metavar="PIXELS", help="default 640")
    parser.set_defaults(run=_film)


def _film(arguments: argparse.Namespace) -> None:
    from mvsim_gym.tools.film import film

    options = {
        name: getattr(arguments, name) for name in ("episodes", "seed", "speed", "camera", "width", "height")
    }
    for line in film(
        arguments.env, arguments.policy, arguments.output, **options, settings=settings(arguments)
    ):
        print(line, flush=True)


def _add_evaluate(commands: Commands) -> None:
    parser = commands.add_parser(
        "evaluate",
        help="run episodes and say how they ended",
        description="Runs episodes of an environment and prints the rates of success and of each way to fail, the mean"
        " time of successes (s) and the mean return.",
    )
    _add_env(parser, seed=1_000_000)
    parser.add_argument("--episodes", type=int, default=100, metavar="N", help="how many (default 100)")
    parser.add_argument(
        "--record", metavar="FILE.mcap", help="record all episodes, which run one after another then"
    )
    parser.set_defaults(run=_evaluate)


def _evaluate(arguments: argparse.Namespace) -> None:
    from mvsim_gym.tools.evaluate import evaluate

    options = {name: getattr(arguments, name) for name in ("episodes", "seed", "record")}
    for line in evaluate(arguments.env, arguments.policy, **options, settings=settings(arguments)):
        print(line)


def _add_collect(commands: Commands) -> None:
    parser = commands.add_parser(
        "collect",
        help="write episodes as a Minari data set",
        description="Runs episodes and writes them below DIR in Minari's format. MINARI_DATASETS_PATH=DIR lets Minari"
        " find them: minari.load_dataset(NAME).",
    )
    _add_env(parser)
    parser.add_argument("-o", "--output", required=True, metavar="DIR", help="folder of data sets")
    parser.add_argument("--episodes", type=int, required=True, metavar="N", help="how many")
    parser.add_argument(
        "--name", metavar="NAME", help="the data set's id (default mvsim/ENVIRONMENT/POLICY-v0)"
    )
    parser.add_argument(
        "--flatten",
        action="store_true",
        help="observations as one vector, as of flatten=True (default: as the environment has them)",
    )
    parser.set_defaults(run=_collect)


def _collect(arguments: argparse.Namespace) -> None:
    from mvsim_gym.tools.collect import collect

    def told(done: int) -> None:
        if sys.stderr.isatty():
            control(sys.stderr, "\r")
            print(f"{done} of {arguments.episodes} episodes", end="", file=sys.stderr, flush=True)

    dataset = collect(
        arguments.env,
        arguments.policy,
        arguments.output,
        episodes=arguments.episodes,
        seed=arguments.seed,
        name=arguments.name,
        flatten=arguments.flatten,
        told=told,
        settings=settings(arguments),
    )
    if sys.stderr.isatty():
        print(file=sys.stderr)
    print(f"{dataset.spec.dataset_id}: {dataset.total_episodes} episodes, {dataset.total_steps} steps")
    print(f"Minari finds it with MINARI_DATASETS_PATH={arguments.output}")


def _add_play(commands: Commands) -> None:
    parser = commands.add_parser(
        "play",
        help="show a recording in a browser",
        description="Shows FILE.mcap, which --record or World.record wrote, in a browser, with a slider for its time;"
        " also one whose process was killed. Needs the extras 'view' and 'record'. Ctrl-C ends it.",
    )
    parser.add_argument("recording", metavar="FILE.mcap", help="the recording")
    parser.add_argument("--world", metavar="WORLD", help="the world file (default: the one that it names)")
    parser.add_argument(
        "--speed", type=float, default=1.0, metavar="FACTOR", help="2: twice as fast (default 1)"
    )
    add_listening(parser)
    add_loading(parser)
    parser.set_defaults(run=_play)


def _play(arguments: argparse.Namespace) -> None:
    from mvsim_gym.tools.play import play

    play(
        arguments.recording,
        world=arguments.world,
        speed=arguments.speed,
        host=arguments.host,
        port=arguments.port,
        doors=doors(arguments),
        **loading(arguments),
    )


def _add_repair(commands: Commands) -> None:
    parser = commands.add_parser(
        "repair",
        help="finish a recording whose process was killed",
        description="Makes a finished MCAP file of one whose process was killed, with all messages up to its first"
        " damage. A finished one is left as it is.",
    )
    parser.add_argument("recording", metavar="FILE.mcap", help="the file, replaced unless -o says otherwise")
    parser.add_argument("-o", "--output", metavar="OUT.mcap", help="file for the result")
    parser.set_defaults(run=_repair)


def _repair(arguments: argparse.Namespace) -> None:
    from mvsim_gym.recording.repair import repair

    found = repair(arguments.recording, arguments.output)
    state = "was finished" if found.finished else "repaired"
    print(f"{state}: {found.messages} messages over {found.seconds:.2f} s")


def _add_plot(commands: Commands) -> None:
    parser = commands.add_parser(
        "plot",
        help="draw logs: trajectory, speeds, wheel forces, scans",
        description="Draws each LOG as a PNG file of its name: an MCAP recording, a CSV file of a world's log_dir (pose"
        " or wheel), or the output of mvsim-gym replay.",
    )
    parser.add_argument("logs", metavar="LOG", nargs="+", help="file.mcap or file.csv")
    parser.add_argument(
        "-o", "--output", metavar="DIR", help="folder for the pictures (default: beside each log)"
    )
    parser.set_defaults(run=_plot)


def _plot(arguments: argparse.Namespace) -> None:
    from mvsim_gym.tools.plot import plot

    for log in arguments.logs:
        print(plot(log, arguments.output), flush=True)


def _add_launch(commands: Commands) -> None:
    parser = commands.add_parser(
        "launch",
        help="simulate a world in real time, seen in a browser and driven by keys",
        description="Simulates WORLD in real time and shows it in a browser. There and in a terminal keys drive:"
        " 1-9 choose a vehicle in the order of names, w and s its speed, a and d its turning, the space bar stops; l"
        " switches its CSV files, c and n begin new ones; ESC in the terminal and Ctrl-C end.",
    )
    add_running(parser)
    parser.add_argument(
        "--headless", action="store_true", help="no view, no keys, no status line: for scripts"
    )
    parser.add_argument(
        "--outputs", metavar="DIR", help="folder for CSV files and ground truth (default: none)"
    )
    parser.add_argument("--record", metavar="FILE.mcap", help="record it; below --outputs if that is given")
    parser.add_argument(
        "--joystick",
        action="store_true",
        help="the first gamepad drives the chosen vehicle (extra 'joystick')",
    )
    add_topics(parser)
    parser.set_defaults(run=_launch)


def _launch(arguments: argparse.Namespace) -> None:
    from mvsim_gym.tools.launch import launch

    in_terminal = not arguments.headless and sys.stdin.isatty() and sys.stderr.isatty()
    view = None if arguments.headless else (arguments.host, arguments.view_port)
    if view is not None and importlib.util.find_spec("viser") is None:
        print("no view: pip install 'mvsim_gym[view]'", file=sys.stderr)
        view = None
    launch(
        arguments.world,
        factor=arguments.realtime_factor,
        duration=arguments.duration,
        outputs=arguments.outputs,
        record=arguments.record,
        joystick=arguments.joystick,
        keys=sys.stdin if in_terminal else None,
        hub=None if arguments.no_hub else (arguments.host, arguments.port),
        topics=topics_wanted(arguments),
        view=view,
        doors=doors(arguments),
        seed=arguments.seed,
        **loading(arguments),
    )


def _add_view(commands: Commands) -> None:
    parser = commands.add_parser(
        "view",
        help="show a world or an environment in a browser",
        description="Shows WORLD, driven by keys of the browser, or an environment, driven by a policy, in real time."
        " Needs the extra 'view'. Ctrl-C ends it.",
    )
    parser.add_argument("target", metavar="WORLD|ENV_ID", help="a world file, or an environment's id or file")
    parser.add_argument(
        "--num-envs",
        type=int,
        metavar="N",
        help="how many; of several agents in a world, how many agents (default one world)",
    )
    parser.add_argument("--policy", default="random", metavar="P", help=_POLICY_HELP)
    parser.add_argument("--seed", type=int, default=0, help="of the first env, or of noise (default 0)")
    parser.add_argument("--record", metavar="FILE.mcap", help="record it; of environments the first world")
    add_listening(parser)
    add_settings(parser)
    parser.set_defaults(run=_view)


def _view(arguments: argparse.Namespace) -> None:
    from mvsim_gym.tools.view import is_world, view_envs

    if is_world(arguments.target):
        if arguments.settings:
            raise ValueError("--set: found a world, expected an environment, whose keywords it sets")
        from mvsim_gym.tools.launch import launch

        view = (arguments.host, arguments.port)
        launch(
            arguments.target,
            view=view,
            doors=doors(arguments),
            record=arguments.record,
            seed=arguments.seed,
            **loading(arguments),
        )
    else:
        options = {name: getattr(arguments, name) for name in ("num_envs", "seed", "record", "host", "port")}
        doorway = doors(arguments)
        view_envs(arguments.target, arguments.policy, **options, doors=doorway, settings=settings(arguments))


def _add_tune(commands: Commands) -> None:
    parser = commands.add_parser(
        "tune",
        help="find gains for the speed PID of a vehicle class",
        description="Drives CLASS of FILE in an empty world, once with a constant torque and once with the gains found,"
        " and reports. Nothing is written.",
    )
    parser.add_argument("file", metavar="FILE", help="the file with the class, e.g. my.vehicle.xml")
    parser.add_argument("class_name", metavar="CLASS", help="name of its <vehicle:class>")
    parser.add_argument(
        "-t",
        "--torque",
        type=float,
        default=0.0,
        metavar="NM",
        help="of the test (default: half of the grip)",
    )
    parser.add_argument(
        "-d", "--duration", type=float, default=5.0, metavar="S", help="of the test (default 5)"
    )
    parser.add_argument("-s", "--sim-step", type=float, default=0.001, metavar="S", help="default 0.001")
    parser.add_argument(
        "-a",
        "--aggressiveness",
        type=float,
        default=0.25,
        metavar="A",
        help="smaller is faster (default 0.25)",
    )
    parser.add_argument(
        "--speed",
        type=float,
        nargs="+",
        default=[],
        metavar="V",
        help="m/s that the robot is to go at, one or several (default 1, or 0.8 of its top speed where that is less)",
    )
    add_loading(parser)
    parser.set_defaults(run=_tune)


def _tune(arguments: argparse.Namespace) -> None:
    from mvsim_gym.tools.tune import tune

    report = tune(
        arguments.file,
        arguments.class_name,
        torque=arguments.torque,
        duration=arguments.duration,
        step=arguments.sim_step,
        aggressiveness=arguments.aggressiveness,
        speeds=arguments.speed,
        **loading(arguments),
    )
    for line in report:
        print(line, flush=True)
