"""Files of recordings: links, forked children, a full disk."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import DATA

import mvsim_gym
from mvsim_gym.tools.cli import main

pytest.importorskip("mcap", reason="needs the extra record")
pytest.importorskip("rosbags", reason="needs the extra record")
from test_recording import messages_of

pytestmark = pytest.mark.unsanitized
YARD = DATA / "yard.world.xml"


def test_repair_follows_no_link(tmp_path: Path) -> None:
    world = mvsim_gym.World(YARD)
    with world.record(tmp_path / "run.mcap"):
        world.step(1)
    data = (tmp_path / "run.mcap").read_bytes()
    precious = tmp_path / "precious"
    precious.write_bytes(b"precious")
    for output, names in ((None, ["run.mcap.part"]), ("out.mcap", ["out.mcap", "out.mcap.part"])):
        (tmp_path / "run.mcap").write_bytes(data[: len(data) * 2 // 3])
        for name in names:
            (tmp_path / name).unlink(missing_ok=True)
            (tmp_path / name).symlink_to(precious)
        more = [] if output is None else ["-o", str(tmp_path / output)]
        assert main(["repair", str(tmp_path / "run.mcap"), *more]) == 0
        assert precious.read_bytes() == b"precious"
        assert len(messages_of(tmp_path / (output or "run.mcap"))["/r1/odom"]) > 10
    assert (tmp_path / "run.mcap.part").is_symlink() and not list(tmp_path.glob(".repair*"))


def test_a_forked_child_finishes_nothing_of_its_parents(tmp_path: Path) -> None:
    code = f"""if True:
        import os, sys
        import mvsim_gym
        world = mvsim_gym.World({os.fspath(YARD)!r}, log_dir="logs")
        recording = world.record("a.mcap")
        world.step(1.55)
        pid = os.fork()
        if pid == 0:
            world.step(0.5)
            assert recording.closed
            sys.exit(0)  # in the ordinary way
        assert os.waitpid(pid, 0)[1] == 0
        world.step(1)
        recording.close()"""
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)
    assert messages_of(tmp_path / "a.mcap")["/r1/odom"][-1][0] == 2_540_000_000
    rows = (tmp_path / "logs" / "mvsim_r1_pose.csv").read_text().splitlines()
    times = [row.split(",")[0] for row in rows[1:]]
    assert len(times) == len(set(times)) == 255 and len({row.count(",") for row in rows}) == 1


@pytest.mark.parametrize("limit", [30_000, 60_000])
def test_a_full_disk_ends_the_recording_and_not_the_world(tmp_path: Path, limit: int) -> None:
    code = f"""if True:
        import resource
        import mvsim_gym
        resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))
        world = mvsim_gym.World({os.fspath(YARD)!r})
        recording = world.record("a.mcap")
        world.step(10)
        assert recording.closed and recording.error.filename == "a.mcap", recording.error
        world.step(0.1)
        recording.close()
        again = world.record("a.mcap")  # the name is free
        world.step(0.1)
        again.close()
        assert again.error is None
        with world.record("b.mcap"):
            world.step(10)"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, check=True, capture_output=True, text=True
    )
    assert [line.count("b.mcap") for line in done.stderr.splitlines() if "recording" in line] == [0, 1]
    assert len(messages_of(tmp_path / "a.mcap")["/r1/odom"]) == 6
    found = messages_of(tmp_path / "b.mcap")  # finished, with what found room
    assert 0 < (tmp_path / "b.mcap").stat().st_size <= limit
    assert limit < 60_000 or len(found["/r1/odom"]) > 40
