"""Topics that a world publishes, by the facts of MVSim's protocol."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("zmq", reason="needs the extra zmq")

from comms_nodes import YARD, Running, running, wait_for

from mvsim_gym import World
from mvsim_gym.comms import CommsError, decode_observation, messages
from mvsim_gym.comms.mrpt_scan import decode_scan
from mvsim_gym.comms.poses import composed, relative
from mvsim_gym.comms.world_topics import topics_of
from mvsim_gym.parts import Pose


@pytest.fixture(scope="module")
def yard() -> Iterator[Running]:
    with running(relative={"r1": ["r2", "box"]}) as runs:
        yield runs


def test_topics_of_a_world(yard: Running) -> None:
    """Bodies that can move have a pose, sensors have readings; nothing else has a topic."""
    pose, readings, scans = ("TimeStampedPose", "GenericObservation", "ObservationLidar2D")
    expected = {"/r1/pose": pose, "/r2/pose": pose, "/box/pose": pose, "/r1/relative_poses": pose}
    expected |= {"/r1/laser1": readings, "/r1/laser1_scan": scans}
    found = {topic.name: topic.type for topic in yard.client.topics()}
    assert found == {name: f"mvsim_msgs.{kind}" for name, kind in expected.items()}
    assert all(topic.publishers == ("World",) for topic in yard.client.topics())


def test_an_empty_world_publishes_nothing(tmp_path: Path) -> None:
    (tmp_path / "empty.world.xml").write_text("<mvsim_world/>")
    with running(tmp_path / "empty.world.xml") as runs:
        assert runs.client.topics() == []


def test_poses_are_in_the_frame_of_the_world(yard: Running) -> None:
    (message, *_) = yard.hear("/r2/pose", messages.TimeStampedPose)
    assert message.objectId == "r2" and not message.HasField("relativeToObjectId")
    pose = message.pose
    assert (pose.x, pose.y, pose.yaw) == pytest.approx((-1, 1.5, 0), abs=1e-3)


def test_poses_of_others_are_in_the_frame_of_the_body(yard: Running) -> None:
    heard = yard.hear("/r1/relative_poses", messages.TimeStampedPose, 2)
    assert [message.objectId for message in heard[:2]] == ["r2", "box"]
    assert {message.relativeToObjectId for message in heard} == {"r1"}


def test_stamps_of_poses_are_the_time_of_day(yard: Running) -> None:
    before = time.time()
    (message, *_) = yard.hear("/r1/pose", messages.TimeStampedPose)
    assert before <= message.unixTimestamp <= time.time()


def test_long_filters_are_cut_off(yard: Running) -> None:
    """Each byte of a filter is a node of a tree in the publisher's memory."""
    import zmq

    (endpoint,) = next(topic.endpoints for topic in yard.client.topics() if topic.name == "/r1/pose")
    with zmq.Context() as context, context.socket(zmq.SUB) as socket:
        socket.setsockopt(zmq.LINGER, 0)
        monitor = socket.get_monitor_socket(zmq.EVENT_DISCONNECTED)
        socket.connect(endpoint)
        socket.subscribe(bytes(9000))
        assert monitor.poll(5000), "it is cut off"
        socket.disable_monitor()
        monitor.close(0)
    assert yard.hear("/r1/pose", messages.TimeStampedPose)


def test_a_lidar_has_two_topics(yard: Running) -> None:
    (scan, *_) = yard.hear("/r1/laser1_scan", messages.ObservationLidar2D)
    (generic, *_) = yard.hear("/r1/laser1", messages.GenericObservation)
    assert scan.sourceObjectId == generic.sourceObjectId == "r1"  # the vehicle, not the sensor
    assert len(scan.scanRanges) == len(scan.validRanges) == 91 and scan.ccw
    assert scan.aperture == pytest.approx(math.pi) and scan.maxRange == 10
    assert (scan.sensorPose.x, scan.sensorPose.z) == pytest.approx((0.1, 0.2))
    assert scan.unixTimestamp == pytest.approx(round(scan.unixTimestamp / 0.01) * 0.01)
    reading = decode_observation(generic.mrptSerializedObservation)
    assert (reading.class_name, reading.sensor) == ("laser", "laser1")
    assert reading.time == pytest.approx(generic.unixTimestamp, abs=1e-6)  # MRPT counts steps of 100 ns
    assert reading.arrays["ranges"].shape == (91,) and reading.pose.x == pytest.approx(0.1)
    assert generic.mrptSerializedObservation.startswith(b"\xa2mrpt::obs::CObservation2DRangeScan\x07")
    own = yard.world.vehicles["r1"].sensors["laser1"].read()
    np.testing.assert_allclose(reading.arrays["angles"], own.angles, atol=1e-6)
    assert decode_scan(generic.mrptSerializedObservation).deviation == pytest.approx(0.01)


@pytest.mark.parametrize(
    "more", ["", "<raytrace_3d>true</raytrace_3d><ignore_parent_body>true</ignore_parent_body>"]
)
def test_rays_that_hit_nothing_have_the_largest_range(tmp_path: Path, more: str) -> None:
    text = f"""<mvsim_world><vehicle name="r"><init_pose>0 0 0</init_pose><dynamics class="differential"/>
      <sensor class="laser" name="l">{more}
      <nrays>5</nrays><max_range>7</max_range><sensor_period>0.01</sensor_period></sensor>
    </vehicle></mvsim_world>"""
    (tmp_path / "open.world.xml").write_text(text)
    with running(tmp_path / "open.world.xml") as runs:
        (scan, *_) = runs.hear("/r/l_scan", messages.ObservationLidar2D)
        assert list(scan.scanRanges) == [7] * 5 and list(scan.validRanges) == [False] * 5


def test_each_reading_is_published_once(tmp_path: Path) -> None:
    with running() as runs:
        heard = runs.hear("/r1/laser1_scan", messages.ObservationLidar2D, 5)
        stamps = [message.unixTimestamp for message in heard]
        assert np.diff(stamps) == pytest.approx([0.1] * (len(stamps) - 1))


def test_readings_that_nobody_hears_are_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    with running() as runs:
        made: list[object] = []
        for topic in runs.node._topics:
            monkeypatch.setattr(topic, "messages", lambda name=topic.name: made.append(name) or iter(()))
        runs.let_pass(50)
        assert made == []
        runs.client.subscribe("/r1/laser1", print)
        wait_for(lambda: made)
        assert set(made) == {"/r1/laser1"}


def test_sensors_of_every_class(tmp_path: Path) -> None:
    """Readings of every sensor arrive unchanged. A sensor of the world itself has no source."""
    sensors = {
        "imu": "<measure_orientation>true</measure_orientation>",
        "gnss": "",
        "camera": "<ncols>8</ncols><nrows>6</nrows>",
        "lidar3d": "<horz_nrays>16</horz_nrays><vert_nrays>4</vert_nrays>",
    }
    text = "".join(
        f'<sensor class="{name}" name="{name}"><sensor_period>0.01</sensor_period>{inner}</sensor>'
        for name, inner in sensors.items()
    )
    (tmp_path / "all.world.xml").write_text(
        "<mvsim_world><georeference><latitude>36</latitude><longitude>-2</longitude></georeference>"
        '<vehicle name="r"><init_pose>0 0 0</init_pose><dynamics class="differential"/>'
        f"{text}</vehicle>"
        '<sensor class="laser" name="eye"><pose>1 2 0</pose><sensor_period>0.01</sensor_period></sensor></mvsim_world>'
    )
    world = World(tmp_path / "all.world.xml")
    world.step(0.1)
    topics = {topic.name: topic for topic in topics_of(world, {}, {})}
    assert set(topics) == {"/r/pose", "/eye", "/eye_scan", *(f"/r/{name}" for name in sensors)}
    for name, source in (*((f"/r/{name}", "r") for name in sensors), ("/eye", ""), ("/eye_scan", "")):
        assert topics[name].kind.DESCRIPTOR.full_name.startswith("mvsim_msgs.")
        (message,) = topics[name].messages()
        assert message.sourceObjectId == source and message.IsInitialized()
    arrays = {
        name: decode_observation(next(topics[f"/r/{name}"].messages()).mrptSerializedObservation).arrays
        for name in sensors
    }
    reading = {name: world.vehicles["r"].sensors[name].read() for name in sensors}
    assert (arrays["camera"]["image"] == reading["camera"].image).all()
    assert (arrays["lidar3d"]["range_image"] == reading["lidar3d"].range_image).all()
    assert (arrays["imu"]["linear_acceleration"] == reading["imu"].linear_acceleration).all()
    assert arrays["gnss"]["place"][0] == reading["gnss"].latitude


def test_poses_come_by_the_clock_of_the_wall() -> None:
    """Ten a second, however fast or slow the world runs, and no burst after a stall."""
    world = World(YARD)
    (topic,) = (topic for topic in topics_of(world, {}, {}) if topic.name == "/r1/pose")
    fast = [now for now in np.arange(0, 1, 0.001) if topic.is_due(now)]
    assert len(fast) == 10 and np.diff(fast) == pytest.approx([0.1] * 9, abs=0.0011)
    assert [topic.is_due(now) for now in (9, 9.001, 9.04, 9.06, 9.07)] == [True, False, False, True, False]


@pytest.mark.parametrize("step", [0.03, 0.07, 0.099])
def test_poses_keep_their_mean_rate(step: float) -> None:
    (topic,) = (topic for topic in topics_of(World(YARD), {}, {}) if topic.name == "/r1/pose")
    due = [now for now in np.arange(0, 100, step) if topic.is_due(now)]
    assert len(due) == pytest.approx(1000, abs=2)


def test_the_clock_of_the_wall_may_jump(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing looks at the time of day."""
    with running() as runs:
        runs.hear("/r1/pose", messages.TimeStampedPose)
        for jump in (-1e6, 1e6):
            monkeypatch.setattr(time, "time", lambda jump=jump: 1.7e9 + jump)
            count = len(runs.hear("/r1/pose", messages.TimeStampedPose, 2))
            assert count >= 2


def test_poses_in_frames() -> None:
    turned = Pose(1, 2, 3, math.pi / 2, 0, 0)
    assert composed(turned, Pose(1, 0, 0, 0, 0, 0)) == pytest.approx((1, 3, 3, math.pi / 2, 0, 0))
    assert relative(turned, Pose(1, 3, 3, math.pi, 0, 0)) == pytest.approx((1, 0, 0, math.pi / 2, 0, 0))
    tilted = Pose(1, 2, 3, 0.4, -0.3, 0.2)
    other = Pose(-2, 0.5, 1, 2.5, 0.7, -1)
    assert composed(tilted, relative(tilted, other)) == pytest.approx(other)
    nose_down = Pose(0, 0, 0, 0, math.pi / 4, 0)
    half = math.sqrt(0.5)
    assert composed(nose_down, Pose(1, 0, 0, 0, 0, 0))[:3] == pytest.approx((half, 0, -half))


def test_relative_poses_of_what_is_not_there() -> None:
    with pytest.raises(CommsError, match="there is no vehicle or block 'r9'"):
        topics_of(World(YARD), {"r1": ["r9"]}, {})


def test_topics_under_other_names() -> None:
    world = World(YARD)
    names = [topic.name for topic in topics_of(world, {}, {"/r1/laser1_scan": "/front"})]
    assert "/front" in names and "/r1/laser1_scan" not in names and "/r1/laser1" in names
    with pytest.raises(CommsError, match="there is no topic '/r1/laser'; there are: /r1/pose, "):
        topics_of(world, {}, {"/r1/laser": "/front"})


def test_names_that_two_topics_would_have(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    sensors = "".join(f'<sensor class="laser" name="{name}"/>' for name in ("pose", "l", "l_scan"))
    (tmp_path / "same.world.xml").write_text(
        '<mvsim_world><vehicle name="r"><init_pose>0 0 0</init_pose><dynamics class="differential"/>'
        f"{sensors}</vehicle></mvsim_world>"
    )
    topics = topics_of(World(tmp_path / "same.world.xml"), {}, {})
    assert [topic.name for topic in topics] == [
        "/r/pose",
        "/r/pose_scan",
        "/r/l",
        "/r/l_scan",
        "/r/l_scan_scan",
    ]
    assert "one '/r/pose' is left out" in caplog.text and "one '/r/l_scan' is left out" in caplog.text


def test_more_topics_than_there_are_ports_for(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    blocks = "".join(f'<block name="b{i}"><init_pose>{i * 3} 5 0</init_pose></block>' for i in range(250))
    (tmp_path / "many.world.xml").write_text(
        '<mvsim_world><vehicle name="r"><init_pose>0 0 0</init_pose><dynamics class="differential"/></vehicle>'
        f"{blocks}</mvsim_world>"
    )
    with running(tmp_path / "many.world.xml") as runs:
        topics = runs.client.topics()
        assert len(topics) == 200 and topics[0].name == "/r/pose"
        assert runs.get_pose("b249").success
    assert "found 251, expected at most 200: the last ones" in caplog.text
