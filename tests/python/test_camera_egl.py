"""Cameras drawn by OpenGL in batches, processes and pickles: what is drawn depends on nothing but the view itself."""

from __future__ import annotations

import copy
import logging
import multiprocessing
import pickle
import resource
import subprocess
import sys
import threading
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from conftest import DATA
from test_camera_backends import paint, scene, seen, write_world
from test_cameras import ENV, Boxes, block, depth_camera, lidar3d, lidar_reading
from test_cameras import played as played_by

import mvsim_gym
from mvsim_gym import _core
from mvsim_gym._notices import _say
from mvsim_gym.world import World

GLASS = block("glass", "1.5 0.2 20", 0.1, 1.5, 0, 1.1, "#40a0ff70")
HEADER = 40  # bytes of a snapshot, which name the camera backend
CAMERA = depth_camera("0.1 0 0.9 0 12 7", sigma=0.01)


@pytest.fixture
def env_path(tmp_path: Path) -> Path:
    write_world(tmp_path, CAMERA + lidar3d(sigma=0.01, columns=60), Boxes(5, 30).xml() + GLASS)
    path = tmp_path / "t.env.xml"
    path.write_text(ENV)
    return path


played = partial(played_by, backend="egl")


def test_a_view_is_the_same_alone_and_among_others(env_path: Path) -> None:
    alone = played(env_path)
    assert alone == played(env_path, 3) == played(env_path, 5, 2)
    assert len(set(alone)) == len(alone)


def test_each_image_is_what_it_is_without_the_others(tmp_path: Path) -> None:
    write_world(tmp_path, depth_camera("0.1 0 0.9 0 12 7"), Boxes(5, 30).xml() + GLASS)
    head, rest = ENV.split("<observe", 1)
    tail = rest[rest.index("</agent>") :]

    def last(observed: list[str]) -> dict[str, npt.NDArray[Any]]:
        path = tmp_path / "few.env.xml"
        path.write_text(head + "".join(f'<observe class="{name}"/>' for name in observed) + tail)
        envs = mvsim_gym.VectorEnv(path, num_envs=2, num_threads=1, camera_backend="egl")
        observation, _ = envs.reset(seed=[1, 2])
        envs.close()
        return observation if isinstance(observation, dict) else {observed[0]: observation}

    together = last(["image", "depth", "labels"])
    for name, image in together.items():
        np.testing.assert_array_equal(last([name])[name], image)


def test_threads_draw_what_one_draws(env_path: Path) -> None:
    """Two vector environments in two threads of one process (T53)."""
    wanted = played(env_path, 2)
    found: list[list[bytes]] = []
    threads = [threading.Thread(target=lambda: found.append(played(env_path, 2))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert found == [wanted, wanted]


def _send(path: Path, pipe: Any) -> None:
    pipe.send(played(path))


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_processes_draw_what_one_draws(env_path: Path, method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also one that was forked after pictures had been drawn."""
    wanted = played(env_path)
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    here, there = multiprocessing.Pipe()
    child = multiprocessing.get_context(method).Process(target=_send, args=(env_path, there))
    child.start()
    there.close()
    assert here.poll(120)
    assert here.recv() == wanted
    child.join(60)
    assert child.exitcode == 0


def test_lidars_and_states_do_not_depend_on_who_draws(env_path: Path) -> None:
    worlds = [World(env_path.parent / "w.world.xml", seed=3, camera_backend=b) for b in ("egl", "rays")]
    for world in worlds:
        world.step(0.4)
        world.vehicles["r"].sensors["cam"].read()
    ranges = [lidar_reading(world).range_image for world in worlds]
    np.testing.assert_array_equal(*ranges)
    one, other = (world.snapshot() for world in worlds)
    assert one[HEADER:] == other[HEADER:]
    worlds[1].restore(one)


def test_snapshots_and_copies_draw_the_same_again(env_path: Path) -> None:
    env = mvsim_gym.Env(env_path, camera_backend="egl")
    env.reset(seed=1)
    for _ in range(3):
        env.step(np.array([1, 0.5], np.float32))
    for twin in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        again, *_ = twin.step(np.array([0.5, 0], np.float32))
        before = env.snapshot()
        wanted, *_ = env.step(np.array([0.5, 0], np.float32))
        env.restore(before)
        for key, values in wanted.items():
            np.testing.assert_array_equal(again[key], values)


def test_a_pickle_tells_once_that_another_draws(
    env_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    env = mvsim_gym.Env(env_path)
    monkeypatch.setenv("MVSIM_CAMERA", "egl")
    env.reset(seed=1)
    world = World(env_path.parent / "w.world.xml")
    pickles = [pickle.dumps(env), pickle.dumps(world)]
    pickle.loads(pickles[0])
    assert not caplog.records
    monkeypatch.setenv("MVSIM_CAMERA", "rays")
    with caplog.at_level(logging.WARNING):
        twins = [pickle.loads(data) for data in pickles * 2]
    assert len(caplog.records) == 1
    assert "drawn by 'egl' is restored where 'rays' draws" in caplog.text
    assert twins[0].snapshot() == env.snapshot() and twins[1].snapshot() == world.snapshot()


def test_a_snapshot_tells_once_that_another_drew(
    env_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """For single envs, many envs and worlds. There is no message if the same backend drew the cameras."""
    by_egl, by_rays = (mvsim_gym.Env(env_path, camera_backend=b) for b in ("egl", "rays"))
    batches = [mvsim_gym.VectorEnv(env_path, num_envs=2, camera_backend=b) for b in ("egl", "rays")]
    worlds = [World(env_path.parent / "w.world.xml", camera_backend=b) for b in ("egl", "rays")]
    for env in (by_egl, by_rays, *batches):
        env.reset(seed=1)
    _say.cache_clear()  # other tests may have been told
    states = [by_egl.snapshot(), batches[0].snapshot(), worlds[0].snapshot()]
    with caplog.at_level(logging.WARNING):
        for same, state in zip((by_egl, batches[0], worlds[0]), states, strict=True):
            same.restore(state)
        assert not caplog.records
        for _ in range(2):
            for other, state in zip((by_rays, batches[1], worlds[1]), states, strict=True):
                other.restore(state)
    said = (
        "a snapshot whose cameras were drawn by 'egl' is restored where 'rays' draws: its state is the same"
    )
    assert [r.getMessage().startswith(said) for r in caplog.records] == [True]
    assert (
        by_rays.snapshot()[HEADER:] == states[0][HEADER:]
        and worlds[1].snapshot()[HEADER:] == states[2][HEADER:]
    )
    monkeypatch.setenv("MVSIM_CAMERA", "egl")
    assert mvsim_gym.Env(env_path).restore(states[0]) is not None
    assert len(caplog.records) == 1


def test_what_sees_nothing_names_nobody() -> None:
    world = World(DATA / "yard.world.xml")
    assert _core.snapshot_drawn_by(world.snapshot()) is None
    assert _core.snapshot_drawn_by(b"something else") is None


def test_the_environment_variable_counts_where_no_keyword_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paint(tmp_path)
    path = write_world(tmp_path, depth_camera("0 0 1 0 20 5"), scene(tmp_path, 1))
    by_egl, by_rays = seen(path, "egl"), seen(path, "rays")
    assert (by_egl.image != by_rays.image).any(), "nothing tells them apart"
    for said, wanted in (("egl", by_egl), ("rays", by_rays)):
        monkeypatch.setenv("MVSIM_CAMERA", said)
        np.testing.assert_array_equal(seen(path, "auto").image, wanted.image)
        np.testing.assert_array_equal(seen(path, "rays").image, by_rays.image)
    monkeypatch.setenv("MVSIM_CAMERA", "vulkan")
    with pytest.raises(ValueError, match="MVSIM_CAMERA: found 'vulkan', expected 'auto', 'egl' or 'rays'"):
        seen(path, "auto")


def test_other_words_are_refused(env_path: Path) -> None:
    with pytest.raises(
        ValueError, match="camera_backend: found 'gpu', expected one of 'auto', 'egl', 'rays'"
    ):
        mvsim_gym.Env(env_path, camera_backend="gpu")
    with pytest.raises(ValueError, match="camera_backend: found 1, expected one of"):
        World(env_path.parent / "w.world.xml", camera_backend=1)  # type: ignore[arg-type]


DRAWING = """
import sys, mvsim_gym
world = mvsim_gym.World(sys.argv[1], camera_backend=sys.argv[2])
world.step(0.3)
world.vehicles["r"].sensors["laser"].read()
for library in ("libEGL", "libembree"):
    assert library not in open("/proc/self/maps").read(), "loaded before it is needed"
try:
    world.vehicles["r"].sensors["cam"].read()
    print("drawn", *(l for l in ("libEGL", "libembree") if l in open("/proc/self/maps").read()))
except ValueError as error:
    print(error)
"""


def drawn_without(hidden: str, path: Path, backend: str, code: str = DRAWING) -> str:
    """Returns the output of a process that cannot load some libraries."""
    libraries = [p for p in Path("/usr/lib").glob(f"*/{hidden}") if not p.is_symlink()] if hidden else []
    hide = "".join(f"mount --bind /dev/null {p} && " for p in libraries)
    inside = ["unshare", "--mount", "sh", "-c", f'{hide} exec "$@"', "sh"] if hidden else []
    if hidden and subprocess.run([*inside, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("a library cannot be hidden here: unshare --mount needs root")
    command = [*inside, sys.executable, "-c", code, str(path), backend]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout


def test_each_way_needs_its_own_library_alone(tmp_path: Path) -> None:
    path = write_world(tmp_path, depth_camera() + '<sensor class="laser" name="laser"/>', Boxes(1, 5).xml())
    assert drawn_without("", path, "egl") == "drawn libEGL\n"
    assert drawn_without("", path, "rays") == "drawn libembree\n"
    assert drawn_without("libembree[34].so.*", path, "egl") == "drawn libEGL\n"
    assert drawn_without("libEGL.so.*", path, "auto") == "drawn libembree\n"
    said = drawn_without("libEGL.so.*", path, "egl")
    assert said.count("\n") == 1 and "libEGL" in said and "apt-get install" in said


def test_worlds_that_come_and_go_leave_no_memory_behind(tmp_path: Path) -> None:
    path = write_world(tmp_path, depth_camera(), Boxes(2, 20).xml())
    seen(path, "egl")
    for _ in range(40):
        seen(path, "egl")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(100):
        seen(path, "egl")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 10_000  # KiB
