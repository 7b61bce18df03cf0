"""Makes the pictures of docs/tools*.md, and sensors.png of docs/world-files.md.

Usage: python docs/pictures.py [NAME...], for example view-world. The pictures are written into this folder.
Pictures of views need Chromium, chromedriver and selenium; all need the extras view, record, video and plot.
"""

from __future__ import annotations

import math
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image

import mvsim_gym

HERE = Path(__file__).resolve().parent
sys.path += [str(HERE.parent / "tests" / "python"), str(HERE.parent / "examples")]

from baselines import policies  # noqa: E402 (found by the line above)
from browser import browser  # noqa: E402
from sensor_sheet import sheet  # noqa: E402

from mvsim_gym.view.view import View  # noqa: E402

Picture = npt.NDArray[np.uint8]
YARD = HERE.parent / "tests" / "data" / "yard.world.xml"
CAR = """<mvsim_world>
  <walls><wallHeight>0.5</wallHeight><shape>
    <pt>-7 -6</pt><pt>9 -6</pt> <pt>9 -6</pt><pt>9 6</pt> <pt>9 6</pt><pt>-7 6</pt> <pt>-7 6</pt><pt>-7 -6</pt>
  </shape></walls>
  <vehicle name="car">
    <init_pose>0 -3 0</init_pose>
    <dynamics class="ackermann">
      <rl_wheel mass="8" width="0.2" diameter="0.5"/><rr_wheel mass="8" width="0.2" diameter="0.5"/>
      <fl_wheel mass="8" width="0.2" diameter="0.5"/><fr_wheel mass="8" width="0.2" diameter="0.5"/>
      <max_steer_ang_deg>32</max_steer_ang_deg> <chassis mass="300"/>
      <controller class="front_steer_pid"><KP>200</KP></controller>
    </dynamics>
    <friction class="default"><mu>0.8</mu></friction>
  </vehicle>
  <block name="crate"><init_pose>6 3 20</init_pose><geometry type="box" lx="1" ly="1" lz="0.8"/></block>
</mvsim_world>"""
WIDTH, HEIGHT, SECONDS = 980, 860, 12.0


def main(names: list[str]) -> None:
    for name in names or list(PICTURES):
        path = HERE / f"{name}.png"
        Image.fromarray(PICTURES[name]()).quantize(256, dither=Image.Dither.NONE).save(path, optimize=True)
        print(f"{path} {path.stat().st_size / 1000:.0f} kB")


def seen(view: View, step: Callable[[], object], seconds: float = SECONDS) -> Picture:
    """Steps the world or the envs of a view for a while, and returns what a browser shows."""
    ended = threading.Event()

    def run() -> None:
        while not ended.is_set():
            step()

    thread = threading.Thread(target=run)
    with browser(view.url, WIDTH, HEIGHT) as page:
        time.sleep(4)
        for button in page.driver.find_elements("css selector", ".mantine-Notification-closeButton"):
            button.click()  # closes the notice about software rendering
        for client in view._server.get_clients().values():  # moves the scene out from behind the panel
            way = client.camera.look_at - client.camera.position
            shift = 0.33 * np.cross(way, (0, 0, 1))
            look_at = client.camera.look_at + shift
            client.camera.position, client.camera.look_at = client.camera.position + shift, look_at
        thread.start()
        time.sleep(seconds)
        view.controls.paused = True
        picture = page.picture()
        ended.set()
        view.controls.paused = False
        thread.join(20)
    return picture


def yard() -> mvsim_gym.World:
    world = mvsim_gym.World(YARD)
    world.vehicles["r1"].set_twist(0.4, 0.35)
    world.vehicles["r2"].set_pose(-2.0, -1.8)
    world.vehicles["r2"].set_command(-0.08, -0.04)
    return world


def car() -> mvsim_gym.World:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "car.world.xml").write_text(CAR)
        world = mvsim_gym.World(Path(folder) / "car.world.xml")
    world.vehicles["car"].set_command(3.6, math.radians(26))
    return world


def paced(step: Callable[[], object], period: float) -> Callable[[], None]:
    """Returns `step` limited to one call in `period` seconds of wall time."""
    due = time.monotonic()

    def run() -> None:
        nonlocal due
        step()
        due = max(due + period, time.monotonic())
        time.sleep(max(due - time.monotonic(), 0.0))

    return run


def view_world() -> Picture:
    world = yard()
    with world.view(port=0) as view:
        return seen(view, paced(lambda: world.step(0.02), 0.02))


def view_envs() -> Picture:
    return of_envs("mvsim/NavArena-v0", 16)


def view_path() -> Picture:
    return of_envs("mvsim/NavMap-v0", 1, "path", "names", seconds=5.0)


def of_envs(env_id: str, num_envs: int, *marks: str, seconds: float = SECONDS) -> Picture:
    envs = mvsim_gym.VectorEnv(env_id, num_envs=num_envs)
    drive = next(iter(policies(env_id).values()))
    observation, _ = envs.reset(seed=11)

    def step() -> None:
        nonlocal observation
        observation, *_ = envs.step(drive(observation))

    with envs.view(port=0) as view:
        for mark in marks:
            view.controls.toggles[mark].value = True
        picture = seen(view, paced(step, envs.control_period), seconds)
    envs.close()
    return picture


def play() -> Picture:
    from mvsim_gym.recording.mcap_reading import Recorded
    from mvsim_gym.tools.play import finder
    from mvsim_gym.view.playback import Playback, PlayedView

    env = mvsim_gym.Env("mvsim/NavArena-v0")
    drive = next(iter(policies("mvsim/NavArena-v0").values()))
    with tempfile.TemporaryDirectory() as folder:
        with env.record(Path(folder) / "x.mcap"):
            for seed in (3, 4):
                observation, _ = env.reset(seed=seed)
                done = False
                while not done:
                    action = drive({key: value[None] for key, value in observation.items()})[0]
                    observation, _, terminated, truncated, _ = env.step(action)
                    done = terminated or truncated
        playback = Playback(Recorded(Path(folder) / "x.mcap"), finder(None, {}))
        with PlayedView(playback, "127.0.0.1", 0) as view:
            return seen(view, paced(view.advance, 0.01))


def draw() -> Picture:
    world = car()
    places = [world.vehicles["car"].pose[:2]]
    for _ in range(220):
        world.step(0.02)
        places.append(world.vehicles["car"].pose[:2])
    x, y, *_ = world.vehicles["car"].pose
    near = ((x + 3.2, y - 4.2, 3.4), (x + 0.4, y, 0.2))
    cameras: tuple[Any, ...] = ("above", near)
    shown: dict[str, Any] = {"names": True, "forces": True, "trails": [np.array(places)]}
    return np.hstack([world.draw(480, 400, camera, **shown) for camera in cameras])


def film() -> Picture:
    """Four frames of an episode, side by side."""
    env = mvsim_gym.Env("mvsim/NavArena-v0", render_mode="rgb_array", camera="follow", width=240, height=240)
    drive = next(iter(policies("mvsim/NavArena-v0").values()))
    observation, _ = env.reset(seed=3)
    frames, done = [env.render()], False
    while not done:
        action = drive({key: value[None] for key, value in observation.items()})[0]
        observation, _, terminated, truncated, _ = env.step(action)
        frames.append(env.render())
        done = terminated or truncated
    return np.hstack([frames[i] for i in np.linspace(0, len(frames) - 1, 4).astype(int)])  # type: ignore[list-item]


PICTURES: dict[str, Callable[[], Picture]] = {
    "view-world": view_world,
    "view-envs": view_envs,
    "view-path": view_path,
    "play": play,
    "draw": draw,
    "film": film,
    "sensors": sheet,
}

if __name__ == "__main__":
    main(sys.argv[1:])
