"""A recording seen again: what is shown at a time is what the API told then, also of an unfinished file."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import test_cameras
from browser import wait_for
from conftest import DATA
from signalled import command

import mvsim_gym
from mvsim_gym import _core
from mvsim_gym.tools.cli import main
from mvsim_gym.tools.play import finder

pytest.importorskip("mcap", reason="needs the extra record")
pytest.importorskip("rosbags", reason="needs the extra record")
pytest.importorskip("viser", reason="needs the extra view")
from test_recording import lines_of
from test_view import page

from mvsim_gym.recording.mcap_reading import Recorded
from mvsim_gym.recording.scene_topics import POSES, WORLD
from mvsim_gym.view.playback import Playback, PlayedView, between

YARD = DATA / "yard.world.xml"


def playback_of(path: Path, world: str | None = None) -> Playback:
    return Playback(Recorded(path), finder(world, {}))


def test_what_is_shown_is_what_was(tmp_path: Path) -> None:
    world = mvsim_gym.World(YARD)
    world.vehicles["r1"].set_twist(0.5, 0.5)
    laser, was = world.vehicles["r1"].sensors["laser1"], {}
    with world.record(tmp_path / "x.mcap"):
        for k in range(1, 101):
            world.step(0.02)
            speed = world.vehicles["r1"].twist
            was[k] = _core.scene_poses(world._simulation), speed, laser.read()
    played = playback_of(tmp_path / "x.mcap")
    assert played.duration == pytest.approx(2) and not played.has_pictures
    assert played.model.fingerprint == world._model.fingerprint
    for k in (1, 17, 50, 100):
        poses, speed, reading = was[k]
        moment = played.moment(0.02 * k)
        (group,) = moment.groups
        np.testing.assert_array_equal(group.poses[0], poses)
        assert tuple(moment.values.values()) == tuple(speed)
        assert len(moment.hits) == (0 if reading is None else reading.valid.sum())
    middle = played.moment(0.33).groups[0].poses[0]
    np.testing.assert_allclose(middle, (was[16][0] + was[17][0]) / 2, atol=1e-3)
    assert played.after(0.33) == pytest.approx(0.34) and played.after(2) == played.duration


def test_scans_are_where_the_robot_was_that_took_them(tmp_path: Path) -> None:
    """A turning robot has turned on by the time that they are looked at."""
    world = mvsim_gym.World(YARD)
    world.vehicles["r1"].set_twist(0.0, 1.0)
    with world.record(tmp_path / "x.mcap", period=0.05):
        world.step(3)
    recorded = Recorded(tmp_path / "x.mcap")
    taken = recorded.topics["/r1/laser1"].times[recorded.index("/r1/laser1", 2_580_000_000)] / 1e9
    assert 2.48 < taken < 2.55
    twin = mvsim_gym.World(YARD)
    twin.vehicles["r1"].set_twist(0.0, 1.0)
    twin.step(taken)
    hits = _core.scene_marks(twin._simulation)["hits"]
    np.testing.assert_allclose(playback_of(tmp_path / "x.mcap").moment(2.58).hits, hits, atol=0.06)  # noise


def test_touches_and_resets(tmp_path: Path) -> None:
    world = mvsim_gym.World(YARD)
    with world.record(tmp_path / "x.mcap", period=0.1):
        world.vehicles["r1"].set_twist(1, 0)
        world.step(2.5)
        before = world.vehicles["r1"].pose.x
        world.reset(seed=0)
        world.step(1)
    played = playback_of(tmp_path / "x.mcap")
    frames = {name: frame for _, name, frame in _core.scene_movers(played.model)}
    xs = [played.moment(t).groups[0].poses[0, frames["r1"], 0] for t in (2.49, 2.500001, 2.51)]
    assert xs[0] == pytest.approx(before, abs=0.02) and xs[1] == xs[2] == pytest.approx(-1, abs=1e-3)
    touched = [bool(played.moment(t).contacts[0]) for t in np.arange(0, 3.5, 0.1)]
    assert any(touched) and not touched[0] and not touched[-1]


def test_cameras_and_3d_lidars(tmp_path: Path) -> None:
    sensors = test_cameras.depth_camera() + test_cameras.lidar3d("0.1 0 0.7 10 3 0")
    wall = test_cameras.block("wall", "4 0 0", 0.2, 20, 0, 3)
    world = test_cameras.world_of(tmp_path, sensors, wall, pose="1 0 20")
    with world.record(tmp_path / "x.mcap"):
        world.step(0.5)
    played = playback_of(tmp_path / "x.mcap")
    assert played.has_pictures
    moment = played.moment(0.5)
    reading = world.vehicles["r"].sensors["cam"].read()
    assert set(moment.pictures) == {"cam_rgb", "cam_depth"}
    np.testing.assert_array_equal(moment.pictures["cam_rgb"], reading.image)
    assert moment.pictures["cam_depth"].shape == (48, 64, 3)
    ahead = moment.hits[moment.hits[:, 0] > 3]
    assert len(ahead) > 100 and (np.abs(ahead[:, 0] - 3.9) < 0.01).mean() > 0.9
    assert not played.moment(0.5).pictures, "none is new"


def test_between_two_moments() -> None:
    before = np.array([[0, 0, 0, 1, 0, 0, 0, 1], [0, 0, 0, 1, 0, 0, 0, 1]], np.float32)
    after = before.copy()
    half = np.sqrt(np.float32(0.5))
    after[0, :7] = (0.5, 0, 0, -half, 0, 0, -half)  # a quarter turn, with the other sign
    after[1, 0] = 5
    found = between(before, after, np.float32(0.5))
    np.testing.assert_allclose(
        found[0], (0.25, 0, 0, np.cos(np.pi / 8), 0, 0, np.sin(np.pi / 8), 1), atol=1e-6
    )
    np.testing.assert_array_equal(found[1], before[1], "who jumps stays")


def test_a_killed_process_leaves_what_can_be_played(tmp_path: Path) -> None:
    for process, _, time in lines_of(tmp_path / "x.mcap"):
        if time > 2.5:
            process.send_signal(signal.SIGKILL)
            break
    whole = (tmp_path / "x.mcap").read_bytes()
    played = playback_of(tmp_path / "x.mcap")
    assert 0.5 <= played.duration <= time
    assert played.moment(played.duration).groups[0].poses.shape == (1, 13, 8)
    assert (tmp_path / "x.mcap").read_bytes() == whole
    (tmp_path / "x.mcap").write_bytes(whole[: len(whole) * 2 // 3])
    assert 0 <= playback_of(tmp_path / "x.mcap").duration < played.duration


def test_the_world_is_found_or_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copy(YARD, tmp_path / "yard.world.xml")
    world = mvsim_gym.World(tmp_path / "yard.world.xml")
    with world.record(tmp_path / "x.mcap"):
        world.step(0.1)
    recorded = Recorded(tmp_path / "x.mcap")
    told = json.loads(recorded.message(WORLD, 0).data)
    assert told["world"] == str(tmp_path / "yard.world.xml") and told["frames"] == 13
    os.remove(tmp_path / "yard.world.xml")
    for arguments, message in (
        ([], "cannot be loaded"),
        (["--world", str(tmp_path / "absent.world.xml")], "absent.world.xml"),
        (["--world", str(DATA / "cars.world.xml")], "its world has 13 frames"),
        (["--speed", "0"], "--speed: found 0"),
    ):
        assert main(["play", str(tmp_path / "x.mcap"), *arguments]) == 1
        error = capsys.readouterr().err
        assert message in error and error.count("\n") == 1
        assert "--world" in error or "--speed" in error or "absent" in error
    assert playback_of(tmp_path / "x.mcap", str(YARD)).model.path == str(YARD)
    for content, message in (
        (b"abc", "no MCAP file"),
        (recorded_without_poses(tmp_path), f"no topic {POSES}"),
    ):
        (tmp_path / "y.mcap").write_bytes(content)
        assert main(["play", str(tmp_path / "y.mcap")]) == 1
        assert message in capsys.readouterr().err
    assert main(["play", str(tmp_path / "absent.mcap")]) == 1


def test_what_makes_no_sense_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    world = mvsim_gym.World(YARD)
    model = {"fingerprint": f"{world._model.fingerprint:016x}", "frames": 13}
    known = {"world": str(YARD), "world_seed": 0, "variables": {}, **model}
    for told, poses, message in (
        ("{", 13, "found '{' in"),
        ("[1]", 13, "found '[1]' in"),
        (json.dumps(model), 13, "it does not name its world"),
        (json.dumps({"world": str(YARD)}), 13, "expected the metadata of a world"),
        (json.dumps(known | {"frames": "many"}), 13, "its world has many frames"),
    ):
        write_recording(tmp_path / "x.mcap", told, poses)
        assert main(["play", str(tmp_path / "x.mcap")]) == 1
        error = capsys.readouterr().err
        assert message in error and error.count("\n") == 1
    write_recording(tmp_path / "x.mcap", json.dumps(known), 12)
    with pytest.raises(ValueError, match=r"at 0\.00 s: found 12 poses, expected 13"):
        playback_of(tmp_path / "x.mcap").moment(0)
    write_recording(tmp_path / "x.mcap", json.dumps(known), 13)
    assert playback_of(tmp_path / "x.mcap").moment(0).groups[0].poses.shape == (1, 13, 8)


def test_a_strangers_recording_imports_nothing_and_widens_no_roots(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "imported.py").write_text("raise SystemExit('imported')")
    monkeypatch.syspath_prepend(str(tmp_path))
    of_env = {"env": "imported:Foo-v0", "keywords": {}, "fingerprint": "0", "frames": 1}
    write_recording(tmp_path / "x.mcap", json.dumps(of_env), 1)
    with pytest.raises(ValueError, match=r"'imported:Foo-v0' cannot be loaded \(no file, and no environment"):
        playback_of(tmp_path / "x.mcap")
    (tmp_path / "secret.xml").write_text('<mvsim_world version="1.0"/>')
    folder = tmp_path / "a" / "b"
    folder.mkdir(parents=True)
    (folder / "x.world.xml").write_text(
        '<mvsim_world version="1.0"><include file="../../secret.xml"/></mvsim_world>'
    )
    of_world = {
        "world": str(folder / "x.world.xml"),
        "world_seed": 0,
        "variables": {},
        "roots": [str(tmp_path)],
        "fingerprint": "0",
        "frames": 0,
    }
    write_recording(tmp_path / "y.mcap", json.dumps(of_world), 0)
    with pytest.raises(ValueError, match=r"outside of the folders.*recorded with the folders .*see --roots"):
        playback_of(tmp_path / "y.mcap")


def write_recording(path: Path, told: str, poses: int) -> None:
    """A recording of one moment."""
    from mvsim_gym.recording.mcap_file import McapFile
    from mvsim_gym.recording.recording import _Topics
    from mvsim_gym.recording.scene_topics import SceneTopics
    from mvsim_gym.ros.messages import Messages

    file = McapFile(path, "test")
    topics = _Topics(file)
    SceneTopics(topics, {})  # offers its topics
    topics.write(WORLD, Messages.value("String", told), 0)
    topics.write(POSES, Messages.table(np.zeros((poses, 8), np.float32), ("frame", "pose")), 0)
    file.close()


def recorded_without_poses(folder: Path) -> bytes:
    """A recording of another program."""
    from mcap.writer import Writer

    with open(folder / "other.mcap", "wb") as file:
        writer = Writer(file)
        writer.start()
        schema = writer.register_schema("std_msgs/msg/Bool", "ros2msg", b"bool data")
        channel = writer.register_channel("/collision", "cdr", schema)
        writer.add_message(channel, 1, b"\0\1\0\0\1", 1)
        writer.finish()
    return (folder / "other.mcap").read_bytes()


def test_time_passes_while_somebody_looks(tmp_path: Path) -> None:
    world = mvsim_gym.World(YARD)
    with world.record(tmp_path / "x.mcap"):
        world.step(5)
    with PlayedView(playback_of(tmp_path / "x.mcap"), "127.0.0.1", 0) as view:
        view.advance()
        view.advance()
        assert view.at == 0, "nobody looks"
        with page(view.url):
            wait_for(lambda: view.is_watched)
            wait_for(lambda: view.advance() or view.at > 0.1)
            view.controls.paused = True
            view.advance()
            at = view.at
            view.advance()
            assert view.at == at
            slider = SimpleNamespace(value=3.0)
            view._seek(SimpleNamespace(client=None, target=slider))
            view.advance()
            assert view.at == at, "it moved by itself"
            view._seek(SimpleNamespace(client=object(), target=slider))
            view.advance()
            assert view.at == 3
            view.controls.wishes.append("step")
            view.advance()
            assert view.at == pytest.approx(3.02)
            view.controls.paused, view.controls.speed = False, 10.0
            wait_for(lambda: view.advance() or view.at == 5)
            wait_for(lambda: view.advance() or view._slider.value == 5)
        view.controls.wishes.append("end")
        view.advance()
        assert view.ended and view._feed.failure is None
        assert view._stage._bodies.worlds, "something was shown"


def test_ctrl_c_ends_it(tmp_path: Path) -> None:
    with mvsim_gym.World(YARD).record(tmp_path / "x.mcap"):
        pass
    with command("play", str(tmp_path / "x.mcap"), "--port", "0", stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        try:
            assert process.stderr.readline().startswith("view: http://127.0.0.1:")
            process.send_signal(signal.SIGINT)
            assert process.wait(20) == 0 and process.stderr.read() == ""
        finally:
            process.kill()
