"""On a real NVIDIA GPU: device choice, pictures (T19), distances (T20), many processes (T52), arrays that stay there.

Skipped with the reason where there is none; `./dev gpu-pack` takes this file along to a machine that has one, and there
it is to be run first of all. Parts that run without one have tests of their own: T19 on Mesa in
test_camera_backends.py and test_camera_egl.py, T20 in test_cameras.py, arrays in test_device.py.
"""

from __future__ import annotations

import ctypes
import json
import multiprocessing
import os
import shutil
import subprocess
import threading
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from conftest import run_python
from gpu_consumer import borrowed
from test_cameras import Boxes, block, depth_camera, world_of

import mvsim_gym
from mvsim_gym import _core
from mvsim_gym.world import CameraReading, World

ENV = """<mvsim_env id="t" world="w.world.xml" control_period="0.1" time_limit="5">
<agent vehicle="r"><action class="twist" vx="-1 1" omega="-2 2"/><observe class="image"/><observe class="labels"/>
<observe class="depth" max="8"/></agent>
<reset><spawn clearance="0.2" area="-2 2 -2 2"/></reset><reward class="time" weight="-1"/></mvsim_env>"""
GLASS = block("glass", "1.5 0.2 20", 0.1, 1.5, 0, 1.1, "#40a0ff70")


def why_not() -> str:
    """Why nothing of this can run here, or nothing."""
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError as error:
        return f"no NVIDIA GPU: {error}"
    try:
        return "" if _core.cuda_device_name(0) else "CUDA lists no GPU"
    except ValueError as error:
        return f"no NVIDIA GPU that draws: {error}"


REASON = why_not()
pytestmark = pytest.mark.skipif(bool(REASON), reason=REASON)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    world_of(tmp_path, depth_camera("0.1 0 0.9 0 12 7", sigma=0.01), Boxes(5, 30).xml() + GLASS)
    out = tmp_path / "t.env.xml"
    out.write_text(ENV)
    return out


def made(path: Path, device: str, num_envs: int = 16) -> mvsim_gym.VectorEnv:
    return mvsim_gym.VectorEnv(path, num_envs=num_envs, camera_backend="egl", device=device)


# -- which device (T59)

WHO = """
import json, os, shutil, subprocess, sys
from mvsim_gym import _core
import mvsim_gym
gl = _core.egl_info()
out = {"chosen": gl.chosen, "renderer": gl.renderer, "software": gl.software, "problems": gl.problems,
       "cameras": _core.camera_backend("auto")}
world = mvsim_gym.World(sys.argv[1], camera_backend="egl")
world.vehicles["r"].sensors["cam"].read(fresh=True)
if shutil.which("nvidia-smi"):  # in a container it may see no processes
    seen = subprocess.run(["nvidia-smi", "-q", "-d", "PIDS"], capture_output=True, text=True).stdout
    out["nvidia-smi sees it"] = str(os.getpid()) in seen
print(json.dumps(out))
"""


def who_draws(path: Path, **variables: str) -> dict[str, Any]:
    code = WHO.replace("sys.argv[1]", repr(str(path.parent / "w.world.xml")))
    done = run_python(code, timeout=120, **variables)
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def test_a_gpu_draws_unless_told_otherwise(path: Path) -> None:
    for variables in (
        {},
        {"MVSIM_EGL_DEVICE": "auto"},
        {"MVSIM_EGL_DEVICE": "cuda:0"},
        {"CUDA_VISIBLE_DEVICES": "0"},
    ):
        found = who_draws(path, **variables)
        print(variables, found)
        assert not found["software"] and "NVIDIA" in found["renderer"] and found["cameras"][0] == "egl", found


def test_a_device_that_is_not_there_is_refused_with_a_list(path: Path) -> None:
    done = run_python(
        WHO.replace("sys.argv[1]", repr(str(path.parent / "w.world.xml"))), MVSIM_EGL_DEVICE="97"
    )
    assert "no EGL device 97; this machine has 0: " in done.stderr and "cuda:0" in done.stderr
    done = run_python(
        WHO.replace("sys.argv[1]", repr(str(path.parent / "w.world.xml"))), MVSIM_EGL_DEVICE="cuda:97"
    )
    assert "no EGL device is CUDA device 97" in done.stderr


# -- pictures and distances


def test_t19_pictures_are_the_same_twice_and_those_of_the_cpu(path: Path) -> None:
    def seen(backend: str) -> list[CameraReading]:
        world = World(path.parent / "w.world.xml", camera_backend=backend)
        out = []
        for _ in range(3):
            world.step(0.2)
            reading = world.vehicles["r"].sensors["cam"].read(fresh=True)
            assert isinstance(reading, CameraReading)
            out.append(reading)
        return out

    for one, two, rays in zip(seen("egl"), seen("egl"), seen("rays"), strict=True):
        assert one.image is not None and two.image is not None and rays.image is not None
        assert one.depth is not None and two.depth is not None and rays.depth is not None
        assert one.image.tobytes() == two.image.tobytes()
        assert one.depth.tobytes() == two.depth.tobytes() and one.labels.tobytes() == two.labels.tobytes()
        same = one.labels == rays.labels
        assert same.mean() >= 0.995
        assert (np.abs(one.image.astype(int) - rays.image).max(-1) <= 2)[same].mean() >= 0.99
        off = np.abs(one.depth - rays.depth) > 1e-3 * np.maximum(rays.depth, 1e-3)
        assert (off & same).mean() <= 1e-3


@pytest.mark.parametrize("seed", range(4))
def test_t20_depth_is_exact_ray_casting(tmp_path: Path, seed: int) -> None:
    """To 1 mm but at edges. A GPU casts no lidars here: rays always do (test_cameras.py, against the same oracle)."""
    boxes = Boxes(seed, 40)
    path = tmp_path / "w.world.xml"
    world_of(tmp_path, depth_camera("0 0 0.9 0 0 0", far=30), boxes.xml())
    reading = World(path, camera_backend="egl").vehicles["r"].sensors["cam"].read(fresh=True)
    assert isinstance(reading, CameraReading) and reading.depth is not None
    matrix, mount = reading.intrinsics["depth"], reading.T_vehicle_camera["depth"]
    columns, rows = np.meshgrid(np.arange(64), np.arange(48))
    local = np.stack(
        [(columns - matrix[0, 2]) / matrix[0, 0], (rows - matrix[1, 2]) / matrix[1, 1], np.ones_like(rows)],
        -1,
    )
    distance, _ = boxes.cast(mount[:3, 3], local.reshape(-1, 3) @ mount[:3, :3].T)
    robot = reading.labels == len(boxes.yaw) + 2
    exact = distance.reshape(48, 64)
    exact = np.where(robot, reading.depth, np.where(exact < 30, exact, 0))
    wrong = np.abs(reading.depth - exact) > 1e-3
    assert wrong.mean() < 0.01
    for r, c in np.argwhere(wrong):
        near = exact[max(r - 1, 0) : r + 2, max(c - 1, 0) : c + 2]
        assert np.ptp(near) > 0.01, (r, c, reading.depth[r, c], exact[r, c])


# -- many processes (T52)


def _draw(path: str, pipe: Any) -> None:
    envs = mvsim_gym.VectorEnv(path, num_envs=8, num_threads=1, camera_backend="egl")
    envs.reset(seed=0)
    actions = np.zeros((8, 2), np.float32)
    for _ in range(100):
        observation, *_ = envs.step(actions)
    pipe.send(observation["image"].tobytes())


def test_t52_eight_processes_draw_on_one_gpu(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(
        "PYTHONPATH", os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    )
    context = multiprocessing.get_context("spawn")
    ends, children = [], []
    for _ in range(8):
        here, there = context.Pipe()
        children.append(context.Process(target=_draw, args=(str(path), there)))
        ends.append(here)
    for child in children:
        child.start()
    pictures = {end.recv() if end.poll(240) else b"" for end in ends}
    for child in children:
        child.join(30)
        child.kill()
    assert len(pictures) == 1 and b"" not in pictures, "some did not come to an end"


# -- arrays that stay there


def from_gpu(array: Any) -> npt.NDArray[Any]:
    """A consumer of its own: libcuda alone."""
    cuda = ctypes.CDLL("libcuda.so.1")
    context = ctypes.c_void_p()
    assert cuda.cuInit(0) == 0 and cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
    assert cuda.cuCtxPushCurrent_v2(context) == 0
    with borrowed(array.__dlpack__(max_version=(1, 0))) as found:
        assert found.device == (2, 0)
        out = np.empty(found.shape, found.dtype)
        copied = cuda.cuMemcpyDtoH_v2(
            ctypes.c_void_p(out.ctypes.data), ctypes.c_ulonglong(found.address), ctypes.c_size_t(out.nbytes)
        )
    assert cuda.cuCtxPopCurrent_v2(ctypes.byref(context)) == 0 and copied == 0
    return out


@pytest.mark.parametrize("num_envs", [1, 16, 300])
def test_pixels_on_the_gpu_are_those_of_the_host(path: Path, num_envs: int) -> None:
    ours, theirs = made(path, "cuda:0", num_envs), made(path, "cpu", num_envs)
    observation, wanted = ours.reset(seed=1)[0], theirs.reset(seed=1)[0]
    random = np.random.default_rng(0)
    for _ in range(5):
        for key, values in wanted.items():
            np.testing.assert_array_equal(from_gpu(observation[key]), values, err_msg=key)
            np.testing.assert_array_equal(observation[key].to_numpy(), values, err_msg=key)
        actions = random.uniform(-1, 1, (num_envs, 2)).astype(np.float32)
        observation, wanted = ours.step(actions)[0], theirs.step(actions)[0]


def test_pytorch_takes_them(path: Path) -> None:
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("this PyTorch has no CUDA")
    ours, theirs = made(path, "cuda:0"), made(path, "cpu")
    observation, wanted = ours.reset(seed=1)[0], theirs.reset(seed=1)[0]
    actions = np.random.default_rng(0).uniform(-1, 1, (16, 2)).astype(np.float32)
    rollout, rows = [], []
    side = torch.cuda.Stream()
    for step in range(8):
        with torch.cuda.stream(side if step % 2 else torch.cuda.default_stream()):
            image = torch.from_dlpack(observation["image"])
            assert (
                image.is_cuda and image.dtype == torch.uint8 and tuple(image.shape) == wanted["image"].shape
            )
            busy = torch.randn(4096, 4096, device="cuda")
            for _ in range(4):
                busy = busy @ busy  # the copy below is still waiting when the next step begins
            rollout.append(image.clone())
        rows.append(wanted["image"])
        observation, wanted = ours.step(actions)[0], theirs.step(actions)[0]
    torch.cuda.synchronize()
    for tensor, row in zip(rollout, rows, strict=True):
        np.testing.assert_array_equal(tensor.cpu().numpy(), row)


def test_threads_share_the_gpu(path: Path) -> None:
    def play() -> bytes:
        envs = made(path, "cuda:0")
        envs.reset(seed=2)
        for _ in range(20):
            observation, *_ = envs.step(np.ones((16, 2), np.float32))
        return observation["depth"].to_numpy().tobytes()

    wanted, found = play(), []
    threads = [threading.Thread(target=lambda: found.append(play())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert found == [wanted] * 4


def test_memory_of_the_gpu_is_given_back(path: Path) -> None:
    """T71: what nvidia-smi calls used grows by less than 8 MB."""
    if shutil.which("nvidia-smi") is None:
        pytest.skip("this machine has no nvidia-smi")

    def used() -> int:
        query = ["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"]
        return int(subprocess.run(query, capture_output=True, text=True, check=True).stdout.split()[0])

    def use() -> None:
        envs = made(path, "cuda:0", 64)
        envs.reset(seed=1)
        envs.step(np.zeros((64, 2), np.float32))
        envs.close()

    for _ in range(10):
        use()
    before = used()
    for _ in range(200):
        use()
    assert used() - before < 8
