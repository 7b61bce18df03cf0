"""The view without a browser: it sends the values of the API, changes nothing, and reports mistakes in one line."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pytest
import test_cameras
from browser import wait_for
from conftest import DATA, ROOT, actions_for

import mvsim_gym
from mvsim_gym import _core
from mvsim_gym._rotation import quaternion_of

pytest.importorskip("viser", reason="needs the extra 'view'")
from mvsim_gym.view.bodies import instances_of, kinds_of
from mvsim_gym.view.controls import Put
from mvsim_gym.view.moment import Group
from mvsim_gym.view.stage import tiles

YARD = str(DATA / "yard.world.xml")
ENV = "mvsim/NavArena-v0"


@contextmanager
def page(url: str, *options: str) -> Iterator[None]:
    """A client that acts as a browser does, without drawing."""
    command = [sys.executable, str(ROOT / "benchmarks" / "view_client.py"), url, *options]
    pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **pipes) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "there\n"
        try:
            yield
        finally:
            process.kill()


def chunks_of(glb: bytes) -> tuple[dict[str, Any], bytes]:
    magic, version, size = struct.unpack_from("<4sII", glb)
    assert (magic, version, size) == (b"glTF", 2, len(glb))
    (length,) = struct.unpack_from("<I", glb, 12)
    return json.loads(glb[20 : 20 + length]), glb[28 + length :]


def test_each_kind_of_body_is_one_mesh() -> None:
    model = mvsim_gym.World(YARD)._model
    parts, kinds = _core.scene_meshes(model), kinds_of(model)
    wheels = [kind for kind in kinds if len(kind.frames) == 4]
    assert len(wheels) == 1, "the four wheels of both robots look alike"
    assert sorted(f for kind in kinds for f in kind.frames) == sorted(part["frame"] for part in parts)
    for kind in kinds:
        top, data = chunks_of(kind.glb)
        part = next(part for part in parts if part["frame"] == kind.frames[0])
        (primitive,) = top["meshes"][0]["primitives"]
        accessor = top["accessors"][primitive["attributes"]["POSITION"]]
        view = top["bufferViews"][accessor["bufferView"]]
        sent = np.frombuffer(data, "<f4", 3 * accessor["count"], view["byteOffset"]).reshape(-1, 3)
        np.testing.assert_array_equal(sent, part["positions"])
        np.testing.assert_allclose(accessor["max"], part["positions"].max(axis=0))
        indices = top["accessors"][primitive["indices"]]
        assert indices["count"] == len(part["indices"]) and part["indices"].max() < accessor["count"]


def test_textures_are_sent_with_their_meshes(tmp_path: Path) -> None:
    from mvsim_gym._picture import png_of

    picture = np.random.default_rng(0).integers(0, 256, (4, 8, 3), np.uint8)
    (tmp_path / "floor.png").write_bytes(png_of(picture))
    world = tmp_path / "w.world.xml"
    world.write_text(
        '<mvsim_world><element class="horizontal_plane"><texture>floor.png</texture></element></mvsim_world>'
    )
    (kind,) = kinds_of(mvsim_gym.World(world)._model)
    top, data = chunks_of(kind.glb)
    assert "TEXCOORD_0" in top["meshes"][0]["primitives"][0]["attributes"]
    view = top["bufferViews"][top["images"][0]["bufferView"]]
    assert data[view["byteOffset"] :][:8] == b"\x89PNG\r\n\x1a\n"


def test_poses_sent_are_those_of_the_api() -> None:
    world = mvsim_gym.World(YARD)
    world.vehicles["r1"].set_twist(0.5, 0.7)
    world.step(3)
    with world.view(port=0) as view:
        moment = view.moment()
        (group,) = moment.groups
        frames = {name: frame for _, name, frame in _core.scene_movers(group.model)}
        for name, pose in (("r1", world.vehicles["r1"].pose), ("box", world.blocks["box"].pose)):
            kind = next(k for k in kinds_of(group.model) if frames[name] in k.frames)
            places, turns, scales = (
                values[:, 0]
                for values in instances_of(kind.frames, group.poses, np.zeros((1, 3), np.float32))
            )
            row = list(kind.frames).index(frames[name])
            np.testing.assert_allclose(places[row], pose[:3], atol=1e-6)
            x, y, z, w = quaternion_of(*pose[3:])
            assert abs(np.dot(turns[row], (w, x, y, z))) == pytest.approx(1, abs=1e-6)
            np.testing.assert_array_equal(scales[row], 1)
        assert abs(world.vehicles["r1"].pose.yaw) > 0.5
        reading = world.vehicles["r1"].sensors["laser1"].read(fresh=True)
        assert len(moment.hits) == reading.valid.sum()
        view._show(moment)  # all of it can be drawn
        shown = [one for world in view._stage._bodies.worlds.values() for one in world.kinds]
        count = sum(len(one.sent[0]) for one in shown)
        assert count == len(_core.scene_meshes(group.model))


def test_what_cameras_and_3d_lidars_see(tmp_path: Path) -> None:
    sensors = test_cameras.depth_camera() + test_cameras.lidar3d("0.1 0 0.7 10 3 0")
    wall = test_cameras.block("wall", "4 0 0", 0.2, 20, 0, 3)
    world = test_cameras.world_of(tmp_path, sensors, wall, pose="1 0 20")
    world.step(0.5)
    with world.view(port=0) as view:
        moment = view.moment()
        assert set(moment.pictures) == {"r/cam", "r/cam depth"}
        assert all(picture.shape == (48, 64, 3) for picture in moment.pictures.values())
        # rays end on the near side of the wall, wherever the sensor looks from
        ahead = moment.hits[moment.hits[:, 0] > 3]
        assert len(ahead) > 100
        near = np.abs(ahead[:, 0] - 3.9) < 0.01
        assert near.mean() > 0.9 and (ahead[:, 2] < 3.01).all()
        view._show(moment)
        assert not view.moment().pictures, "none is new"


def test_what_sensors_see_that_stand_in_the_world(tmp_path: Path) -> None:
    sensors = test_cameras.depth_camera("0 0 0.5 0 0 0") + test_cameras.lidar3d("0 0 0.7 0 0 0")
    wall = test_cameras.block("wall", "4 0 0", 0.2, 20, 0, 3)
    world = test_cameras.world_of(tmp_path, "", wall + sensors, pose="-3 0 0")
    world.step(0.5)
    with world.view(port=0) as view:
        moment = view.moment()
        assert set(moment.pictures) == {"cam", "cam depth"}
        assert (np.abs(moment.hits[:, 0] - 3.9) < 0.01).sum() > 100


def test_pictures_that_an_env_observes(tmp_path: Path) -> None:
    envs = mvsim_gym.VectorEnv(test_cameras.env_file(tmp_path), num_envs=2)
    envs.reset(seed=1)
    with envs.view(port=0) as view:
        view.controls.chosen = 1
        seen, *_ = envs.step(np.array([[0, 0], [1, 0.5]], np.float32))
        moment = view.moment()
        assert set(moment.pictures) == {"image"}
        np.testing.assert_array_equal(moment.pictures["image"], seen["image"][1, -1])
        assert not view.moment().pictures, "four a second, at most"
        view._show(moment)
    envs.close()


def test_agents_are_seen_with_their_world(tmp_path: Path) -> None:
    robots = [
        test_cameras.ROBOT.format(pose=f"0 {y} 0", sensors=test_cameras.depth_camera()).replace(
            '"r"', f'"r{y}"'
        )
        for y in (0, 4)
    ]
    (tmp_path / "w.world.xml").write_text(f"<mvsim_world>{''.join(robots)}</mvsim_world>")
    task = test_cameras.ENV.replace('vehicle="r"', 'vehicles="r*"')
    for without in ('<observe class="range_image"/>', '<reset><spawn pose="0 0 0"/></reset>'):
        task = task.replace(without, "")
    (tmp_path / "t.env.xml").write_text(task)
    envs = mvsim_gym.VectorEnv(tmp_path / "t.env.xml", num_envs=4, reward={"speed": 1})
    envs.reset(seed=1)
    with envs.view(port=0) as view:
        view.controls.chosen = 1
        seen, rewards, *_ = envs.step(np.array([[0, 0], [1, 0], [0, 1], [1, 1]], np.float32))
        moment = view.moment()
        assert set(moment.pictures) == {"r0 image", "r4 image"}
        for row, name in ((2, "r0"), (3, "r4")):
            np.testing.assert_array_equal(moment.pictures[f"{name} image"], seen["image"][row, -1])
        assert moment.values["reward env"] == rewards[2:].mean() != rewards[0]
    envs.close()


def test_quaternions_of_all_attitudes(tmp_path: Path) -> None:
    """Blocks on keyframes turn about z alone; wheels spin, so their frames meet each branch."""
    world = mvsim_gym.World(YARD)
    vehicle = world.vehicles["r1"]
    vehicle.set_twist(0.5, 0.0)
    for _ in range(60):
        world.step(0.05)
        poses = _core.scene_poses(world._simulation).astype(float)
        np.testing.assert_allclose(np.linalg.norm(poses[:, 3:7], axis=1), 1, atol=1e-6)
        yaw, pitch, roll = vehicle.pose[3:]
        assert (pitch, roll) == (0, 0)
        angle = vehicle.wheels[0].angle
        expected = np.array(quaternion_of(yaw, angle, 0))[[3, 0, 1, 2]]
        frame = next(kind for kind in kinds_of(world._model) if len(kind.frames) == 4).frames[0]
        assert abs(expected @ poses[frame, 3:7]) == pytest.approx(1, abs=1e-6)


def test_envs_lie_side_by_side_and_have_their_goals() -> None:
    envs = mvsim_gym.VectorEnv(ENV, num_envs=5)
    envs.reset(seed=3)
    with envs.view(port=0) as view:
        envs.step(np.zeros((5, 2), np.float32))
        view.controls.chosen = 3
        moment = view.moment()
        (group,) = moment.groups
        assert group.envs.tolist() == [0, 1, 2, 3, 4]
        frames = {name: frame for kind, name, frame in _core.scene_movers(group.model) if kind == "vehicle"}
        np.testing.assert_allclose(
            group.poses[:, frames["robot"], :2], envs.read("vehicle:robot/pose")[:, :2], atol=1e-6
        )
        assert moment.goals is not None
        np.testing.assert_array_equal(moment.goals[:, :2], envs.read("goal"))
        assert moment.values["reward mean"] == pytest.approx(envs._rewards.mean())
        view._show(moment)
        view._stage.all_envs = False
        view._show(moment)
        shown = [one for world in view._stage._bodies.worlds.values() for one in world.kinds]
        body = next(one for one in shown if 1 in one.kind.frames)
        np.testing.assert_allclose(body.sent[0][0], group.poses[3, 1, :3], atol=1e-6)
    envs.close()


def test_tiles_do_not_overlap() -> None:
    places = tiles((-2.0, 4.0, -1.0, 1.0), 7)
    assert places.shape == (7, 3) and places[0].tolist() == [0, 0, 0]
    gaps = np.abs(places[:, None, :2] - places[None, :, :2])
    apart = (gaps[..., 0] > 6) | (gaps[..., 1] > 2)
    assert apart[~np.eye(7, dtype=bool)].all()


def rollout(watch: Any = None) -> bytes:
    envs = mvsim_gym.VectorEnv(ENV, num_envs=8, time_limit=2.0)
    envs.reset(seed=5)
    out = []
    view = envs.view(port=0) if watch is not None else None
    with watch(view.url) if view is not None else threading.Lock():
        if view is not None:
            wait_for(lambda: view.is_watched)
        for action in actions_for(1, 60, 8):
            observation, reward, terminated, truncated, _ = envs.step(action)
            arrays = (*(observation[key] for key in sorted(observation)), reward, terminated, truncated)
            out += [array.tobytes() for array in arrays]
            if view is not None:
                view._feed._due = 0.0  # a moment each step
        if view is not None:
            wait_for(
                lambda: bool(view._stage._bodies.worlds)
            )  # something is shown, at the latest the last moment
    state = envs.snapshot()
    if view is not None:
        assert view._feed.failure is None
    envs.close()
    return b"".join([*out, state])


def test_who_looks_changes_no_byte() -> None:
    @contextmanager
    def two(url: str) -> Iterator[None]:
        with page(url), page(url, "--stall"):
            yield

    assert rollout(two) == rollout()


def test_pages_that_go_or_never_read_hold_nobody_up() -> None:
    envs = mvsim_gym.VectorEnv(ENV, num_envs=8)
    envs.reset(seed=5)
    actions = np.zeros((8, 2), np.float32)
    with envs.view(port=0) as view, page(view.url, "--stall"):
        wait_for(lambda: view.is_watched)
        with page(view.url):
            wait_for(lambda: len(view._server.get_clients()) == 2)
        longest = 0.0
        for _ in range(200):
            began = time.monotonic()
            envs.step(actions)
            longest = max(longest, time.monotonic() - began)
            time.sleep(0.002)
        assert longest < 1.0 and view._feed.failure is None
        wait_for(lambda: len(view._server.get_clients()) == 1)
        view.controls.paused = True  # waits only while a browser is connected
        stepped = threading.Thread(target=envs.step, args=(actions,))
        stepped.start()
        time.sleep(0.2)
        assert stepped.is_alive()
        view.controls.wishes.append("step")
        stepped.join(5)
        assert not stepped.is_alive()
    envs.step(actions)
    envs.close()


def test_things_are_put_where_the_simulation_allows_it() -> None:
    world = mvsim_gym.World(YARD)
    said: list[str] = []
    with world.view(port=0) as view:
        view.controls.say = said.append  # type: ignore[method-assign]
        view.controls.wishes.extend(
            [Put("block:box", 1.0, 2.0, 0.5, 0), "w", Put("block:post", 1.0, 1.0, 0.0, 0)]
        )
        assert list(view.wishes()) == ["w"]
        pose = world.blocks["box"].pose
        assert (pose.x, pose.y, pose.yaw) == pytest.approx((1, 2, 0.5))
        assert len(said) == 1 and "post" in said[0]
    envs = mvsim_gym.VectorEnv(ENV, num_envs=3)
    envs.reset(seed=1)
    with envs.view(port=0) as seen:
        seen.controls.say = said.append  # type: ignore[method-assign]
        seen.controls.wishes.append(Put("vehicle:robot", 0.0, 0.0, 1.0, 2))
        seen._take_commands()
        np.testing.assert_allclose(envs.read("vehicle:robot/pose")[2], (0, 0, 1), atol=1e-9)
        seen.controls.wishes.append(Put("vehicle:robot", float("nan"), 0.0, 1.0, 2))
        seen._take_commands()
        assert len(said) == 2
    envs.close()


def test_clicks_find_the_ground_of_the_chosen_env() -> None:
    envs = mvsim_gym.VectorEnv(ENV, num_envs=4)
    envs.reset(seed=1)
    with envs.view(port=0) as view:
        place = tiles(_core.scene_bounds(envs._batch.model(0))[:4], 4)[3]  # type: ignore[union-attr]
        origin = place + np.array([0.0, 0.0, 5.0])
        found = view._stage.ground_at(origin, np.array([0.1, 0.2, -1.0]), 3)
        assert found == pytest.approx((0.5, 1.0))
        assert view._stage.ground_at(origin, np.array([0.1, 0.2, 0.3]), 3) is None
    envs.close()


def test_a_server_answers_and_lets_go_of_its_port() -> None:
    world = mvsim_gym.World(YARD)
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    port = 0
    for _ in range(2):  # then the same port again
        view = world.view(port=port)
        port = urlsplit(view.url).port or 0
        assert view.url.startswith("http://127.0.0.1:")
        assert b"<html" in opener.open(view.url, timeout=10).read().lower()
        with pytest.raises(ValueError, match="found a view of"):
            world.view(port=0)
        view.close()
        view.close()
        world.step(0.1)
    with pytest.raises(OSError):
        opener.open(view.url, timeout=10)


def test_copies_and_pickles_are_not_viewed() -> None:
    import copy
    import pickle

    world = mvsim_gym.World(YARD)
    envs = mvsim_gym.VectorEnv(ENV, num_envs=2)
    env = mvsim_gym.Env(ENV)
    envs.reset(seed=1)
    env.reset(seed=1)
    things: list[Any] = [world, envs, env]
    for thing in things:
        with thing.view(port=0):
            for twin in (copy.deepcopy(thing), pickle.loads(pickle.dumps(thing))):
                assert twin._view is None
    assert env.step(np.zeros(2, np.float32))


def test_nothing_of_it_is_imported_before_it_is_asked_for() -> None:
    code = (
        "import sys, mvsim_gym, mvsim_gym.world, mvsim_gym.tools.cli;"
        "print([m for m in sys.modules if m.split('.')[0] in ('viser', 'websockets') or '.view' in m])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=dict(os.environ))
    assert out.stdout.strip() == "[]", out.stdout + out.stderr


def test_blocks_that_are_resized_are_shown_so() -> None:
    poses = np.zeros((2, 2, 8), np.float32)
    poses[1, 1] = (1, 2, 3, 1, 0, 0, 0, 0.5)
    group = Group(None, np.arange(2, dtype=np.int32), poses)  # type: ignore[arg-type]
    places, _, scales = instances_of(np.array([1]), group.poses, np.full((2, 3), 10, np.float32))
    np.testing.assert_array_equal(places[0, 1], (11, 12, 13))
    np.testing.assert_array_equal(scales[0, 1], (0.5, 0.5, 1))
