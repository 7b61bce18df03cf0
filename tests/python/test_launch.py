"""A world in real time: its clock, its keys, its end and what it writes. Keys and their steps are those of MVSim."""

from __future__ import annotations

import io
import math
import os
import pty
import select
import signal
import subprocess
import time
from pathlib import Path

import pytest
from conftest import DATA
from signalled import command

import mvsim_gym
from mvsim_gym.tools.cli import main
from mvsim_gym.tools.launch import Clock, launch
from mvsim_gym.tools.teleop import Teleop

YARD = str(DATA / "yard.world.xml")
CAR = """<mvsim_world><vehicle name="car"><init_pose>0 0 0</init_pose>
  <dynamics class="{dynamics}"><max_steer_ang_deg>5</max_steer_ang_deg><controller class="{controller}"/></dynamics>
</vehicle></mvsim_world>"""


def teleop_of(tmp_path: Path, dynamics: str, controller: str) -> Teleop:
    path = tmp_path / f"{dynamics}_{controller}.world.xml"
    path.write_text(CAR.format(dynamics=dynamics, controller=controller))
    return Teleop(mvsim_gym.World(path))


def pressed(teleop: Teleop, keys: str) -> list[float]:
    for key in keys:
        teleop.press(key)
    return list(teleop.command.values())


DEGREE = math.pi / 180


@pytest.mark.parametrize(
    ("dynamics", "controller", "keys", "expected"),
    [
        ("ackermann", "twist_front_steer_pid", "wwwaaaaa", [0.3, 5 * DEGREE]),
        ("ackermann", "twist_front_steer_pid", "wwwaaaaa ", [0, 0]),
        ("ackermann", "twist_ideal", "sd", [-0.1, -2 * DEGREE]),
        ("ackermann", "front_steer_pid", "w" + 8 * "a", [0.1, 5 * DEGREE]),
        ("ackermann", "front_steer_pid", "wddd ", [0, -3 * DEGREE]),
        ("ackermann", "raw", "wwa", [-2, -2, DEGREE]),
        ("ackermann", "raw", "wwa ", [0, 0, DEGREE]),
        ("ackermann_drivetrain", "twist_front_steer_pid", "wa", [0.1, DEGREE]),
        ("ackermann_drivetrain", "front_steer_pid", "SD", [-0.1, -DEGREE]),
        ("ackermann_drivetrain", "raw", "wwwd", [-3, -DEGREE]),
        ("ackermann_drivetrain", "throttle_brake", 12 * "w" + "a", [1, 0, DEGREE]),
    ],
)
def test_keys_of_cars(
    tmp_path: Path, dynamics: str, controller: str, keys: str, expected: list[float]
) -> None:
    assert pressed(teleop_of(tmp_path, dynamics, controller), keys) == pytest.approx(expected)


def test_keys_of_differential_robots() -> None:
    world = mvsim_gym.World(YARD)
    teleop = Teleop(world)
    assert pressed(teleop, "www") == pytest.approx([0.3, 0])
    assert pressed(teleop, "aaaaa") == pytest.approx([0.3, 10 * DEGREE])
    assert pressed(teleop, " ") == [0, 0]
    assert pressed(teleop, "2w") == pytest.approx([-0.05, -0.05])
    assert pressed(teleop, "a") == pytest.approx([0, -0.1])
    assert pressed(teleop, "dd ") == [0, 0]
    assert not teleop.press("3") and not teleop.press("x") and teleop.number == (2, 2)
    pressed(teleop, "1ww")
    world.step(1)
    assert world.vehicles["r1"].twist.vx == pytest.approx(0.2, rel=0.1)
    assert abs(world.vehicles["r2"].twist.vx) < 1e-6


def test_vehicles_are_counted_in_the_order_of_their_names(tmp_path: Path) -> None:
    text = "".join(
        f'<vehicle name="{name}"><init_pose>{i * 3} 0 0</init_pose><dynamics class="differential"/></vehicle>'
        for i, name in enumerate("bca")
    )
    (tmp_path / "three.world.xml").write_text(f"<mvsim_world>{text}</mvsim_world>")
    teleop = Teleop(mvsim_gym.World(tmp_path / "three.world.xml"))
    names = []
    for key in "1234":
        teleop.press(key)
        assert teleop.selected is not None
        names.append(teleop.selected.name)
    assert names == ["a", "b", "c", "c"]


def test_a_world_without_vehicles(tmp_path: Path) -> None:
    (tmp_path / "empty.world.xml").write_text("<mvsim_world/>")
    teleop = Teleop(mvsim_gym.World(tmp_path / "empty.world.xml"))
    assert not teleop.press("w") and not teleop.press("1") and teleop.selected is None
    assert launch(str(tmp_path / "empty.world.xml"), factor=100, duration=1) == pytest.approx(1)


def test_the_clock_catches_up_a_second() -> None:
    wall = [100.0]
    clock = Clock(2, now=lambda: wall[0])
    wall[0] += 0.5
    assert clock.lag(0) == pytest.approx(1) and clock.lag(0.75) == pytest.approx(0.25)
    wall[0] += 0.9  # a stall
    assert clock.lag(1) == pytest.approx(1.8) and clock.dropped == 0
    wall[0] += 10  # a long one
    assert clock.lag(2.8) == pytest.approx(2) and clock.dropped == pytest.approx(9)
    assert clock.lag(4.8) == pytest.approx(0)


def test_time_passes_as_asked() -> None:
    began = time.monotonic()
    assert launch(YARD, factor=4, duration=2, say=io.StringIO()) == pytest.approx(2)
    assert 0.48 <= time.monotonic() - began < 2


def test_outputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    quick = ["launch", YARD, "--headless", "--no-hub", "--realtime-factor", "1000", "--duration", "1"]
    assert main(quick) == 0
    assert list((tmp_path / "here").iterdir()) == []
    pytest.importorskip("rosbags", reason="needs the extra record")
    assert main([*quick, "--outputs", "out", "--record", "run.mcap"]) == 0
    assert [p.name for p in (tmp_path / "here").iterdir()] == ["out"]
    names = {p.name for p in (tmp_path / "here" / "out").iterdir()}
    poses = {f"mvsim_{r}_{what}.csv" for r in ("r1", "r2") for what in ("pose", "wheel_1", "wheel_2")}
    assert names == {*poses, "ground_truth.r1.txt", "ground_truth.r2.txt", "run.mcap"}
    rows = [line.split() for line in Path("out/ground_truth.r1.txt").read_text().splitlines()]
    assert 45 <= len(rows) <= 51 and {len(row) for row in rows} == {8}
    values = [list(map(float, row)) for row in rows]
    assert values[-1][0] - values[0][0] == pytest.approx(0.98, abs=0.03)
    assert values[-1][1:3] == pytest.approx([-1, 0], abs=1e-3) and values[-1][7] == pytest.approx(1)
    from mvsim_gym.tools.read_log import read_log

    assert read_log("out/run.mcap")[0].time[-1] == pytest.approx(1)  # type: ignore[union-attr]


def test_cameras_and_3d_lidars_need_no_window(tmp_path: Path) -> None:
    pytest.importorskip("rosbags", reason="needs the extra record")
    import test_cameras
    from test_recording import messages_of

    sensors = test_cameras.depth_camera() + test_cameras.lidar3d("0.1 0 0.7 10 3 0")
    test_cameras.world_of(tmp_path, sensors, test_cameras.block("wall", "4 0 0", 0.2, 20, 0, 3))
    quick = ["--headless", "--no-hub", "--realtime-factor", "1000", "--duration", "0.5"]
    recording = str(tmp_path / "x.mcap")
    assert main(["launch", str(tmp_path / "w.world.xml"), *quick, "--record", recording]) == 0
    found = messages_of(tmp_path / "x.mcap")
    assert len(found["/cam_rgb/image_raw"]) == len(found["/lidar_points"]) == 4
    assert len(set(bytes(found["/cam_rgb/image_raw"][-1][1].data))) > 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([YARD, "--realtime-factor", "0"], "--realtime-factor: found 0"),
        ([YARD, "--duration", "-1"], "--duration: found -1"),
        (["absent.world.xml"], "absent.world.xml"),
    ],
)
def test_what_is_wrong(capsys: pytest.CaptureFixture[str], arguments: list[str], message: str) -> None:
    assert main(["launch", "--no-hub", *arguments]) == 1
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1


def start(*arguments: str, **more: int) -> subprocess.Popen[bytes]:
    return command("launch", YARD, "--no-hub", *arguments, text=False, **more)  # type: ignore[return-value]


@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGTERM])
def test_signals_end_it_in_good_order(tmp_path: Path, kind: signal.Signals) -> None:
    pytest.importorskip("rosbags", reason="needs the extra record")
    out = tmp_path / "out"
    with start("--headless", "--outputs", str(out), "--record", "x.mcap", stderr=subprocess.PIPE) as process:
        wait_for(lambda: (out / "mvsim_r1_pose.csv").exists())
        process.send_signal(kind)
        _, error = process.communicate(timeout=20)
    assert process.returncode == 0
    assert f"ended by signal {int(kind)}" in error.decode()
    from mvsim_gym.tools.read_log import read_log

    assert len(read_log(str(out / "x.mcap"))) == 2  # finished


def wait_for(holds: object) -> None:
    until = time.monotonic() + 20
    while not holds():  # type: ignore[operator]
        assert time.monotonic() < until
        time.sleep(0.02)


def test_keys_of_a_terminal(tmp_path: Path) -> None:
    main_end, terminal = pty.openpty()
    out = tmp_path / "out"
    port = ("--view-port", "0")  # the default one belongs to the first test that takes it
    with start("--outputs", str(out), *port, stdin=terminal, stdout=terminal, stderr=terminal) as process:
        wait_for(lambda: (out / "mvsim_r1_pose.csv").exists())
        os.write(main_end, b"ww\x1b[Aa")
        shown = read_until(main_end, b"vx 0.3 omega 0.0349")
        assert b"r1 1/2 (LOGGING)" in shown
        os.write(main_end, b"l")
        read_until(main_end, b"r1 1/2: ")
        os.write(main_end, b"ln2")
        read_until(main_end, b"r2 2/2 (LOGGING)")
        wait_for(lambda: (out / "session_2-mvsim_r1_pose.csv").exists())
        os.write(main_end, b"\x1b")
        read_until(main_end, b"simulated ")
        assert process.wait(timeout=20) == 0
    os.close(main_end)
    os.close(terminal)
    heads = [(out / f"{p}mvsim_r1_pose.csv").read_text().splitlines()[0] for p in ("", "session_2-")]
    assert heads[0] == heads[1] and heads[0].startswith("Timestamp, ")


def read_until(fd: int, expected: bytes) -> bytes:
    shown, until = b"", time.monotonic() + 20
    while expected not in shown:
        assert time.monotonic() < until, shown
        if select.select([fd], [], [], 0.1)[0]:
            shown += os.read(fd, 65536)
    return shown
