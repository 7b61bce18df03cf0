"""Identification finds the parameters of robots that the simulator drove, and says what a log does not tell."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("scipy")

from conftest import lasting
from identify_logs import SKID, TRUE, commands, driven, write_csv

from mvsim_gym.identify import (
    Log,
    LogError,
    Robot,
    Stream,
    compare,
    fitted_text,
    identify,
    randomize_block,
    read_log,
)
from mvsim_gym.tools.cli import main
from mvsim_gym.world import World


@pytest.fixture
def path(tmp_path: Path) -> str:
    file = tmp_path / "skid.vehicle.xml"
    file.write_text(SKID)
    return str(file)


def test_three_parameters_of_a_short_log(path: str) -> None:
    """Each is within 2 % without a global stage, and held-out errors are far below those of the nominal robot."""
    true = {"track": 0.35, "mu": 0.4, "delay": 0.02}
    with Robot(path) as robot:
        found = identify(robot, [driven(robot, true, 1, 10)], list(true), starts=1, window=5)
        for name, value in true.items():
            assert found.fitted[name].value == pytest.approx(value, rel=0.02), name
            assert found.fitted[name].low <= value <= found.fitted[name].high, name
        assert found.is_better and found.after.mean_ratio(found.before) < 0.3
        assert not found.untold and found.correlation.shape == (3, 3)
        text = "\n".join(found.report())
        assert "track" in text and "position after 1 s [m]" in text


def test_a_straight_log_does_not_tell_track_and_inertia(path: str) -> None:
    with Robot(path) as robot:
        log = driven(robot, {**TRUE, "track": 0.32}, 1, 10, straight=True)
        found = identify(robot, [log], ["track", "inertia", "C_rr"], starts=1, window=5)
        assert set(found.untold) == {"track", "inertia"} and list(found.fitted) == ["C_rr"]
        assert "not identifiable from this log" in "\n".join(found.report())


def test_parameters_that_a_robot_lacks_are_refused(path: str) -> None:
    with Robot(path) as robot:
        log = driven(robot, {}, 1, 4)
        with pytest.raises(ValueError, match="this robot has none"):
            identify(robot, [log], ["C_alpha"])
        with pytest.raises(ValueError, match="expected one of wheel_radius"):
            identify(robot, [log], ["speed"])
        del log.streams["command"]  # type: ignore[attr-defined]
        with pytest.raises(LogError, match="driven wheels"):
            compare(robot, [log])


def test_the_true_robot_has_the_errors_of_the_sensors_alone(path: str) -> None:
    with Robot(path) as robot:
        log = driven(robot, TRUE, 3, 12)
        right, wrong = compare(robot, [log], values=TRUE).figures, compare(robot, [log]).figures
        assert right.errors["yaw rate"] == pytest.approx(0.002, rel=0.2)
        assert right.errors["position after 1 s"] < 0.006 < wrong.errors["position after 1 s"]
        assert right.mean_ratio(wrong) < 0.2


def test_what_is_written_loads_and_has_the_values(path: str, tmp_path: Path) -> None:
    values = {"mass": 12.5, "inertia": 0.3, "mu": 0.41, "C_rr": 0.05, "KP": 6.5, "delay": 0.02, "track": 0.35}
    with Robot(path) as robot:
        (tmp_path / "fitted.vehicle.xml").write_text(fitted_text(robot, values, ["fitted"]))
        block = randomize_block(robot, {"mu": (0.41, 0.4, 0.42), "track": (0.35, 0.34, 0.36)}, "r1")
    assert '<randomize of="vehicle:r1/friction/mu" value="uniform(0.4, 0.42)"/>' in block
    assert 'vehicle:r1/wheels/track" value="uniform(1.0625, 1.125)"' in block
    with Robot(str(tmp_path / "fitted.vehicle.xml")) as fitted:
        held = fitted.paths
        for name, value in {"chassis/mass": 12.5, "chassis/inertia": 0.3, "friction/mu": 0.41}.items():
            assert held[f"vehicle:robot/{name}"] == pytest.approx(value)
        assert held["vehicle:robot/controller/KP"] == pytest.approx(6.5)


def test_wheels_turn_at_given_speeds_whatever_the_ground_does(path: str) -> None:
    with Robot(path, wheel_driven=True) as robot:
        assert robot.controller == "twist_wheels"
        world = World(robot.world_path, roots=robot.all_roots)
        vehicle = next(iter(world.vehicles.values()))
        vehicle.set_twist(0.5, 0.0)
        world.step(2)
        assert vehicle.odometry_twist.vx == pytest.approx(0.5) and vehicle.twist.vx == pytest.approx(
            0.5, abs=0.006
        )
        # rolling resistance, bearings, and the drag of the chassis: C_rr N R + C w + d M v R / 4
        load = (10 / 4 + 1) * 9.81
        resisted = 0.02 * load * 0.1 + 0.005 * 5 + 0.1 * 14 * 0.5 * 0.1 / 4
        assert world.wheels("robot").torque == pytest.approx(resisted, rel=0.02)
        vehicle.set_twist(0.0, 1.0)
        world.step(2)
        assert vehicle.odometry_twist.omega == pytest.approx(1) and vehicle.twist.omega == pytest.approx(
            1, abs=0.1
        )
        # scrubbing sideways at mu N takes as much moment as the sides push
        scrub = 0.5 * load * 0.13 / 0.16 * 0.1
        assert world.wheels("robot").torque[1] == pytest.approx(
            scrub + 0.02 * load * 0.1 + 0.005 * 1.6, rel=0.05
        )


def test_the_commands(path: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Robot(path) as robot:
        write_csv(driven(robot, {"mu": 0.4}, 1, 10), str(tmp_path / "run.csv"))
    log, out = str(tmp_path / "run.csv"), str(tmp_path / "fitted.vehicle.xml")
    assert main(["identify", path, "--list"]) == 0
    assert "wheel_radius" in capsys.readouterr().out
    assert main(["compare", path]) == 1
    assert "found no LOG" in capsys.readouterr().err
    assert main(["compare", path, log, "--window", "5"]) == 0
    assert "yaw rate [rad/s]" in capsys.readouterr().out
    options = ["--fit", "mu", "--starts", "1", "--window", "5", "-o", out]
    assert main(["identify", path, log, *options]) == 0
    assert "written" in capsys.readouterr().out
    with Robot(out) as fitted:
        assert fitted.paths["vehicle:robot/friction/mu"] == pytest.approx(0.4, rel=0.02)
    assert "friction/mu" in (tmp_path / "fitted.randomize.xml").read_text()
    assert main(["identify", path, log, *options]) == 1
    assert "--force" in capsys.readouterr().err
    assert main(["identify", path, log, "--fit", "mu", "--fix", "mass"]) == 1
    assert "NAME=VALUE" in capsys.readouterr().err


def test_a_robot_that_is_worse_on_what_was_put_aside_is_not_written(
    path: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The log that judges is of another ground."""
    with Robot(path) as robot:
        write_csv(driven(robot, {"mu": 0.3}, 1, 8), str(tmp_path / "a.csv"))
        write_csv(driven(robot, {"mu": 0.5}, 2, 8), str(tmp_path / "b.csv"))
    out = tmp_path / "fitted.vehicle.xml"
    options = ["--fit", "mu", "--starts", "1", "--window", "4", "--held-out", str(tmp_path / "b.csv")]
    assert main(["identify", path, str(tmp_path / "a.csv"), *options, "-o", str(out)]) == 1
    assert "nothing written" in capsys.readouterr().out and not out.exists()


def test_a_recording_of_the_robot_itself_has_no_error(path: str, tmp_path: Path) -> None:
    pytest.importorskip("mcap")
    pytest.importorskip("rosbags")
    with Robot(path) as robot:
        world = World(robot.world_path, roots=robot.all_roots)
        vehicle = next(iter(world.vehicles.values()))
        _, held = commands(1, 6)
        with world.record(tmp_path / "run.mcap"):
            for command in held:
                vehicle.set_twist(*command)
                world.step(0.02)
        log = read_log(str(tmp_path / "run.mcap"))
        assert set(log.streams) == {"command", "odometry", "pose", "velocity"}
        errors = compare(robot, [log], window=3).figures.errors
    assert errors["position after 1 s"] < 1e-5 and errors["speed"] < 1e-5 and errors["yaw rate"] < 1e-5


@pytest.mark.slow
def test_eight_parameters_of_twenty_logs(path: str) -> None:
    """Each within 2 % and inside of its interval in at least 18 of 20 logs of 30 s; in CI in one."""
    count = lasting(20, 1)
    good = dict.fromkeys(TRUE, 0)
    with Robot(path) as robot:
        for seed in range(count):
            found = identify(robot, [driven(robot, TRUE, seed)], list(TRUE))
            for name, value in TRUE.items():
                own = found.fitted.get(name)
                good[name] += (
                    own is not None and abs(own.value / value - 1) < 0.02 and own.low <= value <= own.high
                )
    assert all(right >= 0.9 * count for right in good.values()), good


def test_the_interval_of_a_biased_sensor_is_wider_than_its_noise() -> None:
    from mvsim_gym.identify.fit import inflation

    random = np.random.default_rng(0)
    white = random.normal(0, 1, (2000, 1))
    slow = np.convolve(random.normal(0, 1, 2200), np.ones(50) / 50**0.5, "same")[:2000, None]
    factors = inflation({"a": white, "b": slow})
    assert factors["a"][0] == pytest.approx(1, abs=0.3) and factors["b"][0] > 20


def circle(robot: Robot, parameter: str, value: float) -> Log:
    """A log of a car that turns into a circle which its tires do not hold."""
    world = World(robot.world_path, roots=robot.all_roots)
    world.set_parameter(f"vehicle:robot/{parameter}", value)
    world.reset()
    vehicle = next(iter(world.vehicles.values()))
    rows = []
    for i in range(300):
        command = (3.0, 2.5) if i > 50 else (1.5, -1.0)
        vehicle.set_twist(*command)
        rows.append((world.time, *command, vehicle.twist.vx, vehicle.twist.vy, vehicle.twist.omega))
        world.step(0.02)
    table = np.array(rows)
    time = table[:, 0]
    streams = {
        "command": Stream(time, table[:, 1:3], ("vx", "omega")),
        "velocity": Stream(time, table[:, 3:5], ("vx", "vy")),
        "gyro": Stream(time, table[:, 5:], ("omega",)),
    }
    return Log("circle", streams)


CAR = Path(__file__).parents[2] / "worlds" / "definitions" / "f1tenth.vehicle.xml"


def test_cars_are_fitted_too() -> None:
    """A circle of an F1TENTH car that its tires do not hold tells mu; a twist as command has no steering angle."""
    with Robot(str(CAR)) as robot:
        assert "steer_gain" not in robot.known() and "servo_lag" not in robot.known()
        found = identify(robot, [circle(robot, "friction/mu", 0.6)], ["mu"], starts=1, window=3)
        assert found.fitted["mu"].value == pytest.approx(0.6, rel=0.02)


def test_the_lag_of_a_steering_servo_is_told(tmp_path: Path) -> None:
    path = tmp_path / "car.vehicle.xml"
    servo = '<servo rate="300" time_constant="0.02"/>\n</vehicle:class>'
    text = re.sub(r"<if .*?</if>", "", CAR.read_text(), flags=re.S)
    path.write_text(text.replace("</vehicle:class>", servo))
    with Robot(str(path)) as robot:
        log = circle(robot, "servo/time_constant", 0.08)
        found = identify(robot, [log], ["servo_lag"], fixed={"servo_rate": 300}, starts=1, window=3)
        assert found.fitted["servo_lag"].value == pytest.approx(0.08, rel=0.02)
        text = fitted_text(robot, found.values, [])
        (written,) = re.findall(r'<servo rate="300" time_constant="([\d.]+)"/>', text)
        assert float(written) == pytest.approx(0.08, rel=0.02)


def test_a_robot_that_accelerates_at_once_begins_at_rest() -> None:
    """A line through the first 0.1 s, if the signal rises; the mean of noise, and of few samples."""
    from mvsim_gym.identify.problem import at_start

    time = np.arange(0, 0.2, 0.02)
    assert at_start(time, 1.5 * (1 - np.exp(-time / 0.1))) == pytest.approx(0, abs=0.1)
    noise = np.random.default_rng(0).normal(0.4, 0.01, (200, len(time)))
    found = [at_start(time, own) for own in noise]
    assert np.std(found) < 0.004 and np.mean(found) == pytest.approx(0.4, abs=0.001)
    assert at_start(time[::5], np.array([0.0, 1.0])) == 0.5
