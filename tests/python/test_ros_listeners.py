"""Subscribers of a node of ROS 2: late ones, subscribers of images, and those with a QoS that does not fit."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from conftest import DATA

pytest.importorskip("cyclonedds", reason="needs the extra ros")
pytest.importorskip("rosbags", reason="needs the extra ros")

import ros_peer as ros
from ros_running import Running
from test_recording_views import WORLD, rotation_of

from mvsim_gym._notices import _say

pytestmark = pytest.mark.unsanitized
YARD = DATA / "yard.world.xml"


def test_who_comes_late_gets_what_was_latched(run: Callable[..., Running]) -> None:
    runs = run(YARD, clock=True)
    for _ in range(150):
        runs.step()
    polygon, static = runs.hear(
        {"/r1/chassis_polygon": ros.Polygon, "/r1/tf_static": ros.TFMessage}, late=True
    )
    (edge,) = static[0].transforms
    assert (edge.header.frame_id, edge.child_frame_id) == ("base_link", "base_footprint")
    assert edge.header.stamp.ns == 0 and edge.transform.rotation.w == 1
    outline = runs.world.vehicles["r1"]._model.outline
    assert np.array([(p.x, p.y) for p in polygon[0].points]) == pytest.approx(outline)


def test_pictures_are_made_for_those_who_look(
    run: Callable[..., Running], monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = run(WORLD, clock=True)
    sensors, peer = runs.world.vehicles["r"].sensors, runs.peer
    reads: list[str] = []
    read = type(sensors["cam"]).read
    monkeypatch.setattr(
        type(sensors["cam"]),
        "read",
        lambda self, **options: (reads.append(self.name), read(self, **options))[1],
    )
    tf, *_ = runs.hear({"/tf": ros.TFMessage, "/cam/camera_info": ros.CameraInfo}, 3)
    assert set(reads) == {"cam"}
    frames = {e.child_frame_id: e.transform for message in tf for e in message.transforms}
    assert {"cam", "eye_rgb", "eye_depth", "eye_points", "lidar_points"} <= set(frames)
    expected: dict[int, Any] = {}

    def step() -> None:
        runs.step()
        for name, sensor in sensors.items():
            if (reading := read(sensor)) is not None:
                expected.setdefault(round(reading.time * 1e9), {})[name] = reading

    for topic in ("/cam", "/eye_rgb", "/eye_depth"):
        peer.listen(f"{topic}/image_raw", ros.Image)
    for topic in ("/lidar_points", "/eye_points"):
        peer.listen(topic, ros.PointCloud2)
    peer.wait(lambda: all(peer.heard.values()), step)
    for topic, name in (("/cam", "cam"), ("/eye_rgb", "eye"), ("/eye_depth", "eye")):
        message = peer.heard[f"{topic}/image_raw"][-1]
        reading = expected[message.header.stamp.ns][name]
        if topic == "/eye_depth":
            assert (message.encoding, message.step) == ("16UC1", 2 * message.width)
            depths = np.frombuffer(bytes(message.data), "<u2").reshape(reading.depth.shape) / 1000
            assert depths == pytest.approx(reading.depth, abs=5.1e-4)
        else:
            assert message.encoding == "bgr8" and bytes(message.data) == reading.image[..., ::-1].tobytes()
    cloud = peer.heard["/lidar_points"][-1]
    points = expected[cloud.header.stamp.ns]["lidar"].points()
    assert bytes(cloud.data) == points.tobytes() and cloud.width == len(points) > 2
    seen = peer.heard["/eye_points"][-1]
    reading = expected[seen.header.stamp.ns]["eye"]
    points = np.frombuffer(bytes(seen.data), "<f4").reshape(-1, 3).astype(float)
    assert seen.width == len(points) == np.count_nonzero(reading.depth) > 20 and seen.point_step == 12
    row, column = np.argwhere(reading.depth)[7]
    k, pose = reading.intrinsics["depth"], reading.T_vehicle_camera["depth"]
    ray = np.linalg.inv(k) @ (column, row, 1) * float(reading.depth[row, column])
    q, place = frames["eye_points"].rotation, frames["eye_points"].translation
    there = rotation_of(q.x, q.y, q.z, q.w) @ points[7] + (place.x, place.y, place.z)
    assert there == pytest.approx(pose[:3, :3] @ ray + pose[:3, 3], abs=1e-5)
    info = peer.heard["/cam/camera_info"][-1]
    assert list(info.k) == [20, 0, 16, 0, 21, 12, 0, 0, 1]


@pytest.mark.parametrize("prefix", ["", "/fleet"])
def test_maps_are_those_of_the_file(run: Callable[..., Running], prefix: str) -> None:
    from PIL import Image

    world = DATA / "oracle" / "lidar_gridmap" / "world.xml"
    runs = run(world, clock=True, namespace=prefix)
    topics = {f"{prefix}/simul_map": ros.OccupancyGrid, f"{prefix}/simul_map_metadata": ros.MapMetaData}
    (grid,), (info,) = runs.hear(topics, late=True)
    pixels = np.asarray(Image.open(world.with_name("grid.png")).convert("L"))[::-1]  # row 0 at the bottom
    assert (grid.header.frame_id, grid.header.stamp.ns) == ("map", 0)
    assert grid.info == info and (info.height, info.width) == pixels.shape
    assert info.resolution == pytest.approx(0.1)
    assert info.origin.position.x == pytest.approx(-4) and info.origin.position.y == pytest.approx(-3)
    assert np.array_equal(np.reshape(grid.data, pixels.shape), np.where(pixels < 128, 100, 0))
    assert {0, 100} == set(grid.data)


def test_subscribers_that_get_nothing_are_told(
    run: Callable[..., Running], caplog: pytest.LogCaptureFixture
) -> None:
    runs = run(YARD)
    fit = {f"/{robot}/collision": ros.Bool for robot in ("r1", "r2")}
    runs.hear(fit | {f"/{robot}/base_pose_ground_truth": ros.Odometry for robot in ("r1", "r2")})
    runs.peer.listen("/r1/odom", ros.Odometry, late=True)  # which is not latched
    runs.peer.listen("/r1/laser1", ros.Image)
    with caplog.at_level(logging.WARNING, "mvsim_gym"):
        runs.peer.wait(lambda: len(caplog.messages) >= 2, runs.transport.look_for_unmatched)
        for _ in range(20):
            runs.transport.look_for_unmatched()
    for text, topic in zip(sorted(caplog.messages), ("/r1/laser1", "/r1/odom"), strict=True):
        assert f"a subscriber of {topic} gets nothing" in text
    assert "sensor_msgs::msg::dds_::Image_" in sorted(caplog.messages)[0]


def test_best_effort_subscribers_of_large_messages_are_told(
    run: Callable[..., Running], caplog: pytest.LogCaptureFixture
) -> None:
    camera = """<mvsim_world><vehicle name="r"><init_pose>0 0 0</init_pose><dynamics class="differential"/>
      <sensor class="camera" name="big"><ncols>640</ncols><nrows>480</nrows></sensor>
      <sensor class="camera" name="small"><ncols>320</ncols><nrows>240</nrows></sensor>
      </vehicle></mvsim_world>"""
    _say.cache_clear()
    runs = run(camera)
    for name in ("big", "small"):
        runs.peer.listen(f"/{name}/image_raw", ros.Image, reliable=False)
    heard = runs.peer.heard
    with caplog.at_level(logging.WARNING, "mvsim_gym"):
        runs.peer.wait(lambda: heard["/small/image_raw"], runs.step)
        runs.peer.wait(lambda: caplog.messages, lambda: (runs.step(), runs.transport.look_for_unmatched()))
        runs.transport.look_for_unmatched()
    (text,) = caplog.messages
    assert "a subscriber of /big/image_raw is best effort and may miss messages" in text
