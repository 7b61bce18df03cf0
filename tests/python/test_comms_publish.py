"""Topics that `<publish>` in a world names."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("zmq", reason="needs the extra zmq")

from comms_nodes import running, wait_for

from mvsim_gym import World, WorldFileError
from mvsim_gym.comms import messages
from mvsim_gym.comms.world_topics import topics_of

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
