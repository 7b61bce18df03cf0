"""A world as a node: what it publishes and what its services do, by the facts of MVSim's protocol."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import DATA, ROOT

pytest.importorskip("zmq", reason="needs the extra zmq")

import zmq
from comms_nodes import POSE, Bare, wait_for

from mvsim_gym import World, WorldFileError
from mvsim_gym.comms import Client, CommsError, Hub, WorldNode, decode_observation, messages
from mvsim_gym.comms.frames import decode, encode
from mvsim_gym.comms.poses import composed, relative
from mvsim_gym.comms.world_topics import topics_of
from mvsim_gym.parts import Pose

TWIST = ("vx", "vy", "vz", "wx", "wy", "wz")
YARD = DATA / "yard.world.xml"


class Running:
    """A world that runs in a thread as a node, step by step, and a client beside it."""

    def __init__(self, world: World, node: WorldNode, client: Client) -> None:
        self.world, self.node, self.client = world, node, client
        self.may_step = True
        self.steps = 0
        self.pause = 0.0002  # s
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        while not self._stop.is_set() and not self.node.is_ended:
            if self.may_step:
                self.world.step()
                self.steps += 1
            self.node.update()
            time.sleep(self.pause)

    def stop(self) -> None:
        self._stop.set()
        self._thread.join()

    def let_pass(self, steps: int) -> None:
        goal = self.steps + steps
        wait_for(lambda: self.steps >= goal)

    def get_pose(self, name: str) -> Any:
        return self.client.call("get_pose", messages.SrvGetPose(objectId=name))

    def set_pose(self, name: str, **pose: float) -> Any:
        request = messages.SrvSetPose(objectId=name)
        request.pose.CopyFrom(messages.Pose(**{**dict.fromkeys(POSE, 0.0), **pose}))
        return self.client.call("set_pose", request)

    def move(self, name: str, **pose: float) -> Any:
        request = messages.SrvSetPose(objectId=name, relativeIncrement=True)
        request.pose.CopyFrom(messages.Pose(**{**dict.fromkeys(POSE, 0.0), **pose}))
        return self.client.call("set_pose", request)

    def drive(self, name: str, vx: float, wz: float = 0) -> Any:
        request = messages.SrvSetControllerTwist(objectId=name)
        request.twistSetPoint.CopyFrom(messages.Twist(vx=vx, vy=0, vz=0, wx=0, wy=0, wz=wz))
        return self.client.call("set_controller_twist", request)

    def hear(self, topic: str, kind: Any, count: int = 1) -> list[Any]:
        """The first messages of a topic."""
        heard: list[Any] = []
        self.client.subscribe(topic, lambda name, data: heard.append((name, kind.FromString(data))))
        wait_for(lambda: len(heard) >= count)
        assert {name for name, _ in heard} == {kind.DESCRIPTOR.full_name}
        return [message for _, message in heard]


@contextmanager
def running(path: Path = YARD, **keywords: Any) -> Iterator[Running]:
    with Hub(0) as hub, Client("test", port=hub.port) as client:
        world = World(path)
        with WorldNode(world, port=hub.port, **keywords) as node:
            runs = Running(world, node, client)
            try:
                yield runs
            finally:
                runs.stop()


@pytest.fixture(scope="module")
def yard() -> Iterator[Running]:
    with running(relative={"r1": ["r2", "box"]}) as runs:
        yield runs


def test_the_world_is_a_node(yard: Running) -> None:
    assert "World" in yard.client.nodes()


def test_topics_of_a_world(yard: Running) -> None:
    """What can move has a pose, what senses has readings; nothing else has a topic."""
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


def test_stamps_are_simulated_time(yard: Running) -> None:
    before = yard.world.time
    (message, *_) = yard.hear("/r1/pose", messages.TimeStampedPose)
    assert before <= message.unixTimestamp <= yard.world.time + 0.01


def test_a_lidar_has_two_topics(yard: Running) -> None:
    (scan, *_) = yard.hear("/r1/laser1_scan", messages.ObservationLidar2D)
    (generic, *_) = yard.hear("/r1/laser1", messages.GenericObservation)
    assert scan.sourceObjectId == generic.sourceObjectId == "r1"  # the vehicle, not the sensor
    assert len(scan.scanRanges) == len(scan.validRanges) == 91 and scan.ccw
    assert scan.aperture == pytest.approx(math.pi) and scan.maxRange == 10
    assert (scan.sensorPose.x, scan.sensorPose.z) == pytest.approx((0.1, 0.2))
    assert scan.unixTimestamp == pytest.approx(round(scan.unixTimestamp / 0.01) * 0.01)
    reading = decode_observation(generic.mrptSerializedObservation)
    assert (reading.class_name, reading.sensor, reading.time) == ("laser", "laser1", generic.unixTimestamp)
    assert reading.arrays["ranges"].shape == (91,) and reading.pose.x == pytest.approx(0.1)


def test_rays_that_hit_nothing_have_the_largest_range(tmp_path: Path) -> None:
    text = """<mvsim_world><vehicle name="r"><init_pose>0 0 0</init_pose><dynamics class="differential"/>
      <sensor class="laser" name="l">
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
    """Whatever a sensor reads arrives as it was read; one that stands in the world has no source."""
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


TOLD = """<mvsim_world>
  <block:class name="crate"><publish>
    <publish_pose_topic>/crates/${NAME}</publish_pose_topic><publish_pose_period>0.02</publish_pose_period>
  </publish></block:class>
  <vehicle name="r"><init_pose>0 0 0</init_pose><dynamics class="differential"/>
    <publish><publish_pose_topic>/${NAME}/where</publish_pose_topic>
      <publish_pose_period>0.04</publish_pose_period>
      <publish_relative_pose_topic>/seen</publish_relative_pose_topic>
      <publish_relative_pose_objects>a, post</publish_relative_pose_objects></publish>
    <sensor class="laser" name="l"><publish><publish_topic>/front</publish_topic></publish></sensor>
    <sensor class="imu" name="i"><publish enabled="false"><publish_topic>/no</publish_topic></publish></sensor>
  </vehicle>
  <block name="a" class="crate"><init_pose>3 0 0</init_pose></block>
  <block name="b" class="crate"><init_pose>5 0 0</init_pose><publish enabled="false"/></block>
  <block name="post" class="crate"><static>true</static><init_pose>0 4 90</init_pose></block>
  <block name="wall"><static>true</static><init_pose>0 9 0</init_pose></block>
</mvsim_world>"""


@pytest.fixture
def told(tmp_path: Path) -> Path:
    (tmp_path / "told.world.xml").write_text(TOLD)
    return tmp_path / "told.world.xml"


def test_what_publish_tags_say(told: Path) -> None:
    world = World(told)
    assert world.warnings == []
    assert world.vehicles["r"].publication == ("/r/where", 0.04, "/seen", ("a", "post"))
    assert world.blocks["a"].publication == ("/crates/a", 0.02, "", ())
    assert world.blocks["b"].publication is None and world.blocks["wall"].publication is None
    sensors = world.vehicles["r"].sensors
    assert (sensors["l"].publish_topic, sensors["i"].publish_topic) == ("/front", "")


def test_topics_are_called_as_publish_tags_say(told: Path) -> None:
    """Those of the tags, and of what has none, or one that is switched off, the usual ones."""
    with running(told) as runs:
        names = {topic.name for topic in runs.client.topics()}
        poses = {"/r/where", "/seen", "/crates/a", "/b/pose", "/crates/post"}
        assert names == {*poses, "/front", "/front_scan", "/r/i"}
        (scan, *_) = runs.hear("/front_scan", messages.ObservationLidar2D)
        assert scan.sourceObjectId == "r"
        seen = runs.hear("/seen", messages.TimeStampedPose, 2)[:2]
        assert [(message.objectId, message.relativeToObjectId) for message in seen] == [
            ("a", "r"),
            ("post", "r"),
        ]
        assert (seen[1].pose.x, seen[1].pose.y) == pytest.approx((0, 4), abs=1e-3)


def test_poses_come_as_often_as_publish_tags_say(told: Path) -> None:
    """Over a hub the order of the rates is enough, for a busy machine; the next test has the figures."""
    with running(told) as runs:
        counts = dict.fromkeys(("/b/pose", "/r/where", "/crates/a"), 0)

        def count(topic: str) -> None:
            counts[topic] += counts["/b/pose"] < 5  # 0.1 s each

        for topic in counts:
            runs.client.subscribe(topic, lambda _kind, _data, topic=topic: count(topic))
        wait_for(lambda: all(counts.values()))
        counts.update(dict.fromkeys(counts, 0))
        wait_for(lambda: counts["/b/pose"] >= 5)
        assert 5 < counts["/r/where"] < counts["/crates/a"] < 60


def test_rates_that_publish_tags_say(told: Path) -> None:
    due = {
        topic.name: sum(topic.is_due(now) for now in np.arange(0, 1, 0.001))
        for topic in topics_of(World(told), {}, {})
    }
    poses = {"/r/where": 25, "/seen": 25, "/crates/a": 50, "/crates/post": 50, "/b/pose": 10}
    assert {name: due[name] for name in poses} == poses


def test_poses_of_each_step(tmp_path: Path) -> None:
    (tmp_path / "each.world.xml").write_text(TOLD.replace("0.02", "0"))
    topics = {topic.name: topic for topic in topics_of(World(tmp_path / "each.world.xml"), {}, {})}
    assert all(topics["/crates/a"].is_due(now) for now in (0, 0.001, 0.002, 0.002, 7))


def test_names_of_publish_tags_are_renamed_and_left_out_as_others(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "same.world.xml").write_text(TOLD.replace("/${NAME}/where", "/front"))
    names = [topic.name for topic in topics_of(World(tmp_path / "same.world.xml"), {}, {"/seen": "/others"})]
    assert len(set(names)) == len(names) and "/front" in names and "/others" in names and "/seen" not in names
    assert "one '/front' is left out, since another has this name" in caplog.text


@pytest.mark.parametrize("tag", ["publish_relative_pose_topic", "publish_relative_pose_objects"])
def test_relative_poses_that_are_half_asked_for(tmp_path: Path, tag: str) -> None:
    (tmp_path / "half.world.xml").write_text(
        '<mvsim_world><vehicle name="r"><init_pose>0 0 0</init_pose><dynamics class="differential"/>'
        f"<publish><{tag}>x</{tag}></publish></vehicle></mvsim_world>"
    )
    with pytest.raises(WorldFileError, match="expected both or none"):
        World(tmp_path / "half.world.xml")


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
    assert "of 251 the last 51 are left out" in caplog.text


def test_set_pose_and_get_pose() -> None:
    with running() as runs:
        answer = runs.set_pose("r1", x=-2, y=-1, yaw=0.7)
        assert answer.success and not answer.HasField("objectGlobalPose")
        runs.let_pass(2)
        found = runs.get_pose("r1")
        assert found.success
        assert (found.pose.x, found.pose.y, found.pose.yaw) == pytest.approx((-2, -1, 0.7), abs=1e-6)


def test_an_increment_is_in_the_frame_of_the_body() -> None:
    with running() as runs:
        runs.set_pose("r1", x=-2, y=-1, yaw=math.pi / 2)
        answer = runs.move("r1", x=1)
        pose = answer.objectGlobalPose
        assert answer.success and answer.HasField("objectGlobalPose")
        assert (pose.x, pose.y, pose.yaw) == pytest.approx((-2, 0, math.pi / 2), abs=1e-6)
        assert runs.move("box", y=0.5).objectGlobalPose.y == pytest.approx(0.5)


def test_velocities_outlast_set_pose() -> None:
    with running() as runs:
        runs.drive("r1", 0.5)
        wait_for(lambda: runs.get_pose("r1").twist.vx > 0.45)
        runs.set_pose("r1", x=-2, y=-1, yaw=math.pi / 2)
        runs.let_pass(3)
        twist = runs.get_pose("r1").twist
        assert twist.vx > 0.4 and abs(twist.vy) < 0.05


@pytest.mark.parametrize(
    ("name", "pose", "error"),
    [
        ("nobody", {}, "there is no vehicle or block 'nobody'"),
        ("r1", {"x": math.nan}, "nan"),
        ("r1", {"x": 1e9}, "1000 km"),
        ("post", {}, "static"),
    ],
)
def test_poses_that_cannot_be_set(yard: Running, name: str, pose: dict[str, float], error: str) -> None:
    answer = yard.set_pose(name, **pose)
    assert not answer.success and not answer.objectIsInCollision and error in answer.errorMessage


def test_the_pose_of_nobody(yard: Running) -> None:
    answer = yard.get_pose("nobody")
    assert not answer.success and "'nobody'" in answer.errorMessage and not answer.HasField("pose")
    assert yard.get_pose("post").pose.y == -2  # what stands has one, too


def test_a_twist_is_in_the_frame_of_the_body_and_stays() -> None:
    with running() as runs:
        runs.set_pose("r1", x=-2, y=-2, yaw=math.pi / 2)
        assert runs.drive("r1", 1.0).success
        runs.let_pass(150)
        first = runs.get_pose("r1")
        runs.let_pass(100)
        later = runs.get_pose("r1")
        for answer in (first, later):
            assert answer.twist.vx == pytest.approx(1, abs=0.05) and abs(answer.twist.vy) < 0.02
        assert later.pose.y > first.pose.y + 0.8


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("box", "'box' is not a vehicle"),
        ("r2", "the controller 'raw' of 'r2' takes no twists"),
        ("nobody", "there is no vehicle or block 'nobody'"),
    ],
)
def test_who_takes_no_twist(yard: Running, name: str, error: str) -> None:
    answer = yard.drive(name, 1.0)
    assert not answer.success and answer.errorMessage == error


@pytest.mark.parametrize(
    ("vx", "error"),
    [(math.nan, "not finite"), (math.inf, "expected at most 10000"), (1e300, "expected at most 10000")],
)
def test_a_twist_that_is_none(yard: Running, vx: float, error: str) -> None:
    answer = yard.drive("r1", vx)
    assert not answer.success and error in answer.errorMessage


def test_collisions_are_told_once() -> None:
    with running() as runs:
        assert not runs.get_pose("r1").objectIsInCollision
        runs.set_pose("r1", x=0.05, y=0)
        runs.drive("r1", 0.5)
        assert wait_for(lambda: runs.get_pose("r1").objectIsInCollision)
        assert wait_for(lambda: runs.set_pose("r1", x=-2, y=-2).objectIsInCollision or True)
        runs.drive("r1", 0)
        runs.let_pass(5)
        runs.get_pose("r1")
        runs.let_pass(5)
        assert not runs.get_pose("r1").objectIsInCollision


def test_fuzzed_calls() -> None:
    """Every call gets one answer that can be read, and the world goes on."""
    rng = np.random.default_rng(5)
    pose = messages.Pose(**POSE)
    requests = [
        ("set_pose", messages.SrvSetPose(objectId="r1", pose=pose, relativeIncrement=True)),
        ("get_pose", messages.SrvGetPose(objectId="box")),
        (
            "set_controller_twist",
            messages.SrvSetControllerTwist(objectId="r1", twistSetPoint=dict.fromkeys(TWIST, 0.1)),
        ),
    ]
    with running() as runs, Bare(runs.client.port) as bare:
        line = bare.socket(zmq.REQ)
        line.connect(bare.ask(messages.GetServiceInfoRequest(serviceName="set_pose")).serviceEndpoint)
        for _ in range(800):
            name, request = requests[rng.integers(3)]
            data = bytearray(request.SerializeToString())
            for _ in range(rng.integers(0, 4)):
                data[rng.integers(len(data))] = rng.integers(256)
            cut = rng.integers(len(data) // 2, len(data) + 5)
            call = bytearray(
                encode(messages.CallService(serviceName=name, serializedInput=bytes(data[:cut])))
            )
            if rng.integers(3) == 0:
                call[rng.integers(len(call))] = rng.integers(256)
            line.send(bytes(call))
            decode(line.recv())
        runs.let_pass(3)
        assert runs.set_pose("r1", x=-2, y=-2).success and np.isfinite(runs.get_pose("r1").pose.x)


def test_shutdown_ends_the_loop() -> None:
    with running() as runs:
        assert runs.client.call("shutdown", messages.SrvShutdown()).accepted
        assert wait_for(lambda: runs.node.is_ended)


def test_services_while_the_world_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between steps calls are answered; where nobody updates the node, an error comes in time."""
    monkeypatch.setattr("mvsim_gym.comms.world_services._PATIENCE", 0.2)
    with running() as runs:
        runs.may_step = False
        time.sleep(0.02)
        assert runs.set_pose("r1", x=-2).success and runs.get_pose("r1").pose.x == -2
        runs.stop()
        assert runs.get_pose("r1").pose.x == -2  # from the copy
        with pytest.raises(CommsError, match="the world stands still"):
            runs.set_pose("r1", x=1)


def test_a_world_that_goes_back_in_time() -> None:
    """After a snapshot is restored readings and poses come again, with the stamps of the world."""
    with Hub(0) as hub, Client("test", port=hub.port) as client:
        world = World(YARD)
        state = world.snapshot()
        with WorldNode(world, port=hub.port) as node:
            stamps: list[float] = []
            client.subscribe(
                "/r1/laser1_scan",
                lambda _, data: stamps.append(messages.ObservationLidar2D.FromString(data).unixTimestamp),
            )
            for _ in range(2):
                count = len(stamps)

                def more(count: int = count) -> bool:
                    world.step()
                    node.update()
                    return len(stamps) > count + 2

                wait_for(more)
                world.restore(state)
            assert min(np.diff(stamps)) < 0 and max(np.diff(stamps)) == pytest.approx(0.1)


def test_a_name_of_mvsims_python_users() -> None:
    """The two calls and the two types that programs for MVSim's client rely on."""
    with running() as runs:
        data = runs.client.callService("get_pose", messages.SrvGetPose(objectId="r1").SerializeToString())
        assert messages.SrvGetPoseAnswer.FromString(data).success
        heard: list[tuple[object, object]] = []
        runs.client.subscribeTopic("/r1/pose", lambda kind, payload: heard.append((kind, payload)))
        kind, payload = wait_for(lambda: heard)[0]
        assert kind == "mvsim_msgs.TimeStampedPose" and type(payload) is bytes


def page_code(name: str) -> str:
    return (ROOT / "docs" / "tools.md").read_text().split(f"```python {name}\n", 1)[1].split("```", 1)[0]


def test_the_pilot_of_the_page(yard: Running, capsys: pytest.CaptureFixture[str]) -> None:
    code = page_code("pilot").replace('Client("pilot")', f'Client("pilot", port={yard.client.port})')
    exec(code, {})
    assert "['test', 'World', 'pilot']" in capsys.readouterr().out
    yard.drive("r1", 0)


def test_the_node_of_the_page() -> None:
    names: dict[str, Any] = {}
    exec(page_code("node").replace('"my.world.xml"', repr(str(YARD))), names)
    assert names["world"].time == pytest.approx(1)
