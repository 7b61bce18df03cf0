"""Fits a car in the tenth scale to logs of circles: friction, steering and delay, judged by its yaw rate.

The logs (UT Automata, Suvarna and Tehrani, CC-BY-4.0) hold a joystick and an IMU, and neither speeds nor poses. Two
circles of 10 s reach 4 m/s; pairs of command and yaw rate at 2 m/s have no clock. The commands follow from the joystick
by the constants of the car's driver. Each circle is judged by a fit to the other one and to the first two thirds of the
pairs, whose last third judges too.

    python examples/identify_car.py LOGS --plot car.png
"""

from __future__ import annotations

import argparse
import ast
import csv
import gzip
import os
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from mvsim_gym.identify import Identified, Log, Robot, Stream, compare, identify
from mvsim_gym.identify.log import Array
from mvsim_gym.identify.measure import predicted

# Driver of the car (ut-amrl/ut_automata, with the constants of omeedcs/tokyo-drift-rl): speeds without and with the
# turbo trigger, the speed at the limit of 22,000 rpm, change of the commanded speed, steering at full stick.
NORMAL, TURBO, FASTEST = 1.0, 6.0, 4.074  # m/s
RAMP = 6.0  # m/s2
STEER = 0.25  # rad
WHEELBASE = 0.324  # m
STEER_AXIS, TURBO_AXIS, DRIVE_AXIS = 0, 2, 4
GRAVITY = 9.55  # m/s2, as the IMU reads it
PAIR_PERIOD = 0.0505  # s: the ramp of the pairs' speeds is 0.3 m/s per message of 33.6 ms
PAIR_DELAY = 0.176  # s, by which their authors moved the yaw rate back
PAIR_SPAN = 90.0  # s of pairs that are used
CIRCLES = ("loose_ccw", "tight_cw")
FITTED = ("mu", "steer_gain", "steer_offset", "servo_lag", "delay")

# The wheelbase is the driver's. Mass, wheels and track are those of the F1TENTH cars, because no file gives them.
CAR = """<vehicle:class name="car">
  <dynamics class="ackermann_drivetrain">
    <rl_wheel pos="-0.170  0.125" mass="0.1" width="0.045" diameter="0.11"/>
    <rr_wheel pos="-0.170 -0.125" mass="0.1" width="0.045" diameter="0.11"/>
    <fl_wheel mass="0.1" width="0.045" diameter="0.11"/>
    <fr_wheel mass="0.1" width="0.045" diameter="0.11"/>
    <f_wheels_x>0.154</f_wheels_x> <f_wheels_d>0.25</f_wheels_d>
    <max_steer_ang_deg>24</max_steer_ang_deg>
    <drivetrain type="open_4wd"/>
    <chassis mass="3.1" zmin="0.03" zmax="0.14" inertia="0.047">
      <shape><pt>-0.27 -0.13</pt> <pt>-0.27 0.13</pt> <pt>0.27 0.13</pt> <pt>0.27 -0.13</pt></shape>
    </chassis>
    <controller class="front_steer_pid"><KP>1.5</KP> <KI>0.5</KI> <max_torque>1.5</max_torque></controller>
  </dynamics>
  <servo rate="400" time_constant="0.05"/>
  <friction class="FRICTION"><mu>1.0</mu> <C_damping>0.0005</C_damping> <C_rr>0.01</C_rr></friction>
</vehicle:class>
"""


def rows_of(path: Path) -> list[list[str]]:
    """The rows of a gzipped CSV file below its heading."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return list(csv.reader(file))[1:]


def commands(time: Array, axes: Array) -> Stream:
    """Returns the commands of the driver: speed, on a ramp, and steering angle."""
    turbo = axes[:, TURBO_AXIS] >= 0.9
    wanted = np.minimum(-axes[:, DRIVE_AXIS] * np.where(turbo, TURBO, NORMAL), FASTEST)
    grid = np.arange(time[0], time[-1], 0.02)
    held = np.searchsorted(time, grid, side="right") - 1
    speed = np.zeros(len(grid))
    for i in range(1, len(grid)):
        most = RAMP * 0.02
        speed[i] = speed[i - 1] + np.clip(wanted[held[i]] - speed[i - 1], -most, most)
    return Stream(grid, np.column_stack([speed, -STEER * axes[held, STEER_AXIS]]), ("vx", "steer"))


def circle(folder: Path) -> Log:
    """A run with its commands and its yaw rate. The IMU looks back and down: its z is turned over."""
    stamps = [
        (float(r[4]) + 1e-9 * float(r[5]), ast.literal_eval(r[7]))
        for r in rows_of(folder / "joystick.csv.gz")
    ]
    imu = [
        (float(r[4]) + 1e-9 * float(r[5]), -float(r[16]))
        for r in rows_of(folder / "vectornav_slash_IMU.csv.gz")
    ]
    start = stamps[0][0]
    time = np.array([t - start for t, _ in stamps])
    gyro = np.array(imu)
    streams = {
        "command": commands(time, np.array([axes for _, axes in stamps])),
        "gyro": Stream(gyro[:, 0] - start, gyro[:, 1:], ("omega",)),
    }
    return Log(folder.name, streams)


def pairs(path: Path) -> tuple[Log, Log]:
    """The pairs on the clock of their ramps: two thirds to fit, a third to judge."""
    rows = rows_of(path)
    speed, turning = np.array([ast.literal_eval(r[1]) for r in rows]).T
    executed = np.array([ast.literal_eval(r[2]) for r in rows])
    time = np.asarray(PAIR_PERIOD * np.arange(len(rows)), dtype=np.float64)
    steer = np.arctan2(WHEELBASE * turning, np.abs(speed)) * np.where(speed < 0, -1, 1)
    steer[np.abs(speed) < 0.05] = 0
    log = Log(
        "pairs",
        {
            "command": Stream(time, np.column_stack([speed, steer]), ("vx", "steer")),
            "gyro": Stream(time + PAIR_DELAY, executed, ("omega",)),
        },
    )
    first, last = time[100], min(time[-1], time[100] + PAIR_SPAN)
    split = first + 2 / 3 * (last - first)
    return part(log, first, split), part(log, split, last)


def part(log: Log, start: float, end: float) -> Log:
    """A stretch of a log."""
    return replace(log, streams={n: s.between(start, end) for n, s in log.streams.items()})


def kinematic(log: Log, delay: float = 0.0) -> Array:
    """Yaw rate of the ideal kinematic model at the times of the gyro, rad/s: v tan(steer) / wheelbase."""
    own = log.streams["command"]
    omega = own.values[:, 0] * np.tan(own.values[:, 1]) / WHEELBASE
    return np.interp(log.streams["gyro"].time, own.time + delay, omega)


def error(values: Array) -> float:
    """Root mean square."""
    return float(np.sqrt(np.mean(values**2)))


def simulated(robot: Robot, log: Log, values: Mapping[str, float]) -> tuple[Array, Array, Array]:
    """Yaw rate (rad/s), speed (m/s) and slip angle of the body (deg) at the times of the gyro."""
    problem = compare(robot, [log], values=values).problem
    run = problem.driver.run([dict(values)])[0][0]
    time = log.streams["gyro"].time
    vx, vy = (np.interp(time, run.time, run.twist[:, i]) for i in range(2))
    slip = np.degrees(np.arctan2(vy, np.maximum(np.abs(vx), 0.3)))
    return predicted(robot, run, values, "gyro", time)[:, 0], np.hypot(vx, vy), slip


def dead_reckoned(folder: Path, tilt: bool) -> tuple[Array, float, float]:
    """Speeds by the accelerations, from rest to rest: drift in the end (m/s), top speed and largest slip angle (deg).

    Args:
        tilt: take gravity away by the orientation of the IMU; else its x and y are taken for level.
    """
    rows = rows_of(folder / "vectornav_slash_IMU.csv.gz")
    time = np.array([float(r[4]) + 1e-9 * float(r[5]) for r in rows])
    time -= time[0]
    x, y, z, w = np.array([[float(v) for v in r[8:12]] for r in rows]).T
    omega = -np.array([float(r[16]) for r in rows])
    forward, left = -np.array([float(r[19]) for r in rows]), np.array([float(r[20]) for r in rows])
    if tilt:
        forward -= GRAVITY * 2 * (x * z - w * y)
        left += GRAVITY * 2 * (y * z + w * x)
    rest = (time < 0.45) | (time > 9.75)
    forward, left = forward - forward[rest].mean(), left - left[rest].mean()
    steps = np.diff(time, prepend=time[0])
    yaw = np.cumsum(omega * steps)
    c, s = np.cos(yaw), np.sin(yaw)
    velocity = np.cumsum(
        np.column_stack([c * forward - s * left, s * forward + c * left]) * steps[:, None], axis=0
    )
    drift = velocity[-1].copy()
    velocity -= (time / time[-1])[:, None] * drift
    vx, vy = c * velocity[:, 0] + s * velocity[:, 1], c * velocity[:, 1] - s * velocity[:, 0]
    fast = (vx > 1.5) & (np.abs(omega) > 1)
    return drift, float(vx.max()), float(np.degrees(np.abs(np.arctan2(vy, vx))[fast].max()))


def errors(robot: Robot, logs: Mapping[str, Log], found: Mapping[str, Identified]) -> list[str]:
    """Yaw-rate errors of logs that were put aside, as Markdown."""
    rows = ["| put aside | kinematic | kinematic, late | before | fitted [rad/s] |", "|---|---|---|---|---|"]
    for name, log in logs.items():
        values = found[name].values
        gyro = log.streams["gyro"].values[:, 0]
        cells = [kinematic(log), kinematic(log, lateness(values))]
        cells += [simulated(robot, log, own)[0] for own in ({}, values)]
        rows.append(f"| {name} | " + " | ".join(f"{error(gyro - cell):.3f}" for cell in cells) + " |")
    return rows


def lateness(values: Mapping[str, float]) -> float:
    """From a command to the middle of its effect, s."""
    return values["delay"] + values.get("servo_lag", 0.05)


def by_speed(robot: Robot, logs: Mapping[str, Log], found: Mapping[str, Identified]) -> list[str]:
    """Yaw rates at full steering by the commanded speed, as Markdown."""
    rows = ["| log | commanded [m/s] | s | measured | kinematic | fitted [rad/s] | its speed | its slip |"]
    rows.append("|---" * 8 + "|")
    for name, log in logs.items():
        values = found[name].values
        stream = log.streams["gyro"]
        late = lateness(values)
        command = log.streams["command"]
        speed, steer = (np.interp(stream.time, command.time + late, command.values[:, i]) for i in range(2))
        ideal = kinematic(log, late)
        own, true_speed, slip = simulated(robot, log, values)
        for low in (0.7, 1.5, 2.5, 3.5):
            here = (
                (np.abs(steer) > 0.9 * STEER)
                & (speed >= low)
                & (speed < max(low + 1.0, 1.5) - (low < 1) * 0.2)
            )
            if here.sum() < 3:
                continue
            means = [np.abs(v[here]).mean() for v in (stream.values[:, 0], ideal, own, true_speed, slip)]
            cells = [
                f"{speed[here].mean():.1f}",
                f"{here.sum() * stream.period:.1f}",
                *(f"{m:.2f}" for m in means[:4]),
            ]
            rows.append(f"| {name} | " + " | ".join([*cells, f"{means[4]:.0f}"]) + " |")
    return rows


def draw(robot: Robot, logs: Mapping[str, Log], found: Mapping[str, Identified], path: str) -> None:
    """Yaw rate of the circles, each by the fit that had not seen it."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(len(CIRCLES), 1, figsize=(10, 2.4 * len(CIRCLES)), sharex=True)
    for axis, name in zip(axes, CIRCLES, strict=True):
        log, values = logs[name], found[name].values
        gyro = log.streams["gyro"]
        axis.plot(gyro.time, gyro.values[:, 0], color="0.5", label="measured")
        axis.plot(gyro.time, kinematic(log, lateness(values)), linewidth=0.8, label="kinematic, late")
        axis.plot(gyro.time, simulated(robot, log, values)[0], label="fitted")
        axis.set_ylabel(f"{name}\nrad/s", fontsize=8)
    axes[0].legend(fontsize=7)
    axes[-1].set_xlabel("s")
    figure.tight_layout()
    figure.savefig(path, dpi=80)


def main() -> None:
    """Prints the tables and draws the circles."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("logs", type=Path)
    parser.add_argument("--plot", help="file for a plot")
    parser.add_argument("--friction", default="default", choices=("default", "ellipse"))
    given = parser.parse_args()
    circles = {name: circle(given.logs / name) for name in CIRCLES}
    fit_pairs, judging_pairs = pairs(given.logs / "turn_with_2.0" / "merged.csv.gz")
    for name in CIRCLES:
        for tilt in (False, True):
            drift, fastest, slip = dead_reckoned(given.logs / name, tilt)
            print(
                f"{name}, tilt {tilt}: drift {drift.round(2)} m/s, fastest {fastest:.1f} m/s, slip up to {slip:.0f} deg"
            )
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "car.vehicle.xml")
        Path(path).write_text(CAR.replace("FRICTION", given.friction))
        with Robot(path) as robot:
            found: dict[str, Identified] = {}
            for name, other in zip(CIRCLES, reversed(CIRCLES), strict=True):
                aside = [circles[name], judging_pairs]
                found[name] = identify(
                    robot, [circles[other], fit_pairs], FITTED, held_out_logs=aside, starts=16
                )
                print(f"== {name} put aside", *found[name].report(), sep="\n", flush=True)
            logs = {**circles, "pairs": judging_pairs}
            found["pairs"] = found[CIRCLES[0]]
            print(*errors(robot, logs, found), "", *by_speed(robot, logs, found), sep="\n", flush=True)
            if given.plot:
                draw(robot, logs, found, given.plot)


if __name__ == "__main__":
    main()
