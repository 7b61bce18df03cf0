"""Writes the speed table into README.md, between its two markers, from results/latest.json."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
README = HERE.parent / "README.md"
BEGIN, END = "<!-- speed: begin -->", "<!-- speed: end -->"

# name of the row -> how the table calls it
OURS = {
    "task_a": "**mvsim_gym**, vector env, 2 threads",
    "task_a_subproc": "mvsim_gym, Stable-Baselines3 `SubprocVecEnv`, 2 workers",
}
PEERS = {
    "peer_mujoco": "MuJoCo",
    "peer_navground": "navground",
    "peer_irsim": "ir-sim, 20 boxes",
    "peer_irsim_grid": "ir-sim, grid map",
    "peer_pybullet": "PyBullet",
}
OTHERS = {
    "task_a_contact": ("task A with robots that lean on walls instead (see below)", "{:,.0f} env steps/s"),
    "task_a1": ("task A with one substep of 10 ms", "{:,.0f} env steps/s"),
    "physics_only": ("physics of one robot, no sensor, one thread, 10 ms steps", "{:,.0f} steps/s"),
    "robots100": ("physics of 100 robots in one world, one thread, 10 ms steps", "{:,.0f} steps/s"),
    "task_a_threads_2_over_1": ("what a second thread brings in task A", "x {:.2f}"),
    "scale_flatness": ("the slowest over the fastest of 8 to 4,096 envs (see below)", "x {:.2f}"),
    "scan_ns_per_ray": ("exact lidar, one core", "{:.0f} ns a ray"),
    "scan_growth": ("the same in 100 times the area", "x {:.2f}"),
    "noise_ns_per_ray": ("noise of its range and angle", "{:.0f} ns a ray"),
    "sb3_over_learner": ("PPO of Stable-Baselines3 on NavArena over PPO alone, time", "x {:.2f}"),
    "py_step_us": ("what Python adds to a step of 64 envs", "{:.1f} us"),
    "env_step_us": ("what Python adds to a step of one env", "{:.1f} us"),
    "handover_us": ("hand-over of 64 envs to two threads, beside a busy one", "{:.1f} us"),
    "navarena_seconds_to_95": ("PPO on NavArena: training until 95 % success", "{:.0f} s"),
    "navarena_success": ("PPO on NavArena: success at the end of a default run", "{:.1%}"),
    "bytes_per_env": ("memory of one more env of task A", "{:,.0f} bytes"),
    "import_ms": ("`import mvsim_gym`, beyond numpy and gymnasium", "{:.0f} ms"),
    "make_ms": ("`gym.make` of NavArena", "{:.0f} ms"),
    "reset_us": ("unseeded `reset` of NavArena", "{:.0f} us"),
    "snapshot_us": ("`Env.snapshot` of NavArena", "{:.1f} us"),
    "restore_us": ("`Env.restore` of NavArena", "{:.1f} us"),
    "deepcopy_env_us": ("`copy.deepcopy` of NavArena", "{:.0f} us"),
}


def _steps(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.0f}"


def table(results: dict[str, Any]) -> str:
    """The Markdown between the markers."""
    rows = {row["name"]: row for row in results["rows"]}
    lines = [
        f"Measured on {results['machine']}, {results['cores']} cores, {results['date'][:10]}; medians. `task_a` and"
        " the peers are from one run.",
        "",
        "Task A: one robot, 10 substeps of 10 ms, a scan of 360 rays, random twists, 20 x 20 m with"
        " 200 walls. Each peer does the same as far as it can.",
        "",
        "| simulator | env steps/s | leaves out |",
        "|---|---:|---|",
    ]
    for name, label in {**OURS, **PEERS}.items():
        if name in rows:
            config = rows[name]["config"]
            package = f" ({config['package'].split()[-1]})" if "package" in config else ""
            lines.append(
                f"| {label}{package} | {_steps(rows[name]['value'])} | {config.get('leaves_out', '')} |"
            )
    lines += ["", "| also | |", "|---|---:|"]
    lines += [
        f"| {text} | {form.format(rows[name]['value'])} |"
        for name, (text, form) in OTHERS.items()
        if name in rows
    ]
    lines += [
        "",
        "In task A the robot wanders about its start and touches nothing; a body that can touch nothing needs no"
        " contact solver, here or in a peer. Robots that press against the cells of a grid all the time are the other"
        " end of the scale.",
    ]
    scale = sorted(
        (row["config"]["num_envs"], row["value"]) for name, row in rows.items() if name.startswith("scale_n_")
    )
    if scale:
        lines += ["", "Task A against the number of envs: "]
        lines[-1] += ", ".join(f"{n}: {_steps(value)}" for n, value in scale) + " env steps/s."
    return "\n".join(lines)


def main() -> int:
    source = HERE / "results" / "latest.json"
    text = README.read_text()
    if BEGIN not in text or END not in text:
        print(f"{README.name} lacks the markers {BEGIN} and {END}", file=sys.stderr)
        return 1
    head, rest = text.split(BEGIN, 1)
    tail = rest.split(END, 1)[1]
    README.write_text(f"{head}{BEGIN}\n{table(json.loads(source.read_text()))}\n{END}{tail}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
