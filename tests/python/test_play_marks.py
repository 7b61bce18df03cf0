"""Marks of played recordings: ropes and hitches, forces, scans of sensors that stand in the world.

Forged recordings are shown, or refused in one line.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import DATA

import mvsim_gym
from mvsim_gym import _core
from mvsim_gym.tools.cli import main
from mvsim_gym.tools.play import finder

pytest.importorskip("mcap", reason="needs the extra record")
pytest.importorskip("rosbags", reason="needs the extra record")
pytest.importorskip("viser", reason="needs the extra view")
from mcap.data_stream import RecordBuilder
from mcap.records import Channel, Chunk, Header, Message, Schema
from test_recording import messages_of

from mvsim_gym.recording.mcap_file import MAGIC, McapFile
from mvsim_gym.recording.mcap_reading import Recorded, open_mcap, pieces_of, record_at, repair
from mvsim_gym.recording.scene_topics import POSES, WORLD
from mvsim_gym.view.marks import forces_of
from mvsim_gym.view.playback import Playback

YARD = DATA / "yard.world.xml"
TOWER = """<mvsim_world>
  <block name="wall"><shape><pt>-0.1 -2</pt><pt>0.1 -2</pt><pt>0.1 2</pt><pt>-0.1 2</pt></shape>
    <static>true</static><init_pose>3 0 0</init_pose></block>
  <sensor class="laser" name="tower"><pose>1 0.5 30</pose><fov_degrees>120</fov_degrees><nrays>61</nrays>
    <sensor_period>0.1</sensor_period><range_std_noise>0</range_std_noise><angle_std_noise_deg>0</angle_std_noise_deg></sensor>
  ROBOTS
</mvsim_world>"""
ROBOT = """<vehicle name="{name}"><init_pose>{pose}</init_pose><dynamics class="differential">
  <l_wheel pos="0 0.2"/><r_wheel pos="0 -0.2"/><controller class="twist_pid"/></dynamics></vehicle>"""


def playback_of(path: Path) -> Playback:
    return Playback(Recorded(path), finder(None, {}))


def test_hitches_and_forces_are_those_of_the_world(tmp_path: Path) -> None:
    world = mvsim_gym.World(DATA / "rig.world.xml")
    world.vehicles["tractor"].set_twist(0.8, 0.9)
    was = {}
    with world.record(tmp_path / "x.mcap"):
        for k in range(1, 61):
            world.step(0.02)
            was[k] = _core.scene_marks(world._simulation)["joints"], forces_of(world.vehicles.values())
    played = playback_of(tmp_path / "x.mcap")
    assert played.has_forces
    for k in (5, 33, 60):
        joints, forces = was[k]
        moment = played.moment(0.02 * k, forces=True)
        assert joints.shape == (2, 3) and len(forces) == 4
        np.testing.assert_allclose(moment.joints, joints, atol=1e-5)
        np.testing.assert_allclose(moment.forces, forces, atol=1e-4)
        assert len(played.moment(0.02 * k).forces) == 0, "not asked for"


@pytest.mark.parametrize("robots", [0, 1, 2])
def test_sensors_that_stand_in_the_world_are_recorded(tmp_path: Path, robots: int) -> None:
    vehicles = "".join(ROBOT.format(name=f"r{k}", pose=f"-3 {2 * k} 0") for k in range(robots))
    (tmp_path / "t.world.xml").write_text(TOWER.replace("ROBOTS", vehicles))
    world = mvsim_gym.World(tmp_path / "t.world.xml")
    with world.record(tmp_path / "x.mcap"):
        world.step(0.15)
    reading = world.sensors["tower"].read()
    found = messages_of(tmp_path / "x.mcap")
    ((time, scan),) = found["/tower"]
    assert time == round(reading.time * 1e9) and scan.header.frame_id == "tower"
    np.testing.assert_array_equal(scan.ranges, np.where(reading.valid, reading.ranges, np.float32(np.inf)))
    edges = [edge for _, message in found["/tf"] for edge in message.transforms]
    (mount,) = [edge for edge in edges if edge.child_frame_id == "tower"]
    assert mount.header.frame_id == "map"
    assert (mount.transform.translation.x, mount.transform.translation.y) == (1, 0.5)
    hits = playback_of(tmp_path / "x.mcap").moment(0.12).hits
    assert len(hits) == reading.valid.sum() > 3
    np.testing.assert_allclose(hits[:, 0], 2.9, atol=1e-3)


def test_an_env_with_a_sensor_that_stands_is_recorded(tmp_path: Path) -> None:
    (tmp_path / "t.world.xml").write_text(TOWER.replace("ROBOTS", ROBOT.format(name="r", pose="0 -3 0")))
    (tmp_path / "t.env.xml").write_text(
        '<mvsim_env id="t" world="t.world.xml" control_period="0.1" time_limit="5"><agent vehicle="r">'
        '<action class="twist" vx="0 0.2" omega="-1 1"/><observe class="velocity"/></agent></mvsim_env>'
    )
    env = mvsim_gym.Env(str(tmp_path / "t.env.xml"))
    env.reset(seed=0)
    with env.record(tmp_path / "x.mcap"):
        for _ in range(5):
            env.step(env.action_space.sample())
    assert len(messages_of(tmp_path / "x.mcap")["/tower"]) == 6
    assert len(playback_of(tmp_path / "x.mcap").moment(0.3).hits) > 3


def records_of(path: Path) -> list[Any]:
    with open_mcap(path) as file:
        return [
            record_at(piece.data, record[2]) if isinstance(record, tuple) else record
            for piece in pieces_of(file)
            for record in piece.records
        ]


def test_forged_recordings_are_refused_or_shown(tmp_path: Path) -> None:
    """Bytes, types and times of messages of a good recording are changed."""
    world = mvsim_gym.World(YARD)
    with world.record(tmp_path / "good.mcap", period=0.1):
        world.step(0.5)
    good = records_of(tmp_path / "good.mcap")
    random = np.random.default_rng(3)
    kinds = ["std_msgs/msg/String", "nav_msgs/msg/Odometry", "none/msg/None", "sensor_msgs/msg/Image", ""]
    refused = 0
    for k in range(150):
        file = McapFile(tmp_path / "forged.mcap", "test")
        for record in good:
            changed = record
            if isinstance(record, Schema) and random.random() < 0.1:
                changed = Schema(
                    id=record.id, name=kinds[k % len(kinds)], encoding=record.encoding, data=record.data
                )
            if isinstance(record, Message) and random.random() < 0.3:
                data = bytearray(record.data)
                if k % 3 == 0:
                    data = data[: random.integers(len(data) + 1)]
                for _ in range(random.integers(4)):
                    if data:
                        data[random.integers(len(data))] = random.integers(256)
                time = int(random.integers(2**62)) if k % 7 == 0 else record.log_time
                changed = Message(
                    channel_id=record.channel_id,
                    log_time=time,
                    publish_time=time,
                    sequence=0,
                    data=bytes(data),
                )
            file.add(changed)
        file.close()
        try:
            played = playback_of(tmp_path / "forged.mcap")
            for share in (0.0, 0.3, 1.0):
                played.moment(share * played.duration, forces=True)
            played.after(0.1)
        except ValueError:
            refused += 1
    assert 20 < refused < 150


def test_a_forged_recording_ends_play_with_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    world = mvsim_gym.World(YARD)
    with world.record(tmp_path / "good.mcap"):
        world.step(0.1)
    channels: dict[int, str] = {}
    file = McapFile(tmp_path / "forged.mcap", "test")
    for record in records_of(tmp_path / "good.mcap"):
        if isinstance(record, Channel):
            channels[record.id] = record.topic
        if isinstance(record, Message) and channels[record.channel_id] == POSES:
            record.data = record.data[:50]
        file.add(record)
    file.close()
    assert main(["play", str(tmp_path / "forged.mcap"), "--port", "0"]) == 1
    error = capsys.readouterr().err
    assert f"a message of {POSES} is no std_msgs/msg/Float32MultiArray" in error
    assert error.startswith("mvsim-gym play: ") and error.count("\n") == 1
    assert WORLD in channels.values()


@pytest.mark.parametrize("compression", ["lz4", "zstd"])
def test_few_bytes_that_unpack_to_billions_are_no_messages(tmp_path: Path, compression: str) -> None:
    zstd_of_a_tebibyte = b"\x28\xb5\x2f\xfd\xe0" + (2**40).to_bytes(8, "little")
    data = zstd_of_a_tebibyte if compression == "zstd" else bytes(5_000_000)
    chunk = Chunk(
        compression=compression,
        data=data,
        message_start_time=0,
        message_end_time=0,
        uncompressed_crc=0,
        uncompressed_size=1,
    )
    path = tmp_path / "bomb.mcap"
    builder = RecordBuilder()
    for record in (Header(profile="", library=""), chunk):
        record.write(builder)
    path.write_bytes(MAGIC + builder.end())
    with pytest.raises(ValueError):
        records_of(path)
    found = repair(path)
    assert not found.finished and found.messages == 0
