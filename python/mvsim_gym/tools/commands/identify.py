"""`mvsim-gym identify`: fits a vehicle file to logs of the real robot."""

from __future__ import annotations

import argparse
import os
from typing import Any

from mvsim_gym.tools.commands.compare import add_robot, opened, read
from mvsim_gym.tools.options import add_flag, add_list, add_output, add_value, pairs

HELP = "fit a robot to logs of the real one"
DESCRIPTION = (
    "Fits parameters of the robot of ROBOT to each LOG. Prints how well they are known, and the errors of the"
    " robot before and after, on stretches that the fit has not used. Writes OUT (-o), and beside it"
    " NAME.randomize.xml with ranges from the intervals, unless the robot is worse there. Needs the extra 'identify'."
)


def add(parser: argparse.ArgumentParser) -> None:
    add_robot(parser)
    add_output(parser, "OUT", "the fitted vehicle file", required=False)
    add_value(
        parser,
        "--fit",
        "NAME,...",
        "parameters, e.g. track,mu,delay (default: those of the usual ones that the robot has)",
    )
    add_list(parser, "--fix", "NAME=VALUE", "a parameter with a known value, which is not fitted")
    add_list(parser, "--held-out", "LOG", "a log that is only used for validation", dest="held_out_logs")
    add_value(parser, "--starts", "N", "points of the global search (64)", default=64, type=int)
    add_value(parser, "--vehicle", "NAME", "name of the vehicle in the <randomize> block", default="robot")
    add_flag(parser, "--list", "list the parameters that the robot has, and end")
    add_flag(parser, "--force", "overwrite an existing file")


def run(
    logs: list[str],
    columns: list[str],
    topics: list[str],
    window: float,
    plots: str | None,
    output: str | None,
    fit: str | None,
    fix: list[str],
    held_out_logs: list[str],
    starts: int,
    vehicle: str,
    list: bool,
    force: bool,
    **options: Any,
) -> int:
    """Fits the robot, prints a report, and writes the files."""
    from mvsim_gym.identify import PARAMETERS, fitted_text, identify, randomize_block

    fixed = {}
    for name, text in pairs("--fix", fix, "NAME=VALUE").items():
        try:
            fixed[name] = float(text)
        except ValueError:
            raise ValueError(f"--fix {name}: found '{text}', expected a number") from None
    with opened(**options) as robot:
        if list:
            for name in robot.known():
                row = PARAMETERS[name]
                print(f"{name:16} {robot.nominal(row):<10.5g} {row.unit:12} {row.meaning}")
            return 0
        names = [text.strip() for text in fit.split(",")] if fit else None
        beside = f"{output.removesuffix('.vehicle.xml')}.randomize.xml" if output else ""
        for path in (output, beside):
            if path and os.path.lexists(path) and not force:
                raise FileExistsError(f"{path} is there already, expected a new name or --force")
        found = identify(
            robot,
            read(logs, columns, topics),
            names,
            held_out_logs=read(held_out_logs, columns, topics, may_lack=True),
            fixed=fixed,
            window=window,
            starts=starts,
        )
        print("\n".join(found.report()))
        if plots is not None:
            from mvsim_gym.identify.plots import draw

            print("\n".join(f"written: {path}" for path in draw(found.problem, fixed, found.values, plots)))
        if output is None:
            return 0
        if not found.after.errors:
            print(
                "nothing written: no stretch is left for validation, expected a longer log, a shorter --window or a"
                " log for --held-out"
            )
            return 1
        if not found.is_better:
            print(
                "nothing written: on the validation stretches the fitted robot is no better than the one of the file"
            )
            return 1
        intervals = {name: (item.value, item.low, item.high) for name, item in found.fitted.items()}
        comment = [f"Fitted by mvsim-gym identify to {', '.join(os.path.basename(log) for log in logs)}."]
        comment += [item.line(0) for item in found.fitted.values()]
        comment.append(
            "wheel_radius, track and delay stand in the <randomize> block: controllers keep nominal sizes."
        )
        with open(output, "w", encoding="utf-8") as stream:
            stream.write(fitted_text(robot, found.values, comment))
        with open(beside, "w", encoding="utf-8") as stream:
            stream.write(randomize_block(robot, intervals, vehicle))
        print(f"written: {output}\nwritten: {beside}")
        return 0
