"""The PID tuner: its gains are the published ones, its figures those of hand-made responses."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT

import mvsim_gym
from mvsim_gym.tools.cli import main
from mvsim_gym.tools.tune import Model, fit, gains_of, response_of, with_controller

DEFINITIONS = ROOT / "worlds" / "definitions"


@pytest.mark.parametrize(
    ("file", "name", "gains"),
    [
        ("small_robot", "small_robot", (4.1543, 1.9118, 0.0, 14.44)),
        ("ackermann", "car_ackermann", (150.2758, 59.1637, 0.0, 400.94)),
    ],
)
def test_gains_are_those_of_mvsims_definitions(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], file: str, name: str, gains: tuple[float, ...]
) -> None:
    """The same method gave them, with tires that roll without resistance."""
    text = (DEFINITIONS / f"{file}.vehicle.xml").read_text()
    assert f"<KP>{gains[0]}</KP> <KI>{gains[1]}</KI>" in text and "<C_rr>0.01</C_rr>" in text
    path = tmp_path / "a.vehicle.xml"
    path.write_text(text.replace("<C_rr>0.01</C_rr>", "<C_rr>0</C_rr>"))
    assert main(["tune", str(path), name]) == 0
    lines = capsys.readouterr().out.splitlines()
    found = {line.split()[0]: float(line.split()[1]) for line in lines if line.startswith(("K", "max_"))}
    assert tuple(found.values()) == pytest.approx(gains, abs=0.005)
    assert list(found) == ["KP", "KI", "KD", "max_torque"]
    assert f"{found['KP']:.4f} {found['KI']:.4f}" == f"{gains[0]} {gains[1]}"
    assert list(tmp_path.iterdir()) == [path]


def test_gains_drive_the_vehicle(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The printed tags go into the class as they are."""
    path = DEFINITIONS / "jackal.vehicle.xml"
    assert main(["tune", str(path), "jackal"]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[-1].startswith("good") and "differential_4_wheels" in out
    tags = next(line for line in out.splitlines() if line.startswith("<KP>"))
    text = with_controller(path.read_text(), "jackal", f'<controller class="twist_pid">{tags}</controller>')
    (tmp_path / "jackal.vehicle.xml").write_text(text)
    (tmp_path / "a.world.xml").write_text(
        "<mvsim_world><simul_timestep>0.001</simul_timestep>"
        '<include file="jackal.vehicle.xml" default_sensors="false"/>'
        '<vehicle name="r" class="jackal"><init_pose>0 0 0</init_pose></vehicle></mvsim_world>'
    )
    world = mvsim_gym.World(tmp_path / "a.world.xml")
    world.vehicles["r"].set_twist(1, 0)
    world.step(2)
    assert world.vehicles["r"].twist.vx == pytest.approx(1, abs=0.01)


def test_aggressiveness() -> None:
    model = Model(gain=2.0, time_constant=0.5)
    slow, fast = gains_of(model, 0.5, 10), gains_of(model, 0.25, 10)
    assert (fast.kp, fast.ki) == (2 * slow.kp, 2 * slow.ki) == (2.0, 4.0)
    assert fast.ki == fast.kp / 0.5 and fast.kd == 0 and fast.max_torque == 8


def test_a_first_order_response_is_found_again() -> None:
    time = np.arange(5000) * 0.001
    model = fit(3 * (1 - np.exp(-time / 0.4)), 0.001, torque=6)
    assert model.gain == pytest.approx(0.5, rel=1e-3) and model.time_constant == pytest.approx(0.4, rel=1e-2)
    assert fit(np.where(time > 0, 3.0, 0), 0.001, 6).time_constant == pytest.approx(0.001 / -math.log(0.05))
    for speed, message in (
        (time[:9], "9 samples"),
        (-time, "does not move"),
        (1 + 0 * time, "within a step"),
    ):
        with pytest.raises(ValueError, match=message):
            fit(speed, 0.001, 1)


def test_figures_of_a_response() -> None:
    """Up linearly in 1 s to 1.1, from 2 s on 1; down linearly within 0.5 s to -0.03 and back to 0."""
    time = np.arange(6000) * 0.001
    speed = np.interp(time, [0, 1.1, 2, 2.001, 3, 3.5, 3.6, 3.7], [0, 1.1, 1.1, 1, 1, 0, -0.03, 0])
    found = response_of(speed, 0.001)
    assert found.rise == pytest.approx(0.9) and found.overshoot_percent == pytest.approx(10)
    assert found.steady_error == pytest.approx(0) and found.settling == pytest.approx(2.001)
    assert found.stop_settling == pytest.approx(0.49) and found.rebound == pytest.approx(0.03)
    assert [text.split()[0] for text in found.warnings()] == ["rebound"]
    never = response_of(np.zeros(6000), 0.001)
    assert never[:4] == (3, 0, 1, 3) and never.stop_settling == 0
    assert [text.split()[:2] for text in never.warnings()] == [
        ["error", "of"],
        ["slow:", "rise"],
        ["slow:", "does"],
    ]


def test_figures_are_shares_of_the_speed() -> None:
    """The same response, ten times as fast a robot."""
    time = np.arange(60_000) * 0.001
    up = np.where(time < 30, 1 - np.exp(-time / 0.1), 0)
    found = response_of(10 * up, 0.001, 10.0)
    assert found.rise == pytest.approx(0.1 * math.log(10), abs=0.002) and found.overshoot_percent == 0
    assert found.settling == pytest.approx(0.1 * math.log(50), abs=0.002) and found.warnings() == []


@pytest.mark.parametrize(
    ("time_constant", "least", "texts"),
    [
        (0.1, 0.1, []),
        (0.3, 0.1, ["slow: rise in 0.69 s (all torque would take 0.10 s)", "slow: settles in 1.17 s"]),
        (0.3, 0.0, []),
        (1.0, 0.5, ["error of 0.06", "slow: rise in 2.30 s", "slow: does not settle within 3 s"]),
    ],
)
def test_slow_is_called_slow(time_constant: float, least: float, texts: list[str]) -> None:
    time = np.arange(6000) * 0.001
    up = np.where(time < 3, 1 - np.exp(-time / time_constant), 0)
    warnings = response_of(up, 0.001, 1.0, least).warnings()
    assert len(warnings) == len(texts)
    for text, warning in zip(texts, warnings, strict=True):
        assert warning.startswith(text)


def test_an_engine_with_differentials(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Four equal wheels share the torque, so the engine may have four times what a tire holds. Its gains drive it."""
    path = DEFINITIONS / "f1tenth.vehicle.xml"
    assert main(["tune", str(path), "f1tenth", "-a", "0.05", "--speed", "1", "4"]) == 0
    out = capsys.readouterr().out
    limit = 0.8 * 3.5 * 9.81 * 0.055
    assert f"limit       {limit:.4f} N m of the engine" in out and f"max_torque {0.8 * limit:.4f}" in out
    assert "to a step of 1 m/s" in out and "to a step of 4 m/s" in out
    assert out.splitlines()[-1].startswith("good"), out
    tags = next(line for line in out.splitlines() if line.startswith("<KP>"))
    controller = f'<controller class="twist_front_steer_pid">{tags}</controller>'
    (tmp_path / "car.xml").write_text(with_controller(path.read_text(), "f1tenth", controller))
    (tmp_path / "a.world.xml").write_text(
        "<mvsim_world><simul_timestep>0.001</simul_timestep>"
        '<include file="car.xml" default_sensors="false"/>'
        '<vehicle name="r" class="f1tenth"><init_pose>0 0 0</init_pose></vehicle></mvsim_world>'
    )
    world = mvsim_gym.World(tmp_path / "a.world.xml")
    world.vehicles["r"].set_twist(4, 0)
    world.step(8)
    assert world.vehicles["r"].twist.vx == pytest.approx(4, abs=0.08)


@pytest.mark.parametrize(("name", "driven"), [("compact_car", 2), ("offroad_4x4", 4)])
def test_what_the_engine_may_have_depends_on_the_driven_wheels(
    name: str, driven: int, capsys: pytest.CaptureFixture[str]
) -> None:
    path = DEFINITIONS / f"{name}.vehicle.xml"
    assert main(["tune", str(path), name, "-s", "0.005"]) == 0
    lines = dict(line.split(None, 1) for line in capsys.readouterr().out.splitlines() if " " in line)
    mass = float(lines["vehicle"].split()[2])
    radius = float(lines["wheels"].split()[-2])
    limit = driven * 0.8 * mass / 4 * 9.81 * radius
    assert float(lines["limit"].split()[0]) == pytest.approx(limit, rel=0.01)


def test_speeds_of_the_robot(capsys: pytest.CaptureFixture[str]) -> None:
    """A TurtleBot3 with the default C_damping does not get to 1 m/s, which is said."""
    command = ["tune", str(DEFINITIONS / "turtlebot3_burger.vehicle.xml"), "turtlebot3_burger"]
    assert main(command) == 0
    out = capsys.readouterr().out
    assert "top speed   0.397 m/s" in out and "to a step of 0.32 m/s" in out and "good" in out
    assert main([*command, "--speed", "0.22", "1"]) == 0
    out = capsys.readouterr().out
    assert "to a step of 0.22 m/s" in out
    assert out.splitlines()[-1].startswith("warning: 1 m/s is beyond its top speed of 0.397 m/s")


@pytest.mark.parametrize(
    ("file", "name", "options", "message"),
    [
        ("jackal", "jackal", ["-a", "0"], "-a: found 0, expected a number above 0"),
        ("jackal", "jackal", ["-d", "0.005"], "5 samples"),
        ("jackal", "jack", [], 'no <vehicle:class name="jack">'),
        ("jackal", "jackal", ["--speed", "0"], "--speed: found 0, expected a number above 0"),
        ("jackal", "jackal", ["--speed", "nan"], "--speed: found nan, expected a number above 0"),
        ("absent", "absent", [], "absent.vehicle.xml"),
    ],
)
def test_what_cannot_be_tuned(
    capsys: pytest.CaptureFixture[str], file: str, name: str, options: list[str], message: str
) -> None:
    assert main(["tune", str(DEFINITIONS / f"{file}.vehicle.xml"), name, *options]) == 1
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1


def test_the_controller_of_the_right_class_is_replaced() -> None:
    text = """<w><!-- <vehicle:class name="a"> --><vehicle:class name="b"><dynamics><controller class="x"/></dynamics>
    </vehicle:class><vehicle:class other="1" name='a'><dynamics><controller
      class="x"><KP>1</KP></controller></dynamics></vehicle:class></w>"""
    changed = with_controller(text, "a", "<new/>")
    assert (
        changed.count("<controller") == 1 and '<controller class="x"/>' in changed and "<KP>" not in changed
    )
    assert changed.index("<new/>") > changed.index("name='a'")
