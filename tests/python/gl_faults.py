"""Drivers that lose a context, do not answer, or have no memory: a typed error, and everything goes on (T60).

Run by test_gl_faults.py with a shim before libEGL (tests/doubles) that lets one call of OpenGL or EGL fail. The machine
itself is Mesa, which draws in software and loses nothing.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_camera_backends import write_world
from test_cameras import Boxes, depth_camera

import mvsim_gym

EGL = ctypes.CDLL("libEGL.so.1")
EGL.shim_fail.argtypes = [ctypes.c_char_p, ctypes.c_int64, ctypes.c_int, ctypes.c_int]

RESET, OUT_OF_MEMORY, CONTEXT_LOST, TIMEOUT, UNSUPPORTED, INVALID = (
    0x8255,
    0x505,
    0x507,
    0x911B,
    0x8CDD,
    0x502,
)
LOST, NO_MEMORY = mvsim_gym.RendererLost, mvsim_gym.RenderMemoryError
FAULTS = {
    "reset": (b"glGetGraphicsResetStatus", RESET, LOST, "lost its context"),
    "lost": (b"glGetError", CONTEXT_LOST, LOST, "lost its context"),
    "hangs": (b"glClientWaitSync", TIMEOUT, LOST, "did not finish .* within 10 s"),
    "no memory": (b"glGetError", OUT_OF_MEMORY, NO_MEMORY, "the driver ran out of memory in"),
    "error": (b"glGetError", INVALID, ValueError, "the driver reports error 1282 in"),
    "thread": (b"eglMakeCurrent", 0, ValueError, "cannot be used on this thread"),
}
ENV = """<mvsim_env id="t" world="w.world.xml" control_period="0.1" time_limit="5">
<agent vehicle="r"><action class="twist" vx="-1 1" omega="-2 2"/><observe class="image"/>
<observe class="depth"/></agent>
<reset><spawn pose="0 0 0"/></reset><reward class="time" weight="-1"/></mvsim_env>"""


@pytest.fixture(autouse=True)
def nothing_fails_afterwards() -> Iterator[None]:
    yield
    for name, *_ in FAULTS.values():
        EGL.shim_fail(name, 0, 0, 0)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    write_world(tmp_path, depth_camera("0.1 0 0.9 0 12 7"), Boxes(5, 30).xml())
    out = tmp_path / "t.env.xml"
    out.write_text(ENV)
    return out


def fails(name: bytes, value: int, use: Callable[[], Any], error: type[Exception], message: str) -> None:
    EGL.shim_fail(name, value, 0, 1)
    with pytest.raises(error, match=message) as found:
        use()
    assert "\n" not in str(found.value)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_camera_of_a_world(path: Path, fault: str) -> None:
    name, value, error, message = FAULTS[fault]
    world, sound = (mvsim_gym.World(path.parent / "w.world.xml", camera_backend="egl") for _ in range(2))
    for w in (world, sound):
        w.vehicles["r"].set_twist(0.5, 0.3)
        w.step(0.3)
        w.vehicles["r"].sensors["cam"].read(fresh=True)
    fails(name, value, lambda: world.vehicles["r"].sensors["cam"].read(fresh=True), error, message)
    for w in (world, sound):
        w.step(0.3)
    ours, theirs = (w.vehicles["r"].sensors["cam"].read(fresh=True) for w in (world, sound))
    np.testing.assert_array_equal(ours.image, theirs.image)  # type: ignore[union-attr]
    np.testing.assert_array_equal(ours.depth, theirs.depth)  # type: ignore[union-attr]
    assert world.vehicles["r"].pose == sound.vehicles["r"].pose


@pytest.mark.parametrize("fault", FAULTS)
def test_a_vector_environment(path: Path, fault: str) -> None:
    """The step whose pictures could not be drawn has been made; physics goes on bit for bit."""
    name, value, error, message = FAULTS[fault]
    broken, sound = (mvsim_gym.VectorEnv(path, num_envs=3, camera_backend="egl") for _ in range(2))
    actions = np.random.default_rng(0).uniform(-1, 1, (4, 3, 2)).astype(np.float32)
    for envs in (broken, sound):
        envs.reset(seed=0)
        envs.step(actions[0])
    sound.step(actions[1])
    fails(name, value, lambda: broken.step(actions[1]), error, message)
    assert broken.snapshot() == sound.snapshot()
    for action in actions[2:]:
        ours, theirs = broken.step(action)[0], sound.step(action)[0]
        for key in theirs:
            np.testing.assert_array_equal(ours[key], theirs[key])


@pytest.mark.parametrize("fault", FAULTS)
def test_a_picture(path: Path, fault: str) -> None:
    """The mode "rgb_array"; the next one comes from a new context if need be."""
    name, value, error, message = FAULTS[fault]
    env = mvsim_gym.Env(path, render_mode="rgb_array", width=64, height=48, camera_backend="rays")
    env.reset(seed=0)
    wanted = env.render()
    fails(name, value, env.render, error, message)
    np.testing.assert_array_equal(env.render(), wanted)  # type: ignore[arg-type]


# of a target of this many columns, a new size each: the function, its value, of which call on
SETTING_UP = {
    9: (b"glGetError", OUT_OF_MEMORY, 1, NO_MEMORY, "the driver has no memory for 1 views of 9 x 5 pixels"),
    10: (b"glCheckNamedFramebufferStatus", UNSUPPORTED, 0, ValueError, "framebuffer status 36061, error 0"),
    11: (b"glMapNamedBufferRange", 0, 0, ValueError, "the driver cannot draw 1 views of 11 x 5 pixels"),
}
SMALL = """<sensor class="rgbd_camera" name="small"><depth_noise_sigma>0</depth_noise_sigma><sense_rgb>false</sense_rgb>
<depth_ncols>{}</depth_ncols><depth_nrows>5</depth_nrows><depth_fx>5</depth_fx><depth_fy>5</depth_fy></sensor>"""


@pytest.mark.parametrize("columns", SETTING_UP)
def test_a_target_that_cannot_be_made(tmp_path: Path, columns: int) -> None:
    name, value, after, error, message = SETTING_UP[columns]
    sensors = depth_camera() + SMALL.format(columns)
    path = write_world(tmp_path, sensors, Boxes(5, 3).xml())
    world = mvsim_gym.World(path, camera_backend="egl")
    world.vehicles["r"].sensors["cam"].read(fresh=True)  # its scene is there
    small = world.vehicles["r"].sensors["small"]
    EGL.shim_fail(name, value, after, 1)
    with pytest.raises(error, match=message):
        small.read(fresh=True)
    found = small.read(fresh=True)
    other = mvsim_gym.World(path, camera_backend="egl").vehicles["r"].sensors["small"].read(fresh=True)
    np.testing.assert_array_equal(found.depth, other.depth)  # type: ignore[union-attr]


def test_more_pixels_than_a_driver_takes(tmp_path: Path) -> None:
    """Refused before anything is taken: this is no fault, and needs no shim."""
    camera = (
        depth_camera().replace("<rgb_ncols>64", "<rgb_ncols>8192").replace("<rgb_nrows>48", "<rgb_nrows>4096")
    )
    path = write_world(tmp_path, camera, Boxes(5, 3).xml())
    world = mvsim_gym.World(path, camera_backend="egl")
    message = r"at most \d+ pixels in a view of a sensor, found 33554432: use camera_backend='rays'"
    with pytest.raises(NO_MEMORY, match=message):
        world.vehicles["r"].sensors["cam"].read(fresh=True)
