"""Writes the measured figures of results/latest.json between the markers of README.md and docs/performance.md.

The README has five rows that compare simulators, and the first of them in its introduction; the page on performance has
all others, among them the comparison with sixteen robots a world. `--check` writes nothing and fails where a page does
not show what the results say.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
BEGIN, END = "<!-- speed: begin -->", "<!-- speed: end -->"
HEADLINE = re.compile(r"(<!-- headline -->).*?(<!-- end -->)")

# name of the row -> how the README's table calls it
COMPARED = {
    "task_a": "**mvsim_gym**",
    "peer_navground": "navground",
    "peer_mujoco": "MuJoCo",
    "peer_irsim_x": "irsim-x, its batch mode in C++",
    "peer_irsim": "ir-sim, 20 boxes",
    "peer_pybullet": "PyBullet",
}
# the same for sixteen robots a world, on the page on performance
COMPARED_16 = {
    "agents_16": "**mvsim_gym**",
    "agents_16_navground": "navground",
    "agents_16_jaxnav": "JaxMARL's JaxNav",
    "agents_16_camar": "CAMAR, without a lidar",
    "agents_16_irsim": "ir-sim, 20 boxes",
    "agents_16_vmas": "VMAS",
}
# pictures of one camera among the same boxes: the row's name without the peer's -> what is drawn
PICTURES = {
    "depth64": "Depth of 64 x 64",
    "rgbd64": "Depth and colours of 64 x 64",
    "rgb320": "Colours of 320 x 240",
}
_OURS = {"boxes100": "**mvsim_gym**", "flat": "**mvsim_gym**, a level camera"}
_RENDERERS = {"peer_mujoco": "MuJoCo's renderer", "peer_pybullet": "PyBullet's TinyRenderer"}
_FRAMES = "{:,.0f} frames/s"
# what the page on performance shows: name of the row -> its text and form, by chapter
OTHERS = {
    "Variants of task A": {
        "task_a_subproc": ("through Stable-Baselines3's `SubprocVecEnv`, 2 workers", "{:,.0f} env steps/s"),
        "task_a1": ("with one substep of 10 ms instead of ten", "{:,.0f} env steps/s"),
        "task_a_contact": (
            "with robots that lean on walls: Box2D solves contacts all the time",
            "{:,.0f} env steps/s",
        ),
        "task_a_threads_2_over_1": ("two threads over one", "x {:.2f}"),
        "scale_flatness": ("the slowest over the fastest of 8 to 4,096 envs", "x {:.2f}"),
        "peer_irsim_grid": ("in ir-sim on its grid map", "{:,.0f} env steps/s"),
    },
    "Physics alone, one thread, steps of 10 ms": {
        "physics_only": ("one robot with PID wheel speeds", "{:,.0f} steps/s"),
        "steps_terrain_ackermann_drivetrain_ellipse": (
            "a car with a drivetrain and ellipse tires on an elevation map",
            "{:,.0f} steps/s",
        ),
        "robots100": ("a world of 100 robots", "{:,.0f} steps/s"),
        "robots100_lidar": ("the same, each with 36 rays that see the others", "{:,.0f} steps/s"),
        "wall_contact": ("one robot that leans on a wall", "{:,.0f} steps/s"),
        "block_contact": ("one robot that leans on a heavy block", "{:,.0f} steps/s"),
    },
    "Lidar, one core": {
        "scan_ns_per_ray": ("a ray in a map of 800 x 800 cells", "{:.0f} ns"),
        "scan_growth": ("a map of 4,000 x 4,000 cells over one of 400 x 400, time", "x {:.2f}"),
        "noise_ns_per_ray": ("noise of a ray's range and angle", "{:.0f} ns"),
    },
    "Learning": {
        "navarena_seconds_to_95": ("PPO on NavArena: training until 95 % success", "{:.0f} s"),
        "navarena_success": ("PPO on NavArena: success at the end of a default run", "{:.1%}"),
        "sb3_over_learner": ("PPO on NavArena over PPO with envs that cost nothing, time", "x {:.2f}"),
    },
    "Cameras among 100 boxes, a frame each env step; 64 envs, 2 threads": {
        "depth64_flat": ("level, drawn from the plane: depth of 64 x 64", _FRAMES),
        "rgbd64_flat": ("level: depth and colours of 64 x 64", _FRAMES),
        "rgbd64_flat_shadow": ("level: the same with shadows", _FRAMES),
        "depth64_boxes100": ("leaning, drawn by rays: depth of 64 x 64", _FRAMES),
        "rgbd64_boxes100": ("leaning: depth and colours of 64 x 64", _FRAMES),
        "rgbd64_shadow": ("leaning: the same with shadows", _FRAMES),
        "rgb320_boxes100": ("leaning: colours of 320 x 240", _FRAMES),
        "rgb320_shadow": ("leaning: the same with shadows", _FRAMES),
        "depth64_flat_egl": ("OpenGL in software, level: depth of 64 x 64", _FRAMES),
        "rgbd64_flat_egl": ("OpenGL in software, level: depth and colours of 64 x 64", _FRAMES),
        "depth64_boxes100_egl": ("OpenGL in software, leaning: depth of 64 x 64", _FRAMES),
        "rgbd64_boxes100_egl": ("OpenGL in software, leaning: depth and colours of 64 x 64", _FRAMES),
        "rgbd64_shadow_egl": ("OpenGL in software, leaning: the same with shadows", _FRAMES),
        "rgb320_boxes100_egl": ("OpenGL in software, leaning: colours of 320 x 240", _FRAMES),
    },
    "3D lidars among 100 boxes": {
        "vlp16_flat": ("a level VLP-16, 16 x 1,808, 64 envs, 2 threads", "{:,.0f} scans/s"),
        "vlp16_scans": ("a leaning one, by rays", "{:,.0f} scans/s"),
        "vlp16_noise": ("a leaning one with noise", "{:,.0f} scans/s"),
        "jackals6_flat": (
            "6 Jackals in one world, each with a level Helios-31 at 10 Hz and noise, one thread",
            "{:,.0f} x real time",
        ),
        "jackals6_lidar3d": ("the same with leaning ones, by rays", "{:,.0f} x real time"),
    },
    "Cost of calls, without the work of the envs": {
        "py_step_us": ("Python in a step of 64 envs, copies of the observations included", "{:.1f} us"),
        "env_step_us": ("Python in a step of one env", "{:.1f} us"),
        "handover_us": ("hand-over of 64 envs to two threads, while another thread is busy", "{:.1f} us"),
        "view_cost": ("slowdown of 64 envs of NavArena by a page that shows them", "{:.1f} %"),
        "view_processor": ("processor time of that view in a second", "{:.0f} ms"),
    },
    "NavArena, one env": {
        "make_ms": ("`gym.make`", "{:.0f} ms"),
        "reset_us": ("unseeded `reset`", "{:.0f} us"),
        "snapshot_us": ("`Env.snapshot`", "{:.1f} us"),
        "restore_us": ("`Env.restore`", "{:.1f} us"),
        "deepcopy_env_us": ("`copy.deepcopy`", "{:.0f} us"),
    },
    "Loading worlds, from files that were read before": {
        "load_map_4000": ("a map of 4,000 x 4,000 cells", "{:,.0f} ms"),
        "load_map_4000_mb": ("memory that it keeps", "{:,.0f} MB"),
        "load_blocks_50000": ("50,000 static blocks", "{:,.0f} ms"),
    },
    "A robot: observe, infer, command, on one core": {
        "deploy_us_nav": ("NavArena, two layers of 64", "{:,.0f} us"),
        "deploy_us_nav_p99": ("its slowest of 100", "{:,.0f} us"),
        "deploy_us_depth": ("DepthNavigation, three convolutions", "{:,.0f} us"),
        "deploy_us_depth_p99": ("its slowest of 100", "{:,.0f} us"),
        "deploy_jitter_us": ("jitter of `loop` at 25 Hz, its largest of 100 periods", "{:,.0f} us"),
        "deploy_import_ms": ("import of `Pipeline` and `load_policy`, beyond numpy", "{:.0f} ms"),
    },
    "Other": {
        "import_ms": ("`import mvsim_gym`, beyond numpy and gymnasium", "{:.0f} ms"),
        "bytes_per_env": ("memory of one more env of task A", "{:,.0f} bytes"),
        "bytes_touched_per_step": (
            "loaded into the first-level cache by an env step of task A, simulated",
            "{:,.0f} bytes",
        ),
        "bytes_from_memory_per_step": (
            "of these, from beyond a second-level cache of 1 MiB",
            "{:,.0f} bytes",
        ),
    },
}


def _steps(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.0f}"


def _measured(results: dict[str, Any], names: Iterable[str]) -> str:
    """Names the machine, and the first and last day on which a row of these names was measured."""
    days = sorted({row["date"][:10] for row in results["rows"] if row["name"] in names})
    when = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
    return f"Measured on {results['machine']}, {results['cores']} cores, {when}; medians."


def _rows(results: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {row["name"]: row for row in results["rows"]}


def _environments(rows: dict[str, Any]) -> list[str]:
    """A table of the rows that every registered environment has, the fastest first."""
    task_a = rows["beside_envs"]["value"]
    columns = {
        "substep_{}": "substep (ns)",
        "reset_{}": "reset (us)",
        "reset_{}_p99": "slowest of 100",
        "reset_{}_warm": "repeated",
    }
    lines = [
        f"| environment | steps/s | over task A | {' | '.join(columns.values())} |",
        f"|---|---:|---:|{'---:|' * len(columns)}",
    ]
    measured = [
        (row["value"], name)
        for name, row in rows.items()
        if name.startswith("env_") and name != "env_step_us"
    ]
    for value, row_name in sorted(measured, reverse=True):
        name = row_name.removeprefix("env_")
        cells = [rows.get(form.format(name)) for form in columns]
        # parts that are measured alone can take longer than the whole: then their difference says nothing
        texts = [f"{row['value']:,.0f}" if row and row["value"] > 0 else "" for row in cells]
        lines.append(f"| {name} | {value:,.0f} | {value / task_a:.2f} | {' | '.join(texts)} |")
    return lines


def _compared(rows: dict[str, Any], labels: dict[str, str], unit: str) -> list[str]:
    """A table of simulators, with what each leaves out."""
    lines = [f"| simulator | {unit} | leaves out |", "|---|---:|---|"]
    for name, label in labels.items():
        if name in rows:
            config = rows[name]["config"]
            package = f" ({config['package'].split()[-1]})" if "package" in config else ""
            lines.append(
                f"| {label}{package} | {_steps(rows[name]['value'])} | {config.get('leaves_out', 'nothing')} |"
            )
    return lines


def comparison(results: dict[str, Any]) -> str:
    """Returns the table of the README."""
    rows = _rows(results)
    lines = [
        f"{_measured(results, COMPARED)} Task A: one robot, 10 substeps of 10 ms, a scan of 360 rays, random twists,",
        "20 x 20 m with 200 walls; 64 envs, or the number that is fastest for the peer, on two cores. The rows are from"
        " one run, but that of irsim-x is from a later one.",
        "Each simulator does as much of task A as it can.",
        "",
        *_compared(rows, COMPARED, "env steps/s"),
        "",
        "In task A the robot wanders about its start and touches no wall. Robots that press against walls all the time"
        " are the other",
        "end of the scale: "
        + (f"{_steps(rows['task_a_contact']['value'])} env steps/s." if "task_a_contact" in rows else ""),
    ]
    return "\n".join(lines).rstrip()


def others(results: dict[str, Any]) -> str:
    """Returns the table of docs/performance.md."""
    rows = _rows(results)
    lines = [f"{_measured(results, rows)} Task A is that of the [README](../README.md#speed)."]
    for chapter, texts in OTHERS.items():
        if not any(name in rows for name in texts):
            continue
        lines += ["", f"| {chapter} | |", "|---|---:|"]
        lines += [
            f"| {text} | {form.format(rows[name]['value'])} |"
            for name, (text, form) in texts.items()
            if name in rows
        ]
    if "beside_envs" in rows:
        lines += [
            "",
            "The environments, 64 envs, 2 threads, random actions. Task A, measured before each of them, made"
            f" {_steps(rows['beside_envs']['value'])} env",
            "steps/s. Steps are agent steps in MultiNav and RaceDuel. A substep is one that touches nothing, less its"
            " controllers and tires.",
            "Resets are the mean and the slowest of 100 of the first 1,000 of a process, and the median when they are"
            " repeated.",
            "",
            *_environments(rows),
        ]
    if "agents_16" in rows:
        lines += [
            "",
            "Sixteen robots in each world of task A, which see each other, each 360 rays: 8 worlds, or the number that"
            " is fastest for the peer, on two cores.",
            "",
            *_compared(rows, COMPARED_16, "agent steps/s"),
        ]
    for drawn, title in PICTURES.items():
        labels = {f"{drawn}_{end}": label for end, label in _OURS.items()}
        labels |= {f"{peer}_{drawn}": label for peer, label in _RENDERERS.items()}
        if any(name in rows for name in labels if name.startswith("peer")):
            lines += ["", f"{title} among the same 100 boxes on two cores, without shadows:", ""]
            lines += _compared(rows, labels, "frames/s")
    scale = {
        row["config"]["num_envs"]: row["value"] for name, row in rows.items() if name.startswith("scale_n_")
    }
    if 64 in scale:
        lines += [
            "",
            "Task A against the number of envs, as a share of the env steps/s with 64 (measured in turns, in a run of",
            "its own): "
            + ", ".join(f"{n}: {value / scale[64]:.2f}" for n, value in sorted(scale.items()))
            + ".",
        ]
    return "\n".join(lines)


PAGES: dict[Path, Callable[[dict[str, Any]], str]] = {
    HERE.parent / "README.md": comparison,
    HERE.parent / "docs" / "performance.md": others,
}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--check", action="store_true", help="write nothing; fail where a page is not current"
    )
    args = parser.parse_args()
    results = json.loads((HERE / "results" / "latest.json").read_text())
    stale = 0
    for page, text_of in PAGES.items():
        text = page.read_text()
        if BEGIN not in text or END not in text:
            print(f"{page.name} lacks the markers {BEGIN} and {END}", file=sys.stderr)
            return 1
        head, rest = text.split(BEGIN, 1)
        current = f"{head}{BEGIN}\n{text_of(results)}\n{END}{rest.split(END, 1)[1]}"
        current = HEADLINE.sub(rf"\g<1>{_steps(_rows(results)['task_a']['value'])}\2", current)
        if args.check and current != text:
            print(f"{page.name} is not current: python benchmarks/table.py", file=sys.stderr)
            stale = 1
        elif not args.check:
            page.write_text(current)
    return stale


if __name__ == "__main__":
    sys.exit(main())
