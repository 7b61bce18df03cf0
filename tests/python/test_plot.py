"""Plots of logs: the arrays that are drawn are those of the world, and the pictures show something."""

from __future__ import annotations

import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import DATA

import mvsim_gym
from mvsim_gym.tools.cli import main
from mvsim_gym.tools.plot import points_of
from mvsim_gym.tools.read_log import Scans, Track, Wheels, read_log

image = pytest.importorskip("matplotlib.image", reason="needs the extra plot")

pytestmark = pytest.mark.unsanitized


@pytest.fixture
def world(tmp_path: Path) -> mvsim_gym.World:
    world = mvsim_gym.World(DATA / "yard.world.xml", log_dir=tmp_path)
    world.vehicles["r1"].set_twist(0.4, 0.5)
    return world


def test_files_of_a_world(tmp_path: Path, world: mvsim_gym.World, capsys: pytest.CaptureFixture[str]) -> None:
    world.step(1)
    robot = world.vehicles["r1"]
    (track,) = read_log(str(tmp_path / "mvsim_r1_pose.csv"))
    assert isinstance(track, Track) and track.name == "r1" and len(track.time) == 100
    assert track.pose[-1] == pytest.approx((robot.pose.x, robot.pose.y, robot.pose.yaw), abs=1e-4)
    assert track.twist is not None and track.twist[-1] == pytest.approx(robot.twist, abs=1e-4)
    (wheel,) = read_log(str(tmp_path / "mvsim_r1_wheel_2.csv"))
    assert isinstance(wheel, Wheels)
    assert wheel.columns["torque"][-1] == pytest.approx(robot.wheels[1].torque, abs=1e-4)
    logs = [str(tmp_path / name) for name in ("mvsim_r1_pose.csv", "mvsim_r1_wheel_2.csv")]
    assert main(["plot", *logs, "-o", str(tmp_path / "pictures")]) == 0
    for line in capsys.readouterr().out.splitlines():
        picture = image.imread(line)
        assert picture.shape[1] > 800 and picture[..., :3].std() > 0.05
    assert main(["plot", logs[0]]) == 0 and (tmp_path / "mvsim_r1_pose.png").exists()


def test_a_recording(tmp_path: Path, world: mvsim_gym.World) -> None:
    pytest.importorskip("rosbags", reason="needs the extra record")
    path = str(tmp_path / "run.mcap")
    with world.record(path):
        world.step(1)
    r1, r2 = read_log(path)
    assert isinstance(r1, Track) and isinstance(r2, Track) and (r1.name, r2.name) == ("r1", "r2")
    pose = world.vehicles["r1"].pose
    assert r1.pose[-1] == pytest.approx((pose.x, pose.y, pose.yaw))
    scans = r1.scans["laser1"]
    assert scans.ranges.shape == (len(scans.time), 91) and not r2.scans
    points = points_of(r1, scans)
    # the walls' inner faces are 2.95 m from the middle, the noise is 1 cm
    on_walls = np.abs(np.abs(points).max(axis=1) - 2.95) < 0.05
    assert on_walls.sum() > 0.4 * len(points) and np.abs(points).max() < 3
    assert main(["plot", path]) == 0
    assert image.imread(tmp_path / "run.png")[..., :3].std() > 0.05
    (tmp_path / "run.mcap").write_bytes(Path(path).read_bytes()[:-2000])
    with pytest.raises(ValueError, match="mvsim-gym repair"):
        read_log(path)


def test_points_stand_where_the_lidar_looked() -> None:
    """A lidar 1 m before a robot that looks along +y sees a thing 2 m to its left: at x = 3 - 2, y = 4 + 1."""
    scans = Scans(np.array([0.5]), np.array([0, np.pi / 2]), np.array([[np.nan, 2.0]]), np.array([1.0, 0, 0]))
    pose = np.array([(3, 3, np.pi / 2), (3, 5, np.pi / 2)])
    assert points_of(Track("r", np.array([0.0, 1.0]), pose), scans) == pytest.approx(np.array([[1.0, 5.0]]))


def test_the_output_of_replay(tmp_path: Path) -> None:
    (tmp_path / "script.csv").write_text("t_start,vehicle,kind,a,b,c\n0,r1,twist,0.5,0,\n")
    out = str(tmp_path / "out.csv")
    world = str(DATA / "yard.world.xml")
    assert main(["replay", world, str(tmp_path / "script.csv"), "--duration", "1", "-o", out]) == 0
    tracks = read_log(out)
    assert [t.name for t in tracks] == ["r1", "r2"]
    assert main(["plot", out]) == 0 and (tmp_path / "out.png").exists()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", "", "no row is in it"),
        ("a.csv", "Timestamp, q0x\n", "no row is in it"),
        ("a.csv", "Timestamp, q0x\n1, x\n", "a.csv:2: could not convert"),
        ("a.csv", "apples, pears\n1, 2\n", "found the columns apples, pears"),
        ("a.mcap", "apples", "is no MCAP file"),
    ],
)
def test_what_is_no_log(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, content: str, message: str
) -> None:
    if name.endswith(".mcap"):
        pytest.importorskip("rosbags", reason="needs the extra record")
    (tmp_path / name).write_text(content)
    assert main(["plot", str(tmp_path / name)]) == 1
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1
    assert main(["plot", str(tmp_path / "absent.csv")]) == 1


def test_damaged_logs_are_drawn_or_refused_in_one_line(tmp_path: Path, world: mvsim_gym.World) -> None:
    """Flipped bits, in recordings also where the checksums fit."""
    pytest.importorskip("rosbags", reason="needs the extra record")
    with world.record(tmp_path / "good.mcap"):
        world.step(1)
    random = np.random.default_rng(0)
    for good in (tmp_path / "good.mcap", tmp_path / "mvsim_r1_pose.csv"):
        whole, refused = good.read_bytes(), 0
        bad = tmp_path / f"bad{good.suffix}"
        for _ in range(150):
            damaged = bytearray(whole)
            for _ in range(random.integers(1, 4)):
                damaged[random.integers(len(whole))] ^= 1 << random.integers(8)
            bad.write_bytes(damaged[: random.integers(1, 8) * len(whole) // 4])
            try:
                read_log(str(bad))
            except ValueError as error:
                refused += 1
                assert str(bad) in str(error) and "\n" not in str(error)
        assert refused > 50


def test_forged_recordings_are_drawn_or_refused(tmp_path: Path, world: mvsim_gym.World) -> None:
    pytest.importorskip("rosbags", reason="needs the extra record")
    from mcap.records import Channel, Message, Schema
    from test_play_marks import records_of

    from mvsim_gym.recording.mcap_file import McapFile

    with world.record(tmp_path / "good.mcap", period=0.1):
        world.step(0.5)
    good, bad = records_of(tmp_path / "good.mcap"), tmp_path / "bad.mcap"
    random = np.random.default_rng(1)
    refused = 0
    for _ in range(80):
        file = McapFile(bad, "test")
        for record in good:
            changed = record
            if isinstance(record, Message) and random.random() < 0.03:
                data = bytearray(record.data)
                for _ in range(3):
                    data[random.integers(len(data))] ^= 1 << random.integers(8)
                changed = Message(record.channel_id, record.log_time, bytes(data), record.publish_time, 0)
            if isinstance(record, Channel) and random.random() < 0.05:
                continue
            if isinstance(record, Schema) and random.random() < 0.05:
                changed = Schema(record.id, record.data, record.encoding, "std_msgs/msg/String")
            file.add(changed)
        file.close()
        try:
            for track in read_log(str(bad)):
                assert isinstance(track, Track) and np.isfinite(track.pose).all()
        except ValueError as error:
            refused += 1
            assert str(bad) in str(error)
    assert 10 < refused < 80


@pytest.mark.parametrize("packing", ["zstd", "lz4"])
@pytest.mark.parametrize("kind", ["one chunk", "many chunks", "many records", "many messages"])
def test_bombs_are_refused_in_little_memory(tmp_path: Path, packing: str, kind: str) -> None:
    """A small file that unpacks to gigabytes."""
    pytest.importorskip("mcap", reason="needs the extra record")
    import lz4.frame
    import zstandard
    from mcap.data_stream import RecordBuilder
    from mcap.records import Chunk, Header

    from mvsim_gym.recording.mcap_file import MAGIC

    record = {
        "many records": struct.pack("<BQ", 0x70, 0),
        "many messages": struct.pack("<BQHIQQ", 5, 22, 1, 0, 0, 0),
    }.get(kind, struct.pack("<BQ", 0x70, 2**25 - 9) + bytes(2**25 - 9))
    data = record * {"one chunk": 5, "many chunks": 2}.get(kind, 700_000)
    if kind == "one chunk":  # and the chunk does not say so
        announced, count = 100, 1
    else:
        announced, count = len(data), 20 if kind == "many chunks" else 1
    packed = zstandard.compress(data, 3) if packing == "zstd" else lz4.frame.compress(data)
    builder = RecordBuilder()
    Header(profile="", library="").write(builder)
    for _ in range(count):
        Chunk(packing, packed, 0, 0, 0, announced).write(builder)
    path = tmp_path / "bomb.mcap"
    path.write_bytes(MAGIC + builder.end())
    with pytest.raises(ValueError, match=r"holds no message|is no finished recording"):
        read_log(str(path))
    code = f"""if True:
        import resource, sys
        from mvsim_gym.recording.mcap_reading import repair
        from mvsim_gym.tools.read_log import read_log
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for read in (read_log, repair):
            try:
                read({str(path)!r})
            except ValueError:
                pass
        print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) >> 10)"""
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(told.stdout) < 400, "MB"
