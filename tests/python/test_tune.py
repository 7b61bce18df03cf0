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
    for speed, message in ((time[:9], "9 samples"), (-time, "does not move"), (1 + 0 * time, "at once")):
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
    assert [text.split()[0] for text in never.warnings()] == ["error", "rise"]


@pytest.mark.parametrize(
    ("file", "name", "options", "message"),
    [
        ("jackal", "jackal", ["-a", "0"], "-a: found 0, expected a number above 0"),
        ("jackal", "jackal", ["-d", "0.005"], "5 samples"),
        ("jackal", "jack", [], 'no <vehicle:class name="jack">'),
        ("compact_car", "compact_car", [], "the dynamics 'ackermann_drivetrain' is unsupported"),
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
