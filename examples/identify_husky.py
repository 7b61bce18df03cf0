"""Fits a Husky A200 on five grounds to its logs: apparent track, friction and rolling resistance.

The logs (BorealTC, norlab-ulaval, CC0) hold wheel speeds, motor currents and an IMU, and neither commands nor poses. So
wheels turn at the measured speeds, and yaw rate and currents are what is predicted. A third of the runs only judges.

    python examples/identify_husky.py LOGS --plot husky.png
"""

from __future__ import annotations

import argparse
import os
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np

from mvsim_gym.identify import Identified, Log, LogError, Robot, Stream, identify, noise_of, read_log
from mvsim_gym.identify.log import align

SURFACES = ("ICE", "SNOW", "ASPHALT", "FLOORING", "SANDY_LOAM")
# Clearpath's data sheet: track 0.555 m, wheelbase 0.512 m, wheels of 0.165 m; 50 kg without payload
HUSKY = """<vehicle:class name="husky">
  <dynamics class="differential_4_wheels">
    <lr_wheel pos="-0.256  0.2775" mass="2.6" width="0.125" diameter="0.33"/>
    <rr_wheel pos="-0.256 -0.2775" mass="2.6" width="0.125" diameter="0.33"/>
    <lf_wheel pos=" 0.256  0.2775" mass="2.6" width="0.125" diameter="0.33"/>
    <rf_wheel pos=" 0.256 -0.2775" mass="2.6" width="0.125" diameter="0.33"/>
    <chassis mass="50" zmin="0.13" zmax="0.39">
      <shape><pt>-0.49 -0.29</pt> <pt>-0.49 0.29</pt> <pt>0.49 0.29</pt> <pt>0.49 -0.29</pt></shape>
    </chassis>
    <controller class="raw"/>
  </dynamics>
  <friction class="default"><mu>0.8</mu> <C_damping>0.01</C_damping> <C_rr>0.03</C_rr></friction>
</vehicle:class>
"""
_TELLING = ("ICE", "FLOORING")  # where wheels and gyro agree best: these say what the motor constant is
_SECONDS = 40.0  # of each run that are used
_TURNS = 0.05  # m/s between the sides: runs with less tell nothing of turning
_CORRELATED = 0.5  # of wheels and gyro: runs with less could not be aligned


def averaged(stream: Stream, period: float) -> Stream:
    """Means over periods: a gyro of 100 Hz also sees the shaking of the frame, which wheels of 6.5 Hz cannot tell."""
    edges = np.arange(stream.time[0], stream.time[-1], period)
    index = np.searchsorted(stream.time, edges)
    counts = np.diff(index)
    good = counts > 0
    sums = np.add.reduceat(stream.values, index[:-1])[: len(counts)]
    return Stream(
        (edges[:-1] + period / 2)[good], (sums / np.maximum(counts, 1)[:, None])[good], stream.columns
    )


def liveliest(log: Log) -> float:
    """Where the stretch begins in which the sides differ most."""
    first, last = log.span
    speeds = log.streams["wheel_speed"]
    starts = np.arange(first, max(last - _SECONDS, first) + 1e-6, 5.0)
    parts = [speeds.between(s, s + _SECONDS).values for s in starts]
    return float(starts[int(np.argmax([np.std(part[:, 1] - part[:, 0]) for part in parts]))])


def runs_of(folder: Path, track: float) -> tuple[list[Log], list[str]]:
    """The aligned runs of a surface that can be used, and a line for each that cannot."""
    logs, lines = [], []
    for imu in sorted(folder.glob("imu_*.csv.gz")):
        wheels = imu.with_name(imu.name.replace("imu", "pro"))
        if not wheels.exists():
            continue
        name = f"{folder.name} {imu.name[4:6]}"
        log, offsets = align(replace(read_log([str(imu), str(wheels)]), name=name), track)
        start = liveliest(log)
        log = replace(log, streams={n: s.between(start, start + _SECONDS) for n, s in log.streams.items()})
        speeds = log.streams["wheel_speed"]
        turning = float(np.std(speeds.values[:, 1] - speeds.values[:, 0]))
        if turning >= _TURNS and offsets[0].correlation < _CORRELATED:
            lines.append(
                f"{name}: left out, wheels and gyro cannot be aligned (r {offsets[0].correlation:.2f})"
            )
            continue
        bias = noise_of(log, "gyro")
        gyro = log.streams["gyro"]
        if bias:
            gyro = replace(gyro, values=gyro.values - bias[0].bias)
        period = speeds.period
        streams = {"wheel_speed": speeds, "effort": log.streams["effort"], "gyro": averaged(gyro, period)}
        lines.append(
            f"{name}: {offsets[0].seconds:+.2f} s, r {offsets[0].correlation:.2f}, turning {turning:.2f} m/s"
        )
        logs.append(Log(name, streams))
    return logs, lines


def fitted(robot: Robot, logs: list[Log], fixed: dict[str, float]) -> Identified:
    """The fit of two thirds of the runs, judged by the others."""
    aside = logs[2::3] or logs[-1:]
    rest = [log for log in logs if log not in aside]
    names = [n for n in ("track", "mu", "C_rr", "effort_constant", "effort_idle") if n not in fixed]
    return identify(robot, rest, names, held_out_logs=aside, fixed=fixed, starts=1)


def main() -> None:
    """Prints a table and draws it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("logs", type=Path)
    parser.add_argument("--plot", help="file for a plot")
    parser.add_argument("--surface", action="append", choices=SURFACES)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "husky.vehicle.xml")
        Path(path).write_text(HUSKY)
        with Robot(path, wheel_driven=True) as robot:
            runs, constants = {}, {}
            for surface in given.surface or SURFACES:
                runs[surface], lines = runs_of(given.logs / surface, robot.track)
                print("\n".join(lines), flush=True)
            for surface in [s for s in _TELLING if s in runs]:
                try:
                    found = fitted(robot, runs[surface], {})
                except LogError as error:
                    print(f"{surface}: {error}")
                    continue
                print(f"== {surface}, motor constant free", *found.report(), sep="\n", flush=True)
                if "effort_constant" in found.fitted:
                    own = found.fitted["effort_constant"]
                    constants[surface] = (np.log(own.value), np.log(own.high / own.low))
            # one motor constant for all grounds: the mean of those that were told, by their precision
            weights = {s: 1 / max(width, 1e-3) ** 2 for s, (_, width) in constants.items()}
            total = sum(weights.values())
            constant = (
                float(np.exp(sum(weights[s] * constants[s][0] for s in weights) / total)) if total else 1.0
            )
            print(f"== motor constant {constant:.3f} A / (N m)")
            results = {}
            for surface, logs in runs.items():
                try:
                    results[surface] = fitted(robot, logs, {"effort_constant": constant})
                except LogError as error:
                    print(f"{surface}: {error}")
                    continue
                print(f"== {surface}", *results[surface].report(), sep="\n", flush=True)
            print("\n".join(table(results)))
            if given.plot:
                draw(results, given.plot)


def table(results: dict[str, Identified]) -> list[str]:
    """Markdown."""
    rows = [
        "| surface | apparent track [m] | mu | C_rr | yaw rate: kinematic | nominal | fitted [rad/s] |"
        " current: nominal | fitted [A] |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for surface, found in results.items():
        cells = [surface.lower().replace("_", " ")]
        for name in ("track", "mu", "C_rr"):
            own = found.fitted.get(name)
            cells.append(f"{own.value:.3f} ({own.low:.3f} to {own.high:.3f})" if own else "not told")
        yaw, effort = "yaw rate", "effort"
        cells += [f"{f.errors.get(yaw, np.nan):.4f}" for f in (found.kinematic, found.before, found.after)]
        cells += [f"{f.errors.get(effort, np.nan):.2f}" for f in (found.before, found.after)]
        rows.append("| " + " | ".join(cells) + " |")
    return rows


def draw(results: dict[str, Identified], path: str) -> None:
    """Held-out yaw rate of each surface, measured against both models."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    from mvsim_gym.identify.measure import predicted

    figure, axes = pyplot.subplots(len(results), 1, figsize=(10, 1.9 * len(results)), squeeze=False)
    for axis, (surface, found) in zip(axes[:, 0], results.items(), strict=True):
        problem = found.problem
        window = max((w for w in problem.windows if w.held_out), key=lambda w: _turning(found, w))
        log = problem.segments[window.segment].log
        gyro = log.streams["gyro"].between(window.start, window.end)
        wheels = log.streams["wheel_speed"]
        run = problem.driver.run([found.values])[0][window.segment]
        ideal = (
            np.interp(gyro.time, wheels.time, wheels.column("right") - wheels.column("left"))
            / found.robot.track
        )
        axis.plot(gyro.time, gyro.values[:, 0], color="0.5", label="measured")
        axis.plot(gyro.time, ideal, linewidth=0.8, label="kinematic, nominal track")
        axis.plot(gyro.time, predicted(found.robot, run, found.values, "gyro", gyro.time), label="fitted")
        axis.set_ylabel(f"{surface.lower()}\nrad/s", fontsize=8)
    axes[0, 0].legend(fontsize=7, loc="upper right")
    axes[-1, 0].set_xlabel("s")
    figure.tight_layout()
    figure.savefig(path, dpi=80)


def _turning(found: Identified, window: object) -> float:
    gyro = found.problem.segments[window.segment].log.streams["gyro"]  # type: ignore[attr-defined]
    return float(np.std(gyro.between(window.start, window.end).values))  # type: ignore[attr-defined]


if __name__ == "__main__":
    main()
