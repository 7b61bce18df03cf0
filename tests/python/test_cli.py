"""The command line: what it writes, and how it says what is wrong."""

from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import DATA, IDS

from mvsim_gym.tools.cli import main

YARD = str(DATA / "yard.world.xml")
HEADER = "t_start,vehicle,kind,a,b,c\n"


def replay(tmp_path: Path, script: str, *more: str, world: str = YARD, duration: str = "0.5") -> int:
    commands = tmp_path / "commands.csv"
    commands.write_text(script)
    return main(
        ["replay", world, str(commands), "--duration", duration, "-o", str(tmp_path / "out.csv"), *more]
    )


def rows(path: Path) -> list[dict[str, str]]:
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def test_replay(tmp_path: Path) -> None:
    script = HEADER + "0.1,r1,twist,0.5,0,\n0.2,r2,torque,-0.5,-0.5,\n0.3,r1,twist,0,0,\n"
    assert replay(tmp_path, script, "--scans", str(tmp_path / "scans.csv")) == 0
    out = rows(tmp_path / "out.csv")
    assert [row["step"] for row in out] == [str(k) for k in range(51)]
    assert float(out[0]["r1.x"]) == -1 and float(out[50]["t"]) == pytest.approx(0.5)
    # a command at 0.1 s shows after the step that starts there, the 11th
    assert float(out[10]["r1.wheel0.torque"]) == 0 < float(out[11]["r1.wheel0.torque"])
    assert float(out[20]["r2.wheel0.torque"]) == 0 and float(out[21]["r2.wheel0.torque"]) == 0.5
    assert "box.x" in out[0] and "post.x" not in out[0]
    scans = rows(tmp_path / "scans.csv")
    assert {row["scan"] for row in scans} == {"0", "1", "2", "3"} and len(scans) == 4 * 91
    assert float(scans[0]["t"]) == pytest.approx(0.11)


def test_no_input_is_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = HEADER + "0,r1,twist,0.3,0,\n"
    commands = tmp_path / "commands.csv"
    assert replay(tmp_path, script, "--scans", str(tmp_path / "out.csv")) == 1
    assert replay(tmp_path, script, "-o", str(commands)) == 1
    assert commands.read_text() == script
    assert "must be different files" in capsys.readouterr().err


def test_replay_is_repeatable(tmp_path: Path) -> None:
    script = HEADER + "0,r1,twist,0.5,0.5,\n"
    outputs = []
    for _ in range(2):
        assert replay(tmp_path, script) == 0
        outputs.append((tmp_path / "out.csv").read_bytes())
    assert outputs[0] == outputs[1]


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("", "commands.csv:1: found nothing, expected the header"),
        ("t,v,k\n", "commands.csv:1: found the header 't,v,k'"),
        (HEADER + "0,r1,twist,1\n", "commands.csv:2: found 4 cells"),
        (
            HEADER + "0,r1,twist,1,0,\n0,r9,twist,1,0,\n",
            "commands.csv:3: found the vehicle 'r9', the world has: r1, r2",
        ),
        (
            HEADER + "0,r1,fly,1,0,\n",
            "commands.csv:2: found the kind 'fly', supported are: twist, torque, ack_raw",
        ),
        (HEADER + "0,r1,twist,fast,0,\n", "commands.csv:2: found a = 'fast', expected a finite number"),
        (HEADER + "nan,r1,twist,1,0,\n", "commands.csv:2: found t_start = 'nan'"),
        (HEADER + "0,r1,twist,1,0,7\n", "commands.csv:2: found c = '7'"),
        (
            HEADER + "0,r2,twist,1,0,\n",
            "commands.csv:2: found the kind 'twist', the controller 'raw' of 'r2' takes no twist",
        ),
        (HEADER + "0,r1,torque,1,0,\n", "commands.csv:2: found the kind 'torque', the controller"),
        (HEADER + '0,"r1,twist\n', "commands.csv:2"),
    ],
)
def test_wrong_scripts(tmp_path: Path, capsys: pytest.CaptureFixture[str], script: str, message: str) -> None:
    assert replay(tmp_path, script) == 1
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1


def test_wrong_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad = tmp_path / "bad.world.xml"
    bad.write_text("<mvsim_world><vehicle/></mvsim_world>")
    for world in (str(bad), str(tmp_path / "nowhere.xml")):
        assert replay(tmp_path, HEADER, world=world) == 1
        error = capsys.readouterr().err
        assert Path(world).name in error and error.count("\n") == 1
    assert replay(tmp_path, HEADER, duration="-1") == 1
    assert (
        main(["replay", YARD, str(tmp_path / "no.csv"), "--duration", "1", "-o", str(tmp_path / "out.csv")])
        == 1
    )
    assert replay(tmp_path, HEADER, "--scans", str(tmp_path / "no" / "scans.csv")) == 1


def test_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list"]) == 0
    out = capsys.readouterr().out
    assert all(id in out for id in [*IDS, "mvsim/Custom-v0"])


def test_doctor() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "mvsim_gym", "doctor"], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    for word in ("mvsim_gym", "numpy", "SIMD level", "threads", "libEGL", "pictures"):
        assert word in done.stdout


@pytest.mark.parametrize("env", ["mvsim/Custom-v0", "no_such_module:mine/Task-v0", "no.env.xml"])
def test_environments_that_are_none(capsys: pytest.CaptureFixture[str], env: str) -> None:
    assert main(["parameters", env]) == 1
    error = capsys.readouterr().err
    assert error.startswith("mvsim-gym parameters: ") and error.count("\n") == 1


def test_a_reader_that_has_enough() -> None:
    """As `mvsim-gym list | head -0`."""
    command = [sys.executable, "-m", "mvsim_gym", "list"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


def test_usage() -> None:
    for arguments in ([], ["dance"], ["replay"]):
        with pytest.raises(SystemExit) as caught:
            main(arguments)
        assert caught.value.code == 2


def test_validate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", YARD]) == 0
    out = capsys.readouterr().out
    assert "vehicles   2: r1 (" in out and "time step  10 ms" in out and "triangles" in out and "MiB" in out
    bad = tmp_path / "bad.world.xml"
    bad.write_text("<mvsim_world>\n<gravity>down</gravity></mvsim_world>")
    assert main(["validate", YARD, str(bad)]) == 1
    assert f"{bad}: error\n  error: {bad}:2:1: <gravity>: found 'down'" in capsys.readouterr().out
    warned = tmp_path / "warned.world.xml"
    warned.write_text("<mvsim_world><joystick_enabled>1</joystick_enabled></mvsim_world>")
    assert main(["validate", str(warned)]) == 0
    assert f"{warned}: 1 warning\n  warning: {warned}:1:14" in capsys.readouterr().out
    assert main(["validate", "--strict", str(warned)]) == 1
    assert main(["validate", str(tmp_path / "absent.xml")]) == 1


def test_show(tmp_path: Path) -> None:
    image = pytest.importorskip("matplotlib.image")
    assert main(["show", YARD, "-o", str(tmp_path / "a.png"), "--time", "0.1"]) == 0
    picture = image.imread(tmp_path / "a.png")
    assert picture.shape[1] > 1000 and picture[..., :3].std() > 0.05


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize("command", ["show", "replay", "plot"])
def test_a_full_disk_names_the_file(command: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    log = tmp_path / "log.csv"
    assert replay(tmp_path, HEADER + "0.1,r1,twist,0.5,0,\n", "-o", str(log)) == 0
    out = tmp_path / ("r1.png" if command == "plot" else "full.png")
    if command == "plot":
        assert main(["plot", str(log), "-o", str(tmp_path)]) == 0
        out = next(tmp_path.glob("*.png"))
        out.unlink()
    out.symlink_to("/dev/full")
    capfd.readouterr()
    arguments = {
        "show": ["show", YARD, "-o", str(out)],
        "replay": ["replay", YARD, str(tmp_path / "commands.csv"), "--duration", "0.5", "-o", str(out)],
        "plot": ["plot", str(log), "-o", str(tmp_path)],
    }
    assert main(arguments[command]) == 1
    assert str(tmp_path) in (said := capfd.readouterr().err) and "No space left" in said
