"""The view in headless Chromium: pixels are looked at, keys are pressed. Skipped where there is no Chromium."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from browser import WHY_NOT, Browser, browser, wait_for
from conftest import DATA
from test_view import page

import mvsim_gym
from mvsim_gym.tools.launch import _carry_out
from mvsim_gym.tools.teleop import Teleop
from mvsim_gym.view.view import View

pytest.importorskip("viser", reason="needs the extra 'view'")
pytest.importorskip("selenium", reason="needs selenium")
pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT)]

Picture = npt.NDArray[np.uint8]


@contextmanager
def running(step: Callable[[], object], view: View) -> Iterator[None]:
    """Steps on another thread until the end, as a training script would on its own."""
    ended = threading.Event()
    failures: list[Exception] = []

    def run() -> None:
        try:
            while not ended.is_set():
                step()
                time.sleep(0.05)
        except Exception as error:
            failures.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join(10)
    assert not failures and view._feed.failure is None


def red(picture: Picture) -> npt.NDArray[np.bool_]:
    """Where a red body is seen, left of the panel and below the notice about software rendering."""
    r, g, b = picture.astype(int)[..., :3].transpose(2, 0, 1)
    seen = (r > 120) & (g < 0.75 * r) & (b < 0.75 * r) & (abs(g - b) < 60)
    seen[:, picture.shape[1] * 6 // 10 :] = False
    seen[:180, :320] = False
    return seen


def center(mask: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64]:
    rows, columns = np.nonzero(mask)
    return np.array([columns.mean(), rows.mean()])


def is_in_the_middle(picture: npt.NDArray[np.uint8]) -> bool:
    """Whether a red body is straight below the camera."""
    height, width = picture.shape[:2]
    middle = red(picture)[height // 2 - 4 : height // 2 + 4, width // 2 - 8 : width // 2 + 8]
    return bool(middle.mean() > 0.9)


def look_down(view: View, height: float, x: float = 0.0) -> None:
    """Every camera straight above (x, 0), north up."""
    for client in wait_for(lambda: list(view._server.get_clients().values())):
        client.camera.position, client.camera.look_at = (x, -0.01, height), (x, 0.0, 0.0)
    time.sleep(1.0)


def settled(seen: Browser) -> Picture:
    """The picture when its left part no longer changes: a busy machine draws some things late."""
    pictures = [seen.picture()]

    def is_still() -> bool:
        pictures.append(seen.picture())
        before, now = pictures[-2:]
        left = slice(0, now.shape[1] * 4 // 10)
        return bool((before[:, left] == now[:, left]).all())

    wait_for(is_still)
    return pictures[-1]


def test_a_robot_is_seen_where_it_is_and_moves_when_a_key_is_pressed() -> None:
    world = mvsim_gym.World(DATA / "yard.world.xml")
    teleop = Teleop(world)
    for vehicle, place in (("r1", (0.0, 0.0)), ("r2", (2.3, 1.5))):
        world.vehicles[vehicle].set_pose(*place)
    world.blocks["box"].set_pose(2.5, -2.5)
    with world.view(port=0) as view:
        view.controls.begin(1.0)
        view._stage.marks.wanted.update(dict.fromkeys(("hits", "trails", "names"), False))

        def step() -> None:
            for key in _carry_out(view, world, teleop, None):  # type: ignore[arg-type]
                teleop.press(key)
            world.step(0.01)

        with browser(view.url) as seen, running(step, view):
            look_down(view, 6.0)
            wait_for(lambda: is_in_the_middle(seen.picture()))
            before = settled(seen)
            here = center(red(before))
            height, width = before.shape[:2]
            assert red(before).sum() < 1000, "and nowhere else: the other robot stands behind the panel"
            x = world.vehicles["r1"].pose.x
            seen.press("wwwwwwww")
            wait_for(lambda: world.vehicles["r1"].pose.x > x + 0.5)
            seen.press(" ")
            wait_for(lambda: abs(world.vehicles["r1"].twist.vx) < 0.01)
            time.sleep(1.0)
            after = seen.picture()
            assert center(red(after))[0] > here[0] + 10, "to the right, where x grows"
            # w, a, s, d have not moved the camera: what stands has not moved in the picture
            corner = (slice(height * 7 // 10, height), slice(0, width * 4 // 10))
            assert np.abs(before[corner].astype(int) - after[corner]).mean() < 2
            seen.press("2w")
            wait_for(lambda: teleop.number[0] == 2 and teleop.command["left_torque"] != 0)


def test_many_envs_are_seen_and_a_page_that_closes_stops_nothing() -> None:
    envs = mvsim_gym.VectorEnv("mvsim/NavArena-v0", num_envs=4)
    envs.reset(seed=1)
    steps = 0

    def step() -> None:
        nonlocal steps
        envs.step(np.zeros((4, 2), np.float32))
        steps += 1

    with envs.view(port=0) as view, running(step, view):
        # the second page draws nothing: software that draws two starves both where others want the processors
        with page(view.url), browser(view.url) as seen:
            wait_for(lambda: len(view._server.get_clients()) == 2)
            # to the left of the panel: some of the 16 orange pillars of every arena
            look_down(view, 30.0, 10.0)
            picture = wait_for(lambda: red(p := seen.picture()).sum() > 100 and [p])[0]
            assert len(np.unique(picture.reshape(-1, 3), axis=0)) > 200
        wait_for(lambda: not view.is_watched)
        at = steps
        wait_for(lambda: steps > at + 20)
    envs.close()


def test_a_recording_is_seen_at_any_of_its_times(tmp_path: Path) -> None:
    pytest.importorskip("rosbags", reason="needs the extra record")
    from mvsim_gym.recording.mcap_reading import Recorded
    from mvsim_gym.tools.play import finder
    from mvsim_gym.view.playback import Playback, PlayedView

    world = mvsim_gym.World(DATA / "yard.world.xml")
    for vehicle, place in (("r1", (0.0, 0.0)), ("r2", (2.3, 1.5))):
        world.vehicles[vehicle].set_pose(*place)
    world.blocks["box"].set_pose(2.5, -2.5)
    world.vehicles["r1"].set_twist(-0.5, 0.0)  # to the left, away from the panel
    with world.record(tmp_path / "x.mcap"):
        world.step(3)
    playback = Playback(Recorded(tmp_path / "x.mcap"), finder(None, {}))
    with PlayedView(playback, "127.0.0.1", 0) as view:
        view.controls.paused = True
        view._stage.marks.wanted.update(dict.fromkeys(("hits", "trails", "names"), False))
        with browser(view.url) as seen, running(view.advance, view):
            look_down(view, 6.0)
            wait_for(lambda: red(seen.picture()).sum() > 100)
            before = center(red(seen.picture()))
            view.sought = 2.0
            wait_for(lambda: view.at == 2.0)
            time.sleep(1.0)
            between = center(red(seen.picture()))
            view.controls.speed, view.controls.paused = 5.0, False
            wait_for(lambda: view.at == playback.duration)
            time.sleep(1.0)
            after = center(red(seen.picture()))
            assert after[0] < between[0] - 10 < before[0] - 20
            assert between[0] - after[0] < before[0] - between[0], "one second of three"
